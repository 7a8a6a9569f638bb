import * as z from 'zod'
import type { Profile } from '../api/profiles.ts'
import { type Diagnostic, diagnosticOf, formatLocation, type Location, type Rules } from '../core/diagnostics.ts'
import { inputError } from '../core/errors.ts'
import { quote } from '../core/text.ts'
import {
  documentRules,
  type InterpolateOptions,
  interpolate,
  type ReadDocument,
  readDocument,
  type ValuePath,
} from '../documents/document.ts'
import { isMapping, isText, ownValue, schemaAt, valueAt } from '../documents/schema.ts'
import { formatPath, schemaDiagnostics } from '../documents/validate.ts'
import * as fields from '../operation/inputs.ts'
import type { Context, Files, LintSettings, NamedEnvironment, Scope, SkippedDirectory } from '../operation/operation.ts'
import { alertFieldsOf, declaredAlert } from '../resources/alerts/alert.ts'
import { dashboardFields } from '../resources/dashboards/dashboard-file.ts'
import { keyForm, keyGrammar } from '../resources/marker.ts'
import { type Abilities, type BrokenObject, checkReferences } from '../resources/references.ts'
import type { Body, DeclaredKey } from '../resources/resource-type.ts'
import { type Declared, type ParsedObject, parseObject, sections } from '../resources/resource-types.ts'
import { declaredSavedSearch } from '../resources/saved-searches/saved-search.ts'
import { type Section, sectionNames } from '../resources/section.ts'
import { declaredSource } from '../resources/sources/source.ts'
import { declaredWebhook } from '../resources/webhooks/webhook.ts'
import type { Slo } from '../slos/expand-slos.ts'
import { type WrittenSlo, writtenSlo } from '../slos/slo-file.ts'
import {
  environmentRules,
  findUnknownOverrides,
  instanceValues,
  mergePatch,
  type Overrides,
  variableIn,
  withOverrides,
} from './environment.ts'
import { declaredIncident, type Incident, type ReadIncidents, readIncidents, type WrittenIncident } from './incidents.ts'
import { type Fill, findUnknownInstances, hasInstances, instanceRules, instancesSchema, instantiate } from './instances.ts'
import { lint } from './lint.ts'

const key = z.string().regex(keyGrammar).meta({ description: 'Identifies the object. Its name can change.', accepts: keyForm })

/** No field is required here, because it may come from `defaults`. */
const written = {
  dashboards: dashboardFields.partial().meta({ id: 'dashboard' }),
  savedSearches: declaredSavedSearch.partial().meta({ id: 'savedSearch' }),
  alerts: declaredAlert.partial().meta({ id: 'alert' }),
  webhooks: declaredWebhook.partial().meta({ id: 'webhook' }),
  sources: declaredSource.partial().meta({ id: 'sourceObject' }),
} as const

const defaults = z
  .strictObject({
    dashboards: written.dashboards.optional(),
    savedSearches: written.savedSearches.optional(),
    alerts: written.alerts.optional(),
    webhooks: written.webhooks.optional(),
    sources: written.sources.optional(),
    slos: writtenSlo.optional(),
    instances: instanceValues.optional().meta({ description: 'Values for all instances of this file that do not set them.' }),
  })
  .meta({ description: 'Fields for all objects of this file that do not set them.' })

// JSON has no comments that could name the schema.
const editing = { $schema: z.string().optional().meta({ description: 'Schema of this file, for editors.' }) } as const

/** A whole file. Editors check files by this schema. */
export const declarationsSchema = z.strictObject({
  ...editing,
  instances: instancesSchema.optional().meta({
    description:
      'Values by the keys of the instances. The objects of the file exist once for each instance, with its values in expressions.',
  }),
  defaults: defaults.optional(),
  dashboards: z.record(key, written.dashboards).optional().meta({ description: 'Dashboards by their keys.' }),
  savedSearches: z.record(key, written.savedSearches).optional().meta({ description: 'Saved searches by their keys.' }),
  alerts: z.record(key, written.alerts).optional().meta({ description: 'Alerts by their keys.' }),
  webhooks: z.record(key, written.webhooks).optional().meta({ description: 'Webhooks by their keys.' }),
  sources: z.record(key, written.sources).optional().meta({ description: 'Sources by their keys.' }),
  slos: z.record(key, writtenSlo).optional().meta({ description: 'Service level objectives by their keys.' }),
  incidents: z.record(key, declaredIncident).optional().meta({ description: 'Past incidents that alerts must notice, by their keys.' }),
})

