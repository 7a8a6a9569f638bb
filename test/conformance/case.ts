import type { WebAppDashboard } from '../../src/emulator/index.ts'

export type Dialect = 'hyperdx' | 'clickhouse-cloud'

/**
 * One request. `$name` in its path and in texts of its body stands for the id of what an earlier request created, `$name.tiles.0.id` for a field of it, and `$name.id.upper` for
 * the same in capitals.
 */
export interface Exchange {
  /** `POST dashboards`, `GET alerts?limit=1`; a path with a slash at its beginning is one of the server, without the resource root. */
  readonly request: string
  readonly body?: unknown
  /** Sent as it is, instead of a body in JSON. */
  readonly text?: string
  /** null takes a header away that is usually sent. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** How often it is sent; the last answer counts. */
  readonly times?: number
  /** Names the answer for later requests. */
  readonly as?: string
}

/** Somebody saves a dashboard in the web app, which may hold more than the API shows. Given as the emulator stores it. */
export interface WebAppSave {
  readonly webApp: WebAppDashboard
  readonly as: string
}

export type Setup = Exchange | WebAppSave

/** What the web app has of a dashboard, for fields that the API does not show. Fields that are not there are recorded as null. */
export interface WebAppRead {
  /** `$name` of the dashboard. */
  readonly inWebApp: string
  /** Paths in its document. */
  readonly show: readonly string[]
}

/** What a gateway that validates bodies answers instead, and who says so. */
export interface GatewayExpectation {
  readonly status: number
  readonly message: string
  readonly source: string
}

/** A request to a server in a known state. What the product answers to it is recorded in `recorded/`. */
export interface Case extends Exchange {
  /** Unique; the recorded answers have it as their key. */
  readonly name: string
  /** Requests before it. They must succeed, and are not recorded. */
  readonly given?: readonly Setup[]
  /** Requests after it, whose answers are recorded too. */
  readonly after?: readonly (Exchange | WebAppRead)[]
  /** Paths of the parts of `data` that are recorded, where all of it would be long. Errors are recorded whole. */
  readonly show?: readonly string[]
  /** Headers that are recorded. */
  readonly showHeaders?: readonly string[]
  /** Default: both. */
  readonly dialects?: readonly Dialect[]
  readonly gateway?: GatewayExpectation
}

/** A body that is made of an earlier answer, with fields left out and others set by their paths. */
export interface Copy {
  readonly $copy: string
  readonly omit?: readonly string[]
  readonly set?: Readonly<Record<string, unknown>>
}

export const copy = ($copy: string, changes: Omit<Copy, '$copy'> = {}): Copy => ({ $copy, ...changes })

/** Ids that exist nowhere, by the name that cases have for them. */
export const constants: Readonly<Record<string, string>> = {
  gone: 'ffffffffffffffffffffffff',
}
