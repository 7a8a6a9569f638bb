import { describe, expect, it } from 'vitest'
import { digestOfText } from '../../../../src/platform/core/digest.ts'
import { explainUnwritable } from '../../../../src/sync/pull/draft.ts'
import { written } from '../../../support/declarations.ts'
import { linesBetween } from '../../../support/edits.ts'
import { errors, project, pull, search, shop, tile, verifiedPull } from '../../../support/plans.ts'

const storedObjects = { dashboard: [shop], alert: [errors], savedSearch: [search] }

const filled = pull(storedObjects).after

describe('a pull without files', () => {
  it('adds every object under a key from its name', () => {
    const pulled = pull(storedObjects)
    expect(pulled.objects).toEqual([
      {
        kind: 'savedSearch',
        key: 'slow',
        name: 'Slow',
        id: 'q1',
        outcome: 'added',
        path: 'o/saved-searches.yml',
        isEdited: true,
      },
      {
        kind: 'dashboard',
        key: 'shop',
        name: 'Shop',
        id: 'd1',
        outcome: 'added',
        path: 'o/shop.yml',
        isEdited: true,
      },
      {
        kind: 'alert',
        key: 'errors',
        name: 'Errors',
        id: 'a1',
        outcome: 'added',
        path: 'o/shop.yml',
        isEdited: true,
      },
    ])
    expect(pulled.files.map(({ path, before }) => [path, before])).toEqual([
      ['o/saved-searches.yml', undefined],
      ['o/shop.yml', undefined],
    ])
    expect(pulled.unverified).toEqual({})
  })

  it('writes an alert beside its dashboard and refers to it by key', () => {
    const text = filled['o/shop.yml'] ?? ''
    expect(text.slice(text.indexOf('alerts:'))).toBe(`alerts:
  errors:
    name: Errors
    adopt: a1
    dashboard: shop
    tile: A
    threshold: 5
    interval: 5m
    channel: { type: webhook, webhook: oncall }
    note: Call
`)
    expect(text).toContain('dashboards:\n  shop:\n    name: Shop\n    adopt: d1\n    tags: [shop]\n    tiles:\n')
  })

  it('writes alerts on dashboards of other projects and on saved searches to alerts.yml', () => {
    const onSearch = { ...errors, id: 'a2', name: 'Slow', source: 'saved_search', dashboardId: null, tileId: null, savedSearchId: 'q1' }
    const theirs = { ...shop, id: 'd2', name: 'Theirs', tags: ['wk:0a1b2c:other:abcdef'], tiles: [tile('t9', 'X')] }
    const onTheirs = { ...errors, id: 'a3', name: 'Beyond', dashboardId: 'd2', tileId: 't9' }
    const pulled = pull({ dashboard: [shop, theirs], savedSearch: [search], alert: [errors, onSearch, onTheirs] })
    expect(pulled.objects.map(({ key, path }) => [key, path])).toEqual([
      ['slow', 'o/saved-searches.yml'],
      ['shop', 'o/shop.yml'],
      ['', undefined],
      ['beyond', 'o/alerts.yml'],
      ['errors', 'o/shop.yml'],
      ['slow', 'o/alerts.yml'],
    ])
    expect(pulled.after['o/alerts.yml']).toContain('    savedSearch: slow\n')
    expect(pulled.after['o/alerts.yml']).toContain('    dashboard: { name: Theirs }\n    tile: X\n')
    expect(pulled.of('Theirs')).toMatchObject({ outcome: 'other-project', reason: 'has the ownership marker of another project', id: 'd2' })
    expect(pulled.unverified).toEqual({})
  })

  it('writes nothing when the service is empty', () => {
    expect(pull({})).toMatchObject({ files: [], objects: [], unverified: {} })
    expect(pull({}, {}, { globs: ['[odd]*.yml'] }).files).toEqual([])
  })
})

