// What a pull makes of a service and of the files that there are, object by object.
import { describe, expect, it } from 'vitest'
import { neutral } from '../../../../src/api/profiles.ts'
import { errors, line, pull, search, shop, tile } from '../../../support/drafts.ts'
import { linesBetween } from '../../../support/edits.ts'

const world = { dashboards: [shop], alerts: [errors], savedSearches: [search] }

const filled = pull(world).after

describe('a pull into nothing', () => {
  it('writes everything, each object under a key made of its name', () => {
    const pulled = pull(world)
    expect(pulled.objects).toEqual([
      {
        section: 'dashboards',
        key: 'shop',
        name: 'Shop',
        id: 'd1',
        outcome: 'added',
        path: 'o/shop.yml',
        reason: undefined,
        replacedExpressions: [],
      },
      {
        section: 'savedSearches',
        key: 'slow',
        name: 'Slow',
        id: 'q1',
        outcome: 'added',
        path: 'o/saved-searches.yml',
        reason: undefined,
        replacedExpressions: [],
      },
      {
        section: 'alerts',
        key: 'errors',
        name: 'Errors',
        id: 'a1',
        outcome: 'added',
        path: 'o/shop.yml',
        reason: undefined,
        replacedExpressions: [],
      },
    ])
    expect(pulled.files.map(({ path, before }) => [path, before])).toEqual([
      ['o/saved-searches.yml', undefined],
      ['o/shop.yml', undefined],
    ])
    expect(pulled.inexact).toEqual({})
  })

  it('writes an alert beside its dashboard, whose key it names', () => {
    const text = filled['o/shop.yml'] ?? ''
    expect(text.slice(text.indexOf('alerts:'))).toBe(`alerts:
  errors:
    name: Errors
    adopt: true
    dashboard: shop
    tile: A
    threshold: 5
    interval: 5m
    channel: { type: webhook, webhook: oncall }
    note: Call
`)
    expect(text).toContain('dashboards:\n  shop:\n    name: Shop\n    adopt: true\n    tags: [shop]\n    tiles:\n')
  })

  it('writes alerts of other dashboards and of saved searches where alerts belong', () => {
    const onSearch = { ...errors, id: 'a2', name: 'Slow', source: 'saved_search', dashboardId: null, tileId: null, savedSearchId: 'q1' }
    const theirs = { ...shop, id: 'd2', name: 'Theirs', tags: ['wk:0a1b2c:other:abcdef'], tiles: [tile('t9', 'X')] }
    const onTheirs = { ...errors, id: 'a3', name: 'Beyond', dashboardId: 'd2', tileId: 't9' }
    const pulled = pull({ dashboards: [shop, theirs], savedSearches: [search], alerts: [errors, onSearch, onTheirs] })
    expect(pulled.objects.map(({ key, path }) => [key, path])).toEqual([
      ['shop', 'o/shop.yml'],
      ['slow', 'o/saved-searches.yml'],
      ['beyond', 'o/alerts.yml'],
      ['errors', 'o/shop.yml'],
      ['slow', 'o/alerts.yml'],
      ['', undefined],
    ])
    expect(pulled.after['o/alerts.yml']).toContain('    savedSearch: slow\n')
    expect(pulled.after['o/alerts.yml']).toContain('    dashboard: { name: Theirs }\n    tile: X\n')
    expect(pulled.of('Theirs')).toMatchObject({ outcome: 'other-project', reason: 'has the ownership marker of another project', id: 'd2' })
    expect(pulled.inexact).toEqual({})
  })

  it('writes nothing where there is nothing', () => {
    expect(pull({})).toMatchObject({ files: [], objects: [], inexact: {} })
    expect(pull({}, {}, { globs: ['[odd]*.yml'] }).files).toEqual([])
  })
})

