// Owns what users write as a whole document, inline or in a file, and turning schema complaints into problems with a place.
import * as z from 'zod'
import { InputError, type Problem } from '../kernel/errors.ts'
import { didYouMean } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import { type ReadDocument, readDocument, type ValuePath } from '../provision/document.ts'
import { coreOf, metaOf } from './field-facts.ts'
import { filePath, longText } from './fields.ts'

export const documentText = (noun: string) => longText(`The ${noun} as YAML or JSON, in the API's field names.`, 1_000_000).optional()

export const documentFile = (noun: string) => filePath(`File with the ${noun} as YAML or JSON, in the API's field names.`).optional()

/**
 * Parses and checks. Throws an InputError that lists everything wrong, each with its place. `schemaFor` chooses by what was
 * written, so that complaints are about the one form that was meant.
 */
export function readWritten<T>(text: string, name: string, schemaFor: z.ZodType<T> | ((value: unknown) => z.ZodType<T>)): T {
  const document = readDocument(text, name)
  if ('problems' in document) throw new InputError(document.problems)
  const schema = typeof schemaFor === 'function' ? schemaFor(document.value) : schemaFor
  const parsed = schema.safeParse(document.value)
  if (parsed.success) return parsed.data
  throw new InputError(parsed.error.issues.flatMap((issue) => toProblems(issue, document, schema)))
}

/** Marks a complaint whose message needs no list of what is accepted. */
export const saysItAll = true

function toProblems(issue: z.core.$ZodIssue, document: ReadDocument, schema: z.ZodType): readonly Problem[] {
  const field = schemaAt(schema, issue.path)
  if (issue.code === 'unrecognized_keys') {
    const known = field instanceof z.ZodObject ? Object.keys(field.shape) : []
    return issue.keys.map((key) => ({
      name: document.placeOfKey([...issue.path, key]),
      message: `${inside(issue.path)}"${quote(key, 60)}" is not known${didYouMean(key, known)}`,
    }))
  }
  const value = issue.path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], document.value)
  if (issue.code === 'custom' && issue.params?.saysItAll === saysItAll)
    return [
      { name: document.placeOf(issue.path), message: `${inside(issue.path)}${quote(JSON.stringify(value) ?? '', 80)} ${issue.message}` },
    ]
  const complaint =
    value === undefined
      ? `is missing${acceptedBy(field)}`
      : `${quote(JSON.stringify(value) ?? '', 80)} is not accepted${acceptedBy(field) || whyNot(issue)}${nearest(issue, value)}`
  return [{ name: document.placeOf(issue.path), message: `${inside(issue.path)}${complaint}` }]
}

const inside = (path: ValuePath): string => (path.length === 0 ? '' : `${wordsFor(path)}: `)

/** `channel.webhookId`, `budgets[2].limit`. */
const wordsFor = (path: ValuePath): string =>
  path.reduce<string>(
    (words, key) => (typeof key === 'number' ? `${words}[${key}]` : `${words}${words === '' ? '' : '.'}${quote(String(key), 60)}`),
    '',
  )

function acceptedBy(field: z.core.$ZodType | undefined): string {
  const { accepts } = field === undefined ? {} : metaOf(field)
  return accepts === undefined ? '' : `; accepted: ${accepts}`
}

function whyNot(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `; accepted: ${issue.values.join(', ')}`
  return issue.code === 'invalid_type' ? `; accepted: a value of type ${issue.expected}` : `: ${issue.message}`
}

const nearest = (issue: z.core.$ZodIssue, value: unknown): string =>
  issue.code === 'invalid_value' ? didYouMean(String(value), issue.values.map(String)) : ''

/** The schema of the value at the path, as far down as the schema says what is inside. */
function schemaAt(schema: z.core.$ZodType, path: ValuePath): z.core.$ZodType | undefined {
  const [key, ...rest] = path
  if (key === undefined) return metaOf(schema).accepts === undefined ? coreOf(schema) : schema
  const core = coreOf(schema)
  const inner =
    core instanceof z.ZodObject ? core.shape[String(key)] : core instanceof z.ZodArray && typeof key === 'number' ? core.element : undefined
  return inner === undefined ? undefined : schemaAt(inner, rest)
}
