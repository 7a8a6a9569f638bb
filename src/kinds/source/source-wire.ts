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

/** The requests for connections, which only a self-hosted server lists. */
export const connectionCollection = defineCollection<Connection>({
  name: 'connections',
  noun: 'connection',
  listing: 'whole',
  schema: connectionSchema,
})
