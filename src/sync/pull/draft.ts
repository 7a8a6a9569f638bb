import type { Profile } from '../../api/profiles.ts'
import { credentialIn } from '../../core/credentials.ts'
import type { Location } from '../../core/diagnostics.ts'
import { keysOf, withoutUndefined } from '../../core/keys.ts'
import type { Declarations } from '../../declarations/declarations.ts'
import { abilitiesOf } from '../../declarations/find-declarations.ts'
import { overriddenFields } from '../../declarations/merge-fields.ts'
import { readDocument } from '../../documents/document.ts'
import { interpolate, newRoom } from '../../documents/expressions.ts'
import { ownValue } from '../../documents/schema.ts'
import { schemaDiagnostics } from '../../documents/validate.ts'
import { displayTypeOf } from '../../kinds/alert/alert.ts'
import { type AlertQuery, projectDashboard, toTileConfig } from '../../kinds/alert-query.ts'
import { type FieldChange, managedPart } from '../../kinds/compare.ts'
import { declaresNoTiles } from '../../kinds/dashboard/dashboard-file.ts'
import { createDirectory } from '../../kinds/directory.ts'
import { type Body, type DeclaredKey, type FileContext, type Kind, listOf, type StoredObject, storedLabelOf } from '../../kinds/kind.ts'
import { addressOf, type KindName } from '../../kinds/kind-names.ts'
import { createKinds, type Declared, fileSchemas, type Kinds } from '../../kinds/kinds.ts'
import { withoutMarkerTags } from '../../kinds/marker.ts'
import { secretTextsIn } from '../../kinds/secret.ts'
import type { NamedEnvironment } from '../../operation/operation.ts'
import { type Condition, isSelected, type Selectable, valuesOf } from '../../operation/select.ts'
import { type Change, changesOf, isDifference, type Plan } from '../plan/change.ts'
import { changesInFiles } from '../plan/query-changes.ts'
import type { StoredObjects } from '../plan/stored-objects.ts'
import { type Edit, editFile } from './edit-yaml.ts'
import { createPlacement, type NewObject, type SelectedObject, selectObjects } from './select.ts'
import { isEqual, type Sides } from './splice-yaml.ts'
import { writeNewFile } from './write-yaml.ts'

export interface DraftInput {
  readonly declarations: Pick<Declarations, 'objects' | 'broken'>
  readonly plan: Pick<Plan, 'project' | 'changes'>
  readonly storedObjects: StoredObjects
  readonly profile: Profile
  readonly nowMs: number
  readonly globs: readonly string[]
  /**
   * `declared`: objects that no file declares stay out. `drifted`: also those that did not change in the service, or whose declarations did.
   * No expression is replaced then.
   */
  readonly only?: 'declared' | 'drifted' | undefined
  /** Whether declarations of objects that the service does not have are removed. */
  readonly prune: boolean
  /** Which objects. Without it, what the files declare, and the other objects of kinds that need no request. */
  readonly select?: readonly Condition[] | undefined
  /** The files that exist, by path. */
  readonly texts: ReadonlyMap<string, string>
  readonly variable: (name: string) => string | undefined
  readonly environment?: NamedEnvironment | undefined
  /** Objects to leave out, by `identityOf`, with the reason. */
  readonly excluded: ReadonlyMap<string, string>
}

/** An object that the service does not have has no tags. */
const passes = ({ stored, ...one }: Selectable & { readonly stored?: StoredObject | undefined }, select: DraftInput['select']): boolean =>
  isSelected(select, {
    ...one,
    name: stored === undefined ? one.name : storedLabelOf(stored),
    tags: withoutMarkerTags(stored?.tags),
  })

/** The files after a pull, before anything is written. */
export interface Draft {
  /** New and changed files only. */
  readonly files: readonly DraftedFile[]
  readonly objects: readonly PulledObject[]
}

export interface DraftedFile {
  readonly path: string
  /** Undefined for a new file. */
  readonly before: string | undefined
  readonly after: string
}

export const pullOutcomes = [
  'added',
  'updated',
  'removed',
  'unchanged',
  'changed-in-files',
  'missing',
  'other-project',
  'left-out',
  'not-exportable',
] as const

