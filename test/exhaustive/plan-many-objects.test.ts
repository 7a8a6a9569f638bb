// What takes no time for ten objects takes little for ten thousand: the work grows with their number, and not with its square.
import { beforeAll, describe, expect, it } from 'vitest'
import { profileNamed } from '../../src/api/profiles.ts'
import { type Declarations, readDeclarations } from '../../src/declarations/declarations.ts'
import type { Body, StoredObject } from '../../src/kinds/kind.ts'
import type { KindName } from '../../src/kinds/kind-names.ts'
import { createKinds } from '../../src/kinds/kinds.ts'
import { reconcileOutcome } from '../../src/sync/apply/reconcile.ts'
import { findDuplicates } from '../../src/sync/apply/verify.ts'
import { type Change, changesOf } from '../../src/sync/plan/change.ts'
import { planChanges } from '../../src/sync/plan/plan-changes.ts'
import { toPlanFile } from '../../src/sync/plan/plan-file.ts'
import { indexStored, type StoredObjects } from '../../src/sync/plan/stored-objects.ts'
import { cpuMsOf } from '../support/clocks.ts'
import { remoteStateWith } from '../support/plans.ts'

const profile = profileNamed('clickhouse-cloud')
const nowMs = Date.parse('2026-03-31T12:00:00Z')
const types = createKinds(profile, nowMs)
const options = { project: 'shop/many', profile, nowMs, prune: true, maxDeletes: 0 }

const alertCount = 9500
const dashboardCount = 500
const tilesEach = 10

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

const tile = (i: number) => ({
  name: `Tile ${i}`,
  x: 0,
  y: i,
  w: 4,
  h: 4,
  config: { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count', where: `tile:${i}` }] },
})

const dashboards = numbers(dashboardCount).map(
  (d) => [`dashboard-${d}`, { name: `Dashboard ${d}`, tiles: numbers(tilesEach).map(tile) }] as const,
)

/** A third of them names its dashboard by its name. */
const alert = (i: number) => ({
  name: `Alert ${i}`,
  dashboard: i % 3 === 0 ? { name: `Dashboard ${i % dashboardCount}` } : `dashboard-${i % dashboardCount}`,
  tile: `Tile ${i % tilesEach}`,
  threshold: i,
  interval: '5m',
  channel: { type: 'webhook', webhook: 'oncall' },
})

function declare(): Declarations {
  const alerts = numbers(alertCount).map((i) => [`alert-${i}`, alert(i)] as const)
  const parts = numbers(20).map((i) => ({
    dashboards: Object.fromEntries(dashboards.filter((_, d) => d % 20 === i)),
    alerts: Object.fromEntries(alerts.filter((_, a) => a % 20 === i)),
  }))
  return readDeclarations(
    parts.map((part, i) => ({ path: `${i}.json`, text: JSON.stringify(part) })),
    () => undefined,
  )
}

const nothing = remoteStateWith()

/** A service after all of it was applied. */
function remoteStateOf(changes: readonly Change[]): StoredObjects {
  const bodies = (kind: KindName): readonly Body[] => changesOf({ changes }, kind).map(({ desired }) => desired ?? {})
  const made = bodies('dashboard').map((body, d) => ({
    ...body,
    id: `d${d}`,
    tiles: (body.tiles as readonly Body[]).map((one, i) => ({ ...one, id: `d${d}t${i}` })),
  }))
  const idOf = new Map(made.map((one) => [(one as Body).name, one.id]))
  const alerts = bodies('alert').map((body, i) => {
    const dashboardId = idOf.get(`Dashboard ${Number(String(body.name).slice(6)) % dashboardCount}`)
    return { ...body, id: `a${i}`, dashboardId, tileId: `${dashboardId}t${Number(String(body.name).slice(6)) % tilesEach}` }
  })
  return remoteStateWith({ dashboard: made, alert: alerts })
}

const count = (changes: readonly Change[]) =>
  Object.fromEntries([...Map.groupBy(changes, ({ action }) => action)].map(([action, { length }]) => [action, length]))

describe('ten thousand objects', () => {
  let declared: Declarations
  let storedObjects: StoredObjects
  beforeAll(() => {
    declared = declare()
    // Nothing is there yet that could be named: all are on one dashboard until it is.
    const onKey = declared.objects.map((one) =>
      'dashboard' in one.value ? { ...one, value: { ...one.value, dashboard: 'dashboard-0' } } : one,
    )
    const created = remoteStateOf(planChanges({ objects: onKey as Declarations['objects'] }, nothing, options).changes)
    // With the digests of the declarations in the markers.
    storedObjects = remoteStateOf(planChanges(declared, created, options).changes)
  }, 60_000)

  /** What a busy machine needs, and a square would never do with. */
  const maxMs = 8000

  it('compares ten thousand objects with ten thousand equal ones', () => {
    expect(cpuMsOf(() => expect(count(planChanges(declared, storedObjects, options).changes)).toEqual({ unchanged: 10_000 }))).toBeLessThan(
      maxMs,
    )
  })

  it('compares ten thousand objects that all differ, and writes a plan file', () => {
    const other = {
      ...storedObjects,
      alert: storedObjects.alert.map((one) => ({ ...one, threshold: -1 })),
      dashboard: storedObjects.dashboard.map((one) => ({ ...one, name: 'Old' })),
    }
    const byKey = declared.objects.filter(({ value }) => !('dashboard' in value) || typeof value.dashboard === 'string')
    const ms = cpuMsOf(() => {
      const plan = planChanges({ objects: byKey }, other, { ...options, prune: false })
      expect(count(plan.changes)).toEqual({ update: byKey.length })
      toPlanFile({ plan, kinds: types }, { organizationId: 'o', serviceId: 's' }, false)
    })
    expect(ms).toBeLessThan(maxMs)
  })

  it('reports each of ten thousand references to missing objects', () => {
    const webhooks = numbers(1000).map((i) => ({ id: `w${i}`, name: `onkall-${i}` }))
    expect(
      cpuMsOf(() =>
        expect(planChanges(declared, { ...storedObjects, webhook: webhooks }, options).diagnostics.length).toBeGreaterThan(9000),
      ),
    ).toBeLessThan(maxMs)
  })

  it('finds ten thousand objects by their ownership markers after the writes', () => {
    const items = storedObjects.alert as readonly StoredObject[]
    const { changes } = planChanges(declared, { ...storedObjects, alert: [] }, options)
    const created = changes.filter(({ kind }) => kind === 'alert')
    const ms = cpuMsOf(() => {
      const list = indexStored({ items }, types.alert)
      const reviewed = created.map((change) => reconcileOutcome({ change, kind: 'created' }, list, change.desired ?? {}, types.alert))
      expect(reviewed.filter(({ id, serverChanged }) => id === undefined || serverChanged !== undefined)).toEqual([])
      expect(findDuplicates(changes, { alert: list }, types)).toEqual([])
    })
    expect(ms).toBeLessThan(maxMs)
  })
})
