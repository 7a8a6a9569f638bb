import * as z from 'zod'
import type { Connection, Credentials } from '../api/client.ts'
import type { Target } from '../api/path.ts'
import { type Profile, type ProfileName, profileNamed, queryEndpointUrl } from '../api/profiles.ts'
import { type Diagnostic, formatLocation, inputDiagnostic } from '../core/diagnostics.ts'
import { InputError, inputError } from '../core/errors.ts'
import { type Line, say } from '../core/line.ts'
import { didYouMean, nearestName, secretPrefix, toEnvironmentName, toKebab } from '../core/names.ts'
import { basicPair, shortestSecret } from '../core/secrets.ts'
import { quote } from '../core/text.ts'
import type { Variables } from '../core/variables.ts'
import type { CommonTarget } from '../declarations/environment.ts'
import { coreOf, metaOf, type Shape } from '../documents/schema.ts'
import { type ProxySettings, parseApiUrl, proxySecrets, readProxySettings, webhookSecrets } from '../http/proxy.ts'
import { type Settings, settingsSchema } from '../operation/inputs.ts'
import type { Files, LintSettings, NamedEnvironment, Operation, Scope } from '../operation/operation.ts'
import { isOperationName, type OperationName, operationNames, operations } from '../operations.ts'
import type { Config } from './config-file.ts'
import { checkVariables } from './variables.ts'
import { defaultConfigFile } from './workspace.ts'

/** Values by camelCase name. */
type Values = Readonly<Record<string, unknown>>

/** The request to the action, the command line or the library, before any check. */
export interface RunRequest {
  readonly operation: string
  /** Inputs by camelCase name; undefined means not given. An empty text is an error. */
  readonly inputs: Values
  /** Whether inputs are text that has to be decoded, or native values. */
  readonly areText: boolean
  /** Whether the caller keeps an issue on GitHub, which only the action does. */
  readonly keepsIssue?: boolean
  readonly env: Variables
  /** Resolves to undefined when the default config file does not exist. Throws an InputError when a file given by name does not exist. */
  readonly readConfigFile: (path: string, isRequired: boolean) => Promise<string | undefined>
  /** Settings of the config file that do not count, because the environment is about another service. */
  readonly ignoredFileSettings?: readonly string[]
}

/** A request that is complete and valid. */
export interface RunInput {
  readonly name: OperationName
  readonly operation: Operation
  readonly input: Values
  readonly settings: Settings
  /** The setting that makes a failed gate a warning, for messages. Undefined where it stays a failure. */
  readonly warnOnlySource: Line | undefined
  /** Undefined for an operation that sends no request. */
  readonly connection: (Omit<Connection, 'userAgent'> & { readonly isUnencrypted: boolean }) | undefined
  readonly profile: Profile
  readonly lintSettings: LintSettings
  /** The environment that the input `env` names. */
  readonly environment: NamedEnvironment | undefined
  /** Where each common setting that was given comes from: `input`, `environment`, or the config file's name. */
  readonly sources: Readonly<Record<string, string>>
  /** What the user should know before the run. */
  readonly warnings: readonly string[]
  /** Empty for a self-hosted server, and where none is needed. */
  readonly organizationId: string
  /** Undefined where no service is given. */
  readonly target: Target | undefined
}

