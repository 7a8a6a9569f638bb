import * as z from 'zod'
import { type Diagnostic, missingInput } from '../platform/core/diagnostics.ts'
import { toKebab } from '../platform/core/names.ts'
import { coreOf, isFlag, metaOf, type Shape, valueAt } from '../platform/documents/schema.ts'
import { explainIssue } from '../platform/documents/validate.ts'

/** Values by camelCase name. */
export type Values = Readonly<Record<string, unknown>>

/** A text that cannot be decoded stays text, which the schema rejects. */
export function decode(schema: z.core.$ZodType, text: string): unknown {
  const core = coreOf(schema)
  if (isFlag(core)) return decodeBoolean(text)
  if (core instanceof z.ZodNumber) return /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?(?:[eE][+-]?\d{1,2})?$/.test(text) ? Number(text) : text
  if (core instanceof z.ZodArray)
    return text
      .split(metaOf(schema).commas ? /[\n,]/ : '\n')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  return text
}

export const decodeAll = (shape: Shape, values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' && shape[name] ? decode(shape[name], value) : value]),
  )

// The runner's getBooleanInput reads booleans like this, and follows YAML's core schema.
function decodeBoolean(text: string): boolean | string {
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  return /^(?:false|False|FALSE)$/.test(text) ? false : text
}

/** The diagnostic is at the place of the value: an input, a variable, or a line of a file. `name` is in camelCase. */
export type DiagnosticFor = (name: string, message: string) => Diagnostic

/** Checks field by field, so that all problems are reported at once. */
export function parseFields<T extends z.ZodObject>(schema: T, values: Values, diagnosticFor: DiagnosticFor) {
  const valid: Record<string, unknown> = {}
  const diagnostics: Diagnostic[] = []
  const shape: z.core.$ZodLooseShape = schema.shape
  for (const [name, field] of Object.entries(shape)) {
    const result = field.safeParse(values[name])
    const [issue] = result.error?.issues ?? []
    const problem = result.success
      ? undefined
      : issue === undefined
        ? 'is not accepted'
        : explainIssue(issue, valueAt(values[name], issue.path), field)
    if (problem !== undefined)
      diagnostics.push(values[name] === undefined ? missingInput(toKebab(name), problem) : diagnosticFor(name, problem))
    else if (result.data !== undefined) valid[name] = result.data
  }
  // Each value was parsed by the field of its name.
  return { values: valid as Partial<z.output<T>>, names: new Set(Object.keys(values)), diagnostics }
}
