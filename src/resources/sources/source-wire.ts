import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import { nameOrEmpty, wireId } from '../../api/wire.ts'

/** Kinds that the API documents; an answer may hold others. */
export const sourceKinds = ['log', 'trace', 'metric', 'session', 'promql'] as const

/** A source of logs, traces or metrics. Sources are only read. */
export const sourceSchema = z.looseObject({ id: wireId, name: nameOrEmpty, kind: z.string().nullish() })

export type Source = z.output<typeof sourceSchema>

/** The requests for sources. */
export const sourceCollection = defineCollection<Source>({ name: 'sources', noun: 'source', listing: 'whole', schema: sourceSchema })