/** Throws an InputError that lists all problems. */
export async function readInput(request: RunRequest, files: Files): Promise<RunInput> {
  const { areText, env } = request
  const inputs = withoutEmpty(request)
  const name = operationNamed(request.operation)
  const operation: Operation = await operations[name]()
  const { shape } = operation.input
  const settings = await readSettings(request, files)
  const variables = checkVariables(env)
  const given = pick(inputs, (key) => Object.hasOwn(shape, key))
  // The project is the owner of files. In a list it is a filter, which no file sets.
  const fromFile = pick(settings.inputs, (key) => Object.hasOwn(shape, key) && Object.hasOwn(shape, 'files'))
  const fields = parseFields(operation.input, { ...fromFile, ...(areText ? decodeAll(shape, given) : given) }, settings.diagnosticFor)
  // Another input cannot help.
  const unavailable = explainUnavailable(name, operation, settings.values.profile)
  if (unavailable !== undefined) throw inputError('operation', unavailable)
  const { connection, diagnostics } = resolveConnection(settings, { scope: operation.scope, env })
  const all = [
    ...unknownInputs(inputs, name, [...settingNames, ...Object.keys(shape)]),
    ...emptyInputs(request),
    ...variables.diagnostics,
    ...settings.diagnostics,
    ...(settings.values.readOnly === true ? refuseWrites(name, operation, settings, request.keepsIssue === true) : []),
    ...(settings.values.readOnly === true && fields.values.pullRequest === true
      ? [inputDiagnostic('pull-request', `writes to GitHub, but ${readOnlyPlace}`)]
      : []),
    ...(areText ? checkNotifyOn(settings, request.keepsIssue === true) : []),
    ...(settings.isEnvironmentBroken ? withoutTarget(diagnostics) : diagnostics),
    ...fields.diagnostics,
    ...(operation.check?.({ values: fields.values, names: fields.names, hasServiceId: settings.names.has('serviceId') }) ?? []),
  ]
  if (all.length > 0) throw new InputError([...withoutRepeats(all), ...(await adviseOnConfig(all, files))])
  const complete = settings.values as Settings // A value that is missing or wrong is a diagnostic.
  return {
    name,
    operation,
    input: fields.values,
    settings: complete,
    warnOnlySource: complete.warnOnly ? settings.warnOnlySource : undefined,
    connection,
    profile: profileNamed(complete.profile),
    lintSettings: settings.lintSettings,
    environment: settings.environment,
    sources: settings.sources,
    warnings: variables.warnings,
    organizationId: complete.organizationId ?? '',
    target: targetOf(complete, connection),
  }
}

/** A config file that is not read may have the missing settings. */
async function adviseOnConfig(problems: readonly Diagnostic[], files: Files): Promise<readonly Diagnostic[]> {
  const above = problems.some(({ message }) => message.startsWith('is missing')) ? await files.configAbove() : undefined
  return above === undefined ? [] : [inputDiagnostic('config', `${above} is not read; run the command in its directory`)]
}

/** The open issue is the only memory of the last state. */
function checkNotifyOn({ values: { notifyOn, issue }, diagnosticFor }: GivenSettings, keepsIssue: boolean): readonly Diagnostic[] {
  if (notifyOn !== 'change') return []
  if (!keepsIssue)
    return [
      diagnosticFor(
        'notifyOn',
        '`change` works only in the GitHub Action and in GitLab CI, which remember the last result in an issue. Use `failure`.',
      ),
    ]
  return issue === 'on-failure'
    ? []
    : [
        diagnosticFor(
          'notifyOn',
          '`change` needs `issue: on-failure`, because the issue remembers the last result. Set it, or use `failure`',
        ),
      ]
}

const readOnlyPlace = `read-only is set, as an input, as ${toEnvironmentName('read-only')} or in the context`

/** What a read-only run may not do. Without `keepsForge`, comment and issue have no effect. */
function refuseWrites(
  name: OperationName,
  { effect }: Operation,
  { values: { comment = 'off', issue = 'off', notifyUrl }, diagnosticFor }: GivenSettings,
  keepsForge: boolean,
): readonly Diagnostic[] {
  const place = readOnlyPlace
  return [
    ...(effect === 'write' ? [inputDiagnostic('operation', `${name} writes to the service, but ${place}`)] : []),
    ...(keepsForge && comment !== 'off' ? [diagnosticFor('comment', `writes comments, but ${place}; set comment to off`)] : []),
    ...(keepsForge && issue !== 'off' ? [diagnosticFor('issue', `writes issues, but ${place}; set issue to off`)] : []),
    ...(notifyUrl === undefined ? [] : [diagnosticFor('notifyUrl', `sends notifications, but ${place}; leave notify-url out`)]),
  ]
}

