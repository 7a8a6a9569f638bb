import { type FieldChange, managedPart } from '../../kinds/compare.ts'
import { type Body, type FileContext, type Kind, listOf, type StoredObject, storedLabelOf } from '../../kinds/kind.ts'
import { addressOf, type KindName, sections } from '../../kinds/kind-names.ts'
import { type Declared, fileSchemas, type Kinds } from '../../kinds/kinds.ts'
import { withoutMarkerTags } from '../../kinds/marker.ts'
import { createNameIndex } from '../../kinds/name-index.ts'
import { storedUrlsOf } from '../../kinds/secret.ts'
import { credentialIn } from '../../platform/core/credentials.ts'
import type { Location } from '../../platform/core/diagnostics.ts'
import { isMapping, keysOf, withoutUndefined } from '../../platform/core/keys.ts'
import { createRedact } from '../../platform/core/secrets.ts'
import { readDocument } from '../../platform/documents/document.ts'
import { interpolate, newRoom } from '../../platform/documents/expressions.ts'
import { ownValue, valueAt } from '../../platform/documents/schema.ts'
import { schemaDiagnostics } from '../../platform/documents/validate.ts'
import { createCopiedUrls } from '../../platform/http/webhook-url.ts'
import type { NamedEnvironment } from '../../platform/operation/operation.ts'
import { type Condition, describeUnmet, isSelected, type Selectable, valuesOf } from '../../platform/operation/select.ts'
import { type Change, changesOf, type Held, isDifference, isHeld, type Plan } from '../decide/change.ts'
import type { DeclaredObjects } from '../declarations/declarations.ts'
import type { StoredObjects } from '../plan/stored-objects.ts'
import { changesInFiles, findQueryTiles, type QueriesInFiles, queriesInFiles, withoutQueries } from '../query-alerts/query-changes.ts'
import { type Adoption, type Edit, editAdoptions, editFile } from './edit-yaml.ts'
import { fileFor, type NewObject, type SelectedObject, selectObjects } from './select.ts'
import { type BeforeAfter, isEqual } from './splice-yaml.ts'
import { writeNewFile } from './write-yaml.ts'

export interface PullInput {
  readonly declarations: DeclaredObjects
  readonly plan: Plan
  readonly storedObjects: StoredObjects
  readonly kinds: Kinds
  readonly globs: readonly string[]
  /** `drifted`: also objects that did not change in the service, or whose declarations did. No expression is replaced then. */
  readonly only?: 'declared' | 'drifted' | undefined
  readonly removeDeclarations: boolean
  /** Without it, what the files declare, and the other objects of kinds that need no request. */
  readonly select?: readonly Condition[] | undefined
  readonly texts: ReadonlyMap<string, string>
  readonly variable: (name: string) => string | undefined
  readonly environment?: NamedEnvironment | undefined
}

interface DraftInput extends PullInput {
  /** By `excludedAs`, with the reason. */
  readonly excluded: ReadonlyMap<string, string>
}

/** An object that the service does not have has no tags. */
const toSelectable = ({ stored, ...one }: Selectable & { readonly stored?: StoredObject | undefined }): Selectable => ({
  ...one,
  name: stored === undefined ? one.name : storedLabelOf(stored),
  tags: withoutMarkerTags(stored?.tags),
})

export interface Draft {
  readonly files: readonly DraftedFile[]
  readonly objects: readonly PulledObject[]
  /** Of `select`, where there are no objects. */
  readonly unmet?: string
}

interface DraftedFile {
  readonly path: string
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
  readonly id?: string | undefined
  readonly outcome: (typeof pullOutcomes)[number]
  /** Undefined for an object that is in no file. */
  readonly path?: string | undefined
  readonly reason?: string | undefined
  readonly replacedExpressions?: readonly string[] | undefined
  readonly fields?: readonly FieldChange[]
  /** A file with instances gets only new names of tiles. */
  readonly instantiated?: { readonly location: Location; readonly differing: readonly DifferingField[] }
  readonly isEdited?: true
  readonly differed?: true
  /** Only the name of its tile goes into the file. */
  readonly mayDiffer?: true
}

interface DifferingField {
  readonly field: string
  readonly value: unknown
}

export const identityOf = (kind: KindName, id: string): string => `${kind} ${id}`

