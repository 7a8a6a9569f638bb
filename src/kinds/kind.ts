import type * as z from 'zod'
import type { ReadApi } from '../platform/api/client.ts'
import type { Collection } from '../platform/api/collection.ts'
import type { Target } from '../platform/api/path.ts'
import type { Diagnostic, Location, Rules } from '../platform/core/diagnostics.ts'
import { quote } from '../platform/core/text.ts'
import { type KindName, placeOfTile } from './kind-names.ts'
import type { MarkerStyle, OwnershipMarker, StoredMarker } from './marker.ts'
import type { NameIndex, ReferableKind } from './name-index.ts'
import type { ReadSecret } from './secret.ts'

/**
 * The part of an object that may be sent, with the API's names. The values are unknown, because a body also holds fields that are in no
 * schema here, and ids of objects that are not created yet (see `PendingId`).
 */
export type Body = Readonly<Record<string, unknown>>

/** What an alert without a name watches. Copies of the alert keep it, and nothing writes it. */
const watchedName = Symbol('watched name')

export interface StoredObject {
  readonly id: string
  readonly name?: string | null | undefined
  readonly [watchedName]?: string | undefined
  readonly [field: string]: unknown
}

/** What an alert watches: the id of a saved search, or those of a dashboard and its tile, because a copy of a dashboard has equal tile ids. */
export function watchedPlaceOf({ savedSearchId, dashboardId, tileId }: Body): string | undefined {
  if (typeof savedSearchId === 'string') return savedSearchId
  return typeof dashboardId === 'string' && typeof tileId === 'string' ? placeOfTile(dashboardId, tileId) : undefined
}

/** The names of saved searches and of tiles, by `watchedPlaceOf`. */
export const watchedNames = (
  objects: readonly (Pick<StoredObject, 'id' | 'name'> & { readonly tiles?: unknown })[],
): readonly (readonly [string, string])[] =>
  objects.flatMap(({ id, name, tiles }) => [
    ...(tiles === undefined && name ? [[id, name] as const] : []),
    ...listOf(tiles).flatMap((tile) =>
      typeof tile.name === 'string' && tile.name !== '' ? [[placeOfTile(id, tile.id), tile.name] as const] : [],
    ),
  ])

/** `names` are those of `watchedNames`. */
export const withWatchedNames = <T extends StoredObject>(alerts: readonly T[], names: ReadonlyMap<string, string>): readonly T[] =>
  alerts.map((alert) => (alert.name ? alert : { ...alert, [watchedName]: names.get(watchedPlaceOf(alert) ?? '') }))

/** For an alert without a name, its display name or what it watches. Empty where none is known. */
export const storedLabelOf = ({ name, displayName, [watchedName]: watched }: StoredObject): string =>
  name || (typeof displayName === 'string' && displayName) || watched || ''

/** `"Errors" (65f…)`; only the id of an object without a name. */
export function describeStored(stored: StoredObject): string {
  const label = storedLabelOf(stored)
  return label === '' ? stored.id : `"${quote(label)}" (${stored.id})`
}

/** A gateway refuses the fields that the server sets in a body. */
export function withoutServerFields(object: StoredObject): Body {
  const { id: _id, teamId: _team, createdAt: _created, updatedAt: _updated, ...body } = object
  return body
}

export interface DeclaredKey<S extends KindName = KindName> {
  readonly kind: S
  readonly key: string
  readonly location: Location
}

export interface DeclaredObject<Value = unknown, S extends KindName = KindName> extends DeclaredKey<S> {
  readonly value: Value
  readonly spelled: unknown
  /** What it was made from, such as `slos.checkout`; absent for an object that the file spells out. */
  readonly madeFrom?: string
  /** Keys of the alerts whose queries a dashboard has, by the names of their tiles. */
  readonly queries?: ReadonlyMap<string, string>
  /** References to objects that the service lacks, so that its value is not the one to store. */
  readonly unresolved?: readonly UnresolvedReference[]
  locationOf(path: readonly PropertyKey[]): Location
  /** The path in the file, for messages: `dashboards.shop.tiles["Errors"].config`. */
  pathOf(path: readonly PropertyKey[]): string
}

/** `path` is that of the reference in the value of the declaration. */
export interface UnresolvedReference extends Diagnostic {
  readonly path: readonly PropertyKey[]
}

/** A declaration with the API's names, and the references in it that could not be resolved. */
export interface ResolvedDeclaration {
  readonly body: Body
  readonly diagnostics: readonly UnresolvedReference[]
  readonly keptTiles?: KeptTiles | undefined
}

/** The last tiles of a desired dashboard, which no file declares, and which stay as the API shows them. */
export interface KeptTiles {
  readonly count: number
  /** Whether one of them is a tile that no alert of this project is on. */
  readonly haveOthers: boolean
}

