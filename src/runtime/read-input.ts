import { normalize } from 'node:path'
import { isOperationName, type OperationName, operationNames, operations } from '../operations.ts'
import type { ApiConnection, Credentials } from '../platform/api/client.ts'
import type { Target } from '../platform/api/path.ts'
import { defaultProfile, type Profile, profileNamed, queryEndpointUrl } from '../platform/api/profiles.ts'
import { type Diagnostic, formatLocation, inputDiagnostic, isMissingInput, missingInput } from '../platform/core/diagnostics.ts'
import { InputError, inputError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { adviceOnDropped, toCamel, toEnvironmentName, toKebab } from '../platform/core/names.ts'
import { quote, quoteLong } from '../platform/core/text.ts'
import type { Variables } from '../platform/core/variables.ts'
import { metaOf, type Shape } from '../platform/documents/schema.ts'
import { type ProxySettings, parseApiUrl, readProxySettings } from '../platform/http/proxy.ts'
import type { Files } from '../platform/operation/files.ts'
import { type Settings, settingsSchema } from '../platform/operation/inputs.ts'
import type { Operation, Scope } from '../platform/operation/operation.ts'
import { commonFormats } from '../platform/operation/reports.ts'
import { adviseOnName } from './new-names.ts'
import {
  decodeAll,
  type GivenSettings,
  hasInputVariable,
  isEmptyText,
  parseFields,
  pick,
  type RunRequest,
  readSettings,
  readVariables,
  withoutEmptyInputs,
} from './settings.ts'
import { checkVariables } from './variables.ts'

export type RunInput = Awaited<ReturnType<typeof readInput>>

/** Throws an InputError that lists all problems. */
export async function readInput(request: RunRequest, files: Files) {
  const { areText, env } = request
  const inputs = withoutEmptyInputs(request)
  const name = await operationNamed(request)
  const operation: Operation = await operations[name]()
  if (request.isAction === true && operation.isOutsideOfAction)
    throw inputError('operation', `${name} is not an operation of the action; run it on the command line`)
  const { shape } = operation.input
  const settings = await readSettings(request, files)
  const variables = checkVariables(env)
  const given = pick(inputs, (key) => Object.hasOwn(shape, key))
  // The project is the owner of files. In a list it is a filter, which no file sets.
  const fromFile = pick(settings.inputs, (key) => Object.hasOwn(shape, key) && Object.hasOwn(shape, 'files'))
  const fields = parseFields(
    operation.input,
    { ...fromFile, ...readVariables(shape, env), ...(areText ? decodeAll(shape, given) : given) },
    settings.diagnosticFor,
  )
  const scope = operation.scopeWith?.(fields.values) ?? operation.scope
  // Problems of other inputs would mislead: no value of them makes the operation available.
  const { profile = defaultProfile } = settings.values
  if (profileNamed(profile).isSelfHosted && (scope === 'organization' || scope === 'service')) {
    const message = `${name} is not available with profile ${profile}, because a self-hosted server has no organizations, usage costs and backups`
    throw inputError('operation', message)
  }
  const { connection, diagnostics } = resolveConnection(settings, scope, env)
  const all = [
    ...checkInputNames(name, shape, request),
    ...variables.diagnostics,
    ...settings.diagnostics,
    ...(settings.values.readOnly === true ? refuseWrites(name, operation, settings, request.isAction === true) : []),
    ...(areText ? checkNotifyOn(settings, request.isAction === true) : []),
    ...checkReports(name, operation, settings, fields.values.planFile),
    ...(settings.isEnvironmentBroken
      ? diagnostics.filter((one) => !(['api-url', 'organization-id', 'service-id'].includes(one.location.file) && isMissingInput(one)))
      : diagnostics),
    ...fields.diagnostics,
    ...(operation.check?.({ values: fields.values, names: fields.names, hasServiceId: settings.names.has('serviceId') }) ?? []),
  ]
  if (all.length > 0) {
    // A config file that is not read may have the missing settings.
    const above = all.some(isMissingInput) ? await files.configAbove() : undefined
    const advice = above === undefined ? [] : [inputDiagnostic('config', `${above} is not read; run the command in its directory`)]
    const { adviseOnEnvironment } = await import('../sync/declarations/environment.ts')
    const elsewhere = Object.hasOwn(shape, 'env') ? await adviseOnEnvironment('the id', files, settings.environment) : ''
    throw new InputError([...firstOfEach(all).map((one) => withAdvice(explainEmpty(one, request), elsewhere)), ...advice])
  }
  const complete = settings.values as Settings // A value that is missing or wrong is a diagnostic.
  return {
    name,
    operation,
    scope,
    input: fields.values,
    settings: complete,
    connection,
    profile: profileNamed(complete.profile),
    lintSettings: settings.lintSettings,
    sqlFunctions: settings.sqlFunctions,
    previousOwner: settings.previousOwner,
    environment: settings.environment,
    /** `input`, `environment`, or the name of the config file. */
    sources: settings.sources,
    warnings: variables.warnings,
    organizationId: complete.organizationId ?? '',
    target: targetOf(complete, connection),
  }
}

/** Inputs that the operation does not have, that a step does not set, or that are empty. */
function checkInputNames(name: OperationName, shape: Shape, request: RunRequest): readonly Diagnostic[] {
  const inputs = withoutEmptyInputs(request)
  const fields: Shape = { ...settingsSchema.shape, ...shape }
  const known = Object.keys(fields)
  const accepts = (field: string) => fields.select !== undefined && (metaOf(fields.select).note ?? '').includes(` ${field}=`)
  return [
    ...Object.keys(pick(inputs, (one) => !known.includes(one))).map((one) => {
      const input = toKebab(one)
      const dropped = adviceOnDropped(input)
      const message =
        dropped === undefined
          ? `unknown input of ${name}${adviseOnName(input, known.map(toKebab), accepts)}`
          : `is not an input any more: ${dropped}`
      return inputDiagnostic(quote(input), message)
    }),
    // A step sets what is about its own run. The rest is set once, for all steps of a job or a runner.
    ...Object.keys(request.isAction === true ? inputs : {}).flatMap((one) => {
      if (!fields[one] || metaOf(fields[one]).setting !== 'variable') return []
      const variable = toEnvironmentName(toKebab(one))
      return [inputDiagnostic(toKebab(one), `is not an input of the action, but a variable; set ${variable} in env`)]
    }),
    // An empty variable of a shell, as in `--budget "$BUDGET"`, must not mean that there is no budget.
    ...Object.keys(pick(request.inputs, (one) => isEmptyText(request, request.inputs[one]))).map((one) =>
      inputDiagnostic(toKebab(one), `is empty; give ${spellInput(toKebab(one))} a value, or leave it out`),
    ),
  ]
}

/** An id that is set beside an environment would contradict its file. */
const withAdvice = (one: Diagnostic, elsewhere: string): Diagnostic =>
  isMissingInput(one) && /^(?:organization|service)-id$/.test(one.location.file) ? { ...one, message: one.message + elsewhere } : one

/** GitHub passes a secret, a variable or an input that does not exist as the same empty text. */
function explainEmpty(one: Diagnostic, { inputs, env, isAction = false }: RunRequest): Diagnostic {
  const name = one.location.file
  const variable = toEnvironmentName(name)
  if (!isMissingInput(one) || !one.message.startsWith('is missing')) return one
  const isEmptyVariable = hasInputVariable(toCamel(name)) && env[variable]?.trim() === ''
  if (one.message.startsWith('is missing or') && !isEmptyVariable) return one
  const isEmptyInput = isAction && !inputs[toCamel(name)]
  if (!isEmptyVariable && !isEmptyInput) return one
  const state = isEmptyVariable
    ? `is missing, because ${variable} is empty`
    : 'is missing or empty: check the name of the secret or variable that it is set to'
  return { ...one, message: one.message.replace(/^is missing(?: or empty)?/, state) }
}

/** The name of the secret that the workflow gives the variable is not known. */
export const emptyVariable = (message: string): string | undefined => /^is missing, because (\w+) is empty/.exec(message)?.[1]

/** Refuses unknown formats, a format twice, and two files with one path. */
function checkReports(name: OperationName, { reports: own = {} }: Operation, { values, diagnosticFor }: GivenSettings, planFile: unknown) {
  const known: readonly string[] = [...new Set([...commonFormats, ...Object.keys(own)])]
  return (values.reports ?? []).flatMap(({ format, path }, i, all) => {
    if (!known.includes(format))
      return [diagnosticFor('reports', `${name} has no report in the format ${format}; accepted: ${known.join(', ')}`)]
    const earlier = all.slice(0, i)
    if (earlier.some((other) => other.format === format)) return [diagnosticFor('reports', `has the format ${format} twice`)]
    const files = [...(typeof planFile === 'string' ? [{ format: 'plan-file', path: planFile }] : []), ...earlier]
    const other = files.find((one) => normalize(one.path) === normalize(path))
    if (other === undefined) return []
    return [diagnosticFor('reports', `has one path for ${other.format} and ${format}, "${quoteLong(path)}"; give each a path of its own`)]
  })
}

/** The open issue is the only memory of the last state. */
function checkNotifyOn({ values: { notifyOn, issue }, diagnosticFor }: GivenSettings, isAction: boolean): readonly Diagnostic[] {
  if (notifyOn !== 'change') return []
  if (isAction && issue === 'on-failure') return []
  const problem = isAction
    ? '`change` needs `issue: on-failure`, because the issue remembers the last result. Set it, or use `failure`'
    : '`change` works only in the GitHub Action, which remembers the last result in an issue. Use `failure`.'
  return [diagnosticFor('notifyOn', problem)]
}

const readOnlyPlace = `read-only is set, as an option or as ${toEnvironmentName('read-only')}`

/** Outside of the action, comment and issue have no effect. */
function refuseWrites(
  name: OperationName,
  { effect }: Operation,
  { values: { comment = 'off', issue = 'off', notifyUrl }, diagnosticFor }: GivenSettings,
  isAction: boolean,
): readonly Diagnostic[] {
  return [
    ...(effect === 'write' ? [inputDiagnostic('operation', `${name} writes to the service, but ${readOnlyPlace}`)] : []),
    ...(isAction && comment !== 'off' ? [diagnosticFor('comment', `writes comments, but ${readOnlyPlace}; set comment: off`)] : []),
    ...(isAction && issue !== 'off' ? [diagnosticFor('issue', `writes issues, but ${readOnlyPlace}; set issue: off`)] : []),
    ...(notifyUrl === undefined ? [] : [diagnosticFor('notifyUrl', `sends notifications, but ${readOnlyPlace}; leave notify-url out`)]),
  ]
}

function targetOf({ organizationId = '', serviceId }: Settings, connection: RunConnection | undefined): Target | undefined {
  if (connection?.profile.isSelfHosted) return { serverUrl: connection.baseUrl.href }
  return serviceId === undefined ? undefined : { organizationId, serviceId }
}

async function operationNamed({ operation: name, isAction }: RunRequest): Promise<OperationName> {
  if (isOperationName(name)) return name
  const loaded = await Promise.all(operationNames.map((one) => operations[one]()))
  const names = operationNames.filter((_, i) => isAction !== true || loaded[i]?.isOutsideOfAction !== true)
  const accepted = `; accepted: ${names.join(', ')}`
  const message = name === '' ? `is missing${accepted}` : `unknown operation "${quote(name)}"${adviseOnName(name, names) || accepted}`
  throw inputError('operation', message)
}

// A wrong value is also missing. Only the first diagnostic helps.
function firstOfEach(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const seen = new Set<string>()
  return diagnostics.filter((one) => {
    const where = formatLocation(one.location)
    const isRepeat = seen.has(where) && isMissingInput(one)
    seen.add(where)
    return !isRepeat
  })
}

interface RunConnection extends ApiConnection {
  readonly isUnencrypted: boolean
}

function resolveConnection(settings: GivenSettings, scope: Scope, env: Variables) {
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
  return `${/[@?#]/.test(url) ? 'the given value' : `"${quote(url)}"`} ${problem}`
}
