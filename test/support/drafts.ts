// Pulls without a server: reads, plans, drafts, and verifies the draft.
import { type Profile, profileNamed } from '../../src/api/profiles.ts'
import { readDeclarations } from '../../src/sync/declarations.ts'
import { planChanges } from '../../src/sync/plan-changes.ts'
import { type Draft, draftPull, type PulledObject, verifyDraft } from '../../src/sync/pull/draft.ts'
import type { RemoteState } from '../../src/sync/remote-state.ts'
import { type Lists, worldWith } from './planning.ts'

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

export const worldOf = (parts: Lists): RemoteState =>
  worldWith({ sources: [{ id: 's1', name: 'Logs' }], webhooks: [{ id: 'w1', name: 'oncall' }], ...parts })

export interface PullOptions {
  readonly profile?: Profile
  readonly globs?: readonly string[]
  readonly excluded?: Readonly<Record<string, string>>
  readonly variables?: Readonly<Record<string, string>>
}

type Files = Readonly<Record<string, string>>

export interface Pulled extends Draft {
  readonly after: Files
  /** What would not be found again in the files as it is in the service, with the reason. */
  readonly unverified: Readonly<Record<string, string>>
  of(name: string): PulledObject | undefined
}

export function pull(parts: Lists, files: Files = {}, options: PullOptions = {}): Pulled {
  const { profile = cloud, globs = ['o/*.yml'], excluded = {}, variables = {} } = options
  const world = worldOf(parts)
  const variable = (name: string): string | undefined => variables[name]
  const read = (texts: Files) => {
    const declarations = readDeclarations(
      Object.entries(texts).map(([path, text]) => ({ path, text })),
      variable,
    )
    return {
      declarations,
      diagnostics: declarations.diagnostics,
      plan: planChanges(declarations, world, { project, profile, prune: false, maxDeletes: 0 }),
    }
  }
  const before = read(files)
  const texts = new Map(Object.entries(files))
  const draft = draftPull({ ...before, world, profile, globs, texts, variable, excluded: new Map(Object.entries(excluded)) })
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
