// The objects that references in files mean: what a file spells becomes the id of an object of the service, or of one that is not created yet.
import { type Diagnostic, diagnosticOf, type Rules } from '../platform/core/diagnostics.ts'
import { quote } from '../platform/core/text.ts'
import { ownValue } from '../platform/documents/schema.ts'
import { tilesNamed } from './alert-query/query-tiles.ts'
import { adviseTileName, explainTypeWithoutAlerts, typeWithoutAlerts } from './dashboard/dashboard-wire.ts'
import { type Lookup, type Named, PendingId, type ReferableKind } from './directory.ts'
import type { AlertTarget, Body, DeclaredObject, FileContext, ResolveContext } from './kind.ts'

export const nameRules = {
  'unknown-name': { severity: 'error', description: 'A reference names an object that the service does not have.' },
} as const satisfies Rules

/** How a field of a file refers to an object. */
export interface Reference {
  readonly to: ReferableKind | 'tile'
  /** The field of the API that has the id. */
  readonly wire: string
  /** `key`: a key of these files, `{ id }` or `{ name }`. `name`: a name, or `{ id }`. `id`: an id, or a map such as `{ source: NAME }`. */
  readonly by: 'key' | 'name' | 'id'
  /** The type of the sources that a reference to a source can mean. */
  readonly sourceType?: string
  /** Whether a file without the field refers to the only object of the kind. */
  readonly isImplied?: true
}

/** The map of a file that has a reference, and what its body has so far. */
interface SpelledMap {
  readonly file: Body
  readonly body: Body
}

/** Looks up the references of one declared object. A reference that means nothing is a diagnostic, and as the file spells it, for reports. */
export interface ReferenceResolver {
  /** `path` is where the file has the reference. */
  idOf(reference: Reference, spelled: unknown, path: readonly PropertyKey[], around: SpelledMap): unknown
  readonly diagnostics: readonly Diagnostic[]
}

/** The tile that an alert can be on, by its name or `{ id }`. */
function findTile(
  { tiles, keptTiles }: Pick<AlertTarget, 'tiles' | 'keptTiles'>,
  spelled: unknown,
): { readonly tile: Body } | { readonly message: string } {
  const id = ownValue(spelled, 'id')
  if (id !== undefined) {
    const tile = tiles.find((one) => one.id === id)
    return tile === undefined
      ? { message: `the dashboard has no tile ${quote(String(id), 60)}; name one of its tiles, or remove the alert` }
      : checkTile(tile)
  }
  const name = String(spelled)
  const [tile, second] = tilesNamed(tiles, name, keptTiles)
  if (second !== undefined) return { message: `the dashboard has several tiles named "${quote(name, 60)}"; use { id: … }` }
  if (tile !== undefined) return checkTile(tile)
  return { message: `the dashboard has no tile named "${quote(name, 60)}"${adviseTileName(name, tiles)}` }
}

function checkTile(tile: Body): { readonly tile: Body } | { readonly message: string } {
  const type = typeWithoutAlerts(tile)
  return type === undefined ? { tile } : { message: explainTypeWithoutAlerts(type) }
}

const objectId = /^[0-9a-f]{24}$/

