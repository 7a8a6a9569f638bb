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
  const { settings, diagnostics } = readProxySettings(env)
  const [fault] = diagnostics
  return fault === undefined ? { apiUrl: parsed.url, proxy: settings } : { problem: `${formatLocation(fault.location)} ${fault.message}` }
}
