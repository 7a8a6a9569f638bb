// Owns reading files of declarations into one list of objects. Pure: texts in, objects and findings out.
import type * as z from 'zod'
import { quote } from '../kernel/text.ts'
import { type Complaint, complaintsOf, wordsFor } from './complaints.ts'
import { frameSchema, keyGrammar, type Section, sectionNames, sections } from './declarations-schema.ts'
import { type ReadDocument, readDocument, type ValuePath } from './document.ts'
import type { Finding } from './finding.ts'
import { interpolate, type Variables } from './interpolate.ts'
import { formatPlace, type Place } from './place.ts'

export interface SourceFile {
  /** As messages call it. */
  readonly path: string
  readonly text: string
}

/** An object that somebody declared, checked by itself. */
export interface Declared<S extends Section = Section> {
  readonly section: S
  readonly key: string
  readonly value: z.output<(typeof sections)[S]>
  /** Where its key stands. */
  readonly place: Place
  /** Where a value inside it stands. */
  placeOf(path: ValuePath): Place
}

export interface Declarations {
  readonly objects: readonly Declared[]
  readonly findings: readonly Finding[]
}

/** The ids of what is found here; lint.ts has the others. */
export const readingRules = {
  syntax: 'The file is no YAML or JSON document that can be read.',
  schema: 'A field is unknown, missing, or has a value that is not accepted.',
  variable: 'An expression is not known, or its variable is not set.',
  'duplicate-key': 'A key is declared twice.',
} as const

export function readDeclarations(files: readonly SourceFile[], variables: Variables): Declarations {
  const read = files.map((file) => readFile(file, variables))
  const objects = read.flatMap((one) => one.objects)
  return { objects, findings: [...read.flatMap((one) => one.findings), ...repeatedKeys(objects)] }
}

export const isOf =
  <S extends Section>(section: S) =>
  (declared: Declared): declared is Declared<S> =>
    declared.section === section

const toFinding =
  (rule: keyof typeof readingRules) =>
  ({ place, message }: Complaint): Finding => ({ rule, severity: 'error', place, message })

function readFile({ path, text }: SourceFile, variables: Variables): Declarations {
  const reading = readDocument(text, path)
  if ('complaints' in reading) return { objects: [], findings: reading.complaints.map(toFinding('syntax')) }
  const { value, complaints } = interpolate(reading.value, variables)
  const unset = complaints.map((complaint) =>
    toFinding('variable')({ place: reading.placeOf(complaint.path), message: `${wordsFor(complaint.path)}: ${complaint.message}` }),
  )
  const document = { ...reading, value }
  const frame = frameSchema.safeParse(value)
  if (!frame.success)
    return { objects: [], findings: [...unset, ...complaintsOf(frame.error, document, frameSchema).map(toFinding('schema'))] }
  const read = sectionNames.flatMap((section) =>
    Object.entries(frame.data[section] ?? {}).map(([key, written]) =>
      readObject({ document, section, key, written, defaults: frame.data.defaults?.[section] }),
    ),
  )
  return { objects: read.flatMap((one) => one.objects), findings: [...unset, ...read.flatMap((one) => one.findings)] }
}

interface Written {
  readonly document: ReadDocument
  readonly section: Section
  readonly key: string
  readonly written: unknown
  readonly defaults: object | undefined
}

function readObject({ document, section, key, written, defaults }: Written): Declarations {
  const path = [section, key]
  const place = document.placeOfKey(path)
  if (!keyGrammar.test(key)) {
    const message = `${section}: "${quote(key, 60)}" is no key; accepted: small letters, digits, dots, dashes and underscores, at most 63`
    return { objects: [], findings: [toFinding('schema')({ place, message })] }
  }
  const isObject = typeof written === 'object' && written !== null && !Array.isArray(written)
  const parsed = sections[section].safeParse(isObject ? { ...defaults, ...written } : written)
  if (!parsed.success)
    return { objects: [], findings: complaintsOf(parsed.error, document, sections[section], path).map(toFinding('schema')) }
  const declared = { section, key, value: parsed.data, place, placeOf: (inner: ValuePath) => document.placeOf([...path, ...inner]) }
  return { objects: [declared], findings: [] }
}

function repeatedKeys(objects: readonly Declared[]): readonly Finding[] {
  const first = new Map<string, Declared>()
  return objects.flatMap((declared) => {
    const name = `${declared.section}.${declared.key}`
    const before = first.get(name)
    if (before === undefined) {
      first.set(name, declared)
      return []
    }
    return [toFinding('duplicate-key')({ place: declared.place, message: `${name} is declared already, in ${formatPlace(before.place)}` })]
  })
}
