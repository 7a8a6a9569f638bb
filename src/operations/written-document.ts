// Owns what users write as a whole document, inline or in a file, and turning schema complaints into problems with a place.
import type * as z from 'zod'
import { InputError, type Problem } from '../kernel/errors.ts'
import { didYouMean } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import { readDocument } from '../provision/document.ts'
import { filePath, longText } from './fields.ts'

export const documentText = (noun: string) => longText(`The ${noun} as YAML or JSON, in the API's field names.`, 1_000_000).optional()

export const documentFile = (noun: string) => filePath(`File with the ${noun} as YAML or JSON, in the API's field names.`).optional()

/** Parses and checks. Throws an InputError that lists everything wrong, each with its place. */
export function readWritten<T>(text: string, name: string, schema: z.ZodType<T>): T {
  const reading = readDocument(text, name)
  if ('problems' in reading) throw new InputError(reading.problems)
  const parsed = schema.safeParse(reading.value)
  if (parsed.success) return parsed.data
  throw new InputError(parsed.error.issues.flatMap((issue) => toProblems(issue, name, reading.value, schema)))
}

function toProblems(issue: z.core.$ZodIssue, name: string, written: unknown, schema: z.ZodType): readonly Problem[] {
  const place = [name, ...issue.path.map(String)].map((part) => quote(part, 60)).join('.')
  if (issue.code === 'unrecognized_keys') {
    const known = issue.path.length === 0 ? knownKeys(schema) : []
    return issue.keys.map((key) => ({ name: place, message: `"${quote(key, 60)}" is not known${didYouMean(key, known)}` }))
  }
  const value = issue.path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], written)
  const given = value === undefined ? 'is missing' : `${quote(JSON.stringify(value) ?? '', 80)} is not accepted`
  const accepted =
    issue.code === 'invalid_value'
      ? `; accepted: ${issue.values.join(', ')}${didYouMean(String(value), issue.values.map(String))}`
      : `: ${issue.message}`
  return [{ name: place, message: `${given}${value === undefined ? '' : accepted}` }]
}

const knownKeys = (schema: z.ZodType): readonly string[] => ('shape' in schema ? Object.keys(schema.shape as object) : [])
