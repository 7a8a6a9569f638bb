// The server deletes an alert with the tile or saved search that it watches: none may go that is not ours to delete.
import { describe, expect, it } from 'vitest'
import { afterApply, messagesOf, planOf, problemsIn, remoteStateWith, steps } from '../../support/plans.ts'
import { errors, many, shop, slow, tile } from '../../support/shop-declaration.ts'

const declared = { dashboards: { shop }, savedSearches: { slow }, alerts: { errors, many } }

const applied = afterApply(planOf(declared))

/** Something that neither is called as a tile was nor shows what it showed. */
const other = tile('C', 8, { displayType: 'line', sourceId: 'logs', select: [{ aggFn: 'count', where: 'other' }] })

const withoutA = { ...shop, tiles: [tile('B', 4, { displayType: 'line', sourceId: 'logs', select: [{ aggFn: 'count', where: 'b' }] })] }

const withForeign = (fields: object) =>
  remoteStateWith({ ...applied, alert: [...applied.alert, { id: 'x', name: 'Foreign', threshold: 1, ...fields }] })

describe('a tile that goes', () => {
  const moved = { ...errors, tile: 'B' }

  it('deletes the alert on it, which apply creates again on the declared tile', () => {
    const plan = planOf({ ...declared, dashboards: { shop: withoutA }, alerts: { errors: moved, many } }, applied)
    expect(steps(plan)).toEqual([
      'savedSearches.slow unchanged',
      'dashboards.shop update (files)',
      'alerts.errors replace (files)',
      'alerts.many unchanged',
    ])
    expect(plan.changes[2]?.notes).toEqual([
      'tile "A" of dashboard "Shop" is deleted, and the server deletes the alert with it, so apply creates the alert again',
    ])
    expect(plan.changes[1]).toMatchObject({ removes: { tiles: ['dashboards-shop-A'], alerts: ['alerts-errors'] } })
    expect(problemsIn(plan)).toEqual([])
  })

  it('a tile that goes is refused while an alert that no file holds is on it', () => {
    const storedObjects = withForeign({ tileId: 'dashboards-shop-A' })
    const plan = planOf({ ...declared, dashboards: { shop: withoutA }, alerts: { errors: moved, many } }, storedObjects)
    expect(problemsIn(plan)).toEqual([
      {
        rule: 'would-lose-alert',
        severity: 'error',
        location: plan.changes[1]?.location,
        message:
          'tile "A" of dashboard "Shop" is deleted, and with it the alert "Foreign" (x); declare the alert, or move or delete it first',
      },
    ])
    expect(plan.changes[1]).toMatchObject({ removes: { alerts: ['alerts-errors', 'x'] } })
  })

  it('a tile that goes is none that was renamed and shows the same', () => {
    const renamed = { ...shop, tiles: [{ ...tile('A2') }, other] }
    const plan = planOf(
      { ...declared, dashboards: { shop: renamed }, alerts: { errors: { ...errors, tile: 'A2' }, many } },
      {
        ...applied,
        dashboard: applied.dashboard.map((one) => ({ ...one, tiles: one.tiles.slice(0, 1) })),
      },
    )
    expect(steps(plan)).toContain('alerts.errors mark')
    expect(plan.changes[1]).not.toHaveProperty('removes')
  })

  it('a tile that goes is one that is to show what no alert can watch', () => {
    const text = { ...shop, tiles: [tile('A', 0, { displayType: 'markdown', markdown: '# Hi' }), tile('B', 4)] }
    const plan = planOf({ ...declared, dashboards: { shop: text }, alerts: { errors: moved, many } }, applied)
    expect(steps(plan)).toContain('alerts.errors replace (files)')
  })

  it('a tile that goes is none that is to show what these files do not know', () => {
    const raw = { ...shop, tiles: [{ ...tile('A'), config: undefined, raw: { config: { newKind: true } } }, tile('B', 4)] }
    const plan = planOf({ ...declared, dashboards: { shop: raw } }, applied)
    expect(steps(plan)).toContain('alerts.errors unchanged')
    expect(problemsIn(plan)).toEqual([])
  })

  it('a tile that goes may not be where its alert stays', () => {
    const storedObjects = { ...applied, alert: applied.alert.filter(({ name }) => name === 'Errors') }
    const onGone = { ...errors, dashboard: { id: 'dashboards-shop' }, tile: { id: 'dashboards-shop-A' } }
    const plan = planOf({ ...declared, dashboards: { shop: withoutA }, alerts: { errors: onGone } }, storedObjects)
    expect(messagesOf({ diagnostics: problemsIn(plan) })).toEqual([
      'would-lose-alert: tile "A" of dashboard "Shop" is deleted, and with it the alert "Errors" (alerts-errors); move it to another tile',
    ])
    expect(problemsIn(plan)[0]?.location).toEqual(plan.changes.find(({ key }) => key === 'errors')?.location)
  })

  it('a tile that goes causes no error about an alert that goes by itself', () => {
    const plan = planOf({ ...declared, dashboards: { shop: withoutA }, alerts: { many } }, applied, { prune: true })
    expect(problemsIn(plan)).toEqual([])
    expect(steps(plan)).toContain('alerts.errors delete')
  })
})

