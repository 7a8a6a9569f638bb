import type { Profile } from '../../api/profiles.ts'
import { once } from '../../core/concurrency.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../core/diagnostics.ts'
import { isSame } from '../../core/equality.ts'
import { keysOf } from '../../core/keys.ts'
import { pluralOf, quote } from '../../core/text.ts'
import type { Declarations } from '../../declarations/declarations.ts'
import { formatMoment } from '../../report/format.ts'
import { undeclaredSilenceOf, withSilenceOf } from '../../resources/alerts/schedule.ts'
import { addedFields, comparable, type FieldChange, findUnclearable, normalForm, type Sides, sidesOf } from '../../resources/compare.ts'
import { createDirectory, type Directory, type Planned } from '../../resources/directory.ts'
import { digestOf, ownershipTest } from '../../resources/marker.ts'
import {
  type AlertTarget,
  type Body,
  listOf,
  type RemoteObject,
  type ResolveContext,
  type ResolvedDeclaration,
  type ResourceType,
  type SecretUse,
  secretRules,
} from '../../resources/resource-type.ts'
import { createResourceTypes, type Declared, isOf, type ResourceTypes } from '../../resources/resource-types.ts'
import type { ReadSecret } from '../../resources/secret.ts'
import { PendingId, type Section, sectionNames, sectionNouns } from '../../resources/section.ts'
import { type CommonValues, detectDrift, diffSides, findCommonValues, snapshotOf } from '../../resources/snapshot.ts'
import { type Action, type Change, isDifference, type Plan } from './change.ts'
import { adviseRepair, findTwins, type Moves, movesOf, planRepairs, type RepairCommand, type Twin } from './duplicates.ts'
import {
  type AdoptCommand,
  type AdoptFrom,
  findDuplicateOrphans,
  type MarkedObject,
  type MatchResult,
  markedObjects,
  matchObjects,
  matchRules,
  type OwnedByOther,
  type Pair,
  reportRenamedProject,
} from './match.ts'
import { findUser, protectAlerts } from './protect-alerts.ts'
import { type RemoteState, remoteObjects } from './remote-state.ts'
import { checkRepository, digestToStore, type OwnedObject, type RunRepository } from './repository.ts'
import { findServiceFields } from './sides.ts'

export const guardRules = {
  'incomplete-list': {
    severity: 'error',
    description: 'A list of the service may be incomplete, and the plan would create or delete an object because of it.',
  },
  'too-many-deletes': { severity: 'error', description: 'The plan would delete more objects than `max-deletes` allows.' },
} as const satisfies Rules

interface GuardSettings {
  readonly maxDeletes: number
}

function checkGuards(
  changes: readonly Change[],
  doubts: Readonly<Partial<Record<Section, string>>>,
  { maxDeletes }: GuardSettings,
): readonly Diagnostic[] {
  const doubtful = keysOf<Section>(doubts).flatMap((section): Diagnostic[] => {
    const first = changes.find((change) => requiredLists(change).includes(section))
    if (first === undefined) return []
    const message = `the list of ${pluralOf(sectionNouns[section])} ${doubts[section]}; nothing is created or deleted based on such a list`
    return [diagnosticOf(guardRules, 'incomplete-list', first.location ?? { file: 'prune' }, message)]
  })
  const deletes = changes.filter(({ action }) => action === 'delete').length
  if (deletes <= maxDeletes) return doubtful
  const message = `${deletes} objects would be deleted, but max-deletes allows ${maxDeletes}; check the plan, then raise max-deletes`
  return [...doubtful, diagnosticOf(guardRules, 'too-many-deletes', { file: 'prune' }, message)]
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
  readonly repository?: RunRepository | undefined
  /** Why an object is written that needs no change; undefined where it is not. */
  rewriteOf(body: Body): string | undefined
  readonly directory: Directory
  /** The values that the server fills in by itself, found by comparing all objects. */
  common(): CommonValues
}

