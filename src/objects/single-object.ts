// One object as a document of an operation: with the fields of files, and ids wherever files have names and keys.

import * as z from 'zod'
import { type DatedLists, listKinds } from '../kinds/collections.ts'
import { withoutDefaults } from '../kinds/compare.ts'
import {
  type AlertTarget,
  type Body,
  type DeclaredObject,
  describeStored,
  type FileContext,
  type Kind,
  type KindWire,
  type ResolveContext,
  type StoredObject,
} from '../kinds/kind.ts'
import type { KindName } from '../kinds/kind-names.ts'
import { createNameIndex, type NameIndex, type ReferableKind } from '../kinds/name-index.ts'
import { connectionCollection } from '../kinds/source/source-wire.ts'
import { ApiError } from '../platform/api/api-error.ts'
import type { ReadApi } from '../platform/api/client.ts'
import { isResourceId, type Target } from '../platform/api/path.ts'
import { unwrap } from '../platform/api/wire.ts'
import { type Diagnostic, inputDiagnostic } from '../platform/core/diagnostics.ts'
import { InputError, inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { isEmpty, isMapping } from '../platform/core/keys.ts'
import { type Line, say, trusted, untrusted, untrustedSentence } from '../platform/core/line.ts'
import { capitalize, namesAtMost } from '../platform/core/text.ts'
import type { ReadDocument, ValuePath } from '../platform/documents/document.ts'
import { parseWithLocations } from '../platform/documents/parse.ts'
import { coreOf, metaOf, ownValue, type Schema } from '../platform/documents/schema.ts'
import { formatPath, misspelledFieldDiagnostics, schemaDiagnostics } from '../platform/documents/validate.ts'
import type { Files } from '../platform/operation/files.ts'
import { idMeta, longText } from '../platform/operation/inputs.ts'
import { pass, type Verdict } from '../platform/report/report.ts'

export const idInput = z.string().refine(isResourceId).meta(idMeta)

export const documentInput = (label: string) =>
  longText(
    `Describes the ${label}: a map as YAML or JSON, with the field names of files and ids in place of keys, or a request or an answer of the API, with its envelope or without. The path of such a file, which ends in .yml, .yaml or .json, is accepted, too.`,
    1_000_000,
  )

export interface ReadObject<T> {
  readonly value: T
  readonly spelled: unknown
  readonly document: ReadDocument
  /** The name of the input, or the path of the file. */
  readonly name: string
  /** What files would not accept of a document in the form of the API. The server may accept it. */
  readonly complaints: readonly Diagnostic[]
}

/**
 * A document in the form of the API. `fields` are those that files have, with the unknown ones, and `value` has in `raw` what is passed on
 * unchecked. Undefined for a document in the form of files.
 */
type FromApi = (document: Body, name: string) => { readonly fields: Body; readonly value: Body } | undefined

/** Reads the document, or the file that it names. Throws an InputError with all that is wrong in it. */
export async function readObject<T>(
  text: string,
  input: string,
  { schema, fromApi }: { readonly schema: z.ZodType<T>; readonly fromApi: FromApi },
  files: Files,
): Promise<ReadObject<T>> {
  const isPath = !text.trim().includes('\n') && /\.(?:ya?ml|json)$/.test(text.trim())
  const name = isPath ? text.trim() : input
  const content = isPath ? await files.read(name, input) : text
  let complaints: readonly Diagnostic[] = []
  const prepare = (read: ReadDocument): ReadDocument => {
    const inner = withoutEnvelope(read)
    const api = isMapping(inner.value) ? fromApi(inner.value, name) : undefined
    if (api === undefined) return inner
    const checked = { ...inner, value: api.fields }
    const { error } = schema.safeParse(api.fields)
    const misspelled = misspelledFieldDiagnostics(error, checked, schema)
    if (misspelled.length > 0) throw new InputError(misspelled)
    complaints = error === undefined ? [] : schemaDiagnostics(error, checked, schema)
    return { ...inner, value: api.value }
  }
  const { value, document } = parseWithLocations(content, name, schema, prepare)
  if (!isMapping(document.value)) throw inputError(input, 'is neither a map nor the path of a file that ends in .yml, .yaml or .json')
  return { value, spelled: document.value, document, name, complaints }
}

/** Adds what files would not accept of the document: a gateway names one field, and no line. */
export async function explainRefusal<T>({ complaints }: ReadObject<unknown>, write: Promise<T>): Promise<T> {
  try {
    return await write
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status !== 400 || complaints.length === 0) throw thrown
    throw new WatchkeeperError(thrown.kind, `${thrown.message}\n${new InputError(complaints).message}`, { cause: thrown })
  }
}