/** The content of a file, for programs that write files. */
export type DeclarationsFile = z.input<typeof declarationsSchema>

/** The sections of a file. Objects are checked one by one, with their defaults. */
const frameSchema = z.strictObject({
  ...editing,
  defaults: defaults.optional(),
  dashboards: z.record(z.string(), z.unknown()).optional(),
  savedSearches: z.record(z.string(), z.unknown()).optional(),
  alerts: z.record(z.string(), z.unknown()).optional(),
  webhooks: z.record(z.string(), z.unknown()).optional(),
  sources: z.record(z.string(), z.unknown()).optional(),
  slos: z.record(z.string(), z.unknown()).optional(),
  incidents: z.record(z.string(), z.unknown()).optional(),
})

interface SourceFile {
  /** The path in messages. */
  readonly path: string
  readonly text: string
}

export interface Declarations {
  readonly objects: readonly Declared[]
  /** Objects with errors: references to them are still valid. */
  readonly broken: readonly BrokenObject[]
  /** Their objects are not among `objects` yet. */
  readonly slos: readonly WrittenSlo[]
  readonly incidents: readonly WrittenIncident[]
  /** Files that could not be parsed. */
  readonly unread: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Rules that reading can break; references.ts and lint.ts have the others. */
export const readingRules = {
  ...documentRules,
  variable: { severity: 'error', description: 'An expression is not supported, or its variable is not set.' },
  'duplicate-key': { severity: 'error', description: 'A key is declared twice.' },
  ...environmentRules,
  ...instanceRules,
} as const satisfies Rules

export function readDeclarations(
  files: readonly SourceFile[],
  variable: InterpolateOptions['variable'],
  environment?: NamedEnvironment,
): Declarations {
  const given = environment && readOverrides(environment, variable)
  const read = files.map((file) => readFile(file, variable, given?.overrides))
  const all = merge(read)
  const used = read.flatMap((one) => one.used ?? [])
  const declared = read.flatMap(({ objects, broken }) => [...objects, ...broken])
  return {
    ...all,
    diagnostics: [
      ...withoutConsequences(given?.unset ?? [], all.diagnostics),
      ...repeatedKeys(declared),
      // A file that cannot be read may declare the key.
      ...(given === undefined || all.unread.length > 0
        ? []
        : [
            ...findUnknownOverrides(given.overrides, [...declared, ...all.slos.map(({ key }) => ({ section: 'slos' as const, key }))]),
            ...findUnknownInstances(given.overrides, used),
          ]),
    ],
  }
}

const nothing: Declarations = { objects: [], broken: [], slos: [], incidents: [], unread: [], diagnostics: [] }

const merge = (parts: readonly Declarations[]): Declarations => ({
  objects: parts.flatMap(({ objects }) => objects),
  broken: parts.flatMap(({ broken }) => broken),
  slos: parts.flatMap(({ slos }) => slos),
  incidents: parts.flatMap(({ incidents }) => incidents),
  unread: parts.flatMap(({ unread }) => unread),
  diagnostics: parts.flatMap(({ diagnostics }) => diagnostics),
})

const toDiagnostic =
  (rule: keyof typeof readingRules) =>
  ({ location, message }: Pick<Diagnostic, 'location' | 'message'>): Diagnostic =>
    diagnosticOf(readingRules, rule, location, message)

interface ReadOverrides {
  readonly overrides: Overrides
  /** Variables that are not set. */
  readonly unset: readonly Diagnostic[]
}

function readOverrides({ document }: NamedEnvironment, variable: InterpolateOptions['variable']): ReadOverrides {
  const { value, unset } = fillIn(document, ['overrides'], { variable })
  return { overrides: { value, document }, unset }
}

/** Replaces expressions in declared fields, which are at the path `base` of the document. */
function fillIn(document: ReadDocument, base: ValuePath, options: Pick<InterpolateOptions, 'variable' | 'instance'>) {
  const written = valueAt(document.value, base)
  const schema = base[0] === 'overrides' ? declarationsSchema : schemaAt(declarationsSchema, base, document.value)
  const isTextAt = (inner: ValuePath): boolean => schema !== undefined && isText(schemaAt(schema, inner, written))
  const { value, errors } = interpolate(written, { ...options, isText: isTextAt })
  const unset = errors.map((error) => {
    const path = [...base, ...error.path]
    const message = `${formatPath(path, document.value)}: ${error.message}`
    return toDiagnostic('variable')({ location: document.locationOf(path), message })
  })
  return { value, unset }
}

/** A variable that is not set has its own diagnostic. */
function withoutConsequences(unset: readonly Diagnostic[], diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const identify = ({ location }: Diagnostic): string => JSON.stringify([formatLocation(location), location.instance])
  const known = new Set(unset.map(identify))
  return [...unset, ...diagnostics.filter((one) => !known.has(identify(one)))]
}

/** One diagnostic for all variables of a file that are not set, at the first of them. All are set in the same place. */
function mergeUnset(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const variableIn = ({ rule, message }: Diagnostic): string | undefined =>
    rule === 'variable' ? / is not set; set (\w+)$/.exec(message)?.[1] : undefined
  const names = [...new Set(diagnostics.flatMap((one) => variableIn(one) ?? []))]
  const first = diagnostics.find((one) => variableIn(one) !== undefined)
  if (first === undefined || names.length < 2) return diagnostics
  const message = `${names.length} variables of this file are not set; set ${names.join(', ')}`
  return diagnostics.flatMap((one) => (one === first ? [{ ...one, message }] : variableIn(one) === undefined ? [one] : []))
}

interface FileDeclarations extends Declarations {
  /** Of a file with instances: the names that its expressions use, by the key of the instance. */
  readonly used?: ReadonlyMap<string, ReadonlySet<string>>
}

function readFile(
  { path, text }: SourceFile,
  variable: InterpolateOptions['variable'],
  overrides: Overrides | undefined,
): FileDeclarations {
  const reading = readDocument(text, path)
  if ('diagnostics' in reading) return { ...nothing, unread: [path], diagnostics: reading.diagnostics }
  if (hasInstances(reading)) {
    const fill: Fill = (document, base, instance) => fillIn(document, base, { variable, instance })
    const { documents, diagnostics, used } = instantiate(reading, fill, overrides)
    const read = merge(documents.map((document) => readSections(document, overrides)))
    // The objects of a file without documents are unknown.
    const unread = documents.length === 0 && diagnostics.length > 0 ? [path] : []
    return { ...read, unread, used, diagnostics: withoutConsequences(diagnostics, read.diagnostics) }
  }
  const { value, unset } = fillIn(reading, [], { variable })
  const read = readSections({ ...reading, value }, overrides)
  return { ...read, diagnostics: mergeUnset(withoutConsequences(unset, read.diagnostics)) }
}

function readSections(document: ReadDocument, overrides: Overrides | undefined): Declarations {
  const { value } = document
  const frame = frameSchema.safeParse(value)
  const diagnostics = frame.success ? [] : schemaDiagnostics(frame.error, document, frameSchema)
  const wrongDefaults = new Set(frame.error?.issues.filter(({ path }) => path[0] === 'defaults').map(({ path }) => path[1]))
  const allDefaults = ownValue(value, 'defaults')
  const defaultsOf = (section: Section | 'slos'): object | undefined =>
    wrongDefaults.has(section) || wrongDefaults.has(undefined) ? undefined : (ownValue(allDefaults, section) ?? {})
  const read = sectionNames.flatMap((section) => {
    const defaults = defaultsOf(section)
    // The parsed frame is not used, because zod drops a key such as __proto__ silently.
    return entriesOf(ownValue(value, section)).map(([key, written]) => readObject({ document, section, key, written, defaults, overrides }))
  })
  const place = (section: 'slos' | 'incidents') =>
    entriesOf(ownValue(value, section)).map(([key]) => ({ key, location: document.locationOfKey([section, key]), document }))
  const slos = entriesOf(ownValue(value, 'slos')).map(([key, written]) => {
    const merged = mergedSlo({ document, key, written, defaults: defaultsOf('slos'), overrides })
    return { key, location: document.locationOfKey(['slos', key]), document: merged }
  })
  return merge([{ ...nothing, diagnostics, slos, incidents: place('incidents') }, ...read])
}

/** The document with an SLO as its defaults and the environment complete it. */
function mergedSlo({ document, key, written, defaults = {}, overrides }: Omit<Written, 'section'>): ReadDocument {
  const own = isMapping(written) ? { ...defaults, ...written } : written
  const patch = valueAt(overrides?.value, ['slos', key])
  if (overrides === undefined || patch === undefined) return { ...document, value: { slos: { [key]: own } } }
  return withOverrides(document, overrides, ['slos', key], isMapping(own) && isMapping(patch) ? mergePatch(own, patch) : own)
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] => (isMapping(value) ? Object.entries(value) : [])

interface Written {
  readonly document: ReadDocument
  readonly section: Section
  readonly key: string
  readonly written: unknown
  /** Undefined when the defaults have errors, because it is then unknown which fields are missing. */
  readonly defaults: object | undefined
  readonly overrides: Overrides | undefined
}

function readObject({ document: file, section, key, written, defaults, overrides }: Written): Declarations {
  const path = [section, key] as const
  const location = file.locationOfKey(path)
  if (!keyGrammar.test(key)) {
    const message = `${section}: "${quote(key, 60)}" is not a key; accepted: ${keyForm}`
    return { ...nothing, diagnostics: [toDiagnostic('schema')({ location, message })] }
  }
  const own = isMapping(written) ? withDefaults(written, defaults ?? {}) : written
  const patch = valueAt(overrides?.value, path)
  const merged = isMapping(own) && isMapping(patch) ? withPatch(own, patch) : own
  const document = overrides === undefined || patch === undefined ? file : withOverrides(file, overrides, path, merged)
  const place = { section, key, location, written: merged }
  const { errors, parsed } = parseRepairing(section, merged)
  const { toWritten } = parsed ?? { toWritten: (inner: ValuePath) => inner }
  const places = {
    locationOf: (inner: ValuePath) => document.locationOf([...path, ...toWritten(inner)]),
    pathOf: (inner: ValuePath) => [...path, formatPath(toWritten(inner), merged)].filter((part) => part !== '').join('.'),
  }
  if (errors.length === 0 && parsed !== undefined && defaults !== undefined)
    return { ...nothing, objects: [{ ...place, ...places, value: parsed.value }] }
  const broken: BrokenObject = {
    ...place,
    ...places,
    wrongFields: new Set(errors.flatMap(({ issues }) => issues.map((issue) => String(issue.path[0] ?? '')))),
    fields: validFields(section, merged),
    ...(parsed !== undefined && { value: parsed.value }),
  }
  const diagnostics = errors
    // With wrong defaults, it is unknown which fields are missing.
    .map(({ issues }) => new z.ZodError(issues.filter(({ path: inner }) => defaults !== undefined || valueAt(merged, inner) !== undefined)))
    .flatMap((error) => schemaDiagnostics(error, document, sections[section], path))
  return { ...nothing, broken: [broken], diagnostics: withoutRepeats(diagnostics) }
}

/** The fields of a wrong object that are valid by themselves. */
function validFields(section: Section, written: unknown): Body {
  const fields = Object.entries(sections[section].shape).flatMap(([name, field]) => {
    const { data } = z.safeParse(field, ownValue(written, name))
    return data === undefined ? [] : [[name, data] as const]
  })
  return Object.fromEntries(fields)
}

const withoutRepeats = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] => [
  ...new Map(diagnostics.map((one) => [JSON.stringify(one), one])).values(),
]

