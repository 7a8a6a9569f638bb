// When an object is as declared although what the server stores differs from the declaration. A server fills in defaults, trims
// texts and reorders lists. Known defaults (see `serverDefault` in the file schemas) explain most of that. For the rest, apply
// stores a snapshot: a digest of the object as stored, beside the ownership marker. docs/decisions/0009 has the reasons.
import type * as z from 'zod'
import { digestOfText } from '../core/digest.ts'
import { elementOf, fieldOf, formOf, isServerDefault, ownValue, type Schema } from '../documents/schema.ts'
import { isEmpty, isMap, normalForm, partnerOf, type Sides } from './compare.ts'
import { diffFields, type FieldChange } from './diff.ts'
import { canonicalText, snapshotLength } from './marker.ts'
import type { Body, ResourceType } from './resource-type.ts'

/** Equal as long as neither the stored object nor the declaration changes, whatever defaults this version of the tool knows. */
export const snapshotOf = ({ stored, declared }: Sides): string => digestOfText(canonicalText({ stored, declared }), snapshotLength)

/** The differences that known defaults do not explain. */
export const unexplained = ({ schema }: ResourceType, { stored, declared }: Sides): readonly FieldChange[] =>
  diffFields(normalForm(stored, schema), normalForm(declared, schema))

/** A field that a file could declare, and does not, at one place of one object. */
interface UndeclaredField {
  /** The same for all objects alike: the same field of the same form of a value. */
  readonly place: string
  readonly path: readonly PropertyKey[]
  /** Undefined where the server has none either. */
  readonly value: unknown
  readonly isKnownDefault: boolean
}

const formIds = new WeakMap<z.ZodObject, number>()
let formCount = 0

function idOfForm(form: z.ZodObject): number {
  const known = formIds.get(form)
  if (known !== undefined) return known
  formCount += 1
  formIds.set(form, formCount)
  return formCount
}

const undeclaredFields = (sides: Sides, schema: Schema): readonly UndeclaredField[] => [...walk(sides, schema, [])]

interface Values {
  readonly stored: unknown
  readonly declared: unknown
  readonly given: unknown
}

function* walk({ stored, declared, given }: Values, schema: Schema | undefined, path: readonly PropertyKey[]): Generator<UndeclaredField> {
  if (Array.isArray(stored)) {
    const element = elementOf(schema)
    const partnerIn = (items: unknown, item: unknown, i: number) => partnerOf(item, i, Array.isArray(items) ? items : [])
    for (const [i, item] of stored.entries())
      yield* walk({ stored: item, declared: partnerIn(declared, item, i), given: partnerIn(given, item, i) }, element, [...path, i])
    return
  }
  const form = isMap(stored) && isMap(declared) ? formOf(schema, declared) : undefined
  // Another form of the same thing has nothing in common with it.
  if (form === undefined || formOf(schema, stored) !== form) return
  for (const key of Object.keys(form.shape)) {
    const [value, wanted] = [ownValue(stored, key), ownValue(declared, key)]
    if (!isEmpty(wanted)) yield* walk({ stored: value, declared: wanted, given: ownValue(given, key) }, fieldOf(form, key), [...path, key])
    // A field that a file declares as empty is to stay empty.
    else if (ownValue(given, key) === undefined)
      yield { place: `${idOfForm(form)}.${key}`, path: [...path, key], value, isKnownDefault: isServerDefault(form, key, value) }
  }
}

/** The fields at which objects that files leave alone all have the same value: what a server fills in, and no person. */
export type CommonValues = ReadonlySet<string>

/** Fewer say nothing: the one object of its kind may as well have been changed by hand. */
const fewestForDefault = 2

/** Of objects whose declarations have not changed since they were applied. */
export function commonValues(kind: ResourceType, all: readonly Sides[]): CommonValues {
  const seen = new Map<string, { count: number; readonly texts: Set<string> }>()
  for (const sides of all) {
    for (const { place, value, isKnownDefault } of undeclaredFields(sides, kind.schema)) {
      const entry = seen.get(place) ?? { count: 0, texts: new Set() }
      seen.set(place, entry)
      entry.count += 1
      entry.texts.add(isEmpty(value) || isKnownDefault ? '' : canonicalText(value))
    }
  }
  return new Set(
    [...seen].flatMap(([place, { count, texts }]) => (count >= fewestForDefault && texts.size === 1 && !texts.has('') ? [place] : [])),
  )
}

