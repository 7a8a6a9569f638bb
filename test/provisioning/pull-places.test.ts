// Where new objects are written, and under which names.
import { describe, expect, it } from 'vitest'
import { keyGrammar } from '../../src/provision/declarations-schema.ts'
import { fileNameFor, slugOf, takeKey } from '../../src/provision/pull/keys.ts'
import { createPlacement } from '../../src/provision/pull/placement.ts'
import { hostile } from '../support/corpus.ts'
import { useEmulator } from '../support/emulator.ts'
import { afterPull, emptyPlan, storeOf, withSite } from '../support/site.ts'

describe('a key', () => {
  it.each([
    ['Checkout errors', 'checkout-errors'],
    ['  p99 > 1.5 s  ', 'p99-1-5-s'],
    ['Überlast (süd)', 'uberlast-sud'],
    ['İstanbul', 'istanbul'],
    ['１２ ﬁles', '12-files'],
    ['障害 in EU', 'in-eu'],
    ['障害', ''],
    ['../../etc/passwd', 'etc-passwd'],
    [`${'long '.repeat(30)}end`, 'long-long-long-long-long-long-long-long-long-long-long'],
  ])('of %s is %s', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })

  it('is never taken twice, and always a key, whatever the name', () => {
    const taken = new Set<string>()
    const values = hostile.map(({ value }) => value)
    const keys = [...values, ...values].map((name, i) => takeKey({ name, id: `id-${i}-☠`, noun: 'saved search' }, taken))
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.filter((key) => !keyGrammar.test(key))).toEqual([])
  })

  it('says what the object is where its name says nothing', () => {
    expect(takeKey({ name: '障害', id: '65f5e4a35eedc0de0000001f', noun: 'alert' }, new Set())).toBe('alert-00001f')
  })

  it.each([
    ['checkout', 'checkout'],
    ['v1.2', 'v1-2'],
    ['con', 'con-'],
    ['lpt1', 'lpt1-'],
    ['console', 'console'],
  ])('%s is called %s as a file', (key, name) => {
    expect(fileNameFor(key)).toBe(name)
  })
})

describe('a new object', () => {
  const dashboard = { section: 'dashboards', key: 'checkout' } as const
  const place = (globs: readonly string[], paths: readonly string[] = []) => createPlacement({ globs, paths })

  it.each([
    ['observability/**/*.{yml,yaml,json}', 'observability/checkout.yml'],
    ['observability/*.yaml', 'observability/checkout.yaml'],
    ['./observability//**/*.json', 'observability/checkout.json'],
    ['*.yml', 'checkout.yml'],
    ['**', 'checkout.yml'],
    ['deep/er/**/*', 'deep/er/checkout.yml'],
    ['all.yml', 'all.yml'],
    ['./some/all.json', 'some/all.json'],
  ])('goes by %s into %s', (glob, path) => {
    expect(place([glob, 'other/*.yml'])(dashboard)).toBe(path)
  })

  it('goes with its like, and an alert with its dashboard', () => {
    const find = place(['o/*.yml'])
    expect(find({ section: 'alerts', key: 'a', dashboard: 'checkout' })).toBe('o/checkout.yml')
    expect(find({ section: 'alerts', key: 'a' })).toBe('o/alerts.yml')
    expect(find({ section: 'savedSearches', key: 's' })).toBe('o/saved-searches.yml')
  })

  it('goes into the file that some systems take for the same', () => {
    expect(place(['o/*.yml'], ['o/Checkout.yml'])(dashboard)).toBe('o/Checkout.yml')
  })

  it.each(['teams/*/observability/*.yml', 'o/[ab]*.yml', 'o/checkout-*.yml', 'o/*.txt', 'o/', '!o/*.yml', 'o/?.yml'])(
    'has no place by %s, and the error says what would be one',
    (glob) => {
      expect(() => place([glob])).toThrow('begin with a glob such as observability/**/*.yml')
    },
  )
})

describe('files of a pull', () => {
  const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

  it.each([
    ['one file', ['all.yml'], ['all.yml']],
    ['one file of JSON', ['here/all.json'], ['here/all.json']],
    [
      'JSON',
      ['o/*.json'],
      ['o/alerts.json', 'o/checkout-logs.json', 'o/checkout-overview.json', 'o/payments.json', 'o/saved-searches.json'],
    ],
  ])('are %s where the globs say so', async (_, globs, paths) => {
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const pulled = await site.pull({}, globs)
      expect(pulled.writtenFiles.map(({ path }) => path)).toEqual(paths)
      const files = afterPull({}, pulled)
      expect(await site.plan(files)).toMatchObject({ ...emptyPlan, toAdopt: 10 })
      expect((await site.pull(files, globs)).changed).toBe(false)
      const [dashboard] = storeOf(emulator()).dashboards
      if (dashboard !== undefined) dashboard.tags = ['new']
      const again = await site.pull(files, globs)
      expect(again).toMatchObject({ filesWritten: 1, updated: 1 })
      expect(await site.plan(afterPull(files, again))).toMatchObject(emptyPlan)
    })
  })

  it('need a place only where there is something to write', async () => {
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      await expect(site.pull({}, ['o/[ab]*.yml'])).rejects.toMatchObject({ kind: 'input' })
      const files = afterPull({}, await site.pull({}))
      expect(await site.pull(files, ['o/[ab]*.yml'])).toMatchObject({ changed: false, unchanged: 10 })
    })
  })

  it('say once what three alerts have in common', async () => {
    const store = storeOf(emulator())
    store.alerts = store.alerts.map((alert) => ({ ...alert, interval: '5m' }))
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const files = afterPull({}, await site.pull({}))
      const text = String(files['observability/checkout-overview.yml'])
      expect(text).toContain('defaults:\n  alerts:\n    interval: 5m\n\ndashboards:')
      expect(text.match(/interval:/g)).toHaveLength(1)
      expect(await site.plan(files)).toMatchObject(emptyPlan)
      const [first] = store.alerts
      const [search] = store.alerts.slice(-1)
      store.alerts.push({ ...(first ?? search), id: 'f'.repeat(24), name: 'Another', interval: '1h' } as (typeof store.alerts)[number])
      const after = afterPull(files, await site.pull(files))
      expect(String(after['observability/checkout-overview.yml']).match(/interval:/g)).toHaveLength(2)
      expect(await site.plan(after)).toMatchObject(emptyPlan)
    })
  })
})
