import * as z from 'zod'
import { defineCollection } from '../../platform/api/collection.ts'
import { nameOrEmpty, wireId } from '../../platform/api/wire.ts'
import { type Body, withoutServerFields } from '../kind.ts'
import { kindLabels } from '../kind-names.ts'

/** Kinds that the API documents; an answer may hold others. */
export const sourceKinds = ['log', 'trace', 'metric', 'session', 'promql'] as const

/** A source of logs, traces or metrics. Unknown fields are kept. */
export const sourceSchema = z.looseObject({ id: wireId, name: nameOrEmpty, kind: z.string().nullish() })

export type Source = z.output<typeof sourceSchema>

export const sourceCollection = defineCollection<Source, Body>({
  name: 'sources',
  noun: kindLabels.source,
  listing: 'whole',
  schema: sourceSchema,
  toBody: withoutServerFields,
})

/** A connection to ClickHouse. Only its id and its name are read. */
export const connectionSchema = z.object({ id: wireId, name: nameOrEmpty })

export type Connection = z.output<typeof connectionSchema>

/** Only a self-hosted server lists them. */
export const connectionCollection = defineCollection<Connection>({
  name: 'connections',
  noun: 'connection',
  listing: 'whole',
  schema: connectionSchema,
})

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
export const countWith = (sampleRate: string | undefined) => (condition?: string) => {
  if (sampleRate === undefined) return condition === undefined ? 'count()' : `countIf(${condition})`
  const weight = `greatest(toUInt64OrZero(toString(${sampleRate})), 1)`
  return condition === undefined ? `sum(${weight})` : `sumIf(${weight}, ${condition})`
}