export interface PulledObject {
  readonly kind: KindName
  /** Empty for an object that is in no file. */
  readonly key: string
  readonly name: string
  /** Undefined for an object that the service does not have. */
  readonly id?: string | undefined
  readonly outcome: (typeof pullOutcomes)[number]
  /** Undefined for an object that is in no file. */
  readonly path?: string | undefined
  /** The reason for leaving it out. */
  readonly reason?: string | undefined
  /** Expressions of the file that a value of the service replaced. */
  readonly replacedExpressions?: readonly string[] | undefined
  /** Fields that the environment overrides and the service has with another value. The files stay as they are there. */
  readonly overridden?: readonly OverriddenField[]
  /** The fields of an updated object that differ, as a plan shows them. */
  readonly fields?: readonly FieldChange[]
  /** The fields that the service has with another value, for an object of a file with instances, which is never edited. */
  readonly instantiated?: { readonly location: Location; readonly differing: readonly OverriddenField[] }
}

export interface OverriddenField {
  readonly field: string
  /** The value in the service. */
  readonly value: unknown
}

export const identityOf = (kind: KindName, id: string): string => `${kind} ${id}`

/** Identifies an object that the service does not have. */
export const removalOf = ({ kind, key }: Pick<DeclaredKey, 'kind' | 'key'>): string => `${kind} without an id: ${key}`

/** Drafts the files after a pull. Pure: it reads and writes no files. */
export function draftPull(input: DraftInput): Draft {
  const { declarations, plan, storedObjects, profile, select } = input
  const kinds = createKinds(profile, input.nowMs)
  const tiles = new Map(storedObjects.dashboard.map((one) => [one.id, one.tiles]))
  const keys = new Map(plan.changes.flatMap(({ kind, id, key }) => (id === undefined ? [] : [[identityOf(kind, id), key] as const])))
  const withoutTiles = declarations.objects.filter(({ kind, written }) => kind === 'dashboard' && declaresNoTiles(written))
  const forQueries = new Set([projectDashboard, ...withoutTiles.map(({ key }) => key)])
  let queryTiles: ReadonlySet<unknown> = new Set()
  const context: DraftContext = {
    explainSecret: createSecretFinder(input),
    kinds,
    directory: createDirectory(storedObjects),
    sources: storedObjects.source,
    keyOf: (kind, id) => keys.get(identityOf(kind, String(id))),
    tilesOf: (id) => tiles.get(String(id)) ?? [],
    isForQueries: (id, tileId) => forQueries.has(keys.get(identityOf('dashboard', String(id))) ?? '') || queryTiles.has(tileId),
    isQueryTile: ({ id }) => queryTiles.has(id),
    declaredTiles: declaredTiles(kinds, plan),
  }
  const wanted = valuesOf(select, 'kind')
  const isAdded = ({ name, file }: Kind): boolean =>
    input.only === undefined && abilitiesOf(profile).kinds.has(name) && (wanted?.includes(name) ?? file.isOnRequest === undefined)
  const others = keysOf<KindName>(kinds)
    .map((name): Kind => kinds[name])
    .filter(isAdded)
    .flatMap((kind) => selectObjects(kind, input))
    // An object that is left out has no key.
    .filter((one) => passes({ key: '', ...one, name: storedLabelOf(one.stored) }, select))
  queryTiles = findQueryTiles(others, context, input)
  const placeOf = createPlaces(kinds, input)
  const added = others.map((one): Drafted => {
    if (!('key' in one)) return outside(one, one)
    const drafted = draftNew(one, placeOf, context, input.excluded)
    // Objects of the kinds after it can refer to it by its key.
    if (drafted.edit !== undefined) keys.set(identityOf(one.kind, one.stored.id), one.key)
    return drafted
  })
  const declared = new Map(declarations.objects.map((one) => [addressOf(one), one]))
  const existing = [...changesInFiles(plan, declarations.objects).values()].flatMap((change) => {
    const one = declared.get(addressOf(change))
    return one === undefined || !passes(change, select) ? [] : [draftExisting(one, change, context, input)]
  })
  return draftFiles([...existing, ...added], kinds, input)
}

