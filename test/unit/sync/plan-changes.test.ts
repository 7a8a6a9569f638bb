// What a plan says is to be done, from what is declared and what the service has.

import { describe, expect, it } from 'vitest'
import { withBase } from '../../../src/kinds/base.ts'
import { addressOf } from '../../../src/kinds/kind-names.ts'
import { countRequests, type Update } from '../../../src/sync/decide/change.ts'
import { dependsOnPatches } from '../../../src/sync/decide/guards/tile-writes.ts'
import { afterApply, fieldsOf, kinds, messagesOf, planOf, problemsIn, remoteStateWith, steps } from '../../support/plans.ts'
import { errors, many, shop, slow, tile, watching } from '../../support/shop-declaration.ts'

const declared = { alerts: { errors, many }, dashboards: { shop }, savedSearches: { slow } }

const applied = afterApply(planOf(declared))

describe('a plan', () => {
  it('creates what is not there, and first what others need', () => {
    const plan = planOf(declared)
    expect(steps(plan)).toEqual(['savedSearches.slow create', 'dashboards.shop create', 'alerts.errors create', 'alerts.many create'])
    expect(plan).toMatchObject({
      project: 'shop/main',
      orphans: [],
      diagnostics: [],
      seen: { dashboard: 0, savedSearch: 0, alert: 0 },
    })
  })

  it('a plan has nothing to do after that', () => {
    const plan = planOf(declared, applied)
    expect(steps(plan)).toEqual([
      'savedSearches.slow unchanged',
      'dashboards.shop unchanged',
      'alerts.errors unchanged',
      'alerts.many unchanged',
    ])
    expect(plan.seen).toEqual({ dashboard: 1, savedSearch: 1, alert: 2, webhook: 1, source: 1 })
  })

  it('counts what has no marker and is in no file, of the kinds with markers', () => {
    const objects = [
      { id: 'x', name: 'X' },
      { id: 'y', name: 'Y', note: 'watchkeeper: other/project y 0a1b2c' },
      { id: 'z', name: 'Z' },
    ]
    const stored = remoteStateWith({ ...applied, alert: [...applied.alert, ...objects] })
    const plan = planOf({ ...declared, alerts: { errors, more: { ...errors, name: 'More', adopt: 'x' } } }, stored)
    expect(plan.unmanaged).toEqual({ dashboard: 0, savedSearch: 0, alert: 1, webhook: 1 })
  })

  it('names the tiles of a managed dashboard that lose parts, where the web app may have added them', () => {
    const renamed = { ...shop, name: 'Store' }
    const inService = remoteStateWith({ ...applied, dashboard: applied.dashboard.map((one) => ({ ...one, name: 'Store' })) })
    const rewritesOf = (dashboard: object, storedObjects: typeof applied) =>
      planOf({ dashboards: { shop: dashboard } }, storedObjects).changes[0]
    const tiles = ['A', 'B']
    expect(rewritesOf(renamed, applied)).toMatchObject({ action: 'update', origin: 'files' })
    expect(rewritesOf(renamed, applied)).not.toHaveProperty('rewrites')
    expect(rewritesOf(shop, inService)).toMatchObject({ action: 'update', origin: 'service', rewrites: tiles })
    expect(rewritesOf(renamed, inService)).toMatchObject({ action: 'mark', rewrites: tiles })
    for (const one of [shop, renamed])
      expect(planOf({ dashboards: { shop: one } }, inService).diagnostics).toMatchObject([
        {
          rule: 'rewrites-tiles',
          severity: 'warning',
          message: expect.stringMatching(/writes tiles of 1 existing dashboard again \(shop\)/),
        },
      ])
  })

  it('W17: says once which dashboards a write stores again, where nothing shows whether they have parts that the API does not return', () => {
    const two = { dashboards: { shop, other: { ...shop, name: 'Other' } } }
    const stored = afterApply(planOf(two))
    const changed = { dashboards: { shop: { ...shop, name: 'Store' }, other: { ...shop, name: 'Others' } } }
    expect(planOf(changed, stored).diagnostics).toMatchObject([
      {
        rule: 'hidden-parts',
        severity: 'note',
        message: expect.stringMatching(/^apply writes tiles of 2 dashboards again \(shop, other\)\. .*PromQL/),
      },
    ])
    // A patch of the name and the marker stores no tile again, and a patch of a tile stores that one.
    expect(planOf(changed, stored, { canPatch: true }).diagnostics).toEqual([])
    const patched = { dashboards: { ...two.dashboards, shop: { ...shop, tiles: [tile('A'), { ...tile('B', 4), w: 9 }] } } }
    expect(messagesOf(planOf(patched, stored, { canPatch: true }))).toEqual([
      expect.stringMatching(/^hidden-parts: .*of 1 dashboard again \(shop\)/),
    ])
  })

  describe('patches tiles of a dashboard only where that makes the whole change:', () => {
    const filter = { name: 'Service', expression: 'service', sourceId: { source: 'Logs' } }
    const [a, b] = [tile('A'), { ...tile('B', 4), containerId: 'group' }]
    const board = { ...shop, tiles: [a, b], containers: [{ id: 'group', title: 'Group' }] }
    const stored = afterApply(planOf({ dashboards: { shop: board } }))
    const sql = { configType: 'sql', displayType: 'table', sqlTemplate: 'SELECT count() FROM t WHERE $__filters', connectionId: 'c' }

    it.each([
      ['one tile', { tiles: [{ ...a, w: 9 }, b] }, ['A']],
      [
        'two tiles and the name',
        {
          name: 'Store',
          tiles: [
            { ...a, w: 9 },
            { ...b, w: 9 },
          ],
        },
        ['A', 'B'],
      ],
      ['the name', { name: 'Store' }, []],
      ['the name and a filter', { name: 'Store', filters: [filter] }, undefined],
      ['one tile by another', { tiles: [tile('C', 0, { displayType: 'markdown', markdown: 'x' }), b] }, undefined],
      ['a tile out of its container', { tiles: [a, tile('B', 4)] }, undefined],
      [
        'a tile, and one to a query that no patch can write',
        {
          tiles: [
            { ...a, w: 9 },
            { ...b, config: sql },
          ],
        },
        undefined,
      ],
    ])('%s', (_, change, ids) => {
      const [planned] = planOf({ dashboards: { shop: { ...board, ...change } } }, stored, { canPatch: true }).changes
      const { action, patchedTileIds } = planned as Update
      expect([action, patchedTileIds]).toEqual(['update', ids?.map((name) => `dashboards-shop-${name}`)])
    })
  })

  it('shows everything of what it creates, ids by the names that they stand for', () => {
    const plan = planOf(declared)
    expect(fieldsOf(plan, 'alerts.errors')).toEqual([
      'name: – → "Errors"',
      'source: – → "tile"',
      'threshold: – → 1',
      'thresholdType: – → "above"',
      'interval: – → "5m"',
      'note: – → "n"',
      'dashboard: – → "Shop"',
      'tile: – → "A"',
      'channels[0].type: – → "webhook"',
      'channels[0].webhook: – → "oncall"',
    ])
    expect(fieldsOf(plan, 'alerts.many')).toContain('savedSearch: – → "Slow"')
    expect(fieldsOf(plan, 'savedSearches.slow')).toEqual(['name: – → "Slow"', 'source: – → "Logs"', 'where: – → "duration:>1"'])
  })

  it('sums up each kind of new object in one line, with the names of what it refers to', () => {
    const tiles = [
      tile('A'),
      tile('B', 4, { displayType: 'stacked_bar', sourceId: { source: 'Audit' }, select: [{ aggFn: 'count' }] }),
      tile('C', 8, { displayType: 'markdown', markdown: 'text' }),
      tile('D', 12, { displayType: 'number', configType: 'sql', connectionId: 'c', sqlTemplate: 'SELECT 1' }),
    ]
    const channels = [
      { type: 'webhook', webhook: 'platform-oncall' },
      { type: 'email', emailRecipients: ['a@example.com'] },
    ]
    const { note, interval } = watching
    const plan = planOf({
      sources: {
        audit: {
          name: 'Audit',
          kind: 'log',
          from: { databaseName: 'default', tableName: 'audit' },
          timestampValueExpression: 'at',
          defaultTableSelectExpression: '*',
          connection: 'c0ffee00c0ffee00c0ffee00',
        },
      },
      webhooks: { platform: { name: 'platform-oncall', service: 'generic', urlFrom: 'WEBHOOK_URL' } },
      savedSearches: { slow, all: { name: 'All', sourceId: { source: 'Audit' } } },
      dashboards: { shop: { ...shop, tiles } },
      alerts: {
        errors: { ...errors, numConsecutiveWindows: 1 },
        range: {
          name: 'R',
          dashboard: 'shop',
          tile: 'B',
          note,
          interval,
          threshold: 1,
          thresholdMax: 9,
          thresholdType: 'between',
          channels,
        },
        many: { ...many, groupBy: 'ServiceName', numConsecutiveWindows: 2 },
      },
    })
    expect(Object.fromEntries(plan.changes.map((change) => [addressOf(change), 'summary' in change && change.summary]))).toEqual({
      'sources.audit': 'log source of default.audit',
      'webhooks.platform': 'generic, URL from WEBHOOK_URL',
      'savedSearches.slow': 'duration:>1 in Logs',
      'savedSearches.all': 'all rows in Audit',
      'dashboards.shop': 'A (line, Logs), B (stacked bar, Audit), C (markdown), D (number, SQL)',
      'alerts.errors': 'A on Shop ≥ 1 in 5m → webhook oncall',
      'alerts.range': 'B on Shop between 1 and 9 in 5m → webhook platform-oncall, email a@example.com',
      'alerts.many': 'Slow by ServiceName ≥ 1 in 5m, 2 times in a row → webhook oncall',
    })
  })

  it('shows an unknown webhook by its name, not as a removal', () => {
    const plan = planOf({ ...declared, alerts: { many, errors: { ...errors, channel: { type: 'webhook', webhook: 'on-call' } } } }, applied)
    expect(fieldsOf(plan, 'alerts.errors')).toEqual(['channels[0].webhook: "oncall" → "on-call"'])
    expect(messagesOf(plan)).toEqual([expect.stringContaining('no webhook is named "on-call"; did you mean "oncall"?')])
  })

  it('shows tiles in the order of the file', () => {
    const tileOf = (name: string) => ({ name, config: { displayType: 'markdown', markdown: name } })
    const declared = (names: readonly string[], text = '') => ({
      dashboards: {
        d: {
          name: 'D',
          tags: ['t'],
          tiles: names.map((name) => ({
            ...tileOf(name),
            at: [0, names.indexOf(name) * 3, 24, 3],
            config: { displayType: 'markdown', markdown: `${name}${text}` },
          })),
        },
      },
    })
    const names = ['C', 'A', 'B']
    const first = planOf(declared(names))
    const tilesIn = (plan: ReturnType<typeof planOf>) => [
      ...new Set(fieldsOf(plan, 'dashboards.d').flatMap((path) => /^tiles\["(\w)"\]/.exec(path)?.[1] ?? [])),
    ]
    expect(tilesIn(first)).toEqual(names)
    expect(tilesIn(planOf(declared(names, '!'), afterApply(first)))).toEqual(names)
  })

  it('shows an unknown id unchanged', () => {
    const storedObjects = { ...applied, alert: applied.alert.map((one) => ({ ...one, tileId: 'gone' })) }
    expect(fieldsOf(planOf(declared, storedObjects), 'alerts.errors')).toEqual(['tile: "gone" → "A"'])
  })

  it('shows the ids of two tiles of one name, such as after a new key of a dashboard', () => {
    const renamed = { ...declared, dashboards: { store: shop }, alerts: { many, errors: { ...errors, dashboard: 'store' } } }
    const fields = fieldsOf(planOf(renamed, applied), 'alerts.errors')
    expect(fields).toHaveLength(2)
    expect(fields[1]).toMatch(/^tile: "A \(.+\)" → "A \(new\)"$/)
  })

  it('shows what a filter applies to by the names of the sources', () => {
    const filter = { type: 'QUERY_EXPRESSION', name: 'Service', expression: 'service', sourceId: 'logs', appliesToSourceIds: ['logs'] }
    const before = { dashboards: { shop: { ...shop, filters: [filter] } } }
    const after = { dashboards: { shop: { ...shop, filters: [{ ...filter, appliesToSourceIds: ['logs', 'traces'] }] } } }
    const storedObjects = remoteStateWith({
      source: [
        { id: 'logs', name: 'Logs' },
        { id: 'traces', name: 'Traces' },
      ],
    })
    expect(fieldsOf(planOf(after, afterApply(planOf(before, storedObjects), storedObjects)), 'dashboards.shop')).toEqual([
      'filters["Service"].appliesToSources: ["Logs"] → ["Logs","Traces"]',
    ])
  })

  it('tells which side moved', () => {
    const inFiles = planOf({ ...declared, alerts: { errors: { ...errors, threshold: 2 }, many } }, applied)
    expect(steps(inFiles)).toContain('alerts.errors update (files)')
    const inService = planOf(declared, { ...applied, alert: applied.alert.map((one) => ({ ...one, threshold: 5 })) })
    expect(steps(inService).slice(2)).toEqual(['alerts.errors update (service)', 'alerts.many update (service)'])
    expect(fieldsOf(inService, 'alerts.many')).toEqual(['threshold: 5 → 1'])
  })

  it('warns of a declared field that the server did not store', () => {
    const files = { ...declared, alerts: { errors: { ...errors, numConsecutiveWindows: 3 } } }
    const before = afterApply(planOf(files))
    const stored = before.alert.map((one) => {
      const sent = kinds.alert.toBody(one)
      return { ...withBase(kinds.alert, { ...sent, numConsecutiveWindows: undefined }, sent), id: one.id }
    })
    const plan = planOf(files, remoteStateWith({ ...before, alert: stored }))
    expect(plan.changes.at(-1)).toMatchObject({ action: 'unchanged', dropped: [{ path: 'numConsecutiveWindows' }] })
    expect(messagesOf(plan)).toEqual([expect.stringMatching(/^field-dropped: alerts\.errors: .* did not store numConsecutiveWindows\./)])
  })

  it('a plan takes a change of adopt for none of the declaration', () => {
    const again = {
      ...declared,
      alerts: { errors: { ...errors, adopt: 'alerts-errors' }, many },
    }
    const storedObjects = { ...applied, alert: applied.alert.map((one) => ({ ...one, threshold: 5 })) }
    expect(steps(planOf(again, storedObjects))).toContain('alerts.errors update (service)')
  })

  it('a plan is wrong where no update can clear a field, and deletes nothing for it', () => {
    const withoutChannel = { ...errors, channel: undefined, channels: undefined }
    const plan = planOf({ ...declared, alerts: { errors: withoutChannel, many } }, applied)
    expect(plan.changes.find(({ key }) => key === 'errors')).toMatchObject({ action: 'held', id: 'alerts-errors' })
    expect(plan.diagnostics).toMatchObject([{ rule: 'held', severity: 'error', message: expect.stringContaining('channel') }])
  })

  it('counts the requests of an apply: two for each update, with two for alerts on tiles that go, and one list for each kind', () => {
    const filter = { type: 'QUERY_EXPRESSION', name: 'Service', expression: 'service', sourceId: { source: 'Logs' } }
    const count = (files: object, more: Parameters<typeof planOf>[2] = {}) => countRequests(planOf(files, applied, more).changes)
    const withShop = (dashboard: object) => ({ ...declared, dashboards: { shop: { ...shop, ...dashboard } } })
    expect(countRequests(planOf(declared).changes)).toBe(4 + 3)
    expect(count(declared)).toBe(0)
    expect(count({}, { prune: true })).toBe(4 * 2)
    expect(count({}, { prune: 'forget' })).toBe(4 * 2 + 3)
    expect(count(withShop({ filters: [filter] }))).toBe(2 + 1)
    const onB = { errors: { ...errors, tile: 'B' }, many }
    expect(count({ ...withShop({ tiles: [tile('B', 4)] }), alerts: onB })).toBe(2 + 2 + 3 + 2)
    expect(count(withShop({ tiles: [tile('A'), { ...tile('B', 4), w: 9 }] }), { canPatch: true })).toBe(2 + 3 + 1)
  })

  it('says which tiles an update removes, with the known alerts on them, even if it is one tile', () => {
    const removesOf = (files: object) => planOf({ ...declared, ...files }, applied).changes.find(({ key }) => key === 'shop')
    expect(removesOf({ dashboards: { shop: { ...shop, tiles: [tile('A')] } } })).toMatchObject({
      removes: { tiles: ['dashboards-shop-B'], alerts: [] },
    })
    const onB = { errors: { ...errors, tile: 'B' }, many }
    expect(removesOf({ dashboards: { shop: { ...shop, tiles: [tile('B', 4)] } }, alerts: onB })).toMatchObject({
      removes: { tiles: ['dashboards-shop-A'], alerts: ['alerts-errors'] },
    })
    expect(removesOf({ dashboards: { shop: { ...shop, name: 'Store' } } })).not.toHaveProperty('removes')
  })

  it('updates a dashboard whose tiles all go', () => {
    const plan = planOf({ ...declared, alerts: { many }, dashboards: { shop: { ...shop, tiles: [] } } }, applied, { prune: true })
    expect(steps(plan)).toContain('dashboards.shop update (files)')
    expect(problemsIn(plan)).toEqual([])
  })

  it('a plan changes the order of filters', () => {
    const filter = (name: string) => ({ name, expression: name, sourceId: 'logs' })
    const withFilters = (...filters: object[]) => ({ dashboards: { shop: { ...shop, filters } } })
    const storedObjects = remoteStateWith({ source: [{ id: 'logs', name: 'Logs' }] })
    const [before, after] = [withFilters(filter('A'), filter('B')), withFilters(filter('B'), filter('A'))]
    expect(fieldsOf(planOf(after, afterApply(planOf(before, storedObjects), storedObjects)), 'dashboards.shop')).toEqual([
      'filters (order): ["A","B"] → ["B","A"]',
    ])
  })

  it('a plan takes an alert on a tile without alerts for an error, also on a dashboard that no file declares', () => {
    const text = { displayType: 'markdown', markdown: 'x' }
    const dashboards = [{ id: 'd1', name: 'By hand', tags: [], tiles: [{ id: 't1', name: 'Text', x: 0, y: 0, w: 1, h: 1, config: text }] }]
    const storedObjects = remoteStateWith({ dashboard: dashboards } as never)
    for (const tile of ['Text', { id: 't1' }]) {
      const plan = planOf({ alerts: { errors: { ...errors, dashboard: { name: 'By hand' }, tile } } }, storedObjects)
      expect(plan.diagnostics.map(({ message }) => message)).toContainEqual(
        expect.stringContaining('a tile of type markdown cannot have alerts'),
      )
    }
  })
})

