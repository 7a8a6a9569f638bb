// The base of an object: what it and its declaration were when they last agreed, as two digests in its marker, or in `adopt`. The base names
// a difference between the two, and never hides one that a person made. docs/ownership.md has the reasons.
import * as z from 'zod'
import { oncePer } from '../platform/core/concurrency.ts'
import { digestOfText } from '../platform/core/digest.ts'
import { isEmpty, isMapping } from '../platform/core/keys.ts'
import { type FormWalk, formOf, isServerDefault, mapForms, ownValue } from '../platform/documents/schema.ts'
import { type BodyPair, comparable, diffFields, type FieldChange, managedPart, partnerIn, withoutDefaults } from './compare.ts'
import type { Body, KindIdentity, KindWire, StoredObject } from './kind.ts'
import { canonicalText, digestOf } from './marker.ts'

type BasedKind = KindIdentity & KindWire

/** The number of the way in which the digest of a stored object is made. It goes up when any stored object gets another digest. */
const baseFormat = 2

const baseText = (value: unknown) => `${baseFormat}.${digestOfText(canonicalText(value), 10)}`

/** What a base covers of a body (see `basePart`). */
function covered(kind: BasedKind, body: Body, declared: Body | undefined): Body {
  const managed = managedPart(body, declared, kind.schema)
  return comparable(kind, kind.basePart?.(managed) ?? managed)
}

/** The base of an object with this body, which can also be one that is about to be sent. Fields that the file leaves to the service are not in it. */
export const baseOf = (kind: BasedKind, body: Body, desired: Body): string => baseText(coveredAsDeclared(kind, body, desired))

function coveredAsDeclared(kind: BasedKind, body: Body, desired: Body): Body {
  const left = kind.newerFields?.filter((field) => !Object.hasOwn(desired, field)) ?? []
  const paths = left.map((field) => [field])
  return covered(kind, withoutFields(body, paths), kind.withStoredIds(desired, body))
}

/** A body without a marker has no base. */
export const withBase = (kind: BasedKind, body: Body, desired: Body, base = baseOf(kind, body, desired)): Body =>
  kind.readMarker(body) === undefined ? body : kind.withBase(body, base)

function markerText(kind: BasedKind, stored: StoredObject) {
  const marker = kind.readMarker(kind.toBody(stored))
  return marker && `${marker.token} ${marker.digest} ${marker.base ?? ''}`
}

export interface CurrentObject {
  readonly kind: BasedKind
  readonly stored: StoredObject
  /** With the ids of the stored object. */
  readonly declared: Body
  common(): CommonValues
}

/**
 * Whether the object is still as a base has it; undefined for a base that is missing, or of another format. Fields that the server fills in
 * everywhere may be in the base or not, and so may the fields that a file leaves to the service.
 */
export function isAsBase(
  base: string | undefined,
  { kind, stored, declared, common }: CurrentObject,
  isEntry = false,
): boolean | undefined {
  if (!base?.startsWith(`${baseFormat}.`)) return undefined
  const body = kind.toBody(stored)
  const marker = isEntry ? markerText(kind, stored) : undefined
  const isBase = (one: Body, by: Body | undefined) => base === baseText(isEntry ? [covered(kind, one, by), marker] : covered(kind, one, by))
  // A file of today can declare what the one of the base did not.
  const isBaseWithout = (paths: readonly FieldPath[]) => {
    const cut = withoutFields(body, paths)
    return isBase(cut, declared) || isBase(cut, undefined)
  }
  if (isBaseWithout([])) return true
  const added = Map.groupBy(undeclaredFields({ stored: body, declared, declaredAsSent: declared }, kind), ({ place }) => place)
  const groups: readonly (readonly FieldPath[])[] = [
    ...(kind.newerFields ?? []).map((field) => [[field]]),
    ...[...added].flatMap(([place, fields]) => (common().has(place) ? [fields.map(({ path }) => path)] : [])),
  ]
  // Each group doubles the number of subsets.
  const cuts = groups.length > 6 ? [groups.flat()] : subsetsOf(groups).map((some) => some.flat())
  return cuts.some(isBaseWithout)
}

