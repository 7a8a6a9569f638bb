// A pull into files that somebody only began, or in which objects share their text.
import { describe, expect, it } from 'vitest'
import { useEmulator } from '../../support/emulator.ts'
import { path, trim } from '../../support/payments.ts'
import { afterPull, emptyPlan, project, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

describe('a pull over a file that somebody began', () => {
  it.each([
    ['nothing in it', '{}\n'],
    ['an empty section', 'dashboards: {}\n'],
  ])('writes objects on lines of their own where there is %s', async (_, text) => {
    trim(emulator())
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const files = { 'observability/all.yml': text }
      const after = afterPull(files, await site.pull(files, ['observability/all.yml']))
      expect(String(after['observability/all.yml'])).toMatch(/^dashboards:\n {2}payments:\n {4}name: Payments\n/)
      expect(await site.plan(after)).toMatchObject({ ...emptyPlan, toAdopt: 3 })
    })
  })

  it('puts tiles on lines of their own where there were none', async () => {
    trim(emulator())
    const text = 'dashboards: { payments: { name: Payments, adopt: true, tiles: [] } }\n'
    const open = 'dashboards:\n  payments:\n    name: Payments\n    adopt: true\n    tiles: []\n'
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      for (const [file, tiles] of [
        [open, /tiles:\n {6}- name: Payments by provider\n {8}x: 0\n/],
        [text, /tiles: \[\{ name: Payments by provider, x: 0,/],
      ] as const) {
        const after = afterPull({ [path]: file }, await site.pull({ [path]: file }, [path]))
        expect(String(after[path])).toMatch(tiles)
        expect(await site.plan(after)).toMatchObject(emptyPlan)
      }
    })
  })

  it('changes one of two objects that share their text', async () => {
    const { store, declined, queue } = trim(emulator())
    const body = { ...queue, name: 'Twin' }
    store.alerts = [
      { ...body, id: 'a'.repeat(24), note: `watchkeeper: ${project} one 000000` },
      { ...body, id: 'b'.repeat(24), note: `watchkeeper: ${project} two 000000` },
    ]
    store.dashboards = store.dashboards.filter(({ id }) => id === declined.dashboardId)
    const text =
      'alerts:\n  one: &one\n    name: Twin\n    dashboard: { name: Payments }\n    tile: Payment queue\n    threshold: 500\n' +
      '    interval: 30m\n    channel: { type: webhook, webhook: audit }\n    message: The queue is longer than 500\n  two: *one\n'
    await withSite(emulator(), 'clickhouse-cloud', async (site) => {
      const files = { 'observability/alerts.yml': text }
      expect(await site.plan(files)).toMatchObject({ ...emptyPlan, unchanged: 2 })
      const [first] = store.alerts
      if (first !== undefined) first.threshold = 600
      const pulled = await site.pull(files)
      expect(pulled.objects.filter(({ section }) => section === 'alerts').map(({ key, outcome: what }) => `${key} ${what}`)).toEqual([
        'one updated',
        'two unchanged',
      ])
      expect(await site.plan(afterPull(files, pulled))).toMatchObject({ toUpdate: 0, toCreate: 0 })
    })
  })
})
