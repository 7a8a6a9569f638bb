// W8: what somebody else changed between plan and write is not overwritten, and not deleted.
import { describe, expect, it } from 'vitest'
import { editDuring, serviceOf, useEmulator } from '../../support/emulator.ts'
import { outcomes, tile } from '../../support/shop-declaration.ts'
import { emptyPlan, markersIn, type Site, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator()

const dashboard = (changes: object = {}) => ({ name: 'Shop', tiles: [tile('A'), tile('B', 4)], ...changes })

const alert = (changes: object = {}) => ({
  name: 'Errors',
  dashboard: 'shop',
  tile: 'A',
  threshold: 1,
  interval: '5m',
  channel: { type: 'webhook', webhookId: serviceOf(emulator()).webhooks[0]?.id },
  ...changes,
})

const filesWith = (dashboards: object, alerts: object) => ({ 'a.json': { dashboards, alerts } })

const first = () => filesWith({ shop: dashboard() }, { errors: alert(), slow: alert({ name: 'Slow', tile: 'B' }) })

const owned = () => {
  const { dashboards, alerts } = serviceOf(emulator())
  const find = <T extends { name: string | null }>(items: T[], name: string): T => {
    const found = items.find((one) => one.name === name)
    if (found === undefined) throw new Error(`no ${name}`)
    return found
  }
  return { shop: find(dashboards, 'Shop'), errors: find(alerts, 'Errors'), slow: find(alerts, 'Slow') }
}

/** With the first state applied. */
const withShop = (use: (site: Site) => Promise<void>): Promise<void> =>
  withSite(emulator(), 'neutral', async (site) => {
    await site.apply(first())
    await use(site)
  })

describe('an object that somebody changes after it was listed', () => {
  it('is not updated, and the next run says what both want', () =>
    withShop(async (site) => {
      const files = filesWith(
        { shop: dashboard() },
        { errors: alert({ threshold: 7 }), slow: alert({ name: 'Slow', tile: 'B', threshold: 8 }) },
      )
      const { errors } = owned()
      editDuring(emulator(), { method: 'GET', path: `/alerts/${errors.id}` }, () => {
        errors.threshold = 3
      })
      const applied = await site.apply(files)
      expect(outcomes(applied)).toEqual({ shop: 'unchanged', errors: 'failed', slow: 'updated' })
      expect(applied.objects[1]?.message).toContain('has changed since the plan was made and was not written')
      expect(owned().errors.threshold).toBe(3)
      const again = await site.plan(files)
      expect(again.objects[1]?.fields).toEqual([{ path: 'threshold', before: 3, after: 7 }])
      await site.apply(files)
      expect(await site.plan(files)).toMatchObject(emptyPlan)
    }))

  it('keeps what was changed after it was written', () =>
    withShop(async (site) => {
      const { shop } = owned()
      const added = { ...structuredClone(shop.tiles[0]), id: 'added-by-hand', name: 'Human' } as (typeof shop.tiles)[number]
      // The list that is read after the writes; the first one is for the plan.
      editDuring(emulator(), { method: 'GET', path: '/observability/dashboards' }, () => void shop.tiles.push(added), 3)
      const applied = await site.apply(
        filesWith({ shop: dashboard({ tags: ['changed'] }) }, { errors: alert(), slow: alert({ name: 'Slow', tile: 'B' }) }),
      )
      expect(outcomes(applied)).toMatchObject({ shop: 'updated' })
      expect(owned().shop.tiles.map(({ name }) => name)).toEqual(['A', 'B', 'Human'])
      expect(applied.diagnostics.map(({ rule }) => rule)).toEqual(['snapshot-failed'])
      expect(applied.objects.find(({ key }) => key === 'shop')?.serverChanged ?? []).toEqual([])
    }))

  it('is updated when only what the files have no say in was changed', () =>
    withShop(async (site) => {
      const { errors } = owned()
      editDuring(emulator(), { method: 'GET', path: `/alerts/${errors.id}` }, () => {
        errors.state = 'ALERT'
        errors.silenced = { by: 'x', at: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' }
      })
      const files = filesWith({ shop: dashboard() }, { errors: alert({ threshold: 7 }), slow: alert({ name: 'Slow', tile: 'B' }) })
      expect(outcomes(await site.apply(files))).toMatchObject({ errors: 'updated' })
      expect(owned().errors).toMatchObject({ threshold: 7, state: 'ALERT' })
    }))

  it('is not deleted', () =>
    withShop(async (site) => {
      const { slow } = owned()
      editDuring(emulator(), { method: 'GET', path: `/alerts/${slow.id}` }, () => {
        slow.threshold = 99
      })
      const applied = await site.apply(filesWith({ shop: dashboard() }, { errors: alert() }), { prune: true })
      expect(outcomes(applied)).toMatchObject({ slow: 'failed' })
      expect(owned().slow.threshold).toBe(99)
    }))

  it('is not deleted when its mark was taken away', () =>
    withShop(async (site) => {
      const { slow } = owned()
      editDuring(emulator(), { method: 'GET', path: `/alerts/${slow.id}` }, () => {
        slow.message = null
      })
      await site.apply(filesWith({ shop: dashboard() }, { errors: alert() }), { prune: true })
      expect(owned().slow).toBeDefined()
    }))

  it('is not deleted to be created again', () =>
    withShop(async (site) => {
      const files = filesWith({ shop: dashboard({ tiles: [tile('A')] }) }, { errors: alert(), slow: alert({ name: 'Slow', tile: 'A' }) })
      expect((await site.plan(files)).objects.map(({ action }) => action)).toEqual(['update', 'unchanged', 'replace'])
      const { shop, slow } = owned()
      // The dashboard is left as it is, so that the server deletes no alert; and the alert is another one now.
      editDuring(emulator(), { method: 'GET', path: `/dashboards/${shop.id}` }, () => {
        shop.name = 'Renamed'
        slow.threshold = 99
      })
      const applied = await site.apply(files)
      expect(outcomes(applied)).toEqual({ shop: 'failed', errors: 'unchanged', slow: 'failed' })
      expect(serviceOf(emulator()).alerts.find(({ id }) => id === slow.id)).toMatchObject({ threshold: 99 })
    }))

  it('that is gone meanwhile fails, and is created by the next run', () =>
    withShop(async (site) => {
      const { errors } = owned()
      editDuring(emulator(), { method: 'GET', path: `/alerts/${errors.id}` }, () => {
        serviceOf(emulator()).alerts = serviceOf(emulator()).alerts.filter(({ id }) => id !== errors.id)
      })
      const files = filesWith({ shop: dashboard() }, { errors: alert({ threshold: 7 }), slow: alert({ name: 'Slow', tile: 'B' }) })
      expect(outcomes(await site.apply(files))).toMatchObject({ errors: 'failed' })
      expect(outcomes(await site.apply(files))).toMatchObject({ errors: 'created' })
      expect(markersIn(emulator())).toHaveLength(3)
    }))
})

describe('an alert that somebody puts onto a tile while the tile is about to go', () => {
  const addGuest = (): void => {
    const store = serviceOf(emulator())
    const { slow } = owned()
    store.alerts.push({ ...slow, id: '65f5e4a35eedc0deffffffff', name: 'Guest', message: 'mine' })
  }

  it('keeps its tile: the update is not made', () =>
    withShop(async (site) => {
      const files = filesWith({ shop: dashboard({ tiles: [tile('A')] }) }, { errors: alert() })
      editDuring(emulator(), { method: 'GET', path: `/dashboards/${owned().shop.id}` }, addGuest)
      const applied = await site.apply(files, { prune: true })
      expect(outcomes(applied)).toMatchObject({ shop: 'failed' })
      expect(applied.objects[0]?.message).toContain('Guest')
      expect(serviceOf(emulator()).alerts.map(({ name }) => name)).toContain('Guest')
    }))

  it('keeps its dashboard: it is not deleted', () =>
    withShop(async (site) => {
      const files = filesWith({ other: dashboard({ name: 'Other' }) }, {})
      editDuring(emulator(), { method: 'POST', path: '/dashboards' }, addGuest)
      const applied = await site.apply(files, { prune: true })
      expect(outcomes(applied)).toEqual({ other: 'created', errors: 'deleted', slow: 'deleted', shop: 'skipped' })
      expect(serviceOf(emulator()).alerts.map(({ name }) => name)).toContain('Guest')
    }))
})

it('writes normally when no other user changes anything', () =>
  withShop(async (site) => {
    const files = filesWith({ shop: dashboard({ tiles: [tile('A')] }) }, { errors: alert({ threshold: 2 }) })
    expect(outcomes(await site.apply(files, { prune: true }))).toEqual({ shop: 'updated', errors: 'updated', slow: 'deleted' })
    expect(stateOf(emulator()).filter((text) => text.includes('"Shop"'))).toHaveLength(2)
  }))