/** By the id, or by the key if the service does not have the object. */
export const excludedAs = ({ kind, key, id }: Pick<PulledObject, 'kind' | 'key' | 'id'>): string =>
  id === undefined ? `${kind} without an id: ${key}` : identityOf(kind, id)

/** Pure: it reads and writes no files. Excluded objects are never edited. */
export function draftPull(input: DraftInput): Draft {
  const { declarations, plan, storedObjects, kinds, select } = input
  const tiles = new Map(storedObjects.dashboard.map((one) => [one.id, one.tiles]))
  const inFiles = declaredTiles(kinds, plan)
  const takenOver = new Set<unknown>()
  const keys = new Map(plan.changes.flatMap(({ kind, id, key }) => (id === undefined ? [] : [[identityOf(kind, id), key] as const])))
  const around: WithoutQueries = {
    explainSecret: createSecretFinder(input),
    kinds,
    nameIndex: createNameIndex(storedObjects),
    sources: storedObjects.source,
    keyOf: (kind, id) => keys.get(identityOf(kind, String(id))),
    tilesOf: (id) => withNames(tiles.get(String(id)) ?? [], takenOver.has(id) ? [] : (inFiles.get(id) ?? [])),
    declaredTiles: inFiles,
    takenOver,
  }
  const wanted = valuesOf(select, 'kind')
  const undeclared = keysOf<KindName>(kinds).flatMap((name) => selectObjects(kinds[name], storedObjects, plan, declarations))
  const isAdded = ({ kind }: SelectedObject): boolean =>
    input.only === undefined && (wanted?.includes(kind) ?? kinds[kind].file.isOnRequest === undefined)
  const others = undeclared.filter((one) => isAdded(one) && isSelected(select, toSelectable(one)))
  const context = { ...around, ...queriesInFiles(declarations.objects, around.keyOf, queryTilesOf(others, around, input)) }
  const placeOf = placeNewObjects(kinds, input)
  const declared = new Map(declarations.objects.map((one) => [addressOf(one), one]))
  const changes = Map.groupBy(changesInFiles(plan.changes, declarations.objects).values(), ({ kind }) => kind)
  const parts = keysOf<KindName>(kinds).map((name) => {
    const ofKind = others.filter(({ kind }) => kind === name)
    const added = ofKind.map((one): Drafted => {
      if (!('key' in one)) return outside(one, one.outcome, one.reason)
      const drafted = draftNew(one, placeOf, context, input)
      // Objects of the kinds after it can refer to it by its key.
      if (drafted.edit !== undefined) keys.set(identityOf(one.kind, one.stored.id), one.key)
      return drafted
    })
    const existing = (changes.get(name) ?? []).flatMap((change): readonly Drafted[] => {
      const one = declared.get(addressOf(change))
      if (one === undefined) return []
      const drafted = draftExisting(one, change, context, input)
      const { before, after } = drafted.edit ?? {}
      if (['tiles', 'rows'].some((field) => !isEqual(before?.[field], after?.[field]))) takenOver.add(drafted.object.id)
      return [drafted]
    })
    return { added, existing: followInTemplates(existing, input) }
  })
  const drafted = [...parts.flatMap(({ existing }) => existing), ...parts.flatMap(({ added }) => added)]
  const { draft, shared } = draftFiles(
    drafted.filter(({ edit, isHidden }) => edit !== undefined || !isHidden),
    kinds,
    input,
  )
  // Other objects may have been drafted with references to those that cannot be edited, so all are drafted again.
  if (draft.objects.length === 0) return { ...draft, unmet: describeUnmet([...undeclared, ...plan.changes].map(toSelectable), select) }
  if (shared.length === 0) return draft
  const held = new Set(plan.changes.filter(isHeld).map(excludedAs))
  const whyShared = (one: string): string =>
    `the file uses an anchor or alias here, and pull does not edit it; ${adviceByHand(held.has(one))}`
  return draftPull({ ...input, excluded: new Map([...input.excluded, ...shared.map((one) => [one, whyShared(one)] as const)]) })
}

