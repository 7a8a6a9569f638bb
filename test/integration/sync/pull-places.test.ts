// Into which files a pull writes what is new.
import { describe, expect, it } from 'vitest'
import { useEmulator } from '../../support/emulator.ts'
import { afterPull, emptyPlan, storeOf, withSite } from '../../support/site.ts'

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
