import type * as z from 'zod'
import type { Collection } from '../api/collection.ts'
import type { Diagnostic, Location } from '../core/diagnostics.ts'
import type { Directory } from './directory.ts'
import type { MarkerStyle, OwnershipMarker, SnapshotMarker, StoredMarker } from './marker.ts'

/** The types of resource that files declare, by their section in a file. */
export const sectionNames = ['dashboards', 'savedSearches', 'alerts'] as const

export type Section = (typeof sectionNames)[number]

export const sectionNouns: Readonly<Record<Section, string>> = { dashboards: 'dashboard', savedSearches: 'saved search', alerts: 'alert' }

/**
 * An object in the API's own names, as far as it may be sent. The values are unknown because a body also holds fields that no schema of
 * ours knows, and ids that are not known yet (see `PendingId`).
 */
export type Body = Readonly<Record<string, unknown>>

/** An object as the API answers it. */
export interface RemoteObject {
  readonly id: string
  readonly name?: string | null | undefined
  readonly [field: string]: unknown
}

/** The section and key of an object in a file. */
export interface DeclaredKey<S extends Section = Section> {
  readonly section: S
  readonly key: string
  /** Where its key stands. */
  readonly location: Location
}

/** An object that a file declares, valid by itself. */
export interface DeclaredObject<Value = unknown, S extends Section = Section> extends DeclaredKey<S> {
  readonly value: Value
  /** Where a value inside it stands. */
  locationOf(path: readonly PropertyKey[]): Location
}

/** A declaration in the API's own names, and the references in it that could not be resolved. */
export interface ResolvedDeclaration {
  readonly body: Body
  readonly diagnostics: readonly Diagnostic[]
}

/** What references in a declaration can mean. */
export interface ResolveContext {
  /** The objects that the service has, by name. */
  readonly directory: Directory
  /** The objects of these files that an alert can watch, by key. */
  readonly dashboards: ReadonlyMap<string, AlertTarget>
  readonly savedSearches: ReadonlyMap<string, AlertTarget>
  /** The tiles of a dashboard that exists, by its id. */
  tilesOf(dashboardId: string): readonly Body[]
}

/** An object of these files that an alert can watch. */
export interface AlertTarget {
  /** Undefined when it is to be created. */
  readonly id: string | undefined
  /** Of a dashboard as it will be, each with its id where it has one. */
  readonly tiles: readonly Body[]
}

/** What plan and apply need to know of one type of resource. They know no type by name, except for the references of alerts. */
export interface ResourceType<Declared extends DeclaredObject = DeclaredObject> {
  readonly section: Section
  readonly noun: string
  readonly collection: Collection<RemoteObject, Body>
  /** The fields that files can declare, in the API's names, with the server's defaults. */
  readonly schema: z.ZodType
  /** For each field that an update can clear, the value that clears it; undefined where leaving it out does. */
  readonly clearWith: Body
  /** Translates a declaration into what the API takes. */
  resolve(declared: Declared, context: ResolveContext): ResolvedDeclaration
  /** The part of an answered object that may be sent again. */
  toBody(remote: RemoteObject): Body
  readonly markerStyle: MarkerStyle
  readMarker(body: Body): StoredMarker | undefined
  /** Replaces the ownership marker, and removes a snapshot marker: it is about what was stored before. */
  withMarker(body: Body, marker: OwnershipMarker): Body
  readSnapshot(body: Body): SnapshotMarker | undefined
  withSnapshot(body: Body, digest: string): Body
  /** Without markers, without what is empty or has no effect beside the other fields, and with lists in a fixed order. */
  canonical(body: Body): Body
  /** Gives parts of the desired body the ids that they have in the stored one. */
  carryOverIds(desired: Body, stored: Body): Body
}

export const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? (value as readonly Body[]) : [])
