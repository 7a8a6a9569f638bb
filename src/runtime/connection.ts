import type { ApiConnection, Credentials } from '../platform/api/client.ts'
import { type Profile, profileNamed, queryEndpointUrl } from '../platform/api/profiles.ts'
import { type Diagnostic, inputDiagnostic, missingInput } from '../platform/core/diagnostics.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { toEnvironmentName, toKebab } from '../platform/core/names.ts'
import { quote } from '../platform/core/text.ts'
import type { Variables } from '../platform/core/variables.ts'
import { type ProxySettings, parseApiUrl, readProxySettings } from '../platform/http/proxy.ts'
import type { Settings } from '../platform/operation/inputs.ts'
import type { Scope } from '../platform/operation/operation.ts'
import type { GivenSettings } from './settings.ts'

export interface RunConnection extends Omit<ApiConnection, 'userAgent'> {
  readonly isUnencrypted: boolean
}

export function resolveConnection(settings: GivenSettings, scope: Scope, env: Variables) {
  const { values, names, sqlFunctions } = settings
  // What a connection needs is not known for a wrong profile.
  if (scope === 'none' || values.profile === undefined) return { diagnostics: [] }
  const variable = toEnvironmentName('api-url')
  // With the default of the profile, the key would go to a host that the user did not choose.
  if (!names.has('apiUrl') && env[variable]?.trim() === '')
    return { diagnostics: [inputDiagnostic(variable, 'is empty; set it to the address of the server, or remove it')] }
  const profile = profileNamed(values.profile)
  const { apiUrl = profile.apiUrl, observabilityPath = profile.observabilityPath, allowHttp = false, timeoutSeconds, maxAttempts } = values
  const proxy = readProxySettings(env)
  const address = apiUrl === undefined ? { problem: undefined } : parseApiUrl(apiUrl, allowHttp, proxy.settings)
  const credentials = givenCredentials(values, profile)
  const query = profile.isSelfHosted ? { diagnostics: [] } : resolveQueryEndpoint(settings, proxy.settings)
  const diagnostics = [
    ...query.diagnostics,
    ...(profile.isSelfHosted ? checkSelfHosted(settings, env) : checkCloud(settings, scope, env)),
    ...('problem' in address ? [refuseAddress(apiUrl, address.problem, settings)] : []),
    ...('url' in address && profile.isSelfHosted ? checkServerPath(address.url, settings) : []),
    ...proxy.diagnostics,
  ]
  if ('problem' in address || credentials === undefined || !timeoutSeconds || !maxAttempts) return { diagnostics }
  const { url, isUnencrypted } = address
  // The address of a UI that passes requests on ends in /api, so that the path has it twice.
  if (profile.isSelfHosted && !url.pathname.endsWith('/api/v2')) url.pathname = `${url.pathname.replace(/\/$/, '')}/api/v2`
  const connection: RunConnection = {
    baseUrl: url,
    isUnencrypted,
    profile,
    observabilityPath,
    credentials,
    proxy: proxy.settings,
    maxAttempts,
    deadlineMs: timeoutSeconds * 1000,
    queryEndpoint: query.endpoint,
    sqlFunctions,
  }
  return { connection, diagnostics }
}

/** Without a key of a query endpoint, no operation runs SQL. */
function resolveQueryEndpoint({ values, names, diagnosticFor }: GivenSettings, proxy: ProxySettings) {
  const { sqlKeyId, sqlKeySecret, sqlUrl = queryEndpointUrl, allowHttp = false, wakeService = false } = values
  const address = parseApiUrl(sqlUrl, allowHttp, proxy)
  const [given, other] = names.has('sqlKeyId') ? ['sql-key-id', 'sqlKeySecret'] : ['sql-key-secret', 'sqlKeyId']
  const isHalf = names.has('sqlKeyId') !== names.has('sqlKeySecret')
  const diagnostics = [
    ...(isHalf ? [missingInput(toKebab(other), `is missing; ${given} needs it`)] : []),
    ...('problem' in address ? [diagnosticFor('sqlUrl', describeAddress(sqlUrl, address.problem))] : []),
  ]
  if ('problem' in address || sqlKeyId === undefined || sqlKeySecret === undefined) return { diagnostics }
  const credentials = { keyId: sqlKeyId, keySecret: sqlKeySecret }
  return { endpoint: { baseUrl: address.url, credentials, mayWake: wakeService }, diagnostics }
}

