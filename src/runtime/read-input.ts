import { normalize } from 'node:path'
import { isOperationName, type OperationName, operationNames, operations } from '../operations.ts'
import type { Target } from '../platform/api/path.ts'
import { defaultProfile, type ProfileName, profileNamed } from '../platform/api/profiles.ts'
import { type Diagnostic, formatLocation, inputDiagnostic, isMissingInput } from '../platform/core/diagnostics.ts'
import { InputError, inputError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { toCamel, toEnvironmentName, toKebab } from '../platform/core/names.ts'
import { quote } from '../platform/core/text.ts'
import { metaOf, type Shape } from '../platform/documents/schema.ts'
import type { Files } from '../platform/operation/files.ts'
import { type Settings, settingsSchema } from '../platform/operation/inputs.ts'
import type { Operation } from '../platform/operation/operation.ts'
import { commonFormats } from '../platform/operation/reports.ts'
import { type RunConnection, resolveConnection } from './connection.ts'
import { decodeAll, parseFields, type Values } from './decode.ts'
import { adviceOnDropped, adviseOnName } from './new-names.ts'
import {
  type GivenSettings,
  hasInputVariable,
  isEmptyText,
  pick,
  type RunRequest,
  readSettings,
  readVariables,
  settingNames,
  withoutEmptyInputs,
} from './settings.ts'
import { checkVariables } from './variables.ts'

export type RunInput = Awaited<ReturnType<typeof readInput>>

/** Throws an InputError that lists all problems. */
export async function readInput(request: RunRequest, files: Files) {
  const { areText, env } = request
  const inputs = withoutEmptyInputs(request)
  const name = operationNamed(request.operation)
  const loaded: Operation = await operations[name]()
  if (request.isAction === true && loaded.isOutsideOfAction)
    throw inputError('operation', `${name} is not an operation of the action; run it on the command line`)
  const { shape } = loaded.input
  const settings = await readSettings(request, files)
  const variables = checkVariables(env)
  const given = pick(inputs, (key) => Object.hasOwn(shape, key))
  // The project is the owner of files. In a list it is a filter, which no file sets.
  const fromFile = pick(settings.inputs, (key) => Object.hasOwn(shape, key) && Object.hasOwn(shape, 'files'))
  const fields = parseFields(
    loaded.input,
    { ...fromFile, ...readVariables(shape, env), ...(areText ? decodeAll(shape, given) : given) },
    settings.diagnosticFor,
  )
  const operation: Operation = { ...loaded, scope: loaded.scopeWith?.(fields.values) ?? loaded.scope }
  // Problems of other inputs would mislead: no value of them makes the operation available.
  const unavailable = explainUnavailable(name, operation, settings.values.profile)
  if (unavailable !== undefined) throw inputError('operation', unavailable)
  const { connection, diagnostics } = resolveConnection(settings, operation.scope, env)
  const known = [...settingNames, ...Object.keys(shape)]
  const all = [
    ...Object.keys(pick(inputs, (name) => !known.includes(name))).map((one) => {
      const input = toKebab(one)
      const dropped = adviceOnDropped(input)
      const message =
        dropped === undefined
          ? `unknown input of ${name}${adviseOnName(input, known.map(toKebab))}`
          : `is not an input any more: ${dropped}`
      return inputDiagnostic(quote(input, 60), message)
    }),
    ...(request.isAction === true ? refuseSettings(inputs, { ...settingsSchema.shape, ...shape }) : []),
    ...emptyInputs(request),
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
  if (all.length > 0)
    throw new InputError([...firstOfEach(all).map((one) => explainEmpty(one, request)), ...(await adviseOnConfig(all, files))])
  const complete = settings.values as Settings // A value that is missing or wrong is a diagnostic.
  return {
    name,
    operation,
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

/** A config file that is not read may have the missing settings. */
async function adviseOnConfig(problems: readonly Diagnostic[], files: Files): Promise<readonly Diagnostic[]> {
  const above = problems.some(isMissingInput) ? await files.configAbove() : undefined
  return above === undefined ? [] : [inputDiagnostic('config', `${above} is not read; run the command in its directory`)]
}

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
    return [diagnosticFor('reports', `has one path for ${other.format} and ${format}, "${quote(path)}"; give each a path of its own`)]
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

function operationNamed(name: string): OperationName {
  if (isOperationName(name)) return name
  const accepted = `; accepted: ${operationNames.join(', ')}`
  const message =
    name === '' ? `is missing${accepted}` : `unknown operation "${quote(name, 80)}"${adviseOnName(name, operationNames) || accepted}`
  throw inputError('operation', message)
}

/** An empty variable of a shell, as in `--budget "$BUDGET"`, must not mean that there is no budget. */
const emptyInputs = (request: RunRequest): readonly Diagnostic[] =>
  Object.keys(pick(request.inputs, (name) => isEmptyText(request, request.inputs[name]))).map((name) =>
    inputDiagnostic(toKebab(name), `is empty; give ${spellInput(toKebab(name))} a value, or leave it out`),
  )

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

/** A step sets what is about its own run. The rest is set once, for all steps of a job or a runner. */
const refuseSettings = (inputs: Values, shape: Shape): readonly Diagnostic[] =>
  Object.keys(inputs).flatMap((name) => {
    if (!shape[name] || metaOf(shape[name]).setting !== 'variable') return []
    const variable = toEnvironmentName(toKebab(name))
    return [inputDiagnostic(toKebab(name), `is not an input of the action, but a variable; set ${variable} in env`)]
  })

function explainUnavailable(name: OperationName, { scope }: Operation, profile: ProfileName = defaultProfile) {
  if (profileNamed(profile).isSelfHosted && (scope === 'organization' || scope === 'service'))
    return `${name} is not available with profile ${profile}, because a self-hosted server has no organizations, usage costs and backups`
  return undefined
}