describe('a pull into existing files', () => {
  it('writes nothing when nothing changed', () => {
    const again = pull(storedObjects, filled)
    expect(again.files).toEqual([])
    expect(again.objects.map(({ key, outcome, path, id }) => [key, outcome, path, id])).toEqual([
      ['slow', 'unchanged', 'o/saved-searches.yml', 'q1'],
      ['shop', 'unchanged', 'o/shop.yml', 'd1'],
      ['errors', 'unchanged', 'o/shop.yml', 'a1'],
    ])
  })

  it('a pull into existing files changes only what changed, and reports the current name of an object', () => {
    const changed = pull({ ...storedObjects, alert: [{ ...errors, threshold: 6 }], savedSearch: [{ ...search, where: 'z' }] }, filled)
    expect(changed.files.map(({ path, before, after }) => [path, linesBetween(before ?? '', after)])).toEqual([
      ['o/saved-searches.yml', ['-    where: x', '+    where: z']],
      ['o/shop.yml', ['-    threshold: 5', '+    threshold: 6']],
    ])
    const fields = [{ path: 'threshold', before: 6, after: 5 }]
    expect(changed.of('errors')).toMatchObject({ outcome: 'updated', path: 'o/shop.yml', id: 'a1', fields })
    expect(changed.of('shop')?.outcome).toBe('unchanged')
    expect(changed.unverified).toEqual({})
    const marked = { ...errors, note: 'Call\n\nwatchkeeper: shop/observability errors abcdef' }
    expect(pull({ ...storedObjects, alert: [{ ...marked, name: 'New' }] }, filled).of('errors')).toMatchObject({
      outcome: 'updated',
      name: 'New',
    })
  })

  it('lists the new name of a tile, or another tile, once beside the other changes of its alert', () => {
    const dashboard = [{ ...shop, tiles: [tile('t1', 'Z'), tile('t2', 'B', 4)] }]
    const pulled = pull({ ...storedObjects, dashboard, alert: [{ ...errors, threshold: 6 }] }, filled)
    expect(pulled.of('errors')?.fields).toMatchObject([{ path: 'threshold' }, { path: 'tile', before: 'Z', after: 'A' }])
    expect(pulled.after['o/shop.yml']).toContain('    tile: Z\n    threshold: 6\n')
    const { fields = [] } = pull({ ...storedObjects, alert: [{ ...errors, threshold: 6, tileId: 't2' }] }, filled).of('errors') ?? {}
    expect(fields.map(({ path }) => path).toSorted()).toEqual(['threshold', 'tile'])
  })

  it('a pull of drifted objects keeps another tile that the file gives an alert, and lists what differs nowhere as unchanged', () => {
    const files = { ...filled, 'o/shop.yml': filled['o/shop.yml']?.replace('    tile: A\n', '    tile: B\n') ?? '' }
    const drifted = pull(storedObjects, files, { only: 'drifted' })
    expect(drifted.files).toEqual([])
    expect(drifted.objects.map(({ key, outcome }) => [key, outcome])).toEqual([
      ['slow', 'unchanged'],
      ['shop', 'unchanged'],
      ['errors', 'left-out'],
    ])
  })

  it('keeps the declaration of a deleted object and reports it as missing', () => {
    const gone = pull({ ...storedObjects, alert: [] }, filled)
    expect(gone.files).toEqual([])
    expect(gone.of('errors')).toEqual({
      kind: 'alert',
      key: 'errors',
      name: 'Errors',
      outcome: 'missing',
      path: 'o/shop.yml',
    })
  })

  it('adds a new alert to the file that declares its dashboard', () => {
    const files = { 'elsewhere/all.yml': filled['o/shop.yml'] ?? '' }
    const pulled = pull({ ...storedObjects, alert: [errors, { ...errors, id: 'a2', name: 'More' }] }, files)
    expect(pulled.of('more')).toMatchObject({ outcome: 'added', path: 'elsewhere/all.yml' })
    expect(pulled.of('slow')).toMatchObject({ outcome: 'added', path: 'o/saved-searches.yml' })
    expect(pulled.unverified).toEqual({})
  })

  it('adds to an existing file whose name differs only in case', () => {
    const files = { 'o/Saved-Searches.yml': 'savedSearches:\n  old:\n    name: Old\n    sourceId: s1\n' }
    expect(pull({ savedSearch: [search] }, files).of('slow')?.path).toBe('o/Saved-Searches.yml')
  })

  it('a pull into existing files does not mistake a saved search for the dashboard of an alert when their keys or ids are equal', () => {
    const files = { 'o/s.yml': 'savedSearches:\n  shop:\n    name: Slow\n    adopt: d1\n    sourceId: s1\n    where: x\n' }
    const parts = { dashboard: [shop], alert: [errors], savedSearch: [{ ...search, id: 'd1' }] }
    const into = pull(parts, files)
    expect(into.of('errors')?.path).toBe('o/shop.yml')
    expect(into.unverified).toEqual({})
    expect(pull({ ...parts, savedSearch: [{ ...search, id: 'd1', name: 'Zoo' }] }).after['o/shop.yml']).toContain('dashboard: shop\n')
  })

  it('F2: leaves out an object with an anchor or alias, also one to add, and says why', () => {
    const search1 = { ...search, id: 'q1', tags: [`wk:${digestOfText(project, 6)}:one:abcdef`], where: 'z' }
    const of = (text: string) =>
      verifiedPull({ savedSearch: [search1, { ...search, id: 'q2', name: 'Fast' }] }, { 'o/saved-searches.yml': text })
    const one = 'one:\n    name: Slow\n    sourceId: s1\n    where: &w x\n'
    const reason = expect.stringContaining('anchor or alias')
    const pulled = of(`savedSearches:\n  ${one}`)
    expect(pulled.of('Slow')).toMatchObject({ key: 'one', outcome: 'left-out', reason })
    expect(pulled.of('Fast')).toMatchObject({ outcome: 'added' })
    const inAnchor = of(`savedSearches: &all\n  ${one}`)
    expect(inAnchor.files).toEqual([])
    expect(inAnchor.of('Fast')).toMatchObject({ key: '', outcome: 'left-out', reason })
  })

  it('adds a new object after the existing ones', () => {
    const pulled = pull({ ...storedObjects, savedSearch: [search, { ...search, id: 'q2', name: 'Fast' }] }, filled)
    expect(pulled.files).toHaveLength(1)
    expect(pulled.files[0]?.after).toBe(
      `${filled['o/saved-searches.yml']}\n  fast:\n    name: Fast\n    adopt: q2\n    source: Logs\n    where: x\n`,
    )
  })
})

