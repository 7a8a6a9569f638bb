// Decides whether an object is as declared although the stored form differs. A server fills in defaults, trims texts and reorders lists.
// Known defaults (see `serverDefault` in the file schemas) explain most differences. For the rest, apply stores a snapshot next to the
// ownership marker: a digest of the object as stored. docs/decisions/ownership.md has the reasons.
import type * as z from 'zod'
import { oncePer } from '../platform/core/concurrency.ts'
import { digestOfText } from '../platform/core/digest.ts'
import { isEmpty, isMapping } from '../platform/core/keys.ts'
import { type FormWalk, formOf, isServerDefault, mapForms, ownValue, type Schema } from '../platform/documents/schema.ts'
import { type BodyPair, diffFields, type FieldChange, partnerIn, withoutDefaults } from './compare.ts'
import type { Body, KindWire } from './kind.ts'
import { canonicalText, snapshotLength } from './marker.ts'

/** Equal as long as neither the stored object nor the declaration changes, whatever defaults this version of the tool knows. */
export const snapshotOf = ({ stored, declared }: Pick<BodyPair, 'stored' | 'declared'>): string =>
  digestOfText(canonicalText({ stored, declared }), snapshotLength)

/** The differences that known defaults do not explain. */
export const diffSides = ({ schema }: KindWire, { stored, declared }: Pick<BodyPair, 'stored' | 'declared'>): readonly FieldChange[] =>
  diffFields(withoutDefaults(stored, schema), withoutDefaults(declared, schema))

/** The changes in the service since the last apply. */
interface Drift {
  /** The differences; empty where the server only filled in fields that are not declared. */
  readonly fields: readonly FieldChange[]
  /** Whether only the snapshot shows a change by hand. The fields are then candidates, and the changed one may be missing. */
  readonly isUncertain: boolean
  /** Fields that the server fills in everywhere since the last apply. */
  readonly newDefaults: readonly FieldChange[]
}

interface DriftInput {
  readonly kind: KindWire
  readonly sides: BodyPair
  /** The snapshot of the last apply; undefined where there is none. */
  readonly snapshot: string | undefined
  readonly common: CommonValues
}

/** Finds changes in the service, for an object whose declaration has not changed since it was applied. */
export function detectDrift({ kind, sides, snapshot, common }: DriftInput): Drift {
  const unknown = undeclaredFields(sides, kind.schema).filter(({ value, isKnownDefault }) => !isEmpty(value) && !isKnownDefault)
  const added = snapshot === undefined ? unknown : addedSince(snapshot, sides, unknown)
  if (added === undefined) return { fields: diffSides(kind, sides), isUncertain: true, newDefaults: [] }
  const [byHand, byServer] = [added.filter(({ place }) => !common.has(place)), added.filter(({ place }) => common.has(place))]
  const toFieldChanges = (fields: readonly UndeclaredField[]): readonly FieldChange[] =>
    diffFields(sides.stored, withoutFields(sides.stored, fields))
  // The rest is compared with the declaration unless a snapshot shows that it is unchanged.
  const fields =
    snapshot === undefined ? diffSides(kind, { ...sides, stored: withoutFields(sides.stored, byServer) }) : toFieldChanges(byHand)
  return { fields, isUncertain: false, newDefaults: fields.length === 0 ? toFieldChanges(byServer) : [] }
}

/** The places at which all objects have the same undeclared value: the server fills it in, and not a person. */
export type CommonValues = ReadonlySet<string>

/** A change by hand to a single object looks the same as a new default. */
const minObjects = 2

/** Finds values that the server fills in everywhere. `all` are objects whose declarations have not changed since they were applied. */
export function findCommonValues(kind: KindWire, all: readonly BodyPair[]): CommonValues {
  const fields = all.flatMap((sides) => undeclaredFields(sides, kind.schema))
  const common = new Set<string>()
  for (const [place, values] of Map.groupBy(fields, (field) => field.place)) {
    const texts = new Set(values.map(({ value, isKnownDefault }) => (isEmpty(value) || isKnownDefault ? '' : canonicalText(value))))
    if (values.length >= minObjects && texts.size === 1 && !texts.has('')) common.add(place)
  }
  return common
}

/** A field that a file could declare, and does not, at one place of one object. */
interface UndeclaredField {
  /** The form of a value and the field in it, which are the same in all objects. */
  readonly place: string
  readonly path: FieldPath
  /** Undefined where the server has none either. */
  readonly value: unknown
  readonly isKnownDefault: boolean
}

type FieldPath = readonly PropertyKey[]

/** The declared value of a stored one, and their path. */
interface Beside {
  readonly declared: unknown
  readonly declaredAsSent: unknown
  readonly path: FieldPath
}

function undeclaredFields({ stored, declared, declaredAsSent }: BodyPair, schema: Schema): readonly UndeclaredField[] {
  const found: UndeclaredField[] = []
  const walk: FormWalk<Beside> = {
    into: (beside, key, item) => ({
      declared: partnerIn(beside.declared, key, item),
      declaredAsSent: partnerIn(beside.declaredAsSent, key, item),
      path: [...beside.path, key],
    }),
    map({ map, form, schema: own, beside: { declared: wanted, declaredAsSent: whole, path }, inner }) {
      // Another form of the same thing has nothing in common with it.
      if (form === undefined || !isMapping(wanted) || formOf(own, wanted) !== form) return map
      for (const key of Object.keys(form.shape)) {
        if (!isEmpty(wanted[key])) inner(key)
        // A field that a file declares as empty must stay empty.
        else if (ownValue(whole, key) === undefined) {
          const value = ownValue(map, key)
          found.push({ place: `${idOfForm(form)}.${key}`, path: [...path, key], value, isKnownDefault: isServerDefault(form, key, value) })
        }
      }
      return map
    },
  }
  mapForms(stored, schema, walk, { declared, declaredAsSent, path: [] })
  return found
}

let formCount = 0

const idOfForm = oncePer((_: z.ZodObject) => ++formCount)

/** The undeclared fields that were added since the snapshot, if nothing else has changed: none, or all that are not known defaults. */
const addedSince = (snapshot: string, sides: BodyPair, unknown: readonly UndeclaredField[]): readonly UndeclaredField[] | undefined =>
  [[], unknown].find((fields) => snapshotOf({ ...sides, stored: withoutFields(sides.stored, fields) }) === snapshot)

function withoutFields(stored: Body, fields: readonly UndeclaredField[]): Body {
  const paths = fields.map(({ path }) => path)
  return mapForms(stored, undefined, cutting, paths)
}

/** The paths are those below the value. */
const cutting: FormWalk<readonly FieldPath[]> = {
  into: (paths, key) => paths.filter(([first]) => first === key).map((path) => path.slice(1)),
  map({ map, beside: paths, inner }) {
    if (paths.length === 0) return map
    const ends = new Set(paths.flatMap((path) => (path.length === 1 ? path : [])))
    return Object.fromEntries(Object.keys(map).flatMap((key) => (ends.has(key) ? [] : [[key, inner(key)]])))
  },
}
