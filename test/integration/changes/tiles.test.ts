// Alerts hang on tiles: whatever happens to a dashboard, every alert that can live does, and each that cannot is said beforehand.
import { describe, expect, it } from 'vitest'
import { forEachEntry } from '../../support/corpus.ts'
import { serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { actions, errorRules, errors, errorsIn, line, outcomes, shop, tile } from '../../support/shop-declaration.ts'
import { decided, emptyPlan, type Site, type SiteFiles, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const files = (dashboards: object, alerts: object): SiteFiles => ({ 'a.json': { dashboards, alerts } })

const onB = { ...errors, name: 'On B', tile: 'B' }

const first = files({ shop }, { errors, onb: onB })

const haveApplied = useApplied(emulator, () => withSite(emulator(), 'clickhouse-cloud', (one) => one.apply(first)))

const site = async (use: (site: Site) => Promise<void>): Promise<void> => {
  await haveApplied()
  await withSite(emulator(), 'clickhouse-cloud', use)
}

const idOf = (name: string): string | undefined => serviceOf(emulator()).alerts.find((one) => one.name === name)?.id

const tileOf = (name: string): string | undefined => {
  const { alerts, dashboards } = serviceOf(emulator())
  const tileId = alerts.find((one) => one.name === name)?.tileId
  return dashboards.flatMap(({ tiles }) => tiles).find(({ id }) => id === tileId)?.name
}

/** An unmanaged alert on a tile of a managed dashboard. */
function addGuest(beside: string): void {
  const store = serviceOf(emulator())
  const like = store.alerts.find((one) => one.name === beside)
  if (like !== undefined) store.alerts.push({ ...like, id: '65f5e4a35eedc0deffffffff', name: 'Guest', note: 'mine' })
}

const number = { ...line, displayType: 'number' }
const markdown = { displayType: 'markdown', markdown: 'text' }

describe('alerts keep their ids when', () => {
  const harmless: Readonly<Record<string, readonly [dashboard: object, tileOfErrors?: string]>> = {
    'the dashboard gets another name, tiles move and stand in another order, and one comes between': [
      { ...shop, name: 'Renamed', tiles: [tile('B', 9), tile('New', 30), tile('A', 20)] },
    ],
    'a tile shows something else, as a number': [
      { ...shop, tiles: [tile('A', 0, { ...number, select: [{ aggFn: 'count', where: 'x' }] }), tile('B', 4)] },
    ],
    'a tile is renamed and shows the same': [{ ...shop, tiles: [tile('Renamed', 0, number), tile('B', 4)] }, 'Renamed'],
    'a tile is renamed and moves': [{ ...shop, tiles: [tile('Renamed', 12, number), tile('B', 4)] }, 'Renamed'],
  }
  it('keeps the ids of alerts when a dashboard changes and keeps their tiles', { tags: 'slow' }, () =>
    forEachEntry(
      Object.entries(harmless),
      (what, [dashboard, tileOfErrors = 'A']) =>
        site(async ({ apply, plan }) => {
          // Tiles that differ in what they show.
          if (what.includes('is renamed'))
            await apply(files({ shop: { ...shop, tiles: [tile('A', 0, number), tile('B', 4)] } }, { errors, onb: onB }))
          addGuest('Errors')
          const ids = [idOf('Errors'), idOf('On B'), idOf('Guest')]
          const changed = files({ shop: dashboard }, { errors: { ...errors, tile: tileOfErrors }, onb: onB })
          const applied = await apply(changed)
          // The file names the tile in another way, and the alert is the same.
          expect(outcomes(applied)).toEqual({ shop: 'updated', errors: tileOfErrors === 'A' ? 'unchanged' : 'marked', onb: 'unchanged' })
          expect([idOf('Errors'), idOf('On B'), idOf('Guest')]).toEqual(ids)
          expect([tileOf('Errors'), tileOf('On B'), tileOf('Guest')]).toEqual([tileOfErrors, 'B', tileOfErrors])
          expect(await plan(changed)).toMatchObject(emptyPlan)
        }),
      { before: () => emulator().reset() },
    ),
  )
})

it('recognizes a renamed tile where the server filled in defaults', () =>
  site(async ({ plan }) => {
    const found = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')
    const [a, b] = found?.tiles ?? []
    if (a === undefined || b === undefined) throw new Error('no tiles')
    a.config = { ...a.config, fitYAxisToData: false, numberFormat: {}, future: { x: 1 }, select: [{ aggFn: 'count', where: '' }] }
    b.config = { ...b.config, displayType: 'number' }
    const changed = files(
      { shop: { ...shop, tiles: [tile('Renamed'), tile('B', 4, number)] } },
      { errors: { ...errors, tile: 'Renamed' }, onb: onB },
    )
    // The server filled in defaults by itself, so the base in the marker does not have them.
    const planned = await plan(await decided(plan, changed))
    expect(actions(planned)).toEqual({ shop: 'update', errors: 'mark', onb: 'unchanged' })
    expect(planned.objects[0]?.fields).toEqual([{ path: 'tiles["A"].name', before: 'A', after: 'Renamed' }])
  }))

describe('W7: a tile is not removed while an alert on it stays', () => {
  const withoutB = { ...shop, tiles: [tile('A')] }

  it('creates an alert again, once, that moves from a removed tile to another one, and says so in the plan', () =>
    site(async ({ apply, plan }) => {
      const changed = files({ shop: withoutB }, { errors, onb: { ...onB, tile: 'A' } })
      const planned = await plan(changed)
      expect(actions(planned)).toEqual({ shop: 'update', errors: 'unchanged', onb: 'replace' })
      expect(planned.objects[2]?.notes).toEqual([
        'tile "B" of dashboard "Shop" is deleted, and the server deletes the alert with it, so apply creates the alert again',
      ])
      const before = emulator().requests.length
      expect(outcomes(await apply(changed))).toEqual({ shop: 'updated', errors: 'unchanged', onb: 'replaced' })
      const sent = emulator()
        .requests.slice(before)
        .filter(({ method, path }) => method !== 'GET' && !path.endsWith('/validate'))
      expect(sent.map(({ method }) => method)).toEqual(['PUT', 'POST'])
      expect(serviceOf(emulator()).alerts.filter(({ name }) => name === 'On B')).toHaveLength(1)
      expect(await plan(changed)).toMatchObject(emptyPlan)
    }))

  it('creates an alert again that moves from a removed tile to a new one', () =>
    site(async ({ apply, plan }) => {
      const changed = files({ shop: { ...shop, tiles: [tile('A'), tile('New', 4, number)] } }, { errors, onb: { ...onB, tile: 'New' } })
      expect(outcomes(await apply(changed))).toEqual({ shop: 'updated', errors: 'unchanged', onb: 'replaced' })
      expect(tileOf('On B')).toBe('New')
      expect(await plan(changed)).toMatchObject(emptyPlan)
    }))

  it('moves an alert from a removed tile to another dashboard', () =>
    site(async ({ apply, plan }) => {
      const changed = files({ shop: withoutB, other: { ...shop, name: 'Other' } }, { errors, onb: { ...onB, dashboard: 'other' } })
      expect(outcomes(await apply(changed))).toEqual({ shop: 'updated', other: 'created', errors: 'unchanged', onb: 'replaced' })
      expect(await plan(changed)).toMatchObject(emptyPlan)
    }))

  it('rejects files that remove a tile and keep its alert', () =>
    site(async ({ plan }) => {
      const planned = await plan(files({ shop: withoutB }, { errors, onb: onB }))
      expect(errorsIn(planned).map(({ message }) => message)).toEqual([
        expect.stringContaining('alerts.onb.tile: dashboard shop has no tile named "B"'),
      ])
    }))

  it('removes a tile together with its managed alert', () =>
    site(async ({ apply, plan }) => {
      const changed = files({ shop: withoutB }, { errors })
      expect(errorRules(await plan(changed))).toEqual(['held'])
      expect(outcomes(await apply(changed, { prune: true }))).toEqual({ shop: 'updated', errors: 'unchanged', onb: 'deleted' })
      expect(await plan(changed, { prune: true })).toMatchObject(emptyPlan)
    }))

  it(
    'leaves a dashboard as it is when a tile with an unmanaged alert is deleted, or gets a type that cannot have alerts',
    { tags: 'slow' },
    () =>
      site(async ({ apply }) => {
        addGuest('On B')
        const before = stateOf(emulator())
        for (const [reason, dashboard, alerts] of [
          ['is deleted', withoutB, { errors }],
          ['gets the type markdown, which cannot have alerts', { ...shop, tiles: [tile('A'), tile('B', 4, markdown)] }, { errors }],
        ] as const)
          expect(errorsIn(await apply(files({ shop: dashboard }, alerts), { prune: true }))).toMatchObject([
            {
              rule: 'held',
              message: `dashboards.shop: apply leaves it as it is, and deletes nothing: tile "B" of dashboard "Shop" ${reason}, and with it the alert "Guest" (65f5e4a35eedc0deffffffff). Declare the alert, or move or delete it first`,
            },
          ])
        expect(stateOf(emulator())).toEqual(before)
      }),
  )

  it('creates the alerts again of a tile that comes back with its dashboard', () =>
    site(async ({ apply, plan }) => {
      const nothing = files({ keep: { name: 'Keep', tags: ['k'], tiles: [] } }, {})
      expect(outcomes(await apply(nothing, { prune: true }))).toEqual({
        keep: 'created',
        errors: 'deleted',
        onb: 'deleted',
        shop: 'deleted',
      })
      expect(outcomes(await apply(first))).toEqual({ shop: 'created', errors: 'created', onb: 'created' })
      expect(await plan(first)).toMatchObject(emptyPlan)
    }))
})

describe('a tile that stays, and can carry no alert any more', () => {
  it('rejects files with an alert on a tile that can no longer have one', () =>
    site(async ({ plan }) => {
      const planned = await plan(files({ shop: { ...shop, tiles: [tile('A'), tile('B', 4, markdown)] } }, { errors, onb: onB }))
      expect(errorsIn(planned).map(({ message }) => message)).toEqual([
        'alerts.onb.tile: a tile of type markdown cannot have alerts; types that can: line, stacked_bar, number',
      ])
    }))

  it('moves a managed alert from a tile that can no longer have one', () =>
    site(async ({ apply, plan }) => {
      const changed = files({ shop: { ...shop, tiles: [tile('A'), tile('B', 4, markdown)] } }, { errors, onb: { ...onB, tile: 'A' } })
      expect(outcomes(await apply(changed))).toEqual({ shop: 'updated', errors: 'unchanged', onb: 'replaced' })
      expect(await plan(changed)).toMatchObject(emptyPlan)
    }))
})

describe('a user who edits the service', () => {
  it('creates a tile and its alert again that a user deleted', () =>
    site(async ({ apply, plan }) => {
      const store = serviceOf(emulator())
      const found = store.dashboards.find(({ name }) => name === 'Shop')
      if (found === undefined) throw new Error('no dashboard')
      found.tiles = found.tiles.filter(({ name }) => name !== 'B')
      store.alerts = store.alerts.filter(({ name }) => name !== 'On B')
      expect(outcomes(await apply(first))).toEqual({ shop: 'updated', errors: 'unchanged', onb: 'created' })
      expect(await plan(first)).toMatchObject(emptyPlan)
    }))

  it('creates a dashboard and its alerts again that a user deleted', () =>
    site(async ({ apply, plan }) => {
      const store = serviceOf(emulator())
      store.dashboards = store.dashboards.filter(({ name }) => name !== 'Shop')
      store.alerts = store.alerts.filter(({ name }) => name !== 'Errors' && name !== 'On B')
      expect(outcomes(await apply(first))).toEqual({ shop: 'created', errors: 'created', onb: 'created' })
      expect(await plan(first)).toMatchObject(emptyPlan)
    }))

  it('leaves a dashboard as it is when the files would remove a tile with an alert that a user added', () =>
    site(async ({ plan }) => {
      const store = serviceOf(emulator())
      const found = store.dashboards.find(({ name }) => name === 'Shop')
      const [a] = found?.tiles ?? []
      if (found === undefined || a === undefined) throw new Error('no dashboard')
      found.tiles.push({ ...a, id: '65f5e4a35eedc0deeeeeeeee', name: 'Theirs' })
      addGuest('Errors')
      for (const one of store.alerts) if (one.name === 'Guest') one.tileId = '65f5e4a35eedc0deeeeeeeee'
      const planned = await plan(first)
      expect(actions(planned)).toMatchObject({ shop: 'held' })
      expect(planned.diagnostics).toMatchObject([
        { rule: 'held', severity: 'warning', message: expect.stringContaining('tile "Theirs" of dashboard "Shop" is deleted') },
      ])
    }))

  it('keeps an alert on its tile when a user gives two tiles one name', () =>
    site(async ({ plan }) => {
      const found = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')
      for (const one of found?.tiles ?? []) one.name = 'A'
      const planned = await plan(first)
      expect(errorRules(planned)).toEqual([])
      expect(actions(planned)).toEqual({ shop: 'update', errors: 'unchanged', onb: 'unchanged' })
    }))
})

describe('tiles that share a name, or have none', () => {
  const shows = (where: string, y: number, more: object = {}) => ({
    ...tile('', y, { ...line, select: [{ aggFn: 'count', where }] }),
    ...more,
  })
  const nameless = ({ name: _, ...others }: ReturnType<typeof tile>) => others
  const stored = () => serviceOf(emulator()).dashboards.find(({ name }) => name === 'Twins')

  it('a tile of a file needs no name, an empty name in raw is the same, and pull leaves the name out', () =>
    site(async ({ apply, plan, pull }) => {
      const heading = nameless(tile('', 0, markdown))
      const of = (one: object) => files({ twins: { name: 'Twins', tiles: [one, tile('A', 4)] } }, {})
      expect(outcomes(await apply(of(heading)))).toMatchObject({ twins: 'created' })
      expect(stored()?.tiles.map(({ name }) => name)).toEqual(['', 'A'])
      expect(await plan(of(heading))).toMatchObject({ toUpdate: 0, toMark: 0 })
      expect(await plan(of({ ...heading, name: '' }))).toMatchObject({ toUpdate: 0, toMark: 0 })
      // Another declaration of the same tile.
      expect(await plan(of({ ...heading, name: 'Tile 1', raw: { name: '' } }))).toMatchObject({ toUpdate: 0, toMark: 1 })
      const pulled = await pull({})
      expect([JSON.stringify(pulled).includes('Twins'), JSON.stringify(pulled).includes('Tile 1')]).toEqual([true, false])
    }))

  it('no alert changes its query or is lost where two tiles could be its tile, until one of them has its id', async () => {
    for (const name of ['E', ''])
      await site(async ({ apply, plan }) => {
        const of = (...tiles: readonly object[]) => files({ twins: { name: 'Twins', tiles: tiles.map((one) => ({ ...one, name })) } }, {})
        await apply(of(shows('a', 0), shows('b', 4)))
        const [first, second] = stored()?.tiles.map(({ id }) => id) ?? []
        addGuest('Errors')
        const guest = () => serviceOf(emulator()).alerts.find((one) => one.name === 'Guest')
        Object.assign(guest() ?? {}, { dashboardId: stored()?.id, tileId: second })
        const swapped = of(shows('d', 0), shows('c', 4))
        const said = JSON.stringify(errorsIn(await plan(swapped)))
        expect(said).toContain('could be tiles[0] (line) or tiles[1] (line)')
        expect(said).toContain(String(second))
        const before = structuredClone(stored())
        await apply(swapped)
        expect(stored()).toEqual(before)
        expect(outcomes(await apply(of(shows('d', 0, { raw: { id: second } }), shows('c', 4))))).toMatchObject({ twins: 'updated' })
        expect(stored()?.tiles.map(({ id }) => id)).toEqual([second, first])
        expect(guest()?.tileId).toBe(second)
      })
  })

  it('an alert on a tile without a name is an error that says to give it one', () =>
    site(async ({ plan }) => {
      const saidOf = async (...tiles: readonly object[]) =>
        JSON.stringify(
          errorsIn(await plan(files({ twins: { name: 'Twins', tiles } }, { one: { ...errors, dashboard: 'twins', tile: 'Errors' } }))),
        )
      const advice = '(line) has no name: give it one, or use { id: … } or a query'
      expect(await saidOf(nameless(tile('', 0, markdown)), nameless(tile('', 4)))).toContain(`tiles[1] ${advice}`)
      expect(await saidOf(nameless(tile('', 0)))).toContain(`tiles[0] ${advice}`)
    }))
})