it('a pull leaves out what has the URL of a webhook in one of its texts, unless the file has the text already', () => {
  const url = 'https://hooks.slack.com/services/T0000000/B0000000/abcdefghijklmnop'
  const webhook = [{ id: 'w1', name: 'oncall', url }]
  const alert = [{ ...errors, message: 'Fine', note: `Call ${url}` }]
  const leftOut = { outcome: 'left-out', reason: 'it has the URL of a webhook, which is a secret; remove it from the service' }
  expect(pull({ ...storedObjects, webhook, alert }).of('Errors')).toMatchObject(leftOut)
  const changed = pull({ ...storedObjects, webhook, alert }, filled)
  expect(changed.of('errors')).toMatchObject(leftOut)
  expect(changed.files).toEqual([])
  const files = pull({ ...storedObjects, alert }).after
  expect(pull({ ...storedObjects, webhook, alert: alert.map((one) => ({ ...one, threshold: 6 })) }, files).of('errors')?.outcome).toBe(
    'updated',
  )
})

describe('an excluded object', () => {
  const excluded = { 'alert a1': 'cannot be said' }

  it('an excluded object is left out with its reason', () => {
    const pulled = pull(storedObjects, {}, { excluded })
    expect(pulled.of('Errors')).toEqual({
      kind: 'alert',
      key: '',
      name: 'Errors',
      id: 'a1',
      outcome: 'left-out',
      reason: 'cannot be said',
    })
    expect(pulled.after['o/shop.yml']).not.toContain('alerts:')
  })

  it('an excluded object stays in its file without a change', () => {
    const pulled = pull({ ...storedObjects, alert: [{ ...errors, threshold: 6 }] }, filled, { excluded })
    expect(pulled.files).toEqual([])
    expect(pulled.of('errors')).toMatchObject({ outcome: 'left-out', reason: 'cannot be said', path: 'o/shop.yml', key: 'errors' })
  })

  it('an excluded object is not referred to by key', () => {
    const pulled = pull(storedObjects, {}, { excluded: { 'dashboard d1': 'cannot be said' } })
    expect(pulled.after['o/alerts.yml']).toContain('    dashboard: { name: Shop }\n    tile: A\n')
    expect(pulled.unverified).toEqual({})
  })
})

