import type * as z from 'zod'
import type { Collection } from '../api/collection.ts'
import type { Profile } from '../api/profiles.ts'
import type { Section } from '../sync/declarations.ts'
import { createAlertKind } from './alerts/alert-type.ts'
import { dashboardKind } from './dashboards/dashboard-type.ts'
import type { FoundMark, Mark, MarkStyle, SnapshotMarker } from './marker.ts'
import { savedSearchKind } from './saved-searches/saved-search-type.ts'

// What the engine must know of a kind of object. The engine itself knows no kind by name.

/** An object in the API's own names, as far as it may be sent. */
export type Body = Readonly<Record<string, unknown>>

/** An object as the API answers it. */
export interface Actual {
  readonly id: string
  readonly name?: string | null | undefined
  readonly [field: string]: unknown
}

export interface Kind {
  readonly section: Section
  readonly noun: string
  readonly collection: Collection<Actual, Body>
  /** The fields that files have a say in, in the API's names, with the server's defaults. */
  readonly schema: z.ZodType
  /** For each field that an update can clear, the value that clears it; undefined where leaving it out does. */
  readonly clearWith: Body
  /** The part of an answered object that may be sent again. */
  bodyOf(actual: Actual): Body
  readonly markStyle: MarkStyle
  markIn(body: Body): FoundMark | undefined
  /** Replaces the ownership marker, and takes a snapshot marker away: it is about what was stored before. */
  withMark(body: Body, mark: Mark): Body
  snapshotIn(body: Body): SnapshotMarker | undefined
  withSnapshot(body: Body, digest: string): Body
  /** Without markers, without what is empty or means nothing beside the other fields, in an order of its own. */
  plain(body: Body): Body
  /** Gives parts of the desired body the ids that they have in the actual one. */
  withIds(desired: Body, actual: Body): Body
}

// Owns the kinds that a product behind the API has.

export type Kinds = { readonly [S in Section]: Kind & { readonly section: S } }

/** The fields of an alert that the neutral contract documents. */
export const neutralAlertFields: readonly string[] = [
  'dashboardId',
  'tileId',
  'threshold',
  'interval',
  'source',
  'thresholdType',
  'channel',
  'name',
  'message',
]

export const createKinds = ({ extraAlertFields }: Profile): Kinds => ({
  savedSearches: savedSearchKind,
  dashboards: dashboardKind,
  alerts: createAlertKind((field) => neutralAlertFields.includes(field) || extraAlertFields.includes(field)),
})
