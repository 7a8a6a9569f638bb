// What of a declaration is sent: names become ids, words of ours go, and what has no id yet is waited for.

import { describe, expect, it } from 'vitest'
import { alertFromApi } from '../../../../src/kinds/alert/alert.ts'
import { listOf } from '../../../../src/kinds/kind.ts'
import { addressOf } from '../../../../src/kinds/kind-names.ts'
import { PendingId } from '../../../../src/kinds/name-index.ts'
import { afterApply, messagesOf, planOf, remoteStateWith } from '../../../support/plans.ts'
import { errors, many, shop, slow, tile } from '../../../support/shop-declaration.ts'

const declared = { alerts: { errors, many }, dashboards: { shop }, savedSearches: { slow } }

const applied = afterApply(planOf(declared))

describe('what is sent', () => {
  const bodyOf = (content: object, name: string, stored = remoteStateWith()) =>
    planOf(content, stored).changes.find(({ kind, key }) => addressOf({ kind, key }) === name)?.desired

  it('waits for the ids of objects that will be created', () => {
    expect(bodyOf(declared, 'alerts.errors')).toMatchObject({
      source: 'tile',
      dashboardId: new PendingId('dashboard', 'shop'),
      tileId: new PendingId('dashboard', 'shop', 'A'),
      channel: { type: 'webhook', webhookId: 'hook' },
    })
    expect(bodyOf(declared, 'alerts.many')).toMatchObject({ source: 'saved_search', savedSearchId: new PendingId('savedSearch', 'slow') })
    expect(bodyOf(declared, 'alerts.many')).not.toHaveProperty('dashboardId')
  })

  it('a resolved alert has the ids of what is there', () => {
    expect(bodyOf(declared, 'alerts.errors', applied)).toMatchObject({ dashboardId: 'dashboards-shop', tileId: 'dashboards-shop-A' })
    expect(bodyOf(declared, 'alerts.many', applied)).toMatchObject({ savedSearchId: 'savedSearches-slow' })
  })

  it('names a tile that a renamed dashboard will have by the id that it keeps', () => {
    const moved = { ...shop, name: 'Store', tiles: [tile('B', 4), tile('A')] }
    expect(bodyOf({ ...declared, dashboards: { shop: moved } }, 'alerts.errors', applied)).toMatchObject({ tileId: 'dashboards-shop-A' })
  })

  it('waits for the id of a tile that is new on a dashboard that is there', () => {
    const more = {
      ...shop,
      tiles: [...shop.tiles, tile('C', 8, { displayType: 'number', sourceId: 'logs', select: [{ aggFn: 'count' }] })],
    }
    const body = bodyOf(
      { ...declared, dashboards: { shop: more }, alerts: { errors: { ...errors, tile: 'C' }, many } },
      'alerts.errors',
      applied,
    )
    expect(body).toMatchObject({ dashboardId: 'dashboards-shop', tileId: new PendingId('dashboard', 'shop', 'C') })
  })

  it('leaves out fields that are null', () => {
    const body = bodyOf({ ...declared, alerts: { errors: { ...errors, message: null, thresholdMax: null }, many } }, 'alerts.errors')
    expect(Object.keys(body ?? {})).not.toContain('message')
    expect(Object.values(body ?? {}).filter((value) => value == null)).toEqual([])
  })

  it('a resolved alert has several channels, each with its id, and an address as it is', () => {
    const channels = [
      { type: 'webhook', webhook: 'oncall', severity: 'critical' },
      { type: 'webhook', webhookId: 'w2' },
      { type: 'email', emailRecipients: ['a@b.c'] },
    ]
    const body = bodyOf({ ...declared, alerts: { errors: { ...errors, channel: undefined, channels }, many } }, 'alerts.errors')
    expect(body?.channels).toEqual([
      { type: 'webhook', webhookId: 'hook', severity: 'critical' },
      { type: 'webhook', webhookId: 'w2' },
      { type: 'email', emailRecipients: ['a@b.c'] },
    ])
    expect(body).not.toHaveProperty('channel')
  })

  it('a resolved alert has what is raw as it is, over what it says itself, and nothing of ours', () => {
    const source = { source: 'Logs' }
    const odd = { ...tile('A'), raw: { w: 12, extra: { sourceId: source } } }
    const body = bodyOf(
      { dashboards: { shop: { ...shop, adopt: true, tiles: [odd], raw: { theme: source, name: 'Raw' } } } },
      'dashboards.shop',
    )
    expect(body).toMatchObject({
      name: 'Raw',
      theme: source,
      tiles: [{ name: 'A', w: 12, config: { sourceId: 'logs' }, extra: { sourceId: source } }],
    })
    for (const part of [body, listOf(body?.tiles)[0]]) expect(part).not.toHaveProperty('raw')
    expect(body).not.toHaveProperty('adopt')
  })
})

