import type { Profile } from '../api/profiles.ts'
import { once } from '../core/concurrency.ts'
import type { Diagnostic } from '../core/diagnostics.ts'
import { pluralOf } from '../core/text.ts'
import { formatMoment } from '../report/format.ts'
import { undeclaredSilenceOf, withSilenceOf } from '../resources/alerts/schedule.ts'
import { addedFields, comparable, type FieldChange, findUnclearable, normalForm, type Sides, sidesOf } from '../resources/compare.ts'
import { dashboardType } from '../resources/dashboards/dashboard.ts'
import { createDirectory, type Directory } from '../resources/directory.ts'
import { digestOf } from '../resources/marker.ts'
import { PendingId } from '../resources/resolve.ts'
import {
  type AlertTarget,
  type Body,
  listOf,
  type ResolveContext,
  type ResolvedDeclaration,
  type ResourceType,
  type Section,
  sectionNouns,
} from '../resources/resource-type.ts'
import { createResourceTypes, type Declared, isOf } from '../resources/resource-types.ts'
import { type CommonValues, detectDrift, diffSides, findCommonValues, snapshotOf } from '../resources/snapshot.ts'
import type { Action, Change, Plan } from './change.ts'
import type { Declarations } from './declarations.ts'
import {
  type AdoptFrom,
  findDuplicateOrphans,
  type MarkedObject,
  type MatchResult,
  markedObjects,
  matchObjects,
  type Pair,
} from './match.ts'
import { protectAlerts } from './protect-alerts.ts'
import type { RemoteState } from './remote-state.ts'

export const guardRules = {
  'incomplete-list': 'A list of the service may be incomplete, and the plan would create or delete an object because of it.',
  'too-many-deletes': 'The plan would delete more objects than `max-deletes` allows.',
} as const

interface GuardSettings {
  readonly maxDeletes: number
}

function checkGuards(
  changes: readonly Change[],
  doubts: Readonly<Partial<Record<Section, string>>>,
  { maxDeletes }: GuardSettings,
): readonly Diagnostic[] {
  const doubtful = Object.entries(doubts).flatMap(([section, doubt]): Diagnostic[] => {
    const first = changes.find((change) => requiredLists(change).includes(section as Section))
    if (first === undefined) return []
    const message = `the list of ${pluralOf(sectionNouns[section as Section])} ${doubt}; nothing is created or deleted based on such a list`
    return [{ rule: 'incomplete-list', severity: 'error', location: first.location ?? { file: 'prune' }, message }]
  })
  const deletes = changes.filter(({ action }) => action === 'delete').length
  if (deletes <= maxDeletes) return doubtful
  const message = `${deletes} objects would be deleted, but max-deletes allows ${maxDeletes}; check the plan, then raise max-deletes`
  return [...doubtful, { rule: 'too-many-deletes', severity: 'error', location: { file: 'prune' }, message }]
}

/** The lists that must be complete for a change. A change that removes tiles needs every alert on them. */
function requiredLists({ section, action, removes }: Change): readonly Section[] {
  if (action === 'create') return [section]
  if (action === 'delete') return [section, 'alerts']
  return removes === undefined ? [] : ['alerts']
}

interface ChangeContext {
  readonly type: ResourceType
  readonly project: string
  readonly directory: Directory
  /** The values that the server fills in by itself, found by comparing all objects. */
  common(): CommonValues
}