export interface ResolveContext {
  /** Variables of the process with secrets. Undefined for one that is not set. */
  readonly secret: ReadSecret
  /** The objects that the service has after the plan, by name. */
  readonly nameIndex: NameIndex
  readonly sources: readonly StoredObject[]
  /** The objects that an alert can watch: by their key in these files, or, without files, by their id or name. */
  readonly dashboards: AlertTargets
  readonly savedSearches: AlertTargets
  /** What they are found by, for messages; `a key in these files` by default. */
  readonly keysAre?: string
  tilesOf(dashboardId: string): readonly Body[]
  /** The object that the declaration will change; undefined for a new one, and where it is not known. */
  readonly stored?: StoredObject | undefined
  /** Who the tiles of dashboards are for. Undefined without a service. */
  readonly tileOwners?: TileOwners
}

interface AlertTargets {
  get(key: string): AlertTarget | undefined
}

export interface TileOwners {
  /** The tile of an alert with a query, by its key; undefined for a new alert. */
  tileOf(key: string): unknown
  /** `ours`: an alert of this project is on the tile. `held`: and it stays as it is. `ending`: and the plan ends all alerts on it. */
  ownerOf(tileId: unknown): 'ours' | 'held' | 'ending' | undefined
}

/** The tiles of a dashboard after the plan, each with its id where it has one. */
export interface PlannedTiles {
  readonly tiles: readonly Body[]
  readonly keptTiles?: KeptTiles | undefined
}

export interface AlertTarget extends PlannedTiles {
  /** Undefined for an object that is not created yet. */
  readonly id: string | undefined
}

/** What an object is called, and whose it is. The markers are a part of its body. */
export interface KindIdentity<Declared extends DeclaredObject = DeclaredObject> {
  readonly name: KindName
  readonly label: string
  /** What shows that files manage an object: a marker inside it, or its identity, where the API has no field for a marker. */
  readonly ownership: 'marker' | 'identity'
  /** How other declarations refer to an object by its name, before and after it is created. */
  readonly referredToAs?: ReferableKind
  /** Identifies an object in a list. Only the declared and the stored body of one object have the same token, so apply finds what it created. */
  tokenOf(body: Body): string | undefined
  readonly markerStyle: MarkerStyle
  /** The field whose text or tags hold the marker. */
  readonly markedField?: string
  /** What an object without a name is found by. */
  placeOf?(body: Body): string | undefined
  readMarker(body: Body): StoredMarker | undefined
  /** The new marker has no base. */
  withMarker(body: Body, marker: OwnershipMarker, declared?: Declared['value']): Body
  withoutMarker(body: Body): Body
  withBase(body: Body, base: string): Body
}

export interface KindWire {
  readonly collection: Collection<StoredObject, Body>
  /** The fields that files can declare, in the API's names, with the server's defaults. */
  readonly schema: z.ZodObject
  /** Whether a write of the whole object loses parts that the API does not return. Some servers can write its marker alone. */
  readonly hasHiddenParts?: true
  /** Whether `rewrite` writes objects that need no change. */
  readonly canRewrite?: true
  readonly clearsBy: Body
  toBody(stored: StoredObject): Body
  /** The body without markers, empty fields and fields without effect, and with lists in a fixed order. */
  canonical(body: Body): Body
  /** Gives the desired body what it must repeat from the stored one: ids of tiles and filters, fields of channels, the start of an alert. */
  withStoredIds(desired: Body, stored: Body): Body
  /** The stored body without values that are not a difference; `declared` is after `withStoredIds`. */
  comparedPart?(stored: Body, declared: Body): Body
  /**
   * Fields that refer to objects of the same kind, and that a create may leave out, because the objects can refer to each other in a
   * circle. An update adds them.
   */
  deferredFields?(body: Body): readonly string[]
  /** Completes the body of a write with what describes values that the API never returns. */
  completeMarker?(body: Body): Body
  /** The part of a body that a base covers: without ids of tiles and filters, secrets, and starts. */
  basePart?(body: Body): Body
  /** Fields that only newer servers have, which answer them for every object. */
  readonly newerFields?: readonly string[]
  /** Fields with secrets. `repair: secrets` is about objects that have one, and nothing shows which side changed such a field. */
  readonly secretFields?: readonly string[]
  /** Lets the server validate the body of a write without storing it. Throws kind `not-served` on an older one. */
  validate?(api: ReadApi, service: Target, body: Body): Promise<readonly InvalidField[]>
  /** The desired body of an object that is deleted and created again, with what it keeps of the stored one. */
  recreate?(desired: Body, stored: StoredObject): Body
}