describe('a reference to a missing object', () => {
  it.each([
    [
      'a source',
      {
        dashboards: {
          shop: { ...shop, tiles: [tile('A', 0, { displayType: 'line', sourceId: { source: 'Lags' }, select: [{ aggFn: 'count' }] })] },
        },
      },
      'held: dashboards.shop: apply does not create it: tiles["A"].config.sourceId: no source is named "Lags"; did you mean "Logs"?',
    ],
    [
      'a source of a saved search',
      { savedSearches: { slow: { ...slow, sourceId: { source: 'Lags' } } } },
      'held: savedSearches.slow: apply does not create it: sourceId: no source is named "Lags"; did you mean "Logs"?',
    ],
    [
      'a webhook',
      { dashboards: { shop }, alerts: { errors: { ...errors, channel: { type: 'webhook', webhook: 'ancall' } } } },
      'held: alerts.errors: apply does not create it: channel.webhook: no webhook is named "ancall"; did you mean "oncall"?',
    ],
    [
      'a webhook of several',
      { dashboards: { shop }, alerts: { errors: { ...errors, channel: undefined, channels: [{ type: 'webhook', webhook: 'x' }] } } },
      'held: alerts.errors: apply does not create it: channels[0].webhook: no webhook is named "x"; existing names: oncall',
    ],
    [
      'a tile',
      { dashboards: { shop }, alerts: { errors: { ...errors, tile: 'AA' } } },
      'held: alerts.errors: apply does not create it: tile: the dashboard has no tile named "AA"; did you mean "A"?',
    ],
    [
      'a tile by its id',
      { dashboards: { shop }, alerts: { errors: { ...errors, tile: { id: 'nobody' } } } },
      'held: alerts.errors: apply does not create it: tile: the dashboard has no tile nobody; name one of its tiles, or remove the alert',
    ],
    [
      'one of two tiles',
      { dashboards: { shop: { ...shop, tiles: [tile('A'), tile('A', 4)] } }, alerts: { errors } },
      'held: alerts.errors: apply does not create it: tile: the dashboard has several tiles named "A"; use { id: … }',
    ],
    [
      'a dashboard by name',
      { alerts: { errors: { ...errors, dashboard: { name: 'Shop' } } } },
      'held: alerts.errors: apply does not create it: dashboard: no dashboard is named "Shop". Correct the file or the service',
    ],
    [
      'a dashboard by id',
      { alerts: { errors: { ...errors, dashboard: { id: 'nobody' } } } },
      'held: alerts.errors: apply does not create it: dashboard: dashboard nobody does not exist. Correct the file or the service',
    ],
    [
      'a key',
      { alerts: { errors: { ...errors, dashboard: 'shap' } } },
      'held: alerts.errors: apply does not create it: dashboard: "shap" is not a key in these files. Correct the file or the service',
    ],
    [
      'a saved search by id',
      { alerts: { many: { ...many, savedSearch: { id: 'nobody' } } } },
      'held: alerts.many: apply does not create it: savedSearch: saved search nobody does not exist. Correct the file or the service',
    ],
  ])('a reference to a missing object holds what has it, with the place in the file: %s', (_, content, expected) => {
    const plan = planOf(content)
    expect(messagesOf(plan)).toEqual([expected])
    expect(plan.changes.at(-1)?.action).toBe('held')
  })

  it('finds an object of the service that no file declares', () => {
    const byName = { errors: { ...errors, dashboard: { name: 'Shop' }, tile: { id: 'dashboards-shop-B' } } }
    const plan = planOf({ alerts: byName }, { ...applied, alert: [] })
    expect(plan.diagnostics).toEqual([])
    expect(plan.changes[0]?.desired).toMatchObject({ dashboardId: 'dashboards-shop', tileId: 'dashboards-shop-B' })
    const named = planOf({ alerts: { errors: { ...errors, dashboard: { id: 'dashboards-shop' } } } }, { ...applied, alert: [] })
    expect(named.changes[0]?.desired).toMatchObject({ tileId: 'dashboards-shop-A' })
  })
})

it('an alert of the API becomes one of a file by what it watches, which its source says where it has one', () => {
  const ids = { dashboardId: 'd1', tileId: 't1', savedSearchId: 'q1' }
  const [tile, savedSearch] = [{ dashboard: { id: 'd1' }, tile: { id: 't1' } }, { savedSearch: { id: 'q1' } }]
  expect(alertFromApi({ ...ids, source: 'tile' })).toEqual(tile)
  expect(alertFromApi({ ...ids, source: 'saved_search' })).toEqual(savedSearch)
  expect(alertFromApi({ ...ids, savedSearchId: null })).toEqual(tile)
  expect(alertFromApi({ savedSearchId: 'q1' })).toEqual(savedSearch)
  expect(alertFromApi({ ...ids, ...savedSearch })).toBeUndefined()
  expect(alertFromApi({ threshold: 1 })).toBeUndefined()
})
