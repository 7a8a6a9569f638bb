// Owns where requests go and with which key: required settings, a trusted address, the proxy.
import { parseApiUrl } from '../api/address.ts'
import type { Connection } from '../api/client.ts'
import { profileNamed } from '../api/profiles.ts'
import { readProxySettings } from '../api/proxy.ts'
import type { Problem } from '../kernel/errors.ts'
import { toEnvironmentName, toKebab } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import type { Scope } from '../operations/operation.ts'
import type { Settings } from '../operations/settings.ts'
import type { Environment } from './setting-sources.ts'

type Located = Omit<Connection, 'userAgent'>

export function locate(
  settings: Partial<Settings>,
  scope: Scope,
  env: Environment,
): { readonly connection?: Located; readonly problems: readonly Problem[] } {
  if (scope === 'none') return { problems: [] }
  const profile = profileNamed(settings.profile)
  const apiUrl = settings.apiUrl ?? profile.apiUrl
  const address = apiUrl === undefined ? undefined : parseApiUrl(apiUrl)
  const proxy = readProxySettings(env)
  const { apiKeyId, apiKeySecret, timeoutSeconds, maxAttempts } = settings
  const needed = ['apiKeyId', 'apiKeySecret', 'organizationId', ...(scope === 'service' ? ['serviceId'] : [])] as const
  const problems = [
    ...needed.filter((name) => settings[name as keyof Settings] === undefined).map((name) => missing(toKebab(name))),
    ...(address === undefined ? [{ name: 'api-url', message: 'is missing: give api-url, or a profile that knows it' }] : []),
    ...(address !== undefined && 'problem' in address ? [{ name: 'api-url', message: `${showUrl(apiUrl ?? '')} ${address.problem}` }] : []),
    ...proxy.problems,
    ...(env.NODE_TLS_REJECT_UNAUTHORIZED === '0'
      ? [
          {
            name: 'NODE_TLS_REJECT_UNAUTHORIZED',
            message: 'is 0, which would send the key to anybody; trust an authority of your own by NODE_EXTRA_CA_CERTS',
          },
        ]
      : []),
  ]
  if (problems.length > 0 || address === undefined || 'problem' in address || !apiKeyId || !apiKeySecret || !timeoutSeconds || !maxAttempts)
    return { problems }
  const observabilityPath = settings.observabilityPath ?? profile.observabilityPath
  return {
    problems,
    connection: {
      baseUrl: address.url,
      profile,
      observabilityPath,
      apiKeyId,
      apiKeySecret,
      proxy: proxy.settings,
      maxAttempts,
      deadlineMs: timeoutSeconds * 1000,
    },
  }
}

const missing = (name: string): Problem => ({ name, message: `is missing: give the input, or set ${toEnvironmentName(name)}` })

// A url with a user in it may hold a password.
const showUrl = (url: string): string => (url.includes('@') ? 'the given one' : `"${quote(url, 80)}"`)
