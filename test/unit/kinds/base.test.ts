// When a service whose server fills in fields by itself is as declared, and when somebody changed it.
import { describe, expect, it } from 'vitest'
import { isSecret, withBase } from '../../../src/kinds/base.ts'
import type { Body } from '../../../src/kinds/kind.ts'
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

/** The service after apply, on a server that fills fields in; with the base that apply writes then, or with that of what was sent. */
function appliedOn(fill: Fill, { isRecorded = true } = {}): StoredObjects {
  const plan = planOf(declared)
  const storedObjects = filled(afterApply(plan), fill)
  if (!isRecorded) return storedObjects
  const kind = kinds.dashboard
  const desired = plan.changes.find(({ kind }) => kind === 'dashboard')?.desired ?? {}
  const dashboards = storedObjects.dashboard.map((one) => ({ ...one, ...withBase(kind, kind.toBody(one), desired) }))
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
    expect(dashboardSteps(appliedOn(known, { isRecorded: false }))).toBe('dashboards.shop unchanged')
  })

  it('an object is unchanged where its base says that it was stored like that', () => {
    const storedObjects = appliedOn(unknown)
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop unchanged')
    expect(messagesOf(planOf(declared, storedObjects))).toEqual([])
  })

  it('an object with the base of what was sent is unchanged when the server gains a default that all objects have alike, and the plan says so', () => {
    const storedObjects = filled(appliedOn(known, { isRecorded: false }), (config) => ({ compareToPreviousPeriod: true, ...config }))
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop unchanged')
    expect(messagesOf(planOf(declared, storedObjects))).toEqual([
      'server-default: dashboards.shop: the server now fills in fields that no file declares, with the same value in all objects, such as tiles["A"].config.compareToPreviousPeriod. They count as its defaults',
    ])
  })

  it('an object with a base of declared fields only is unchanged when the server gains a default that all objects have alike', () => {
    const storedObjects = filled(
      appliedOn((config) => config),
      (config) => ({ compareToPreviousPeriod: true, ...config }),
    )
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop unchanged')
  })
})

it('an object whose file changed is updated, and not held, when the server gained a default that all other objects have alike', () => {
  const { shop } = declared.dashboards
  const two = { dashboards: { shop, other: { ...shop, name: 'Other' } } }
  const applied = afterApply(planOf(two))
  const changed = { dashboards: { ...two.dashboards, shop: { ...shop, name: 'Store' } } }
  const origins = (fill: Fill): readonly string[] => steps(planOf(changed, filled(applied, fill)))
  expect(origins((config) => ({ fitYAxisToData: true, ...config }))).toEqual([
    'dashboards.shop update (files)',
    'dashboards.other unchanged',
  ])
  expect(origins((config, name) => (name === 'A' ? { fitYAxisToData: true, ...config } : config))[0]).toBe('dashboards.shop held (both)')
})

it('secrets of a webhook are its URL, its headers and its query parameters, at any depth', () => {
  const paths = ['url', 'headers', 'headers.Authorization', 'queryParams["key"]', 'name', 'description', 'body.url', '']
  const secrets = paths.filter((path) => isSecret({ path, before: 1, after: 2 }, kinds.webhook))
  expect(secrets).toEqual(['url', 'headers', 'headers.Authorization', 'queryParams["key"]'])
  expect(isSecret({ path: 'url', before: 1, after: 2 }, kinds.alert)).toBe(false)
})