/** A broken file of an environment may have what is missing. */
const withoutTarget = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(
    ({ location, message }) => !(['api-url', 'organization-id', 'service-id'].includes(location.file) && message.startsWith('is missing')),
  )

function targetOf({ organizationId = '', serviceId }: Settings, connection: RunInput['connection']): Target | undefined {
  if (connection?.profile.isSelfHosted) return { serverUrl: connection.baseUrl.href }
  return serviceId === undefined ? undefined : { organizationId, serviceId }
}

function operationNamed(name: string): OperationName {
  if (isOperationName(name)) return name
  const accepted = `; accepted: ${operationNames.join(', ')}`
  const message =
    name === '' ? `is missing${accepted}` : `unknown operation "${quote(name, 80)}"${didYouMean(name, operationNames) || accepted}`
  throw inputError('operation', message)
}

/** The values that were given, of the names that are wanted. */
const pick = (values: Values, isWanted: (key: string) => boolean): Values =>
  Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== undefined && isWanted(key)))

const isEmptyText = ({ areText }: RunRequest, value: unknown): boolean => areText && value === ''

const withoutEmpty = (request: RunRequest): Values =>
  Object.fromEntries(Object.entries(request.inputs).filter(([, value]) => !isEmptyText(request, value)))

/** An empty variable of a shell, as in `--budget "$BUDGET"`, must not mean that there is no budget. */
const emptyInputs = (request: RunRequest): readonly Diagnostic[] =>
  Object.keys(pick(request.inputs, (name) => isEmptyText(request, request.inputs[name]))).map((name) =>
    inputDiagnostic(toKebab(name), `is empty; give --${toKebab(name)} a value, or leave it out`),
  )

// A wrong value is also missing. Only the first diagnostic helps.
function withoutRepeats(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const seen = new Set<string>()
  return diagnostics.filter(({ location, message }) => {
    const where = formatLocation(location)
    const isRepeat = seen.has(where) && message.startsWith('is missing')
    seen.add(where)
    return !isRepeat
  })
}

const settingNames: readonly string[] = Object.keys(settingsSchema.shape)

/**
 * The common settings that are valid by themselves, in this order of precedence: inputs, environment variables, the file of the
 * environment that `env` names, the config file.
 */
export async function readSettings(request: RunRequest, files: Files) {
  const { areText, env, readConfigFile, ignoredFileSettings = [] } = request
  const own = pick(withoutEmpty(request), (key) => settingNames.includes(key))
  const fromVariables = readVariables(env)
  const ofInputs: Values = areText ? decodeAll(settingsSchema.shape, own) : own
  const given = { ...fromVariables, ...ofInputs, ...strictestReadOnly([ofInputs.readOnly, fromVariables.readOnly]) }
  const configFile = typeof given.config === 'string' ? given.config : defaultConfigFile
  const loaded = await loadConfig(configFile, given.config !== undefined, readConfigFile)
  const config = { ...loaded, values: pick(loaded.values, (name) => !ignoredFileSettings.includes(name)) }
  const { environment, diagnostics } = await loadEnvironment(request.inputs.env, files, {
    ownService: given.serviceId ?? config.values.serviceId,
    service: config.values.serviceId,
    project: request.inputs.project ?? config.inputs.project ?? env.GITHUB_REPOSITORY ?? env.CI_PROJECT_PATH,
  })
  const ofEnvironment = environment?.settings ?? {}
  const diagnosticFor: DiagnosticFor = (name, message) => {
    const key = toKebab(name)
    if (request.inputs[name] !== undefined) return inputDiagnostic(key, message)
    // A context sets such a variable, too, and the user did not.
    if (Object.hasOwn(fromVariables, name))
      return inputDiagnostic(ignoredFileSettings.includes(name) ? key : toEnvironmentName(key), message)
    const location = Object.hasOwn(ofEnvironment, name) ? environment?.document.locationOf([key]) : config.locationOf(name)
    return location === undefined ? inputDiagnostic(key, message) : { ...inputDiagnostic(key, `${key}: ${message}`), location }
  }
  const all = { ...decodeAll(settingsSchema.shape, config.values), ...ofEnvironment, ...given }
  const parsed = parseFields(settingsSchema, all, diagnosticFor)
  return {
    values: parsed.values,
    names: parsed.names,
    diagnosticFor,
    inputs: { ...config.inputs, ...(environment?.project !== undefined && { project: environment.project }) },
    lintSettings: config.lintSettings,
    environment,
    isEnvironmentBroken: diagnostics.length > 0,
    sources: {
      ...sourceOf(config.values, configFile),
      ...sourceOf(ofEnvironment, environment?.path ?? ''),
      ...sourceOf(fromVariables, 'environment'),
      ...sourceOf(own, 'input'),
    },
    warnOnlySource: given.warnOnly === undefined ? say`warn-only in ${configFile}` : say`warn-only`,
    diagnostics: [
      ...config.diagnostics,
      ...diagnostics,
      ...parsed.diagnostics,
      ...(environment === undefined
        ? []
        : findContradictions(environment, pick(config.values, isTargetId), { ...given, project: request.inputs.project })),
    ],
  }
}

