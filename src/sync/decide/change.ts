import type { FieldChange } from '../../kinds/compare.ts'
import type { Body, KeptTiles, StoredObject } from '../../kinds/kind.ts'
import { addressOf, type KindName } from '../../kinds/kind-names.ts'
import type { Declared } from '../../kinds/kinds.ts'
import type { Diagnostic, Location } from '../../platform/core/diagnostics.ts'
import type { ErrorKind } from '../../platform/core/errors.ts'
import { createKeyIndex } from '../../platform/core/keys.ts'
import { quote } from '../../platform/core/text.ts'

/** `adopt` and `mark` write only the marker, of an object without one or with an older one. `release` removes it. */
export const actions = ['create', 'update', 'replace', 'delete', 'adopt', 'mark', 'release', 'held', 'unchanged'] as const

export type Action = (typeof actions)[number]

/** The web app, another key or name of this project, or a previous project. */
export const takeovers = ['unmanaged', 'renamed', 'other-project'] as const

export type Takeover = (typeof takeovers)[number]

/**
 * What changed since the base: a side, both, or only what the files refer to or a secret. `decided`: whatever changed, `adopt` of the file
 * decides for it. `unknown`: the marker has no base.
 */
export const origins = ['files', 'service', 'both', 'references', 'decided', 'unknown'] as const

export type Origin = (typeof origins)[number]

export function spellOrigin(origin: Origin, since: string): string {
  if (origin === 'unknown') return 'differs, and whether the service changed is not known'
  if (origin === 'decided') return 'adopt decides for the file'
  if (origin === 'references') return 'changed in what it refers to, or a secret'
  return `changed in ${origin === 'both' ? 'both, the files and the service,' : `the ${origin}`} since ${since}`
}

interface ChangedObject<K extends KindName> {
  readonly kind: K
  /** The key in the files, or in the marker of an object that no file declares, where it can be read. */
  readonly key: string
  readonly name: string
  /** What a reviewer must know besides the fields. */
  readonly notes: readonly string[]
  readonly fields: readonly FieldChange[]
  readonly keptTiles?: KeptTiles | undefined
}

export interface Create<K extends KindName = KindName> extends ChangedObject<K> {
  readonly action: 'create'
  readonly location: Location
  readonly madeFrom?: string | undefined
  readonly summary: string
  readonly desired: Body
  readonly id?: undefined
  readonly stored?: undefined
}

interface ExistingObject<K extends KindName> extends ChangedObject<K> {
  readonly id: string
  readonly stored: StoredObject
  /** Before it is merged with the stored object. */
  readonly desired: Body
  /** The alerts are those on the tiles when the plan was made. */
  readonly removes?: { readonly tiles: readonly string[]; readonly alerts: readonly string[] }
  /** The names of the tiles that the write stores again, which may lose what the API does not return. */
  readonly rewrites?: readonly string[]
  /** The ids of the tiles to patch before the marker; undefined where the whole object is sent. */
  readonly patchedTileIds?: readonly string[]
}

export interface Update<K extends KindName = KindName> extends ExistingObject<K> {
  readonly action: 'update' | 'replace' | 'adopt' | 'mark' | 'unchanged'
  /** Undefined for an alert that moves from a twin, and that no file declares. */
  readonly location?: Location | undefined
  readonly madeFrom?: string | undefined
  /** Present where the object does not have the marker of this key yet. */
  readonly takeover?: Takeover | undefined
  /** Undefined where nothing differs, and where there is neither a base nor a marker. */
  readonly origin?: Origin | undefined
  /** Whether `adopt` decides that the file counts, for the object as it is now. Then a write may lose hidden parts. */
  readonly isDecided?: true
  /** As declared and without a marker, which would cost a write that can lose what the API does not return. */
  readonly isTracked?: true
  /** The only differences: what the server has filled in everywhere since the last apply. */
  readonly newDefaults?: readonly FieldChange[]
  readonly dropped?: readonly FieldChange[]
  readonly unclearable?: readonly string[]
}

export interface Held<K extends KindName = KindName> extends ChangedObject<K> {
  readonly action: 'held'
  readonly location?: Location | undefined
  readonly madeFrom?: string | undefined
  readonly desired: Body
  readonly origin?: Origin | undefined
  /** Whether the file changed, or nothing is linked. Otherwise it is a warning, and a difference in the drift check. */
  readonly isError: boolean
  readonly reason: string
  readonly remedies: readonly string[]
  /** Whether a pull leaves the object out, too: it is not clear whose it is, or which one is meant. */
  readonly isBlocked?: true
  /** Where the reason is not about the whole declaration. */
  readonly at?: Location | undefined
  readonly candidates?: readonly string[]
  /** Undefined where several objects could be meant, and for a new object. */
  readonly id?: string | undefined
  readonly stored?: StoredObject | undefined
}

