import { describe, expect, it } from 'vitest'
import { type Dashboard, demo } from '../../../src/emulator/index.ts'
import { editDuring, inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { duplicateMarkersIn } from '../../support/site.ts'

const alertOn = (target: string, name: string) =>
  `{ name: ${name}, ${target}, threshold: 1, interval: 5m, note: n, channel: { type: webhook, webhook: oncall } }`

const tile = (name: string, source = 'Logs') =>
  `{ name: ${name}, config: { displayType: line, source: ${source}, select: [{ aggFn: count }] } }`

const file = `dashboards:
  shop: { name: Shop, tags: [t], tiles: [${tile('A')}, ${tile('B')}] }
savedSearches:
  errors: { name: Errors, source: Logs, select: Body, tags: [t] }
alerts:
  on-a: ${alertOn('dashboard: shop, tile: A', 'OnA')}
  on-b: ${alertOn('dashboard: shop, tile: B', 'OnB')}
  on-search: ${alertOn('savedSearch: errors', 'OnSearch')}
`

const repair = { repair: 'duplicates' }

/** Larger than all other ids. */
const other = (id: string): string => `f${id.slice(1)}`

/** Only a self-hosted server can write the marker of a dashboard alone. */
const dialects = ['clickhouse-cloud', 'hyperdx'] as const

const messagesOf = ({ diagnostics }: Readonly<Record<string, unknown>>, severity?: string): readonly string[] =>
  (diagnostics as readonly { readonly message: string; readonly severity: string }[]).flatMap((one) =>
    severity === undefined || one.severity === severity ? [one.message] : [],
  )

interface ResultObject {
  readonly action: string
  readonly id?: string
  readonly notes: readonly string[]
  readonly message?: string
}

const objectsIn = ({ objects }: Readonly<Record<string, unknown>>) => objects as readonly ResultObject[]

describe.each(dialects)('objects that exist twice in %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })
  const isPatched = dialect === 'hyperdx'

  const run = (operation: string, inputs: Readonly<Record<string, string>> = {}, text = file, env: Readonly<Record<string, string>> = {}) =>
    invokeText({
      inputs: { ...inputsFor(emulator(), dialect), operation, project: 'shop', ...inputs },
      files: { 'observability/a.yml': text },
      env,
    })

  /** What a second run at the same moment leaves behind: every object once more, with the alerts on the other dashboard and search. */
  async function doubled(text = file, env: Readonly<Record<string, string>> = {}) {
    const service = serviceOf(emulator())
    const kinds = ['dashboards', 'savedSearches', 'alerts', 'sources'] as const
    const before = new Set(kinds.flatMap((kind) => service[kind].map(({ id }) => id)))
    await run('apply', {}, text, env)
    const isMade = new Set(kinds.flatMap((kind) => service[kind].map(({ id }) => id)).filter((id) => !before.has(id)))
    const reference = (id: unknown): unknown => (isMade.has(String(id)) ? other(String(id)) : id)
    const copyOf = (one: object): unknown =>
      JSON.parse(JSON.stringify(one), (key, value: unknown) =>
        /(?:^id|Id)$/.test(key) ? (key === 'tileId' ? other(String(value)) : reference(value)) : value,
      )
    for (const kind of kinds) {
      const made = service[kind].filter(({ id }) => isMade.has(id))
      service[kind].push(...(made.map(copyOf) as never[]))
    }
    for (const one of service.dashboards.filter(({ id }) => id.startsWith('f'))) for (const item of one.tiles) item.id = other(item.id)
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

  /** A person deletes a dashboard in the web app, which takes its alerts along. */
  function deleteInWebApp(id: string): void {
    const service = serviceOf(emulator())
    service.dashboards = service.dashboards.filter((one) => one.id !== id)
    service.alerts = service.alerts.filter(({ dashboardId }) => dashboardId !== id)
  }

  it('W3: objects that exist twice are never repaired without the input, and every plan and apply says what to do', {
    tags: 'slow',
  }, async () => {
    const { service, twinOf } = await doubled()
    const ids = twinOf(service.dashboards, 'Shop').map(({ id }) => id)
    const target =
      dialect === 'hyperdx'
        ? `--profile hyperdx --api-url ${emulator().url}/api/v2`
        : `--organization-id ${demo.organizationId} --service-id ${demo.services.checkout}`
    const command = `when no other run is at work, run once: watchkeeper apply --project shop ${target} --repair duplicates`
    for (const operation of ['plan', 'apply']) {
      const { document } = await run(operation, { prune: 'true' })
      expect(document).toMatchObject({ status: 'fail', toDelete: 0 })
      expect(messagesOf(document).filter((one) => one.includes(command)).length).toBeGreaterThan(0)
      const [message = ''] = messagesOf(document).filter((one) => one.includes('2 dashboards have this ownership marker'))
      for (const id of ids) expect(message).toContain(id)
      expect(message).toContain(isPatched ? command : 'In the web app, delete the one that you do not need')
    }
    expect(count()).toEqual([2, 2, 6])
  })

  it('W3: after one repair, what exists twice is managed once, and a person decides about the second dashboard', async () => {
    const { twinOf, service } = await doubled()
    const [shop, twin] = twinOf(service.dashboards, 'Shop')
    const kept = ['OnA', 'OnB', 'OnSearch'].map((name) => twinOf(service.alerts, name)[0].id)
    const tiles = structuredClone(twin.tiles)
    const planned = await run('plan', repair)
    const counts = { status: 'warn', toDelete: 2, toRelease: isPatched ? 3 : 2, toUpdate: 0, toCreate: 0 }
    expect(planned.document).toMatchObject(counts)
    expect(count()).toEqual([2, 2, 6])
    const { document } = await run('apply', repair)
    expect(document).toMatchObject({ ...counts, changed: true })
    const [warning = '', ...others] = messagesOf(document, 'warning')
    expect(others).toEqual([])
    for (const part of [shop.id, twin.id, 'In the web app, delete', 'this also deletes the alerts on it']) expect(warning).toContain(part)
    expect(count()).toEqual([2, 1, 5])
    expect(duplicateMarkersIn(emulator())).toHaveLength(isPatched ? 0 : 1)
    expect(twin.tiles).toEqual(tiles)
    const next = await run('plan')
    if (isPatched) expect(next.document).toMatchObject({ status: 'pass', changed: false, unchanged: 5 })
    else expect(messagesOf(next.document)[0]).toContain('no run repairs this')
    deleteInWebApp(twin.id)
    expect((await run('plan')).document).toMatchObject({ status: 'pass', changed: false, unchanged: 5 })
    expect(serviceOf(emulator()).alerts.filter(({ id }) => kept.includes(id))).toHaveLength(3)
  })

  /** The web app's export and import: a copy with the same marker and the same ids of tiles. A person then changes what the API does not show. */
  async function withImportedCopy(): Promise<Dashboard> {
    await run('apply')
    const service = serviceOf(emulator())
    const own = service.dashboards.find(({ name }) => name === 'Shop')
    if (own === undefined) throw new Error('not applied')
    const [first, ...others] = structuredClone(own.tiles)
    const promql = { id: 'promql', name: 'Hidden', config: { configType: 'promql', displayType: 'line', promqlExpression: 'up' } }
    const filtered = {
      ...first,
      config: { ...first?.config, where: 'SeverityText:"fatal"', whereLanguage: 'lucene', granularity: '5 minute' },
    }
    const copy = emulator().saveInWebApp({ name: own.name, tags: own.tags, tiles: [filtered, ...others, promql] })
    const [alert] = structuredClone(service.alerts.filter(({ name }) => name === 'OnA'))
    if (alert === undefined) throw new Error('not applied')
    service.alerts.push({ ...alert, id: other(alert.id), name: 'By hand', note: 'mine', dashboardId: copy.id })
    return copy
  }

  it('W3: a copy that the web app imported keeps everything that a person changed in it, and the alert on it', async () => {
    const copy = await withImportedCopy()
    const before = structuredClone([copy, serviceOf(emulator()).alerts] as const)
    for (const input of ['duplicates', 'duplicates\nrewrite']) {
      const { document } = await run('apply', { repair: input })
      expect(messagesOf(document, 'error'), input).toEqual([])
      expect(document).toMatchObject({ status: 'warn', toDelete: 0 })
      const tags = isPatched ? ['t'] : before[0].tags
      expect(copy).toEqual({ ...before[0], tags })
      expect(serviceOf(emulator()).alerts).toEqual(before[1])
      copy.tags = structuredClone(before[0].tags)
    }
  })

  it('objects that exist twice do not count for max-deletes, because those that are deleted are equal to those that stay', async () => {
    await doubled()
    const { document } = await run('apply', { ...repair, 'max-deletes': '0' })
    expect(document).toMatchObject({ changed: true, toDelete: 2 })
    expect(messagesOf(document, 'error')).toEqual([])
  })

  it('W3: objects that exist twice lose no alert: alerts on a duplicate move before it is deleted, those of others, too', async () => {
    const { service, twinOf } = await doubled()
    const [shop, otherShop] = twinOf(service.dashboards, 'Shop')
    const [search, otherSearch] = twinOf(service.savedSearches, 'Errors')
    const [onSearch, onOtherSearch] = twinOf(service.alerts, 'OnSearch')
    const note = 'watchkeeper: other/project key 0a1b2c'
    service.alerts.push({ ...structuredClone(onOtherSearch), id: 'a00000000000000000000001', name: 'By hand', note: 'mine' })
    service.alerts.push({ ...structuredClone(onOtherSearch), id: 'a00000000000000000000002', name: 'Of others', note })
    // The alert to keep watches the search that goes, and another one the dashboard that does not stay managed.
    Object.assign(onSearch, { savedSearchId: otherSearch.id })
    const [onA] = twinOf(service.alerts, 'OnA')
    Object.assign(onA, { dashboardId: otherShop.id, tileId: otherShop.tiles[0]?.id })
    const { document } = await run('apply', repair)
    expect(messagesOf(document, 'error')).toEqual([])
    const after = new Map(serviceOf(emulator()).alerts.map((one) => [one.id, one]))
    expect(after.get('a00000000000000000000001')).toMatchObject({ savedSearchId: search.id, note: 'mine' })
    expect(after.get('a00000000000000000000002')).toMatchObject({ savedSearchId: search.id, note })
    expect(after.get(onSearch.id)).toMatchObject({ savedSearchId: search.id })
    expect(after.get(onA.id)).toMatchObject({ dashboardId: shop.id, tileId: shop.tiles[0]?.id })
    expect(serviceOf(emulator()).savedSearches.some(({ id }) => id === otherSearch.id)).toBe(false)
  })

  it('W3: objects that exist twice stay without a marker where they differ, also in a field that no file can declare', async () => {
    const { service, twinOf } = await doubled()
    const [, changedAlert] = twinOf(service.alerts, 'OnSearch')
    Object.assign(changedAlert, { threshold: 99 })
    const [, changedSearch] = twinOf(service.savedSearches, 'Errors')
    Object.assign(changedSearch, { ofNewerServer: 'x' })
    const planned = await run('plan', repair)
    expect(planned.document).toMatchObject({ toDelete: 0, toRelease: isPatched ? 5 : 4 })
    const notesOf = (id: string) => objectsIn(planned.document).find((one) => one.id === id)?.notes
    expect(notesOf(changedAlert.id)).toEqual([expect.stringContaining('that differs in threshold')])
    expect(notesOf(changedSearch.id)).toEqual([expect.stringContaining('that differs in ofNewerServer')])
    Object.assign(changedSearch, { ofNewerServer: undefined, orderBy: 'Timestamp' })
    expect((await run('apply', repair)).document).toMatchObject({ toDelete: 0, toRelease: isPatched ? 5 : 4 })
    const left = serviceOf(emulator())
    expect(left.alerts.find(({ id }) => id === changedAlert.id)).toMatchObject({ threshold: 99, note: 'n' })
    expect(left.savedSearches.find(({ id }) => id === changedSearch.id)).toMatchObject({ tags: ['t'], orderBy: 'Timestamp' })
  })

  it('objects that exist twice are not deleted when another user releases the one to keep during the repair', async () => {
    const { service, twinOf } = await doubled()
    const [kept, twin] = twinOf(service.alerts, 'OnSearch')
    editDuring(emulator(), { method: 'GET', path: `/alerts/${kept.id}` }, () => Object.assign(kept, { note: 'released' }))
    const { document } = await run('apply', repair)
    const alerts = serviceOf(emulator()).alerts.map(({ id }) => id)
    expect(alerts).toEqual(expect.arrayContaining([kept.id, twin.id]))
    expect(objectsIn(document).map(({ message }) => message)).toContain(`the alert ${kept.id}, which should stay, could not be found`)
  })

  it('objects that exist twice stay if an alert on them has a form that this version does not know, because it is never written', async () => {
    const { service, twinOf } = await doubled()
    const [, otherSearch] = twinOf(service.savedSearches, 'Errors')
    const [, onOtherSearch] = twinOf(service.alerts, 'OnSearch')
    const id = 'a00000000000000000000001'
    service.alerts.push({
      ...structuredClone(onOtherSearch),
      id,
      name: 'Fixed',
      note: 'mine',
      newer: { detectionMode: 'anomaly' },
    } as never)
    const before = structuredClone(service.alerts.at(-1))
    const { document } = await run('apply', repair)
    expect(objectsIn(document).find((one) => one.id === otherSearch.id)).toMatchObject({
      action: 'release',
      notes: [expect.stringContaining(`with the alert "Fixed" (${id}), which cannot move; it becomes unmanaged`)],
    })
    expect(serviceOf(emulator()).alerts.find((one) => one.id === id)).toEqual(before)
  })

  it('W3: a repair leaves a source and a webhook that exist twice to a person, and repairs what uses them', async () => {
    const text = `sources:
  race: { name: Race, kind: log, connection: CONNECTION, from: { databaseName: d, tableName: t }, timestampValueExpression: T, defaultTableSelectExpression: B }
webhooks:
  team: { name: team, service: generic, urlFrom: WEBHOOK_TEAM_URL }
dashboards:
  shop: { name: Shop, tags: [t], tiles: [${tile('A', 'Race')}] }
alerts:
  on-a: ${alertOn('dashboard: shop, tile: A', 'OnA').replace('oncall', 'team')}
`.replace('CONNECTION', serviceOf(emulator()).connections[0]?.id ?? '')
    const env = { WEBHOOK_TEAM_URL: 'https://hooks.example.com/team' }
    const { service, twinOf } = await doubled(text, env)
    const own = service.webhooks.find(({ name }) => name === 'team')
    if (own === undefined) throw new Error('not applied')
    service.webhooks.push({ ...structuredClone(own), id: other(own.id), service: 'slack' })
    const [shop] = twinOf(service.dashboards, 'Shop')
    const before = structuredClone([service.sources, service.webhooks])
    const { document } = await run('apply', repair, text, env)
    expect(messagesOf(document, 'error')).toEqual([])
    expect(document).toMatchObject({ status: 'warn', toDelete: 0, toCreate: 0, toUpdate: 0, toRelease: isPatched ? 2 : 1 })
    const [first, second] = twinOf(service.sources, 'Race')
    const warnings = messagesOf(document, 'warning')
    expect(warnings).toHaveLength(3)
    for (const [kind, kept, left] of [['source', first.id, second.id] as const, ['webhook', own.id, other(own.id)] as const])
      expect(warnings.join('\n')).toMatch(
        new RegExp(
          `this run manages the ${kind} ${kept}, and leaves its duplicate ${left} as it is, because .*\\. In the web app, delete `,
        ),
      )
    expect([serviceOf(emulator()).sources, serviceOf(emulator()).webhooks]).toEqual(before)
    expect(serviceOf(emulator()).dashboards.find(({ id }) => id === shop.id)?.tiles[0]?.config).toMatchObject({ sourceId: first.id })
  })
})