describe('an alert that the server would delete with a tile', () => {
  it('holds the dashboard where the alert was declared on the tile that goes', () => {
    const stored = { ...applied, alert: applied.alert.filter(({ name }) => name === 'Errors') }
    const onGone = { ...errors, dashboard: { id: 'dashboards-shop' }, tile: { id: 'dashboards-shop-A' } }
    const withoutA = { ...shop, tiles: [tile('B', 4)] }
    const plan = planOf({ ...declared, dashboards: { shop: withoutA }, alerts: { errors: onGone } }, stored)
    expect(messagesOf({ diagnostics: problemsIn(plan) })).toEqual([
      'held: dashboards.shop: apply leaves it as it is: tile "A" of dashboard "Shop" is deleted, and with it the alert "Errors" (alerts-errors). Move it to another tile',
    ])
  })

  it('holds the dashboard where the API does not list the tile, and is a warning while the dashboard stays as it is', () => {
    const foreign = { id: 'x', name: 'Foreign', threshold: 1, dashboardId: 'dashboards-shop', tileId: 'not-listed' }
    const stored = remoteStateWith({ ...applied, alert: [...applied.alert, foreign] })
    expect(messagesOf(planOf(declared, stored))).toEqual([
      'hidden-tile: dashboards.shop: the alert "Foreign" (x) is on a tile of dashboard "Shop" that the API does not list; the dashboard may have more such tiles, and an update would delete them',
    ])
    const renamed = planOf({ ...declared, dashboards: { shop: { ...shop, name: 'Store' } } }, stored)
    expect(messagesOf({ diagnostics: problemsIn(renamed) })).toEqual([
      'held: dashboards.shop: apply leaves it as it is: a tile of dashboard "Store" that the API does not list is deleted by every update, and with it the alert "Foreign" (x), which no file can declare there. Move it to another tile, or delete it first',
    ])
  })
})