function givenCredentials({ apiKey, apiKeyId, apiKeySecret }: Partial<Settings>, { isSelfHosted }: Profile): Credentials | undefined {
  if (isSelfHosted) return apiKey === undefined ? undefined : { accessKey: apiKey }
  return apiKeyId === undefined || apiKeySecret === undefined ? undefined : { keyId: apiKeyId, keySecret: apiKeySecret }
}

function checkCloud({ names, diagnosticFor }: GivenSettings, scope: Scope, env: Variables): readonly Diagnostic[] {
  const needsService = scope === 'service' || scope === 'service-or-server'
  const required = ['apiKeyId', 'apiKeySecret', 'organizationId', ...(needsService ? ['serviceId'] : [])]
  if (names.has('apiKey'))
    return [
      diagnosticFor(
        'apiKey',
        `is the key of a self-hosted server: set ${spellInput('profile', 'hyperdx')}, or use api-key-id and api-key-secret`,
      ),
    ]
  const absent = required.filter((name) => !names.has(name)).map((name) => missing(toKebab(name), env))
  if (names.has('profile') || names.has('apiKeyId') || names.has('apiKeySecret')) return absent
  const advice = `is clickhouse-cloud by default; for a self-hosted server, set ${spellInput('profile', 'hyperdx')}`
  return [...absent, { ...inputDiagnostic('profile', advice), severity: 'note' }]
}

function checkSelfHosted({ names, diagnosticFor }: GivenSettings, env: Variables): readonly Diagnostic[] {
  const refuse = (name: string, reason: string): readonly Diagnostic[] =>
    names.has(name) ? [diagnosticFor(name, `is not for profile hyperdx: ${reason}`)] : []
  const cloudKey = ['apiKeyId', 'apiKeySecret'].filter((name) => names.has(name))
  return [
    // Id and secret of a key of ClickHouse Cloud are one mistake, so one message names both.
    ...cloudKey
      .slice(0, 1)
      .flatMap((name) => refuse(name, `its key is a single value; set api-key instead of ${cloudKey.map(toKebab).join(' and ')}`)),
    ...refuse('organizationId', 'a self-hosted server has no organizations'),
    ...refuse('serviceId', 'a self-hosted server has no services; api-url identifies it'),
    ...refuse('sqlKeyId', 'it runs SQL with api-key'),
    ...refuse('sqlKeySecret', 'it runs SQL with api-key'),
    ...refuse('sqlUrl', 'it runs SQL at api-url'),
    ...refuse('observabilityPath', 'the path of its API is always /api/v2'),
    ...(names.has('apiKey') || cloudKey.length > 0 ? [] : [missing('api-key', env)]),
  ]
}

/** Paths are appended to the address, so it must not be that of one endpoint. */
function checkServerPath({ origin, pathname }: URL, { diagnosticFor }: GivenSettings): readonly Diagnostic[] {
  const [, base] = /^(.*\/api\/v2)\//.exec(pathname) ?? []
  return base === undefined ? [] : [diagnosticFor('apiUrl', `must end at /api/v2: set it to ${origin}${base}`)]
}

/** A secret with another name than expected is an empty input in a job on GitHub. */
const missing = (name: string, { GITHUB_ACTIONS: isJob }: Variables): Diagnostic =>
  missingInput(
    name,
    isJob && name.startsWith('api-key')
      ? 'is missing or empty; set the input to a secret that exists. Pull requests from forks and Dependabot get no secrets'
      : `is missing; set the input or ${toEnvironmentName(name)}`,
  )

function refuseAddress(url: string | undefined, problem: string | undefined, settings: GivenSettings): Diagnostic {
  if (url !== undefined) return settings.diagnosticFor('apiUrl', describeAddress(url, problem))
  return missingInput('api-url', `is missing; set the address of the server, as the input or as ${toEnvironmentName('api-url')}`)
}

function describeAddress(url: string, problem: string | undefined) {
  // A URL with a user or a query in it may hold a password or a token.
  return `${/[@?#]/.test(url) ? 'the given value' : `"${quote(url, 80)}"`} ${problem}`
}