export interface Release<K extends KindName = KindName> extends ExistingObject<K> {
  readonly action: 'release'
  readonly location?: undefined
}

export interface Delete<K extends KindName = KindName> extends ChangedObject<K> {
  readonly action: 'delete'
  readonly location?: undefined
  readonly desired?: undefined
  readonly id: string
  readonly stored: StoredObject
  readonly keeps?: string
}

export type Change<K extends KindName = KindName> = Create<K> | Update<K> | Held<K> | Release<K> | Delete<K>

export type Write = Update | Release

export const isWrite = (change: Change): change is Write =>
  change.action !== 'create' && change.action !== 'delete' && change.action !== 'held'

export const isPlanned = (change: Change): change is Create | Update =>
  change.action !== 'held' && change.action !== 'release' && change.action !== 'delete'

export const isDelete = <K extends KindName>(change: Change<K>): change is Delete<K> => change.action === 'delete'

export const isHeld = (change: Change): change is Held => change.action === 'held'

/** By the id for a delete or a release: no file declares its object. */
export const slotOf = (change: Change): string =>
  change.action === 'delete' || change.action === 'release' ? `${change.kind} ${change.id}` : addressOf(change)

export const addressOfChange = ({ kind, key, name }: Change): string => addressOf({ kind, key: key || quote(name) })

export const staysAsItIs = ({ action }: Pick<Change, 'action'>): boolean => action === 'unchanged' || action === 'held'

export const isTakeover = (change: Change): change is Update => 'takeover' in change && change.takeover !== undefined

export interface Plan {
  readonly project: string
  /** In the order in which they are applied, deletes last. */
  readonly changes: readonly Change[]
  /** Objects with this project's marker that no file declares, and that stay. */
  readonly orphans: readonly { readonly kind: KindName; readonly id: string; readonly name: string; readonly key: string }[]
  /** Without a marker, and in no file. */
  readonly unmanaged?: Readonly<Partial<Record<KindName, number>>>
  readonly diagnostics: readonly Diagnostic[]
  readonly seen: Readonly<Partial<Record<KindName, number>>>
}

export const changesOf = <K extends KindName>(changes: readonly Change[], kind: K): readonly Change<K>[] =>
  changes.filter((change): change is Change<K> => change.kind === kind)

export const isDifference = ({ action }: Pick<Change, 'action'>): boolean =>
  action !== 'unchanged' && action !== 'adopt' && action !== 'mark'

const findDeclared = createKeyIndex<Declared>((one) => [addressOf(one)])

export const declaredBy = (change: Change, objects: readonly Declared[]): Declared | undefined => findDeclared(objects, addressOf(change))

/** Where nothing goes wrong, and each update reads its object again. */
export function countRequests(changes: readonly Change[]): number {
  const writes = changes.filter((change) => !staysAsItIs(change))
  const ofOne = (change: Change): number => {
    if (change.action === 'create') return 1
    if (change.action === 'replace') return 3
    if (change.action === 'delete') return 2
    if (!isWrite(change)) return 0
    if (change.patchedTileIds !== undefined) return 2 * change.patchedTileIds.length + 3
    return change.removes === undefined ? 2 : 4
  }
  const verified = new Set(writes.filter(({ action }) => action !== 'delete').map(({ kind }) => kind))
  return writes.reduce((sum, change) => sum + ofOne(change), verified.size)
}

export const successes = ['created', 'updated', 'replaced', 'deleted', 'adopted', 'marked', 'released', 'held', 'unchanged'] as const

/** The most serious first. `unknown`: the request was sent. */
export const undone = ['unknown', 'failed', 'skipped'] as const

export const outcomeKinds = [...successes, ...undone] as const

export type OutcomeKind = (typeof outcomeKinds)[number]

export interface Outcome {
  readonly change: Change
  readonly became: OutcomeKind
  readonly id?: string | undefined
  readonly message?: string | undefined
  readonly wasDeleted?: boolean
  readonly isUnmarked?: true
  readonly isOfOtherRun?: true
  readonly errorKind?: ErrorKind | undefined
  readonly serverChanged?: readonly FieldChange[]
  readonly stored?: StoredObject | undefined
}

export const successKinds: Readonly<Record<Action, OutcomeKind>> = {
  create: 'created',
  update: 'updated',
  replace: 'replaced',
  delete: 'deleted',
  adopt: 'adopted',
  mark: 'marked',
  release: 'released',
  held: 'held',
  unchanged: 'unchanged',
}

export const isSuccess = (became: OutcomeKind): boolean => !undone.some((one) => one === became)

/** Whether anything was written, as far as known. */
export const isWritten = ({ became, wasDeleted = false }: Outcome): boolean =>
  wasDeleted || (isSuccess(became) && became !== 'unchanged' && became !== 'held')