describe('a plan asks whether the server can patch dashboards', () => {
  const [board] = applied.dashboard
  const others = { savedSearches: { slow: { ...slow, where: 'x' } }, alerts: { errors, many: { ...many, threshold: 9 } } }
  const [unmanaged, copy] = [
    { id: 'x', name: 'Shop', tags: [], tiles: [] },
    { ...board, id: 'zz' },
  ]
  const withBoard = (one: object) => remoteStateWith({ ...applied, dashboard: [...applied.dashboard, one] })

  it.each([
    ['not where it only creates', planOf(declared), false],
    ['not where it only writes other objects', planOf({ ...declared, ...others }, applied), false],
    ['where it writes a dashboard', planOf({ ...declared, ...others, dashboards: { shop: { ...shop, name: 'X' } } }, applied), true],
    ['where it holds a dashboard', planOf({ dashboards: { shop } }, remoteStateWith({ dashboard: [unmanaged] })), true],
    ['where it leaves a copy of a dashboard', planOf(declared, withBoard(copy), { repairDuplicates: true }), true],
    ['not where it holds another object', planOf({ alerts: { many: { ...many, savedSearch: 'gone' } } }, applied), false],
  ])('%s', (_, plan, expected) => {
    expect(dependsOnPatches(plan)).toBe(expected)
  })
})

