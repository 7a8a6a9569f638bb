// What stays as it is because a person may have made the difference, and what else then has to wait.
import { describe, expect, it } from 'vitest'
import { declarationDigest } from '../../../src/kinds/base.ts'
import { readValue } from '../../support/declarations.ts'
import { afterApply, messagesOf, planOf, remoteStateWith, steps } from '../../support/plans.ts'
import { errors, shop, slow, tile, watching } from '../../support/shop-declaration.ts'

const counting = (where: string) => ({ displayType: 'line', sourceId: 'logs', select: [{ aggFn: 'count', where }] })

/** Objects of a person, with the names of declared ones. */
const theirs = {
  dashboard: {
    id: 'theirs',
    name: 'Shop',
    tags: [],
    tiles: [
      { ...tile('A', 0, counting('theirs')), id: 'a' },
      { ...tile('B', 4, counting('b')), id: 'b' },
    ],
  },
  search: { id: 'search', name: 'Slow', sourceId: 'logs', where: 'theirs' },
}

const ours = { ...shop, tags: [], tiles: [tile('A', 0, counting('ours')), tile('B', 4, counting('b'))] }

describe('what needs a held object', () => {
  const stored = remoteStateWith({ dashboard: [theirs.dashboard], savedSearch: [theirs.search] })

  it('W21: an alert is not put on a tile or a saved search that counts something else than the files say', () => {
    const alerts = {
      errors,
      other: { ...errors, name: 'Other', tile: 'B' },
      'by-id': { ...errors, name: 'By id', dashboard: { id: 'theirs' }, tile: { id: 'a' } },
      again: { ...errors, name: 'Again' },
      also: { ...errors, name: 'Also' },
      many: { name: 'Many', savedSearch: 'slow', ...watching },
    }
    const plan = planOf({ dashboards: { shop: ours }, savedSearches: { slow }, alerts }, stored)
    expect(steps(plan)).toEqual([
      'savedSearches.slow held',
      'dashboards.shop held',
      'alerts.errors held',
      'alerts.other create',
      'alerts.by-id held',
      'alerts.again held',
      'alerts.also held',
      'alerts.many held',
    ])
    expect(messagesOf(plan)).toContain(
      'held: alerts.errors, alerts.by-id, alerts.again and 1 more: apply does not create them: needs what dashboards.shop has in the files, which is held. See dashboards.shop',
    )
  })

  it('an alert on a tile that only has another place, and one that is as applied, do not wait', () => {
    const applied = afterApply(planOf({ dashboards: { shop: ours }, alerts: { errors } }))
    const unmarked = (where: string, y: number) =>
      remoteStateWith({
        ...applied,
        dashboard: applied.dashboard.map((one) => ({
          ...one,
          tags: [],
          tiles: one.tiles.map((each) => ({ ...each, y: Number(each.y) + y, config: counting(each.name === 'A' ? where : 'b') })),
        })),
      })
    const changed = { dashboards: { shop: ours }, alerts: { errors: { ...errors, threshold: 9 } } }
    expect(steps(planOf(changed, unmarked('ours', 2)))).toEqual(['dashboards.shop held', 'alerts.errors update (files)'])
    expect(steps(planOf(changed, unmarked('theirs', 0)))).toEqual(['dashboards.shop held', 'alerts.errors held'])
    expect(steps(planOf({ ...changed, alerts: { errors } }, unmarked('theirs', 0)))).toEqual([
      'dashboards.shop held',
      'alerts.errors unchanged',
    ])
  })
})