interface Repaired {
  readonly errors: readonly z.ZodError[]
  /** Without the fields that have errors; undefined where too little is valid. */
  readonly parsed: ParsedObject | undefined
}

/** Some rules apply only to objects whose fields are valid by themselves. */
const maxRounds = 3

/** Parses an object. Where it has errors, parses the rest of it, too, so that all errors are reported at once. */
function parseRepairing(section: Section, written: unknown): Repaired {
  let result = parseObject(section, written)
  if ('parsed' in result) return { errors: [], parsed: result.parsed }
  const errors: z.ZodError[] = []
  const rest = structuredClone(written)
  for (let round = 0; round < maxRounds && 'error' in result; round++) {
    const found = result.error.issues
    const issues = round === 0 ? found : found.filter((issue) => !isConsequence(issue, { written, rest }))
    if (issues.length > 0) errors.push(new z.ZodError(issues))
    const paths = found.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
    )
    if (paths.filter((path) => remove(rest, path)).length === 0) break
    result = parseObject(section, rest)
  }
  return { errors, parsed: 'parsed' in result ? result.parsed : undefined }
}

/**
 * Whether an issue of a later round is about a field that is missing only because it was removed, or because its name was misspelled.
 * The param `needs` of an issue names the fields of the same map that it is about.
 */
