// Owns the way from what somebody wrote, on whichever surface, to a call that is known to be right; or to all that is wrong.
import type { Connection } from '../api/client.ts'
import { type Profile, profileNamed } from '../api/profiles.ts'
import { InputError, type Problem } from '../kernel/errors.ts'
import { didYouMean, toKebab } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import { isOperationName, type OperationName, operationNames, operations } from '../operations/index.ts'
import type { Operation } from '../operations/operation.ts'
import { type Settings, settingsSchema } from '../operations/settings.ts'
import type { LintSettings } from '../provision/lint.ts'
import { type Line, say } from '../report/line.ts'
import type { Config } from './config-file.ts'
import { decodeAll } from './decode.ts'
import { locate } from './locate.ts'
import { parseFields } from './parse.ts'
import { type Environment, misplacedVariables, readEnvironment, settingNames, type Values } from './setting-sources.ts'

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
    throw new InputError([{ name: 'operation', message }])
  }
  const operation: Operation = await operations[name]()
  const inputNames = Object.keys(operation.input.shape)
  const settings = await readSettings(request)
  const isKnown = (key: string): boolean => Object.hasOwn(operation.input.shape, key)
  const given = pick(request.inputs, (key) => isKnown(key) && request.inputs[key] !== undefined)
  const decoded = request.areText ? decodeAll(operation.input.shape, given) : given
  const fields = parseFields(operation.input, { ...pick(settings.inputs, isKnown), ...decoded })
  const place = locate(settings.values, operation.scope, request.env)
  const problems = [
    ...unknownInputs(request.inputs, name, [...settingNames, ...inputNames]),
    ...misplacedVariables(request.env, inputNames),
    ...settings.problems,
    ...place.problems,
    ...fields.problems,
    ...(operation.check?.({ values: fields.values, names: fields.names, hasServiceId: settings.names.has('serviceId') }) ?? []),
  ]
  if (problems.length > 0 || (place.connection === undefined && operation.scope !== 'none')) throw new InputError(withoutRepeats(problems))
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

function unknownInputs(inputs: Values, operation: string, known: readonly string[]): readonly Problem[] {
  const spelled = known.map(toKebab)
  return Object.keys(inputs)
    .filter((name) => inputs[name] !== undefined && !known.includes(name))
    .map((name) => ({ name: quote(toKebab(name), 60), message: `is no input of ${operation}${didYouMean(name, spelled)}` }))
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
    problems: [...fromFile.problems, ...parsed.problems],
  }
}

const configFileOf = (wanted: unknown): string => (typeof wanted === 'string' ? wanted : defaultConfigFile)

async function readConfigSettings(wanted: unknown, readConfigFile: Request['readConfigFile']): Promise<Config> {
  const nothing: Config = { values: {}, inputs: {}, lintSettings: {}, problems: [] }
  const path = configFileOf(wanted)
  try {
    const text = await readConfigFile(path, wanted !== undefined)
    if (text === undefined) return nothing
    const { readConfig } = await import('./config-file.ts')
    return readConfig(text, path)
  } catch (thrown) {
    if (thrown instanceof InputError) return { ...nothing, problems: thrown.problems }
    throw thrown
  }
}

// A field that is wrong is also missing for whoever looks for its value: the first word is the better one.
function withoutRepeats(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Set<string>()
  return problems.filter(({ name, message }) => {
    const isEcho = seen.has(name) && message.startsWith('is missing')
    seen.add(name)
    return !isEcho
  })
}