/** Plans one object. `body` is the desired one without a marker; `sides` are undefined for an object that does not exist yet. */
function planChange({ declared, found, takeover }: Pair, body: Body, sides: Sides | undefined, around: ChangeContext): Change {
  const { type, project, directory } = around
  const rewrite = around.rewriteOf(body)
  const { section, key, location } = declared
  const digest = declarationDigest(declared)
  const { marker } = found ?? {}
  // An object of the previous project is taken over from its repository, too.
  const stored = ownershipTest(project, type.markerStyle)(marker) ? marker?.repository : undefined
  const repository = digestToStore(around.repository, stored)
  const desired = type.withMarker(body, { project, key, digest, repository })
  const common = { section, key, name: declared.value.name, location, desired, isAdopted: takeover !== undefined }
  if (found === undefined || sides === undefined)
    return {
      ...common,
      action: 'create',
      notes: [],
      fields: inFileOrder(named(addedFields(comparable(type, desired)), directory), desired),
    }
  const { fields, notes, newDefaults = [] } = compare({ found, digest, sides }, around)
  const kept = fields.length === 0 ? [] : findUnclearable(type, normalForm(sides.stored, type.schema), desired)
  const shown = inFileOrder(named(fields, directory), desired)
  const isSecret = ({ path }: FieldChange): boolean => type.secretFields?.some((field) => path.split(/[.[]/, 1)[0] === field) ?? false
  const isMarked = type.ownership === 'identity' || hasMarker(found, { digest, repository, stored })
  const needed = actionFor({ differs: fields.length > 0 || notes.length > 0, isAdopted: common.isAdopted, isMarked })
  const isRewritten = rewrite !== undefined && !isDifference({ action: needed }) && needed !== 'adopt'
  return {
    ...common,
    action: isRewritten ? 'update' : needed,
    id: found.actual.id,
    actual: found.actual,
    origin: isDifference({ action: needed }) && !fields.some(isSecret) ? originOf(found, digest) : undefined,
    notes: [...(takeover === undefined ? [] : [takeover]), ...notes, ...(isRewritten ? [rewrite] : [])],
    fields: shown,
    ...findServiceFields(declared, { marker, digest, fields: shown }),
    ...(kept.length > 0 && { unclearable: kept }),
    ...(newDefaults.length > 0 && { newDefaults }),
  }
}

interface FieldComparison {
  readonly fields: readonly FieldChange[]
  readonly notes: readonly string[]
  readonly newDefaults?: readonly FieldChange[]
}

interface ComparedObject {
  readonly found: MarkedObject
  /** Of the declaration as it is now. */
  readonly digest: string
  readonly sides: Sides
}

function compare({ found: { actual, marker }, digest, sides }: ComparedObject, { type, common }: ChangeContext): FieldComparison {
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
  const { adopt: _, id: __, previousKey: ___, ...fields }: Body = value
  return digestOf(fields)
}

function actionFor({ differs, isAdopted, isMarked }: Readonly<Record<'differs' | 'isAdopted' | 'isMarked', boolean>>): Action {
  if (differs) return 'update'
  if (isAdopted) return 'adopt'
  return isMarked ? 'unchanged' : 'mark'
}

const originOf = ({ marker }: MarkedObject, digest: string): Change['origin'] =>
  marker === undefined ? undefined : marker.digest === digest ? 'service' : 'files'

interface MarkerParts {
  readonly digest: string
  readonly repository: string | undefined
  /** The stored repository. */
  readonly stored: string | undefined
}

/** Whether a write would not change the marker. With an earlier digest, the next edit in the web app would count as one of the files. */
const hasMarker = ({ marker }: MarkedObject, { digest, repository, stored }: MarkerParts): boolean =>
  repository === stored && marker?.digest === digest

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

const idFields = /(?:^|\.)(?:sourceId|webhookId|dashboardId|tileId|savedSearchId|appliesToSourceIds|(?:log|trace|metric|session)SourceId)$/

/** Shows names instead of ids. */
const named = (fields: readonly FieldChange[], directory: Directory): readonly FieldChange[] =>
  fields.map((field) => {
    const { path, before, after } = field
    if (!idFields.test(path)) return field
    const names = [before, after].map((value) => toName(value, directory))
    // Two objects of one name, such as a dashboard that is created again.
    const [old, now] = isSame(names[0], names[1]) ? [before, after].map((value) => toNameWithId(value, directory)) : names
    return {
      path: path.replace(/Id(s?)$/, '$1'),
      ...(before !== undefined && { before: old }),
      ...(after !== undefined && { after: now }),
    }
  })

function toName(value: unknown, directory: Directory): unknown {
  if (Array.isArray(value)) return value.map((item) => toName(item, directory))
  if (value instanceof PendingId) return value.tile ?? value.key
  return directory.nameOf(value) ?? value
}

function toNameWithId(value: unknown, directory: Directory): unknown {
  if (Array.isArray(value)) return value.map((item) => toNameWithId(item, directory))
  const name = toName(value, directory)
  if (value instanceof PendingId) return `${name} (new)`
  return name === value ? value : `${name} (${value})`
}

export interface PlanOptions extends GuardSettings {
  readonly project: string
  readonly adoptFrom?: AdoptFrom
  /** Undefined for a plan that neither writes nor warns. */
  readonly repository?: RunRepository
  readonly profile: Profile
  readonly nowMs: number
  /** Whether the plan deletes objects with the project's marker that no file declares. */
  readonly prune: boolean
  /** Whether the plan repairs objects that exist twice. */
  readonly repairDuplicates?: boolean
  readonly repairCommand?: RepairCommand
  readonly adoptCommand?: AdoptCommand
  /** Whether the plan updates dashboards and saved searches that need no change. */
  readonly rewrite?: boolean
  /** Whether the plan sends the secrets of webhooks that need no change. */
  readonly resendSecrets?: boolean
  /** Whether the plan is for a run that writes, which needs the secrets of new objects. */
  readonly isWrite?: boolean
  /** Secrets of this run. Without them, secrets are not compared. */
  readonly secret?: ReadSecret
}

/** Compares declarations and remote state. Pure: it sends nothing, and the time is an option. */
export function planChanges(declarations: Pick<Declarations, 'objects'>, remote: RemoteState, options: PlanOptions): Plan {
  const types = createResourceTypes(options.profile, options.nowMs)
  const all: readonly ResourceType[] = Object.values(types)
  const owned = all.flatMap((type) => {
    const isOwned = ownershipTest(options.project, type.markerStyle)
    return markedObjects(type, remoteObjects(remote, type.section)).flatMap((one) => (isOwned(one.marker) ? [{ ...one, type }] : []))
  })
  const { objects } = declarations
  const planType = createPlanner({ ...options, remote, ownsAnything: owned.length > 0 })
  const tiles = new Map(remote.dashboards.map((one) => [one.id, listOf(one.tiles)]))
  const targets = new Map<Section, ReadonlyMap<string, AlertTarget>>()
  const targetsIn = (section: Section): ReadonlyMap<string, AlertTarget> => targets.get(section) ?? new Map()
  let directory = createDirectory(remote)
  // Of what alerts watch.
  const twins: Twin[] = []
  const parts = all.map((type) => {
    const context = {
      directory,
      secret: options.secret ?? (() => undefined),
      sources: remote.sources,
      dashboards: targetsIn('dashboards'),
      savedSearches: targetsIn('savedSearches'),
      tilesOf: (id: string) => tiles.get(id) ?? [],
    }
    const part = planType(type, objects.filter(isOf(type.section)), context, movesOf(twins, remote.alerts, types.alerts))
    if (type.section !== 'alerts') twins.push(...part.twins)
    targets.set(type.section, alertTargets(part.changes, type))
    directory = part.directory
    return part
  })
  const copies = options.prune ? parts.flatMap(({ section, orphans }) => findDuplicateOrphans(orphans, types[section])) : []
  const deletes = options.prune ? parts.toReversed().flatMap(({ section, orphans }) => orphans.map((one) => planDelete(section, one))) : []
  const repairs = planRepairs({
    types,
    twins: parts.map(({ section, twins }) => ({ type: types[section], twins })),
    alerts: remote.alerts,
    planned: new Set(parts.flatMap(({ section, changes }) => (section === 'alerts' ? changes.map(({ id }) => id) : []))),
    moves: movesOf(twins, remote.alerts, types.alerts),
  })
  // Of each section together: the writes of one section begin after those of the one before it.
  const writes = parts.flatMap(({ section, changes }) => [...changes, ...repairs.writes.filter((one) => one.section === section)])
  const written = [...writes, ...[...repairs.deletes, ...deletes].toSorted((a, b) => deleteOrder(a) - deleteOrder(b))]
  const losses = protectAlerts(written, remote.alerts, types.dashboards)
  const changes = parts.flatMap((part) => part.changes)
  const silences = changes.flatMap((change) => silenceNote(change, options.nowMs))
  const reported = parts.flatMap(({ diagnostics }) => diagnostics)
  const isDoubled = reported.some(({ rule }) => rule === 'duplicate-marker')
  const advice = isDoubled ? adviseRepair(options.repairCommand, countTwins(owned)) : []
  const renamed = reportRenamedProject(
    parts.flatMap(({ ownedByOthers }) => ownedByOthers),
    options,
  )
  // Nothing else of the plan would happen, and its other diagnostics follow from the name of the project.
  if (renamed.length > 0) return { project: options.project, changes: [], orphans: [], diagnostics: renamed, seen: {} }
  const found = [...reported, ...advice, ...silences, ...copies, ...losses.diagnostics]
  return {
    project: options.project,
    changes: losses.changes.map((change) => keepSilence(change, options.nowMs)),
    orphans: options.prune ? [] : parts.flatMap(toOrphans),
    diagnostics: [
      ...found,
      ...checkRepository(options.repository, owned),
      ...checkUses(losses.changes, remote.alerts, types),
      ...checkGuards(losses.changes, remote.doubts, options),
    ],
    unmanaged: countUnmanaged(types, remote, losses.changes),
    seen: Object.fromEntries(sectionNames.map((section) => [section, remoteObjects(remote, section).length])),
  }
}

interface TypePlan extends Pick<MatchResult, 'orphans'> {
  /** With the objects of this type as they are after the plan. */
  readonly directory: Directory
  readonly section: Section
  /** With `repairDuplicates`: the objects that are not kept. */
  readonly twins: readonly Twin[]
  readonly ownedByOthers: readonly OwnedByOther[]
  readonly changes: readonly Change[]
  readonly diagnostics: readonly Diagnostic[]
}

interface PlannerOptions
  extends Pick<PlanOptions, 'project' | 'adoptFrom' | 'repository' | 'repairDuplicates' | 'rewrite' | 'resendSecrets' | 'isWrite'> {
  readonly remote: RemoteState
  readonly ownsAnything: boolean
}

interface ResolvedPair {
  readonly pair: Pair
  readonly desired: ResolvedDeclaration
  readonly sides: Sides | undefined
}

const createPlanner =
  ({ remote, rewrite = false, resendSecrets = false, isWrite = false, repairDuplicates = false, ...owner }: PlannerOptions) =>
  <D extends Declared>(type: ResourceType<D>, declared: readonly D[], given: ResolveContext, moves: Moves): TypePlan => {
    const all = remoteObjects(remote, type.section)
    const twins = repairDuplicates ? findTwins({ ...owner, type, declared, actual: all, context: given, moves }) : []
    const left = new Set(twins.map(({ actual }) => actual.id))
    const actual = left.size === 0 ? all : all.filter(({ id }) => !left.has(id))
    const { pairs, orphans, diagnostics } = matchObjects({ ...owner, type, declared, actual })
    const directory =
      type.referredToAs === undefined ? given.directory : given.directory.withPlanned(type.referredToAs, pairs.map(toPlanned))
    const context = { ...given, directory }
    const compared = pairs.map((pair): ResolvedPair => {
      const desired = type.resolve(pair.declared, context)
      return { pair, desired, sides: pair.found && sidesOf(type, desired.body, pair.found.actual) }
    })
    const common = once(() => findCommonValues(type, compared.flatMap(unchangedDeclarations)))
    const rewriteOf = (body: Body): string | undefined => {
      if (rewrite && type.canRewrite) return 'written again without a difference'
      return resendSecrets && type.secretFields?.some((field) => body[field] !== undefined) ? 'its secrets are sent again' : undefined
    }
    const around = { ...owner, type, directory, common, rewriteOf }
    const changes = compared.map(({ pair, desired, sides }) => planChange(pair, desired.body, sides, around))
    const reviewed = compared.flatMap(({ pair, desired }, i) => {
      const { isAdopted = false, action } = changes[i] ?? {}
      const resends = resendSecrets && action === 'update'
      return reviewSecrets(pair, desired.body, type, { isWrite, resends, isAdopted })
    })
    return {
      section: type.section,
      twins,
      ownedByOthers: pairs.flatMap(({ declared: one, ofOther }) =>
        ofOther === undefined ? [] : [{ declared: one, type, found: ofOther }],
      ),
      orphans,
      changes,
      directory,
      diagnostics: [
        ...diagnostics,
        ...compared.flatMap(({ desired }) => desired.diagnostics),
        ...reviewed,
        ...changes.flatMap(cannotClear),
        ...pairs.flatMap((pair, i) => refuseUnadopted(pair, changes[i], type)),
        ...serverDefaults(type, changes),
      ],
    }
  }

/** A declared object as the directory after the plan has it. */
const toPlanned = ({ declared, found }: Pair): Planned => ({
  id: found?.actual.id ?? new PendingId(declared.section, declared.key),
  name: declared.value.name,
  kind: 'kind' in declared.value ? declared.value.kind : undefined,
  actual: found?.actual,
})

function reviewSecrets({ declared, found }: Pair, body: Body, type: ResourceType, use: SecretUse): readonly Diagnostic[] {
  const { section, key, location } = declared
  const issues = type.reviewSecrets?.(body, found?.actual, use) ?? []
  return issues.map(({ rule, message }) => diagnosticOf(secretRules, rule, location, `${section}.${key}: ${message}`))
}

/** Without a marker, it is unknown who made an object. A create that was interrupted is completed. */
function refuseUnadopted({ declared }: Pair, change: Change | undefined, type: ResourceType): readonly Diagnostic[] {
  if (type.ownership === 'marker' || change?.action !== 'update' || change.actual === undefined) return []
  const { section, key, location, value } = declared
  if (value.adopt || value.id !== undefined) return []
  const deferred = type.deferredFields?.(change.desired ?? {}) ?? []
  const isAdded = ({ before, path }: FieldChange): boolean =>
    before === undefined && deferred.some((field) => path === field.replace(/Id$/, ''))
  if (change.fields.every(isAdded)) return []
  const message = `${section}.${key}: the ${type.noun} "${quote(value.name, 60)}" (${change.id}) differs from the files. Its API has no field for a marker, so it may not be yours: add adopt: true to let apply change it`
  return [diagnosticOf(matchRules, 'not-adopted', location, message)]
}

export const useRules = {
  'still-used': { severity: 'error', description: 'The plan would delete or rename an object that an alert uses.' },
} as const satisfies Rules

/** Alerts that use an object before the plan, and could not use it after it. The server checks only some of these uses. */
function checkUses(changes: readonly Change[], alerts: readonly RemoteObject[], types: ResourceTypes): readonly Diagnostic[] {
  const ending = changes.filter(({ action, section, actual }) => actual !== undefined && action !== 'unchanged' && types[section].findUse)
  if (ending.length === 0) return []
  const after = alertsAfter(changes, alerts)
  return ending.flatMap((change) => {
    const obstacle = findUser(change, after, types[change.section])
    if (obstacle === undefined) return []
    const message = `${nameOf(change)}: ${obstacle}; change the alert first`
    return [diagnosticOf(useRules, 'still-used', change.location ?? { file: 'prune' }, message)]
  })
}

/** The alerts after the plan. */
function alertsAfter(changes: readonly Change[], alerts: readonly RemoteObject[]): readonly RemoteObject[] {
  const planned = new Map(changes.filter(({ section }) => section === 'alerts').map((change) => [change.id, change]))
  return alerts.flatMap((alert) => {
    const change = planned.get(alert.id)
    if (change?.action === 'delete') return []
    return [change?.desired === undefined || change.action === 'unchanged' ? alert : { ...change.desired, id: alert.id, name: alert.name }]
  })
}

const nameOf = ({ section, key, name }: Change): string => `${section}.${key || name}`

/** Objects whose declarations have not changed since they were applied. */
const unchangedDeclarations = ({ pair: { declared, found }, sides }: ResolvedPair): readonly Sides[] =>
  sides !== undefined && found?.marker?.digest === declarationDigest(declared) ? [sides] : []

export const convergenceRules = {
  'server-default': {
    severity: 'note',
    description: 'Since the last apply, the server fills in a field that no file declares, with the same value in all objects.',
  },
  'cannot-clear': { severity: 'error', description: 'A field was removed from a file, but no update can clear it.' },
} as const satisfies Rules

function cannotClear({ section, key, location, unclearable = [] }: Change): readonly Diagnostic[] {
  if (unclearable.length === 0 || location === undefined) return []
  const message = `${section}.${key}: no update can clear ${unclearable.join(', ')}; declare the field again, or delete the object`
  return [diagnosticOf(convergenceRules, 'cannot-clear', location, message)]
}

function serverDefaults({ noun }: ResourceType, changes: readonly Change[]): readonly Diagnostic[] {
  const [first, ...others] = changes.filter(({ newDefaults }) => newDefaults !== undefined)
  if (first?.location === undefined) return []
  const [field] = first.newDefaults ?? []
  const more = others.length === 0 ? '' : `, and ${others.length} more ${pluralOf(noun)}`
  const message = `${first.section}.${first.key}${more}: since the last apply, the server stores fields that no file declares, with the same value in all objects, such as ${field?.path}. They are treated as its defaults`
  return [diagnosticOf(convergenceRules, 'server-default', first.location, message)]
}

export const silenceRules = {
  silenced: {
    severity: 'note',
    description: 'An alert is silenced: its evaluation starts at a time in the future that no file declares. apply keeps this time.',
  },
} as const satisfies Rules

function silenceNote({ section, key, location, actual, desired }: Change, nowMs: number): readonly Diagnostic[] {
  const untilMs = actual && desired && undeclaredSilenceOf(actual, desired, nowMs)
  if (untilMs === undefined || location === undefined) return []
  return [diagnosticOf(silenceRules, 'silenced', location, `${section}.${key}: silenced until ${formatMoment(untilMs)}`)]
}

/** A new alert in place of a deleted one is silenced as long as it. */
function keepSilence(change: Change, nowMs: number): Change {
  const { action, actual, desired } = change
  return action === 'replace' && actual && desired ? { ...change, desired: withSilenceOf(actual, desired, nowMs) } : change
}

function countUnmanaged(types: ResourceTypes, remote: RemoteState, changes: readonly Change[]): NonNullable<Plan['unmanaged']> {
  const declared = new Set(changes.filter(({ key }) => key !== '').map(({ section, id }) => `${section} ${id}`))
  const all: readonly ResourceType[] = Object.values(types)
  // Without markers, it is unknown whose an object is.
  const marked = all.filter(({ ownership }) => ownership === 'marker')
  const counts = marked.map((type) => {
    const { section } = type
    const isUnmanaged = (one: RemoteObject): boolean =>
      type.readMarker(type.toBody(one)) === undefined && !declared.has(`${section} ${one.id}`)
    return [section, remoteObjects(remote, section).filter(isUnmanaged).length] as const
  })
  return Object.fromEntries(counts)
}

/** Alerts before what they watch. */
const deleteOrder = ({ section }: Change): number => (section === 'alerts' ? 0 : section === 'dashboards' ? 1 : 2)

/** How many objects share a marker with another one, without one of each. */
const countTwins = (owned: readonly OwnedObject[]): number =>
  owned.length - new Set(owned.map(({ type, marker }) => `${type.noun} ${marker?.token}`)).size

/** The objects that alerts can watch, with the ids that they have and keep. */
const alertTargets = (changes: readonly Change[], type: ResourceType): ReadonlyMap<string, AlertTarget> =>
  new Map(
    changes.map(({ key, id, desired = {}, actual }) => {
      const body = actual === undefined ? desired : type.carryOverIds(desired, type.toBody(actual))
      return [key, { id, tiles: listOf(body.tiles) }] as const
    }),
  )

const toOrphans = ({ section, orphans }: TypePlan): Plan['orphans'] =>
  orphans.map(({ actual, marker }) => ({ section, id: actual.id, name: actual.name ?? '', key: marker?.key ?? '' }))