/** A step or a script, which are files of the repository, must not switch off what the environment has set. */
function strictestReadOnly(given: readonly unknown[]): Values {
  const values = given.filter((value) => value !== undefined)
  // A value that is not accepted is an error, also where another place has a valid one.
  const strictest = values.find((value) => typeof value !== 'boolean') ?? values.find((value) => value === true) ?? values[0]
  return strictest === undefined ? {} : { readOnly: strictest }
}

interface LoadedEnvironment {
  readonly environment?: NamedEnvironment | undefined
  readonly diagnostics: readonly Diagnostic[]
}

async function loadEnvironment(name: unknown, files: Files, common: CommonTarget): Promise<LoadedEnvironment> {
  if (typeof name !== 'string') return { diagnostics: [] }
  try {
    // Most runs have no environment.
    const { readEnvironment } = await import('../declarations/environment.ts')
    return { environment: await readEnvironment(name, files, common), diagnostics: [] }
  } catch (thrown) {
    if (thrown instanceof InputError) return { diagnostics: thrown.diagnostics }
    throw thrown
  }
}

const isTargetId = (name: string): boolean => name === 'organizationId' || name === 'serviceId'

/** A variable of a shell must not send the values of one environment to the service of another one. */
const findContradictions = ({ path, settings, project }: NamedEnvironment, common: Values, given: Values): readonly Diagnostic[] =>
  Object.entries({ ...common, ...settings, ...(project !== undefined && { project }) }).flatMap(([name, value]) => {
    const other = given[name]
    if (typeof other !== 'string' || other === '' || (name.endsWith('Id') ? other.toLowerCase() : other) === value) return []
    const place = settingNames.includes(name) ? `the input or ${toEnvironmentName(toKebab(name))}` : 'the input'
    const message = `"${quote(other, 80)}" contradicts "${quote(value, 80)}" in ${name in settings || name === 'project' ? path : 'the config file'}; remove ${place}, or this line of the file`
    return [inputDiagnostic(toKebab(name), message)]
  })

const sourceOf = (values: Values, source: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(values).map((name) => [name, source]))

/** The settings in the variables of the process, each as `WATCHKEEPER_` and its name. */
function readVariables(env: Variables): Values {
  const found = settingNames.map((name) => [name, env[toEnvironmentName(toKebab(name))]?.trim()] as const)
  return decodeAll(settingsSchema.shape, Object.fromEntries(found.filter(([, text]) => text)))
}

async function loadConfig(path: string, isRequired: boolean, readConfigFile: RunRequest['readConfigFile']): Promise<Config> {
  const empty: Config = { values: {}, inputs: {}, lintSettings: {}, diagnostics: [], locationOf: () => undefined }
  try {
    const text = await readConfigFile(path, isRequired)
    if (text === undefined) return empty
    const { readConfig } = await import('./config-file.ts')
    return readConfig(text, path)
  } catch (thrown) {
    if (thrown instanceof InputError) return { ...empty, diagnostics: thrown.diagnostics }
    throw thrown
  }
}

