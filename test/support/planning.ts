// Plans made of values alone: what is declared, what the service has, and the service after the plan was applied.
import { profileNamed } from '../../src/api/profiles.ts'
import { composeUpdate } from '../../src/resources/compare.ts'
import type { FieldChange } from '../../src/resources/diff.ts'
import { type Body, listOf, type RemoteObject, type Section } from '../../src/resources/resource-type.ts'
import { createResourceTypes } from '../../src/resources/resource-types.ts'
import { createKnownIds } from '../../src/sync/apply-state.ts'
import type { Change, Plan } from '../../src/sync/change.ts'
import { type PlanOptions, planChanges } from '../../src/sync/plan-changes.ts'
import type { RemoteState } from '../../src/sync/remote-state.ts'
import { messages, readValue } from './declarations.ts'

export const profile = profileNamed('clickhouse-cloud')
export const kinds = createResourceTypes(profile)

export type Lists = Readonly<Partial<Record<Exclude<keyof RemoteState, 'doubts'>, readonly object[]>>> &
  Pick<Partial<RemoteState>, 'doubts'>

/** A service with one source and one webhook, and what else is said. */
export const worldWith = (lists: Lists = {}): RemoteState =>
  ({
    dashboards: [],
    savedSearches: [],
    alerts: [],
    sources: [{ id: 'logs', name: 'Logs' }],
    webhooks: [{ id: 'hook', name: 'oncall' }],
    doubts: {},
    ...lists,
  }) as unknown as RemoteState

const standard: PlanOptions = { project: 'shop/main', profile, prune: false, maxDeletes: 100 }

/** Throws when what is declared is wrong by itself: that is not what a test of plans is about. */
export function planOf(declared: object, world: RemoteState = worldWith(), options: Partial<PlanOptions> = {}): Plan {
  const declarations = readValue(declared)
  if (declarations.diagnostics.length > 0) throw new Error(messages(declarations.diagnostics).join('\n'))
  return planChanges(declarations, world, { ...standard, ...options })
}

/** The service as it is when every change has been written, with ids that tell what they are of. */
export function afterApply({ changes }: Plan, world: RemoteState = worldWith()): RemoteState {
  const ids = createKnownIds()
  const lists: Record<Section, RemoteObject[]> = {
    dashboards: [...(world.dashboards as readonly RemoteObject[])],
    savedSearches: [...(world.savedSearches as readonly RemoteObject[])],
    alerts: [...(world.alerts as readonly RemoteObject[])],
  }
  for (const change of changes) {
    const { section, action, id } = change
    const without = lists[section].filter((one) => one.id !== id)
    const written = action === 'delete' ? undefined : writtenBy(change, ids.resolve(change.desired ?? {}))
    lists[section] = written === undefined ? without : [...without, written]
    ids.learn({ change, actual: written })
  }
  return { ...world, ...(lists as unknown as Pick<RemoteState, Section>) }
}

type Resolved = ReturnType<ReturnType<typeof createKnownIds>['resolve']>

function writtenBy(change: Change, resolved: Resolved): RemoteObject {
  if (!('body' in resolved)) throw new Error(`${change.section}.${change.key} waits for ${resolved.waitsFor.key}`)
  const { section, key, action, actual } = change
  const id = actual?.id ?? `${section}-${key}`
  if (action === 'unchanged' && actual !== undefined) return actual
  const sent = actual === undefined || action === 'replace' ? resolved.body : composeUpdate(kinds[section], resolved.body, actual)
  const tiles = listOf(sent.tiles).map((tile): Body => ({ ...tile, id: tile.id ?? `${id}-${tile.name}` }))
  const filters = listOf(sent.filters).map((filter): Body => ({ ...filter, id: filter.id ?? `${id}-${filter.name}` }))
  return { ...sent, id, ...(section === 'dashboards' && { tiles, filters }) } as RemoteObject
}

/** `section.key action`, with the origin where there is one. */
export const steps = ({ changes }: Pick<Plan, 'changes'>): readonly string[] =>
  changes.map(({ section, key, action, origin }) => `${section}.${key} ${action}${origin === undefined ? '' : ` (${origin})`}`)

/** `path: before → after`, with `–` for nothing. */
export const fieldLines = (fields: readonly FieldChange[]): readonly string[] =>
  fields.map(({ path, before, after }) => `${path}: ${wordsFor(before)} → ${wordsFor(after)}`)

const wordsFor = (value: unknown): string => (value === undefined ? '–' : JSON.stringify(value))

export const fieldsOf = (plan: Plan, name: string): readonly string[] =>
  fieldLines(plan.changes.find(({ section, key }) => `${section}.${key}` === name)?.fields ?? [])

export const saidOf = ({ diagnostics }: Pick<Plan, 'diagnostics'>): readonly string[] => messages(diagnostics)
