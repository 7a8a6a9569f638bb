import * as z from 'zod'
import type { Body } from '../../kinds/kind.ts'
import { addressOf, type KindName, kindNames, type Section, sections } from '../../kinds/kind-names.ts'
import { type Declared, fileSchemas, parseObject } from '../../kinds/kinds.ts'
import { keyForm, keyGrammar } from '../../kinds/marker.ts'
import { type BrokenObject, repeatedKey } from '../../kinds/references.ts'
import { type Diagnostic, diagnosticOf, formatLocation, type Location, type Rules } from '../../platform/core/diagnostics.ts'
import { InputError } from '../../platform/core/errors.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { namesAtMost, quote } from '../../platform/core/text.ts'
import { documentRules, type ReadDocument, readDocument, type ValuePath } from '../../platform/documents/document.ts'
import { type InterpolateOptions, interpolate, newRoom } from '../../platform/documents/expressions.ts'
import { isText, knownKeys, ownValue, schemaAt, valueAt } from '../../platform/documents/schema.ts'
import { formatPath, neededFields, schemaDiagnostics, schemaRules } from '../../platform/documents/validate.ts'
import type { NamedEnvironment } from '../../platform/operation/operation.ts'
import type { SpelledSlo } from '../../signals/slos/slo-file.ts'
import { environmentRules, findUnknownAdoptions, withAdoption } from './environment.ts'
import { declarationsSchema, frameSchema } from './file-schema.ts'
import type { SpelledIncident } from './incidents.ts'
import { type Fill, hasInstances, instanceRules, instantiate } from './instances.ts'
import { describeOtherFile } from './other-files.ts'

export interface SourceFile {
  /** In messages. */
  readonly path: string
  readonly text: string
}