function isConsequence(
  { path, ...issue }: z.core.$ZodIssue,
  { written, rest }: { readonly written: unknown; readonly rest: unknown },
): boolean {
  const value = valueAt(rest, path)
  if (value === undefined) return true
  const around = isMapping(value) ? path : path.slice(0, -1)
  const needs: readonly unknown[] = issue.code === 'custom' && Array.isArray(issue.params?.needs) ? issue.params.needs : []
  const isRemoved = (field: string): boolean =>
    ownValue(valueAt(written, around), field) !== undefined && ownValue(valueAt(rest, around), field) === undefined
  return needs.some((field) => isRemoved(String(field)))
}

/** Removes a field, or gives it a name where it must have one. Items of lists stay, so that all paths stay the same. */
function remove(value: unknown, path: ValuePath): boolean {
  const [around, last] = [valueAt(value, path.slice(0, -1)), path.at(-1)]
  if (!isMapping(around) || typeof last !== 'string') return false
  if (last === 'name') return Reflect.set(around, last, path.map(String).join(' '))
  return Object.hasOwn(around, last) && Reflect.deleteProperty(around, last)
}

/** Alternatives: an object has the fields of one side. */
const alternatives = [
  [['channel'], ['channels']],
  [['dashboard', 'tile'], ['savedSearch']],
  [['tiles', 'containers'], ['rows']],
  [['sourceId'], ['source']],
] as const

