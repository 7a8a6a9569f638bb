// What a pull makes of a service and of the files that there are, object by object.
import { describe, expect, it } from 'vitest'
import { neutral } from '../../../src/api/profiles.ts'
import { written } from '../../support/declarations.ts'
import { errors, line, pull, search, shop, tile } from '../../support/drafts.ts'
import { linesBetween } from '../../support/edits.ts'

const world = { dashboards: [shop], alerts: [errors], savedSearches: [search] }

const filled = pull(world).after

describe('a pull into nothing', () => {
  it('writes everything, each object under a key made of its name', () => {
    const pulled = pull(world)
    expect(pulled.objects).toEqual([
      { section: 'dashboards', key: 'shop', name: 'Shop', id: 'd1', what: 'added', path: 'o/shop.yml', reason: undefined, lost: [] },
      {
        section: 'savedSearches',
        key: 'slow',
        name: 'Slow',
        id: 'q1',
        what: 'added',
        path: 'o/saved-searches.yml',
        reason: undefined,
        lost: [],
      },
      { section: 'alerts', key: 'errors', name: 'Errors', id: 'a1', what: 'added', path: 'o/shop.yml', reason: undefined, lost: [] },
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
    expect(pulled.of('Theirs')).toMatchObject({ what: 'foreign', reason: 'bears the mark of another project', id: 'd2' })
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
    expect(again.objects.map(({ key, what, path, id }) => [key, what, path, id])).toEqual([
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
    expect(changed.of('errors')).toMatchObject({ what: 'updated', path: 'o/shop.yml', id: 'a1', reason: undefined })
    expect(changed.of('shop')?.what).toBe('unchanged')
    expect(changed.inexact).toEqual({})
    const marked = { ...errors, note: 'Call\n\nwatchkeeper: shop/observability errors abcdef' }
    expect(pull({ ...world, alerts: [{ ...marked, name: 'New' }] }, filled).of('errors')).toMatchObject({ what: 'updated', name: 'New' })
  })

  it('keeps what is gone from the service, and says so', () => {
    const gone = pull({ ...world, alerts: [] }, filled)
    expect(gone.files).toEqual([])
    expect(gone.of('errors')).toEqual({
      section: 'alerts',
      key: 'errors',
      name: 'Errors',
      id: undefined,
      what: 'missing',
      path: 'o/shop.yml',
      reason: undefined,
      lost: [],
    })
  })

  it('writes a new alert beside its dashboard, wherever that is declared', () => {
    const files = { 'elsewhere/all.yml': filled['o/shop.yml'] ?? '' }
    const pulled = pull({ ...world, alerts: [errors, { ...errors, id: 'a2', name: 'More' }] }, files)
    expect(pulled.of('more')).toMatchObject({ what: 'added', path: 'elsewhere/all.yml' })
    expect(pulled.of('slow')).toMatchObject({ what: 'added', path: 'o/saved-searches.yml' })
    expect(pulled.inexact).toEqual({})
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
      what: 'left-out',
      path: undefined,
      reason: 'cannot be said',
      lost: [],
    })
    expect(pulled.after['o/shop.yml']).not.toContain('alerts:')
  })

  it('stays in its file as it is', () => {
    const pulled = pull({ ...world, alerts: [{ ...errors, threshold: 6 }] }, filled, { excluded })
    expect(pulled.files).toEqual([])
    expect(pulled.of('errors')).toMatchObject({ what: 'left-out', reason: 'cannot be said', path: 'o/shop.yml', key: 'errors' })
  })

  it('is no key for the alerts on it', () => {
    const pulled = pull(world, {}, { excluded: { 'dashboards d1': 'cannot be said' } })
    expect(pulled.after['o/alerts.yml']).toContain('    dashboard: { name: Shop }\n    tile: A\n')
    expect(pulled.inexact).toEqual({})
  })
})

describe('a text that a file would take for an expression', () => {
  const expression = written('‹env.HOME›')
  const reason = `"${expression}" would be read as an expression`

  it.each([
    ['in a new object', {}, undefined],
    ['in one that a file has', filled, 'o/shop.yml'],
  ])('keeps an object out: %s', (_, files, path) => {
    const pulled = pull({ ...world, alerts: [{ ...errors, note: `Call ${expression}` }] }, files)
    expect(pulled.of('Errors')).toMatchObject({ what: 'left-out', path, reason: reason.replace('"', '"Call ') })
    expect(pulled.inexact).toEqual({})
  })

  it.each([
    ['a dashboard', { dashboards: [{ ...shop, name: expression }] }, `dashboard: { id: d1 }\n    tile: A\n`],
    ['a tile', { dashboards: [{ ...shop, tiles: [tile('t1', expression)] }] }, `dashboard: { name: Shop }\n    tile: { id: t1 }\n`],
    ['a webhook', { webhooks: [{ id: 'w1', name: expression }] }, `channel: { type: webhook, webhookId: w1 }\n`],
  ])('is no name to refer to %s by', (_, parts, text) => {
    const pulled = pull({ ...world, ...parts }, {}, { excluded: { 'dashboards d1': 'cannot be said' } })
    expect(pulled.after['o/alerts.yml']).toContain(text)
    expect(pulled.inexact).toEqual({})
  })

  it('stays where the service has what it stands for', () => {
    const files = { 'o/a.yml': (filled['o/shop.yml'] ?? '').replace('threshold: 5', `threshold: ${written('‹env.LIMIT›')}`) }
    const same = pull({ dashboards: [shop], alerts: [errors] }, files, { variables: { LIMIT: '5' } })
    expect(same.files).toEqual([])
    const other = pull({ dashboards: [shop], alerts: [{ ...errors, threshold: 7 }] }, files, { variables: { LIMIT: '5' } })
    expect(other.of('errors')).toMatchObject({ what: 'updated', lost: [written('‹env.LIMIT›')] })
    expect(other.of('shop')?.lost).toEqual([])
    expect(other.after['o/a.yml']).toContain('threshold: 7\n')
  })
})

describe('defaults of a file', () => {
  const alert = (name: string, fields = ''): string =>
    `  ${name}:\n    name: ${name}\n    adopt: true\n    dashboard: { name: Shop }\n    tile: A\n    threshold: 5\n${fields}`
  const files = {
    'o/alerts.yml': written(
      `defaults:\n  alerts:\n    interval: ‹env.EVERY›\n    message: Look\n    note: Call\n    channel: { type: webhook, webhook: oncall }\n\nalerts:\n${alert('one')}\n${alert('two', '    message: Mine\n')}`,
    ),
  }
  const alerts = ['one', 'two'].map((name, i) => ({ ...errors, id: `a${i}`, name, message: i === 0 ? 'Look' : 'Mine' }))
  const variables = { EVERY: '5m' }

  it('are what its objects have, with their expressions replaced', () => {
    const pulled = pull({ alerts, dashboards: [shop] }, files, { variables })
    expect(pulled.objects.map(({ what }) => what)).toEqual(['unchanged', 'unchanged', 'added'])
  })

  it.each([
    ['a field that they give', 0],
    ['a field of its own, in whose place they give one', 1],
  ])('are denied by an object without %s', (_, index) => {
    const changed = alerts.map((one, i) => (i === index ? { ...one, message: null } : one))
    const pulled = pull({ alerts: changed, dashboards: [shop] }, files, { variables })
    expect(pulled.of(index === 0 ? 'one' : 'two')?.what).toBe('updated')
    expect(pulled.after['o/alerts.yml']).toContain('message: null\n')
    expect(pulled.inexact).toEqual({})
  })

  it('need not be said again by a new object', () => {
    const more = { ...errors, id: 'a9', name: 'More', message: 'Look', threshold: 8, tileId: 't2' }
    const found = pull({ alerts: [...alerts, more], dashboards: [shop] }, files, { variables, globs: ['o/alerts.yml'] })
    const text = found.after['o/alerts.yml'] ?? ''
    expect(text.slice(text.indexOf('  more:'), text.indexOf('dashboards:'))).toBe(
      '  more:\n    name: More\n    adopt: true\n    dashboard: shop\n    tile: B\n    threshold: 8\n\n',
    )
    expect(found.inexact).toEqual({})
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