export interface DeclaredObjects {
  readonly objects: readonly Declared[]
  /** References to them are still valid. */
  readonly broken: readonly BrokenObject[]
  /** Files that cannot be read, and may declare more. */
  readonly unread: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

export interface Declarations extends DeclaredObjects {
  /** Their dashboards and alerts are not among `objects` yet. */
  readonly slos: readonly SpelledSlo[]
  readonly incidents: readonly SpelledIncident[]
}

/** references.ts and lint.ts have the other rules. */
export const readingRules = {
  ...documentRules,
  ...schemaRules,
  ...environmentRules,
  ...instanceRules,
} as const satisfies Rules

export function createReader(variable: InterpolateOptions['variable'], environment?: NamedEnvironment, elsewhere = '') {
  const options = { variable, room: newRoom(), elsewhere }
  const combine = (read: readonly Declarations[]): Declarations => {
    const all = merge(read)
    const declared = [...all.objects, ...all.broken]
    return {
      ...all,
      diagnostics: [
        ...all.diagnostics,
        ...repeatedKeys([
          ...declared.map((one) => [addressOf(one), one.location] as const),
          ...all.slos.map(({ key, location }) => [`slos.${key}`, location] as const),
          ...all.incidents.map(({ key, location }) => [`incidents.${key}`, location] as const),
        ]),
        // A file that cannot be read may declare the key.
        ...(environment === undefined || all.unread.length > 0 ? [] : findUnknownAdoptions(environment, declared)),
      ],
    }
  }
  return { readFile: (file: SourceFile) => readFile(file, options, environment), combine }
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

/** `base` is their path in the document. Throws an InputError when they would become too large. */
function fillIn(document: ReadDocument, base: ValuePath, options: InterpolateOptions) {
  const spelled = valueAt(document.value, base)
  const schema = schemaAt(declarationsSchema, base, document.value)
  const isTextAt = (inner: ValuePath): boolean => schema !== undefined && isText(schemaAt(schema, inner, spelled))
  const { value, errors } = interpolate(spelled, { ...options, isText: isTextAt })
  const unset = errors.map((error) => {
    const path = [...base, ...error.path]
    const message = `${formatPath(path, document.value)}: ${error.message}`
    return diagnosticOf(readingRules, 'variable', document.locationOf(path), message)
  })
  if (options.room.characters < 0) throw new InputError(unset.slice(-1))
  return { value, unset }
}

/** A variable that is not set has its own diagnostic. */
function withoutConsequences(unset: readonly Diagnostic[], diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const identify = ({ location }: Diagnostic): string => JSON.stringify([formatLocation(location), location.instance])
  const known = new Set(unset.map(identify))
  return [...unset, ...diagnostics.filter((one) => !known.has(identify(one)))]
}

/** All variables are set in the same place. */
function mergeUnset(diagnostics: readonly Diagnostic[], { elsewhere = '' }: InterpolateOptions): readonly Diagnostic[] {
  const variableIn = ({ rule, message }: Diagnostic): string | undefined =>
    rule === 'variable' ? / is not set; set (\w+)/.exec(message)?.[1] : undefined
  const names = [...new Set(diagnostics.flatMap((one) => variableIn(one) ?? []))]
  const first = diagnostics.find((one) => variableIn(one) !== undefined)
  if (first === undefined || names.length < 2) return diagnostics
  const message = `${names.length} variables of this file are not set; set ${names.join(', ')}${elsewhere}`
  return diagnostics.flatMap((one) => (one === first ? [{ ...one, message }] : variableIn(one) === undefined ? [one] : []))
}

function readFile({ path, text }: SourceFile, options: InterpolateOptions, environment: NamedEnvironment | undefined): Declarations {
  const reading = readDocument(text, path)
  if ('diagnostics' in reading) return { ...nothing, unread: [path], diagnostics: reading.diagnostics }
  const other = describeOtherFile(reading.value, path)
  if (other !== undefined)
    return { ...nothing, unread: [path], diagnostics: [diagnosticOf(readingRules, 'schema', reading.locationOf([]), other)] }
  if (hasInstances(reading)) {
    const fill: Fill = (document, base, instance) => fillIn(document, base, { ...options, instance })
    const { documents, diagnostics } = instantiate(reading, fill, options.room)
    const read = merge(documents.map((document) => readSections(document, environment)))
    // The objects of a file without documents are unknown.
    const unread = documents.length === 0 && diagnostics.length > 0 ? [path] : []
    return { ...read, unread, diagnostics: withoutConsequences(diagnostics, read.diagnostics) }
  }
  const { value, unset } = fillIn(reading, [], options)
  const read = readSections({ ...reading, value }, environment)
  return { ...read, diagnostics: mergeUnset(withoutConsequences(unset, read.diagnostics), options) }
}

function readSections(document: ReadDocument, environment: NamedEnvironment | undefined): Declarations {
  const { value } = document
  const frame = frameSchema.safeParse(value)
  const diagnostics = frame.success ? [] : schemaDiagnostics(frame.error, document, frameSchema)
  const allDefaults = ownValue(value, 'defaults')
  const defaultsOf = (section: Section | 'slos'): Defaults => {
    const issues = frame.error?.issues.filter(({ path: [first, name = section] }) => first === 'defaults' && name === section) ?? []
    const wrong = new Set(issues.map(({ path }) => path[2]))
    const known = knownKeys(schemaAt(frameSchema, ['defaults', section], value))
    return {
      fields: Object.fromEntries(entriesOf(ownValue(allDefaults, section)).filter(([field]) => known.includes(field) && !wrong.has(field))),
      // An unknown field may be any of them.
      wrong: wrong.has(undefined) ? known : withAlternatives([...wrong].map(String)),
    }
  }
  const read = kindNames.flatMap((kind) => {
    const section = sections[kind]
    const defaults = defaultsOf(section)
    // The parsed frame is not used, because zod drops a key such as __proto__ silently.
    return entriesOf(ownValue(value, section)).map(([key, spelled]) => readObject({ document, kind, key, spelled, defaults, environment }))
  })
  const place = (section: 'slos' | 'incidents') =>
    entriesOf(ownValue(value, section)).map(([key]) => ({ key, location: document.locationOfKey([section, key]), document }))
  const defaults = defaultsOf('slos')
  const slos = entriesOf(ownValue(value, 'slos')).map(([key, spelled]) => {
    const value = { slos: { [key]: isMapping(spelled) ? { ...defaults.fields, ...spelled } : spelled } }
    return { key, location: document.locationOfKey(['slos', key]), document: { ...document, value }, wrongDefaults: defaults.wrong }
  })
  return merge([{ ...nothing, diagnostics, slos, incidents: place('incidents') }, ...read])
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] => (isMapping(value) ? Object.entries(value) : [])

interface Defaults {
  /** The valid ones. */
  readonly fields: object
  /** They may be what an object lacks. */
  readonly wrong: readonly string[]
}

interface SpelledObject {
  readonly document: ReadDocument
  readonly kind: KindName
  readonly key: string
  readonly spelled: unknown
  readonly defaults: Defaults
  readonly environment: NamedEnvironment | undefined
}

function readObject({ document: file, kind, key, spelled, defaults, environment }: SpelledObject): Declarations {
  const path = [sections[kind], key] as const
  const location = file.locationOfKey(path)
  if (!keyGrammar.test(key)) {
    const message = `${sections[kind]}: "${quote(key)}" is not a key; accepted: ${keyForm}`
    return { ...nothing, diagnostics: [diagnosticOf(readingRules, 'schema', location, message)] }
  }
  const own = isMapping(spelled) ? withDefaults(spelled, defaults.fields) : spelled
  const adopt = valueAt(environment?.document.value, ['adopt', ...path])
  const merged = isMapping(own) && adopt !== undefined ? { ...own, adopt } : own
  const document = environment === undefined || adopt === undefined ? file : withAdoption(file, environment.document, path)
  const place = { kind, key, location, spelled: merged }
  const { errors, parsed } = parseRepairing(kind, merged)
  const { toSpelled } = parsed ?? { toSpelled: (inner: ValuePath) => inner }
  const places = {
    locationOf: (inner: ValuePath) => document.locationOf([...path, ...toSpelled(inner)]),
    pathOf: (inner: ValuePath) => [...path, formatPath(toSpelled(inner), merged)].filter((part) => part !== '').join('.'),
  }
  const suspects = defaults.wrong.filter((field) => ownValue(merged, field) === undefined)
  if (errors.length === 0 && parsed !== undefined && suspects.length === 0)
    return { ...nothing, objects: [{ ...place, ...places, value: parsed.value }] }
  const broken: BrokenObject = {
    ...place,
    ...places,
    wrongFields: new Set([...suspects, ...errors.flatMap(({ issues }) => issues.map((issue) => String(issue.path[0] ?? '')))]),
    fields: validFields(kind, merged),
    ...(parsed !== undefined && { value: parsed.value }),
  }
  const diagnostics = errors
    .map(({ issues }) => new z.ZodError(issues.filter(({ path: [field] }) => !suspects.includes(String(field)))))
    .flatMap((error) => schemaDiagnostics(error, document, fileSchemas[kind], path))
  return { ...nothing, broken: [broken], diagnostics: [...new Map(diagnostics.map((one) => [JSON.stringify(one), one])).values()] }
}

function repeatedKeys(places: readonly (readonly [string, Location])[]): readonly Diagnostic[] {
  const first = new Map<string, Location>()
  return places.flatMap(([name, location]) => {
    const before = first.get(name)
    if (before === undefined) first.set(name, location)
    return before === undefined ? [] : [repeatedKey(name, location, before, inInstance(before))]
  })
}

function validFields(kind: KindName, spelled: unknown): Body {
  const fields = Object.entries(fileSchemas[kind].shape).flatMap(([name, field]) => {
    const { data } = z.safeParse(field, ownValue(spelled, name))
    return data === undefined ? [] : [[name, data] as const]
  })
  return Object.fromEntries(fields)
}

/** Parses the rest of a wrong object, too, so that all errors are reported at once. `parsed` is undefined where too little is valid. */
function parseRepairing(kind: KindName, spelled: unknown) {
  let result = parseObject(kind, spelled)
  const errors: z.ZodError[] = []
  if ('parsed' in result) return { errors, parsed: result.parsed }
  const rest = structuredClone(spelled)
  // Some rules apply only to objects whose fields are valid by themselves.
  for (let round = 0; round < 3 && 'error' in result; round++) {
    const found = result.error.issues
    const issues = round === 0 ? found : found.filter((issue) => !isConsequence(issue, { spelled, rest }))
    if (issues.length > 0) errors.push(new z.ZodError(issues))
    const paths = found.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
    )
    if (paths.filter((path) => remove(rest, path)).length === 0) break
    result = parseObject(kind, rest)
  }
  return { errors, parsed: 'parsed' in result ? result.parsed : undefined }
}

/** Whether the field is missing only because it was removed, or because its name was misspelled. */
function isConsequence(issue: z.core.$ZodIssue, { spelled, rest }: { readonly spelled: unknown; readonly rest: unknown }): boolean {
  const { path } = issue
  const value = valueAt(rest, path)
  if (value === undefined) return true
  const around = isMapping(value) ? path : path.slice(0, -1)
  const isRemoved = (field: string): boolean =>
    ownValue(valueAt(spelled, around), field) !== undefined && ownValue(valueAt(rest, around), field) === undefined
  return neededFields(issue).some(isRemoved)
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
  [['tile'], ['query']],
  [['savedSearch'], ['query']],
  [['tiles', 'containers'], ['rows']],
  [['sourceId'], ['source']],
] as const

/** A field of the object removes the defaults that it is an alternative to. */
export function withDefaults(spelled: object, defaults: object): object {
  const displaced = alternatives.flatMap(([one, other]) => [
    ...(one.some((field) => Object.hasOwn(spelled, field)) ? other : []),
    ...(other.some((field) => Object.hasOwn(spelled, field)) ? one : []),
  ])
  const left = Object.entries(defaults).filter(([field]) => !displaced.some((name) => name === field))
  return { ...Object.fromEntries(left), ...spelled }
}

const withAlternatives = (fields: readonly string[]): readonly string[] => [
  ...new Set([...fields, ...alternatives.filter((sides) => sides.flat().some((field) => fields.includes(field))).flat(2)]),
]

/** At the first place, with the number of places. */
export function collapseRepeats(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const groups = Map.groupBy(diagnostics, ({ rule, severity, message, location }) => {
    const end = message.indexOf(': ')
    return JSON.stringify([
      rule,
      severity,
      location.file,
      message.slice(0, end).replace(/\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/g, '[]'),
      message.slice(end),
    ])
  })
  return [...groups.values()].flatMap((alike) => {
    const [first, ...others] = alike
    if (first === undefined || others.length < 2) return alike
    const more = `lines ${others
      .slice(0, maxNamedLines)
      .map(({ location }) => location.line)
      .join(', ')}${others.length > maxNamedLines ? ', …' : ''}`
    return [{ ...first, message: `${first.message} (${alike.length} times; also in ${more})` }]
  })
}

const maxNamedLines = 3

const inInstance = ({ instance }: Location): string => (instance === undefined ? '' : ` (instance ${instance})`)

/** Makes one diagnostic of the same message at the same place for several instances. */
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
    const names = [...new Set([first, ...others].flatMap(({ location }) => location.instance ?? []))]
    return [{ ...first, message: `${first.message} (instances ${namesAtMost(3, names)})` }]
  })
}

export const compareLocations = (a: Location, b: Location): number =>
  a.file.localeCompare(b.file, 'en') || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