/** The tiles of new alerts of this project that were applied as queries, where a file can have them so. */
function findQueryTiles(
  others: readonly SelectedObject[],
  context: DraftContext,
  { excluded }: Pick<DraftInput, 'excluded'>,
): ReadonlySet<unknown> {
  const added = others.flatMap((one) => ('key' in one && !excluded.has(identityOf(one.kind, one.stored.id)) ? [one] : []))
  const keys = new Map(added.map(({ kind, key, stored }) => [identityOf(kind, stored.id), key]))
  const keyOf: DraftContext['keyOf'] = (kind, id) => context.keyOf(kind, id) ?? keys.get(identityOf(kind, String(id)))
  // A person who renames the tile, or makes it another chart, means it as a tile.
  const isQuery = (one: NewObject): boolean => {
    const { kind, key, stored } = one
    const { queryTile } = context.kinds[kind].readMarker(context.kinds[kind].toBody(stored)) ?? {}
    const tile = context.tilesOf(stored.dashboardId).find(({ id }) => id === queryTile && id === stored.tileId)
    const name = stored.name || key
    if (tile === undefined || ![name, `${name} (${key})`].includes(String(tile.name))) return false
    const fields = spellNew(one, { ...context, keyOf, isForQueries: () => true })
    if (typeof (fields.dashboard ?? '') !== 'string' || explainUnwritable(fields, kind) !== undefined) return false
    // The fields are those of a file.
    return toTileConfig(fields.query as AlertQuery).displayType === displayTypeOf(tile) && context.explainSecret(fields) === undefined
  }
  return new Set(added.filter(isQuery).map(({ stored }) => stored.tileId))
}

interface Drafted {
  readonly object: PulledObject
  /** Absent when the files stay as they are. */
  readonly edit?: Edit
}

const whyShared = 'the file uses an anchor or alias here, and pull does not edit it; change the file, or run apply'

interface DraftContext extends Pick<FileContext, 'directory' | 'sources' | 'keyOf' | 'tilesOf' | 'isForQueries'> {
  readonly kinds: Kinds
  /** The tiles of declared dashboards by the id of the dashboard, with the names of the files. */
  readonly declaredTiles: ReadonlyMap<unknown, readonly Body[]>
  /** Whether the tile is the query of a new alert. */
  isQueryTile(tile: Body): boolean
  /** Explains why these fields must not get into a file; undefined when they may. What the file has already is not new. */
  explainSecret(fields: Body, inFile?: Body): string | undefined
}

/** A person can type a secret into any text of the service. A file that is changed without a person gets nothing that looks like one. */
function createSecretFinder({ storedObjects, only }: Pick<DraftInput, 'storedObjects' | 'only'>): DraftContext['explainSecret'] {
  // A webhook with a short path has its secret elsewhere, and other URLs can have the same path.
  const paths = secretTextsIn(storedObjects.webhook).filter(({ length }) => length >= 16)
  const explain = (text: string): string | undefined => {
    if (paths.some((path) => text.includes(path))) return 'it has the URL of a webhook, which is a secret'
    const kind = only === 'drifted' ? credentialIn(text) : undefined
    return kind === undefined ? undefined : `it seems to have ${kind}`
  }
  return (fields, inFile = {}) => {
    const known = new Set(textsIn(inFile))
    const [reason] = textsIn(fields).flatMap((text) => (known.has(text) ? [] : (explain(text) ?? [])))
    return reason === undefined ? undefined : `${reason}; remove it from the service`
  }
}

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const declaredTiles = ({ dashboard }: Kinds, plan: Pick<Plan, 'changes'>): DraftContext['declaredTiles'] =>
  new Map(
    changesOf(plan, 'dashboard').flatMap(({ desired, stored }) =>
      desired === undefined || stored === undefined
        ? []
        : [[stored.id, listOf(dashboard.carryOver(desired, dashboard.toBody(stored)).tiles)] as const],
    ),
  )

const outside = ({ kind, stored }: SelectedObject, { outcome, reason }: Pick<PulledObject, 'outcome' | 'reason'>): Drafted => ({
  object: { kind, key: '', name: storedLabelOf(stored), id: stored.id, outcome, reason },
})

/** The fields of a file for an object that no file declares. */
function spellNew({ kind: name, key, stored }: NewObject, { kinds, isQueryTile, ...context }: DraftContext): Body {
  const kind: Kind = kinds[name]
  const body = kind.toBody(stored)
  const pulled = managedPart(kind.pulledPart?.(body, {}) ?? body, undefined, kind.schema)
  const around = { ...context, key, spelled: undefined, declared: undefined }
  const tiles = listOf(pulled.tiles).filter((tile) => !isQueryTile(tile))
  if (tiles.length === listOf(pulled.tiles).length) return kind.toFile(pulled, around)
  const { tiles: spelled, ...fields } = kind.toFile({ ...pulled, tiles }, around)
  return { ...fields, ...(tiles.length > 0 && { tiles: spelled }) }
}

