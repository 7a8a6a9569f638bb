// What follows from the schema of a kind's fields in files: the body of a request with the ids of what a file refers to, the schema of that
// body, what clears a field in an update, and how `pull` spells a stored value. The metadata of a field says how the API has it.
import * as z from 'zod'
import { oncePer } from '../platform/core/concurrency.ts'
import { diagnosticOf, type Rules } from '../platform/core/diagnostics.ts'
import { isExactNumber } from '../platform/core/json.ts'
import { mapItems } from '../platform/core/keys.ts'
import { quote } from '../platform/core/text.ts'
import { coreOf, type FormWalk, isRequired, isUnused, mapForms, metaOf, ownValue, type Schema } from '../platform/documents/schema.ts'
import { adviseTileName, explainTypeWithoutAlerts, typeWithoutAlerts } from './dashboard/dashboard-wire.ts'
import { tilesNamed } from './dashboard/tiles.ts'
import { shortSourceNames } from './fields.ts'
import type { Body, DeclaredObject, FileContext, PlannedTiles, ResolveContext, ResolvedDeclaration, UnresolvedReference } from './kind.ts'
import { type Lookup, type Named, type NameIndex, PendingId, type ReferableKind } from './name-index.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** Whether the field is never sent with the object: it finds an existing object, or another object has it. */
    isLocal?: true
    /** The field refers to another object, whose id is sent. */
    ref?: Reference
    /** What an update sends to clear the field; undefined where an update clears it by leaving it out. Without it, no update can. */
    clear?: unknown
    /** A file without the field leaves its value to the service. */
    keepIfAbsent?: true
    /** The value as the API takes it. */
    toWire?: (value: unknown) => unknown
  }
}

export const referenceOf = (field: Schema): Reference | undefined => metaOf(field).ref

/** Plans have thousands of maps. */
const metasOf = oncePer((form: z.ZodObject) => new Map(Object.entries<Schema>(form.shape).map(([name, field]) => [name, metaOf(field)])))

/** The body of a request for what a file declares, with the ids of what it refers to. */
export function encode(fields: z.ZodObject, declared: DeclaredObject<Body>, context: ResolveContext): ResolvedDeclaration {
  const references = createReferenceResolver(declared, context)
  return { body: mapForms(declared.value, fields, encoding(references), []), diagnostics: references.diagnostics }
}

const encoding = ({ idOf }: ReturnType<typeof createReferenceResolver>): FormWalk<readonly PropertyKey[]> => ({
  into: (path, key) => [...path, key],
  leaf(value, schema) {
    const toWire = schema === undefined ? undefined : metaOf(schema).toWire
    return toWire === undefined || value == null ? value : toWire(value)
  },
  map({ map, form, beside: path, inner }) {
    if (form === undefined) return map
    const metas = metasOf(form)
    const body: Record<string, unknown> = {}
    const refer = (name: string, reference: Reference, spelled: unknown) => {
      const at = [...path, name]
      const one = (item: unknown, i?: number) => idOf(reference, item, i === undefined ? at : [...at, i], { file: map, body })
      body[reference.wire] = Array.isArray(spelled) ? spelled.map(one) : one(spelled)
    }
    for (const [name, item] of Object.entries(map)) {
      const { ref, isLocal } = metas.get(name) ?? {}
      if (item === undefined || isLocal) continue
      if (ref !== undefined) refer(name, ref, item)
      else body[name] = inner(name)
    }
    for (const [name, { ref }] of metas)
      if (ref?.isImplied && body[ref.wire] === undefined && map[name] === undefined) refer(name, ref, undefined)
    return body
  },
})

/** The schema of a body: the fields of a file under the API's names. A default of a file is sent, so it is none of the server's. */
export function wireSchema(fields: z.ZodObject): z.ZodObject {
  const shape = Object.entries<Schema>(fields.shape).flatMap(([name, field]): (readonly [string, z.ZodType])[] => {
    const { ref, isLocal } = metaOf(field)
    if (isLocal) return []
    return [[ref?.wire ?? name, ref === undefined ? wireField(field) : z.unknown()]]
  })
  return z.strictObject(Object.fromEntries(shape))
}