/** Merges whole fields. A field of the object removes the defaults that it is an alternative to. */
function withDefaults(written: object, defaults: object): object {
  const displaced = alternatives.flatMap(([one, other]) => [
    ...(one.some((field) => Object.hasOwn(written, field)) ? other : []),
    ...(other.some((field) => Object.hasOwn(written, field)) ? one : []),
  ])
  const left = Object.entries(defaults).filter(([field]) => !displaced.some((name) => name === field))
  return { ...Object.fromEntries(left), ...written }
}

/** Merges the fields of an override. They remove the fields that they are an alternative to. */
function withPatch(own: object, patch: Readonly<Record<string, unknown>>): object {
  const merged = mergePatch(own, patch)
  return withDefaults(Object.fromEntries(Object.entries(merged).filter(([field]) => Object.hasOwn(patch, field))), merged)
}

/** The fields of an object that the environment decides, with the alternatives to them. */
export function overriddenFields(environment: NamedEnvironment | undefined, section: Section, key: string): readonly string[] {
  const patch = valueAt(environment?.document.value, ['overrides', section, key])
  return isMapping(patch) ? withAlternatives(Object.keys(patch)) : []
}

export const withAlternatives = (fields: readonly string[]): readonly string[] => [
  ...new Set([...fields, ...alternatives.filter((sides) => sides.flat().some((field) => fields.includes(field))).flat(2)]),
]

function repeatedKeys(objects: readonly DeclaredKey[]): readonly Diagnostic[] {
  const first = new Map<string, DeclaredKey>()
  return objects.flatMap((declared) => {
    const name = `${declared.section}.${declared.key}`
    const before = first.get(name)
    if (before === undefined) {
      first.set(name, declared)
      return []
    }
    return [
      toDiagnostic('duplicate-key')({
        location: declared.location,
        message: `${name} is already declared in ${formatLocation(before.location)}${inInstance(before.location)}`,
      }),
    ]
  })
}

const defaultFiles = ['observability/**/*.{yml,yaml,json}']

/** A command for a person can leave them out. */
export const isDefaultFiles = (files: readonly string[]): boolean =>
  files.length === defaultFiles.length && files.every((glob, i) => glob === defaultFiles[i])

export const filesInput = fields
  .lines(
    'Files with alerts, dashboards, saved searches, webhooks and sources. One glob or directory per line; of a directory, all YAML files.',
    'globs inside the workspace, one per line',
    fields.glob,
  )
  .default(defaultFiles)

