// When a service whose server fills in fields by itself is as declared, and when somebody changed it.
import { describe, expect, it } from 'vitest'
import { sidesOf } from '../../../src/kinds/compare.ts'
import type { Body } from '../../../src/kinds/kind.ts'
import { snapshotOf } from '../../../src/kinds/snapshot.ts'
import type { StoredObjects } from '../../../src/sync/plan/stored-objects.ts'
import { afterApply, fieldsOf, kinds, messagesOf, planOf, remoteStateWith, steps } from '../../support/plans.ts'

const place = { x: 0, y: 0, w: 12, h: 4 }
const chart = { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count' }] }
const tile = (name: string, config: object = {}) => ({ name, ...place, config: { ...chart, ...config } })

const declared = {
  dashboards: { shop: { name: 'Shop', tiles: [tile('A'), tile('B'), tile('C', { seriesLimit: 5 })] } },
  alerts: {
    errors: { name: 'Errors', dashboard: 'shop', tile: 'A', threshold: 5, interval: '5m', channel: { type: 'webhook', webhook: 'oncall' } },
  },
}

/** What a server makes of the configs of all tiles. */
type Fill = (config: Body, name: string) => Body

const withConfigs = (dashboard: Body, fill: Fill): Body => ({
  ...dashboard,
  tiles: (dashboard.tiles as readonly Body[]).map((one) => ({ ...one, config: fill(one.config as Body, String(one.name)) })),
})

const filled = (storedObjects: StoredObjects, fill: Fill): StoredObjects =>
  remoteStateWith({ ...storedObjects, dashboard: storedObjects.dashboard.map((one) => withConfigs(one, fill)) })

/** The service after apply, on a server that fills fields in; with the snapshot that apply writes then. */
function appliedOn(fill: Fill, { snapshot = true } = {}): StoredObjects {
  const plan = planOf(declared)
  const storedObjects = filled(afterApply(plan), fill)
  if (!snapshot) return storedObjects
  const kind = kinds.dashboard
  const desired = plan.changes.find(({ kind }) => kind === 'dashboard')?.desired ?? {}
  const dashboards = storedObjects.dashboard.map((one) => ({
    ...one,
    ...kind.withSnapshot(kind.toBody(one), snapshotOf(sidesOf(kind, desired, one))),
  }))
  return { ...storedObjects, dashboard: dashboards }
}

const known: Fill = (config) => ({
  fillNulls: true,
  asRatio: false,
  ...config,
  select: [{ valueExpression: '', where: '', whereLanguage: 'lucene', aggFn: 'count' }],
})
const unknown: Fill = (config) => ({ fitYAxisToData: true, groupBy: 'ServiceName', ...known(config, '') })
const dashboardSteps = (storedObjects: StoredObjects): string | undefined => steps(planOf(declared, storedObjects))[0]

describe('an unchanged object', () => {
  it('an object is unchanged where known defaults explain what the server fills in', () => {
    expect(dashboardSteps(appliedOn(known, { snapshot: false }))).toBe('dashboards.shop unchanged')
  })

  it('an object is unchanged where a snapshot says that it was stored like that', () => {
    const storedObjects = appliedOn(unknown)
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop unchanged')
    expect(messagesOf(planOf(declared, storedObjects))).toEqual([])
  })

  it('an object without a snapshot is unchanged when the server gains a default that all objects have alike, and the plan says so', () => {
    const storedObjects = filled(appliedOn(known, { snapshot: false }), (config) => ({ compareToPreviousPeriod: true, ...config }))
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop unchanged')
    expect(messagesOf(planOf(declared, storedObjects))).toEqual([
      'server-default: dashboards.shop: the server now fills in fields that no file declares, with the same value in all objects, such as tiles["A"].config.compareToPreviousPeriod. They count as its defaults',
    ])
  })

  it('an object with a snapshot of declared fields only is unchanged when the server gains a default that all objects have alike', () => {
    const storedObjects = filled(
      appliedOn((config) => config),
      (config) => ({ compareToPreviousPeriod: true, ...config }),
    )
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop unchanged')
  })
})

describe('an object that a user changed', () => {
  const limited: Fill = (config, name) => (name === 'B' ? { ...config, seriesLimit: 3 } : config)

  it('an object that a user changed is a difference that names the field', () => {
    const storedObjects = filled(appliedOn(known, { snapshot: false }), limited)
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop update (service)')
    expect(fieldsOf(planOf(declared, storedObjects), 'dashboards.shop')).toEqual(['tiles["B"].config.seriesLimit: 3 → –'])
  })

  it('an object that a user changed is a difference that names the field among those that a snapshot explains', () => {
    const plan = planOf(declared, filled(appliedOn(unknown), limited))
    expect(steps(plan)[0]).toBe('dashboards.shop update (service)')
    expect(fieldsOf(plan, 'dashboards.shop')).toContain('tiles["B"].config.seriesLimit: 3 → –')
  })

  it('an object that a user changed is a difference where the only object of its kind has a new value', () => {
    const one = { dashboards: { shop: { name: 'Shop', tiles: [tile('A')] } } }
    const storedObjects = filled(afterApply(planOf(one)), (config) => ({ ...config, seriesLimit: 3 }))
    expect(steps(planOf(one, storedObjects))).toEqual(['dashboards.shop update (service)'])
  })

  it('an object that a user changed is a difference in a declared field, beside the candidates that the server may have filled in', () => {
    const storedObjects = filled(appliedOn(unknown), (config, name) => (name === 'C' ? { ...config, seriesLimit: 9 } : config))
    const plan = planOf(declared, storedObjects)
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop update (service)')
    expect(fieldsOf(plan, 'dashboards.shop')).toContain('tiles["C"].config.seriesLimit: 9 → 5')
    expect(plan.changes[0]?.notes).toEqual([
      'at least one of these fields was changed since the last apply; the server may have filled in the others',
    ])
  })

  it('an object that a user changed is a difference where a value of the server was changed to another', () => {
    const storedObjects = filled(appliedOn(unknown), (config, name) => (name === 'A' ? { ...config, groupBy: 'Host' } : config))
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop update (service)')
    expect(fieldsOf(planOf(declared, storedObjects), 'dashboards.shop')).toContain('tiles["A"].config.groupBy: "Host" → –')
  })

  it('an object that a user changed is a difference without a field where it is now as declared, but not as the server stored it', () => {
    const storedObjects = filled(
      appliedOn((config) => ({ groupBy: 'Host', ...config })),
      ({ groupBy: _, ...config }) => config,
    )
    const [change] = planOf(declared, storedObjects).changes
    expect(change).toMatchObject({
      action: 'update',
      origin: 'service',
      fields: [],
      notes: ['a field that no file declares was changed since the last apply'],
    })
  })
})

describe('a snapshot', () => {
  it('a snapshot of another version of the tool is as good as none', () => {
    const problemsWithOther = (fill: Fill): readonly string[] => {
      const storedObjects = appliedOn(fill)
      const dashboards = storedObjects.dashboard.map((one) => ({ ...one, tags: one.tags.map((tag) => tag.replace(/^wks\d+:/, 'wks99:')) }))
      expect(dashboards[0]?.tags.some((tag) => tag.startsWith('wks99:'))).toBe(true)
      const plan = planOf(declared, { ...storedObjects, dashboard: dashboards })
      return [steps(plan)[0] ?? '', ...messagesOf(plan)]
    }
    expect(problemsWithOther(known)).toEqual(['dashboards.shop unchanged'])
    const without = planOf(declared, appliedOn(unknown, { snapshot: false }))
    expect(messagesOf(without)).not.toEqual([])
    expect(problemsWithOther(unknown)).toEqual([steps(without)[0], ...messagesOf(without)])
  })

  it('covers the declaration: another id behind a name is a difference', () => {
    const storedObjects = appliedOn(unknown)
    const moved = { ...storedObjects, source: [{ id: 'other-logs', name: 'Logs' }] } as StoredObjects
    expect(dashboardSteps(moved)).toBe('dashboards.shop update (service)')
  })

  it('a snapshot is taken away with the ownership marker of an update', () => {
    const kind = kinds.dashboard
    const marked = kind.withSnapshot({ tags: ['a', 'wk:0a1b2c:shop:0a1b2c'] }, '0123456789abcdef0123')
    expect(marked.tags).toEqual(['a', 'wk:0a1b2c:shop:0a1b2c', 'wks1:0123456789abcdef0123'])
    expect(kind.withMarker(marked, { project: 'shop/main', key: 'shop', digest: 'ffffff' }).tags).toEqual([
      'a',
      expect.stringMatching(/^wk:.*ffffff$/),
    ])
  })

  it('a snapshot is below the ownership marker in a text, and both are removed from it', () => {
    const kind = kinds.alert
    const marked = kind.withMarker({ note: 'Call Ada' }, { project: 'shop/main', key: 'errors', digest: '0a1b2c' })
    const both = kind.withSnapshot(marked, '0123456789abcdef0123')
    expect(both.note).toBe('Call Ada\n\nwatchkeeper: shop/main errors 0a1b2c\nwatchkeeper-snapshot: 1 0123456789abcdef0123')
    expect(kind.canonical(both).note).toBe('Call Ada')
    expect(kind.readMarker(both)).toEqual(kind.readMarker(marked))
    expect(kind.readSnapshot(both)).toEqual({ digest: '0123456789abcdef0123' })
  })

  it('a snapshot is computed as in every version of its revision', () => {
    const [dashboard] = appliedOn(known).dashboard
    expect(dashboard?.tags.find((tag) => tag.startsWith('wks'))).toMatchInlineSnapshot(`"wks1:e535b03122c89e71d8c5"`)
  })
})
