// A query in SQL, and what the service answers to it. Apart from the requests, which only one place makes.
import { spellVariable } from '../core/input-spelling.ts'

/** The period is in milliseconds since the epoch. */
export interface SqlQuery {
  /** One SELECT. Its parameters are `{startDateMilliseconds:Int64}` and `{endDateMilliseconds:Int64}`. */
  readonly sql: string
  /** Nothing in it is from a file or a user, so it is not checked. */
  readonly isOwn?: true
  /** Appended after the check, which refuses settings of users. No map of names: the value of another setting can be SQL, or name a file. */
  readonly settings?: {
    readonly max_execution_time?: number
    readonly use_query_condition_cache?: 0
    /** Tables that are read as if they had no rows: `database.table`. */
    readonly emptyTables?: readonly string[] | undefined
  }
  readonly connectionId: string
  readonly startMs: number
  readonly endMs: number
  /** The query may wake the service, whatever the connection lets others do. */
  readonly mayWake?: true
  /** A failed query is sent again as other reads are, except one that was too slow. */
  readonly isRepeated?: true
}

/** A whole number of 64 bits is a text of digits. */
export type SqlRow = Readonly<Record<string, unknown>>

export interface SqlColumn {
  readonly name: string
  /** Type as ClickHouse writes it: `Nullable(Float64)`. */
  readonly type: string
}

export type SqlAnswer =
  | {
      readonly kind: 'rows'
      readonly columns: readonly SqlColumn[]
      readonly rows: readonly SqlRow[]
      readonly elapsedMs: number | undefined
      readonly rowsRead: number | undefined
    }
  /** The server ended the query at its limit, `maxQueryMs`. */
  | { readonly kind: 'too-slow' }
  /** A shorter period may work. Without columns where they are unknown. */
  | { readonly kind: 'too-large'; readonly columns: readonly SqlColumn[] }
  | { readonly kind: 'refused'; readonly reason: string }
  /** A query would wake the service. */
  | { readonly kind: 'asleep' }
  /** The check refused the query. */
  | { readonly kind: 'unsent'; readonly reason: string }

export function whyNoRows(answer: Exclude<SqlAnswer, { readonly kind: 'rows' }>): string {
  switch (answer.kind) {
    case 'asleep':
      return `the service is asleep, and a query would wake it; set ${spellVariable('wake-service', 'true')} to allow that`
    case 'too-slow':
      return 'the query took longer than 30 s, the limit of the server'
    case 'too-large':
      return 'the answer is too large'
    case 'refused':
      return `the server refused the query: ${answer.reason}`
    case 'unsent':
      return answer.reason
  }
}

/** A self-hosted server ends an alert's query at the same limit. */
export const maxQueryMs = 30_000
