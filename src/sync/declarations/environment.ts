import * as z from 'zod'
import { adopt } from '../../kinds/base.ts'
import { type KindName, kindNames, sections } from '../../kinds/kind-names.ts'
import { projectForm, projectGrammar } from '../../kinds/marker.ts'
import { credentialIn, mayBeCredential } from '../../platform/core/credentials.ts'
import { type Diagnostic, diagnosticOf, formatLocation, type Rules } from '../../platform/core/diagnostics.ts'
import { InputError, inputError } from '../../platform/core/errors.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { type Line, say } from '../../platform/core/line.ts'
import { didYouMean, toCamel, variableName, whyDropped } from '../../platform/core/names.ts'
import { andMore, quote, quoteLong } from '../../platform/core/text.ts'
import { type ReadDocument, readDocument, type ValuePath } from '../../platform/documents/document.ts'
import { hasExpression } from '../../platform/documents/expressions.ts'
import { ownValue, valueAt } from '../../platform/documents/schema.ts'
import { schemaDiagnostics, schemaRules } from '../../platform/documents/validate.ts'
import type { Files, FoundFiles } from '../../platform/operation/files.ts'
import { fileSettings, notInRepository, settingsSchema } from '../../platform/operation/inputs.ts'
import type { NamedEnvironment } from '../../platform/operation/operation.ts'

const directory = 'environments'

const nameGrammar = /^[A-Za-z0-9][\w.-]{0,62}$/

export const environmentInput = z
  .string()
  .regex(nameGrammar)
  .optional()
  .meta({
    description: `Selects an environment, such as staging. Its file, such as \`${directory}/staging.yml\`, has the ids of the target, values of variables, and ids of existing objects.`,
    accepts: 'letters, digits, dots, dashes and underscores, at most 63; the first is a letter or digit',
  })

export const textOrNumber = z
  .union([z.string(), z.number(), z.boolean()])
  .meta({ description: 'The value.', accepts: 'a text, a number, or true or false' })

const adoptByKey = z.record(z.string(), adopt).optional()

const { profile, organizationId, serviceId, observabilityPath } = settingsSchema.shape

export const environmentSchema = z.strictObject({
  $schema: z.string().optional().meta({ description: 'Schema of this file, for editors.' }),
  // Without it, the profile is that of the run.
  profile: profile.unwrap().optional(),
  'organization-id': organizationId,
  'service-id': serviceId,
  'observability-path': observabilityPath,
  project: z.string().regex(projectGrammar).optional().meta({
    description: 'Owner of the objects. Environments that share a service need different ones.',
    accepts: projectForm,
  }),
  variables: z
    .record(z.string(), textOrNumber)
    .optional()
    .meta({ description: 'Variables for expressions in the declaration files. They win over variables that are passed to the run.' }),
  adopt: z.strictObject({ dashboards: adoptByKey, savedSearches: adoptByKey, alerts: adoptByKey, webhooks: adoptByKey }).optional().meta({
    description: 'The field `adopt` of declared objects, by section and key: ids differ between services. `pull` with `env` writes it.',
  }),
})

export interface CommonTarget {
  readonly ownService: unknown
  readonly service: unknown
  readonly project: unknown
}

/** Undefined for a text that is not a name. Throws an InputError. `common` has the target of environments whose files have none. */
export async function readEnvironment(name: string, files: Files, common: CommonTarget): Promise<NamedEnvironment | undefined> {
  if (!nameGrammar.test(name)) return undefined
  const { paths } = await findEnvironments(files)
  const [path, second] = paths.filter((one) => environmentNameOf(one) === name)
  if (path === undefined) {
    await files.demandCheckout('env')
    throw inputError('env', whyUnknown(name, paths.map(environmentNameOf)))
  }
  if (second !== undefined)
    throw inputError('env', `${quoteLong(path)} and ${quoteLong(second)} are files of one environment; delete one of them`)
  const environment = toEnvironment(name, path, await files.read(path, 'env'))
  for (const other of paths.filter((one) => one !== path)) {
    const document = readDocument(await files.read(other, 'env'), other)
    if ('value' in document) requireOwnObjects(environment, document, common)
  }
  return environment
}

const findEnvironments = (files: Files) => files.find([`${directory}/*.{yml,yaml,json}`], 'env')

/** After the advice to set a value: where else it can be set. `field` is that of an environment's file. */
export async function adviseOnEnvironment(field: string, files: Files, environment: NamedEnvironment | undefined): Promise<string> {
  if (environment !== undefined) return `, or ${field} in ${environment.path}`
  const { paths } = await findEnvironments(files).catch((): FoundFiles => ({ paths: [], skipped: [] }))
  const choices = paths.map(environmentNameOf).flatMap((name) => (nameGrammar.test(name) ? [spellInput('env', name)] : []))
  return choices.length === 0 ? '' : `, or choose an environment with ${choices.slice(0, 5).join(' or ')}${andMore(choices.length, 5)}`
}

const environmentNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.(?:yml|yaml|json)$/, '')

function whyUnknown(name: string, known: readonly string[]): string {
  if (known.length === 0) return `unknown environment "${name}"; create ${directory}/${name}.yml`
  return `unknown environment "${name}"${didYouMean(name, known)}; known: ${quoteLong(known.join(', '))}`
}

