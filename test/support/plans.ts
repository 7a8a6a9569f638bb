import * as z from 'zod'
import { alertSchema } from '../../src/kinds/alert/alert.ts'
import { withBase } from '../../src/kinds/base.ts'
import type { FieldChange } from '../../src/kinds/compare.ts'
import { composeCreate, composeUpdate } from '../../src/kinds/compare.ts'
import { dashboardSchema } from '../../src/kinds/dashboard/dashboard-wire.ts'
import { type Body, listOf, type StoredObject } from '../../src/kinds/kind.ts'
import { addressOf, type KindName, mapKinds, sections } from '../../src/kinds/kind-names.ts'
import { createKinds, type Kinds } from '../../src/kinds/kinds.ts'
import { savedSearchSchema } from '../../src/kinds/saved-search/saved-search.ts'
import { revealSecrets } from '../../src/kinds/secret.ts'
import { connectionSchema, sourceSchema } from '../../src/kinds/source/source-wire.ts'
import { storedWebhookSchema } from '../../src/kinds/webhook/webhook-wire.ts'
import { type Profile, profileNamed } from '../../src/platform/api/profiles.ts'
import { createKnownIds } from '../../src/sync/apply/apply-state.ts'
import type { Change, Plan } from '../../src/sync/decide/change.ts'
import { type PlanOptions, planChanges } from '../../src/sync/decide/decide.ts'
import type { StoredObjects } from '../../src/sync/plan/stored-objects.ts'
import { type Draft, draftPull, type PulledObject } from '../../src/sync/pull/draft.ts'
import { verifyDraft } from '../../src/sync/pull/verify-draft.ts'
import { messages, readDeclarations, readValue } from './declarations.ts'

// Plans made of values alone: what is declared, what the service has, and the service after the plan was applied.

export const profile = profileNamed('clickhouse-cloud')
export const nowMs = Date.parse('2026-03-31T12:00:00Z')
export const kinds = createKinds(profile, nowMs)

export type Lists = Readonly<Partial<Record<KindName | 'connection', readonly object[] | undefined>>> &
  Pick<Partial<StoredObjects>, 'incompleteLists' | 'readAtMs'>

/** A service with one source and one webhook unless the lists have others. The lists are read as answers of the API. */
export const remoteStateWith = ({ incompleteLists = {}, readAtMs = 0, ...lists }: Lists = {}): StoredObjects => ({
  dashboard: z.array(dashboardSchema).parse(lists.dashboard ?? []),
  savedSearch: z.array(savedSearchSchema).parse(lists.savedSearch ?? []),
  alert: z.array(alertSchema).parse(lists.alert ?? []),
  source: z.array(sourceSchema).parse(lists.source ?? [{ id: 'logs', name: 'Logs' }]),
  webhook: z.array(storedWebhookSchema).parse(revealSecrets(lists.webhook ?? [{ id: 'hook', name: 'oncall' }])),
  ...(lists.connection && { connection: z.array(connectionSchema).parse(lists.connection) }),
  incompleteLists,
  readAtMs,
})

const standard: PlanOptions = { project: 'shop/main', kinds, prune: false, maxDeletes: 100 }

/** Throws when what is declared is wrong by itself: that is not what a test of plans is about. */
export function planOf(
  declared: object,
  storedObjects: StoredObjects = remoteStateWith(),
  { canPatch = false, ...options }: Partial<PlanOptions> & { readonly canPatch?: boolean } = {},
): Plan {
  const declarations = readValue(declared)
  if (declarations.diagnostics.length > 0) throw new Error(messages(declarations.diagnostics).join('\n'))
  return planChanges(declarations.objects, storedObjects, { ...standard, ...options }, canPatch)
}

/** The service as it is when every change has been written, with ids that tell what they are of. */
export function afterApply({ changes }: Plan, storedObjects: StoredObjects = remoteStateWith(), by: Kinds = kinds): StoredObjects {
  const ids = createKnownIds()
  const lists: Record<KindName, readonly StoredObject[]> = mapKinds<readonly StoredObject[]>((kind) => storedObjects[kind])
  for (const change of changes) {
    const { kind, action, id } = change
    const without = lists[kind].filter((one) => one.id !== id)
    const written = action === 'delete' ? undefined : writtenBy(change, ids.resolve(change.desired ?? {}), by)
    lists[kind] = written === undefined ? without : [...without, written]
    ids.learn(change, written)
  }
  return remoteStateWith({ ...storedObjects, ...lists })
}

type Resolved = ReturnType<ReturnType<typeof createKnownIds>['resolve']>

function writtenBy(change: Change, resolved: Resolved, by: Kinds): StoredObject {
  if (!('body' in resolved)) throw new Error(`${addressOf(change)} waits for ${resolved.waitsFor.key}`)
  const { kind, key, action, stored } = change
  const id = stored?.id ?? `${sections[kind]}-${key}`
  if (action === 'unchanged' && stored !== undefined) return stored
  const isNew = stored === undefined || action === 'replace'
  const composed = isNew ? composeCreate(by[kind], resolved.body) : composeUpdate(by[kind], resolved.body, stored)
  const sent = withBase(by[kind], composed, resolved.body)
  const tiles = listOf(sent.tiles).map((tile): Body => ({ ...tile, id: tile.id ?? `${id}-${tile.name}` }))
  const filters = listOf(sent.filters).map((filter): Body => ({ ...filter, id: filter.id ?? `${id}-${filter.name}` }))
  return { ...sent, id, ...(kind === 'dashboard' && { tiles, filters }) } as StoredObject
}

