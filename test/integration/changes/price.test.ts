import { beforeEach, describe, expect, it } from 'vitest'
import type { PlanPrice } from '../../../src/changes/price/price-report.ts'
import { demo } from '../../../src/emulator/index.ts'
import { renderTerminal } from '../../../src/platform/report/terminal.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { actions, errors, shop } from '../../support/shop-declaration.ts'
import { afterPull, withSite } from '../../support/site.ts'
import { nowMs, office, putToSleep, type Workload } from '../../support/sleepy-service.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', now: () => nowMs })

const slowOffice: Workload = { ...office, idleTimeoutMinutes: 15, effectiveTimeoutMinutes: 15 }

beforeEach(() => {
  serviceOf(emulator()).alerts = []
  putToSleep(emulator(), 'checkout', slowOffice)
})

const two = {
  errors: { ...errors, interval: '5m' },
  slow: { ...errors, name: 'Slow', tile: 'B', interval: '5m' },
}

const alertsEvery = (interval: string) => ({ dashboards: { shop }, alerts: { errors: { ...errors, interval } } })

async function plan(declared: object, inputs: Readonly<Record<string, string>> = {}) {
  const ran = await invokeText({
    inputs: {
      ...inputsFor(emulator(), 'clickhouse-cloud'),
      operation: 'plan',
      project: 'shop/prices',
      files: 'a.json',
      price: 'true',
      ...inputs,
    },
    files: { 'a.json': JSON.stringify(declared) },
    clock: createVirtualClock(nowMs),
  })
  return {
    ...ran,
    price: (ran.document.price ?? {}) as PlanPrice,
    text: renderTerminal(ran.blocks, { color: false, width: 400 }).join('\n'),
  }
}

const apply = (declared: object) => plan(declared, { operation: 'apply', price: '' })