/** The objects include those of the SLOs. */
export interface Found extends Omit<Declarations, 'slos' | 'incidents'> {
  readonly paths: readonly string[]
  readonly slos: readonly Slo[]
  readonly incidents: readonly Incident[]
}

type FindContext = Pick<Context<'read', Scope>, 'files' | 'profile' | 'lintSettings' | 'environment'>

/** What happens to the objects of a project without declarations. */
interface Pruning {
  readonly prune: boolean
  readonly allowEmpty: boolean
}

/** For files without declarations, and for globs without files. */
export const emptyAdvice = 'so prune would delete all objects of the project; check the globs, or set allow-empty to delete them'

/**
 * Reads, checks and lints the files. Throws an InputError when a named file is missing, and when no file matches at all, unless the objects
 * of the last file are to be pruned.
 */
export async function findDeclarations(
  globs: readonly string[],
  { files, profile, lintSettings, environment }: FindContext,
  { prune, allowEmpty }: Pruning = { prune: false, allowEmpty: false },
): Promise<Found> {
  const { paths, skipped } = await files.find(globs, 'files')
  const isEmpty = paths.length === 0
  const missing = isEmpty ? globs : globs.filter((glob) => isPlain(glob) && !paths.some((path) => isAt(path, plainPath(glob))))
  if (missing.length > 0 && !(isEmpty && prune && allowEmpty)) {
    const reasons = skipped.map(({ path, reason }) => `; wildcards skip "${quote(path)}", which ${reason}`)
    const advice = isEmpty && prune ? `, ${emptyAdvice}` : isEmpty && skipped.length === 0 ? '; init and pull write files' : ''
    throw inputError('files', `no file matches ${missing.join(', ')}${reasons.join('')}${advice}`)
  }
  const expanded = await expandSlos(readDeclarations(await readAll(paths, files), variableIn(environment, files.variable), environment))
  const { incidents, diagnostics } = findIncidents(expanded)
  const read = { ...expanded, incidents, diagnostics: [...expanded.diagnostics, ...diagnostics] }
  const abilities = abilitiesOf(profile)
  const rules: LintSettings = {
    ...(profile.isSelfHosted && { 'may-be-refused': 'error', 'cloud-only': 'error' }),
    ...lintSettings,
    // Without the field in the profile, no declaration can have it.
    ...(!abilities.alertFields.has('note') && { 'missing-runbook': 'off' }),
    ...(profile.name === 'clickhouse-cloud' ? { 'cloud-only': 'off' } : { 'undocumented-field': 'off' }),
  }
  const all = [...skippedDirectories(skipped), ...read.diagnostics, ...checkReferences(read, abilities), ...lint(read, rules)]
  return { ...read, paths, diagnostics: collapseRepeats(nameInstances(all.toSorted(byLocation))) }
}

/** An alert with errors can still be named. */
function findIncidents({ incidents, objects, broken }: Pick<Declarations, 'incidents' | 'objects' | 'broken'>): ReadIncidents {
  if (incidents.length === 0) return { incidents: [], diagnostics: [] }
  const alerts = [...objects, ...broken].filter(({ section }) => section === 'alerts').map(({ key }) => key)
  return readIncidents(incidents, alerts)
}

type Expanded = Omit<Found, 'paths' | 'incidents'> & Pick<Declarations, 'incidents'>

async function expandSlos(read: Declarations): Promise<Expanded> {
  if (read.slos.length === 0) return { ...read, slos: [] }
  const { readSlos } = await import('../slos/expand-slos.ts')
  const { slos, objects, diagnostics } = readSlos(read.slos, [...read.objects, ...read.broken])
  return { ...read, slos, objects: [...read.objects, ...objects], diagnostics: [...read.diagnostics, ...diagnostics] }
}

export const findingRules = {
  'skipped-directory': {
    severity: 'warning',
    description: 'A wildcard in `files` skips a directory, because it is a link or cannot be read. With `prune`, this is an error.',
  },
} as const satisfies Rules

const skippedRule: keyof typeof findingRules = 'skipped-directory'

