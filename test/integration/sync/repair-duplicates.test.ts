import { describe, expect, it } from 'vitest'
import { editDuring, inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { duplicateMarkersIn } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const alertOn = (target: string, name: string) =>
  `{ name: ${name}, ${target}, threshold: 1, interval: 5m, note: n, channel: { type: webhook, webhook: oncall } }`

const tile = (name: string) => `{ name: ${name}, config: { displayType: line, source: Logs, select: [{ aggFn: count }] } }`

const file = `dashboards:
  shop: { name: Shop, tags: [t], tiles: [${tile('A')}, ${tile('B')}] }
savedSearches:
  errors: { name: Errors, source: Logs, select: Body, tags: [t] }
alerts:
  on-a: ${alertOn('dashboard: shop, tile: A', 'OnA')}
  on-b: ${alertOn('dashboard: shop, tile: B', 'OnB')}
  on-search: ${alertOn('savedSearch: errors', 'OnSearch')}
`

const run = (operation: string, inputs: Readonly<Record<string, string>> = {}) =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, project: 'shop', ...inputs },
    files: { 'observability/a.yml': file },
  })

const repair = { repair: 'duplicates' }

/** What a second run at the same moment leaves behind: every object once more, with the alerts on the other dashboard and search. */
async function doubled() {
  const before = new Set(
    [...serviceOf(emulator()).dashboards, ...serviceOf(emulator()).savedSearches, ...serviceOf(emulator()).alerts].map(({ id }) => id),
  )
  await run('apply')
  const { dashboards, savedSearches, alerts } = serviceOf(emulator())
  const created = <T extends { readonly id: string }>(all: readonly T[]): readonly T[] => all.filter(({ id }) => !before.has(id))
  // Larger than all other ids.
  const other = (id: string): string => `f${id.slice(1)}`
  for (const one of created(dashboards))
    dashboards.push({
      ...structuredClone(one),
      id: other(one.id),
      tiles: one.tiles.map((item) => ({ ...structuredClone(item), id: other(item.id) })),
    })
  for (const one of created(savedSearches)) savedSearches.push({ ...structuredClone(one), id: other(one.id) })
  for (const one of created(alerts))
    alerts.push({
      ...structuredClone(one),
      id: other(one.id),
      ...(one.dashboardId && one.tileId && { dashboardId: other(one.dashboardId), tileId: other(one.tileId) }),
      ...(one.savedSearchId && { savedSearchId: other(one.savedSearchId) }),
    })
  const service = serviceOf(emulator())
  const twinOf = <T extends { readonly id: string; readonly name?: string | null }>(all: readonly T[], name: string) => {
    const [first, second] = all.filter((one) => one.name === name).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    if (first === undefined || second === undefined) throw new Error(`there is only one ${name}`)
    return [first, second] as const
  }
  return { service, twinOf }
}

const count = () => {
  const { dashboards, savedSearches, alerts } = serviceOf(emulator())
  return [dashboards, savedSearches, alerts].map(
    (all) => all.filter(({ name }) => ['Shop', 'Errors', 'OnA', 'OnB', 'OnSearch'].includes(name ?? '')).length,
  )
}

const messagesOf = ({ diagnostics }: Readonly<Record<string, unknown>>): readonly string[] =>
  (diagnostics as readonly { readonly message: string }[]).map(({ message }) => message)

const messagesOfObjects = ({ objects }: Readonly<Record<string, unknown>>) =>
  (objects as readonly { readonly message?: string }[]).map(({ message }) => message)

