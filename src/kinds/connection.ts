// Connections to ClickHouse, which sources and SQL tiles use. Files name them, or leave them out where there is only one. Only a self-hosted
// server lists them.
import * as z from 'zod'
import { quote } from '../core/text.ts'
import { ownValue } from '../documents/schema.ts'
import type { FileContext, ResolveContext } from './kind.ts'
import type { Resolver } from './resolve.ts'

export const connectionField = z.string().min(1).optional().meta({
  description:
    'The connection to ClickHouse: its id, or its name on a self-hosted server. The default is the only one that other sources use.',
})

/** Rejects a connection by id in one field, and by name in the other. */
export const withOneConnection = <Schema extends z.ZodType>(schema: Schema): Schema =>
  schema.refine((fields) => ownValue(fields, 'connection') === undefined || ownValue(fields, 'connectionId') === undefined, {
    path: ['connectionId'],
    message: 'cannot be combined with connection',
    params: { isComplete: true },
  })

const objectId = /^[0-9a-f]{24}$/

/** The id of the connection in a file, or of the only one that sources use. `path` is the map that has the field. */
export function resolveConnection(
  connection: string | undefined,
  { directory, sources }: Pick<ResolveContext, 'directory' | 'sources'>,
  resolver: Resolver,
  path: readonly PropertyKey[] = [],
): unknown {
  const known = directory.all('connection')
  const at = [...path, 'connection']
  if (connection !== undefined) {
    if (known.some(({ id }) => id === connection) || (known.length === 0 && objectId.test(connection))) return connection
    if (known.length > 0) return resolver.byName('connection', connection, at)
    return resolver.report(
      at,
      `"${quote(connection, 60)}" is not an id, and the server does not list its connections, so a name cannot be used. Use the id from list-sources`,
    )
  }
  const used = [...new Set(sources.map((source) => source.connection).filter((id) => typeof id === 'string'))]
  const [only, second] = used.length > 0 ? used : known.map(({ id }) => id)
  if (only !== undefined && second === undefined) return only
  const problem = only === undefined ? 'no source shows which connection to use' : 'sources use several connections'
  return resolver.report(path, `${problem}; add connection`)
}

/** The connection as a file names it; undefined where there is only one. `spelled` is the map of the file that may have the field. */
export function spellConnection(
  id: unknown,
  { spelled, directory, sources }: Pick<FileContext, 'spelled' | 'directory' | 'sources'>,
): unknown {
  const inFile = ownValue(spelled, 'connection')
  if (inFile === id) return id
  const [only, second] = new Set(sources.map(({ connection }) => connection))
  if (inFile === undefined && second === undefined && id === only) return undefined
  const name = directory.nameOf(id)
  const isUnique = directory.all('connection').filter((one) => one.name === name).length === 1
  return isUnique ? name : id
}
