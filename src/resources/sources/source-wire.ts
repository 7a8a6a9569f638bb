// Owns the wire shape of sources: where logs, traces and metrics come from. They are only read.
import * as z from 'zod'
import { nameOrEmpty, wireId } from '../../api/wire.ts'

/** Kinds that the API documents; an answer may hold others. */
export const sourceKinds = ['log', 'trace', 'metric', 'session', 'promql'] as const

export const sourceSchema = z.looseObject({ id: wireId, name: nameOrEmpty, kind: z.string().nullish() })

export type Source = z.output<typeof sourceSchema>