/** Plans one object. `body` is the desired one without a marker; `sides` are undefined for an object that does not exist yet. */
function planChange({ declared, found, takeover }: Pair, body: Body, sides: Sides | undefined, around: ChangeContext): Change {
  const { type, project, directory } = around
  const { section, key, location } = declared
  const digest = declarationDigest(declared)
  const desired = type.withMarker(body, { project, key, digest })
  const common = { section, key, name: declared.value.name, location, desired, isAdopted: takeover !== undefined }
  if (found === undefined || sides === undefined)
    return {
      ...common,
      action: 'create',
      notes: [],
      fields: inFileOrder(named(addedFields(comparable(type, desired)), directory), desired),
    }
  const { fields, notes, newDefaults = [] } = compare({ found, digest, sides }, around)
  const kept = fields.length === 0 ? [] : findUnclearable(type, normalForm(sides.stored, type.schema) as Body, desired)
  const action = actionFor(fields.length > 0 || notes.length > 0, common.isAdopted)
  return {
    ...common,
    action,
    id: found.actual.id,
    actual: found.actual,
    origin: action === 'unchanged' || action === 'adopt' ? undefined : originOf(found, digest),
    notes: [...(takeover === undefined ? [] : [takeover]), ...notes],
    fields: inFileOrder(named(fields, directory), desired),
    ...(kept.length > 0 && { unclearable: kept }),
    ...(newDefaults.length > 0 && { newDefaults }),
  }
}

interface FieldComparison {
  readonly fields: readonly FieldChange[]
  readonly notes: readonly string[]
  readonly newDefaults?: readonly FieldChange[]
}

interface Comparison {
  readonly found: MarkedObject
  /** Of the declaration as it is now. */
  readonly digest: string
  readonly sides: Sides
}

function compare({ found: { actual, marker }, digest, sides }: Comparison, { type, common }: ChangeContext): FieldComparison {
  const snapshot = marker === undefined ? undefined : type.readSnapshot(type.toBody(actual))?.digest
  if (snapshot !== undefined && snapshot === snapshotOf(sides)) return { fields: [], notes: [] }
  const differences = diffSides(type, sides)
  const isAsApplied = marker?.digest === digest
  if (!isAsApplied || (snapshot === undefined && differences.length === 0)) return { fields: differences, notes: [] }
  const { fields, isUncertain, newDefaults } = detectDrift({ type, sides, snapshot, common: common() })
  if (isUncertain)
    return { fields, notes: [fields.length > 1 ? changedAmong : fields.length === 0 ? changedElsewhere : ''].filter(Boolean) }
  return { fields, notes: [], newDefaults }
}

const changedAmong = 'at least one of these fields was changed since the last apply; the server may have filled in the others'

const changedElsewhere = 'a field that no file declares was changed since the last apply'

/** Digest of the declaration without the fields that only help to find an existing object. */
const declarationDigest = ({ value }: Declared): string => {
  const { adopt: _, id: __, previousKey: ___, ...fields } = value
  return digestOf(fields)
}

function actionFor(differs: boolean, isAdopted: boolean): Action {
  if (differs) return 'update'
  return isAdopted ? 'adopt' : 'unchanged'
}

const originOf = ({ marker }: MarkedObject, digest: string): Change['origin'] =>
  marker === undefined ? undefined : marker.digest === digest ? 'service' : 'files'

const planDelete = (section: Change['section'], { actual, marker }: MarkedObject): Change => ({
  section,
  key: marker?.key ?? '',
  name: actual.name ?? '',
  action: 'delete',
  id: actual.id,
  actual,
  isAdopted: false,
  notes: [],
  fields: [],
})

const tileOfPath = /^tiles\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/

/** Lists the fields of tiles in the order of the file. The comparison has them in the order of their ids. */
function inFileOrder(fields: readonly FieldChange[], { tiles }: Body): readonly FieldChange[] {
  const names = listOf(tiles).map(({ name }) => `tiles[${JSON.stringify(name)}]`)
  const rankOf = ({ path }: FieldChange): number | undefined => {
    const tile = tileOfPath.exec(path)?.[0]
    if (tile === undefined) return undefined
    const index = names.indexOf(tile)
    return index < 0 ? names.length : index
  }
  const first = fields.findIndex((field) => rankOf(field) !== undefined)
  if (first < 0) return fields
  const [ofTiles, others] = [true, false].map((isOfTile) =>
    fields.slice(first).filter((field) => (rankOf(field) !== undefined) === isOfTile),
  )
  const sorted = (ofTiles ?? []).toSorted((a, b) => (rankOf(a) ?? 0) - (rankOf(b) ?? 0))
  return [...fields.slice(0, first), ...sorted, ...(others ?? [])]
}