/** What the file declares and what the service has, spelled in the same way: every difference is a real one. */
function spellChange(
  one: Declared,
  { desired = {}, stored }: Change & { readonly stored: StoredObject },
  { kinds, isQueryTile, ...others }: DraftContext,
): Sides {
  const { kind: name, key, written: spelled } = one
  const kind: Kind = kinds[name]
  const body = kind.toBody(stored)
  const [pulled, declared] = withoutQueries(kind.pulledPart?.(body, desired) ?? body, desired, kind, { ...one, isQueryTile })
  const context: FileContext = { ...others, key, spelled, declared }
  const tilesOf = (id: unknown): readonly Body[] => others.declaredTiles.get(id) ?? others.tilesOf(id)
  return { before: kind.toFile(declared, { ...context, tilesOf }), after: kind.toFile(managedPart(pulled, declared, kind.schema), context) }
}

/** The stored and the declared body without the tiles that the file does not have. */
function withoutQueries(
  stored: Body,
  desired: Body,
  kind: Kind,
  { queries, written, isQueryTile }: Pick<Declared, 'queries' | 'written'> & Pick<DraftContext, 'isQueryTile'>,
): readonly [Body, Body] {
  const declared = kind.carryOver(desired, stored)
  if (queries === undefined && !listOf(stored.tiles).some(isQueryTile)) return [stored, declared]
  const isQuery = ({ name }: Body): boolean => queries?.has(String(name)) ?? false
  const ids = new Set(listOf(declared.tiles).flatMap((tile) => (isQuery(tile) ? [tile.id] : [])))
  const isInFile = (tile: Body): boolean =>
    !declaresNoTiles(written) && !ids.has(tile.id) && !isQueryTile(tile) && !(tile.id === undefined && isQuery(tile))
  const [before, after] = [stored, declared].map((one) => ({ ...one, tiles: listOf(one.tiles).filter(isInFile) }))
  return [before ?? stored, after ?? declared]
}

type PlaceOf = (one: NewObject, fields: Body) => string

function draftNew(one: NewObject, placeOf: PlaceOf, context: DraftContext, excluded: DraftInput['excluded']): Drafted {
  const { kind, key, stored, adoption } = one
  const { name, ...others } = spellNew(one, context)
  const after = withoutUndefined({ name, ...adoption, ...others })
  const reason = excluded.get(identityOf(kind, stored.id)) ?? context.explainSecret(after) ?? explainUnwritable(after, kind)
  if (reason !== undefined) return outside(one, { outcome: 'left-out', reason })
  return {
    object: { kind, key, name: storedLabelOf(stored), id: stored.id, outcome: 'added', path: placeOf(one, after) },
    edit: { kind, key, after },
  }
}

function draftExisting(
  declared: Declared,
  change: Change,
  context: DraftContext,
  input: Pick<DraftInput, 'excluded' | 'environment' | 'only' | 'prune' | 'storedObjects'>,
): Drafted {
  const { excluded, environment, only } = input
  const { kind, key, stored, name } = change
  const object = { kind, key, name, id: stored?.id, path: declared.location.file }
  if (stored === undefined) {
    const missing = draftMissing(declared, context, input)
    return { object: { ...object, ...missing }, ...(missing.outcome === 'removed' && { edit: { kind, key, before: {} } }) }
  }
  if (only === 'drifted' && !('origin' in change && change.origin === 'service'))
    return { object: { ...object, outcome: isDifference(change) ? 'changed-in-files' : 'unchanged' } }
  const leftOut = (reason: string, more: Pick<Partial<PulledObject>, 'overridden' | 'instantiated'> = {}): Drafted => ({
    object: { ...object, outcome: 'left-out', reason, ...more },
  })
  const { location } = declared
  const { before, after } = spellChange(declared, { ...change, stored }, context)
  const differing = differingFields({ before, after })
  if (location.instance !== undefined && differing.length > 0)
    return leftOut(`the service has other values of ${namesOf(differing)}, and pull does not edit a file with instances`, {
      instantiated: { location, differing },
    })
  const excludedReason = excluded.get(identityOf(kind, stored.id))
  if (excludedReason !== undefined) return leftOut(excludedReason)
  if (differing.length === 0) return { object: { ...object, outcome: 'unchanged' } }
  // The file is for all environments.
  const names = overriddenFields(environment, kind, key)
  const overridden = differing.filter(({ field }) => names.includes(field))
  if (overridden.length === differing.length)
    return leftOut(`the environment overrides ${namesOf(overridden)}, and the service has another value`, { overridden })
  const kept = Object.entries(before).filter(([field]) => names.includes(field))
  const fields = Object.fromEntries([...Object.entries(after).filter(([field]) => !names.includes(field)), ...kept])
  const reason = whyNotEdited(declared, { before, after: fields }, context)
  if (reason !== undefined) return leftOut(reason)
  return {
    object: { ...object, name: storedLabelOf(stored) || name, outcome: 'updated', overridden, fields: change.fields },
    edit: { kind, key, before, after: fields },
  }
}