export interface KindFile<Declared extends DeclaredObject = DeclaredObject> {
  /** What a new object is, in one line for reviewers, such as `Errors on Checkout ≥ 5 in 5m → webhook oncall`. */
  summarize(body: Body, nameOf: (id: unknown) => string, declared: Declared['value']): string
  resolve(declared: Declared, context: ResolveContext): ResolvedDeclaration
  /** Why no file can declare the object; undefined where one can, and where `declared` does. */
  explainUndeclarable?(stored: StoredObject, declared?: Declared['value']): string | undefined
  /** Why a file made of what the API shows would change the object; undefined where it shows everything. */
  explainHidden?(stored: StoredObject): string | undefined
  /** What a delete of an adopted object loses, because the API did not show it to `pull`. */
  readonly notInFiles?: string
  /** The stored body without values that `pull` does not write into the file. */
  pulledPart?(stored: Body, desired: Body): Body
  /** Where `pull` puts objects that no file declares. */
  readonly file: {
    /** The name of the file for all objects of the kind. Absent where each has a file of its own. */
    readonly name?: string
    /** Whether `pull` adds objects only on request, because several projects can use them. */
    readonly isOnRequest?: true
    /** The object in whose file a new one goes, such as the dashboard of an alert. */
    beside?(fields: Body): { readonly kind: KindName; readonly key: string } | undefined
    /** Fields that become `defaults` of a new file if all of its objects have the same. */
    readonly defaultFields?: readonly string[]
  }
  /** The fields of a file for a body, in the order in which people read them. */
  toFile(body: Body, context: FileContext): Body
}

export interface KindRules {
  /** What to know about a change, or what it cannot do, such as a create without its secret. */
  check?(desired: Body, stored: StoredObject | undefined, use: SecretUse): readonly KindIssue[]
  /** What a write takes from the alerts on the object. `after` is the body of an update. */
  removal?(stored: StoredObject, after: Body | undefined, isPatch: boolean): TargetRemoval | undefined
  /** How the alert uses the object, such as `mentions it`: then the object stays. Undefined where it does not. */
  findUse?(object: StoredObject, alert: Body): string | undefined
  /** The page of the web app that shows the object, below its address. */
  page?(object: Body): string | undefined
}

/** One kind of object. What a kind can do is data here, in four parts: a function takes those that it needs. What is absent, a kind does not need. */
export interface Kind<Declared extends DeclaredObject = DeclaredObject>
  extends KindIdentity<Declared>,
    KindWire,
    KindFile<Declared>,
    KindRules {}

export interface FileContext {
  readonly key: string
  /** The object as the file spells it; undefined for a new one. */
  readonly spelled: unknown
  /** The body that the file declares, with the ids of stored tiles and filters; undefined for a new object. */
  readonly declared: Body | undefined
  readonly nameIndex: NameIndex
  readonly sources: readonly StoredObject[]
  /** The key of an object in these files; undefined for one that they do not declare. */
  keyOf(kind: KindName, id: unknown): string | undefined
  /** Whether files have queries of alerts in place of this tile, or of all tiles of the dashboard. */
  isForQueries?(dashboardId: unknown, tileId?: unknown): boolean
  /** The tiles of a dashboard, with the names that they have where the body is from: in the files or in the service. */
  tilesOf(dashboardId: unknown): readonly Body[]
}

/** The id of an item of a list, which files do not contain. Copies of the item keep it, and nothing writes it. */
export const itemId = Symbol('id')

export interface SecretUse {
  readonly isWrite: boolean
  readonly resends: boolean
  readonly isAdopted: boolean
}

export interface TargetRemoval {
  readonly id: string
  readonly tiles: readonly Body[]
  /** The tiles that an update sends; undefined for a delete. */
  readonly tilesAfter: readonly Body[] | undefined
  /** Whether tiles stay that the API does not list. */
  readonly isPatch?: boolean
}

export interface InvalidField {
  /** A path in the body: `tiles.0.config.select`; may be empty. */
  readonly path: string
  readonly message: string
}

export interface KindIssue {
  /** Absent for what holds the object. */
  readonly rule?: keyof typeof checkRules
  readonly message: string
  /** Whether the run lacks something, such as a secret, so that this is an error also where the file is as applied. */
  readonly isOfRun?: true
  /** Of the field; that of the object by default. */
  readonly location?: Location
}

export const checkRules = {
  'secret-not-compared': { severity: 'note', description: 'A secret is not set in this run, so that it is not compared.' },
  'field-dropped': {
    severity: 'error',
    exception: 'warning',
    description:
      'The service accepted a declared field without an error, and did not store it. In a later plan, this is a warning, and the object is not written again for it.',
  },
  provisioned: { severity: 'warning', description: 'The provisioner of the server made the dashboard, and overwrites it.' },
  silenced: {
    severity: 'note',
    description: 'An alert is silenced: its evaluation starts at a time in the future that no file declares. apply keeps this time.',
  },
} as const satisfies Rules

/** The address of a page for an id; undefined for an id that is not known yet. */
export const pageFor = (name: string, id: unknown): string | undefined =>
  typeof id === 'string' ? `${name}/${encodeURIComponent(id)}` : undefined

export const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? value : [])