function unknownInputs(inputs: Values, operation: string, known: readonly string[]): readonly Diagnostic[] {
  return Object.keys(pick(inputs, (name) => !known.includes(name))).map((name) =>
    inputDiagnostic(quote(toKebab(name), 60), `unknown input of ${operation}${didYouMean(name, known.map(toKebab))}`),
  )
}

const numberGrammar = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?(?:[eE][+-]?\d{1,2})?$/

/** Turns the text of an input, flag or variable into a native value. A text that cannot be decoded stays text, which the schema rejects. */
export function decode(schema: z.core.$ZodType, text: string): unknown {
  const core = coreOf(schema)
  if (core instanceof z.ZodBoolean) return decodeBoolean(text)
  if (core instanceof z.ZodNumber) return numberGrammar.test(text) ? Number(text) : text
  if (core instanceof z.ZodArray) return decodeItems(text, metaOf(schema).commas ? /[\n,]/ : '\n')
  return text
}

/** Decodes the values that are text. */
const decodeAll = (shape: Shape, values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' && shape[name] ? decode(shape[name], value) : value]),
  )

// Like the runner's getBooleanInput, which follows YAML's core schema.
function decodeBoolean(text: string): boolean | string {
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  return /^(?:false|False|FALSE)$/.test(text) ? false : text
}

const decodeItems = (text: string, separator: string | RegExp): readonly string[] =>
  text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '')

interface ParsedFields<T extends z.ZodObject> {
  /** The values that are valid by themselves. */
  readonly values: Partial<z.output<T>>
  /** The names of all given values, valid or not. */
  readonly names: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
}

/** An error about a value, at the place that it comes from: an input, a variable, or a line of a file. `name` is in camelCase. */
type DiagnosticFor = (name: string, message: string) => Diagnostic

/** Checks field by field, so that all problems are reported at once. */
function parseFields<T extends z.ZodObject>(schema: T, values: Values, diagnosticFor: DiagnosticFor): ParsedFields<T> {
  const valid: Record<string, unknown> = {}
  const diagnostics: Diagnostic[] = []
  const shape: z.core.$ZodLooseShape = schema.shape
  for (const [name, field] of Object.entries(shape)) {
    const result = field.safeParse(values[name])
    if (!result.success) diagnostics.push(diagnosticFor(name, describeIssue(field, values[name], result.error)))
    else if (result.data !== undefined) valid[name] = result.data
  }
  // Each value was parsed by the field of its name.
  return { values: valid as Partial<z.output<T>>, names: new Set(Object.keys(values)), diagnostics }
}

function describeIssue(field: z.ZodType, value: unknown, error: z.ZodError): string {
  const { accepts, secret, missing } = metaOf(field)
  const accepted = accepts === undefined ? '' : `; accepted: ${accepts}`
  if (value === undefined) return `is missing${accepted}${missing === undefined ? '' : `; ${missing}`}`
  if (secret) return `is not accepted${accepted}`
  const shown = typeof value === 'string' ? value : (invalidItem(value, error) ?? JSON.stringify(value) ?? '')
  const choices = accepts?.split(', ').filter((word) => !word.includes(' ')) ?? []
  const nearest = typeof value === 'string' ? nearestName(value, choices) : undefined
  return `"${quote(shown, 80)}" is not accepted${accepted}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`
}

/** The first invalid item of a list. */
function invalidItem(value: unknown, { issues }: z.ZodError): string | undefined {
  const index = issues[0]?.path[0]
  const item: unknown = Array.isArray(value) && typeof index === 'number' ? value[index] : undefined
  return typeof item === 'string' ? item : undefined
}

interface ResolvedConnection {
  readonly connection?: RunInput['connection']
  readonly diagnostics: readonly Diagnostic[]
}

interface ConnectionUse {
  readonly scope: Scope
  readonly env: Variables
}