/** Made once for each field, because a run asks for the schemas of its kinds several times. */
const wireField: (field: Schema) => z.ZodType = oncePer((field) => {
  const core = coreOf(field)
  const element = core instanceof z.ZodArray ? core.element : undefined
  const wire = element === undefined ? wireOption(core) : z.array(wireOption(coreOf(element)))
  const { serverDefault, writeDefault } = metaOf(field)
  return wire
    .optional()
    .meta({ ...(serverDefault !== undefined && { serverDefault }), ...(writeDefault !== undefined && { writeDefault }) })
})

function wireOption(core: Schema): z.ZodType {
  if (core instanceof z.ZodObject) return wireSchema(core)
  if (core instanceof z.ZodUnion) return z.union(core.options.map((option) => wireOption(coreOf(option))))
  return core as z.ZodType // Every schema here was made with zod's classic API.
}

/** The value that clears a field, for each field of the API that an update can clear; undefined where leaving the field out clears it. */
export const clearing = (fields: z.ZodObject): Body =>
  Object.fromEntries(
    [...metasOf(fields)].flatMap(([name, meta]) => (Object.hasOwn(meta, 'clear') ? [[meta.ref?.wire ?? name, meta.clear]] : [])),
  )

export const fieldsLeftToService = (fields: z.ZodObject): readonly string[] =>
  [...metasOf(fields)].flatMap(([name, { keepIfAbsent }]) => (keepIfAbsent ? [name] : []))

interface Spelling {
  /** The value without the server's defaults and empty fields. */
  readonly normalized: unknown
  /** The value in the file; undefined where the file does not have it. */
  readonly spelled: unknown
}

/** Read last, so written last. */
const lastFields: readonly string[] = ['numberFormat', 'raw']

/** The fields that the schema knows and that are not defaults of the server. */
export const spellFields = ({ value, ...others }: Spelling & { readonly value: Body }, schema: Schema, context: FileContext): Body =>
  mapForms(value, schema, spelling(context), others)

const spelling = (context: FileContext): FormWalk<Spelling> => ({
  into: ({ normalized, spelled }, key) => ({ normalized: ownValue(normalized, key), spelled: ownValue(spelled, key) }),
  leaf: withPlainNumbers,
  map({ map, form, beside: { normalized, spelled }, inner }) {
    if (form === undefined) return withPlainNumbers(map)
    const spellField = (name: string): readonly [string, unknown] => {
      if (shortSourceNames.has(name)) return spellSources(name, map[name], spelled, context.nameIndex)
      if (name === 'connectionId' && ownValue(spelled, name) === undefined)
        return ['connection', spellConnection(map[name], { ...context, spelled })]
      const field = form.shape[name]
      // The source that a click opens.
      const opened = name === 'id' && field && metaOf(field).ref ? uniqueNameOf(context.nameIndex, 'source', map[name]) : undefined
      if (opened !== undefined && ownValue(spelled, name) !== map[name]) return [name, { source: opened }]
      return [name, inner(name)]
    }
    // Comparisons ignore it. A new object has it in its file, and another one only if the file has it already.
    const isKept = (name: string, { serverDefault } = metaOf(form.shape[name])) =>
      isUnused(form, name, map) && map[name] !== serverDefault && (spelled === undefined || ownValue(spelled, name) !== undefined)
    return Object.fromEntries(
      Object.keys(form.shape)
        .toSorted((a, b) => lastFields.indexOf(a) - lastFields.indexOf(b))
        .filter((name) => ownValue(normalized, name) !== undefined || (map[name] != null && (isRequired(form.shape[name]) || isKept(name))))
        .map(spellField)
        .filter(([, field]) => field !== undefined),
    )
  },
})