describe('a dashboard or saved search that is pruned', () => {
  it('a dashboard or saved search that is pruned takes alerts along that no file holds', () => {
    const storedObjects = withForeign({ savedSearchId: 'savedSearches-slow' })
    const plan = planOf({ dashboards: { shop }, alerts: { errors } }, storedObjects, { prune: true })
    expect(problemsIn(plan)).toEqual([
      {
        rule: 'would-lose-alert',
        severity: 'error',
        location: { file: 'prune' },
        message:
          'saved search "Slow" is deleted, and with it the alert "Foreign" (x); declare the alert, or move or delete it first. prune: forget keeps both, and only removes the marker',
      },
    ])
  })

  it('a dashboard or saved search that is pruned takes alerts along on any of its tiles', () => {
    const storedObjects = withForeign({ tileId: 'dashboards-shop-B', name: null })
    const plan = planOf({ savedSearches: { slow }, alerts: { many } }, storedObjects, { prune: true })
    expect(messagesOf({ diagnostics: problemsIn(plan) })).toEqual([
      'would-lose-alert: tile "B" of dashboard "Shop" is deleted, and with it the alert x; declare the alert, or move or delete it first. prune: forget keeps both, and only removes the marker',
    ])
    expect(plan.changes.find(({ kind }) => kind === 'dashboard')).not.toHaveProperty('removes')
  })

  it('leaves an alert that moves to a copy of the dashboard, whose tiles have the same ids, to its update', () => {
    const copy = { ...shop, name: 'Copy' }
    const stored = afterApply(planOf({ ...declared, dashboards: { shop, copy } }))
    const [ofShop] = stored.dashboard
    const sameIds = remoteStateWith({
      ...stored,
      dashboard: stored.dashboard.map((one) => ({ ...one, tiles: ofShop?.tiles })),
    })
    const plan = planOf({ dashboards: { copy }, alerts: { errors: { ...errors, dashboard: 'copy' } } }, sameIds, { prune: true })
    expect(steps(plan)).toEqual(expect.arrayContaining(['alerts.errors update (files)', 'dashboards.shop delete']))
    expect(problemsIn(plan)).toEqual([])
  })

  it('leaves an alert that moves away before to its update', () => {
    const elsewhere = { ...shop, name: 'Elsewhere' }
    const storedObjects = afterApply(planOf({ ...declared, dashboards: { shop, elsewhere } }))
    const plan = planOf(
      { dashboards: { elsewhere }, savedSearches: { slow }, alerts: { errors: { ...errors, dashboard: 'elsewhere' }, many } },
      storedObjects,
      { prune: true },
    )
    expect(steps(plan)).toEqual([
      'savedSearches.slow unchanged',
      'dashboards.elsewhere unchanged',
      'alerts.errors update (files)',
      'alerts.many unchanged',
      'dashboards.shop delete',
    ])
    expect(problemsIn(plan)).toEqual([])
  })
})

describe('nothing goes', () => {
  it('nothing goes with a dashboard that stays as it is, or is only taken over', () => {
    expect(planOf(declared, withForeign({ tileId: 'dashboards-shop-A' })).diagnostics).toEqual([])
    const unmarked = { ...applied, dashboard: applied.dashboard.map((one) => ({ ...one, tags: ['shop'] })) }
    const plan = planOf({ ...declared, dashboards: { shop: { ...shop, adopt: true, rewrite: true } } }, unmarked)
    expect(steps(plan)).toContain('dashboards.shop update')
    expect(plan.changes.filter((change) => 'removes' in change)).toEqual([])
  })

  it('nothing goes with a dashboard that merely changes', () => {
    const plan = planOf({ ...declared, dashboards: { shop: { ...shop, name: 'Store' } } }, withForeign({ tileId: 'dashboards-shop-A' }))
    expect(steps(plan)).toContain('dashboards.shop update (files)')
    expect(problemsIn(plan)).toEqual([])
  })

  it('nothing goes with a dashboard that stays as it is, also where the API does not list the tile of an alert', () => {
    const plan = planOf(declared, withForeign({ dashboardId: 'dashboards-shop', tileId: 'not-listed' }))
    expect(problemsIn(plan).map(({ rule, severity }) => [rule, severity])).toEqual([['hidden-tile', 'warning']])
    const changed = planOf(
      { ...declared, dashboards: { shop: { ...shop, name: 'Store' } } },
      withForeign({ dashboardId: 'dashboards-shop', tileId: 'not-listed' }),
    )
    expect(problemsIn(changed).map(({ rule, severity }) => [rule, severity])).toEqual([['would-lose-alert', 'error']])
  })
})