export function createReferenceResolver(
  declared: Pick<DeclaredObject, 'kind' | 'locationOf' | 'pathOf'>,
  context: ResolveContext,
): ReferenceResolver {
  const { directory, sources, tilesOf } = context
  const targets = { dashboard: context.dashboards, savedSearch: context.savedSearches }
  const diagnostics: Diagnostic[] = []
  const unknown = new Set<unknown>()
  const report = (path: readonly PropertyKey[], message: string): undefined => {
    diagnostics.push(diagnosticOf(nameRules, 'unknown-name', declared.locationOf(path), `${declared.pathOf(path)}: ${message}`))
  }
  const found = (lookup: Lookup, path: readonly PropertyKey[]) => ('id' in lookup ? lookup.id : report(path, lookup.message))

  function byKey(to: 'dashboard' | 'savedSearch', key: string, path: readonly PropertyKey[]): unknown {
    const target = targets[to].get(key)
    return target === undefined
      ? report(path, `"${quote(key, 60)}" is not ${context.keysAre ?? 'a key in these files'}`)
      : (target.id ?? new PendingId(to, key))
  }

  function byId({ to, sourceType }: KindReference, id: string, path: readonly PropertyKey[]): unknown {
    // Unknown ids of sources on dashboards are left to the server, which can patch such a dashboard, but a name is not an id.
    if (to === 'source' && sourceType === undefined) {
      const isName = 'message' in directory.byId(to, id) && 'id' in directory.byName(to, id)
      if (isName) return report(path, `"${quote(id, 60)}" is a name and not an id; write source: ${quote(id, 60)}`)
      if (declared.kind === 'dashboard') return id
    }
    return found(directory.byId(to, id), path)
  }

  function byTile(spelled: unknown, path: readonly PropertyKey[], { file, body }: SpelledMap): unknown {
    if (body.dashboardId === undefined || unknown.has(body.dashboardId)) return undefined
    const key = typeof file.dashboard === 'string' ? file.dashboard : undefined
    const target = key === undefined ? { tiles: tilesOf(String(body.dashboardId)) } : (context.dashboards.get(key) ?? { tiles: [] })
    const found = findTile(target, spelled)
    if ('message' in found) return report(path, found.message)
    return found.tile.id ?? (key === undefined ? undefined : new PendingId('dashboard', key, String(spelled)))
  }

  /** The connection with this id or name. Only a self-hosted server lists its connections. */
  function namedConnection(spelled: string, path: readonly PropertyKey[]): unknown {
    const known = directory.all('connection')
    if (known.some(({ id }) => id === spelled) || (known.length === 0 && objectId.test(spelled))) return spelled
    if (known.length > 0) return found(directory.byName('connection', spelled), path)
    const why = 'is not an id, and the server does not list its connections, so a name cannot be used. Use the id from list-sources'
    return report(path, `"${quote(spelled, 60)}" ${why}`)
  }

  /** The only connection that sources use. */
  function onlyConnection(path: readonly PropertyKey[]): unknown {
    const used = [...new Set(sources.map(({ connection }) => connection).filter((id) => typeof id === 'string'))]
    const [only, second] = used.length > 0 ? used : directory.all('connection').map(({ id }) => id)
    if (only !== undefined && second === undefined) return only
    const problem = only === undefined ? 'no source shows which connection to use' : 'sources use several connections'
    return report(path, `${problem}; add connection`)
  }

  function named({ to, sourceType }: KindReference, name: string, path: readonly PropertyKey[]): unknown {
    const fits = (one: Named): boolean => sourceType === undefined || one.kind === sourceType
    return found(directory.byName(to, name, fits), path)
  }

  function ofKind(reference: KindReference, spelled: unknown, path: readonly PropertyKey[]): unknown {
    const { to, by } = reference
    const name = by === 'name' && typeof spelled === 'string' ? spelled : (ownValue(spelled, 'name') ?? ownValue(spelled, to))
    if (typeof name === 'string') return named(reference, name, path)
    const id = by === 'id' ? spelled : ownValue(spelled, 'id')
    if (typeof id === 'string') return byId(reference, id, path)
    return to === 'dashboard' || to === 'savedSearch' ? byKey(to, String(spelled), path) : undefined
  }

  function find(reference: Reference, spelled: unknown, path: readonly PropertyKey[], around: SpelledMap): unknown {
    const { to } = reference
    if (to === 'tile') return byTile(spelled, path, around)
    if (to === 'connection') return typeof spelled === 'string' ? namedConnection(spelled, path) : onlyConnection(path.slice(0, -1))
    return ofKind({ ...reference, to }, spelled, path)
  }

  return {
    diagnostics,
    idOf(reference, spelled, path, around) {
      const id = find(reference, spelled, path, around)
      if (id !== undefined) return id
      // Nothing in its place would look like a removal.
      const name = [spelled, ...['name', 'id', reference.to].map((field) => ownValue(spelled, field))].find(
        (one) => typeof one === 'string',
      )
      unknown.add(name)
      return name
    },
  }
}

type KindReference = Reference & { readonly to: ReferableKind }

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
