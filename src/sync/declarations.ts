import * as z from 'zod'
import type { Profile } from '../api/profiles.ts'
import { type Diagnostic, formatLocation } from '../core/diagnostics.ts'
import { inputError } from '../core/errors.ts'
import { quote } from '../core/text.ts'
import { type InterpolateOptions, interpolate, type ReadDocument, readDocument, type ValuePath } from '../documents/document.ts'
import { isText, ownValue, schemaAt } from '../documents/schema.ts'
import { formatPath, schemaDiagnostics } from '../documents/validate.ts'
import * as fields from '../operation/inputs.ts'
import type { Files } from '../operation/operation.ts'
import { alertFieldsOf, declaredAlert } from '../resources/alerts/alert.ts'
import { declaredDashboard } from '../resources/dashboards/dashboard.ts'
import { keyForm, keyGrammar } from '../resources/marker.ts'
import { type Abilities, checkReferences } from '../resources/references.ts'
import { type DeclaredKey, type Section, sectionNames } from '../resources/resource-type.ts'
import { type Declared, sections } from '../resources/resource-types.ts'
import { declaredSavedSearch } from '../resources/saved-searches/saved-search.ts'
import { type LintSettings, lint } from './lint.ts'

const key = z.string().regex(keyGrammar).meta({ description: 'Identifies the object. Its name can change.', accepts: keyForm })

/** No field is required here, because it may come from `defaults`. */
const written = {
  dashboards: declaredDashboard.partial().meta({ id: 'dashboard' }),
  savedSearches: declaredSavedSearch.partial().meta({ id: 'savedSearch' }),
  alerts: declaredAlert.partial().meta({ id: 'alert' }),
} as const

const defaults = z
  .strictObject({
    dashboards: written.dashboards.optional(),
    savedSearches: written.savedSearches.optional(),
    alerts: written.alerts.optional(),
  })
  .meta({ description: 'Fields for all objects of this file that do not set them.' })

// JSON has no comments that could name the schema.
const editing = { $schema: z.string().optional().meta({ description: 'Schema of this file, for editors.' }) } as const

/** A whole file. Editors check files by this schema. */
export const declarationsSchema = z.strictObject({
  ...editing,
  defaults: defaults.optional(),
  dashboards: z.record(key, written.dashboards).optional().meta({ description: 'Dashboards by their keys.' }),
  savedSearches: z.record(key, written.savedSearches).optional().meta({ description: 'Saved searches by their keys.' }),
  alerts: z.record(key, written.alerts).optional().meta({ description: 'Alerts by their keys.' }),
})

/** The sections of a file. Objects are checked one by one, with their defaults. */
const frameSchema = z.strictObject({
  ...editing,
  defaults: defaults.optional(),
  dashboards: z.record(z.string(), z.unknown()).optional(),
  savedSearches: z.record(z.string(), z.unknown()).optional(),
  alerts: z.record(z.string(), z.unknown()).optional(),
})

interface SourceFile {
  /** The path in messages. */
  readonly path: string
  readonly text: string
}

export interface Declarations {
  readonly objects: readonly Declared[]
  /** Objects with errors: references to them are still valid. */
  readonly broken: readonly DeclaredKey[]
  /** Files that could not be parsed. */
  readonly unread: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Rules that reading can break; references.ts and lint.ts have the others. */
export const readingRules = {
  syntax: 'The file is not valid YAML or JSON.',
  schema: 'A field is unknown or missing, or its value is not valid.',
  variable: 'An expression is not supported, or its variable is not set.',
  'duplicate-key': 'A key is declared twice.',
} as const

export function readDeclarations(files: readonly SourceFile[], variable: InterpolateOptions['variable']): Declarations {
  const read = files.map((file) => readFile(file, variable))
  const all = merge(read)
  return { ...all, diagnostics: [...all.diagnostics, ...repeatedKeys(read.flatMap(({ objects, broken }) => [...objects, ...broken]))] }
}

const nothing: Declarations = { objects: [], broken: [], unread: [], diagnostics: [] }

const merge = (parts: readonly Declarations[]): Declarations => ({
  objects: parts.flatMap(({ objects }) => objects),
  broken: parts.flatMap(({ broken }) => broken),
  unread: parts.flatMap(({ unread }) => unread),
  diagnostics: parts.flatMap(({ diagnostics }) => diagnostics),
})

const toDiagnostic =
  (rule: keyof typeof readingRules) =>
  ({ location, message }: Pick<Diagnostic, 'location' | 'message'>): Diagnostic => ({ rule, severity: 'error', location, message })

function readFile({ path, text }: SourceFile, variable: InterpolateOptions['variable']): Declarations {
  const reading = readDocument(text, path)
  if ('diagnostics' in reading) return { ...nothing, unread: [path], diagnostics: reading.diagnostics }
  const { value, errors } = interpolate(reading.value, {
    variable,
    isText: (inner) => isText(schemaAt(declarationsSchema, inner, reading.value)),
  })
  const unset = errors.map((error) =>
    toDiagnostic('variable')({ location: reading.locationOf(error.path), message: `${formatPath(error.path)}: ${error.message}` }),
  )
  const read = readSections({ ...reading, value })
  // A variable that is not set has its own diagnostic.
  const known = new Set(unset.map(({ location }) => formatLocation(location)))
  return { ...read, diagnostics: [...unset, ...read.diagnostics.filter(({ location }) => !known.has(formatLocation(location)))] }
}

function readSections(document: ReadDocument): Declarations {
  const { value } = document
  const frame = frameSchema.safeParse(value)
  const diagnostics = frame.success ? [] : schemaDiagnostics(frame.error, document, frameSchema)
  const wrongDefaults = new Set(frame.error?.issues.filter(({ path }) => path[0] === 'defaults').map(({ path }) => path[1]))
  const allDefaults = ownValue(value, 'defaults')
  const read = sectionNames.flatMap((section) => {
    const hasDefaults = !wrongDefaults.has(section) && !wrongDefaults.has(undefined)
    const defaults = hasDefaults ? (ownValue(allDefaults, section) ?? {}) : undefined
    // The parsed frame is not used, because zod drops a key such as __proto__ silently.
    return entriesOf(ownValue(value, section)).map(([key, written]) => readObject({ document, section, key, written, defaults }))
  })
  return merge([{ ...nothing, diagnostics }, ...read])
}

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] => (isMap(value) ? Object.entries(value) : [])

