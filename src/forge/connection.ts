import { formatLocation } from '../core/diagnostics.ts'
import type { Variables } from '../core/variables.ts'
import { parseApiUrl, readProxySettings } from '../http/proxy.ts'
import type { Run } from './forge.ts'

/** The address of the API and the way to it. `name` is the variable that holds the address. */
export function readConnection(
  name: string,
  address: string,
  env: Variables,
): Pick<Run, 'apiUrl' | 'proxy'> | { readonly problem: string } {
  const parsed = parseApiUrl(address)
  if ('problem' in parsed) return { problem: `${name} ${parsed.problem}` }
  const proxy = readProxySettings(env)
  const [fault] = proxy.diagnostics
  if (fault !== undefined) return { problem: `${formatLocation(fault.location)} ${fault.message}` }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    return { problem: 'NODE_TLS_REJECT_UNAUTHORIZED is 0, which disables certificate checks and exposes the token' }
  return { apiUrl: parsed.url, proxy: proxy.settings }
}