function toEnvironment(name: string, path: string, text: string): NamedEnvironment {
  const document = readDocument(text, path)
  if ('diagnostics' in document) throw new InputError(document.diagnostics)
  const { value } = document
  const unknown = Object.keys(isMapping(value) ? value : {}).filter((key) => !Object.hasOwn(environmentSchema.shape, key))
  const parsed = environmentSchema.loose().safeParse(value)
  const diagnostics = [
    ...unknown.map((key) => diagnosticAt(document, [key], `"${quote(key)}" ${whyRejected(key)}`)),
    ...(parsed.success ? [] : schemaDiagnostics(parsed.error, document, environmentSchema)),
    ...variableDiagnostics(document),
  ]
  if (!parsed.success || diagnostics.length > 0) throw new InputError(diagnostics)
  const { $schema: _, project, variables = {}, adopt: __, ...settings } = parsed.data
  const named = Object.entries(settings).flatMap(([key, one]) => (typeof one === 'string' ? [[toCamel(key), one] as const] : []))
  const texts = Object.entries(variables).map(([key, one]) => [key, String(one)] as const)
  return { name, path, text, document, settings: Object.fromEntries(named), project, variables: new Map(texts) }
}

const diagnosticAt = (document: ReadDocument, path: ValuePath, message: string): Diagnostic =>
  diagnosticOf(schemaRules, 'schema', document.locationOfKey(path), message)

/** A pull request can change the file. It must not decide where the key goes. */
function whyRejected(key: string): string {
  const name = toCamel(key)
  if (fileSettings.some((one) => one === name)) return 'is not a setting of an environment; set it in .watchkeeper.yml or as an input'
  if (Object.hasOwn(settingsSchema.shape, name)) return notInRepository
  return whyDropped(key) ?? `is an unknown setting${didYouMean(key, Object.keys(environmentSchema.shape))}`
}

function variableDiagnostics(document: ReadDocument): readonly Diagnostic[] {
  const variables = ownValue(document.value, 'variables')
  if (typeof variables !== 'object' || variables === null) return []
  return Object.entries(variables).flatMap(([name, value]) => {
    const reason = whyNoVariable(name, value)
    return reason === undefined ? [] : [diagnosticAt(document, ['variables', name], `variables: "${quote(name)}" ${reason}`)]
  })
}

function whyNoVariable(name: string, value: unknown): string | undefined {
  if (!variableName.test(name)) return 'is not a name of a variable; accepted: letters, digits and underscores; the first is not a digit'
  if (mayBeCredential(name)) return 'may hold a credential, which is never inserted into a file; use another name'
  if (typeof value !== 'string') return undefined
  const kind = credentialIn(value)
  if (kind !== undefined) return `looks like ${kind}, which is never inserted into a file`
  return hasExpression(value) ? 'cannot contain an expression; write the value' : undefined
}

/** Environments with the same service and the same project would overwrite each other's objects. */
function requireOwnObjects({ document, project }: NamedEnvironment, other: ReadDocument, common: CommonTarget): void {
  const serviceOf = ({ value }: ReadDocument, otherwise: unknown): string =>
    String(ownValue(value, 'service-id') ?? otherwise ?? '').toLowerCase()
  const own = serviceOf(document, common.ownService)
  const otherProject = ownValue(other.value, 'project') ?? common.project
  if (own === '' || own !== serviceOf(other, common.service) || otherProject !== (project ?? common.project)) return
  const where = formatLocation(other.locationOfKey(['service-id']))
  const message = `${where} has the same service and project, so both would write the same objects; set another project in one of the files`
  throw new InputError([diagnosticAt(document, ['service-id'], message)])
}

export const variableIn =
  (environment: NamedEnvironment | undefined, variable: Files['variable']): Files['variable'] =>
  (name) =>
    environment?.variables.get(name) ?? variable(name)

/** The document of a file with the entry in `adopt` of the environment at its place. */
export const withAdoption = (file: ReadDocument, environment: ReadDocument, [section, key]: readonly [string, string]): ReadDocument => {
  const isAdopt = ([, , field]: ValuePath): boolean => field === 'adopt'
  const place = (path: ValuePath): ValuePath => ['adopt', section, key, ...path.slice(3)]
  return {
    value: file.value,
    locationOf: (path) => (isAdopt(path) ? environment.locationOf(place(path)) : file.locationOf(path)),
    locationOfKey: (path) => (isAdopt(path) ? environment.locationOfKey(place(path)) : file.locationOfKey(path)),
  }
}

export const environmentRules = {
  'unknown-adoption': { severity: 'error', description: 'An environment has `adopt` for an object that no file declares.' },
} as const satisfies Rules

export const findUnknownAdoptions = (
  { document }: NamedEnvironment,
  declared: readonly { readonly kind: KindName; readonly key: string }[],
): readonly Diagnostic[] =>
  kindNames.flatMap((kind) => {
    const section = sections[kind]
    const known = declared.filter((one) => one.kind === kind).map(({ key }) => key)
    return Object.keys(valueAt(document.value, ['adopt', section]) ?? {})
      .filter((key) => !known.includes(key))
      .map((key) => {
        const message = `adopt.${section}: no file declares the key "${quote(key)}"${didYouMean(key, known)}`
        return diagnosticOf(environmentRules, 'unknown-adoption', document.locationOfKey(['adopt', section, key]), message)
      })
  })

interface OfEnvironment {
  readonly environment?: string | undefined
  readonly serviceName?: string | undefined
}

/** ` in environment staging`, or ` in service Checkout`; empty where neither has a name. */
export const inEnvironment = ({ environment, serviceName }: OfEnvironment): Line =>
  environment !== undefined ? say` in environment ${environment}` : serviceName !== undefined ? say` in service ${serviceName}` : []

/** ` for shop, environment staging`. */
export const forProject = ({ project, ...where }: OfEnvironment & { readonly project: string }): Line =>
  say` for ${project}${ofEnvironment(where)}`

/** After the name of the project. */
export const ofEnvironment = ({ environment, serviceName }: OfEnvironment): Line =>
  environment !== undefined ? say`, environment ${environment}` : serviceName !== undefined ? say`, service ${serviceName}` : []