/** Files that were not read. Their objects would look like objects that no file declares. */
export const skippedDirectories = (skipped: readonly SkippedDirectory[]): readonly Diagnostic[] =>
  skipped.map(({ path, reason }) =>
    diagnosticOf(findingRules, skippedRule, { file: path }, `wildcards skip "${quote(path)}", which ${reason}; its files are not read`),
  )

/** With prune, the objects in files that were not read would be deleted. */
export const refuseSkippedDirectories = (found: Found): Found => ({
  ...found,
  diagnostics: found.diagnostics.map((one) =>
    one.rule === skippedRule
      ? {
          ...one,
          severity: 'error',
          message: `${one.message}, and prune would delete their objects; name the directory in files, or remove it`,
        }
      : one,
  ),
})

/** A path without wildcards. Its file must exist, whereas a pattern may match nothing. */
const isPlain = (glob: string): boolean => !/[*?[\]{}()!+@\\]/.test(glob)

const plainPath = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

/** Whether the path is that file, or in that directory. */
const isAt = (path: string, place: string): boolean => path === place || place === '' || path.startsWith(`${place}/`)

/** Limit for all files together. People write far less by hand. */
const maxCharacters = 20_000_000

// One after the other: some systems cannot open a thousand files at once.
async function readAll(paths: readonly string[], files: Files): Promise<readonly SourceFile[]> {
  const texts: SourceFile[] = []
  let characters = 0
  for (const path of paths) {
    const text = await files.read(path, 'files')
    characters += text.length
    if (characters > maxCharacters) throw inputError('files', 'the files are larger than 20 MB in total')
    texts.push({ path, text })
  }
  return texts
}

/** The features of the server behind the API. */
export const abilitiesOf = (profile: Profile): Abilities => ({
  sections: new Set(profile.savedSearches ? sectionNames : (['dashboards', 'alerts'] as const)),
  webhookNames: profile.name !== 'neutral',
  containers: profile.name !== 'neutral',
  alertFields: alertFieldsOf(profile),
})

/** From so many on, repeats are one diagnostic. */
const minRepeats = 3

/** Labels and indexes of items. */
const itemLabels = /\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/g

/** One diagnostic for the same message about several parts of an object, at the first place, with the number of places. */
function collapseRepeats(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const groups = Map.groupBy(diagnostics, ({ rule, severity, message, location }) => {
    const end = message.indexOf(': ')
    return JSON.stringify([rule, severity, location.file, message.slice(0, end).replace(itemLabels, '[]'), message.slice(end)])
  })
  return [...groups.values()].flatMap((alike) => {
    const [first, second, ...others] = alike
    if (first === undefined || second === undefined || alike.length < minRepeats) return alike
    const more = `lines ${[second, ...others]
      .slice(0, maxNamedLines)
      .map(({ location }) => location.line)
      .join(', ')}${alike.length > maxNamedLines + 1 ? ', …' : ''}`
    return [{ ...first, message: `${first.message} (${alike.length} times; also in ${more})` }]
  })
}

/** The lines of repeats that a diagnostic names. */
const maxNamedLines = 3

/** The instances that a diagnostic names. */
const maxNamedInstances = 3

const inInstance = ({ instance }: Location): string => (instance === undefined ? '' : ` (instance ${instance})`)

/** Names the instance in each message, and makes one diagnostic of the same message at the same place for several instances. */
export function nameInstances(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const groups = Map.groupBy(diagnostics, (one) => {
    const { rule, severity, message, location } = one
    if (location.instance === undefined) return one
    // The key of the object, which differs, is in front of the colon.
    return JSON.stringify([rule, severity, formatLocation(location), message.slice(message.indexOf(': '))])
  })
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first?.location.instance === undefined) return [first, ...others].filter((one) => one !== undefined)
    if (others.length === 0) return [{ ...first, message: `${first.message}${inInstance(first.location)}` }]
    const names = [...new Set([first, ...others].map(({ location }) => location.instance))]
    const rest = names.length > maxNamedInstances ? ` and ${names.length - maxNamedInstances} more` : ''
    return [{ ...first, message: `${first.message} (instances ${names.slice(0, maxNamedInstances).join(', ')}${rest})` }]
  })
}

const byLocation = ({ location: a }: Diagnostic, { location: b }: Diagnostic): number =>
  a.file.localeCompare(b.file, 'en') || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
