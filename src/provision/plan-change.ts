// What is to be done about one object. Pure.
import { type Action, type Change, type FieldChange, Pending } from './change.ts'
import { comparable, type Sides, unclearable } from './compose.ts'
import { type CommonValues, judgeStored, snapshotOf, unexplained } from './convergence.ts'
import type { Declared } from './declarations.ts'
import type { Directory } from './directory.ts'
import { leavesOf } from './field-diff.ts'
import type { Body, Kind } from './kinds/kind.ts'
import { digestOf } from './marker.ts'
import type { Marked, Pair } from './match.ts'
import { normalForm } from './normal-form.ts'

interface Circumstances {
  readonly kind: Kind
  readonly project: string
  readonly directory: Directory
  /** What the server fills in by itself, as all objects together show. */
  common(): CommonValues
}

/** `body` is what is desired, without a mark; `sides` are undefined for what does not exist yet. */
export function planChange({ declared, found, takeover }: Pair, body: Body, sides: Sides | undefined, around: Circumstances): Change {
  const { kind, project, directory } = around
  const { section, key, place } = declared
  const digest = declarationDigest(declared)
  const desired = kind.withMark(body, { project, key, digest })
  const common = { section, key, name: declared.value.name, place, desired, isAdopted: takeover !== undefined }
  if (found === undefined || sides === undefined)
    return { ...common, action: 'create', notes: [], fields: named(leavesOf(comparable(kind, desired)), directory) }
  const { fields, notes, newDefaults = [] } = compare({ found, digest, sides }, around)
  const kept = fields.length === 0 ? [] : unclearable(kind, normalForm(sides.stored, kind.schema) as Body, desired)
  const action = actionFor(fields.length > 0 || notes.length > 0, common.isAdopted)
  return {
    ...common,
    action,
    id: found.actual.id,
    actual: found.actual,
    origin: action === 'unchanged' || action === 'adopt' ? undefined : originOf(found, digest),
    notes: [...(takeover === undefined ? [] : [takeover]), ...notes],
    fields: named(fields, directory),
    ...(kept.length > 0 && { unclearable: kept }),
    ...(newDefaults.length > 0 && { newDefaults }),
  }
}

interface Compared {
  readonly fields: readonly FieldChange[]
  readonly notes: readonly string[]
  readonly newDefaults?: readonly FieldChange[]
}

interface Comparison {
  readonly found: Marked
  /** Of the declaration as it is now. */
  readonly digest: string
  readonly sides: Sides
}

function compare({ found: { actual, mark }, digest, sides }: Comparison, { kind, common }: Circumstances): Compared {
  const snapshot = mark === undefined ? undefined : kind.snapshotIn(kind.bodyOf(actual))?.digest
  if (snapshot !== undefined && snapshot === snapshotOf(sides)) return { fields: [], notes: [] }
  const differences = unexplained(kind, sides)
  const isAsApplied = mark?.digest === digest
  if (!isAsApplied || (snapshot === undefined && differences.length === 0)) return { fields: differences, notes: [] }
  const { fields, isUncertain, newDefaults } = judgeStored({ kind, sides, snapshot, common: common() })
  if (isUncertain)
    return { fields, notes: [fields.length > 1 ? changedAmong : fields.length === 0 ? changedElsewhere : ''].filter(Boolean) }
  return { fields, notes: [], newDefaults }
}

const changedAmong = 'at least one of these fields was changed since the last apply; the server may have filled in the others'

const changedElsewhere = 'a field that no file declares was changed since the last apply'

/** Of what a person wrote; how an existing object is found does not matter. */
export const declarationDigest = ({ value }: Declared): string => {
  const { adopt: _, id: __, previousKey: ___, ...fields } = value
  return digestOf(fields)
}

function actionFor(differs: boolean, isAdopted: boolean): Action {
  if (differs) return 'update'
  return isAdopted ? 'adopt' : 'unchanged'
}

const originOf = ({ mark }: Marked, digest: string): Change['origin'] =>
  mark === undefined ? undefined : mark.digest === digest ? 'service' : 'files'

export const planDelete = (section: Change['section'], { actual, mark }: Marked): Change => ({
  section,
  key: mark?.key ?? '',
  name: actual.name ?? '',
  action: 'delete',
  id: actual.id,
  actual,
  isAdopted: false,
  notes: [],
  fields: [],
})

const idFields = /(?:^|\.)(?:sourceId|webhookId|dashboardId|tileId|savedSearchId|appliesToSourceIds)$/

/** Ids are shown by the names that they stand for. */
const named = (fields: readonly FieldChange[], directory: Directory): readonly FieldChange[] =>
  fields.map((field) => {
    const { path, before, after } = field
    if (!idFields.test(path)) return field
    return {
      path: path.replace(/Ids?$/, ''),
      ...(before !== undefined && { before: toName(before, directory) }),
      ...(after !== undefined && { after: toName(after, directory) }),
    }
  })

function toName(value: unknown, directory: Directory): unknown {
  if (Array.isArray(value)) return value.map((item) => toName(item, directory))
  if (value instanceof Pending) return value.tile ?? value.key
  return directory.nameOf(value) ?? value
}