describe('what is wrong with one object of the service', () => {
  const many = { name: 'Many', savedSearch: 'slow', ...watching }
  const files = { dashboards: { shop: ours }, savedSearches: { slow }, alerts: { errors, many } }
  const applied = afterApply(planOf(files))
  const ratio = (name: string) => ({
    ...ours,
    tiles: ours.tiles.map((one) => (one.name === name ? { ...one, config: counting('ratio') } : one)),
  })

  it('W21: an alert with a field that no update can clear is held, and the others are written', () => {
    const without = { ...errors, channel: undefined, channels: undefined }
    const changed = { dashboards: { shop: ratio('B') }, alerts: { errors: without, many: { ...many, threshold: 9 } } }
    const plan = planOf({ ...files, ...changed }, applied)
    expect(steps(plan)).toEqual([
      'savedSearches.slow unchanged',
      'dashboards.shop update (files)',
      'alerts.errors held (files)',
      'alerts.many update (files)',
    ])
    expect(messagesOf(plan)).toContainEqual(
      expect.stringMatching(/^held: alerts\.errors: apply leaves it as it is: no update can clear channels?;/),
    )
    const pruned = planOf({ dashboards: changed.dashboards, alerts: { errors: without } }, applied, { prune: true })
    expect(pruned.changes.filter(({ action }) => action === 'delete')).toEqual([])
  })

  it('W21: an alert that is held and what it watches wait for each other', () => {
    const stored = remoteStateWith({ ...applied, alert: applied.alert.map((one) => ({ ...one, threshold: 44 })) })
    const alerts = { errors: { ...errors, interval: '15m' }, many: { ...many, interval: '15m' } }
    const changed = { dashboards: { shop: ratio('A') }, savedSearches: { slow: { ...slow, where: 'other' } }, alerts }
    expect(steps(planOf(changed, stored))).toEqual([
      'savedSearches.slow held',
      'dashboards.shop held',
      'alerts.errors held (both)',
      'alerts.many held (both)',
    ])
    expect(messagesOf(planOf(changed, stored))).toContainEqual(
      expect.stringContaining('changed in both, the files and the service, since the last apply (threshold, interval)'),
    )
    expect(
      steps(planOf({ ...changed, dashboards: { shop: ratio('B') }, savedSearches: { slow: { ...slow, name: 'Slower' } } }, stored)),
    ).toEqual([
      'savedSearches.slow update (files)',
      'dashboards.shop update (files)',
      'alerts.errors held (both)',
      'alerts.many held (both)',
    ])
  })

  it('a name that the service lacks or has twice holds what has it, and the others are applied', () => {
    const source = [
      { id: 'logs', name: 'Logs' },
      { id: 'twin1', name: 'Twin' },
      { id: 'twin2', name: 'Twin' },
    ]
    const { sourceId: _, ...search } = slow
    const savedSearches = {
      good: { ...search, name: 'Good', source: 'Logs' },
      lost: { ...search, name: 'Lost', source: 'Missing' },
      twice: { ...search, name: 'Twice', source: 'Twin' },
    }
    const plan = planOf({ savedSearches, alerts: { many: { ...many, savedSearch: 'lost' } } }, remoteStateWith({ source }))
    expect(steps(plan)).toEqual(['savedSearches.good create', 'savedSearches.lost held', 'savedSearches.twice held', 'alerts.many held'])
    expect(plan.diagnostics.map(({ rule, severity }) => `${rule} ${severity}`)).toEqual(Array(3).fill('held error'))
    // At the name, not at the object.
    expect(plan.diagnostics[0]?.location?.column).toBe(JSON.stringify({ savedSearches }).indexOf('"Missing"') + 1)
  })

  it('an error says that apply deletes nothing, where it would delete something', () => {
    const others = { ...files, savedSearches: { slow: { ...slow, where: 'other' } } }
    const changed = { ...applied, savedSearch: applied.savedSearch.map((one) => ({ ...one, where: 'theirs' })) }
    const [own] = applied.alert.filter(({ name }) => name === 'Errors')
    const isSaid = (options: Parameters<typeof planOf>[2], ...copies: readonly object[]) =>
      messagesOf(planOf(others, remoteStateWith({ ...changed, alert: [...applied.alert, ...copies] }), options)).some((message) =>
        message.startsWith('held: savedSearches.slow: apply leaves it as it is, and deletes nothing: '),
      )
    const [equal, edited] = [
      { ...own, id: 'y' },
      { ...own, id: 'z', threshold: 9 },
    ]
    expect(isSaid({})).toBe(false)
    expect(isSaid({ prune: true })).toBe(true)
    expect(isSaid({ prune: 'forget' })).toBe(false)
    expect(isSaid({ repairDuplicates: true }, edited)).toBe(false)
    expect(isSaid({ repairDuplicates: true }, equal, edited)).toBe(true)
  })

  it('W7: an alert that no file declares keeps the dashboard that prune would delete, and the others are written', () => {
    const mine = { ...applied.alert[0], id: 'mine', name: 'Mine', note: 'by hand' }
    const stored = remoteStateWith({ ...applied, alert: [...applied.alert, mine] })
    const plan = planOf({ savedSearches: { slow: { ...slow, where: 'other' } }, alerts: { many } }, stored, { prune: true })
    expect(steps(plan)).toEqual(['savedSearches.slow update (files)', 'alerts.many unchanged'])
    expect(plan.diagnostics.map(({ rule, severity }) => [rule, severity])).toEqual([['held', 'error']])
    expect(messagesOf(plan)[0]).toMatch(
      /alert "Mine" \(mine\)\. Declare the alert, or move or delete it first; prune: forget keeps both, and only removes the marker$/,
    )
  })

  it('a tile that one person renamed and an alert that another added do not stop a merge', () => {
    const [board] = applied.dashboard
    const renamed = { ...board, tiles: board?.tiles.map((one) => (one.name === 'A' ? { ...one, name: 'Renamed' } : one)) }
    const added = { ...applied.alert[0], id: 'added', name: 'Added', note: 'by hand' }
    const stored = remoteStateWith({ ...applied, dashboard: [renamed], alert: [...applied.alert, added] })
    expect(steps(planOf({ ...files, savedSearches: { slow: { ...slow, where: 'merged' } } }, stored))).toEqual([
      'savedSearches.slow update (files)',
      'dashboards.shop update (service)',
      'alerts.errors unchanged',
      'alerts.many unchanged',
    ])
    const merged = planOf({ ...files, dashboards: { shop: ratio('A') }, savedSearches: { slow: { ...slow, where: 'merged' } } }, stored)
    expect(steps(merged).slice(0, 2)).toEqual(['savedSearches.slow update (files)', 'dashboards.shop held (both)'])
  })
})

