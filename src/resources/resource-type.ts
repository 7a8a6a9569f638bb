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
 * The part of an object that may be sent, with the API's names. The values are unknown, because a body also holds fields that are in no
 * schema here, and ids of objects that are not created yet (see `PendingId`).
 */
export type Body = Readonly<Record<string, unknown>>

/** An object as the API returns it. */
export interface RemoteObject {
  readonly id: string
  readonly name?: string | null | undefined
  readonly [field: string]: unknown
}

/** The section and key of an object in a file. */
export interface DeclaredKey<S extends Section = Section> {
  readonly section: S
  readonly key: string
  /** Place of its key. */
  readonly location: Location
}

/** An object that a file declares, valid by itself. */
export interface DeclaredObject<Value = unknown, S extends Section = Section> extends DeclaredKey<S> {
  readonly value: Value
  /** The object as its file spells it, with its defaults. */
  readonly written: unknown
  /** Place of a value inside it. */
  locationOf(path: readonly PropertyKey[]): Location
  /** The path in the file, for messages: `dashboards.shop.tiles["Errors"].config`. */
  pathOf(path: readonly PropertyKey[]): string
}

/** A declaration with the API's names, and the references in it that could not be resolved. */
export interface ResolvedDeclaration {
  readonly body: Body
  readonly diagnostics: readonly Diagnostic[]
}

/** The objects that references in a declaration can refer to. */
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
  /** Undefined for an object that is not created yet. */
  readonly id: string | undefined
  /** The tiles of a dashboard after the plan, each with its id where it has one. */
  readonly tiles: readonly Body[]
}

/** One type of resource, for plan and apply. They name no type themselves, except for the references of alerts. */
export interface ResourceType<Declared extends DeclaredObject = DeclaredObject> {
  readonly section: Section
  readonly noun: string
  readonly collection: Collection<RemoteObject, Body>
  /** The fields that files can declare, in the API's names, with the server's defaults. */
  readonly schema: z.ZodType
  /** For each field that an update can clear, the value that clears it; undefined where leaving the field out clears it. */
  readonly clearWith: Body
  /** Translates a declaration into the form of the API. */
  resolve(declared: Declared, context: ResolveContext): ResolvedDeclaration
  /** Why no file can declare the object; undefined where one can. Absent where files can declare every object. */
  explainUndeclarable?(remote: RemoteObject): string | undefined
  /** The part of a returned object that may be sent again. */
  toBody(remote: RemoteObject): Body
  readonly markerStyle: MarkerStyle
  readMarker(body: Body): StoredMarker | undefined
  /** Replaces the ownership marker, and removes a snapshot marker, which describes the previous object. */
  withMarker(body: Body, marker: OwnershipMarker): Body
  readSnapshot(body: Body): SnapshotMarker | undefined
  withSnapshot(body: Body, digest: string): Body
  /** Without markers, empty fields and fields without effect, and with lists in a fixed order. */
  canonical(body: Body): Body
  /** Gives the desired body what it must repeat from the stored one: ids of tiles and filters, fields of channels, the start of an alert. */
  carryOverIds(desired: Body, stored: Body): Body
  /** The stored body without values that are not a difference; `declared` is after `carryOverIds`. Absent where every value counts. */
  comparedPart?(stored: Body, declared: Body): Body
  /** The stored body without values that `pull` does not write into the file. Absent where it writes every value. */
  pulledPart?(stored: Body, desired: Body): Body
}

/** The value if it is a list, else an empty list. */
export const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? (value as readonly Body[]) : [])
