// Owns checking values against the fields of a schema, one by one, so that everything wrong is told at once.
import type * as z from 'zod'
import type { Problem } from '../kernel/errors.ts'
import { nearestName, toKebab } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import { metaOf } from '../provision/field-facts.ts'

export interface Parsed<T extends z.ZodObject> {
  /** Those that are valid by themselves. */
  readonly values: Partial<z.output<T>>
  /** Those that were given, valid or not. */
  readonly names: ReadonlySet<string>
  readonly problems: readonly Problem[]
}

/** `values` by camelCase name; what is undefined was not given. */
export function parseFields<T extends z.ZodObject>(schema: T, values: Readonly<Record<string, unknown>>): Parsed<T> {
  const names = new Set(Object.keys(values).filter((name) => values[name] !== undefined))
  const valid: Record<string, unknown> = {}
  const problems: Problem[] = []
  for (const [name, field] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    const result = field.safeParse(values[name])
    if (!result.success) problems.push({ name: toKebab(name), message: complain(field, values[name], result.error) })
    else if (result.data !== undefined) valid[name] = result.data
  }
  return { values: valid as Partial<z.output<T>>, names, problems }
}

function complain(field: z.ZodType, value: unknown, error: z.ZodError): string {
  const { accepts, secret } = metaOf(field)
  const accepted = accepts === undefined ? '' : `; accepted: ${accepts}`
  if (value === undefined) return `is missing${accepted}`
  if (secret) return `is not accepted${accepted}`
  const given = typeof value === 'string' ? value : (wrongItem(value, error) ?? JSON.stringify(value))
  const nearest =
    typeof value === 'string' && accepts !== undefined
      ? nearestName(
          value,
          accepts.split(', ').filter((word) => !word.includes(' ')),
        )
      : undefined
  return `"${quote(given ?? '', 80)}" is not accepted${accepted}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`
}

/** The first item of a list that is wrong by itself: a long list would hide it. */
function wrongItem(value: unknown, { issues }: z.ZodError): string | undefined {
  const at = issues[0]?.path[0]
  const item: unknown = Array.isArray(value) && typeof at === 'number' ? value[at] : undefined
  return typeof item === 'string' ? item : undefined
}