describe('a pulled webhook', () => {
  const hook = { name: 'oncall', service: 'generic', urlFrom: 'WEBHOOK_URL' }
  const url = 'https://a.example/x'
  const stored = remoteStateWith({ webhook: [{ ...hook, id: 'hook', url, description: 'old' }] })
  const plan = (fields: object, secret: string) =>
    planOf({ webhooks: { oncall: { ...hook, ...fields } } }, stored, { secret: () => secret })
  const digest = declarationDigest(readValue({ webhooks: { oncall: { ...hook, description: 'old' } } }).objects[0]?.value as never)
  const entry = (declared: string) => `hook@2.caa16b978a.${declared}`

  it('is held with one decision where its secret differs besides what the file changed: no pull takes a secret', () => {
    const changed = { description: 'new', adopt: entry(digest) }
    expect(steps(plan(changed, url))).toEqual(['webhooks.oncall update (files)'])
    const differing = plan(changed, 'https://b.example/y')
    expect(steps(differing)).toEqual(['webhooks.oncall held'])
    expect(messagesOf(differing)).toEqual([
      expect.stringMatching(/differs \(description, url\), .*\. To keep the values of the file, set adopt to hook@2\.caa16b978a\.files$/),
    ])
    const decided = plan({ ...changed, adopt: entry('files') }, 'https://b.example/y')
    expect([steps(decided), messagesOf(decided)]).toEqual([['webhooks.oncall update (decided)'], []])
  })
})

