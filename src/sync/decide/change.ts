import type { FieldChange } from '../../kinds/compare.ts'
import type { Body, KeptTiles, StoredObject } from '../../kinds/kind.ts'
import { addressOf, type KindName } from '../../kinds/kind-names.ts'
import type { Declared } from '../../kinds/kinds.ts'
import type { Diagnostic, Location } from '../../platform/core/diagnostics.ts'
import { createKeyIndex } from '../../platform/core/keys.ts'
import { quote } from '../../platform/core/text.ts'

/**
 * `adopt`: the object is as declared already and only gets the ownership marker. `mark`: it has the marker, and only gets the repository or
 * the digest of the declaration in it. `release`: the object loses its marker and becomes unmanaged. `held`: the object differs, and stays as
 * it is, because writing it could lose a person's work.
 */
export const actions = ['create', 'update', 'replace', 'delete', 'adopt', 'mark', 'release', 'held', 'unchanged'] as const

export type Action = (typeof actions)[number]

/**
 * What the files take an object over from: the web app, another key or name of this project, or a previous project.
 */
export const takeovers = ['unmanaged', 'renamed', 'other-project'] as const

export type Takeover = (typeof takeovers)[number]

/** What changed since the base: a side, both, or only what the files refer to or a secret. `unknown`: the marker has no base. */
export const origins = ['files', 'service', 'both', 'references', 'unknown'] as const

export type Origin = (typeof origins)[number]

/** `changed in the files since the last apply`. */
export function spellOrigin(origin: Origin, since: string): string {
  if (origin === 'unknown') return 'differs, and whether the service changed is not known'
  if (origin === 'references') return 'changed in what it refers to, or a secret'
  return `changed in ${origin === 'both' ? 'both, the files and the service,' : `the ${origin}`} since ${since}`
}

interface ChangedObject<K extends KindName> {
  readonly kind: K
  /** The key in the files; for an object that no file declares the one in its ownership marker, where it can be read. */
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
  /** What it was made from, such as `slos.checkout`. */
  readonly madeFrom?: string | undefined
  readonly summary: string
  readonly desired: Body
  readonly id?: undefined
  readonly stored?: undefined
}

/** A declared object that exists. */
export interface Update<K extends KindName = KindName> extends ChangedObject<K> {
  readonly action: 'update' | 'replace' | 'adopt' | 'mark' | 'unchanged'
  /** Location of the declaration; undefined for an alert that moves from a twin, and that no file declares. */
  readonly location?: Location | undefined
  readonly madeFrom?: string | undefined
  /** The body to send, before it is merged with the stored object. */
  readonly desired: Body
  readonly id: string
  readonly stored: StoredObject
  /** Present where the object does not have the ownership marker of this key yet, and the files take it over. */
  readonly takeover?: Takeover | undefined
  /** Undefined where nothing differs, and for an object without a base that has no marker. */
  readonly origin?: Origin | undefined
  /** Whether `adopt` decides that the file counts, for the object as it is now. Then a write may lose hidden parts. */
  readonly isDecided?: true
  /** Whether an object without a marker is as declared, and its marker would cost a write that can lose what the API does not return. */
  readonly isTracked?: true
  /** The only differences: fields that the server has filled in everywhere since the last apply. */
  readonly newDefaults?: readonly FieldChange[]
  /** Declared fields that the server did not store with the last write. */
  readonly dropped?: readonly FieldChange[]
  /** Fields that the files removed, and that no update can clear. */
  readonly unclearable?: readonly string[]
  /** The tiles that an update of a dashboard removes, and the alerts on them when the plan was made. */
  readonly removes?: { readonly tiles: readonly string[]; readonly alerts: readonly string[] }
  /** The names of the tiles that the write stores again, and that may lose the parts that the API does not return. */
  readonly rewrites?: readonly string[]
  /** The ids of the tiles to patch before the marker; undefined where the whole object is sent. */
  readonly patchedTileIds?: readonly string[]
}

/** A declared object that stays as it is, with whatever depends on the difference. */
export interface Held<K extends KindName = KindName>
  extends ChangedObject<K>,
    Pick<Update<K>, 'location' | 'madeFrom' | 'desired' | 'origin'> {
  readonly action: 'held'
  /** Whether the run fails: the file changed, or nothing is linked. Otherwise it is a warning, and a difference in the drift check. */
  readonly isError: boolean
  readonly reason: string
  readonly remedies: readonly string[]
  /** Whether it is not clear whose the object is, or which one is meant, so that a pull leaves it out, too. */
  readonly isBlocked?: true
  /** The place in a file that the reason is about, where it is not that of the declaration. */
  readonly at?: Location | undefined
  /** The ids of the objects of which one could be meant, where it is not clear which. */
  readonly candidates?: readonly string[]
  /** Undefined where several objects could be meant, and for a new object that waits for a held one. */
  readonly id?: string | undefined
  readonly stored?: StoredObject | undefined
}