/** What there is to say about an object that is not simply as declared. */
export interface Judgement {
  /** What differs; empty where only undeclared fields were filled in by the server. */
  readonly fields: readonly FieldChange[]
  /** It was changed by hand, but only the snapshot tells: the fields are candidates, and none may be among them. */
  readonly isUncertain: boolean
  /** Fields that the server fills in everywhere since the last apply. */
  readonly newDefaults: readonly FieldChange[]
}

interface Question {
  readonly kind: ResourceType
  readonly sides: Sides
  /** Of the last apply; undefined where there is none. */
  readonly snapshot: string | undefined
  readonly common: CommonValues
}

/** Of an object whose declaration has not changed since it was applied. */
export function judgeStored({ kind, sides, snapshot, common }: Question): Judgement {
  const extra = undeclaredFields(sides, kind.schema).filter(({ value }) => !isEmpty(value))
  const added = snapshot === undefined ? extra.filter(({ isKnownDefault }) => !isKnownDefault) : addedSince(snapshot, sides, extra)
  if (added === undefined) return { fields: unexplained(kind, sides), isUncertain: true, newDefaults: [] }
  const byHand = added.filter(({ place, isKnownDefault }) => !isKnownDefault && !common.has(place))
  const byServer = added.filter((field) => !byHand.includes(field) && !field.isKnownDefault)
  const changeOf = (fields: readonly UndeclaredField[]): readonly FieldChange[] =>
    diffFields(sides.stored, withoutPaths(sides.stored, fields))
  const rest = { ...sides, stored: withoutPaths(sides.stored, byServer) as Body }
  // Without a snapshot, what remains is compared with the declaration; with one, it is known to be as it was.
  const fields = snapshot === undefined ? unexplained(kind, rest) : changeOf(byHand)
  return { fields, isUncertain: false, newDefaults: fields.length === 0 ? changeOf(byServer) : [] }
}

/** Digests that are tried for one object. */
const mostAttempts = 300

/** The undeclared fields that have come since the snapshot, if that is all that has changed; found by leaving them out. */
function addedSince(snapshot: string, sides: Sides, extra: readonly UndeclaredField[]): readonly UndeclaredField[] | undefined {
  const groups = [...Map.groupBy(extra, ({ place }) => place).values(), ...extra.map((field) => [field])]
  let attempts = 0
  for (const fields of subsetsOf(groups)) {
    attempts += 1
    if (attempts > mostAttempts) return undefined
    if (snapshotOf({ ...sides, stored: withoutPaths(sides.stored, fields) as Body }) === snapshot) return fields
  }
  return undefined
}

/** One group, then two together, then all: what a server or a person adds at once is little. */
function* subsetsOf(groups: readonly (readonly UndeclaredField[])[]): Generator<readonly UndeclaredField[]> {
  yield* groups
  for (const [i, one] of groups.entries()) for (const other of groups.slice(i + 1)) yield [...new Set([...one, ...other])]
  yield [...new Set(groups.flat())]
}

function withoutPaths(value: unknown, fields: readonly Pick<UndeclaredField, 'path'>[]): unknown {
  if (fields.length === 0) return value
  const inner = Map.groupBy(fields, ({ path }) => path[0])
  if (Array.isArray(value)) {
    return value.map((item, i) =>
      withoutPaths(
        item,
        (inner.get(i) ?? []).map(({ path }) => ({ path: path.slice(1) })),
      ),
    )
  }
  if (!isMap(value)) return value
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const below = inner.get(key) ?? []
    if (below.some(({ path }) => path.length === 1)) return []
    return [
      [
        key,
        withoutPaths(
          item,
          below.map(({ path }) => ({ path: path.slice(1) })),
        ),
      ] as const,
    ]
  })
  return Object.fromEntries(entries)
}
