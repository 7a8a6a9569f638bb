import type * as z from 'zod'
import type { Connection } from '../api/client.ts'
import { type Profile, profileNamed } from '../api/profiles.ts'
import { type Diagnostic, formatLocation, inputDiagnostic } from '../core/diagnostics.ts'
import { InputError, inputError } from '../core/errors.ts'
import { didYouMean, nearestName, toEnvironmentName, toKebab } from '../core/names.ts'
import { basicPair, shortestSecret } from '../core/secrets.ts'
import { quote } from '../core/text.ts'
import { metaOf } from '../documents/schema.ts'
import { parseApiUrl, proxySecrets, readProxySettings } from '../http/proxy.ts'
import type { LintSettings, Operation, Scope } from '../operation/operation.ts'
import { type Settings, settingsSchema } from '../operation/settings.ts'
import { isOperationName, type OperationName, operationNames, operations } from '../operations.ts'
import { type Line, say } from '../report/blocks.ts'
import type { Config } from './config-file.ts'
import { decodeAll, type Environment, misplacedVariables, readEnvironment, settingNames, type Values } from './decode.ts'

// Owns checking values against the fields of a schema, one by one, so that everything wrong is told at once.

export interface Parsed<T extends z.ZodObject> {
  /** Those that are valid by themselves. */
  readonly values: Partial<z.output<T>>
  /** Those that were given, valid or not. */
  readonly names: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
}

/** `values` by camelCase name; what is undefined was not given. */
export function parseFields<T extends z.ZodObject>(schema: T, values: Readonly<Record<string, unknown>>): Parsed<T> {
  const names = new Set(Object.keys(values).filter((name) => values[name] !== undefined))
  const valid: Record<string, unknown> = {}
  const diagnostics: Diagnostic[] = []
  for (const [name, field] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    const result = field.safeParse(values[name])
    if (!result.success) diagnostics.push(inputDiagnostic(toKebab(name), complain(field, values[name], result.error)))
    else if (result.data !== undefined) valid[name] = result.data
  }
  return { values: valid as Partial<z.output<T>>, names, diagnostics }
}

function complain(field: z.ZodType, value: unknown, error: z.ZodError): string {
  const { accepts, secret } = metaOf(field)
  const accepted = accepts === undefined ? '' : `; accepted: ${accepts}`
  if (value === undefined) return `is missing${accepted}`
  if (secret) return `is not accepted${accepted}`
  const given = typeof value === 'string' ? value : (wrongItem(value, error) ?? JSON.stringify(value))
  const nearest =
    typeof value === 'string' && accepts !== undefined
      ? nearestName(
          value,
          accepts.split(', ').filter((word) => !word.includes(' ')),
        )
      : undefined
  return `"${quote(given ?? '', 80)}" is not accepted${accepted}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`
}

/** The first item of a list that is wrong by itself: a long list would hide it. */
function wrongItem(value: unknown, { issues }: z.ZodError): string | undefined {
  const at = issues[0]?.path[0]
  const item: unknown = Array.isArray(value) && typeof at === 'number' ? value[at] : undefined
  return typeof item === 'string' ? item : undefined
}

// Owns finding every credential in what was given, before anything of it was checked: none may be shown, not even in a complaint.

/** The key secret, what HTTP Basic makes of it, GitHub's token, and the password of a proxy, wherever they were given. */
export function credentialsIn(inputs: Values, env: Environment): readonly string[] {
  // What does not count, because something else wins over it, is a secret all the same.
  const keyIds = given(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID)
  const keySecrets = given(inputs.apiKeySecret, env.WATCHKEEPER_API_KEY_SECRET)
  const pairs = keyIds.flatMap((keyId) => keySecrets.map((keySecret) => basicPair(keyId, keySecret)))
  const tokens = given(inputs.githubToken, env.WATCHKEEPER_GITHUB_TOKEN, env.GITHUB_TOKEN, env.GH_TOKEN)
  const all = [...keySecrets, ...pairs, ...tokens, ...proxySecrets(readProxySettings(env).settings)]
  return all.filter((secret) => secret.length >= shortestSecret)
}

/** The key's id is half of a credential: the log does not need it. Messages name the key by its first and last letters. */
export const keyIdsIn = (inputs: Values, env: Environment): readonly string[] =>
  given(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID).filter((keyId) => keyId.length >= shortestSecret)

