import type { Diagnostic, Location } from '../../core/diagnostics.ts'
import type { FieldChange } from '../../kinds/compare.ts'
import type { Body, StoredObject } from '../../kinds/kind.ts'
import type { KindName } from '../../kinds/kind-names.ts'

/**
 * `adopt`: the object is as declared already and only gets the ownership marker. `mark`: it has the marker, and only gets the repository or
 * the digest of the declaration in it. `release`: the object loses its marker and becomes unmanaged.
 */
export const actions = ['create', 'update', 'replace', 'delete', 'adopt', 'mark', 'release', 'unchanged'] as const

export type Action = (typeof actions)[number]

export interface Change {
  readonly kind: KindName
  /** The key in the files; for a delete the one in the ownership marker, where it can be read. */
  readonly key: string
  readonly name: string
  readonly action: Action
  /** Undefined for what does not exist yet. */
  readonly id?: string | undefined
  /** Where it is declared. */
  readonly location?: Location | undefined
  /** The object does not have the ownership marker of this key yet, and the files take it over. */
  readonly isAdopted: boolean
  /** The only differences: fields that the server has filled in everywhere since the last apply. */
  readonly newDefaults?: readonly FieldChange[]
  /** Fields that the files removed, and that no update can clear. */
  readonly unclearable?: readonly string[]
  /** Which side changed since the last apply; undefined where nothing differs or it is unknown. */
  readonly origin?: 'files' | 'service' | undefined
  /** What a reviewer must know besides the fields. */
  readonly notes: readonly string[]
  /** What it was made from, such as `slos.checkout`. */
  readonly madeFrom?: string | undefined
  /** Of a create: what the object is. */
  readonly summary?: string
  readonly fields: readonly FieldChange[]
  /** The body to send, before it is merged with the existing object; undefined for a delete. */
  readonly desired?: Body | undefined
  readonly stored?: StoredObject | undefined
  /** For a duplicate that is deleted: the id of the object that stays. */
  readonly keeps?: string
  /** The tiles that an update of a dashboard removes, and the alerts on them when the plan was made. */
  readonly removes?: { readonly tiles: readonly string[]; readonly alerts: readonly string[] }
  /** The names of the tiles that the write stores again, and that may lose the parts that the API does not return. */
  readonly rewrites?: readonly string[]
  /** The ids of the tiles to patch before the marker; undefined where the whole object is sent. */
  readonly patches?: readonly string[]
}

/** A value: it holds everything needed to show it and to apply it. */
export interface Plan {
  readonly project: string
  /** In the order in which they are applied, deletes last. */
  readonly changes: readonly Change[]
  /** Objects with this project's marker that no file declares, and that stay. */
  readonly orphans: readonly { readonly kind: KindName; readonly id: string; readonly name: string; readonly key: string }[]
  /** Objects of the service that have no ownership marker, and that no file declares. */
  readonly unmanaged?: Readonly<Partial<Record<KindName, number>>>
  /** Errors stop the plan from being applied. */
  readonly diagnostics: readonly Diagnostic[]
  /** How many objects of each section the service has. */
  readonly seen: Readonly<Partial<Record<KindName, number>>>
}

/** Whether the remote object differs from the files. */
export const isDifference = ({ action }: Pick<Change, 'action'>): boolean =>
  action !== 'unchanged' && action !== 'adopt' && action !== 'mark'