describe('an alert that is held, on what the files remove', () => {
  const keep = { name: 'Keep', tiles: [tile('One'), tile('Two', 4, counting('two'))] }
  const on = (dashboard: string, name: string) => ({ ...errors, dashboard, tile: name })
  const fresh = { ...ours, tiles: [...ours.tiles, tile('New', 8, counting('new'))] }
  const before = {
    dashboards: { keep, old: { ...keep, name: 'Old' } },
    alerts: { b: { ...on('keep', 'Two'), name: 'B' }, c: { ...on('old', 'Two'), name: 'C' } },
  }
  const applied = afterApply(planOf(before))
  const stored = remoteStateWith({ ...applied, dashboard: [...applied.dashboard, theirs.dashboard] })

  it('W21: a tile stays while an alert that moves away from it is held, and the other objects are applied', () => {
    const files = {
      dashboards: { keep: { ...keep, tiles: [tile('One')] }, old: { ...keep, name: 'Old', tags: ['more'] }, shop: fresh },
      alerts: { b: { ...on('shop', 'New'), name: 'B' }, c: before.alerts.c },
    }
    const plan = planOf(files, stored)
    expect(steps(plan)).toEqual([
      'dashboards.keep held',
      'dashboards.old update (files)',
      'dashboards.shop held',
      'alerts.b held',
      'alerts.c unchanged',
    ])
    expect(plan.diagnostics.filter(({ severity }) => severity === 'error').map(({ rule }) => rule)).toEqual(['held', 'held', 'held'])
    expect(messagesOf(plan)).toContain(
      'held: dashboards.keep: apply leaves it as it is: would delete alerts.b, which is held. See alerts.b',
    )
  })

  it('prune keeps the dashboard of an alert that is held with a warning', () => {
    const [object] = applied.alert.filter(({ name }) => name === 'C')
    const unmarked = { ...object, note: 'by hand', threshold: 7 } as never
    const pulled = { ...before.alerts.c, dashboard: 'keep', tile: 'One' }
    const digest = declarationDigest(readValue({ alerts: { c: pulled } }).objects[0]?.value as never)
    const files = { dashboards: { keep }, alerts: { b: before.alerts.b, c: { ...pulled, adopt: `alerts-c@2.0123456789.${digest}` } } }
    const changed = remoteStateWith({ ...applied, alert: [...applied.alert.filter(({ name }) => name !== 'C'), unmarked] })
    const plan = planOf(files, changed, { prune: true })
    expect(steps(plan)).toEqual(['dashboards.keep unchanged', 'alerts.b unchanged', 'alerts.c held (service)'])
    expect(plan.diagnostics.map(({ rule, severity }) => [rule, severity])).toEqual([['held', 'warning']])
    expect(plan.orphans).toMatchObject([{ kind: 'dashboard', key: 'old' }])
  })
})

describe('a new object with the name of a held one', () => {
  const stale = 'x@2.0123456789.abcdef'
  const object = (more: object) => ({
    id: 'x',
    source: 'tile',
    dashboardId: 'dashboards-shop',
    tileId: 'dashboards-shop-A',
    threshold: 7,
    ...more,
  })
  const { name: _, ...nameless } = errors

  it.each([
    ['name', object({ name: 'Errors' }), { ...errors, name: 'Renamed' }, errors],
    ['place', object({ name: null }), { ...nameless, tile: 'B' }, nameless],
  ])('W21: is not created beside it, by its %s', (_by, stored, renamed, fresh) => {
    const before = remoteStateWith({ ...afterApply(planOf({ dashboards: { shop } })), alert: [stored] })
    const plan = planOf({ dashboards: { shop }, alerts: { x: { ...renamed, adopt: stale }, y: fresh } }, before)
    expect(steps(plan).slice(1)).toEqual(['alerts.x held', 'alerts.y held'])
    expect(messagesOf(plan)).toContainEqual(
      expect.stringMatching(
        /^held: alerts\.y: apply does not create it: would be a second alert beside .*x.* of alerts\.x, which is held\. See alerts\.x$/,
      ),
    )
  })
})