/** A newline at the end of a secret makes another credential of it: whoever stored it should know. */
export const spacedCredentials = (env: Environment): readonly string[] =>
  ['api-key-id', 'api-key-secret'].filter((name) =>
    [`INPUT_${name.toUpperCase()}`, toEnvironmentName(name)].some((variable) => env[variable]?.trim() !== env[variable]),
  )

const given = (...values: readonly unknown[]): readonly string[] =>
  values.flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value.trim()] : []))

// Owns where requests go and with which key: required settings, a trusted address, the proxy.

type Located = Omit<Connection, 'userAgent'>

export function locate(
  settings: Partial<Settings>,
  scope: Scope,
  env: Environment,
): { readonly connection?: Located; readonly diagnostics: readonly Diagnostic[] } {
  if (scope === 'none') return { diagnostics: [] }
  const profile = profileNamed(settings.profile)
  const apiUrl = settings.apiUrl ?? profile.apiUrl
  const address = apiUrl === undefined ? undefined : parseApiUrl(apiUrl)
  const proxy = readProxySettings(env)
  const { apiKeyId, apiKeySecret, timeoutSeconds, maxAttempts } = settings
  const needed = ['apiKeyId', 'apiKeySecret', 'organizationId', ...(scope === 'service' ? ['serviceId'] : [])] as const
  const diagnostics = [
    ...needed.filter((name) => settings[name as keyof Settings] === undefined).map((name) => missing(toKebab(name))),
    ...(address === undefined ? [inputDiagnostic('api-url', 'is missing: give api-url, or a profile that knows it')] : []),
    ...(address !== undefined && 'problem' in address ? [inputDiagnostic('api-url', `${showUrl(apiUrl ?? '')} ${address.problem}`)] : []),
    ...proxy.diagnostics,
    ...(env.NODE_TLS_REJECT_UNAUTHORIZED === '0'
      ? [
          inputDiagnostic(
            'NODE_TLS_REJECT_UNAUTHORIZED',
            'is 0, which would send the key to anybody; trust an authority of your own by NODE_EXTRA_CA_CERTS',
          ),
        ]
      : []),
  ]
  if (
    diagnostics.length > 0 ||
    address === undefined ||
    'problem' in address ||
    !apiKeyId ||
    !apiKeySecret ||
    !timeoutSeconds ||
    !maxAttempts
  )
    return { diagnostics }
  const observabilityPath = settings.observabilityPath ?? profile.observabilityPath
  return {
    diagnostics,
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

const missing = (name: string): Diagnostic => inputDiagnostic(name, `is missing: give the input, or set ${toEnvironmentName(name)}`)

// A url with a user in it may hold a password.
const showUrl = (url: string): string => (url.includes('@') ? 'the given one' : `"${quote(url, 80)}"`)

// Owns the way from what somebody wrote, on whichever surface, to a call that is known to be right; or to all that is wrong.

/** What the repository's config file is called unless `config` says otherwise. */
export const defaultConfigFile = '.watchkeeper.yml'

export interface Request {
  readonly operation: string
  /** Inputs by camelCase name; undefined for not given. */
  readonly inputs: Values
  /** Inputs came as text and are decoded; otherwise they are native already. */
  readonly areText: boolean
  readonly env: Environment
  /** Reads the config file. Undefined when there is none and it was not asked for by name; an InputError when it was. */
  readonly readConfigFile: (path: string, isWanted: boolean) => Promise<string | undefined>
}

export interface Prepared {
  readonly name: OperationName
  readonly operation: Operation
  readonly input: Values
  readonly settings: Settings
  /** What makes a failed gate a warning, as messages name it; undefined where nothing does. */
  readonly leniency: Line | undefined
  /** Undefined for an operation that needs none. */
  readonly connection: Omit<Connection, 'userAgent'> | undefined
  readonly profile: Profile
  readonly lintSettings: LintSettings
  readonly organizationId: string
  readonly serviceId: string | undefined
}

/** Throws an InputError that lists everything wrong. */
export async function prepare(request: Request): Promise<Prepared> {
  const name = request.operation
  if (!isOperationName(name)) {
    const message =
      name === ''
        ? `is missing; accepted: ${operationNames.join(', ')}`
        : `"${quote(name, 80)}" is not known${didYouMean(name, operationNames) || `; accepted: ${operationNames.join(', ')}`}`
    throw inputError('operation', message)
  }
  const operation: Operation = await operations[name]()
  const inputNames = Object.keys(operation.input.shape)
  const settings = await readSettings(request)
  const isKnown = (key: string): boolean => Object.hasOwn(operation.input.shape, key)
  const given = pick(request.inputs, (key) => isKnown(key) && request.inputs[key] !== undefined)
  const decoded = request.areText ? decodeAll(operation.input.shape, given) : given
  const fields = parseFields(operation.input, { ...pick(settings.inputs, isKnown), ...decoded })
  const place = locate(settings.values, operation.scope, request.env)
  const diagnostics = [
    ...unknownInputs(request.inputs, name, [...settingNames, ...inputNames]),
    ...misplacedVariables(request.env, inputNames),
    ...settings.diagnostics,
    ...place.diagnostics,
    ...fields.diagnostics,
    ...(operation.check?.({ values: fields.values, names: fields.names, hasServiceId: settings.names.has('serviceId') }) ?? []),
  ]
  if (diagnostics.length > 0 || (place.connection === undefined && operation.scope !== 'none'))
    throw new InputError(withoutRepeats(diagnostics))
  const complete = settings.values as Settings
  return {
    name,
    operation,
    input: fields.values as Values,
    settings: complete,
    leniency: complete.warnOnly ? settings.leniency : undefined,
    connection: place.connection,
    profile: profileNamed(complete.profile),
    lintSettings: settings.lintSettings,
    organizationId: complete.organizationId ?? '',
    serviceId: complete.serviceId,
  }
}

const pick = (values: Values, wanted: (key: string) => boolean): Values =>
  Object.fromEntries(Object.entries(values).filter(([key]) => wanted(key)))

function unknownInputs(inputs: Values, operation: string, known: readonly string[]): readonly Diagnostic[] {
  const spelled = known.map(toKebab)
  return Object.keys(inputs)
    .filter((name) => inputs[name] !== undefined && !known.includes(name))
    .map((name) => inputDiagnostic(quote(toKebab(name), 60), `is no input of ${operation}${didYouMean(name, spelled)}`))
}

/** Common settings from all their sources: those that are valid by themselves, and what is wrong with the others. */
export async function readSettings({ inputs, areText, env, readConfigFile }: Request) {
  const own = pick(inputs, (key) => settingNames.includes(key) && inputs[key] !== undefined)
  const given = { ...readEnvironment(env), ...(areText ? decodeAll(settingsSchema.shape, own) : own) }
  const fromFile = await readConfigSettings(given.config, readConfigFile)
  const parsed = parseFields(settingsSchema, { ...fromFile.values, ...given })
  return {
    values: parsed.values,
    names: parsed.names,
    inputs: fromFile.inputs,
    lintSettings: fromFile.lintSettings,
    leniency: given.warnOnly === undefined ? say`warn-only in ${configFileOf(given.config)}` : say`warn-only`,
    diagnostics: [...fromFile.diagnostics, ...parsed.diagnostics],
  }
}

const configFileOf = (wanted: unknown): string => (typeof wanted === 'string' ? wanted : defaultConfigFile)

async function readConfigSettings(wanted: unknown, readConfigFile: Request['readConfigFile']): Promise<Config> {
  const nothing: Config = { values: {}, inputs: {}, lintSettings: {}, diagnostics: [] }
  const path = configFileOf(wanted)
  try {
    const text = await readConfigFile(path, wanted !== undefined)
    if (text === undefined) return nothing
    const { readConfig } = await import('./config-file.ts')
    return await readConfig(text, path)
  } catch (thrown) {
    if (thrown instanceof InputError) return { ...nothing, diagnostics: thrown.diagnostics }
    throw thrown
  }
}

// A field that is wrong is also missing for whoever looks for its value: the first word is the better one.
function withoutRepeats(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const seen = new Set<string>()
  return diagnostics.filter(({ location, message }) => {
    const where = formatLocation(location)
    const isEcho = seen.has(where) && message.startsWith('is missing')
    seen.add(where)
    return !isEcho
  })
}