/** A new alert can be on a new dashboard. */
function queryTilesOf(others: readonly SelectedObject[], context: WithoutQueries, { excluded }: DraftInput): ReadonlySet<unknown> {
  const added = others.flatMap((one) => ('key' in one && !excluded.has(identityOf(one.kind, one.stored.id)) ? [one] : []))
  const keys = new Map(added.map(({ kind, key, stored }) => [identityOf(kind, stored.id), key]))
  const keyOf: DraftContext['keyOf'] = (kind, id) => context.keyOf(kind, id) ?? keys.get(identityOf(kind, String(id)))
  return findQueryTiles(added, context.kinds, context.tilesOf, (one) => {
    const fields = spellNew(one, { ...context, keyOf, isForQueries: () => true, isQueryTile: () => false })
    return (explainUnwritable(fields, one.kind) ?? context.explainSecret(fields)) === undefined ? fields : undefined
  })
}

interface Drafted {
  readonly object: PulledObject
  /** Absent when the files stay as they are. */
  readonly edit?: Edit
  /** For the file of the environment. */
  readonly adoption?: Adoption
  /** Then it is listed only if a file changes because of another object. */
  readonly isHidden?: boolean
  readonly template?: Location
  /** `object` is for a template that gets the new name of the tile. */
  readonly inTemplate?: BeforeAfter & { readonly object: PulledObject }
}

/** An apply leaves a held object as it is. */
const adviceByHand = (isLeft: boolean): string => `change the file${isLeft ? '' : ', or run apply'}`

interface WithoutQueries extends Pick<FileContext, 'nameIndex' | 'sources' | 'keyOf' | 'tilesOf'> {
  readonly kinds: Kinds
  /** By the id of the dashboard. */
  readonly declaredTiles: ReadonlyMap<unknown, readonly Body[]>
  /** The ids of the dashboards whose tiles of the service go into a file. */
  readonly takenOver: ReadonlySet<unknown>
  /** Undefined when they may get into a file. What the file has already is not new. */
  explainSecret(fields: Body, inFile?: Body): string | undefined
}

type DraftContext = WithoutQueries & QueriesInFiles

