import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import { nameOrEmpty, wireId } from '../../api/wire.ts'

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