const subsetsOf = <T>([first, ...others]: readonly T[]): readonly (readonly T[])[] =>
  first === undefined ? [[]] : subsetsOf(others).flatMap((some) => [some, [first, ...some]])

/** The differences that known defaults do not explain. */
export const diffSides = ({ schema }: KindWire, { stored, declared }: BodyPair): readonly FieldChange[] =>
  diffFields(withoutDefaults(stored, schema), withoutDefaults(declared, schema))

/** The differences without what the server fills in everywhere, and what it fills in. */
export function withoutCommon(kind: KindWire, sides: BodyPair, common: CommonValues) {
  const paths = undeclaredFields(sides, kind).flatMap((one) => (!one.isKnownDefault && common.has(one.place) ? [one.path] : []))
  const stored = withoutFields(sides.stored, paths)
  return { fields: diffSides(kind, { ...sides, stored }), newDefaults: paths.length === 0 ? [] : diffFields(sides.stored, stored) }
}

/**
 * The differences that a base does not cover: references, secrets and starts. Where neither side changed, all others are the way in which the
 * server stores what the file declares.
 */
export function outsideBase(kind: BasedKind, sides: BodyPair, fields: readonly FieldChange[]): readonly FieldChange[] {
  const [stored, declared] = [sides.stored, sides.declared].map((body) => withoutDefaults(kind.basePart?.(body) ?? body, kind.schema))
  const inside = new Set(diffFields(stored, declared).map(({ path }) => path))
  const placeOf = ({ path }: FieldChange) => path.replaceAll(/\[\d+\]/g, '[]')
  const places = Map.groupBy(fields, placeOf)
  const valuesOf = (some: readonly unknown[]) => canonicalText(some.map(canonicalText).toSorted())
  // Some servers store lists in an order of their own.
  const isOrder = (field: FieldChange) => {
    const alike = places.get(placeOf(field)) ?? []
    return field.path.endsWith(' (order)') || valuesOf(alike.map(({ before }) => before)) === valuesOf(alike.map(({ after }) => after))
  }
  return fields.filter((field) => !isOrder(field) && (isReference(field.path) || !inside.has(field.path)))
}

export const isSecret = ({ path }: FieldChange, { secretFields = [] }: KindWire): boolean =>
  secretFields.includes(/^\w+/.exec(path)?.[0] ?? '')

/** Whether a field has the id of another object. */
export const isReference = (path: string): boolean =>
  /(?:^|\.)(?:sourceId|webhookId|dashboardId|tileId|savedSearchId|appliesToSourceIds|connection(?:Id)?|(?:log|trace|metric|session)SourceId)(?:\[\d+\])?$/.test(
    path,
  )

/**
 * The places at which all objects have the same undeclared value: the server fills it in, and not a person. A change by hand to a single
 * object looks the same. What an update clears by a value is never filled in.
 */
export type CommonValues = ReadonlySet<string>