export const droppedFields = z
  .array(z.object({ field: z.string(), matters: z.boolean() }))
  .describe(
    'Fields of the document that the server did not store. `matters`: an alert, or what a chart queries, is not as the document says.',
  )

type DroppedFields = z.output<typeof droppedFields>

/** An empty field, and one with the default of the server, means the same as none. */
export function findDropped(
  { schema, toBody }: KindWire,
  sent: Body,
  stored: StoredObject,
  isHarmless: (path: ValuePath) => boolean,
): DroppedFields {
  const find = (value: unknown, answered: unknown, path: ValuePath): readonly ValuePath[] => {
    if (isEmpty(answered) && !isEmpty(value)) return [path]
    const isMeant = (key: PropertyKey): boolean =>
      key !== 'id' && !(String(key).endsWith('Language') && isEmpty(ownValue(value, String(key).replace(/Language$/, ''))))
    const inner = Array.isArray(value) && value.every(isMapping) ? value.keys() : isMapping(value) ? Object.keys(value).filter(isMeant) : []
    return [...inner].flatMap((key) => find(ownValue(value, key), ownValue(answered, key), [...path, key]))
  }
  const paths = find(withoutDefaults(sent, schema), toBody(stored), [])
  return paths.map((path) => ({ field: formatPath(path, sent), matters: !isHarmless(path) }))
}

export function judgeDropped(label: string, stored: StoredObject, dropped: DroppedFields, outcome: string): Verdict {
  if (dropped.length === 0) return pass
  const isWrong = dropped.some(({ matters }) => matters)
  const fields = dropped.toSorted((a, b) => Number(b.matters) - Number(a.matters)).map(({ field }) => field)
  const undo = isWrong && outcome === 'created' ? `. To delete the ${label}, run delete-${label} with the id ${stored.id}` : ''
  const sentence = untrustedSentence(
    `The ${label} ${describeStored(stored)} was ${outcome === 'unchanged' ? 'not changed, and' : `${outcome}, but`} the service did not store ${namesAtMost(10, fields)}. Its version might not have this yet: remove it, or upgrade the service${undo}.`,
  )
  return isWrong ? { status: 'error', sentence, reasons: [], exit: 'partlyApplied' } : { status: 'warn', sentence, reasons: [] }
}

/** `{ data }` or `{ status, requestId, result }`, as a server answers. */
function withoutEnvelope(read: ReadDocument): ReadDocument {
  const { payload, prefix } = unwrap(read.value)
  if (prefix === '' || !isMapping(read.value) || !isMapping(payload)) return read
  const { status: _status, requestId: _id, ...others } = read.value
  if (Object.keys(others).length > 1) return read
  const around = prefix.split('.')
  return {
    value: payload,
    locationOf: (path) => read.locationOf([...around, ...path]),
    locationOfKey: (path) => read.locationOfKey([...around, ...path]),
  }
}

/** Each field is optional, and null clears it where an update can clear it. */
export function partialSchema(fields: z.ZodObject): z.ZodObject {
  const shape = Object.entries<Schema>(fields.shape).flatMap(([name, field]): (readonly [string, z.ZodType])[] => {
    const meta = metaOf(field)
    if (meta.isLocal) return []
    const core = coreOf(field) as z.ZodType // Every schema here was made with zod's classic API.
    return [[name, (Object.hasOwn(meta, 'clear') ? core.nullable() : core).optional().meta(meta)]]
  })
  return z.strictObject(Object.fromEntries(shape))
}

export const withoutAdoption = (fields: z.ZodObject): z.ZodObject =>
  z.strictObject(Object.fromEntries(Object.entries<z.ZodType>(fields.shape).filter(([, field]) => !metaOf(field).isLocal)))

/**
 * The objects of the service are listed only where the document has a name, or leaves something to them. Throws an InputError for a reference
 * that means nothing.
 */
export async function resolveObject<T>(
  kind: Kind<DeclaredObject<T>>,
  { value, spelled, document, name }: ReadObject<T>,
  { api, service }: { readonly api: ReadApi; readonly service: Target },
): Promise<Body> {
  const declared = {
    kind: kind.name,
    key: '',
    location: { file: name },
    value,
    spelled,
    locationOf: (path: ValuePath) => document.locationOf(path),
    pathOf: (path: ValuePath) => formatPath(path, spelled),
  }
  const { context, needed } = takingIds(spelled)
  const first = kind.resolve(declared, context)
  const resolved = needed.size > 0 ? kind.resolve(declared, await readObjects(api, service, spelled, needed)) : first
  const [problem] = resolved.diagnostics
  if (problem === undefined) return resolved.body
  throw new InputError(resolved.diagnostics.map(({ location, message }) => ({ ...inputDiagnostic(name, message), location })))
}