export interface Release<K extends KindName = KindName>
  extends ChangedObject<K>,
    Pick<Update<K>, 'id' | 'desired' | 'stored' | 'removes' | 'rewrites' | 'patchedTileIds'> {
  readonly action: 'release'
  readonly location?: undefined
}

export interface Delete<K extends KindName = KindName> extends ChangedObject<K> {
  readonly action: 'delete'
  readonly location?: undefined
  readonly desired?: undefined
  readonly id: string
  readonly stored: StoredObject
  /** The id of the object that stays in place of a twin. */
  readonly keeps?: string
}

export type Change<K extends KindName = KindName> = Create<K> | Update<K> | Held<K> | Release<K> | Delete<K>

/** A change that keeps an object that exists. */
export type Write = Update | Release

export const isWrite = (change: Change): change is Write =>
  change.action !== 'create' && change.action !== 'delete' && change.action !== 'held'

/** A change of a declared object that is not held. */
export const isPlanned = (change: Change): change is Create | Update =>
  change.action !== 'held' && change.action !== 'release' && change.action !== 'delete'

export const isDelete = <K extends KindName>(change: Change<K>): change is Delete<K> => change.action === 'delete'

export const isHeld = (change: Change): change is Held => change.action === 'held'

/** The address of the object. A delete or a release has no address, because no file declares its object, so it has the id. */
export const slotOf = (change: Pick<Change, 'kind' | 'key' | 'action' | 'id'>): string =>
  change.action === 'delete' || change.action === 'release' ? `${change.kind} ${change.id}` : addressOf(change)

/** The address for messages. An object without a key has its name. */
export const addressOfChange = ({ kind, key, name }: Change): string => addressOf({ kind, key: key || quote(name, 60) })

export const notesOf = (change: Change): readonly string[] =>
  isHeld(change) ? [change.reason, ...change.remedies, ...change.notes] : change.notes

/** Whether apply leaves the object as it is. */
export const staysAsItIs = ({ action }: Pick<Change, 'action'>): boolean => action === 'unchanged' || action === 'held'

/** Whether the files take the object over from another key, another project or the web app. */
export const isTakeover = (change: Change): change is Update => 'takeover' in change && change.takeover !== undefined

/** A value: it holds everything needed to show it and to apply it. */
export interface Plan {
  readonly project: string
  /** Changes in the order in which they are applied, deletes last. */
  readonly changes: readonly Change[]
  /** Objects with this project's marker that no file declares, and that stay. */
  readonly orphans: readonly { readonly kind: KindName; readonly id: string; readonly name: string; readonly key: string }[]
  /** Objects of the service that have no ownership marker, and that no file declares. */
  readonly unmanaged?: Readonly<Partial<Record<KindName, number>>>
  readonly diagnostics: readonly Diagnostic[]
  readonly seen: Readonly<Partial<Record<KindName, number>>>
}

export const changesOf = <K extends KindName>({ changes }: Pick<Plan, 'changes'>, kind: K): readonly Change<K>[] =>
  changes.filter((change): change is Change<K> => change.kind === kind)

/** Whether the stored object differs from the files. */
export const isDifference = ({ action }: Pick<Change, 'action'>): boolean =>
  action !== 'unchanged' && action !== 'adopt' && action !== 'mark'

const findDeclared = createKeyIndex<Declared>((one) => [addressOf(one)])

/** The declaration of an object in the plan. */
export const declaredBy = (change: Change, objects: readonly Declared[]): Declared | undefined => findDeclared(objects, addressOf(change))

/** The requests to write these changes and to verify them, where nothing goes wrong. An update needs no GET where it uses a list. */
export function countRequests(changes: readonly Change[], usesLists: boolean): number {
  const writes = changes.filter((change) => !staysAsItIs(change))
  const ofOne = (change: Change): number => {
    if (change.action === 'create') return 1
    if (change.action === 'replace') return 3
    if (change.action === 'delete') return 2
    if (!isWrite(change)) return 0
    if (change.patchedTileIds !== undefined) return 2 * change.patchedTileIds.length + 3
    return (usesLists ? 1 : 2) + (change.removes === undefined ? 0 : 2)
  }
  const verified = new Set(writes.filter(({ action }) => action !== 'delete').map(({ kind }) => kind))
  return writes.reduce((sum, change) => sum + ofOne(change), verified.size)
}