/** The given settings, valid or not, and the values of the valid ones. */
interface GivenSettings {
  readonly values: Partial<Settings>
  readonly names: ReadonlySet<string>
  readonly diagnosticFor: DiagnosticFor
}

/** Determines the address, the key and the proxy of requests. */
function resolveConnection(settings: GivenSettings, { scope, env }: ConnectionUse): ResolvedConnection {
  const { values, names, diagnosticFor } = settings
  // With a wrong profile, it is not known what the connection needs.
  if (scope === 'none' || (names.has('profile') && values.profile === undefined)) return { diagnostics: [] }
  // Which other settings are missing depends on it.
  if (!['profile', 'apiUrl', 'apiKey', 'apiKeyId', 'apiKeySecret', 'organizationId', 'serviceId'].some((name) => names.has(name)))
    return { diagnostics: [inputDiagnostic('profile', `is missing; ${profileAdvice}`)] }
  const profile = profileNamed(values.profile)
  const { apiUrl = profile.apiUrl, observabilityPath = profile.observabilityPath, allowHttp = false, timeoutSeconds, maxAttempts } = values
  const proxy = readProxySettings(env)
  const address = apiUrl === undefined ? { problem: undefined } : parseApiUrl(apiUrl, allowHttp, proxy.settings)
  const credentials = credentialsOf(values, profile)
  const query = profile.isSelfHosted ? { diagnostics: [] } : resolveQueryEndpoint(settings, proxy.settings)
  const diagnostics = [
    ...query.diagnostics,
    ...(profile.isSelfHosted ? checkSelfHosted(settings) : checkCloud(settings, scope)),
    ...('problem' in address ? [diagnosticFor('apiUrl', describeAddress(apiUrl, address.problem, profile))] : []),
    ...('url' in address && profile.isSelfHosted ? checkServerPath(address.url, settings) : []),
    ...proxy.diagnostics,
    ...(env.NODE_TLS_REJECT_UNAUTHORIZED === '0' ? [insecureTls] : []),
  ]
  if ('problem' in address || credentials === undefined || !timeoutSeconds || !maxAttempts) return { diagnostics }
  const { url, isUnencrypted } = address
  // Where the UI passes requests on, its address ends in /api, so that the path has it twice.
  if (profile.isSelfHosted && !url.pathname.endsWith('/api/v2')) url.pathname = `${url.pathname.replace(/\/$/, '')}/api/v2`
  const connection = {
    baseUrl: url,
    isUnencrypted,
    profile,
    observabilityPath,
    credentials,
    proxy: proxy.settings,
    maxAttempts,
    deadlineMs: timeoutSeconds * 1000,
    queryEndpoint: query.endpoint,
  }
  return { connection, diagnostics }
}

interface ResolvedQueryEndpoint {
  readonly endpoint?: Connection['queryEndpoint']
  readonly diagnostics: readonly Diagnostic[]
}

/** The query endpoints have an address and keys of their own. Without a key, no operation runs SQL. */
function resolveQueryEndpoint({ values, names, diagnosticFor }: GivenSettings, proxy: ProxySettings): ResolvedQueryEndpoint {
  const { sqlKeyId, sqlKeySecret, sqlUrl = queryEndpointUrl, allowHttp = false, wakeService = false } = values
  const address = parseApiUrl(sqlUrl, allowHttp, proxy)
  const [given, other] = names.has('sqlKeyId') ? ['sql-key-id', 'sqlKeySecret'] : ['sql-key-secret', 'sqlKeyId']
  const isHalf = names.has('sqlKeyId') !== names.has('sqlKeySecret')
  const diagnostics = [
    ...(isHalf ? [inputDiagnostic(toKebab(other), `is missing; ${given} needs it`)] : []),
    ...('problem' in address ? [diagnosticFor('sqlUrl', describeAddress(sqlUrl, address.problem))] : []),
  ]
  if ('problem' in address || sqlKeyId === undefined || sqlKeySecret === undefined) return { diagnostics }
  const credentials = { keyId: sqlKeyId, keySecret: sqlKeySecret }
  return { endpoint: { baseUrl: address.url, credentials, mayWake: wakeService }, diagnostics }
}

