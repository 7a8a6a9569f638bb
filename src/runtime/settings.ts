import * as z from 'zod'
import { type Diagnostic, inputDiagnostic, missingInput } from '../platform/core/diagnostics.ts'
import { InputError } from '../platform/core/errors.ts'
import { toEnvironmentName, toKebab } from '../platform/core/names.ts'
import { quote } from '../platform/core/text.ts'
import type { Variables } from '../platform/core/variables.ts'
import { coreOf, isFlag, metaOf, type Shape, valueAt } from '../platform/documents/schema.ts'
import { explainIssue } from '../platform/documents/validate.ts'
import type { Files } from '../platform/operation/files.ts'
import { fileInputs, settingsSchema } from '../platform/operation/inputs.ts'
import type { NamedEnvironment } from '../platform/operation/operation.ts'
import type { CommonTarget } from '../sync/declarations/environment.ts'
import type { Config } from './config-file.ts'
import { variableInputs } from './input-names.ts'
import { defaultConfigFile } from './workspace.ts'

export interface RunRequest {
  readonly operation: string
  /** Inputs by camelCase name. An empty text is an error. */
  readonly inputs: Values
  readonly areText: boolean
  /** The action reads other settings from variables only, and writes comments and an issue. */
  readonly isAction?: boolean
  readonly env: Variables
  /** Undefined when the default config file does not exist. Throws an InputError when a file given by name does not exist. */
  readonly readConfigFile: (path: string, isRequired: boolean) => Promise<string | undefined>
}

export const pick = (values: Values, isWanted: (key: string) => boolean): Values =>
  Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== undefined && isWanted(key)))

export const isEmptyText = ({ areText }: RunRequest, value: unknown): boolean => areText && value === ''

export const withoutEmptyInputs = (request: RunRequest): Values =>
  Object.fromEntries(Object.entries(request.inputs).filter(([, value]) => !isEmptyText(request, value)))

const settingNames: readonly string[] = Object.keys(settingsSchema.shape)

/** The order of precedence: inputs, variables, the file of the environment, the config file. */
export async function readSettings(request: RunRequest, files: Files) {
  const { areText, env, readConfigFile } = request
  const own = pick(withoutEmptyInputs(request), (key) => settingNames.includes(key))
  const fromVariables = readVariables(settingsSchema.shape, env)
  const ofInputs: Values = areText ? decodeAll(settingsSchema.shape, own) : own
  const given = { ...fromVariables, ...ofInputs, ...strictestReadOnly([ofInputs.readOnly, fromVariables.readOnly]) }
  const configFile = typeof given.config === 'string' ? given.config : defaultConfigFile
  const project = request.inputs.project ?? (env[toEnvironmentName('project')]?.trim() || undefined)
  const config = await loadConfig(configFile, given.config !== undefined, readConfigFile)
  const { environment, diagnostics } = await loadEnvironment(request.inputs.env, files, {
    ownService: given.serviceId ?? config.values.serviceId,
    service: config.values.serviceId,
    project: project ?? config.inputs.project ?? env.GITHUB_REPOSITORY,
  })
  const ofEnvironment = environment?.settings ?? {}
  const diagnosticFor: DiagnosticFor = (name, message) => {
    const key = toKebab(name)
    if (request.inputs[name] !== undefined) return inputDiagnostic(key, message)
    if (hasInputVariable(name) && env[toEnvironmentName(key)]?.trim()) return inputDiagnostic(toEnvironmentName(key), message)
    const location = Object.hasOwn(ofEnvironment, name) ? environment?.document.locationOf([key]) : config.locationOf(name)
    return location === undefined ? inputDiagnostic(key, message) : { ...inputDiagnostic(key, `${key}: ${message}`), location }
  }
  const all = { ...decodeAll(settingsSchema.shape, config.values), ...ofEnvironment, ...given }
  const parsed = parseFields(settingsSchema, all, diagnosticFor)
  return {
    values: parsed.values,
    names: parsed.names,
    diagnosticFor,
    inputs: pick({ ...config.inputs, project: project ?? environment?.project ?? config.inputs.project }, () => true),
    lintSettings: config.lintSettings,
    sqlFunctions: config.sqlFunctions,
    previousOwner: config.previousOwner,
    environment,
    isEnvironmentBroken: diagnostics.length > 0,
    sources: {
      ...settingOrigin(config.values, configFile),
      ...settingOrigin(ofEnvironment, environment?.path ?? ''),
      ...settingOrigin(fromVariables, 'environment'),
      ...settingOrigin(own, 'input'),
    },
    diagnostics: [
      ...config.diagnostics,
      ...diagnostics,
      ...parsed.diagnostics,
      ...(environment === undefined
        ? []
        : findContradictions(
            environment,
            pick(config.values, (name) => name === 'organizationId' || name === 'serviceId'),
            { ...given, project },
          )),
    ],
  }
}