describe('expressions and defaults', () => {
  const storedObjects = { dashboard: [shop], alert: [errors], savedSearch: [search] }

  const filled = pull(storedObjects).after

  describe('an expression in the service', () => {
    const expression = written('‹env.HOME›')
    const escaped = `\${{ '\${{' }} env.HOME }}`

    it('an expression in the service is escaped in the file, and means the text of the service', () => {
      for (const files of [{}, filled]) {
        const pulled = pull({ ...storedObjects, alert: [{ ...errors, note: `Call ${expression}` }] }, files)
        expect(pulled.after['o/shop.yml']).toContain(`note: Call ${escaped}\n`)
        expect(pulled.unverified).toEqual({})
        const again = pull({ ...storedObjects, alert: [{ ...errors, note: `Call ${expression}` }] }, pulled.after)
        expect(again.files).toEqual([])
      }
    })

    it('an expression in the service is escaped in a reference', () => {
      const cases = [
        ['a dashboard', { dashboard: [{ ...shop, name: expression }] }, `dashboard: { name: "${escaped}" }\n    tile: A\n`],
        ['a tile', { dashboard: [{ ...shop, tiles: [tile('t1', expression)] }] }, `dashboard: { name: Shop }\n    tile: ${escaped}\n`],
        ['a webhook', { webhook: [{ id: 'w1', name: expression }] }, `channel: { type: webhook, webhook: "${escaped}" }\n`],
      ] as const
      for (const [name, parts, text] of cases) {
        const pulled = pull({ ...storedObjects, ...parts }, {}, { excluded: { 'dashboard d1': 'cannot be said' } })
        expect(pulled.after['o/alerts.yml'], name).toContain(text)
        expect(pulled.unverified, name).toEqual({})
      }
    })

    it('an expression in the service that only the file escapes is not an expression that the service replaced', () => {
      const files = pull({ ...storedObjects, alert: [{ ...errors, note: `Call ${expression}` }] }).after
      const pulled = pull({ ...storedObjects, alert: [{ ...errors, note: 'Call Ada' }] }, files)
      expect(pulled.of('Errors')).toMatchObject({ outcome: 'updated', replacedExpressions: undefined })
    })

    it('an expression in the service in a file stays while its value is the one of the service', () => {
      const files = { 'o/a.yml': (filled['o/shop.yml'] ?? '').replace('threshold: 5', `threshold: ${written('‹env.LIMIT›')}`) }
      const same = pull({ dashboard: [shop], alert: [errors] }, files, { variables: { LIMIT: '5' } })
      expect(same.files).toEqual([])
      const other = pull({ dashboard: [shop], alert: [{ ...errors, threshold: 7 }] }, files, { variables: { LIMIT: '5' } })
      expect(other.of('errors')).toMatchObject({ outcome: 'updated', replacedExpressions: [written('‹env.LIMIT›')] })
      expect(other.of('shop')?.replacedExpressions).toBeUndefined()
      expect(other.after['o/a.yml']).toContain('threshold: 7\n')
    })
  })

  describe('the defaults of a file', () => {
    const alert = (name: string, fields = ''): string =>
      `  ${name}:\n    name: ${name}\n    adopt: true\n    dashboard: { name: Shop }\n    tile: A\n    threshold: 5\n${fields}`
    const files = {
      'o/alerts.yml': written(
        `defaults:\n  alerts:\n    interval: ‹env.EVERY›\n    message: Look\n    note: Call\n    channel: { type: webhook, webhook: oncall }\n\nalerts:\n${alert('one')}\n${alert('two', '    message: Mine\n')}`,
      ),
    }
    const alerts = ['one', 'two'].map((name, i) => ({ ...errors, id: `a${i}`, name, message: i === 0 ? 'Look' : 'Mine' }))
    const variables = { EVERY: '5m' }

    it('the defaults of a file apply to its objects, with their expressions replaced', () => {
      const pulled = pull({ alert: alerts, dashboard: [shop] }, files, { variables })
      expect(pulled.objects.map(({ outcome: what }) => what)).toEqual(['unchanged', 'unchanged', 'added'])
    })

    it('the defaults of a file are overridden by an object without the field', () => {
      const cases = [
        ['a field that they give', 0],
        ['a field of its own, in whose place they give one', 1],
      ] as const
      for (const [name, index] of cases) {
        const changed = alerts.map((one, i) => (i === index ? { ...one, message: null } : one))
        const pulled = pull({ alert: changed, dashboard: [shop] }, files, { variables })
        expect(pulled.of(index === 0 ? 'one' : 'two')?.outcome, name).toBe('updated')
        expect(pulled.after['o/alerts.yml'], name).toContain('message: null\n')
        expect(pulled.unverified, name).toEqual({})
      }
    })

    it('the defaults of a file stay when an object cannot override them', () => {
      const changed = alerts.map((one, i) => (i === 0 ? { ...one, channels: [] } : one))
      const pulled = pull({ alert: changed, dashboard: [shop] }, files, { variables, excluded: { 'dashboard d1': 'elsewhere' } })
      expect(pulled.files).toEqual([])
      expect(pulled.unverified['alert a0']).toMatch(/plan would hold it \(channels/)
    })

    it('the defaults of a file are not repeated in a new object', () => {
      const more = { ...errors, id: 'a9', name: 'More', message: 'Look', threshold: 8, tileId: 't2' }
      const found = pull({ alert: [...alerts, more], dashboard: [shop] }, files, { variables, globs: ['o/alerts.yml'] })
      const text = found.after['o/alerts.yml'] ?? ''
      expect(text.slice(text.indexOf('  more:'), text.indexOf('dashboards:'))).toBe(
        '  more:\n    name: More\n    adopt: a9\n    dashboard: shop\n    tile: B\n    threshold: 8\n\n',
      )
      expect(found.unverified).toEqual({})
    })
  })
})

describe('explainUnwritable', () => {
  const expression = written('‹env.X›')

  describe('a dashboard', () => {
    const dashboard = { name: 'D', tiles: [] }

    it('a dashboard is explained by its first problem', () => {
      const cases: readonly [string, object, string | RegExp | undefined][] = [
        ['that is right', dashboard, undefined],
        ['with an expression', { ...dashboard, name: expression }, undefined],
        ['without a name', { tiles: [] }, /^name: is missing/],
        ['with an empty name', { ...dashboard, name: '' }, /^name: /],
        ['with tiles that are none', { ...dashboard, tiles: 5 }, /^tiles: /],
        ['with a tile that is none', { ...dashboard, tiles: [{ x: -1, y: 1 }] }, /^tiles\S*x: /],
      ]
      for (const [name, fields, reason] of cases) {
        const found = explainUnwritable(fields as never, 'dashboard')
        if (reason instanceof RegExp) expect(found, name).toMatch(reason)
        else expect(found, name).toBe(reason)
        expect((found ?? '').length, name).toBeLessThan(200)
      }
    })
  })
})
