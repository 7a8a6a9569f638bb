import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import { nameOrEmpty, wireId } from '../../api/wire.ts'
import { type Body, withoutServerFields } from '../resource-type.ts'

/** Kinds that the API documents; an answer may hold others. */
export const sourceKinds = ['log', 'trace', 'metric', 'session', 'promql'] as const

/** A source of logs, traces or metrics. Unknown fields are kept. */
export const sourceSchema = z.looseObject({ id: wireId, name: nameOrEmpty, kind: z.string().nullish() })

export type Source = z.output<typeof sourceSchema>

/** The requests for sources. */
export const sourceCollection = defineCollection<Source, Body>({
  name: 'sources',
  noun: 'source',
  listing: 'whole',
  schema: sourceSchema,
  toBody: withoutServerFields,
})