const pathsOf = (): readonly string[] =>
  emulator().requests.map(({ path }) => path.replace(/^.*organizations\/[^/]+\//, '').split('?')[0] ?? '')

describe('plan with price: true', () => {
  it('tells the same for an alert with a query of its own', async () => {
    const { dashboard: _, tile: __, ...fields } = errors
    const query = { source: 'Logs', select: [{ aggFn: 'count' }] }
    const [own, onTile] = [await plan({ alerts: { errors: { ...fields, query } } }), await plan(alertsEvery(errors.interval))]
    expect(own.document.price).toEqual(onTile.document.price)
  })

  it('tells what a new alert adds, and what it would add with a longer interval', async () => {
    const { text, price } = await plan(alertsEvery('5m'))
    expect(price).toMatchObject({
      unit: 'CHC',
      service: 'checkout',
      idleTimeoutMinutes: 15,
      knownDays: 28,
      isAtMost: false,
      alerts: [{ key: 'errors', action: 'create', interval: '5m', share: price.total?.expected, alternative: { interval: '30m' } }],
    })
    expect(text).toMatch(
      /The plan adds about \+\d+ CHC a month \(\d+ to \d+\)\. checkout slept \d\d% of 28 known days \(idle timeout 15 min\)\./,
    )
    expect(text).toMatch(/Errors +5 min +about \+\d+\. At 30 min: about \+\d+/)
    expect(text).toContain('It was not measured. Inline alerts of dashboards are not listed')
    expect(text).toMatch(/^. (?:warning: )?Plan for \S+ \(\d to create\) · about \+\d+ CHC a month \(\d+ to \d+\)/)
  })

  it('has no lower end on a service that is not read-only', async () => {
    const { price: readOnly } = await plan(alertsEvery('5m'))
    serviceOf(emulator()).isReadonly = false
    const { text, price } = await plan(alertsEvery('5m'))
    expect(price).toMatchObject({ isAtMost: true, total: { ...readOnly.total, low: 0 } })
    expect(text).toContain('merges and more than 10,000 parts')
  })

  it('sends three requests more than without, and the same others', async () => {
    await plan(alertsEvery('5m'), { price: '' })
    const plain = pathsOf()
    emulator().reset()
    serviceOf(emulator()).alerts = []
    await plan(alertsEvery('5m'))
    expect(pathsOf().toSorted()).toEqual([...plain, 'activities', 'services', 'usageCost'].toSorted())
  })

  it('sends no more requests where no alert changes its schedule', async () => {
    await apply(alertsEvery('5m'))
    const before = emulator().requests.length
    const { text } = await plan(alertsEvery('5m'), { 'max-monthly-increase': '0' })
    expect(pathsOf().slice(before)).not.toContain('activities')
    expect(text).toContain('no alert changes its schedule, so the plan adds nothing')
  })

  it('tells what a longer interval or a removal saves at most, and that it adds nothing', async () => {
    await apply(alertsEvery('5m'))
    putToSleep(emulator(), 'checkout', { ...slowOffice, alerts: [{ intervalMs: 300_000, offsetMs: 0 }] })
    const longer = await plan(alertsEvery('1h'))
    expect(longer.price).toMatchObject({ alerts: [{ action: 'update' }], total: { low: 0, expected: 0, high: 0 } })
    expect(longer.text).toMatch(/The plan adds nothing\. .*\n.*\n.*\n.*\nErrors +1 h +saves up to \d+\n/)
    const removed = await plan({ dashboards: { shop } }, { prune: 'true' })
    expect(removed.price.total).toEqual({ low: 0, expected: 0, high: 0 })
    expect(removed.text).toMatch(/Errors +5 min +saves up to \d+/)
  })

  it('adds nothing where the service does not sleep anyway, may not sleep, or another alert keeps it awake', async () => {
    const nothing = { low: 0, expected: 0, high: 0 }
    putToSleep(emulator(), 'checkout', { ...slowOffice, ingestion: { everyMinutes: 5, minutes: 5 } })
    const busy = await plan(alertsEvery('5m'))
    expect(busy.price).toMatchObject({ total: nothing, alerts: [{ share: 0 }] })
    expect(busy.text).toContain('The plan adds nothing. checkout slept 0% of 28 known days')
    expect(busy.text).toContain('nothing, because the service is awake at these times anyway')
    serviceOf(emulator()).idleScaling = false
    const always = await plan(alertsEvery('5m'))
    expect(always.price).toMatchObject({ total: nothing, alerts: [] })
    expect(always.text).toContain('The plan adds nothing. No prices for checkout: idling is off, so it never sleeps')
    serviceOf(emulator()).idleScaling = true
    await apply(alertsEvery('5m'))
    putToSleep(emulator(), 'checkout', slowOffice)
    expect((await plan({ dashboards: { shop }, alerts: two })).price).toMatchObject({ total: nothing, alerts: [{ share: 0 }] })
  })

  it('adds up alerts that keep the service awake for each other', async () => {
    const one = await plan(alertsEvery('5m'))
    const { price } = await plan({ dashboards: { shop }, alerts: two })
    expect(price.total).toEqual(one.price.total)
    expect(price.alerts.map(({ share }) => share)).toEqual([0, 0])
  })

  it('counts the other alerts that change', async () => {
    await apply(alertsEvery('1d'))
    putToSleep(emulator(), 'checkout', slowOffice)
    const shorter = await plan(alertsEvery('5m'))
    const both = await plan({ dashboards: { shop }, alerts: two })
    expect(shorter.price.total?.expected).toBeGreaterThan(10)
    expect(both.price).toMatchObject({ alerts: [{ action: 'update' }, { action: 'create', share: 0 }], total: shorter.price.total })
  })

  it('has no credit for an alert that is deleted, and none for one of the same schedule in its place', async () => {
    await apply(alertsEvery('1h'))
    const moved = (scheduleOffsetMinutes: number) => ({
      dashboards: { shop },
      alerts: { moved: { ...errors, name: 'Moved', tile: 'B', interval: '1h', scheduleOffsetMinutes } },
    })
    const [alone, replaced] = [await plan(moved(30)), await plan(moved(30), { prune: 'true' })]
    expect(alone.price.total?.expected).toBeGreaterThan(10)
    expect(replaced.price.total).toEqual(alone.price.total)
    expect((await plan(moved(0), { prune: 'true' })).price.total).toEqual({ low: 0, expected: 0, high: 0 })
  })

  it('counts a disabled alert only if apply creates it again, which enables it', async () => {
    await apply(alertsEvery('1h'))
    for (const alert of serviceOf(emulator()).alerts) alert.state = 'DISABLED'
    expect((await plan(alertsEvery('5m'))).price).toMatchObject({ alerts: [], total: { high: 0 } })
    const moved = { dashboards: { shop: { ...shop, tiles: shop.tiles.slice(1) } }, alerts: { errors: { ...errors, tile: 'B' } } }
    const { price } = await plan(moved)
    expect(price.alerts).toEqual([expect.objectContaining({ action: 'replace', share: price.total?.expected })])
    expect(price.total?.expected).toBeGreaterThan(10)
  })

  it('does not count an alert that apply leaves as it is', () =>
    withSite(
      emulator(),
      'clickhouse-cloud',
      async (site) => {
        const files = { 'a.json': alertsEvery('5m') }
        await site.apply(files)
        const [alert = {}] = serviceOf(emulator()).alerts
        Object.assign(alert, { note: 'n' })
        const pulled = afterPull(files, await site.pull(files, ['**'], { only: 'declared' }))
        Object.assign(alert, { interval: '1d' })
        const planned = await site.plan(pulled, { price: true })
        expect(actions(planned)).toEqual({ errors: 'held', shop: 'unchanged' })
        expect(planned.price).toMatchObject({ alerts: [], total: { high: 0 } })
      },
      createVirtualClock(nowMs),
    ))
})

/** So many alerts, one every ten minutes. */
const alertsApart = (count: number, interval: string) => ({
  dashboards: { shop },
  alerts: Object.fromEntries(
    Array.from({ length: count }, (_, i) => {
      const scheduleOffsetMinutes = interval === '1d' ? 10 * (i % 70) + 720 * Math.floor(i / 70) : 10 * i
      return [`a${i}`, { ...errors, name: `Alert ${i}`, interval, scheduleOffsetMinutes }]
    }),
  ),
})

describe('max-monthly-increase', () => {
  const judged = async (declared: object, max: number, inputs: Readonly<Record<string, string>> = {}) => {
    const { document } = await plan(declared, { 'max-monthly-increase': String(max), ...inputs })
    return [document.status, document.failureReason]
  }

  it('V9: max-monthly-increase compares the upper end of the price, also on a service that is read-only', { tags: 'slow' }, async () => {
    for (const isReadonly of [true, false]) {
      serviceOf(emulator()).isReadonly = isReadonly
      const { total = { expected: 0, high: 0 } } = (await plan(alertsEvery('5m'))).price
      const [above, below] = [Math.ceil(total.high), Math.floor(total.high)]
      expect(total.expected).toBeLessThan(below - 1)
      expect(await judged(alertsEvery('5m'), above)).toEqual(['pass', ''])
      const reason = `: the changed alerts add up to ${above} CHC a month, above ${below}`
      expect(await judged(alertsEvery('5m'), below)).toEqual(['fail', expect.stringContaining(reason)])
    }
  })

  it('V9: max-monthly-increase is exceeded by many alerts that add little each, as by fewer with the same evaluations', {
    tags: 'slow',
  }, async () => {
    const [daily, halfDaily] = [await plan(alertsApart(140, '1d')), await plan(alertsApart(70, '12h'))]
    expect(daily.price.total).toEqual(halfDaily.price.total)
    expect(Math.max(...daily.price.alerts.map(({ share }) => share))).toBeLessThan(1)
    expect((await judged(alertsApart(140, '1d'), 100))[0]).toBe('fail')
  })

  it('V9: the price counts an alert for a full month, however far ahead its start is', { tags: 'slow' }, async () => {
    const ahead = (days: number) => ({
      dashboards: { shop },
      alerts: { errors: { ...errors, scheduleStartAt: new Date(nowMs + days * 86_400_000).toISOString() } },
    })
    const { price } = await plan(alertsEvery('5m'))
    for (const days of [0, 35, 364]) expect((await plan(ahead(days))).price.total, String(days)).toEqual(price.total)
    expect((await judged(ahead(35), 50))[0]).toBe('fail')
  })

  it('V9: an alert that is silenced until later makes no other alert free', { tags: 'slow' }, async () => {
    const { price } = await plan(alertsEvery('5m'))
    const slow = { ...two.slow, interval: '1m' }
    await apply({ dashboards: { shop }, alerts: { slow } })
    Object.assign(serviceOf(emulator()).alerts[0] ?? {}, { scheduleStartAt: new Date(nowMs + 7 * 86_400_000).toISOString() })
    const beside = await plan({ dashboards: { shop }, alerts: { errors: two.errors, slow } })
    expect(beside.price.total).toEqual(price.total)
    const removed = await plan({ dashboards: { shop }, alerts: { errors: two.errors } }, { prune: 'true' })
    expect(removed.price).toEqual({ ...price, alerts: [expect.objectContaining({ action: 'create' })] })
    expect((await plan({ dashboards: { shop }, alerts: { ...two } })).price.total).toEqual(price.total)
    expect((await plan({ dashboards: { shop }, alerts: { slow: { ...slow, note: 'Other' } } })).price.total?.high).toBe(0)
    expect(price.total?.high).toBeGreaterThan(1)
  })

  it('V9: max-monthly-increase fails where the state of the service does not tell how it sleeps, unless on-missing accepts it', {
    tags: 'slow',
  }, async () => {
    const service = serviceOf(emulator())
    const { state } = service
    const cases: readonly [object, string][] = [
      [{ state: 'stopped' }, 'its state is stopped, which does not show how it sleeps'],
      [{ state: 'terminated', idleScaling: false }, 'its state is terminated'],
      [{ idleScaling: null }, 'the API does not say whether the service may sleep'],
      [{ idleTimeoutMinutes: null }, 'the API does not say whether the service may sleep'],
    ]
    for (const [fields, why] of cases) {
      putToSleep(emulator(), 'checkout', slowOffice)
      Object.assign(service, { state, ...fields })
      const { price } = await plan(alertsEvery('5m'))
      expect(price, why).toMatchObject({ alerts: [], message: expect.stringContaining(why) })
      expect(price, why).not.toHaveProperty('total')
      const named = 'could not be checked without an estimate for checkout'
      const failed = expect.stringContaining(`${named} (on-missing: warn accepts this): ${why}`)
      expect(await judged(alertsEvery('5m'), 1000), why).toEqual(['fail', failed])
      const warned = expect.stringContaining(`${named}: ${why}`)
      expect(await judged(alertsEvery('5m'), 1000, { 'on-missing': 'warn' }), why).toEqual(['warn', warned])
      expect(await judged(alertsEvery('5m'), 1000, { 'on-missing': 'ignore' }), why).toEqual(['pass', ''])
    }
  })

  it('passes deletes on a stopped service, because they add nothing', async () => {
    await apply(alertsEvery('5m'))
    serviceOf(emulator()).state = 'stopped'
    expect(await judged({ dashboards: { shop } }, 0, { prune: 'true' })).toEqual(['pass', ''])
  })

  it('V9: max-monthly-increase fails without activities or usage, after a change of scaling, and where the service slept through its alerts', async () => {
    const [organization] = emulator().store.organizations
    organization?.activities.push({
      id: 'x',
      type: 'service_update_autoscaling_memory',
      createdAt: new Date(nowMs - 8 * 86_400_000).toISOString(),
      serviceId: demo.services.checkout,
    })
    expect(await judged(alertsEvery('5m'), 1000)).toEqual(['fail', expect.stringContaining('fewer than 7 final days are completely known')])
    putToSleep(emulator(), 'checkout', slowOffice)
    await apply(alertsEvery('5m'))
    for (const alert of serviceOf(emulator()).alerts) alert.createdAt = alert.updatedAt = '2026-01-01T00:00:00Z'
    expect(await judged(alertsEvery('1m'), 1000)).toEqual(['fail', expect.stringContaining('the service slept although alerts were')])
    serviceOf(emulator()).alerts = []
    for (const permission of ['control-plane:organization:view-activities', 'control-plane:organization:view']) {
      for (const key of emulator().store.keys) key.permissions = key.permissions.filter((one) => one !== permission)
      expect(await judged(alertsEvery('5m'), 1000)).toEqual(['fail', expect.stringContaining('control-plane:organization:view')])
    }
  })

  it('V9: max-monthly-increase fails where the warehouse is shared and the sources use several connections', async () => {
    const service = serviceOf(emulator())
    const [source] = service.sources
    Object.assign(service, {
      sources: [...service.sources, { ...source, id: '65f5e4a35eedc0de00ffffff', kind: 'log', name: 'Other', connection: 'other' }],
    })
    expect(await judged(alertsEvery('5m'), 1000)).toEqual(['fail', expect.stringContaining('the sources use more than one connection')])
  })

  it('requires price: true, and on-missing a gate that it is for', async () => {
    const { document } = await plan(alertsEvery('5m'), { price: '', 'max-monthly-increase': '1', 'on-missing': 'warn' })
    expect(document.failureReason).toContain('max-monthly-increase: requires price: true')
    expect(document.failureReason).toContain('on-missing: requires backtest: true or price: true')
  })

  it('is not needed for a plan whose price is not known', async () => {
    for (const key of emulator().store.keys)
      key.permissions = key.permissions.filter((one) => one !== 'control-plane:organization:view-activities')
    const { text, exitCode, document } = await plan(alertsEvery('5m'))
    expect([exitCode, document.status]).toEqual([0, 'pass'])
    expect(text).toMatch(/No prices for checkout: .*control-plane:organization:view-activities/)
  })
})