/** The field with sources, in its short form unless the file has the long one or a source has no unique name. */
function spellSources(field: string, ids: unknown, spelled: unknown, nameIndex: NameIndex): readonly [string, unknown] {
  const list: readonly unknown[] = [ids].flat()
  const names = list.map((id) => uniqueNameOf(nameIndex, 'source', id))
  const isShort = ownValue(spelled, field) === undefined && !names.includes(undefined)
  const sources = isShort ? names : list.map((id, i) => (names[i] === undefined ? id : { source: names[i] }))
  return [(isShort && shortSourceNames.get(field)) || field, Array.isArray(ids) ? sources : sources[0]]
}

/** The name of the object with this id, if no other one has it. */
export function uniqueNameOf(nameIndex: NameIndex, kind: ReferableKind, id: unknown): string | undefined {
  const name = nameIndex.nameOf(id)
  if (name === undefined) return undefined
  const found = nameIndex.byName(kind, name)
  return 'id' in found && found.id === id ? name : undefined
}

/** Files cannot hold more digits than a JavaScript number, so exact numbers are rounded. */
export function withPlainNumbers(value: Body): Body
export function withPlainNumbers(value: unknown): unknown
export function withPlainNumbers(value: unknown): unknown {
  return isExactNumber(value) ? Number(value.rawJSON) : mapItems(value, withPlainNumbers)
}

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

function findTile({ tiles, keptTiles }: PlannedTiles, spelled: unknown): Body | string {
  const id = ownValue(spelled, 'id')
  const name = String(spelled)
  const [tile, second] = id === undefined ? tilesNamed(tiles, name, keptTiles) : [tiles.find((one) => one.id === id)]
  if (second !== undefined) return `the dashboard has several tiles named "${quote(name)}"; use { id: … }`
  const type = tile && typeWithoutAlerts(tile)
  if (tile !== undefined) return type === undefined ? tile : explainTypeWithoutAlerts(type)
  return id === undefined
    ? `the dashboard has no tile named "${quote(name)}"${adviseTileName(name, tiles)}`
    : `the dashboard has no tile ${quote(String(id))}; name one of its tiles, or remove the alert`
}

const objectId = /^[0-9a-f]{24}$/

