import { type FieldChange, isFields } from '../../resources/compare.ts'
import { digestOf } from '../../resources/marker.ts'
import type { Body } from '../../resources/resource-type.ts'
import type { Declared } from '../../resources/resource-types.ts'
import type { Change } from './change.ts'

interface Compared {
  readonly marker: { readonly digest: string } | undefined
  /** Of the declaration as it is now. */
  readonly digest: string
  readonly fields: readonly FieldChange[]
}

/** The marker has 24 bits of the digest: 64 attempts find a wrong declaration by chance in one of 260,000 cases. */
const maxFields = 6

/**
 * The fields that the service changed since the last apply, of an object whose declaration changed, too. The declaration of the last apply is
 * not stored, but its digest is. If the service did not change a field, the stored value is the one that was declared. So each set of
 * fields is tried as those that the files changed. Empty without a proof: where both sides changed one field, its former value is unknown.
 */
export function findServiceFields(
  { value }: Pick<Declared, 'value'>,
  { marker, digest, fields }: Compared,
): Pick<Change, 'changedInService'> {
  if (marker === undefined || marker.digest === digest || fields.length < 2 || fields.length > maxFields) return {}
  const { adopt: _, id: __, previousKey: ___, ...declared }: Body = value
  // From all fields down to one, because most changes are those of the files.
  for (let set = 2 ** fields.length - 1; set > 0; set--) {
    const ofFiles = fields.filter((_field, i) => (set >> i) % 2 === 1)
    const former = ofFiles.reduce((body, field) => withField(body, parsePath(field.path), field.before), declared)
    if (digestOf(former) === marker.digest) {
      const others = fields.filter((field) => !ofFiles.includes(field))
      return others.length === 0 ? {} : { changedInService: others.map(({ path }) => path) }
    }
  }
  return {}
}

type Segment = { readonly field: string } | { readonly item: string | number }

/** `tiles["Error rate"].config.where`. */
const parsePath = (path: string): readonly Segment[] =>
  [...path.matchAll(/\[("(?:[^"\\]|\\.)*"|\d+)\]|([^.[\]]+)/g)].map(([, item, field = '']) =>
    item === undefined ? { field } : { item: item.startsWith('"') ? String(JSON.parse(item)) : Number(item) },
  )

/** A copy with another value at the path; undefined removes a field. A path that is not there changes nothing. */
function withField(value: Body, path: readonly Segment[], to: unknown): Body
function withField(value: unknown, path: readonly Segment[], to: unknown): unknown
function withField(value: unknown, [first, ...rest]: readonly Segment[], to: unknown): unknown {
  if (first === undefined) return to
  if ('item' in first) {
    if (!Array.isArray(value)) return value
    const { item } = first
    return value.map((one: unknown, i) =>
      (typeof item === 'number' ? i === item : isFields(one) && one.name === item) ? withField(one, rest, to) : one,
    )
  }
  if (!isFields(value)) return value
  const { [first.field]: current, ...others } = value
  const next = withField(current, rest, to)
  return next === undefined ? others : { ...others, [first.field]: next }
}