const idFields = /(?:^|\.)(?:sourceId|webhookId|dashboardId|tileId|savedSearchId|appliesToSourceIds)$/

/** Shows names instead of ids. */
const named = (fields: readonly FieldChange[], directory: Directory): readonly FieldChange[] =>
  fields.map((field) => {
    const { path, before, after } = field
    if (!idFields.test(path)) return field
    return {
      path: path.replace(/Id(s?)$/, '$1'),
      ...(before !== undefined && { before: toName(before, directory) }),
      ...(after !== undefined && { after: toName(after, directory) }),
    }
  })

function toName(value: unknown, directory: Directory): unknown {
  if (Array.isArray(value)) return value.map((item) => toName(item, directory))
  if (value instanceof PendingId) return value.tile ?? value.key
  return directory.nameOf(value) ?? value
}

export interface PlanOptions extends GuardSettings {
  readonly project: string
  readonly adoptFrom?: AdoptFrom
  readonly profile: Profile
  readonly nowMs: number
  /** Whether the plan deletes objects with the project's marker that no file declares. */
  readonly prune: boolean
}

/** Compares declarations and remote state. Pure: it sends nothing, and the time is an option. */
export function planChanges(declarations: Pick<Declarations, 'objects'>, remote: RemoteState, options: PlanOptions): Plan {
  const types = createResourceTypes(options.profile, options.nowMs)
  const directory = createDirectory(remote)
  const ownsAnything = Object.values(types).some((type: ResourceType) =>
    markedObjects(type, remote[type.section]).some(({ marker }) => marker?.project === type.markerStyle.projectToken(options.project)),
  )
  const { objects } = declarations
  const planType = createPlanner({ ...options, remote, directory, ownsAnything })
  const tiles = new Map(remote.dashboards.map((one) => [one.id, listOf(one.tiles)]))
  const context: ResolveContext = {
    directory,
    savedSearches: new Map(),
    dashboards: new Map(),
    tilesOf: (id) => tiles.get(id) ?? [],
  }
  const savedSearches = planType(types.savedSearches, objects.filter(isOf('savedSearches')), context)
  const dashboards = planType(types.dashboards, objects.filter(isOf('dashboards')), context)
  const alerts = planType(types.alerts, objects.filter(isOf('alerts')), {
    ...context,
    savedSearches: alertTargets(savedSearches.changes),
    dashboards: alertTargets(dashboards.changes),
  })
  const parts = [savedSearches, dashboards, alerts]
  const copies = options.prune ? parts.flatMap(({ section, orphans }) => findDuplicateOrphans(orphans, types[section])) : []
  const deletes = options.prune ? parts.toReversed().flatMap(({ section, orphans }) => orphans.map((one) => planDelete(section, one))) : []
  const written = [...parts.flatMap(({ changes }) => changes), ...deletes]
  const losses = protectAlerts(written, remote.alerts, types.dashboards)
  const silences = alerts.changes.flatMap((change) => silenceNote(change, options.nowMs))
  const found = [...parts.flatMap(({ diagnostics }) => diagnostics), ...silences, ...copies, ...losses.diagnostics]
  return {
    project: options.project,
    changes: losses.changes.map((change) => keepSilence(change, options.nowMs)),
    orphans: options.prune ? [] : parts.flatMap(toOrphans),
    diagnostics: [...found, ...checkGuards(losses.changes, remote.doubts, options)],
    seen: { dashboards: remote.dashboards.length, savedSearches: remote.savedSearches.length, alerts: remote.alerts.length },
  }
}

interface TypePlan extends Pick<MatchResult, 'orphans'> {
  readonly section: Section
  readonly changes: readonly Change[]
  readonly diagnostics: readonly Diagnostic[]
}

interface PlannerOptions extends Pick<PlanOptions, 'project' | 'adoptFrom'> {
  readonly remote: RemoteState
  readonly directory: Directory
  readonly ownsAnything: boolean
}

interface ResolvedPair {
  readonly pair: Pair
  readonly desired: ResolvedDeclaration
  readonly sides: Sides | undefined
}