describe('an object that a user changed', () => {
  const limited: Fill = (config, name) => (name === 'B' ? { ...config, seriesLimit: 3 } : config)

  it('an object that a user changed is a difference that names the field', () => {
    const storedObjects = filled(appliedOn(known, { isRecorded: false }), limited)
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop update (service)')
    expect(fieldsOf(planOf(declared, storedObjects), 'dashboards.shop')).toEqual(['tiles["B"].config.seriesLimit: 3 → –'])
  })

  it('an object that a user changed is a difference that names the field among those that its base has', () => {
    const plan = planOf(declared, filled(appliedOn(unknown), limited))
    expect(steps(plan)[0]).toBe('dashboards.shop update (service)')
    expect(fieldsOf(plan, 'dashboards.shop')).toContain('tiles["B"].config.seriesLimit: 3 → –')
  })

  it('an object that a user changed is a difference where two alerts got the same value of a field that apply clears', () => {
    const two = { ...declared, alerts: { ...declared.alerts, slow: { ...declared.alerts.errors, name: 'Slow', tile: 'B' } } }
    const applied = afterApply(planOf(two))
    for (const changed of [{ numConsecutiveWindows: 3 }, { message: 'Look here' }]) {
      const storedObjects = remoteStateWith({ ...applied, alert: applied.alert.map((one) => ({ ...one, ...changed })) })
      expect(steps(planOf(two, storedObjects)), Object.keys(changed)[0]).toEqual(
        expect.arrayContaining(['alerts.errors update (service)', 'alerts.slow update (service)']),
      )
    }
    const storedObjects = remoteStateWith({ ...applied, alert: applied.alert.map((one) => ({ ...one, numConsecutiveWindows: 1 })) })
    expect(steps(planOf(two, storedObjects))).toEqual(expect.arrayContaining(['alerts.errors unchanged', 'alerts.slow unchanged']))
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
  })

  it('an object that a user changed is a difference where a value of the server was changed to another', () => {
    const storedObjects = filled(appliedOn(unknown), (config, name) => (name === 'A' ? { ...config, groupBy: 'Host' } : config))
    expect(dashboardSteps(storedObjects)).toBe('dashboards.shop update (service)')
    expect(fieldsOf(planOf(declared, storedObjects), 'dashboards.shop')).toContain('tiles["A"].config.groupBy: "Host" → –')
  })

  it('an object that is as declared is unchanged, whatever its base says', () => {
    const storedObjects = filled(
      appliedOn((config) => ({ groupBy: 'Host', ...config })),
      ({ groupBy: _, ...config }) => config,
    )
    const [change] = planOf(declared, storedObjects).changes
    expect(change?.fields).toEqual([])
    expect(steps({ changes: change ? [change] : [] })).toEqual(['dashboards.shop unchanged'])
  })
})

