import type * as z from 'zod'
import type { Collection } from '../api/collection.ts'
import type { FoundMarker, MarkerStyle, OwnershipMarker, SnapshotMarker } from './marker.ts'

/** The kinds of object that files declare, by their section in a file. */
export const sectionNames = ['dashboards', 'savedSearches', 'alerts'] as const

export type Section = (typeof sectionNames)[number]

/** An object in the API's own names, as far as it may be sent. */
export type Body = Readonly<Record<string, unknown>>

/** An object as the API answers it. */
export interface RemoteObject {
  readonly id: string
  readonly name?: string | null | undefined
  readonly [field: string]: unknown
}

export interface ResourceType {
  readonly section: Section
  readonly noun: string
  readonly collection: Collection<RemoteObject, Body>
  /** The fields that files have a say in, in the API's names, with the server's defaults. */
  readonly schema: z.ZodType
  /** For each field that an update can clear, the value that clears it; undefined where leaving it out does. */
  readonly clearWith: Body
  /** The part of an answered object that may be sent again. */
  toBody(actual: RemoteObject): Body
  readonly markerStyle: MarkerStyle
  readMarker(body: Body): FoundMarker | undefined
  /** Replaces the ownership marker, and takes a snapshot marker away: it is about what was stored before. */
  withMarker(body: Body, mark: OwnershipMarker): Body
  readSnapshot(body: Body): SnapshotMarker | undefined
  withSnapshot(body: Body, digest: string): Body
  /** Without markers, without what is empty or means nothing beside the other fields, in an order of its own. */
  canonical(body: Body): Body
  /** Gives parts of the desired body the ids that they have in the actual one. */
  carryOverIds(desired: Body, actual: Body): Body
}

export const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? (value as readonly Body[]) : [])
