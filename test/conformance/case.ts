import type { WebAppDashboard } from '../../src/emulator/index.ts'

export type Dialect = 'hyperdx' | 'clickhouse-cloud'

/**
 * One request. In its path and in texts of its body, `$name` stands for the id of an object that an earlier request created,
 * `$name.tiles.0.id` for a field of it, and `$name.id.upper` for the same in capitals.
 */
export interface Exchange {
  /** `POST dashboards`, `GET alerts?limit=1`. A path that begins with a slash is not relative to the resource root. */
  readonly request: string
  readonly body?: unknown
  /** Sent unchanged, instead of `body` in JSON. */
  readonly text?: string
  /** null removes a header that is usually sent. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** How often the request is sent. The last answer counts. */
  readonly times?: number
  /** Names the answer for later requests. */
  readonly as?: string
}

/** Saves a dashboard in the web app, which may hold more than the API shows. In the form in which the emulator stores it. */
export interface WebAppSave {
  readonly webApp: WebAppDashboard
  readonly as: string
}

export type Setup = Exchange | WebAppSave

/** Reads a dashboard in the web app, for fields that the API does not show. Absent fields are recorded as null. */
export interface WebAppRead {
  /** `$name` of the dashboard. */
  readonly inWebApp: string
  /** Paths in its document. */
  readonly show: readonly string[]
}

/** Saves a stored dashboard again in the web app, which sends back everything that is stored. Only the status of the answer is recorded. */
export interface WebAppSaveAgain {
  /** `$name` of the dashboard. */
  readonly savedAgainInWebApp: string
}

/** The answer of a gateway that validates bodies, and its source. */
export interface GatewayExpectation {
  readonly status: number
  readonly message: string
  readonly source: string
}

/** A request to a server in a known state. The answers of the product are recorded in `recorded/`. */
export interface Case extends Exchange {
  /** Unique: the key of the recorded answers. */
  readonly name: string
  /** Requests before it. They must succeed, and are not recorded. */
  readonly given?: readonly Setup[]
  /** Requests after it, whose answers are recorded too. */
  readonly after?: readonly (Exchange | WebAppRead | WebAppSaveAgain)[]
  /** Paths of the parts of `data` that are recorded, where all of it would be long. Errors are recorded whole. */
  readonly show?: readonly string[]
  /** Headers that are recorded. */
  readonly showHeaders?: readonly string[]
  /** Default: both. */
  readonly dialects?: readonly Dialect[]
  readonly gateway?: GatewayExpectation
}

/** A body made from an earlier answer, with fields left out or set by their paths. */
export interface Copy {
  readonly $copy: string
  readonly omit?: readonly string[]
  readonly set?: Readonly<Record<string, unknown>>
}

export const copy = ($copy: string, changes: Omit<Copy, '$copy'> = {}): Copy => ({ $copy, ...changes })

/** Names for ids that do not exist. */
export const constants: Readonly<Record<string, string>> = {
  gone: 'ffffffffffffffffffffffff',
}