const createPlanner =
  ({ remote, directory, ...owner }: PlannerOptions) =>
  <D extends Declared>(type: ResourceType<D>, declared: readonly D[], context: ResolveContext): TypePlan => {
    const { pairs, orphans, diagnostics } = matchObjects({ ...owner, type, declared, actual: remote[type.section] })
    const compared = pairs.map((pair): ResolvedPair => {
      const desired = type.resolve(pair.declared, context)
      return { pair, desired, sides: pair.found && sidesOf(type, desired.body, pair.found.actual) }
    })
    const common = once(() => findCommonValues(type, compared.flatMap(unchangedDeclarations)))
    const changes = compared.map(({ pair, desired, sides }) => planChange(pair, desired.body, sides, { ...owner, type, directory, common }))
    return {
      section: type.section,
      orphans,
      changes,
      diagnostics: [
        ...diagnostics,
        ...compared.flatMap(({ desired }) => desired.diagnostics),
        ...changes.flatMap(cannotClear),
        ...serverDefaults(type, changes),
      ],
    }
  }

/** Objects whose declarations have not changed since they were applied. */
const unchangedDeclarations = ({ pair: { declared, found }, sides }: ResolvedPair): readonly Sides[] =>
  sides !== undefined && found?.marker?.digest === declarationDigest(declared) ? [sides] : []

export const convergenceRules = {
  'server-default': 'Since the last apply, the server fills in a field that no file declares, with the same value in all objects.',
  'cannot-clear': 'A field was removed from a file, but no update can clear it.',
} as const

function cannotClear({ section, key, location, unclearable = [] }: Change): readonly Diagnostic[] {
  if (unclearable.length === 0 || location === undefined) return []
  const message = `${section}.${key}: no update can clear ${unclearable.join(', ')}; declare the field again, or delete the object`
  return [{ rule: 'cannot-clear', severity: 'error', location, message }]
}

function serverDefaults({ noun }: ResourceType, changes: readonly Change[]): readonly Diagnostic[] {
  const [first, ...others] = changes.filter(({ newDefaults }) => newDefaults !== undefined)
  if (first?.location === undefined) return []
  const [field] = first.newDefaults ?? []
  const more = others.length === 0 ? '' : `, and ${others.length} more ${pluralOf(noun)}`
  const message = `${first.section}.${first.key}${more}: since the last apply, the server stores fields that no file declares, with the same value in all objects, such as ${field?.path}. They are treated as its defaults`
  return [{ rule: 'server-default', severity: 'note', location: first.location, message }]
}

export const silenceRules = {
  silenced: 'An alert is silenced: its evaluation starts at a time in the future that no file declares. apply keeps this time.',
} as const

function silenceNote({ section, key, location, actual, desired }: Change, nowMs: number): readonly Diagnostic[] {
  const untilMs = actual && desired && undeclaredSilenceOf(actual, desired, nowMs)
  if (untilMs === undefined || location === undefined) return []
  return [{ rule: 'silenced', severity: 'note', location, message: `${section}.${key}: silenced until ${formatMoment(untilMs)}` }]
}

/** A new alert in place of a deleted one is silenced as long as it. */
function keepSilence(change: Change, nowMs: number): Change {
  const { action, actual, desired } = change
  return action === 'replace' && actual && desired ? { ...change, desired: withSilenceOf(actual, desired, nowMs) } : change
}

/** The objects that alerts can watch, with the ids that they have and keep. */
const alertTargets = (changes: readonly Change[]): ReadonlyMap<string, AlertTarget> =>
  new Map(
    changes.map(({ key, section, id, desired = {}, actual }) => {
      const isDashboard = section === 'dashboards'
      const body = isDashboard && actual !== undefined ? dashboardType.carryOverIds(desired, dashboardType.toBody(actual)) : desired
      return [key, { id, tiles: listOf(body.tiles) }] as const
    }),
  )

const toOrphans = ({ section, orphans }: TypePlan): Plan['orphans'] =>
  orphans.map(({ actual, marker }) => ({ section, id: actual.id, name: actual.name ?? '', key: marker?.key ?? '' }))
