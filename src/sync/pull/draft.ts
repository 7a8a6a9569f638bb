import type { Profile } from '../../api/profiles.ts'
import { credentialIn } from '../../core/credentials.ts'
import type { Location } from '../../core/diagnostics.ts'
import type { Declarations } from '../../declarations/declarations.ts'
import { abilitiesOf } from '../../declarations/find-declarations.ts'
import { overriddenFields } from '../../declarations/merge-fields.ts'
import { readDocument } from '../../documents/document.ts'
import { interpolate, newRoom } from '../../documents/expressions.ts'
import { ownValue } from '../../documents/schema.ts'
import { schemaDiagnostics } from '../../documents/validate.ts'
import { type FieldChange, managedPart } from '../../kinds/compare.ts'
import { createDirectory } from '../../kinds/directory.ts'
import { type Body, type DeclaredKey, type FileContext, type Kind, listOf, type StoredObject } from '../../kinds/kind.ts'
import { addressOf, type KindName, kindNames } from '../../kinds/kind-names.ts'
import { createKinds, type Declared, fileSchemas, type Kinds } from '../../kinds/kinds.ts'
import { secretTextsIn } from '../../kinds/secret.ts'
import type { NamedEnvironment } from '../../operation/operation.ts'
import { type Condition, isSelected, valuesOf } from '../../operation/select.ts'
import { type Change, isDifference, type Plan } from '../plan/change.ts'
import type { StoredObjects } from '../plan/stored-objects.ts'
import { editFile, isEqual, type Removal, type Spelled, type Update } from './edit-yaml.ts'
import { createPlacement, type NewObject, type SkippedObject, selectObjects } from './select.ts'
import { type Addition, writeNewFile } from './write-yaml.ts'

export interface DraftInput {
  readonly declarations: Pick<Declarations, 'objects' | 'broken'>
  readonly plan: Pick<Plan, 'project' | 'changes'>
  readonly storedObjects: StoredObjects
  readonly profile: Profile
  readonly nowMs: number
  readonly globs: readonly string[]
  /** Whether objects that no file declares stay out. */
  readonly declaredOnly: boolean
  /** Whether only objects are updated that changed in the service while their declarations did not. No expression is replaced then. */
  readonly driftedOnly: boolean
  /** Whether declarations of objects that the service does not have are removed. */
  readonly removeDeleted: boolean
  /** Which objects. Without it, what the files declare, and the other objects of `exportedKinds`. */
  readonly select?: readonly Condition[] | undefined
  /** The files that exist, by path. */
  readonly texts: ReadonlyMap<string, string>
  readonly variable: (name: string) => string | undefined
  readonly environment?: NamedEnvironment | undefined
  /** Objects to leave out, by `identityOf`, with the reason. */
  readonly excluded: ReadonlyMap<string, string>
}

/** Several projects can use a webhook or a source, so that no project takes one over unasked. */
export const exportedKinds: readonly KindName[] = ['dashboard', 'savedSearch', 'alert']

type Candidate = Pick<NewObject, 'kind' | 'key'> & { readonly stored?: StoredObject | undefined; readonly name: string }

