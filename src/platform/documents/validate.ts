import * as z from 'zod'
import { fromText } from '../core/decimal.ts'
import { type Diagnostic, diagnosticOf, type Location, type Rules } from '../core/diagnostics.ts'
import { didYouMean, nearestDurations, nearestName } from '../core/names.ts'
import { clip, plural, printable, quote } from '../core/text.ts'
import type { ReadDocument, ValuePath } from './document.ts'
import { coreOf, elementOf, knownKeys, metaOf, nearestOption, ownValue, type Schema, schemaAt, valueAt } from './schema.ts'

export const schemaRules = {
  schema: { severity: 'error', description: 'A field is unknown or missing, or its value is not valid.' },
} as const satisfies Rules

/** `base` is the path of the value. An issue with the param `isComplete` needs no list of what is accepted. */
export function schemaDiagnostics(
  error: z.ZodError,
  document: ReadDocument,
  schema: z.ZodType,
  base: ValuePath = [],
): readonly Diagnostic[] {
  const subject = { document, schema, base, value: valueAt(document.value, base) }
  const issues = error.issues.flatMap((issue) => meantIssues(issue, schema, subject.value))
  const misspelled = new Set(issues.flatMap((issue) => misspelledFields(issue, subject)))
  const isConsequence = (issue: z.core.$ZodIssue): boolean =>
    [issue.path, ...neededFields(issue).map((field) => [...issue.path, field])].some((path) => misspelled.has(formatPath(path, undefined)))
  return issues.filter((issue) => !isConsequence(issue)).flatMap((issue) => describeProblem(issue, subject))
}

/** Unknown fields that most likely mean a known one that is missing. */
export function misspelledFieldDiagnostics(
  error: z.ZodError | undefined,
  document: ReadDocument,
  schema: z.ZodType,
): readonly Diagnostic[] {
  const subject = { document, schema, base: [], value: document.value }
  const issues = (error?.issues ?? []).flatMap((issue) => meantIssues(issue, schema, document.value))
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return []
    const keys = issue.keys.filter((key) => misspelledFields({ ...issue, keys: [key] }, subject).length > 0)
    return keys.length === 0 ? [] : describeProblem({ ...issue, keys }, subject)
  })
}

/** Fields of the same map, by the param `needs` of the issue. */
export const neededFields = (issue: z.core.$ZodIssue): readonly string[] =>
  issue.code === 'custom' && Array.isArray(issue.params?.needs) ? issue.params.needs.map(String) : []

/** Paths of missing fields that unknown ones most likely mean. Only the unknown field is reported. */
function misspelledFields(issue: z.core.$ZodIssue, { schema, value: checked }: Validated) {
  if (issue.code !== 'unrecognized_keys') return []
  const value = valueAt(checked, issue.path)
  const form = meantForm(schemaAt(schema, issue.path, checked), value)
  return issue.keys.flatMap((key) => {
    const meant = meantField(key, form)
    return meant === undefined || ownValue(value, meant) !== undefined ? [] : [formatPath([...issue.path, meant], undefined)]
  })
}

function meantField(key: string, form: Schema | undefined) {
  const alias = form && ownValue(metaOf(form).aliases, key)
  const known = knownKeys(form)
  return typeof alias === 'string' && known.includes(alias) ? alias : nearestName(key, known)
}

interface Validated {
  readonly document: ReadDocument
  readonly schema: z.ZodType
  readonly base: ValuePath
  readonly value: unknown
}

function meantIssues(issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue]
  const union = schemaAt(schema, issue.path, value)
  // The union's own description says more than the issues of one option.
  if (!(union instanceof z.ZodUnion) || metaOf(union).accepts !== undefined) return [issue]
  const inner = valueAt(value, issue.path)
  const option = nearestOption(union, inner)
  const issues = option === undefined ? undefined : z.safeParse(option, inner).error?.issues
  if (option === undefined || issues === undefined) return [issue]
  return (
    issues
      // The options of a union are typed by zod's core, and all of them are classic schemas.
      .flatMap((one) => meantIssues(one, option as z.ZodType, inner))
      .map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
  )
}

