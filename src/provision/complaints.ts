// Owns turning what a schema complains about into sentences, each with its place in the text.
import * as z from 'zod'
import { didYouMean } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import type { ReadDocument, ValuePath } from './document.ts'
import { coreOf, metaOf } from './field-facts.ts'
import type { Place } from './place.ts'

export interface Complaint {
  readonly place: Place
  readonly message: string
}

/** Marks a complaint whose message needs no list of what is accepted. */
export const saysItAll = true

/** One for each thing that is wrong; the path is where in the document the checked value stands. */
export function complaintsOf(error: z.ZodError, document: ReadDocument, schema: z.ZodType, base: ValuePath = []): readonly Complaint[] {
  return error.issues.flatMap((issue) => describe({ issue: nearestIssues(issue), document, schema, base }))
}

interface Subject {
  readonly issue: readonly z.core.$ZodIssue[]
  readonly document: ReadDocument
  readonly schema: z.ZodType
  readonly base: ValuePath
}

const describe = ({ issue: issues, ...rest }: Subject): readonly Complaint[] => issues.flatMap((issue) => describeOne(issue, rest))

/** Of several forms that a value may have, the one that was most likely meant: whose complaints are deepest inside. */
function nearestIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue]
  const depth = (option: readonly z.core.$ZodIssue[]): number => Math.max(...option.map(({ path }) => path.length))
  const best = issue.errors.reduce((a, b) => (depth(b) > depth(a) || (depth(b) === depth(a) && b.length < a.length) ? b : a))
  if (depth(best) === 0 && best.every(({ code }) => code !== 'unrecognized_keys')) return [issue]
  return best.flatMap((inner) => nearestIssues({ ...inner, path: [...issue.path, ...inner.path] }))
}

function describeOne(issue: z.core.$ZodIssue, { document, schema, base }: Omit<Subject, 'issue'>): readonly Complaint[] {
  const path = [...base, ...issue.path]
  const field = schemaAt(schema, issue.path)
  if (issue.code === 'unrecognized_keys') {
    const known = field instanceof z.ZodObject ? Object.keys(field.shape) : knownAmong(field)
    return issue.keys.map((key) => ({
      place: document.placeOfKey([...path, key]),
      message: `${inside(path)}"${quote(key, 60)}" is not known${didYouMean(key, known)}`,
    }))
  }
  const value = path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], document.value)
  const given = quote(JSON.stringify(value) ?? '', 80)
  const place = document.placeOf(path)
  if (issue.code === 'custom' && issue.params?.saysItAll === saysItAll)
    return [{ place, message: `${inside(path)}${given} ${issue.message}` }]
  const complaint =
    value === undefined
      ? `is missing${acceptedBy(field)}`
      : `${given} is not accepted${acceptedBy(field) || whyNot(issue)}${nearestWord(issue, value)}`
  return [{ place, message: `${inside(path)}${complaint}` }]
}

const inside = (path: ValuePath): string => (path.length === 0 ? '' : `${wordsFor(path)}: `)

/** `channel.webhookId`, `budgets[2].limit`. */
export const wordsFor = (path: ValuePath): string =>
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

const nearestWord = (issue: z.core.$ZodIssue, value: unknown): string =>
  issue.code === 'invalid_value' ? didYouMean(String(value), issue.values.map(String)) : ''

/** The schema of the value at the path, as far down as the schema says what is inside. */
function schemaAt(schema: z.core.$ZodType, path: ValuePath): z.core.$ZodType | undefined {
  const [key, ...rest] = path
  if (key === undefined) return metaOf(schema).accepts === undefined ? coreOf(schema) : schema
  const inner = innerSchema(coreOf(schema), key)
  return inner === undefined ? undefined : schemaAt(inner, rest)
}

function innerSchema(core: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | undefined {
  if (core instanceof z.ZodObject) return core.shape[String(key)]
  if (core instanceof z.ZodRecord) return core.valueType
  if (core instanceof z.ZodArray && typeof key === 'number') return core.element
  // Any option that knows the key: it is asked for words alone.
  return core instanceof z.ZodUnion
    ? core.options.map((option) => innerSchema(coreOf(option), key)).find((found) => found !== undefined)
    : undefined
}

const knownAmong = (field: z.core.$ZodType | undefined): readonly string[] =>
  field instanceof z.ZodUnion
    ? field.options.flatMap((option) => {
        const core = coreOf(option)
        return core instanceof z.ZodObject ? Object.keys(core.shape) : []
      })
    : []