/** Takes every id as it is, and notices the lists that it needs. */
function takingIds(spelled: unknown): { readonly context: ResolveContext; readonly needed: ReadonlySet<ReferableKind> } {
  const needed = new Set<ReferableKind>()
  const take = (kind: ReferableKind, text: string): { readonly id: string } => {
    if (!/^[0-9a-f]{24}$/.test(text)) needed.add(kind)
    return { id: text }
  }
  const nameIndex: NameIndex = {
    byName: take,
    byId: (_, id) => ({ id }),
    nameOf: () => undefined,
    all: (kind) => {
      needed.add(kind)
      return []
    },
    withPlanned: () => nameIndex,
    withoutNames: () => nameIndex,
  }
  const tile = ownValue(spelled, 'tile')
  const tiles = typeof tile === 'string' ? [{ id: take('dashboard', tile).id, name: tile }] : [{ id: ownValue(tile, 'id') }]
  const targets = (kind: ReferableKind) => ({ get: (key: string): AlertTarget => ({ id: take(kind, key).id, tiles }) })
  const context = {
    secret: () => undefined,
    nameIndex,
    sources: [],
    dashboards: targets('dashboard'),
    savedSearches: targets('savedSearch'),
    tilesOf: () => tiles,
  }
  return { context, needed }
}

/** Lists only what is needed: a gateway may have no more. */
async function readObjects(api: ReadApi, service: Target, spelled: unknown, needed: ReadonlySet<ReferableKind>): Promise<ResolveContext> {
  // The connections of sources are a default.
  const kinds = (['dashboard', 'savedSearch', 'source', 'webhook'] as const).filter(
    (kind) => needed.has(kind) || (kind === 'source' && needed.has('connection')),
  )
  const [lists, connections] = await Promise.all([
    listKinds(kinds, { api, service }).then((found): Partial<DatedLists<KindName>> => found),
    needed.has('connection') && api.profile.isSelfHosted ? connectionCollection.list(api, service) : undefined,
  ])
  const [dashboards = [], savedSearches = [], sources = []] = [lists.dashboard?.items, lists.savedSearch?.items, lists.source?.items]
  const nameIndex = createNameIndex({
    dashboard: dashboards,
    savedSearch: savedSearches,
    source: sources,
    webhook: lists.webhook?.items,
    connection: connections?.items,
  })
  const tilesOf = (id: string): readonly Body[] => dashboards.find((one) => one.id === id)?.tiles ?? []
  const target = (items: readonly StoredObject[]) => ({
    get(key: string): AlertTarget | undefined {
      const [named, second] = items.filter(({ name }) => name === key)
      const found = items.find(({ id }) => id === key) ?? (second === undefined ? named : undefined)
      return found && { id: found.id, tiles: withIdAsName(tilesOf(found.id), ownValue(spelled, 'tile')) }
    },
  })
  return {
    secret: () => undefined,
    nameIndex: {
      ...nameIndex,
      byId: (kind, id) => (needed.has(kind) ? nameIndex.byId(kind, id) : { id }),
      byName(kind, name, fits) {
        const byId = nameIndex.byId(kind, name)
        return 'id' in byId ? byId : nameIndex.byName(kind, name, fits)
      },
    },
    sources,
    dashboards: target(dashboards),
    savedSearches: target(savedSearches),
    tilesOf,
    keysAre: 'the id or the only name of an object of the service',
  }
}

const withIdAsName = (tiles: readonly Body[], spelled: unknown): readonly Body[] =>
  tiles.map((tile) => (tile.id === spelled ? { ...tile, name: spelled } : tile))

export function toDocument(kind: Kind, stored: StoredObject): Body {
  const context: FileContext = {
    key: '',
    spelled: undefined,
    declared: undefined,
    nameIndex: createNameIndex({}),
    sources: [],
    keyOf: () => undefined,
    tilesOf: () => [],
  }
  return kind.toFile(kind.toBody(stored), context)
}

export const singleOutput = (label: string, changed = 'Whether this run changed anything.') =>
  z.object({ id: z.string().describe(`Id of the ${label}.`), changed: z.boolean().describe(changed) })

export const deletedOutput = (label: string) => singleOutput(label, `Whether the ${label} existed.`)

export const headlineOfDelete = (label: string, { id, changed }: z.output<ReturnType<typeof singleOutput>>): Line =>
  changed ? say`Deleted ${trusted(label)} ${untrusted(id)}` : say`${trusted(capitalize(label))} ${untrusted(id)} did not exist`

export const declarationDetail = (label: string) =>
  z.record(z.string(), z.unknown()).describe(`The ${label} as a document that update-${label} takes.`)