/** An object that the service does not have has no tags. */
const passes = ({ kind, key, name, stored }: Candidate, select: readonly Condition[] | undefined): boolean =>
  isSelected(select, {
    name: stored?.name ?? name,
    key,
    kind,
    tags: Array.isArray(stored?.tags) ? stored.tags : [],
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
  readonly id: string | undefined
  readonly outcome: (typeof pullOutcomes)[number]
  /** Undefined for an object that is in no file. */
  readonly path: string | undefined
  /** The reason for leaving it out. */
  readonly reason: string | undefined
  /** Expressions of the file that a value of the service replaced. */
  readonly replacedExpressions: readonly string[]
  /** Fields that the environment overrides and the service has with another value. The files stay as they are there. */
  readonly overridden: readonly OverriddenField[]
  /** For an updated object: the fields that differ, as a plan shows them. */
  readonly fields?: readonly FieldChange[]
  /** For an updated object: the stored values, as the file declares them now. */
  readonly after?: Body
  /** For an object of a file with instances, which is never edited: the fields that the service has with another value. */
  readonly instantiated?: { readonly location: Location; readonly differing: readonly OverriddenField[] }
}

export interface OverriddenField {
  readonly field: string
  /** In the service. */
  readonly value: unknown
}

export const identityOf = (kind: KindName, id: string): string => `${kind} ${id}`

/** Identifies an object that the service does not have. */
export const removalOf = ({ kind, key }: Pick<DeclaredKey, 'kind' | 'key'>): string => `${kind} without an id: ${key}`

/** Drafts the files after a pull. Pure: it reads and writes no files. */
export function draftPull(input: DraftInput): Draft {
  const { declarations, plan, storedObjects, profile, nowMs, excluded } = input
  const kinds = createKinds(profile, nowMs)
  const { select } = input
  const wanted: readonly string[] = valuesOf(select, 'kind') ?? exportedKinds
  const selectedKinds = kindNames.filter((one) => abilitiesOf(profile).kinds.has(one) && wanted.includes(one))
  const selected = selectObjects({ storedObjects, kinds, plan, declarations, selectedKinds })
  // An object that is left out has no key.
  const isWanted = (one: NewObject | SkippedObject): boolean => passes({ key: '', ...one, name: one.stored.name ?? '' }, select)
  const newObjects = input.declaredOnly ? [] : selected.newObjects.filter(isWanted)
  const skipped = input.declaredOnly ? [] : selected.skipped.filter(isWanted)
  const directory = createDirectory(storedObjects)
  const explainSecret = createSecretFinder(input)
  const tiles = new Map(storedObjects.dashboards.map((one) => [one.id, one.tiles]))
  const contextFor = (targets: readonly NewObject[]): DraftContext => ({
    explainSecret,
    kinds,
    directory,
    sources: storedObjects.sources,
    keyOf: createKeyFinder(plan.changes, targets),
    tilesOf: (id) => tiles.get(String(id)) ?? [],
    declaredTiles: declaredTiles(kinds, plan.changes),
  })
  // Alerts come last: they can refer by key only to dashboards and saved searches that are not left out.
  const [newAlerts = [], newTargets = []] = [true, false].map((isAlert) => newObjects.filter(({ kind }) => (kind === 'alert') === isAlert))
  const draftedTargets = newTargets.map((one) => draftNew(one, contextFor([]), excluded))
  const context = contextFor(draftedTargets.filter(({ addition }) => addition !== undefined).map(({ source }) => source))
  const added = [...draftedTargets, ...newAlerts.map((one) => draftNew(one, context, excluded))]
  const declared = new Map(declarations.objects.map((one) => [addressOf(one), one]))
  const existing = plan.changes.flatMap((change) => {
    const one = declared.get(addressOf(change))
    return one === undefined || !passes(change, select) ? [] : [draftExisting(one, change, context, input)]
  })
  const additions = added.flatMap(({ addition }) => addition ?? [])
  const paths = placeAdditions(additions, input)
  const { files, replacedExpressions } = draftFiles(input, {
    updates: existing.flatMap(({ update, object }) => (update === undefined ? [] : [{ ...update, path: object.path }])),
    removals: existing.flatMap(({ object }) => (object.outcome === 'removed' ? [object] : [])),
    additions: additions.map((addition) => ({ ...addition, path: paths.get(addition) ?? '' })),
  })
  return {
    files,
    objects: [
      ...existing.map(({ object }) => ({
        ...object,
        replacedExpressions: replacedExpressions.get(addressOf(object)) ?? [],
      })),
      ...added.map(({ source, addition, reason }) =>
        addition === undefined
          ? objectOutside(source, 'left-out', reason)
          : { ...objectOutside(source, 'added', undefined), key: source.key, path: paths.get(addition) },
      ),
      ...skipped.map((one) => objectOutside(one, one.outcome, one.reason)),
    ],
  }
}

interface DraftContext extends Pick<FileContext, 'directory' | 'sources' | 'keyOf' | 'tilesOf'> {
  readonly kinds: Kinds
  /** The tiles of declared dashboards by the id of the dashboard, with the names of the files. */
  readonly declaredTiles: ReadonlyMap<unknown, readonly Body[]>
  /** Explains why these fields must not get into a file; undefined when they may. What the file has already is not new. */
  explainSecret(fields: Body, inFile?: Body): string | undefined
}

/** A person can type a secret into any text of the service. A file that is changed without a person gets nothing that looks like one. */
function createSecretFinder({
  storedObjects,
  driftedOnly,
}: Pick<DraftInput, 'storedObjects' | 'driftedOnly'>): DraftContext['explainSecret'] {
  // Where a webhook has a short path, its secret is elsewhere, and other URLs can have the same path.
  const paths = secretTextsIn(storedObjects.webhooks).filter(({ length }) => length >= 16)
  const explain = (text: string): string | undefined => {
    if (paths.some((path) => text.includes(path))) return 'it has the URL of a webhook, which is a secret'
    const kind = driftedOnly ? credentialIn(text) : undefined
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

function createKeyFinder(changes: readonly Change[], targets: readonly NewObject[]): FileContext['keyOf'] {
  const keys = new Map([
    ...changes.flatMap(({ kind, id, key }) => (id === undefined ? [] : [[identityOf(kind, id), key] as const])),
    ...targets.map(({ kind, stored, key }) => [identityOf(kind, stored.id), key] as const),
  ])
  return (kind, id) => keys.get(identityOf(kind, String(id)))
}

const declaredTiles = (kinds: Kinds, changes: readonly Change[]): DraftContext['declaredTiles'] =>
  new Map(
    changes.flatMap(({ kind, desired, stored }) =>
      kind !== 'dashboard' || desired === undefined || stored === undefined
        ? []
        : [[stored.id, listOf(kinds[kind].carryOverIds(desired, kinds[kind].toBody(stored)).tiles)] as const],
    ),
  )

const objectOutside = (
  { kind, stored: { id, name } }: NewObject | SkippedObject,
  outcome: PulledObject['outcome'],
  reason: string | undefined,
): PulledObject => ({ kind, key: '', name: name ?? '', id, outcome, path: undefined, reason, replacedExpressions: [], overridden: [] })

/** The fields of a file for an object that no file declares. */
function spellNew({ kind: name, key, stored }: NewObject, { kinds, ...context }: DraftContext): Body {
  const kind: Kind = kinds[name]
  const body = kind.toBody(stored)
  const pulled = managedPart(kind.pulledPart?.(body, {}) ?? body, undefined, kind.schema)
  return kind.toFile(pulled, { ...context, key, spelled: undefined, declared: undefined })
}

/** What the file declares and what the service has, spelled in the same way: every difference is a real one. */
function spellChange(
  { kind: name, key, written: spelled }: Declared,
  { desired = {}, stored }: Change & { readonly stored: StoredObject },
  { kinds, ...others }: DraftContext,
): Spelled {
  const kind: Kind = kinds[name]
  const body = kind.toBody(stored)
  const pulled = kind.pulledPart?.(body, desired) ?? body
  const declared = kind.carryOverIds(desired, pulled)
  const context: FileContext = { ...others, key, spelled, declared }
  const tilesOf = (id: unknown): readonly Body[] => others.declaredTiles.get(id) ?? others.tilesOf(id)
  return { before: kind.toFile(declared, { ...context, tilesOf }), after: kind.toFile(managedPart(pulled, declared, kind.schema), context) }
}

interface DraftedNew {
  readonly source: NewObject
  /** Undefined when it is left out. */
  readonly addition: Addition | undefined
  readonly reason: string | undefined
}

function draftNew(source: NewObject, context: DraftContext, excluded: DraftInput['excluded']): DraftedNew {
  const { kind, key, stored, adoption } = source
  const { name, ...others } = spellNew(source, context)
  const fields = { name, ...adoption, ...others }
  const reason = excluded.get(identityOf(kind, stored.id)) ?? context.explainSecret(fields) ?? explainUnwritable(fields, kind)
  return { source, reason, addition: reason === undefined ? { kind, key, fields } : undefined }
}

interface DraftedExisting {
  readonly object: PulledObject & { readonly path: string }
  /** Undefined when the file stays as it is. */
  readonly update: Update | undefined
}

function draftExisting(
  declared: Declared,
  change: Change,
  context: DraftContext,
  input: Pick<DraftInput, 'excluded' | 'environment' | 'driftedOnly' | 'removeDeleted' | 'storedObjects' | 'profile' | 'nowMs'>,
): DraftedExisting {
  const { excluded, environment, driftedOnly } = input
  const { kind, key, stored, name } = change
  const object = {
    kind,
    key,
    name,
    id: stored?.id,
    path: declared.location.file,
    reason: undefined,
    replacedExpressions: [],
    overridden: [],
  }
  if (stored === undefined) return { object: { ...object, ...draftMissing(declared, context, input) }, update: undefined }
  if (driftedOnly && !('origin' in change && change.origin === 'service'))
    return { object: { ...object, outcome: isDifference(change) ? 'changed-in-files' : 'unchanged' }, update: undefined }
  const spelled = spellChange(declared, { ...change, stored }, context)
  const { before, after, overridden } = keepOverridden(spelled, overriddenFields(environment, kind, key))
  const isUnchanged = isEqual(before, after)
  const { location } = declared
  if (location.instance !== undefined && !isEqual(spelled.before, spelled.after)) {
    const differing = differingFields(spelled)
    const names = differing.map(({ field }) => field).join(', ')
    const reason = `the service has other values of ${names}, and pull does not edit a file with instances`
    return { object: { ...object, outcome: 'left-out', reason, instantiated: { location, differing } }, update: undefined }
  }
  const unwritable = () =>
    declared.madeFrom === undefined
      ? (context.explainSecret(after, before) ?? explainUnwritable(after, kind))
      : `differs from what ${declared.madeFrom} makes, and pull does not edit it; change the file, or run apply`
  const reason = excluded.get(identityOf(kind, stored.id)) ?? (isUnchanged ? undefined : unwritable())
  if (reason !== undefined) return { object: { ...object, outcome: 'left-out', reason }, update: undefined }
  if (isUnchanged && overridden.length > 0) {
    const overriddenReason = `the environment overrides ${overridden.map(({ field }) => field).join(', ')}, and the service has another value`
    return { object: { ...object, outcome: 'left-out', reason: overriddenReason, overridden }, update: undefined }
  }
  if (isUnchanged) return { object: { ...object, outcome: 'unchanged' }, update: undefined }
  const updated = {
    ...object,
    name: stored.name ?? name,
    outcome: 'updated',
    overridden,
    fields: change.fields,
    after,
  } as const
  return { object: updated, update: { kind, key, before, after } }
}

/** Kinds without markers stay, because other repositories can use their objects. An incomplete list may lack an object. */
function draftMissing(
  declared: Declared,
  { kinds }: DraftContext,
  { removeDeleted, excluded, storedObjects }: Pick<DraftInput, 'removeDeleted' | 'excluded' | 'storedObjects'>,
): Pick<PulledObject, 'outcome' | 'reason'> {
  const { kind, location, madeFrom } = declared
  const reason = excluded.get(removalOf(declared))
  if (reason !== undefined) return { outcome: 'left-out', reason }
  const isRemoved =
    removeDeleted &&
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

const differingFields = ({ before, after }: Spelled): readonly OverriddenField[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => !isEqual(before[field], after[field]))
    .map((field) => ({ field, value: after[field] }))

/** Leaves fields that the environment overrides as they are, because the file is for all environments. */
function keepOverridden({ before, after }: Spelled, fields: readonly string[]) {
  const isOverridden = (field: string): boolean => fields.includes(field)
  const others = Object.entries(after).filter(([field]) => !isOverridden(field))
  const kept = Object.entries(before).filter(([field]) => isOverridden(field))
  return {
    before,
    after: Object.fromEntries([...others, ...kept]),
    overridden: fields.filter((field) => !isEqual(before[field], after[field])).map((field) => ({ field, value: after[field] })),
  }
}

/** The path for each addition. An alert goes to the file that declares its dashboard. */
function placeAdditions(additions: readonly Addition[], { declarations, globs, texts }: DraftInput): ReadonlyMap<Addition, string> {
  if (additions.length === 0) return new Map()
  // A file with instances is never edited.
  const closed = new Set(
    [...declarations.objects, ...declarations.broken].flatMap(({ location: { file, instance } }) => (instance === undefined ? [] : [file])),
  )
  const place = createPlacement({ globs, paths: [...texts.keys()], closed })
  const isOpen = ({ kind, location: { file } }: Declared): boolean => kind === 'dashboard' && !closed.has(file)
  const dashboardPaths = new Map(declarations.objects.filter(isOpen).map(({ key, location: { file } }) => [key, file]))
  return new Map(
    additions.map((addition) => {
      const { kind, key, fields } = addition
      const dashboard = typeof fields.dashboard === 'string' ? fields.dashboard : undefined
      const path = kind === 'alert' ? dashboardPaths.get(dashboard ?? '') : undefined
      return [addition, path ?? place({ kind, key, dashboard })] as const
    }),
  )
}

interface WithPath {
  readonly path: string
}

interface FileChanges {
  readonly updates: readonly (Update & WithPath)[]
  readonly additions: readonly (Addition & WithPath)[]
  readonly removals: readonly (Removal & WithPath)[]
}

function draftFiles({ texts, variable }: Pick<DraftInput, 'texts' | 'variable'>, { updates, additions, removals }: FileChanges) {
  const replacedExpressions = new Map<string, readonly string[]>()
  const paths = [...new Set([...updates, ...additions, ...removals].map(({ path }) => path))].sort()
  const files = paths.map((path): DraftedFile => {
    const inFile = <T extends WithPath>(all: readonly T[]): readonly T[] => all.filter((one) => one.path === path)
    const text = texts.get(path)
    if (text === undefined) return { path, before: undefined, after: writeNewFile(path, inFile(additions)) }
    const defaults = readDefaults(path, text, variable)
    const edited = editFile({ path, text, defaults, updates: inFile(updates), additions: inFile(additions), removals: inFile(removals) })
    for (const [object, expressions] of edited.replacedExpressions) replacedExpressions.set(object, expressions)
    return { path, before: text, after: edited.text }
  })
  return { files: files.filter(({ before, after }) => before !== after), replacedExpressions }
}

function readDefaults(path: string, text: string, variable: DraftInput['variable']): unknown {
  const reading = readDocument(text, path)
  return 'value' in reading ? interpolate(ownValue(reading.value, 'defaults'), { variable, room: newRoom() }).value : undefined
}
