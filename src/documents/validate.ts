import * as z from 'zod'
import type { Diagnostic, Location } from '../core/diagnostics.ts'
import { InputError } from '../core/errors.ts'
import { didYouMean } from '../core/names.ts'
import { plural, quote } from '../core/text.ts'
import { type ReadDocument, readDocument, type ValuePath } from './document.ts'
import { coreOf, knownKeys, metaOf, nearestOption, type Schema, schemaAt, valueAt } from './schema.ts'

/**
 * Reads a document and validates it. Throws an InputError with everything that is wrong, and where. `schemaFor` chooses a schema by
 * the value, so that diagnostics are about the form that was meant.
 */
export function parseDocument<T>(text: string, name: string, schemaFor: z.ZodType<T> | ((value: unknown) => z.ZodType<T>)): T {
  const document = readDocument(text, name)
  if ('diagnostics' in document) throw new InputError(document.diagnostics)
  const schema = typeof schemaFor === 'function' ? schemaFor(document.value) : schemaFor
  const parsed = schema.safeParse(document.value)
  if (parsed.success) return parsed.data
  throw new InputError(schemaDiagnostics(parsed.error, document, schema))
}

/**
 * Explains why a value of the document does not match its schema; `base` is the path of that value. A custom issue with the param
 * `isComplete` has a message that needs no list of what is accepted.
 */
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
  readonly value: unknown
}

/** For a union, the issues of the option that was most likely meant. */
function meantIssues(issue: z.core.$ZodIssue, { schema, value }: Pick<Subject, 'schema' | 'value'>): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue]
  const union = schemaAt(schema, issue.path, value)
  // The union's own description says more than the issues of one option.
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
  if (issue.code === 'unrecognized_keys') return describeUnknownKeys(issue, path, knownKeys(meantForm(field, value)), document)
  const accepted = describeAccepted(issue, field)
  // A missing field is reported where the object begins that lacks it.
  if (value === undefined) return [toDiagnostic(document.locationOfKey(path.slice(0, -1)), `${prefix(path)}is missing${accepted}`)]
  const isSecret = field !== undefined && metaOf(field).secret === true
  const given = isSecret ? 'the value' : quote(JSON.stringify(value) ?? '', 80)
  const isComplete = issue.code === 'custom' && issue.params?.isComplete === true
  const problem = isComplete ? issue.message : `is not accepted${accepted}${suggestion(issue, value)}`
  return [toDiagnostic(document.locationOf(path), `${prefix(path)}${given} ${problem}`)]
}

/** A map with more unknown keys belongs to another kind of file. */
const maxUnknownKeys = 20

function describeUnknownKeys(
  { keys }: z.core.$ZodIssueUnrecognizedKeys,
  path: ValuePath,
  known: readonly string[],
  document: ReadDocument,
): readonly Diagnostic[] {
  const named = keys.slice(0, maxUnknownKeys).map((key) => {
    // Another form of the same map has it.
    const problem = known.includes(key)
      ? 'cannot be combined with the other fields of this map'
      : `is an unknown field${didYouMean(key, known)}`
    return toDiagnostic(document.locationOfKey([...path, key]), `${prefix(path)}"${quote(key, 60)}" ${problem}`)
  })
  const rest = keys.length - named.length
  return rest === 0 ? named : [...named, toDiagnostic(document.locationOf(path), `${prefix(path)}${rest} more unknown fields`)]
}

const toDiagnostic = (location: Location, message: string): Diagnostic => ({ rule: 'schema', severity: 'error', location, message })

function meantForm(field: Schema | undefined, value: unknown): Schema | undefined {
  const form = field instanceof z.ZodUnion ? nearestOption(field, value) : undefined
  return form === undefined ? field : meantForm(form, value)
}

const prefix = (path: ValuePath): string => (path.length === 0 ? '' : `${formatPath(path)}: `)

/** `channel.webhookId`, `budgets[2].limit`. */
export const formatPath = (path: ValuePath): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}${text === '' ? '' : '.'}${quote(String(key), 60)}`),
    '',
  )

const typeNames: Readonly<Record<string, string>> = {
  object: 'a map',
  record: 'a map',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

/** What is accepted: in the field's own words, or by the type, size or choices that the issue is about. */
function describeAccepted(issue: z.core.$ZodIssue, field: Schema | undefined): string {
  const accepts = field === undefined ? undefined : metaOf(field).accepts
  const accepted = accepts ?? (choicesOf(issue).join(', ') || describeExpected(issue, field))
  if (accepted !== undefined) return `; accepted: ${accepted}`
  return issue.code === 'invalid_union' ? '' : `: ${issue.message}`
}

function describeExpected(issue: z.core.$ZodIssue, field: Schema | undefined): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typeNames[issue.expected] ?? `a value of type ${issue.expected}`
    case 'too_small':
      return `${issue.exact ? 'exactly' : 'at least'} ${describeSize(issue.minimum, issue.origin)}`
    case 'too_big':
      return `${issue.exact ? 'exactly' : 'at most'} ${describeSize(issue.maximum, issue.origin)}`
    case 'invalid_union':
      return field instanceof z.ZodUnion ? [...new Set(field.options.map(typeNameOf))].join(' or ') : undefined
    default:
      return undefined
  }
}

function describeSize(size: number | bigint, origin: string): string {
  const noun = { string: 'character', array: 'item' }[origin]
  return noun === undefined ? String(size) : plural(Number(size), noun)
}

function typeNameOf(option: Schema): string {
  const core = coreOf(option)
  return (core instanceof z.ZodUnion ? 'a map' : typeNames[core._zod.def.type]) ?? core._zod.def.type
}

function choicesOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  return issue.code === 'invalid_union' && 'options' in issue ? (issue.options ?? []).map(String) : []
}

const suggestion = (issue: z.core.$ZodIssue, value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? didYouMean(String(value), choicesOf(issue)) : ''