describe('an alert that names no dashboard', () => {
  it('is on every dashboard with its tile', () => {
    const [own] = applied.alert.filter(({ name }) => name === 'Errors')
    const withTile = (tileId: string | null | undefined) => {
      const foreign = { ...own, id: 'x', name: 'Foreign', note: '', dashboardId: null, tileId }
      return remoteStateWith({ ...applied, alert: [...applied.alert, foreign] })
    }
    const withoutA = { ...declared, dashboards: { shop: { ...shop, tiles: [tile('B', 4)] } }, alerts: { many } }
    const plan = planOf(withoutA, withTile(own?.tileId), { prune: true })
    expect(messagesOf(plan)).toContainEqual(expect.stringMatching(/^held: dashboards\.shop: .* and with it the alert "Foreign" \(x\)/))
    expect(planOf(declared, withTile('elsewhere')).diagnostics).toEqual([])
  })
})

describe('an object with the marker that no file declares', () => {
  const less = { dashboards: { shop }, alerts: { errors } }

  it('an object with the marker that no file declares is kept and reported', () => {
    const plan = planOf(less, applied)
    expect(steps(plan)).toEqual(['dashboards.shop unchanged', 'alerts.errors unchanged'])
    expect(plan.orphans).toEqual([
      { kind: 'savedSearch', id: 'savedSearches-slow', name: 'Slow', key: 'slow' },
      { kind: 'alert', id: 'alerts-many', name: 'Many', key: 'many' },
    ])
  })

  it('an object with the marker that no file declares is not deleted where a copy has the same marker', () => {
    const copy = { ...applied.savedSearch.find(({ name }) => name === 'Slow'), id: 'copy', name: 'My own' } as never
    const plan = planOf(less, { ...applied, savedSearch: [...applied.savedSearch, copy] }, { prune: true })
    expect(plan.diagnostics).toMatchObject([{ rule: 'held', severity: 'error', message: expect.stringContaining('"My own" (copy)') }])
  })

  it('an object with the marker that no file declares is deleted with prune, after everything else and in the opposite order', () => {
    const plan = planOf(less, applied, { prune: true })
    expect(steps(plan).slice(2)).toEqual(['alerts.many delete', 'savedSearches.slow delete'])
    expect(plan.orphans).toEqual([])
    expect(planOf(less, applied, { prune: 'forget' }).orphans).toEqual([])
    expect(plan.changes.at(-1)).toMatchObject({ id: 'savedSearches-slow', name: 'Slow', notes: [], fields: [] })
    expect(plan.changes.at(-1)).not.toHaveProperty('desired')
  })

  it('an object with the marker that no file declares is not a candidate for adoption', () => {
    const foreign = [
      { id: 'x', name: 'X', note: 'watchkeeper: other/project x 0a1b2c' },
      { id: 'y', name: 'Y' },
    ]
    const plan = planOf(less, remoteStateWith({ ...applied, alert: [...applied.alert, ...foreign] }), { prune: true })
    expect(steps(plan).filter((step) => step.endsWith('delete'))).toEqual(['alerts.many delete', 'savedSearches.slow delete'])
  })

  it('an object with the marker that no file declares is no candidate for a new key because neither has a name', () => {
    const { name: _, ...nameless } = errors
    const before = afterApply(planOf({ dashboards: { shop }, alerts: { old: nameless } }))
    const plan = planOf({ dashboards: { shop }, alerts: { new: { ...nameless, tile: 'B' } } }, before)
    expect([steps(plan).at(-1), messagesOf(plan)]).toEqual(['alerts.new create', []])
  })

  it('an object with the marker that no file declares may have a key that its mark does not tell, and no name', () => {
    const key = 'a-key-that-is-too-long-for-a-tag'
    const storedObjects = afterApply(planOf({ savedSearches: { [key]: slow } }))
    const nameless = remoteStateWith({
      ...storedObjects,
      savedSearch: storedObjects.savedSearch.map((one) => ({ ...one, name: null })),
    })
    expect(planOf({ dashboards: { shop } }, nameless).orphans).toEqual([
      { kind: 'savedSearch', id: `savedSearches-${key}`, name: '', key: '' },
    ])
    const plan = planOf({ dashboards: { shop } }, nameless, { prune: true })
    expect(plan.changes.at(-1)).toMatchObject({ action: 'delete', key: '', name: '' })
  })
})

