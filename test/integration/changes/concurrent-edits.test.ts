// W8: what somebody else changed between plan and write is not overwritten, and not deleted.
import { afterAll, describe, expect, it } from 'vitest'
import { startEmulator } from '../../../src/emulator/index.ts'
import { createVirtualClock, watchRequests } from '../../support/clocks.ts'
import { editDuring, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { outcomes, tile } from '../../support/shop-declaration.ts'
import { decided, emptyPlan, markersIn, type Site, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ rateLimit: 'off' })

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

const haveApplied = useApplied(emulator, () => withSite(emulator(), 'clickhouse-cloud', (site) => site.apply(first())))

/** With the first state applied. */
const withShop = async (use: (site: Site) => Promise<void>): Promise<void> => {
  await haveApplied()
  await withSite(emulator(), 'clickhouse-cloud', use)
}

describe('W8: an object that another user changes after it was listed is not overwritten', () => {
  it('does not update an object that changed since the plan, and shows both versions in the next run', () =>
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
      // Both sides changed, so a person decides.
      const ofFiles = await decided(site.plan, files)
      await site.apply(ofFiles)
      expect(await site.plan(ofFiles)).toMatchObject(emptyPlan)
    }))

  it('keeps a change that was made after the write', () =>
    withShop(async (site) => {
      const { shop } = owned()
      const added = { ...structuredClone(shop.tiles[0]), id: 'added-by-hand', name: 'Human' } as (typeof shop.tiles)[number]
      // The list that is read after the writes; the first one is for the plan.
      editDuring(emulator(), { method: 'GET', path: '/clickstack/dashboards' }, () => void shop.tiles.push(added), 3)
      const applied = await site.apply(
        filesWith({ shop: dashboard({ tags: ['changed'] }) }, { errors: alert(), slow: alert({ name: 'Slow', tile: 'B' }) }),
      )
      expect(outcomes(applied)).toMatchObject({ shop: 'updated' })
      expect(owned().shop.tiles.map(({ name }) => name)).toEqual(['A', 'B', 'Human'])
      expect(applied.diagnostics.map(({ rule }) => rule)).toEqual(['hidden-parts', 'base-failed'])
      expect(applied.objects.find(({ key }) => key === 'shop')?.serverChanged ?? []).toEqual([])
    }))

  it('updates an object when only fields changed that files do not declare', () =>
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

  it('does not delete an object that changed since the plan', () =>
    withShop(async (site) => {
      const { slow } = owned()
      editDuring(emulator(), { method: 'GET', path: `/alerts/${slow.id}` }, () => {
        slow.threshold = 99
      })
      const applied = await site.apply(filesWith({ shop: dashboard() }, { errors: alert() }), { prune: true })
      expect(outcomes(applied)).toMatchObject({ slow: 'failed' })
      expect(owned().slow.threshold).toBe(99)
    }))

  it('does not delete an object whose marker was removed', () =>
    withShop(async (site) => {
      const { slow } = owned()
      editDuring(emulator(), { method: 'GET', path: `/alerts/${slow.id}` }, () => {
        slow.note = null
      })
      const applied = await site.apply(filesWith({ shop: dashboard() }, { errors: alert() }), { prune: true })
      expect([outcomes(applied).slow, owned().slow.note]).toEqual(['failed', null])
    }))

  it('does not replace an object that changed since the plan', () =>
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

  it('fails an object that was deleted since the plan, and creates it with the next run', () =>
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

  it('does not update a dashboard without a tile that has just got an alert', () =>
    withShop(async (site) => {
      const files = filesWith({ shop: dashboard({ tiles: [tile('A')] }) }, { errors: alert() })
      editDuring(emulator(), { method: 'GET', path: `/dashboards/${owned().shop.id}` }, addGuest)
      const applied = await site.apply(files, { prune: true })
      expect(outcomes(applied)).toMatchObject({ shop: 'failed' })
      expect(applied.objects[0]?.message).toContain('Guest')
      expect(serviceOf(emulator()).alerts.map(({ name }) => name)).toContain('Guest')
    }))

  it('does not delete a dashboard whose tile has just got an alert', () =>
    withShop(async (site) => {
      const files = filesWith({ other: dashboard({ name: 'Other' }) }, {})
      editDuring(emulator(), { method: 'POST', path: '/dashboards' }, addGuest)
      const applied = await site.apply(files, { prune: true })
      expect(outcomes(applied)).toEqual({ other: 'created', errors: 'deleted', slow: 'deleted', shop: 'skipped' })
      expect(serviceOf(emulator()).alerts.map(({ name }) => name)).toContain('Guest')
    }))
})

describe('an object that is not read again before its update, because the window of the rate limit has no room for that', () => {
  const requests = watchRequests()
  afterAll(() => requests.end())

  /** Changes three objects. `edit` changes one of them while the first is written, that much later than the lists of the plan. */
  async function applyDuringEdit(laterMs: number, edit: (alert: { threshold: number }) => void) {
    let passedMs = 0
    const virtual = createVirtualClock(Date.parse('2026-11-11T03:12:10Z'), () => requests.pause())
    const clock = { ...virtual, now: () => virtual.now() + passedMs, monotonicMs: () => virtual.monotonicMs() + passedMs }
    const server = await startEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 10, windowMs: 10_000 }, now: clock.now })
    const declare = (threshold: number) => ({
      'a.json': {
        dashboards: { shop: dashboard({ tags: [`t${threshold}`] }) },
        alerts: { errors: alert({ threshold }), slow: alert({ name: 'Slow', tile: 'B', threshold }) },
      },
    })
    try {
      return await withSite(
        server,
        'clickhouse-cloud',
        async (site) => {
          await site.apply(declare(1))
          await virtual.sleep(11_000)
          const before = server.requests.length
          const slow = serviceOf(server).alerts.find(({ name }) => name === 'Slow')
          if (slow === undefined) throw new Error('apply created no alert')
          editDuring(server, { method: 'PUT', path: '/dashboards' }, () => {
            passedMs += laterMs
            edit(slow)
          })
          const applied = await site.apply(declare(7))
          const gets = server.requests.slice(before).filter(({ method, path }) => method === 'GET' && /\/alerts\/./.test(path))
          return { applied, threshold: slow.threshold, gets: gets.length }
        },
        clock,
      )
    } finally {
      await server.close()
    }
  }

  it('W8: reads an object again when its list is older than two seconds, and does not overwrite an edit', async () => {
    const { applied, threshold, gets } = await applyDuringEdit(2001, (slow) => {
      slow.threshold = 3
    })
    expect(outcomes(applied)).toEqual({ shop: 'updated', errors: 'updated', slow: 'failed' })
    expect(applied.objects[2]?.message).toContain('has changed since the plan was made and was not written')
    expect(threshold).toBe(3)
    expect(gets).toBe(2)
  })

  it('overwrites only an edit that was made in the two seconds between list and update', async () => {
    const { applied, threshold, gets } = await applyDuringEdit(1500, (slow) => {
      slow.threshold = 3
    })
    expect(outcomes(applied)).toEqual({ shop: 'updated', errors: 'updated', slow: 'updated' })
    expect(threshold).toBe(7)
    expect(gets).toBe(0)
  })
})

it('writes normally when no other user changes anything', () =>
  withShop(async (site) => {
    const files = filesWith({ shop: dashboard({ tiles: [tile('A')] }) }, { errors: alert({ threshold: 2 }) })
    expect(outcomes(await site.apply(files, { prune: true }))).toEqual({ shop: 'updated', errors: 'updated', slow: 'deleted' })
    expect(stateOf(emulator()).filter((text) => text.includes('"Shop"'))).toHaveLength(2)
  }))