export function findCommonValues(kind: KindWire, all: readonly BodyPair[]): CommonValues {
  const fields = all.flatMap((sides) => undeclaredFields(sides, kind))
  const common = new Set<string>()
  for (const [place, values] of Map.groupBy(fields, (field) => field.place)) {
    const texts = new Set(values.map(({ value, isKnownDefault }) => (isEmpty(value) || isKnownDefault ? '' : canonicalText(value))))
    if (values.length >= 2 && texts.size === 1 && !texts.has('')) common.add(place)
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

interface Beside {
  readonly declared: unknown
  readonly declaredAsSent: unknown
  readonly path: FieldPath
}

function undeclaredFields({ stored, declared, declaredAsSent }: BodyPair, { schema, clearsBy }: KindWire): readonly UndeclaredField[] {
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
        // A field that a file declares as empty must stay empty, and what an update clears is not filled in.
        else if (ownValue(whole, key) === undefined && (path.length > 0 || clearsBy[key] === undefined)) {
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

const withoutFields = (stored: Body, paths: readonly FieldPath[]): Body =>
  paths.length === 0 ? stored : mapForms(stored, undefined, cutting, paths)

/** The paths are those below the value. */
const cutting: FormWalk<readonly FieldPath[]> = {
  into: (paths, key) => paths.filter(([first]) => first === key).map((path) => path.slice(1)),
  map({ map, beside: paths, inner }) {
    if (paths.length === 0) return map
    const ends = new Set(paths.flatMap((path) => (path.length === 1 ? path : [])))
    return Object.fromEntries(Object.keys(map).flatMap((key) => (ends.has(key) ? [] : [[key, inner(key)]])))
  },
}

// A word that a person may write for `true` is not an id.
const reference = /^(?!(?:yes|no|on|off)$)([\w.~-]{1,128})(?:@(\d{1,2}\.[0-9a-f]{10})\.([0-9a-f]{6}|files))?$/

const adoptedId = z.string().regex(reference, 'must be an id, or what pull or a message wrote')

/** Which existing object a file is about. The ids of several services make a list. */
export const adopt = z
  .union([z.literal(true), adoptedId, z.array(adoptedId).min(1).max(20)])
  .optional()
  .meta({
    description:
      'The existing object to manage: its id, or `true` for the one with this name. `pull` adds what the object was like, so that `apply` overwrites no later change.',
    accepts: 'true, an id, or a list with an id for each service',
    isLocal: true,
  })

/** An entry of `adopt`: an id, which says only which object is meant, and perhaps a base. */
export interface AdoptedId {
  readonly id: string
  /** The stored half of the base (see `entryBaseOf`). */
  readonly base?: string
  /** The digest of the declaration, or `files` where a person decided that the file counts. */
  readonly declared?: string
}

export const adoptedIds = (value: z.output<typeof adopt> | false): readonly AdoptedId[] =>
  [value ?? []].flat().flatMap((one): readonly AdoptedId[] => {
    const [, id, base, declared] = (typeof one === 'string' ? reference.exec(one) : undefined) ?? []
    if (id === undefined) return []
    return [base === undefined || declared === undefined ? { id } : { id, base, declared }]
  })

// The marker is a part of the base, so that the entry counts until the next write of the object.
const entryBaseOf = (kind: BasedKind, body: Body, desired: Body, stored: StoredObject) =>
  baseText([coveredAsDeclared(kind, body, desired), markerText(kind, stored)])

export const toAdoptedId = (kind: BasedKind, stored: StoredObject, desired: Body, declared: string): string =>
  `${stored.id}@${entryBaseOf(kind, kind.toBody(stored), desired, stored)}.${declared}`

/** Whether the object was as declared when it got this base, and had the marker that it still has: no run wrote it since. */
export const wasAsDeclared = (base: string | undefined, { kind, stored, declared }: CurrentObject, desired: Body): boolean =>
  base === entryBaseOf(kind, declared, desired, stored)

/** Replaces the digest `before` of the declaration by `after`, in the entry of `adopt` for this id. An entry with another digest stays. */
export function withDeclaredDigest(value: unknown, id: string, before: string, after: string): unknown {
  const replace = (text: unknown): unknown =>
    typeof text === 'string' && text.startsWith(`${id}@`) && text.endsWith(`.${before}`) ? `${text.slice(0, -before.length)}${after}` : text
  return Array.isArray(value) ? value.map(replace) : replace(value)
}

/** The value of `adopt` with this entry in place of the one for the same id. Entries of other services stay. */
export function withAdoptedId(value: unknown, entry: string): unknown {
  const idOf = (text: unknown) => String(text).split('@', 1)[0] ?? ''
  const entries: readonly unknown[] = [value].flat().filter((one) => typeof one === 'string')
  const index = entries.findIndex((one) => idOf(one) === idOf(entry))
  const after = index < 0 ? [...entries, entry] : entries.with(index, entry)
  return after.length > 1 || Array.isArray(value) ? after : entry
}

/** Digest of a declaration without the fields that only help to find an existing object. Markers have it, too. */
export function declarationDigest(value: Body): string {
  const { adopt: _, id: __, previousKey: ___, ...fields } = value
  return digestOf(fields)
}
