// Owns the way from what a body's schema finds wrong to the one 400 that the API answers.
import type { z } from 'zod'
import { badRequest, type Refusal } from './refusal.ts'

export interface Problem {
  /** `tiles.0.config.select`, or empty for the whole body. */
  readonly path: string
  readonly message: string
  /** The gateway in front of the service refuses these before the service judges anything. */
  readonly unknownProperty?: true
}

/** Checks against the schema; `prefix` is where the value stands in the body. */
export function check<S extends z.ZodType>(schema: S, value: unknown, prefix = ''): { value: z.output<S> } | { problems: Problem[] } {
  const parsed = schema.safeParse(value)
  if (parsed.success) return { value: parsed.data }
  return { problems: parsed.error.issues.flatMap((issue) => toProblems(issue, prefix)) }
}

function toProblems(issue: z.core.$ZodIssue, prefix: string): Problem[] {
  const path = join(prefix, issue.path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: join(path, [key]), message: 'unknown property', unknownProperty: true }))
  }
  return [{ path, message: issue.message }]
}

const join = (prefix: string, path: readonly PropertyKey[]): string => [...(prefix === '' ? [] : [prefix]), ...path.map(String)].join('.')

/** Unknown properties first, and by name: terraform-provider-clickhouse PR#654 shows this text of the gateway. */
export function toRefusal(problems: readonly Problem[]): Refusal {
  const unknown = problems.find((problem) => problem.unknownProperty)
  if (unknown !== undefined) return badRequest(`request body property can't be validated: ${unknown.path}`)
  return badRequest(problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '))
}

/** The checked value, or the refusal thrown. */
export function demand<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const checked = check(schema, value)
  if ('problems' in checked) throw toRefusal(checked.problems)
  return checked.value
}