/** Looks up the references of one declared object. A reference that means nothing is a diagnostic, and as the file spells it, for reports. */
function createReferenceResolver(declared: DeclaredObject, context: ResolveContext) {
  const { nameIndex, sources, tilesOf } = context
  const diagnostics: UnresolvedReference[] = []
  const unknown = new Set<unknown>()
  const report = (path: readonly PropertyKey[], message: string): undefined => {
    const what = `${declared.pathOf(path)}: ${message}`
    diagnostics.push({ ...diagnosticOf(nameRules, 'unknown-name', declared.locationOf(path), what), path })
  }
  const found = (lookup: Lookup, path: readonly PropertyKey[]) => ('id' in lookup ? lookup.id : report(path, lookup.message))

  function byKey(to: 'dashboard' | 'savedSearch', key: string, path: readonly PropertyKey[]): unknown {
    const target = (to === 'dashboard' ? context.dashboards : context.savedSearches).get(key)
    return target === undefined
      ? report(path, `"${quote(key)}" is not ${context.keysAre ?? 'a key in these files'}`)
      : (target.id ?? new PendingId(to, key))
  }

  function byId({ to, sourceType }: KindReference, id: string, path: readonly PropertyKey[]): unknown {
    // Unknown ids of sources on dashboards are left to the server, which can patch such a dashboard, but a name is not an id.
    if (to === 'source' && sourceType === undefined) {
      const isName = 'message' in nameIndex.byId(to, id) && 'id' in nameIndex.byName(to, id)
      if (isName) return report(path, `"${quote(id)}" is a name and not an id; write source: ${quote(id)}`)
      if (declared.kind === 'dashboard') return id
    }
    return found(nameIndex.byId(to, id), path)
  }

  function byTile(spelled: unknown, path: readonly PropertyKey[], { file, body }: SpelledMap): unknown {
    if (body.dashboardId === undefined || unknown.has(body.dashboardId)) return undefined
    const key = typeof file.dashboard === 'string' ? file.dashboard : undefined
    const target = key === undefined ? { tiles: tilesOf(String(body.dashboardId)) } : (context.dashboards.get(key) ?? { tiles: [] })
    const tile = findTile(target, spelled)
    if (typeof tile === 'string') return report(path, tile)
    return tile.id ?? (key === undefined ? undefined : new PendingId('dashboard', key, String(spelled)))
  }

  /** The connection with this id or name. Only a self-hosted server lists its connections. */
  function namedConnection(spelled: string, path: readonly PropertyKey[]): unknown {
    const known = nameIndex.all('connection')
    if (known.some(({ id }) => id === spelled) || (known.length === 0 && objectId.test(spelled))) return spelled
    if (known.length > 0) return found(nameIndex.byName('connection', spelled), path)
    const why = 'is not an id, and the server does not list its connections, so a name cannot be used. Use the id from list-sources'
    return report(path, `"${quote(spelled)}" ${why}`)
  }

  function onlyConnection(path: readonly PropertyKey[]): unknown {
    const used = [...new Set(sources.map(({ connection }) => connection).filter((id) => typeof id === 'string'))]
    const [only, second] = used.length > 0 ? used : nameIndex.all('connection').map(({ id }) => id)
    if (only !== undefined && second === undefined) return only
    const problem = only === undefined ? 'no source shows which connection to use' : 'sources use several connections'
    return report(path, `${problem}; add connection`)
  }

  function ofKind(reference: KindReference, spelled: unknown, path: readonly PropertyKey[]): unknown {
    const { to, by } = reference
    const name = by === 'name' && typeof spelled === 'string' ? spelled : (ownValue(spelled, 'name') ?? ownValue(spelled, to))
    const fits = (one: Named) => reference.sourceType === undefined || one.kind === reference.sourceType
    if (typeof name === 'string') return found(nameIndex.byName(to, name, fits), path)
    const id = by === 'id' ? spelled : ownValue(spelled, 'id')
    if (typeof id === 'string') return byId(reference, id, path)
    return to === 'dashboard' || to === 'savedSearch' ? byKey(to, String(spelled), path) : undefined
  }

  return {
    diagnostics,
    /** `path` is where the file has the reference. */
    idOf(reference: Reference, spelled: unknown, path: readonly PropertyKey[], around: SpelledMap): unknown {
      const { to } = reference
      const ofConnection = () => (typeof spelled === 'string' ? namedConnection(spelled, path) : onlyConnection(path.slice(0, -1)))
      const id =
        to === 'tile' ? byTile(spelled, path, around) : to === 'connection' ? ofConnection() : ofKind({ ...reference, to }, spelled, path)
      if (id !== undefined) return id
      // Nothing in its place would look like a removal.
      const name = [spelled, ...['name', 'id', to].map((field) => ownValue(spelled, field))].find((one) => typeof one === 'string')
      unknown.add(name)
      return name
    },
  }
}

type KindReference = Reference & { readonly to: ReferableKind }

/** The connection as a file names it; undefined where there is only one. `spelled` is the map of the file that may have the field. */
export function spellConnection(id: unknown, { spelled, nameIndex, sources }: FileContext): unknown {
  const inFile = ownValue(spelled, 'connection')
  if (inFile === id) return id
  const [only, second] = new Set(sources.map(({ connection }) => connection))
  if (inFile === undefined && second === undefined && id === only) return undefined
  const name = nameIndex.nameOf(id)
  const isUnique = nameIndex.all('connection').filter((one) => one.name === name).length === 1
  return isUnique ? name : id
}