function credentialsOf({ apiKey, apiKeyId, apiKeySecret }: Partial<Settings>, { isSelfHosted }: Profile): Credentials | undefined {
  if (isSelfHosted) return apiKey === undefined ? undefined : { accessKey: apiKey }
  return apiKeyId === undefined || apiKeySecret === undefined ? undefined : { keyId: apiKeyId, keySecret: apiKeySecret }
}

/** Why the server behind the API cannot have the operation. */
function explainUnavailable(
  name: OperationName,
  { scope, profiles, profilesReason }: Operation,
  profile: ProfileName | undefined,
): string | undefined {
  if (profileNamed(profile).isSelfHosted && (scope === 'organization' || scope === 'service'))
    return `${name} is not available with profile ${profile}, because a self-hosted server has no organizations, usage costs and backups`
  if (profiles === undefined || (profile !== undefined && profiles.includes(profile))) return undefined
  const reason = profilesReason === undefined ? '' : `, because ${profilesReason}`
  const advice = profile === undefined ? `; set the input profile or ${toEnvironmentName('profile')}` : ''
  return `${name} is not available ${profile === undefined ? 'without a profile' : `with profile ${profile}`}; it needs profile ${profiles.join(' or ')}${reason}${advice}`
}

function checkCloud({ names, diagnosticFor }: GivenSettings, scope: Scope): readonly Diagnostic[] {
  const needsService = scope === 'service' || scope === 'service-or-server'
  const required = ['apiKeyId', 'apiKeySecret', 'organizationId', ...(needsService ? ['serviceId'] : [])]
  if (names.has('apiKey'))
    return [diagnosticFor('apiKey', 'is the key of a self-hosted server: set profile: hyperdx, or use api-key-id and api-key-secret')]
  return required.filter((name) => !names.has(name)).map((name) => missing(toKebab(name)))
}

function checkSelfHosted({ names, diagnosticFor }: GivenSettings): readonly Diagnostic[] {
  const refuse = (name: string, reason: string): readonly Diagnostic[] =>
    names.has(name) ? [diagnosticFor(name, `is not for profile hyperdx: ${reason}`)] : []
  const cloudKey = ['apiKeyId', 'apiKeySecret'].filter((name) => names.has(name))
  return [
    // One mistake: the key of the cloud in place of that of the server.
    ...cloudKey
      .slice(0, 1)
      .flatMap((name) => refuse(name, `its key is a single value; set api-key instead of ${cloudKey.map(toKebab).join(' and ')}`)),
    ...refuse('organizationId', 'a self-hosted server has no organizations'),
    ...refuse('serviceId', 'a self-hosted server has no services; api-url identifies it'),
    ...refuse('sqlKeyId', 'it runs SQL with api-key'),
    ...refuse('sqlKeySecret', 'it runs SQL with api-key'),
    ...refuse('sqlUrl', 'it runs SQL at api-url'),
    ...refuse('observabilityPath', 'the path of its API is always /api/v2'),
    ...(names.has('apiKey') || cloudKey.length > 0 ? [] : [missing('api-key')]),
  ]
}

/** The address of one endpoint instead of that of the API. */
function checkServerPath({ origin, pathname }: URL, { diagnosticFor }: GivenSettings): readonly Diagnostic[] {
  const [, base] = /^(.*\/api\/v2)\//.exec(pathname) ?? []
  return base === undefined ? [] : [diagnosticFor('apiUrl', `must end at /api/v2: set it to ${origin}${base}`)]
}

const profileAdvice = `set it to clickhouse-cloud, or to hyperdx for a self-hosted server, as an input or as ${toEnvironmentName('profile')}`

const missing = (name: string): Diagnostic => inputDiagnostic(name, `is missing; set the input or ${toEnvironmentName(name)}`)

