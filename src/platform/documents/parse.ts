// Apart from what validates, because few runs read YAML.
import type * as z from 'zod'
import { InputError } from '../core/errors.ts'
import { type ReadDocument, readDocument } from './document.ts'
import { schemaDiagnostics } from './validate.ts'

/**
 * Throws an InputError with everything that is wrong. `schemaFor` chooses by the value, so that diagnostics are about the form that was
 * meant.
 */
export const parseDocument = <T>(text: string, name: string, schemaFor: SchemaFor<T>): T => parseWithLocations(text, name, schemaFor).value

type SchemaFor<T> = z.ZodType<T> | ((value: unknown) => z.ZodType<T>)

/** `prepare` gives what is parsed, which can have what the document has at other places. */
export function parseWithLocations<T>(
  text: string,
  name: string,
  schemaFor: SchemaFor<T>,
  prepare: (read: ReadDocument) => ReadDocument = (read) => read,
): { readonly value: T; readonly document: ReadDocument } {
  const read = readDocument(text, name)
  if ('diagnostics' in read) throw new InputError(read.diagnostics)
  const document = prepare(read)
  const schema = typeof schemaFor === 'function' ? schemaFor(document.value) : schemaFor
  const parsed = schema.safeParse(document.value)
  if (parsed.success) return { value: parsed.data, document }
  throw new InputError(schemaDiagnostics(parsed.error, document, schema))
}
