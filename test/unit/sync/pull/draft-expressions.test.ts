// Expressions and defaults in the files of a pull: they stay where they say what the service has, and give way where they do not.
import { describe, expect, it } from 'vitest'
import { written } from '../../../support/declarations.ts'
import { errors, pull, search, shop, tile } from '../../../support/drafts.ts'

const world = { dashboards: [shop], alerts: [errors], savedSearches: [search] }

const filled = pull(world).after

describe('a text that a file would take for an expression', () => {
  const expression = written('‹env.HOME›')
  const reason = `"${expression}" would be read as an expression`

  it.each([
    ['in a new object', {}, undefined],
    ['in one that a file has', filled, 'o/shop.yml'],
  ])('keeps an object out: %s', (_, files, path) => {
    const pulled = pull({ ...world, alerts: [{ ...errors, note: `Call ${expression}` }] }, files)
    expect(pulled.of('Errors')).toMatchObject({ outcome: 'left-out', path, reason: reason.replace('"', '"Call ') })
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
    expect(other.of('errors')).toMatchObject({ outcome: 'updated', replacedExpressions: [written('‹env.LIMIT›')] })
    expect(other.of('shop')?.replacedExpressions).toEqual([])
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
    expect(pulled.objects.map(({ outcome: what }) => what)).toEqual(['unchanged', 'unchanged', 'added'])
  })

  it.each([
    ['a field that they give', 0],
    ['a field of its own, in whose place they give one', 1],
  ])('are denied by an object without %s', (_, index) => {
    const changed = alerts.map((one, i) => (i === index ? { ...one, message: null } : one))
    const pulled = pull({ alerts: changed, dashboards: [shop] }, files, { variables })
    expect(pulled.of(index === 0 ? 'one' : 'two')?.outcome).toBe('updated')
    expect(pulled.after['o/alerts.yml']).toContain('message: null\n')
    expect(pulled.inexact).toEqual({})
  })

  it('are left as they are where an object cannot deny them', () => {
    const changed = alerts.map((one, i) => (i === 0 ? { ...one, channels: [] } : one))
    const pulled = pull({ alerts: changed, dashboards: [shop] }, files, { variables, excluded: { 'dashboards d1': 'elsewhere' } })
    expect(pulled.files).toEqual([])
    expect(pulled.inexact['alerts a0']).toMatch(/plan would update it \(channels/)
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