/** A step or a script, which are files of the repository, must not switch off what a variable has set. */
function strictestReadOnly(given: readonly unknown[]): Values {
  const values = given.filter((value) => value !== undefined)
  // A value that is not accepted is an error, also where another place has a valid one.
  const strictest = values.find((value) => typeof value !== 'boolean') ?? values.find((value) => value === true) ?? values[0]
  return strictest === undefined ? {} : { readOnly: strictest }
}

async function loadEnvironment(name: unknown, files: Files, common: CommonTarget) {
  if (typeof name !== 'string') return { diagnostics: [] }
  try {
    // Most runs have no environment.
    const { readEnvironment } = await import('../sync/declarations/environment.ts')
    return { environment: await readEnvironment(name, files, common), diagnostics: [] }
  } catch (thrown) {
    if (thrown instanceof InputError) return { diagnostics: thrown.diagnostics }
    throw thrown
  }
}

/** A variable of a shell must not send the values of one environment to the service of another one. */
const findContradictions = ({ path, settings, project }: NamedEnvironment, common: Values, given: Values): readonly Diagnostic[] =>
  Object.entries({ ...common, ...settings, ...(project !== undefined && { project }) }).flatMap(([name, value]) => {
    const other = given[name]
    if (typeof other !== 'string' || other === '' || (name.endsWith('Id') ? other.toLowerCase() : other) === value) return []
    const message = `"${quote(other)}" contradicts "${quote(value)}" in ${name in settings || name === 'project' ? path : 'the config file'}; remove the input or ${toEnvironmentName(toKebab(name))}, or this line of the file`
    return [inputDiagnostic(toKebab(name), message)]
  })

const settingOrigin = (values: Values, source: string) => Object.fromEntries(Object.keys(values).map((name) => [name, source]))

export const hasInputVariable = (name: string): boolean =>
  settingNames.includes(name) || [...variableInputs, ...fileInputs].includes(toKebab(name))

export function readVariables(shape: Shape, env: Variables): Values {
  const found = Object.keys(shape)
    .filter(hasInputVariable)
    .map((name) => [name, env[toEnvironmentName(toKebab(name))]?.trim()] as const)
  return decodeAll(shape, Object.fromEntries(found.filter(([, text]) => text)))
}

const emptyConfig: Config = {
  values: {},
  inputs: {},
  lintSettings: {},
  sqlFunctions: [],
  previousOwner: {},
  diagnostics: [],
  locationOf: () => undefined,
}

async function loadConfig(path: string, isRequired: boolean, readConfigFile: RunRequest['readConfigFile']): Promise<Config> {
  try {
    const text = await readConfigFile(path, isRequired)
    if (text === undefined) return emptyConfig
    const { readConfig } = await import('./config-file.ts')
    return { ...emptyConfig, ...readConfig(text, path) }
  } catch (thrown) {
    if (thrown instanceof InputError) return { ...emptyConfig, diagnostics: thrown.diagnostics }
    throw thrown
  }
}

export type GivenSettings = Awaited<ReturnType<typeof readSettings>>

/** Values by camelCase name. */
export type Values = Readonly<Record<string, unknown>>

/** A text that cannot be decoded stays text, which the schema rejects. */
export function decode(schema: z.core.$ZodType, text: string): unknown {
  const core = coreOf(schema)
  // The runner's getBooleanInput reads booleans like this, and follows YAML's core schema.
  if (isFlag(core)) return /^(?:true|True|TRUE)$/.test(text) || (/^(?:false|False|FALSE)$/.test(text) ? false : text)
  if (core instanceof z.ZodNumber) return /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?(?:[eE][+-]?\d{1,2})?$/.test(text) ? Number(text) : text
  if (core instanceof z.ZodArray)
    return text
      .split(metaOf(schema).commas ? /[\n,]/ : '\n')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  return text
}

export const decodeAll = (shape: Shape, values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' && shape[name] ? decode(shape[name], value) : value]),
  )

/** The diagnostic is at the place of the value: an input, a variable, or a line of a file. `name` is in camelCase. */
type DiagnosticFor = (name: string, message: string) => Diagnostic

/** Checks field by field, so that all problems are reported at once. */
export function parseFields<T extends z.ZodObject>(schema: T, values: Values, diagnosticFor: DiagnosticFor) {
  const valid: Record<string, unknown> = {}
  const diagnostics: Diagnostic[] = []
  const shape: z.core.$ZodLooseShape = schema.shape
  for (const [name, field] of Object.entries(shape)) {
    const result = field.safeParse(values[name])
    const [issue] = result.error?.issues ?? []
    const problem = result.success
      ? undefined
      : issue === undefined
        ? 'is not accepted'
        : explainIssue(issue, valueAt(values[name], issue.path), field)
    if (problem !== undefined)
      diagnostics.push(values[name] === undefined ? missingInput(toKebab(name), problem) : diagnosticFor(name, problem))
    else if (result.data !== undefined) valid[name] = result.data
  }
  // Each value was parsed by the field of its name.
  return { values: valid as Partial<z.output<T>>, names: new Set(Object.keys(values)), diagnostics }
}