/** `section.key action`, with the origin where there is one. */
export const steps = ({ changes }: Pick<Plan, 'changes'>): readonly string[] =>
  changes.map((change) => {
    const origin = 'origin' in change ? change.origin : undefined
    return `${addressOf(change)} ${change.action}${origin === undefined ? '' : ` (${origin})`}`
  })

/** `path: before → after`, with `–` for nothing. */
export const fieldLines = (fields: readonly FieldChange[]): readonly string[] =>
  fields.map(({ path, before, after }) => `${path}: ${wordsFor(before)} → ${wordsFor(after)}`)

const wordsFor = (value: unknown): string => (value === undefined ? '–' : JSON.stringify(value))

export const fieldsOf = (plan: Plan, name: string): readonly string[] =>
  fieldLines(plan.changes.find(({ kind, key }) => addressOf({ kind, key }) === name)?.fields ?? [])

/** Without the notes, such as that of every dashboard that is written. */
export const problemsIn = ({ diagnostics }: Pick<Plan, 'diagnostics'>): Plan['diagnostics'] =>
  diagnostics.filter(({ severity }) => severity !== 'note')

export const messagesOf = ({ diagnostics }: Pick<Plan, 'diagnostics'>): readonly string[] => messages(diagnostics)

// Pulls without a server: reads, plans, drafts, and verifies the draft.

export const cloud = profileNamed('clickhouse-cloud')

export const project = 'shop/observability'

export const line = { displayType: 'line', sourceId: 's1', select: [{ aggFn: 'count' }] }

export const tile = (id: string, name: string, y = 0) => ({ id, name, x: 0, y, w: 6, h: 4, config: line })

export const shop = { id: 'd1', name: 'Shop', tags: ['shop'], tiles: [tile('t1', 'A'), tile('t2', 'B', 4)] }

const channels = [{ type: 'webhook', webhookId: 'w1' }]

export const errors = {
  id: 'a1',
  name: 'Errors',
  source: 'tile',
  dashboardId: 'd1',
  tileId: 't1',
  threshold: 5,
  thresholdType: 'above',
  interval: '5m',
  channels,
  note: 'Call',
}

export const search = { id: 'q1', name: 'Slow', sourceId: 's1', where: 'x' }

export const remoteStateOf = (parts: Lists): StoredObjects =>
  remoteStateWith({ source: [{ id: 's1', name: 'Logs' }], webhook: [{ id: 'w1', name: 'oncall' }], ...parts })

interface PullOptions {
  readonly profile?: Profile
  readonly globs?: readonly string[]
  readonly excluded?: Readonly<Record<string, string>>
  readonly variables?: Readonly<Record<string, string>>
  readonly only?: 'drifted'
}

type Files = Readonly<Record<string, string>>

interface Pulled extends Draft {
  readonly after: Files
  /** What would not be found again in the files as it is in the service, with the reason. */
  readonly unverified: Readonly<Record<string, string>>
  of(name: string): PulledObject | undefined
}

export function pull(parts: Lists, files: Files = {}, options: PullOptions = {}): Pulled {
  const { profile = cloud, globs = ['o/*.yml'], excluded = {}, variables = {}, only } = options
  const ofProfile = createKinds(profile, nowMs)
  const storedObjects = remoteStateOf(parts)
  const variable = (name: string): string | undefined => variables[name]
  const read = (texts: Files) => {
    const declarations = readDeclarations(
      Object.entries(texts).map(([path, text]) => ({ path, text })),
      variable,
    )
    return {
      declarations,
      diagnostics: declarations.diagnostics,
      plan: planChanges(declarations.objects, storedObjects, { project, kinds: ofProfile, prune: false, maxDeletes: 0 }),
    }
  }
  const before = read(files)
  const texts = new Map(Object.entries(files))
  const draft = draftPull({
    ...before,
    storedObjects,
    kinds: ofProfile,
    globs,
    only,
    removeDeclarations: false,
    texts,
    variable,
    excluded: new Map(Object.entries(excluded)),
  })
  const after = { ...files, ...Object.fromEntries(draft.files.map((file) => [file.path, file.after])) }
  return {
    ...draft,
    after,
    unverified: Object.fromEntries(verifyDraft(draft, read(after))),
    of: (name) => draft.objects.find((one) => one.name === name || one.key === name),
  }
}

/** A pull that leaves plan nothing to do. */
export function verifiedPull(...given: Parameters<typeof pull>): Pulled {
  const pulled = pull(...given)
  if (Object.keys(pulled.unverified).length > 0) throw new Error(JSON.stringify(pulled.unverified))
  return pulled
}