function describeProblem(issue: z.core.$ZodIssue, { document, schema, base, value: checked }: Validated): readonly Diagnostic[] {
  const path = [...base, ...issue.path]
  const field = schemaAt(schema, issue.path, checked)
  const value = valueAt(checked, issue.path)
  const prefix = toPrefix(path, document.value)
  if (issue.code === 'unrecognized_keys') return describeUnknownKeys(issue, path, meantForm(field, value), document)
  if (issue.code === 'invalid_key') return describeWrongKey(path, schemaAt(schema, issue.path.slice(0, -1), checked), document)
  // A missing field is reported where the object begins that lacks it.
  const location = value === undefined ? document.locationOfKey(path.slice(0, -1)) : document.locationOf(path)
  return [issueDiagnostic(location, `${prefix}${explainIssue(issue, value, field)}`)]
}

export function explainIssue(issue: z.core.$ZodIssue, value: unknown, field: Schema | undefined): string {
  const { secret, missing } = field === undefined ? {} : metaOf(field)
  const accepted = describeAccepted(issue, field)
  if (value === undefined) return `is missing${accepted}${missing === undefined ? '' : `; ${missing}`}`
  const given = secret ? '' : `${quote(JSON.stringify(value) ?? '')} `
  const element = elementOf(field)
  if (element !== undefined && z.safeParse(element, value).success)
    return `${given}is not a list${typeof value === 'object' ? '; put it into [ ]' : secret ? '' : `; write [${given.trim()}]`}`
  const isComplete = issue.code === 'custom' && issue.params?.isComplete === true
  return `${given}${isComplete ? issue.message : `is not accepted${accepted}${secret ? '' : suggestion(issue, value, field)}`}`
}

function describeWrongKey(path: ValuePath, map: Schema | undefined, document: ReadDocument): readonly Diagnostic[] {
  const accepts = map instanceof z.ZodRecord ? metaOf(map.keyType).accepts : undefined
  const message = `"${quote(String(path.at(-1)))}" is not accepted as a key${accepts === undefined ? '' : `; accepted: ${accepts}`}`
  return [issueDiagnostic(document.locationOfKey(path), `${toPrefix(path.slice(0, -1), document.value)}${message}`)]
}

function describeUnknownKeys(
  { keys }: z.core.$ZodIssueUnrecognizedKeys,
  path: ValuePath,
  form: Schema | undefined,
  document: ReadDocument,
): readonly Diagnostic[] {
  const known = knownKeys(form)
  const accepts = (form && metaOf(form).accepts) ?? known.join(', ')
  const accepted = accepts === '' ? '' : `; accepted: ${accepts}`
  const prefix = toPrefix(path, document.value)
  const named = keys.slice(0, 20).map((key) => {
    // Another form of the same map has it.
    const meant = meantField(key, form)
    const advice = form && ownValue(metaOf(form).aliases, key)
    const other = typeof advice === 'string' ? `; ${advice}` : didYouMean(key, known)
    const suggestion = meant === undefined ? other : `; did you mean "${meant}"?`
    const problem = known.includes(key)
      ? 'cannot be combined with the other fields of this map'
      : `is an unknown field${suggestion || accepted}`
    return issueDiagnostic(document.locationOfKey([...path, key]), `${prefix}"${quote(key)}" ${problem}`)
  })
  const rest = keys.length - named.length
  return rest === 0 ? named : [...named, issueDiagnostic(document.locationOf(path), `${prefix}${rest} more unknown fields`)]
}

const issueDiagnostic = (location: Location, message: string) => diagnosticOf(schemaRules, 'schema', location, message)

function meantForm(field: Schema | undefined, value: unknown): Schema | undefined {
  const form = field instanceof z.ZodUnion ? nearestOption(field, value) : undefined
  return form === undefined ? field : meantForm(form, value)
}