describe('a repair of what exists twice', () => {
  it('deletes after everything else, the alerts first, also those that no file declares', () => {
    const twins = applied.savedSearch.map((one) => ({ ...one, id: 'twin' }))
    const stored = remoteStateWith({ ...applied, savedSearch: [...applied.savedSearch, ...twins] })
    const files = { savedSearches: { slow }, dashboards: { shop }, alerts: { errors } }
    expect(steps(planOf(files, stored, { prune: true, repairDuplicates: true })).filter((step) => step.endsWith('delete'))).toEqual([
      'alerts.many delete',
      'savedSearches.slow delete',
    ])
  })

  it('keeps the object that is as the last apply found it, although the server stored another value than the file has', () => {
    const own = applied.alert.find(({ name }) => name === 'Errors')
    if (own === undefined) throw new Error('not applied')
    const sent = kinds.alert.toBody(own)
    const rounded = { ...withBase(kinds.alert, { ...sent, threshold: 1.01 }, sent), id: own.id }
    const edited = { ...own, id: 'alerts-0', threshold: 7 }
    const stored = remoteStateWith({ ...applied, alert: [edited, rounded] })
    const { changes } = planOf({ dashboards: { shop }, alerts: { errors } }, stored, { repairDuplicates: true })
    expect(changes.slice(1)).toMatchObject([
      { action: 'unchanged', id: own.id },
      { action: 'release', id: edited.id },
    ])
  })
})