describe('a pull into files that say it all', () => {
  it('writes nothing', () => {
    const again = pull(world, filled)
    expect(again.files).toEqual([])
    expect(again.objects.map(({ key, outcome: what, path, id }) => [key, what, path, id])).toEqual([
      ['slow', 'unchanged', 'o/saved-searches.yml', 'q1'],
      ['shop', 'unchanged', 'o/shop.yml', 'd1'],
      ['errors', 'unchanged', 'o/shop.yml', 'a1'],
    ])
  })

  it('changes what changed, and calls an object by the name that it has now', () => {
    const changed = pull({ ...world, alerts: [{ ...errors, threshold: 6 }], savedSearches: [{ ...search, where: 'z' }] }, filled)
    expect(changed.files.map(({ path, before, after }) => [path, linesBetween(before ?? '', after)])).toEqual([
      ['o/saved-searches.yml', ['-    where: x', '+    where: z']],
      ['o/shop.yml', ['-    threshold: 5', '+    threshold: 6']],
    ])
    expect(changed.of('errors')).toMatchObject({ outcome: 'updated', path: 'o/shop.yml', id: 'a1', reason: undefined })
    expect(changed.of('shop')?.outcome).toBe('unchanged')
    expect(changed.inexact).toEqual({})
    const marked = { ...errors, note: 'Call\n\nwatchkeeper: shop/observability errors abcdef' }
    expect(pull({ ...world, alerts: [{ ...marked, name: 'New' }] }, filled).of('errors')).toMatchObject({ outcome: 'updated', name: 'New' })
  })

  it('keeps what is gone from the service, and says so', () => {
    const gone = pull({ ...world, alerts: [] }, filled)
    expect(gone.files).toEqual([])
    expect(gone.of('errors')).toEqual({
      section: 'alerts',
      key: 'errors',
      name: 'Errors',
      id: undefined,
      outcome: 'missing',
      path: 'o/shop.yml',
      reason: undefined,
      replacedExpressions: [],
    })
  })

  it('writes a new alert beside its dashboard, wherever that is declared', () => {
    const files = { 'elsewhere/all.yml': filled['o/shop.yml'] ?? '' }
    const pulled = pull({ ...world, alerts: [errors, { ...errors, id: 'a2', name: 'More' }] }, files)
    expect(pulled.of('more')).toMatchObject({ outcome: 'added', path: 'elsewhere/all.yml' })
    expect(pulled.of('slow')).toMatchObject({ outcome: 'added', path: 'o/saved-searches.yml' })
    expect(pulled.inexact).toEqual({})
  })

  it('writes what is new into the file that some systems take for the right one', () => {
    const files = { 'o/Saved-Searches.yml': 'savedSearches:\n  old:\n    name: Old\n    sourceId: s1\n' }
    expect(pull({ savedSearches: [search] }, files).of('slow')?.path).toBe('o/Saved-Searches.yml')
  })

  it('does not take a saved search for the dashboard of an alert, be its key or its id the same', () => {
    const files = { 'o/s.yml': 'savedSearches:\n  shop:\n    name: Slow\n    id: d1\n    sourceId: s1\n    where: x\n' }
    const parts = { dashboards: [shop], alerts: [errors], savedSearches: [{ ...search, id: 'd1' }] }
    const into = pull(parts, files)
    expect(into.of('errors')?.path).toBe('o/shop.yml')
    expect(into.inexact).toEqual({})
    expect(pull({ ...parts, savedSearches: [{ ...search, id: 'd1', name: 'Zoo' }] }).after['o/shop.yml']).toContain('dashboard: shop\n')
  })

  it('writes what is new behind what there is', () => {
    const pulled = pull({ ...world, savedSearches: [search, { ...search, id: 'q2', name: 'Fast' }] }, filled)
    expect(pulled.files).toHaveLength(1)
    expect(pulled.files[0]?.after).toBe(
      `${filled['o/saved-searches.yml']}\n  fast:\n    name: Fast\n    adopt: true\n    sourceId: { source: Logs }\n    where: x\n`,
    )
  })
})

describe('what is to stay outside', () => {
  const excluded = { 'alerts a1': 'cannot be said' }

  it('is not written, and told with its reason', () => {
    const pulled = pull(world, {}, { excluded })
    expect(pulled.of('Errors')).toEqual({
      section: 'alerts',
      key: '',
      name: 'Errors',
      id: 'a1',
      outcome: 'left-out',
      path: undefined,
      reason: 'cannot be said',
      replacedExpressions: [],
    })
    expect(pulled.after['o/shop.yml']).not.toContain('alerts:')
  })

  it('stays in its file as it is', () => {
    const pulled = pull({ ...world, alerts: [{ ...errors, threshold: 6 }] }, filled, { excluded })
    expect(pulled.files).toEqual([])
    expect(pulled.of('errors')).toMatchObject({ outcome: 'left-out', reason: 'cannot be said', path: 'o/shop.yml', key: 'errors' })
  })

  it('is no key for the alerts on it', () => {
    const pulled = pull(world, {}, { excluded: { 'dashboards d1': 'cannot be said' } })
    expect(pulled.after['o/alerts.yml']).toContain('    dashboard: { name: Shop }\n    tile: A\n')
    expect(pulled.inexact).toEqual({})
  })
})

it('a product without saved searches has alerts of few fields', () => {
  const bare = { ...errors, channels: undefined, channel: { type: 'webhook', webhookId: 'w1' }, note: 'not known there' }
  const pulled = pull(
    { dashboards: [{ ...shop, tiles: [{ ...tile('t1', 'A'), config: line }] }], alerts: [bare] },
    {},
    { profile: neutral },
  )
  expect(pulled.after['o/shop.yml']).not.toContain('note')
  expect(pulled.inexact).toEqual({})
})