const toPrefix = (path: ValuePath, root: unknown) => (path.length === 0 ? '' : `${formatPath(path, root)}: `)

/** `channel.webhookId`, `tiles["Errors"].config`. Items of a list have their name or their index; `root` is at the top of the path. */
export const formatPath = (path: ValuePath, root: unknown): string => {
  let text = ''
  let value = root
  for (const key of path) {
    value = ownValue(value, key)
    const label = ownValue(value, 'name') ?? ownValue(value, 'title')
    text +=
      typeof key === 'number'
        ? `[${typeof label === 'string' && label !== '' ? printable(JSON.stringify(clip(label, 60))) : String(key)}]`
        : `${text === '' ? '' : '.'}${quote(String(key))}`
  }
  return text
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'a map',
  record: 'a map',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

function describeAccepted(issue: z.core.$ZodIssue, field: Schema | undefined) {
  const accepts = field === undefined ? undefined : metaOf(field).accepts
  const accepted = accepts ?? (issueChoices(issue).join(', ') || describeExpected(issue, field))
  if (accepted !== undefined) return `; accepted: ${accepted}`
  return issue.code === 'invalid_union' ? '' : `: ${issue.message}`
}

function describeExpected(issue: z.core.$ZodIssue, field: Schema | undefined) {
  switch (issue.code) {
    case 'invalid_type': {
      const [key] = knownKeys(meantForm(elementOf(field), {}))
      return key === undefined
        ? (typeNames[issue.expected] ?? `a value of type ${issue.expected}`)
        : `a list of maps, such as [{ ${key}: … }]`
    }
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

function describeSize(size: number | bigint, origin: string) {
  const noun = { string: 'character', array: 'item' }[origin]
  return noun === undefined ? String(size) : plural(Number(size), noun)
}

function typeNameOf(option: Schema) {
  const core = coreOf(option)
  return (core instanceof z.ZodUnion ? 'a map' : typeNames[core._zod.def.type]) ?? core._zod.def.type
}

function issueChoices(issue: z.core.$ZodIssue, field?: Schema) {
  if (issue.code === 'invalid_value') return issue.values.map(String)
  if (issue.code === 'invalid_union' && 'options' in issue) return (issue.options ?? []).map(String)
  const { accepts = '' } = field === undefined ? {} : metaOf(field)
  return accepts.split(', ').filter((word) => word !== '' && !word.includes(' '))
}

function suggestion(issue: z.core.$ZodIssue, value: unknown, field: Schema | undefined) {
  if (value === null && issue.code === 'invalid_type' && ['object', 'record'].includes(issue.expected)) return '; indent the lines below it'
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  const synonym = field && ownValue(metaOf(field).synonyms, String(value).toLowerCase())
  if (typeof synonym === 'string') return `; write ${synonym}`
  if (issue.code === 'invalid_type') return otherType(issue.expected, value, field) || didYouMean(String(value), [])
  const choices = issueChoices(issue, field)
  return nearestDurations(String(value), choices) ?? didYouMean(String(value), choices)
}

/** Advice for a value of another type that can only mean one number. */
function otherType(expected: string, value: string | number, field: Schema | undefined) {
  if (typeof value !== 'string' || (expected !== 'number' && expected !== 'int')) return ''
  const [, digits, percent] = /^([+-]?\d{1,12}(?:\.\d{1,12})?)\s*(%?)$/.exec(value.trim()) ?? []
  if (digits === undefined) return ''
  if (percent === '') return `; write ${digits} without quotes`
  return `; write ${isPercentage(field) ? digits : fromText(digits).div(100).toFixed()}`
}

/** Whether a value of 50 means 50%, as in an objective, and not 0.5. */
const isPercentage = (field: Schema | undefined) => {
  const number = field && coreOf(field)
  return number instanceof z.ZodNumber && number.maxValue === 100
}