function describeAddress(url: string | undefined, problem: string | undefined, { isSelfHosted }: Partial<Profile> = {}): string {
  if (url === undefined) return `is missing; set ${isSelfHosted ? '' : 'profile: clickhouse-cloud, or '}the address of the server`
  // A URL with a user or a query in it may hold a password or a token.
  return `${/[@?#]/.test(url) ? 'the given value' : `"${quote(url, 80)}"`} ${problem}`
}

const insecureTls = inputDiagnostic(
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'is 0, which disables the check of certificates; to trust a private certificate authority, set NODE_EXTRA_CA_CERTS',
)

/**
 * Every secret in the given values, before any check: the keys, their form in HTTP Basic, the token of a forge, the password of a proxy, the
 * path and query of a webhook, and what files name as a secret of a webhook. Includes values that another source overrides.
 */
export function credentialsIn(inputs: Values, env: Variables): readonly string[] {
  const keyIds = givenTexts(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID)
  const keySecrets = givenTexts(inputs.apiKeySecret, env.WATCHKEEPER_API_KEY_SECRET)
  const accessKeys = givenTexts(inputs.apiKey, env.WATCHKEEPER_API_KEY)
  const sqlKeyIds = givenTexts(inputs.sqlKeyId, env.WATCHKEEPER_SQL_KEY_ID)
  const sqlKeySecrets = givenTexts(inputs.sqlKeySecret, env.WATCHKEEPER_SQL_KEY_SECRET)
  const pairs = [...pairsOf(keyIds, keySecrets), ...pairsOf(sqlKeyIds, sqlKeySecrets)]
  const tokens = [
    ...givenTexts(inputs.githubToken, env.WATCHKEEPER_GITHUB_TOKEN, env.GITHUB_TOKEN, env.GH_TOKEN),
    ...givenTexts(inputs.gitlabToken, env.WATCHKEEPER_GITLAB_TOKEN, env.GITLAB_TOKEN, env.CI_JOB_TOKEN),
  ]
  const webhooks = [...webhookUrlsIn(inputs, env), ...secretsOfWebhooks(env)].flatMap(webhookSecrets)
  const all = [
    ...keySecrets,
    ...sqlKeySecrets,
    ...pairs,
    ...accessKeys,
    ...tokens,
    ...webhooks,
    ...proxySecrets(readProxySettings(env).settings),
  ]
  return all.filter((secret) => secret.length >= shortestSecret)
}

const pairsOf = (keyIds: readonly string[], secrets: readonly string[]): readonly string[] =>
  keyIds.flatMap((keyId) => secrets.map((secret) => basicPair(keyId, secret)))

/**
 * Values that the log masks, and of which messages show a part: the key ids, which are half of a credential, and the URLs of webhooks, whose
 * host is public.
 */
export const partlyShownIn = (inputs: Values, env: Variables): readonly string[] =>
  [
    ...givenTexts(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID, inputs.sqlKeyId, env.WATCHKEEPER_SQL_KEY_ID),
    ...webhookUrlsIn(inputs, env),
    ...secretsOfWebhooks(env),
  ].filter((text) => text.length >= shortestSecret)

/** For `urlFrom`, `headersFrom` and `queryParamsFrom` in files. */
const secretsOfWebhooks = (env: Variables): readonly string[] =>
  givenTexts(...Object.entries(env).map(([name, value]) => (name.startsWith(secretPrefix) ? value : undefined)))

const webhookUrlsIn = (inputs: Values, env: Variables): readonly string[] => givenTexts(inputs.notifyUrl, env.WATCHKEEPER_NOTIFY_URL)

/** Names of credentials with white space around them, such as a newline at the end of a stored secret. */
export const paddedCredentials = (env: Variables): readonly string[] =>
  ['api-key', 'api-key-id', 'api-key-secret', 'notify-url'].filter((name) =>
    [`INPUT_${name.toUpperCase()}`, toEnvironmentName(name)].some((variable) => env[variable]?.trim() !== env[variable]),
  )

const givenTexts = (...values: readonly unknown[]): readonly string[] =>
  values.flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value.trim()] : []))