describe('taking over', () => {
  const there = { id: 'x', name: 'Errors', source: 'tile', dashboardId: 'dashboards-shop', tileId: 'dashboards-shop-A', threshold: 1 }
  const storedObjects = remoteStateWith({ ...applied, alert: [there] })
  const only = (alert: object) => ({ dashboards: { shop }, alerts: { errors: alert } })

  it('a takeover of what differs requires a decision in the file, and the message has it', () => {
    const plan = planOf(only(errors), storedObjects)
    expect(steps(plan)).toContain('alerts.errors held')
    expect(messagesOf(plan)).toEqual([
      expect.stringMatching(
        /^held: alerts\.errors: apply leaves it as it is: the unmanaged alert "Errors" \(x\) differs \(.*\)\. To keep the values of the file, set adopt to x@2\.[0-9a-f]{10}\.files; to take those of the service, run watchkeeper pull --only declared --select kind=alert --select key=errors; if it is another object, give the one in the file another name$/,
      ),
    ])
  })

  it.each([
    ['by name', { adopt: true }],
    ['by id', { adopt: 'x', name: 'Renamed' }],
  ])('an object that is only named %s stays as it is until a person decides, and the decision is good for this object', (_, words) => {
    const held = planOf(only({ ...errors, ...words }), storedObjects)
    expect(held.changes.at(-1)).toMatchObject({ action: 'held', id: 'x', isError: true })
    const [, entry] = /set adopt to (\S+\.files)/.exec(messagesOf(held).join('\n')) ?? []
    const decided = only({ ...errors, ...words, adopt: entry })
    const plan = planOf(decided, storedObjects)
    expect(plan.changes.at(-1)).toMatchObject({ action: 'update', id: 'x', takeover: 'unmanaged', origin: 'decided' })
    expect(plan.diagnostics).toEqual([])
    const later = remoteStateWith({ ...applied, alert: [{ ...there, note: 'by hand' }] })
    expect(planOf(decided, later).changes.at(-1)).toMatchObject({ action: 'held', isError: true })
    expect(planOf(decided, afterApply(plan, storedObjects)).changes.at(-1)).toMatchObject({ action: 'unchanged' })
  })

  it('an adoption is not a difference by itself', () => {
    const { note: _, ...same } = { ...applied.alert.find(({ name }) => name === 'Errors'), id: 'x' } as Record<string, unknown>
    const unmarked = remoteStateWith({ ...applied, alert: [{ ...same, note: 'n' }] })
    const plan = planOf(only({ ...errors, adopt: true }), unmarked)
    expect(steps(plan)).toContain('alerts.errors adopt')
    expect(plan.changes.at(-1)?.fields).toEqual([])
  })

  it('creates an object with an id that the service does not have, because it was deleted or is of another service', () => {
    const plan = planOf(only({ ...errors, adopt: 'gone' }), remoteStateWith({ ...storedObjects, alert: [] }))
    expect(steps(plan)).toContain('alerts.errors create')
    expect(plan.diagnostics).toEqual([])
  })

  it('takes an id of this project under a key that no file declares for a renamed key', () => {
    const marked = { id: 'm', name: 'Other', note: 'watchkeeper: shop/main other 0a1b2c' }
    const plan = planOf(only({ ...errors, adopt: 'm' }), remoteStateWith({ ...storedObjects, alert: [marked] }))
    expect(plan.changes.at(-1)).toMatchObject({ action: 'update', takeover: 'renamed', notes: ['the key was renamed from other'] })
    expect(plan.orphans.map(({ id }) => id)).not.toContain('m')
  })

  it('rejects an id with the marker of another project or of a declared key', () => {
    const marked = { id: 'm', name: 'Other', note: 'watchkeeper: other/project errors 0a1b2c' }
    const plan = planOf(only({ ...errors, adopt: 'm' }), remoteStateWith({ ...storedObjects, alert: [marked] }))
    const way = 'To take it over, remove it from the files of that project, and run apply there with prune: forget; to create another one,'
    expect(messagesOf(plan)).toContain(
      `held: alerts.errors: apply does not create it: the project other/project owns the alert "Other" (m). ${way} remove the id from adopt`,
    )
    const ours = planOf({ ...declared, alerts: { ...declared.alerts, more: { ...errors, name: 'More', adopt: 'alerts-errors' } } }, applied)
    expect(messagesOf(ours)).toEqual([
      'held: alerts.more: apply does not create it: alerts.errors manages the alert "Errors" (alerts-errors). Remove one of the two declarations, or remove the id from adopt',
    ])
  })

  it.each([
    ['name', errors, { name: 'Errors' }, '"Errors" (m)'],
    ['place', { ...errors, name: undefined }, { name: null }, 'm'],
  ])('rejects adopt: true where the object of this %s is of another project, and creates no second one', (_, alert, name, shown) => {
    const marked = { ...there, ...name, id: 'm', note: 'watchkeeper: other/project errors 0a1b2c' }
    const plan = planOf(only({ ...alert, adopt: true }), remoteStateWith({ ...storedObjects, alert: [marked] }))
    expect(plan.diagnostics).toMatchObject([{ rule: 'held', severity: 'error' }])
    expect(messagesOf(plan)).toEqual([
      `held: alerts.errors: apply does not create it: the project other/project owns the alert ${shown}. To take it over, remove it from the files of that project, and run apply there with prune: forget; to create another one, choose another name`,
    ])
  })
})
