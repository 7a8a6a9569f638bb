import type { FieldChange } from '../resources/compare.ts'
// Owns what a plan is made of. A plan is a value: it holds all that is needed to show it and, with the desired bodies, to apply it.

import type { Diagnostic, Location } from '../core/diagnostics.ts'
import type { Body, RemoteObject, Section } from '../resources/resource-type.ts'

/** `adopt` marks an object that is already as declared: nothing about it changes. */
export const actions = ['create', 'update', 'replace', 'delete', 'adopt', 'unchanged'] as const

export type Action = (typeof actions)[number]

export interface Change {
  readonly section: Section
  /** The key in the files; for a delete the one in the mark, where that can be read. */
  readonly key: string
  readonly name: string
  readonly action: Action
  /** Undefined for what does not exist yet. */
  readonly id?: string | undefined
  /** Where it is declared. */
  readonly location?: Location | undefined
  /** An object without the ownership marker of this key, that the files take over. */
  readonly isAdopted: boolean
  /** Nothing differs but these fields, which the server fills in everywhere since the last apply. */
  readonly newDefaults?: readonly FieldChange[]
  /** Fields that the files leave out, and that no update can clear. */
  readonly unclearable?: readonly string[]
  /** Which side moved since the last apply; undefined where nothing differs or nobody can tell. */
  readonly origin?: 'files' | 'service' | undefined
  /** What a reviewer must know beside the fields. */
  readonly notes: readonly string[]
  readonly fields: readonly FieldChange[]
  /** What is sent, before it is laid over what exists; undefined for a delete. */
  readonly desired?: Body | undefined
  readonly actual?: RemoteObject | undefined
  /** The tiles that an update of a dashboard takes away, and the alerts that were seen on them. */
  readonly takes?: { readonly tiles: readonly string[]; readonly alerts: readonly string[] }
}

export interface Plan {
  readonly project: string
  /** In the order in which they are applied, deletes last. */
  readonly changes: readonly Change[]
  /** Objects with this project's mark that no file declares, and that stay. */
  readonly orphans: readonly { readonly section: Section; readonly id: string; readonly name: string; readonly key: string }[]
  /** What must be right before anything is written, and what is worth knowing. */
  readonly diagnostics: readonly Diagnostic[]
  /** How many objects of each kind the service had. */
  readonly seen: Readonly<Partial<Record<Section, number>>>
}

/** Whether the service differs from the files. */
export const isDifference = ({ action }: Pick<Change, 'action'>): boolean => action !== 'unchanged' && action !== 'adopt'