describe('a base', () => {
  const withTags = (storedObjects: StoredObjects, change: (tag: string) => readonly string[]): StoredObjects => ({
    ...storedObjects,
    dashboard: storedObjects.dashboard.map((one) => ({ ...one, tags: one.tags.flatMap(change) })),
  })
  const isBase = (tag: string): boolean => tag.startsWith('wkb:')

  it('of another version of the tool is as good as none, and alone no reason to write', () => {
    const unknownBases = [
      (tag: string) => (isBase(tag) ? ['wkb:99.0123456789'] : [tag]),
      (tag: string) => (isBase(tag) ? [] : [tag]),
      (tag: string) => (isBase(tag) ? ['wks1:0123456789abcdef0123'] : [tag]),
    ]
    for (const change of unknownBases) {
      expect(dashboardSteps(withTags(appliedOn(known), change))).toBe('dashboards.shop unchanged')
      const edited = filled(appliedOn(known), (config, name) => (name === 'B' ? { ...config, seriesLimit: 3 } : config))
      expect(dashboardSteps(withTags(edited, change))).toBe('dashboards.shop update (unknown)')
    }
  })

  it('does not hide that another object has the name to which the files refer', () => {
    const moved = { ...appliedOn(unknown), source: [{ id: 'other-logs', name: 'Logs' }] } as StoredObjects
    const plan = planOf(declared, moved)
    expect(steps(plan)[0]).toBe('dashboards.shop update (references)')
    expect(fieldsOf(plan, 'dashboards.shop').every((line) => line.includes('.source:'))).toBe(true)
  })

  it('names a change of both sides, and then nothing is written', () => {
    const changed = { ...declared, dashboards: { shop: { ...declared.dashboards.shop, name: 'Store' } } }
    const edited = filled(appliedOn(known), (config, name) => (name === 'B' ? { ...config, seriesLimit: 3 } : config))
    const plan = planOf(changed, edited)
    expect(steps(plan)[0]).toBe('dashboards.shop held (both)')
    expect(messagesOf(plan)[0]).toMatch(
      /^held: dashboards\.shop: apply leaves it as it is: changed in both, the files and the service, since the last apply \(name, /,
    )
    const [, entry] = /set adopt to (\S+)/.exec(messagesOf(plan)[0] ?? '') ?? []
    expect(
      steps(planOf({ ...changed, dashboards: { shop: { ...changed.dashboards.shop, adopt: entry?.replace(/;$/, '') } } }, edited))[0],
    ).toBe('dashboards.shop update (decided)')
  })

  it('does not depend on ids that the server gives, so that the base of what is sent is that of what is stored', () => {
    expect(withTags(appliedOn(known), (tag) => (isBase(tag) ? [tag] : [])).dashboard[0]?.tags).toEqual(
      withTags(appliedOn(known, { isRecorded: false }), (tag) => (isBase(tag) ? [tag] : [])).dashboard[0]?.tags,
    )
  })

  it('goes with the marker of an update, and is a part of the marker in a text', () => {
    const kind = kinds.dashboard
    const marked = kind.withBase({ tags: ['a', 'wk:0a1b2c:shop:0a1b2c'] }, '2.0123456789')
    expect(marked.tags).toEqual(['a', 'wk:0a1b2c:shop:0a1b2c', 'wkb:2.0123456789'])
    expect(kind.withMarker(marked, { project: 'shop/main', key: 'shop', digest: 'ffffff' }).tags).toEqual([
      'a',
      expect.stringMatching(/^wk:.*ffffff$/),
    ])
    const alert = kinds.alert
    const own = alert.withMarker({ note: 'Call Ada' }, { project: 'shop/main', key: 'errors', digest: '0a1b2c' })
    const both = alert.withBase(own, '2.0123456789')
    expect(both.note).toBe('Call Ada\n\nwatchkeeper: shop/main errors 0a1b2c wkb:2.0123456789')
    expect(alert.canonical(both).note).toBe('Call Ada')
    expect(alert.readMarker(both)).toEqual({ ...alert.readMarker(own), base: '2.0123456789' })
  })

  it('is computed as in every version of its format', () => {
    expect(appliedOn(known).dashboard[0]?.tags.find(isBase)).toMatchInlineSnapshot(`"wkb:2.782f80a15b"`)
  })
})

describe('a server with an order of its own', () => {
  it('stores the webhooks of an alert in its base, so that only a renamed webhook is a difference', () => {
    const webhook = [
      { id: 'a', name: 'oncall' },
      { id: 'b', name: 'incidents' },
    ]
    const channels = ['oncall', 'incidents'].map((name) => ({ type: 'webhook', webhook: name }))
    const { channel: _, ...errors } = declared.alerts.errors
    const files = { dashboards: declared.dashboards, alerts: { errors: { ...errors, channels } } }
    const plan = planOf(files, remoteStateWith({ webhook }))
    const applied = afterApply(plan, remoteStateWith({ webhook }))
    const desired = plan.changes.find(({ kind }) => kind === 'alert')?.desired ?? {}
    const alert = applied.alert.map((one) => {
      const turned = { ...one, channels: (one.channels as readonly Body[]).toReversed() }
      return {
        ...turned,
        ...withBase(kinds.alert, kinds.alert.toBody(turned), { ...desired, dashboardId: one.dashboardId, tileId: one.tileId }),
      }
    })
    const stored = remoteStateWith({ ...applied, alert })
    expect(steps(planOf(files, stored))).toEqual(['dashboards.shop unchanged', 'alerts.errors unchanged'])
    const renamed = remoteStateWith({ ...stored, webhook: [{ id: 'c', name: 'oncall' }, webhook[1] ?? {}] })
    expect(steps(planOf(files, renamed))).toEqual(['dashboards.shop unchanged', 'alerts.errors update (references)'])
  })
})
