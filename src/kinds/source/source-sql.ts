import * as z from 'zod'
import type { Body } from '../kind.ts'

// What SQL needs to know of a source, and how the server counts its rows.

export interface SourceTable {
  readonly connectionId: string
  readonly database: string
  readonly table: string
  readonly time: string
  /** Absent where the source has no filter. */
  readonly filter?: string
  /** The number of events that a stored one counts for; absent without sampling. */
  readonly sampleRate?: string
}

const answeredSource = z.object({
  kind: z.enum(['log', 'trace']),
  connection: z.string().min(1),
  from: z.object({ databaseName: z.string(), tableName: z.string().min(1) }),
  timestampValueExpression: z.string().min(1),
  tableFilterExpression: z.string().nullish(),
  sampleRateExpression: z.string().nullish(),
})

/** Undefined where the API does not show it, and for other kinds. Only sources of logs have a filter, and only those of traces a sample rate. */
export function tableOfSource(source: Body): SourceTable | undefined {
  const { data } = answeredSource.safeParse(source)
  if (data === undefined) return undefined
  const { kind, connection, from, timestampValueExpression, tableFilterExpression, sampleRateExpression } = data
  return {
    connectionId: connection,
    database: from.databaseName,
    table: from.tableName,
    time: timestampValueExpression,
    ...(kind === 'log' && tableFilterExpression ? { filter: tableFilterExpression } : {}),
    ...(kind === 'trace' && sampleRateExpression ? { sampleRate: sampleRateExpression } : {}),
  }
}

/** The charts of the server weigh rows in the same way. */
export const countWith =
  (sampleRate: string | undefined) =>
  (condition?: string): string => {
    if (sampleRate === undefined) return condition === undefined ? 'count()' : `countIf(${condition})`
    const weight = `greatest(toUInt64OrZero(toString(${sampleRate})), 1)`
    return condition === undefined ? `sum(${weight})` : `sumIf(${weight}, ${condition})`
  }
