import * as z from 'zod'
import type { Body } from '../../kinds/kind.ts'
import type { KindName } from '../../kinds/kind-names.ts'
import { fileSchemas, type ParsedObject, parseObject } from '../../kinds/kinds.ts'
import { isMapping } from '../../platform/core/keys.ts'
import type { ValuePath } from '../../platform/documents/document.ts'
import { ownValue, valueAt } from '../../platform/documents/schema.ts'
import { neededFields } from '../../platform/documents/validate.ts'

export function validFields(kind: KindName, spelled: unknown): Body {
  const fields = Object.entries(fileSchemas[kind].shape).flatMap(([name, field]) => {
    const { data } = z.safeParse(field, ownValue(spelled, name))
    return data === undefined ? [] : [[name, data] as const]
  })
  return Object.fromEntries(fields)
}

interface Repaired {
  readonly errors: readonly z.ZodError[]
  /** Without the fields that have errors; undefined where too little is valid. */
  readonly parsed: ParsedObject | undefined
}

/** Some rules apply only to objects whose fields are valid by themselves. */
const maxRounds = 3

/** Parses the rest of a wrong object, too, so that all errors are reported at once. */
export function parseRepairing(kind: KindName, spelled: unknown): Repaired {
  let result = parseObject(kind, spelled)
  if ('parsed' in result) return { errors: [], parsed: result.parsed }
  const errors: z.ZodError[] = []
  const rest = structuredClone(spelled)
  for (let round = 0; round < maxRounds && 'error' in result; round++) {
    const found = result.error.issues
    const issues = round === 0 ? found : found.filter((issue) => !isConsequence(issue, { spelled, rest }))
    if (issues.length > 0) errors.push(new z.ZodError(issues))
    const paths = found.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
    )
    if (paths.filter((path) => remove(rest, path)).length === 0) break
    result = parseObject(kind, rest)
  }
  return { errors, parsed: 'parsed' in result ? result.parsed : undefined }
}

/** Whether the field is missing only because it was removed, or because its name was misspelled. */
function isConsequence(issue: z.core.$ZodIssue, { spelled, rest }: { readonly spelled: unknown; readonly rest: unknown }): boolean {
  const { path } = issue
  const value = valueAt(rest, path)
  if (value === undefined) return true
  const around = isMapping(value) ? path : path.slice(0, -1)
  const isRemoved = (field: string): boolean =>
    ownValue(valueAt(spelled, around), field) !== undefined && ownValue(valueAt(rest, around), field) === undefined
  return neededFields(issue).some(isRemoved)
}

/** Removes a field, or gives it a name where it must have one. Items of lists stay, so that all paths stay the same. */
function remove(value: unknown, path: ValuePath): boolean {
  const [around, last] = [valueAt(value, path.slice(0, -1)), path.at(-1)]
  if (!isMapping(around) || typeof last !== 'string') return false
  if (last === 'name') return Reflect.set(around, last, path.map(String).join(' '))
  return Object.hasOwn(around, last) && Reflect.deleteProperty(around, last)
}