describe('objects that exist twice', () => {
  it('W3: objects that exist twice are never repaired without the input, and every plan and apply names the command', async () => {
    await doubled()
    for (const operation of ['plan', 'apply']) {
      const { document } = await run(operation, { prune: 'true' })
      expect(document).toMatchObject({ status: 'fail', toDelete: 0 })
      expect(messagesOf(document)).toContain(
        "to repair all of them, run this once, when no other run is at work: watchkeeper apply --project shop --files 'observability/**/*.{yml,yaml,json}' --repair duplicates",
      )
    }
    expect(count()).toEqual([2, 2, 6])
  })

  it('W3: objects that exist twice exist once after one repair, with the smallest ids, and the next plan is empty', async () => {
    const { twinOf, service } = await doubled()
    const kept = ['OnA', 'OnB', 'OnSearch'].map((name) => twinOf(service.alerts, name)[0].id)
    const shop = twinOf(service.dashboards, 'Shop')[0].id
    const planned = await run('plan', repair)
    expect(planned.document).toMatchObject({ status: 'pass', toDelete: 5, toUpdate: 0, toCreate: 0, toRelease: 0 })
    expect(count()).toEqual([2, 2, 6])
    expect((await run('apply', repair)).document).toMatchObject({ status: 'pass', changed: true })
    expect([count(), duplicateMarkersIn(emulator())]).toEqual([[1, 1, 3], []])
    const alerts = serviceOf(emulator()).alerts.filter(({ id }) => kept.includes(id))
    expect(alerts.map(({ dashboardId }) => dashboardId ?? null)).toEqual([shop, shop, null])
    expect((await run('plan')).document).toMatchObject({ status: 'pass', changed: false, unchanged: 5 })
  })

  it('objects that exist twice do not count for max-deletes, because those that are deleted are as declared', async () => {
    await doubled()
    const { document } = await run('apply', { ...repair, 'max-deletes': '0' })
    expect(document).toMatchObject({ status: 'pass', changed: true, toDelete: 5 })
    expect(count()).toEqual([1, 1, 3])
  })

  it('W3: objects that exist twice lose no alert: alerts on a duplicate move first, those of others, too', async () => {
    const { service, twinOf } = await doubled()
    const [shop, otherShop] = twinOf(service.dashboards, 'Shop')
    const [search, otherSearch] = twinOf(service.savedSearches, 'Errors')
    const [, onB] = twinOf(service.alerts, 'OnB')
    const [, onSearch] = twinOf(service.alerts, 'OnSearch')
    service.alerts.push({ ...structuredClone(onB), id: 'a00000000000000000000001', name: 'By hand', note: 'mine' })
    service.alerts.push({
      ...structuredClone(onSearch),
      id: 'a00000000000000000000002',
      name: 'Of others',
      note: 'watchkeeper: other/project key 0a1b2c',
    })
    // The alert to keep watches the dashboard that goes.
    const [onA] = twinOf(service.alerts, 'OnA')
    Object.assign(onA, { dashboardId: otherShop.id, tileId: otherShop.tiles[0]?.id })
    const { document } = await run('apply', repair)
    expect(document).toMatchObject({ status: 'pass', toUpdate: 3, toDelete: 5 })
    expect(count()).toEqual([1, 1, 3])
    const after = new Map(serviceOf(emulator()).alerts.map((one) => [one.name, one]))
    expect(after.get('By hand')).toMatchObject({ dashboardId: shop.id, tileId: shop.tiles[1]?.id, note: 'mine' })
    expect(after.get('Of others')).toMatchObject({ savedSearchId: search.id, note: 'watchkeeper: other/project key 0a1b2c' })
    expect(after.get('OnA')).toMatchObject({ dashboardId: shop.id, tileId: shop.tiles[0]?.id })
    expect(serviceOf(emulator()).savedSearches.some(({ id }) => id === otherSearch.id)).toBe(false)
  })

  it('W3: objects that exist twice are kept as they are, without a marker, where they are not as declared', async () => {
    const { service, twinOf } = await doubled()
    const [alert, changedAlert] = twinOf(service.alerts, 'OnA')
    Object.assign(changedAlert, { threshold: 99 })
    const [changedShop, shop] = twinOf(service.dashboards, 'Shop')
    changedShop.tags.push('by-hand')
    const { document } = await run('apply', repair)
    expect(document).toMatchObject({ status: 'warn', toRelease: 3, toDelete: 2 })
    const left = serviceOf(emulator())
    expect(left.dashboards.find(({ id }) => id === changedShop.id)).toMatchObject({
      tags: ['t', 'by-hand'],
      tiles: [{ name: 'A' }, { name: 'B' }],
    })
    expect(left.dashboards.find(({ id }) => id === shop.id)?.tags).toHaveLength(2)
    expect(left.alerts.find(({ id }) => id === changedAlert.id)).toMatchObject({ threshold: 99, note: 'n' })
    expect(left.alerts.find(({ id }) => id === alert.id)).toMatchObject({ dashboardId: shop.id, tileId: shop.tiles[0]?.id })
    expect(duplicateMarkersIn(emulator())).toEqual([])
    expect(messagesOf((await run('plan')).document).filter((one) => one.includes('marker'))).toEqual([])
  })

  /** A copy of an alert of the duplicate, which cannot move to the other dashboard. */
  it('objects that exist twice are not deleted when another user releases the one to keep during the repair', async () => {
    const { service, twinOf } = await doubled()
    const [kept, twin] = twinOf(service.alerts, 'OnA')
    editDuring(emulator(), { method: 'GET', path: `/alerts/${kept.id}` }, () => Object.assign(kept, { note: 'released' }))
    const { document } = await run('apply', repair)
    const alerts = serviceOf(emulator()).alerts.map(({ id }) => id)
    expect(alerts).toEqual(expect.arrayContaining([kept.id, twin.id]))
    expect(messagesOfObjects(document)).toContain(`the alert ${kept.id}, which should stay, could not be found`)
  })

  async function withFixedAlert(fields: object) {
    const { service, twinOf } = await doubled()
    const [, otherShop] = twinOf(service.dashboards, 'Shop')
    const [, onB] = twinOf(service.alerts, 'OnB')
    service.alerts.push({ ...structuredClone(onB), id: 'a00000000000000000000001', name: 'Fixed', note: 'mine', ...fields })
    return { otherShop, fixedAlert: () => serviceOf(emulator()).alerts.find(({ name }) => name === 'Fixed') }
  }

  const release = {
    action: 'release',
    notes: [expect.stringContaining('with the alert "Fixed" (a00000000000000000000001), which cannot move; it becomes unmanaged')],
  }

  const objectsOf = ({ document }: Awaited<ReturnType<typeof run>>) =>
    document.objects as { readonly action: string; readonly id?: string; readonly notes: readonly string[] }[]

  it('objects that exist twice stay if an alert on them has a form that this version does not know, because it is never written', async () => {
    const { otherShop, fixedAlert } = await withFixedAlert({ newer: { detectionMode: 'anomaly' } })
    const before = structuredClone(fixedAlert())
    const applied = await run('apply', repair)
    expect(applied.document).toMatchObject({ status: 'warn', toRelease: 3, toDelete: 2 })
    expect(objectsOf(applied).find(({ id }) => id === otherShop.id)).toMatchObject(release)
    expect(fixedAlert()).toEqual(before)
    expect(duplicateMarkersIn(emulator())).toEqual([])
  })

  it('objects that exist twice stay if an alert is on a part of the duplicate that the API does not list, and nothing is written', async () => {
    const { otherShop, fixedAlert } = await withFixedAlert({ tileId: 'b00000000000000000000001' })
    expect(objectsOf(await run('plan', repair)).find(({ id }) => id === otherShop.id)).toMatchObject(release)
    const { document } = await run('apply', repair)
    expect(document).toMatchObject({ status: 'fail', changed: false })
    expect(messagesOf(document).slice(0, 1)).toEqual([expect.stringContaining('and with it the alert "Fixed"')])
    expect(fixedAlert()).toBeDefined()
  })
})
