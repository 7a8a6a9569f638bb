// Owns what users write as a whole document, inline or in a file.
import type * as z from 'zod'
import { InputError } from '../core/errors.ts'
import { filePath, longText } from '../operation/fields.ts'
import { schemaDiagnostics } from './diagnose.ts'
import { readDocument } from './document.ts'

export const documentText = (noun: string) => longText(`The ${noun} as YAML or JSON, in the API's field names.`, 1_000_000).optional()

export const documentFile = (noun: string) => filePath(`File with the ${noun} as YAML or JSON, in the API's field names.`).optional()

/**
 * Parses and checks. Throws an InputError that lists everything wrong, each with its place. `schemaFor` chooses by what was
 * written, so that diagnostics are about the one form that was meant.
 */
export function readWritten<T>(text: string, name: string, schemaFor: z.ZodType<T> | ((value: unknown) => z.ZodType<T>)): T {
  const document = readDocument(text, name)
  if ('diagnostics' in document) throw new InputError(document.diagnostics)
  const schema = typeof schemaFor === 'function' ? schemaFor(document.value) : schemaFor
  const parsed = schema.safeParse(document.value)
  if (parsed.success) return parsed.data
  throw new InputError(schemaDiagnostics(parsed.error, document, schema))
}
