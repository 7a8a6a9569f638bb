// Owns what is to be done about one object. Pure.
import { type Action, type Change, type FieldChange, Pending } from './change.ts'
import { compareBodies, unclearable } from './compose.ts'
import type { Declared } from './declarations.ts'
import type { Directory } from './directory.ts'
import { diffFields, leavesOf } from './field-diff.ts'
import type { Body, Kind } from './kinds/kind.ts'
import { digestOf } from './marker.ts'
import type { Marked, Pair } from './match.ts'

interface Circumstances {
  readonly kind: Kind
  readonly project: string
  readonly directory: Directory
}

/** `body` is what is desired, without a mark. */
export function planChange({ declared, found }: Pair, body: Body, around: Circumstances): Change {
  const { kind, project, directory } = around
  const { section, key, place } = declared
  const digest = declarationDigest(declared)
  const desired = kind.withMark(body, { project, key, digest })
  const common = { section, key, name: declared.value.name, place, desired, isAdopted: found !== undefined && found.mark === undefined }
  if (found === undefined) return { ...common, action: 'create', notes: [], fields: named(leavesOf(kind.comparable(desired)), directory) }
  const { before, after } = compareBodies(kind, desired, found.actual)
  const fields = diffFields(before, after)
  const kept = unclearable(kind, before, after)
  const action = actionFor(fields.length > 0, kept.length > 0, common.isAdopted)
  return {
    ...common,
    action,
    id: found.actual.id,
    actual: found.actual,
    origin: fields.length === 0 ? undefined : originOf(found, digest),
    notes: kept.length === 0 ? [] : [`no update can clear ${kept.join(', ')}, so it is deleted and created anew`],
    fields: named(fields, directory),
  }
}

/** Of what a person wrote; where it was found and by what name it is adopted does not matter. */
const declarationDigest = ({ value }: Declared): string => {
  const { adopt: _, id: __, ...fields } = value
  return digestOf(fields)
}

function actionFor(differs: boolean, mustBeReplaced: boolean, isAdopted: boolean): Action {
  if (mustBeReplaced) return 'replace'
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
