// Owns turning the issues of a schema into diagnostics, each with its place in the text.
import * as z from 'zod'
import type { Diagnostic, Location } from '../core/diagnostics.ts'
import { didYouMean } from '../core/names.ts'
import { quote } from '../core/text.ts'
import type { ReadDocument, ValuePath } from './document.ts'
import { coreOf, knownKeys, metaOf, nearestOption, schemaAt, valueAt } from './schema-facts.ts'

/** Marks an issue whose message needs no list of what is accepted. */
export const saysItAll = true

/** Keys of one map; whoever has more of them meant another kind of file. */
const mostUnknown = 20

/** One for each thing that is wrong; the path is where in the document the checked value stands. */
export function schemaDiagnostics(
  error: z.ZodError,
  document: ReadDocument,
  schema: z.ZodType,
  base: ValuePath = [],
): readonly Diagnostic[] {
  const subject = { document, schema, base, value: valueAt(document.value, base) }
  return error.issues.flatMap((issue) => meantIssues(issue, subject)).flatMap((issue) => describe(issue, subject))
}

interface Subject {
  readonly document: ReadDocument
  readonly schema: z.ZodType
  readonly base: ValuePath
  /** What was checked. */
  readonly value: unknown
}

/** Of several forms that a value may have, the issues of the one that was most likely meant. */
function meantIssues(issue: z.core.$ZodIssue, { schema, value }: Pick<Subject, 'schema' | 'value'>): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue]
  const union = schemaAt(schema, issue.path, value)
  // Where the forms have a sentence of their own, it says more than the issues of one of them.
  if (!(union instanceof z.ZodUnion) || metaOf(union).accepts !== undefined) return [issue]
  const inner = valueAt(value, issue.path)
  const option = nearestOption(union, inner)
  const issues = option === undefined ? undefined : z.safeParse(option, inner).error?.issues
  if (option === undefined || issues === undefined) return [issue]
  return issues
    .flatMap((one) => meantIssues(one, { schema: option as z.ZodType, value: inner }))
    .map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
}

function describe(issue: z.core.$ZodIssue, { document, schema, base, value: checked }: Subject): readonly Diagnostic[] {
  const path = [...base, ...issue.path]
  const field = schemaAt(schema, issue.path, checked)
  const value = valueAt(checked, issue.path)
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(formOf(field, value))
    const named = issue.keys.slice(0, mostUnknown).map((key) => {
      // Another form of the same thing has it.
      const problem = known.includes(key) ? 'does not go with what stands beside it' : `is not known${didYouMean(key, known)}`
      return toDiagnostic(document.locationOfKey([...path, key]), `${inside(path)}"${quote(key, 60)}" ${problem}`)
    })
    const rest = issue.keys.length - named.length
    return rest === 0 ? named : [...named, toDiagnostic(document.locationOf(path), `${inside(path)}${rest} more keys are not known`)]
  }
  const accepted = acceptedBy(field) || whyNot(issue, field)
  // What is not there is looked for where the thing begins that lacks it.
  if (value === undefined) return [toDiagnostic(document.locationOfKey(path.slice(0, -1)), `${inside(path)}is missing${accepted}`)]
  const isSecret = field !== undefined && metaOf(field).secret === true
  const given = isSecret ? 'what stands here' : quote(JSON.stringify(value) ?? '', 80)
  const problem =
    issue.code === 'custom' && issue.params?.saysItAll === saysItAll
      ? `${given} ${issue.message}`
      : `${given} is not accepted${accepted}${nearestWord(issue, value)}`
  return [toDiagnostic(document.locationOf(path), `${inside(path)}${problem}`)]
}

const toDiagnostic = (location: Location, message: string): Diagnostic => ({ rule: 'schema', severity: 'error', location, message })

function formOf(field: z.core.$ZodType | undefined, value: unknown): z.core.$ZodType | undefined {
  const form = field instanceof z.ZodUnion ? nearestOption(field, value) : undefined
  return form === undefined ? field : formOf(form, value)
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

const kinds: Readonly<Record<string, string>> = {
  object: 'a map',
  record: 'a map',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

function whyNot(issue: z.core.$ZodIssue, field: z.core.$ZodType | undefined): string {
  const words = choicesOf(issue)
  if (words.length > 0) return `; accepted: ${words.join(', ')}`
  switch (issue.code) {
    case 'invalid_type':
      return `; accepted: ${kinds[issue.expected] ?? `a value of type ${issue.expected}`}`
    case 'too_small':
      return `; accepted: ${issue.exact ? 'exactly' : 'at least'} ${sized(issue.minimum, issue.origin)}`
    case 'too_big':
      return `; accepted: ${issue.exact ? 'exactly' : 'at most'} ${sized(issue.maximum, issue.origin)}`
    case 'invalid_union':
      return field instanceof z.ZodUnion ? `; accepted: ${[...new Set(field.options.map(kindOf))].join(' or ')}` : ''
    default:
      return `: ${issue.message}`
  }
}

const sized = (size: number | bigint, origin: string): string => {
  const noun = { string: 'character', array: 'item' }[origin]
  return noun === undefined ? String(size) : `${size} ${noun}${Number(size) === 1 ? '' : 's'}`
}

function kindOf(option: z.core.$ZodType): string {
  const core = coreOf(option)
  return (core instanceof z.ZodUnion ? 'a map' : kinds[core._zod.def.type]) ?? core._zod.def.type
}

/** The words that may stand here, where it is a choice. */
function choicesOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  return issue.code === 'invalid_union' && 'options' in issue ? (issue.options ?? []).map(String) : []
}

const nearestWord = (issue: z.core.$ZodIssue, value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? didYouMean(String(value), choicesOf(issue)) : ''