/** Anyone can type a secret into a text of the service. A file that is changed without a person gets nothing that looks like one. */
function createSecretFinder({ storedObjects, only }: DraftInput): DraftContext['explainSecret'] {
  const copies = createCopiedUrls()
  copies.add(storedUrlsOf(storedObjects.webhook))
  const redact = createRedact([], copies.search)
  const explain = (text: string): string | undefined => {
    if (redact(text) !== text) return 'it has the URL of a webhook, which is a secret'
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

const declaredTiles = ({ dashboard }: Kinds, plan: Plan): DraftContext['declaredTiles'] =>
  new Map(
    changesOf(plan.changes, 'dashboard').flatMap(({ desired, stored }) =>
      desired === undefined || stored === undefined
        ? []
        : [[stored.id, listOf(dashboard.withStoredIds(desired, dashboard.toBody(stored)).tiles)] as const],
    ),
  )

function withNames(stored: readonly Body[], inFile: readonly Body[]): readonly Body[] {
  const names = new Map(inFile.map(({ id, name }) => [id, name]))
  return stored.map((tile) => (names.has(tile.id) ? { ...tile, name: names.get(tile.id) } : tile))
}

const outside = ({ kind, stored }: SelectedObject, outcome: PulledObject['outcome'], reason: string): Drafted => ({
  object: { kind, key: '', name: storedLabelOf(stored), id: stored.id, outcome, reason },
})

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

/** Spelled in the same way: every difference is a real one. */
function spellChange(
  one: Declared,
  change: Change & { readonly stored: StoredObject },
  { kinds, isQueryTile, ...others }: DraftContext,
): BeforeAfter {
  const { desired = {}, stored } = change
  const { kind: name, key, spelled } = one
  const kind: Kind = kinds[name]
  const body = kind.toBody(stored)
  const part = kind.pulledPart?.(body, desired) ?? body
  const [pulled, declared] = withoutQueries(part, kind.withStoredIds(desired, part), one, isQueryTile)
  const context: FileContext = { ...others, key, spelled, declared }
  const tilesOf = (id: unknown): readonly Body[] => others.declaredTiles.get(id) ?? others.tilesOf(id)
  const before = kind.toFile(declared, { ...context, tilesOf })
  const after = kind.toFile(managedPart(pulled, declared, kind.schema), context)
  // The plan leaves the tile of a held query as it is, and so does not have the query of the file.
  const query = isHeld(change) ? ownValue(spelled, 'query') : undefined
  return { before: query === undefined || before.query === undefined ? before : { ...before, query }, after }
}

type PlaceOf = (one: NewObject, fields: Body) => string

function draftNew(one: NewObject, placeOf: PlaceOf, context: DraftContext, { excluded, environment }: DraftInput): Drafted {
  const { kind, key, stored, adoption } = one
  const { name, ...others } = spellNew(one, context)
  // An id is that of one service, and the files are for all environments.
  const entry = environment !== undefined && 'adopt' in adoption && typeof adoption.adopt === 'string' ? adoption.adopt : undefined
  const after = withoutUndefined({ name, ...(entry === undefined && adoption), ...others })
  const reason = excluded.get(identityOf(kind, stored.id)) ?? context.explainSecret(after) ?? explainUnwritable(after, kind)
  if (reason !== undefined) return outside(one, 'left-out', reason)
  return {
    object: { kind, key, name: storedLabelOf(stored), id: stored.id, outcome: 'added', path: placeOf(one, after) },
    edit: { kind, key, after },
    ...(entry !== undefined && { adoption: { kind, key, entry } }),
  }
}

function draftExisting(declared: Declared, change: Change, context: DraftContext, input: DraftInput): Drafted {
  const existing = readExisting(declared, change, context, input)
  const { object, isHidden, same, sides, excludedReason, leaveOut, update } = existing
  const { kind, key, stored } = change
  if (isHeld(change) && change.isBlocked) return leaveOut(whyHeld(change))
  if (stored === undefined && !isHidden && isRemovable(declared, context, input))
    return { object: { ...object, outcome: 'removed' }, edit: { kind, key, before: {} } }
  if (declared.location.instance !== undefined) return draftInstance(existing, declared.location)
  if (excludedReason !== undefined && (sides !== undefined || stored === undefined)) return leaveOut(excludedReason)
  if (sides === undefined || differingFields(sides).length === 0) return same
  const reason = whyNotEdited(declared, change, sides, context)
  return reason === undefined ? { object: update(sides), edit: { kind, key, ...sides } } : leaveOut(reason)
}

/** A declared object, with its declaration before and after. `same` is how it is listed if the declaration stays. */
function readExisting(declared: Declared, change: Change, context: DraftContext, { excluded, only, select }: DraftInput) {
  const { kind, key, stored, name } = change
  const differed = stored !== undefined && isDifference(change)
  const object = { kind, key, name, id: stored?.id, path: declared.location.file, ...(differed && { differed }) }
  const isHidden = !isSelected(select, toSelectable(change))
  const isStale = only === 'drifted' && !('origin' in change && change.origin === 'service')
  // Where the values of the service stay out of the file, only a new name of its tile goes into it.
  const isKept = isHidden || isStale || stored === undefined
  const outcome = stored === undefined ? 'missing' : isKept && differed ? 'changed-in-files' : 'unchanged'
  const followed = followTile(declared, change, context)
  const held = isStale && isHeld(change) && stored !== undefined ? ({ outcome: 'left-out', reason: whyStale(change) } as const) : undefined
  const same: Drafted = { object: { ...object, outcome, ...held }, isHidden }
  return {
    object,
    isHidden,
    isKept,
    same,
    followed,
    sides: isKept ? followed : spellChange(declared, { ...change, stored }, context),
    excludedReason: excluded.get(excludedAs(object)),
    leaveOut: (reason: string, more: Partial<PulledObject> = {}): Drafted => ({
      object: { ...object, outcome: 'left-out', reason, ...more },
      isHidden,
    }),
    update(to: BeforeAfter): PulledObject {
      if (stored === undefined) return same.object
      const fields = fieldsOf(isKept ? [] : change.fields, to)
      const mayDiffer = isKept && differed && { mayDiffer: true as const }
      return { ...object, name: storedLabelOf(stored) || name, outcome: 'updated', fields, ...mayDiffer }
    },
  }
}

/** Only a template can follow its tile. */
function draftInstance(existing: ReturnType<typeof readExisting>, location: Location): Drafted {
  const { isKept, same, followed, sides, excludedReason, leaveOut, update } = existing
  const differing = isKept || sides === undefined ? [] : differingFields(sides)
  const refuse = (fields: readonly DifferingField[]): Drafted => {
    const names = fields.map(({ field }) => field).join(', ')
    const reason = `the service has other values of ${names}, and pull does not edit a file with instances`
    return fields.length === 0 ? same : leaveOut(reason, { instantiated: { location, differing: fields } })
  }
  const drafted = { ...refuse(differing), template: location }
  if (followed === undefined || excludedReason !== undefined) return drafted
  const others = differing.filter(({ field }) => field !== 'tile')
  return { ...drafted, inTemplate: { ...followed, object: others.length > 0 ? refuse(others).object : update(followed) } }
}

/** Without a marker, nothing says which side changed. */
const whyStale = (held: Held): string => `${held.origin === undefined ? 'it is not clear which side changed: ' : ''}${whyHeld(held)}`

const whyHeld = ({ reason, remedies }: Held): string => [reason, ...remedies].join('; ')

/** A plan finds the tile by its id, and so does not show its new name. */
function fieldsOf(fields: readonly FieldChange[], { before, after }: BeforeAfter): readonly FieldChange[] {
  if (isEqual(before.tile, after.tile) || fields.some(({ path }) => path === 'tile')) return fields
  return [...fields, { path: 'tile', before: after.tile, after: before.tile }]
}

/** Undefined where the name of its tile stays. A dashboard that no file declares has the name already. */
function followTile(one: Declared, { desired, stored }: Change, { kinds, ...context }: DraftContext): BeforeAfter | undefined {
  const { kind: name, key, spelled } = one
  const kind: Kind = kinds[name]
  const tile = ownValue(spelled, 'tile')
  if (typeof tile !== 'string' || desired?.dashboardId === undefined) return undefined
  // The dashboard has no tile of this name any more.
  const isUnknown = desired.tileId === tile && desired.dashboardId === stored?.dashboardId
  if (!isUnknown && !context.takenOver.has(desired.dashboardId)) return undefined
  const declared = stored === undefined ? desired : kind.withStoredIds(desired, kind.toBody(stored))
  const found = isUnknown ? { ...declared, tileId: stored?.tileId } : declared
  const after = kind.toFile(found, { ...context, key, spelled, declared })
  return after.tile === undefined || after.tile === tile ? undefined : { before: { ...after, tile }, after }
}

/** Where all objects follow the tile to the same name, and the template spells it out. */
function followInTemplates(drafted: readonly Drafted[], { texts }: DraftInput): readonly Drafted[] {
  const groups = Map.groupBy(drafted, (one) => one.template && JSON.stringify({ ...one.template, instance: undefined }))
  const followed = new Map<Drafted, Drafted>()
  for (const [place, group] of groups) {
    const edit = place === undefined ? undefined : editOfTemplate(group, texts)
    if (edit !== undefined) for (const one of group) followed.set(one, { ...one, object: one.inTemplate?.object ?? one.object, edit })
  }
  return drafted.map((one) => followed.get(one) ?? one)
}

function editOfTemplate(group: readonly Drafted[], texts: DraftInput['texts']): Edit | undefined {
  const [first] = group
  if (first?.template === undefined || first.inTemplate === undefined) return undefined
  const {
    template,
    inTemplate: { before, after },
    object: { kind },
  } = first
  if (!group.every((one) => one.inTemplate?.before.tile === before.tile && isEqual(one.inTemplate?.after.tile, after.tile)))
    return undefined
  const document = readDocument(texts.get(template.file) ?? '', template.file)
  if (!('value' in document)) return undefined
  const section = sections[kind]
  const objects = ownValue(document.value, section)
  const key = keysOf<string>(isMapping(objects) ? objects : {}).find((one) => {
    const { line, column } = document.locationOfKey([section, one])
    return line === template.line && column === template.column
  })
  // An expression or a default can be for other objects, too.
  if (key === undefined || valueAt(objects, [key, 'tile']) !== before.tile) return undefined
  return { kind, key, before: { tile: before.tile }, after: { tile: after.tile } }
}

function whyNotEdited(
  { kind, madeFrom }: Declared,
  change: Change,
  { before, after }: BeforeAfter,
  { explainSecret }: DraftContext,
): string | undefined {
  if (madeFrom !== undefined) return `differs from what ${madeFrom} makes, and pull does not edit it; ${adviceByHand(isHeld(change))}`
  return explainSecret(after, before) ?? explainUnwritable(after, kind)
}

/** Other repositories can use objects without markers. An incomplete list may lack an object. */
const isRemovable = (declared: Declared, { kinds }: DraftContext, { removeDeclarations, excluded, storedObjects }: DraftInput): boolean =>
  removeDeclarations &&
  !excluded.has(excludedAs(declared)) &&
  declared.location.instance === undefined &&
  declared.madeFrom === undefined &&
  kinds[declared.kind].ownership !== 'identity' &&
  storedObjects.incompleteLists[declared.kind] === undefined

/** Undefined when a file can. */
export function explainUnwritable(fields: Body, kind: KindName): string | undefined {
  const schema = fileSchemas[kind]
  const { error } = schema.safeParse(fields)
  const nowhere = () => ({ file: '' })
  return error && schemaDiagnostics(error, { value: fields, locationOf: nowhere, locationOfKey: nowhere }, schema)[0]?.message
}

const differingFields = ({ before, after }: BeforeAfter): readonly DifferingField[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => !isEqual(before[field], after[field]))
    .map((field) => ({ field, value: after[field] }))

/** Beside the declared object that it belongs to, or by the rule of its kind. */
function placeNewObjects(kinds: Kinds, { declarations, globs, texts }: DraftInput): PlaceOf {
  // A file with instances gets no other objects.
  const closed = new Set(
    [...declarations.objects, ...declarations.broken].flatMap(({ location: { file, instance } }) => (instance === undefined ? [] : [file])),
  )
  const declaredPaths = new Map(declarations.objects.map((one) => [addressOf(one), one.location.file]))
  return ({ kind, key }, fields) => {
    const { name, beside } = kinds[kind].file
    const owner = beside?.(fields)
    const path = owner && declaredPaths.get(addressOf(owner))
    if (path !== undefined && !closed.has(path)) return path
    return fileFor(globs, [...texts.keys()], closed)(owner?.key ?? name ?? key)
  }
}

/** `shared` objects cannot be edited, because anchors share a part of them. */
function draftFiles(
  drafted: readonly Drafted[],
  kinds: Kinds,
  { texts, variable, environment }: DraftInput,
): { readonly draft: Draft; readonly shared: readonly string[] } {
  const replacedExpressions = new Map<string, readonly string[]>()
  const shared = new Set<string>()
  const byPath = Map.groupBy(
    drafted.filter(({ edit }) => edit !== undefined),
    ({ object: { path = '' } }) => path,
  )
  const files = [...byPath.keys()].map((path): DraftedFile => {
    // The objects of a template have one edit.
    const edits = [...new Set(byPath.get(path)?.flatMap(({ edit }) => edit ?? []))]
    const text = texts.get(path)
    if (text === undefined) return { path, before: undefined, after: writeNewFile(path, edits, kinds) }
    const edited = editFile(path, text, edits, readDefaults(path, text, variable))
    for (const [object, expressions] of edited.replacedExpressions) replacedExpressions.set(object, expressions)
    for (const object of edited.shared) shared.add(object)
    return { path, before: text, after: edited.text }
  })
  const objects = drafted.map(({ object, edit }): PulledObject => {
    return edit === undefined ? object : { ...object, isEdited: true, replacedExpressions: replacedExpressions.get(addressOf(edit)) }
  })
  const adoptions = drafted.flatMap(({ adoption }) => adoption ?? [])
  return {
    draft: withAdoptions(withFiles({ files: [], objects }, files), environment, adoptions),
    shared: drafted.flatMap(({ object, edit }) => (edit !== undefined && shared.has(addressOf(edit)) ? [excludedAs(object)] : [])),
  }
}

/** Where an anchor shares the entries, the draft stays as it is. */
export function withAdoptions(draft: Draft, environment: NamedEnvironment | undefined, adoptions: readonly Adoption[]): Draft {
  if (environment === undefined || adoptions.length === 0) return draft
  const { path, text } = environment
  const after = editAdoptions(path, draft.files.find((file) => file.path === path)?.after ?? text, adoptions)
  return after === undefined ? draft : withFiles(draft, [{ path, before: text, after }])
}

/** Only the changed files, sorted by path. */
export function withFiles(draft: Draft, files: readonly DraftedFile[]): Draft {
  const all = new Map([...draft.files, ...files].map((file) => [file.path, file]))
  const changed = [...all.values()].filter(({ before, after }) => before !== after)
  return { ...draft, files: changed.toSorted((a, b) => (a.path < b.path ? -1 : 1)) }
}

function readDefaults(path: string, text: string, variable: DraftInput['variable']): unknown {
  const reading = readDocument(text, path)
  return 'value' in reading ? interpolate(ownValue(reading.value, 'defaults'), { variable, room: newRoom() }).value : undefined
}