function whyNotEdited({ kind, madeFrom }: Declared, { before, after }: Sides, { explainSecret }: DraftContext): string | undefined {
  if (madeFrom !== undefined) return `differs from what ${madeFrom} makes, and pull does not edit it; change the file, or run apply`
  return explainSecret(after, before) ?? explainUnwritable(after, kind)
}

const namesOf = (fields: readonly OverriddenField[]): string => fields.map(({ field }) => field).join(', ')

/** Kinds without markers stay, because other repositories can use their objects. An incomplete list may lack an object. */
function draftMissing(
  declared: Declared,
  { kinds }: DraftContext,
  { prune, excluded, storedObjects }: Pick<DraftInput, 'prune' | 'excluded' | 'storedObjects'>,
): Pick<PulledObject, 'outcome' | 'reason'> {
  const { kind, location, madeFrom } = declared
  const reason = excluded.get(removalOf(declared))
  if (reason !== undefined) return { outcome: 'left-out', reason }
  const isRemoved =
    prune &&
    location.instance === undefined &&
    madeFrom === undefined &&
    kinds[kind].ownership !== 'identity' &&
    storedObjects.incompleteLists[kind] === undefined
  return { outcome: isRemoved ? 'removed' : 'missing', reason: undefined }
}

/** Explains why a file cannot declare these fields; undefined when it can. */
export function explainUnwritable(fields: Body, kind: KindName): string | undefined {
  const schema = fileSchemas[kind]
  const { error } = schema.safeParse(fields)
  const nowhere = () => ({ file: '' })
  return error && schemaDiagnostics(error, { value: fields, locationOf: nowhere, locationOfKey: nowhere }, schema)[0]?.message
}

const differingFields = ({ before, after }: Sides): readonly OverriddenField[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => !isEqual(before[field], after[field]))
    .map((field) => ({ field, value: after[field] }))

/** The path for a new object: beside the declared object that it belongs to, or a file by the rule of its kind. */
function createPlaces(kinds: Kinds, { declarations, globs, texts }: DraftInput): PlaceOf {
  // A file with instances is never edited.
  const closed = new Set(
    [...declarations.objects, ...declarations.broken].flatMap(({ location: { file, instance } }) => (instance === undefined ? [] : [file])),
  )
  const declaredPaths = new Map(declarations.objects.map((one) => [addressOf(one), one.location.file]))
  return ({ kind, key }, fields) => {
    const { name, beside } = kinds[kind].file
    const owner = beside?.(fields)
    const path = owner && declaredPaths.get(addressOf(owner))
    if (path !== undefined && !closed.has(path)) return path
    return createPlacement({ globs, paths: [...texts.keys()], closed })(owner?.key ?? name ?? key)
  }
}

function draftFiles(drafted: readonly Drafted[], kinds: Kinds, { texts, variable }: Pick<DraftInput, 'texts' | 'variable'>): Draft {
  const replacedExpressions = new Map<string, readonly string[]>()
  const shared = new Set<string>()
  const byPath = Map.groupBy(
    drafted.filter(({ edit }) => edit !== undefined),
    ({ object: { path = '' } }) => path,
  )
  const files = [...byPath.keys()].sort().map((path): DraftedFile => {
    const edits = byPath.get(path)?.flatMap(({ edit }) => edit ?? []) ?? []
    const text = texts.get(path)
    if (text === undefined) return { path, before: undefined, after: writeNewFile(path, edits, kinds) }
    const edited = editFile({ path, text, defaults: readDefaults(path, text, variable), edits })
    for (const [object, expressions] of edited.replacedExpressions) replacedExpressions.set(object, expressions)
    for (const object of edited.shared) shared.add(object)
    return { path, before: text, after: edited.text }
  })
  const objects = drafted.map(({ object }): PulledObject => {
    if (!shared.has(addressOf(object))) return { ...object, replacedExpressions: replacedExpressions.get(addressOf(object)) }
    return { ...object, outcome: 'left-out', reason: whyShared, ...(object.outcome === 'added' && { key: '', path: undefined }) }
  })
  return { files: files.filter(({ before, after }) => before !== after), objects }
}

function readDefaults(path: string, text: string, variable: DraftInput['variable']): unknown {
  const reading = readDocument(text, path)
  return 'value' in reading ? interpolate(ownValue(reading.value, 'defaults'), { variable, room: newRoom() }).value : undefined
}