interface Written {
  readonly document: ReadDocument
  readonly section: Section
  readonly key: string
  readonly written: unknown
  /** Undefined when the defaults have errors, because it is then unknown which fields are missing. */
  readonly defaults: object | undefined
}

function readObject({ document, section, key, written, defaults }: Written): Declarations {
  const path = [section, key]
  const location = document.locationOfKey(path)
  if (!keyGrammar.test(key)) {
    const message = `${section}: "${quote(key, 60)}" is not a key; accepted: ${keyForm}`
    return { ...nothing, diagnostics: [toDiagnostic('schema')({ location, message })] }
  }
  const broken = { ...nothing, broken: [{ section, key, location }] }
  if (defaults === undefined) return broken
  const schema = sections[section]
  const parsed = schema.safeParse(isMap(written) ? withDefaults(written, defaults) : written)
  if (!parsed.success) return { ...broken, diagnostics: schemaDiagnostics(parsed.error, document, schema, path) }
  const declared = {
    section,
    key,
    value: parsed.data,
    location,
    locationOf: (inner: ValuePath) => document.locationOf([...path, ...inner]),
  }
  return { ...nothing, objects: [declared] }
}

/** Alternatives: an alert has the fields of one side. */
const alternatives = [
  [['channel'], ['channels']],
  [['dashboard', 'tile'], ['savedSearch']],
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
        message: `${name} is already declared in ${formatLocation(before.location)}`,
      }),
    ]
  })
}

const defaultFiles = ['observability/**/*.{yml,yaml,json}']

export const filesInput = fields
  .lines(
    'Files with alerts, dashboards and saved searches. One glob or directory per line; of a directory, all YAML files.',
    'globs inside the workspace, one per line',
    fields.glob,
  )
  .default(defaultFiles)

export interface Found extends Declarations {
  readonly paths: readonly string[]
}

/** Reads, checks and lints the files. Throws an InputError when a named file is missing, or when no file matches at all. */
export async function findDeclarations(globs: readonly string[], files: Files, profile: Profile, settings: LintSettings): Promise<Found> {
  const paths = await files.find(globs, 'files')
  const missing = paths.length === 0 ? globs : globs.filter((glob) => isPlain(glob) && !paths.some((path) => isAt(path, plainPath(glob))))
  if (missing.length > 0) throw inputError('files', `no file matches ${missing.join(', ')}`)
  const read = readDeclarations(await readAll(paths, files), files.variable)
  const abilities = abilitiesOf(profile)
  const rules: LintSettings = {
    ...(profile.isSelfHosted && { 'may-be-refused': 'error' }),
    ...settings,
    // Without the field in the profile, no declaration can have it.
    ...(!abilities.alertFields.has('note') && { 'missing-runbook': 'off' }),
  }
  const all = [...read.diagnostics, ...checkReferences(read, abilities), ...lint(read, rules)]
  return { ...read, paths, diagnostics: all.toSorted(byLocation) }
}

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
const mostCharacters = 20_000_000

// One after the other: some systems cannot open a thousand files at once.
async function readAll(paths: readonly string[], files: Files): Promise<readonly SourceFile[]> {
  const texts: SourceFile[] = []
  let characters = 0
  for (const path of paths) {
    const text = await files.read(path, 'files')
    characters += text.length
    if (characters > mostCharacters) throw inputError('files', 'the files are larger than 20 MB in total')
    texts.push({ path, text })
  }
  return texts
}

const abilitiesOf = (profile: Profile): Abilities => ({
  savedSearches: profile.savedSearches,
  webhookNames: profile.name !== 'neutral',
  alertFields: alertFieldsOf(profile),
})

const byLocation = ({ location: a }: Diagnostic, { location: b }: Diagnostic): number =>
  a.file.localeCompare(b.file, 'en') || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
