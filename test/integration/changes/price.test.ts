import { beforeEach, describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { renderTerminal } from '../../../src/platform/report/terminal.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { errors, shop } from '../../support/shop-declaration.ts'
import { nowMs, office, putToSleep, type Workload } from '../../support/sleepy-service.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', now: () => nowMs })

const slowOffice: Workload = { ...office, idleTimeoutMinutes: 15, effectiveTimeoutMinutes: 15 }

beforeEach(() => {
  serviceOf(emulator()).alerts = []
  putToSleep(emulator(), 'checkout', slowOffice)
})

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
  return { ...ran, text: renderTerminal(ran.blocks, { color: false, width: 400 }).join('\n') }
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
    const { text, document } = await plan(alertsEvery('5m'))
    expect(document.price).toMatchObject({
      unit: 'CHC',
      service: 'checkout',
      idleTimeoutMinutes: 15,
      knownDays: 28,
      isAtMost: false,
      alerts: [{ key: 'errors', action: 'create', interval: '5m', status: 'adds', alternative: { interval: '30m' } }],
    })
    expect(text).toMatch(
      /every 5 min on checkout \(idle timeout 15 min\): the service slept \d\d% of 28 known days and would not sleep any more: about \+\d+ CHC a month \(\d+ to \d+\)\. At 30 min: about \+\d+ CHC/,
    )
    expect(text).toContain('It was not measured. Inline alerts of dashboards are not listed')
    expect(text).toMatch(/^. (?:warning: )?Plan for \S+ \(\d to create\) · about \+\d+ CHC a month/)
  })

  it('plan with price: true has no lower end on a service that is not read-only', async () => {
    serviceOf(emulator()).isReadonly = false
    const { text, document } = await plan(alertsEvery('5m'))
    expect(document.price).toMatchObject({ isAtMost: true, alerts: [{ low: 0 }] })
    expect(text).toContain('at most about +')
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
    const { text } = await plan(alertsEvery('5m'))
    expect(pathsOf().slice(before)).not.toContain('activities')
    expect(text).toContain('no alert changes its schedule')
  })

  it('tells what a longer interval or a removal saves at most', async () => {
    await apply(alertsEvery('5m'))
    putToSleep(emulator(), 'checkout', { ...slowOffice, alerts: [{ intervalMs: 300_000, offsetMs: 0, startMs: undefined }] })
    const longer = await plan(alertsEvery('1h'))
    expect(longer.document.price).toMatchObject({ alerts: [{ action: 'update', status: 'saves', low: 0 }] })
    expect(longer.text).toMatch(/the change saves up to \d+ CHC a month\. The lower limit is 0/)
    const removed = await plan({ dashboards: { shop } }, { prune: 'true' })
    expect(removed.text).toMatch(/deleting it saves up to \d+ CHC/)
  })

  it('adds nothing where the service does not sleep anyway, may not sleep, or another alert keeps it awake', async () => {
    putToSleep(emulator(), 'checkout', { ...slowOffice, ingestion: { everyMinutes: 5, minutes: 5 } })
    expect((await plan(alertsEvery('5m'))).text).toContain('nothing, because the service does not sleep')
    serviceOf(emulator()).idleScaling = false
    expect((await plan(alertsEvery('5m'))).text).toContain('nothing, because idling is off')
    serviceOf(emulator()).idleScaling = true
    await apply(alertsEvery('5m'))
    putToSleep(emulator(), 'checkout', slowOffice)
    const two = { ...alertsEvery('5m').alerts, slow: { ...errors, name: 'Slow', tile: 'B', interval: '5m' } }
    expect((await plan({ dashboards: { shop }, alerts: two })).text).toContain(
      'other alerts or queries keep the service awake at the same times',
    )
  })

  it('prices two alerts together, because one can keep the service awake for the other', async () => {
    const two = { ...alertsEvery('5m').alerts, slow: { ...errors, name: 'Slow', tile: 'B', interval: '5m' } }
    const { document } = await plan({ dashboards: { shop }, alerts: two })
    const { alerts, total } = document.price as { alerts: readonly { expected: number }[]; total: { expected: number } }
    expect(alerts.map(({ expected }) => expected)).toEqual([total.expected, total.expected])
  })

  it('plan with price: true is not estimable after a change of scaling, or where the service slept through its alerts', async () => {
    const [organization] = emulator().store.organizations
    organization?.activities.push({
      id: 'x',
      type: 'service_update_autoscaling_memory',
      createdAt: new Date(nowMs - 8 * 86_400_000).toISOString(),
      serviceId: demo.services.checkout,
    })
    expect((await plan(alertsEvery('5m'))).text).toContain('not estimable: fewer than 7 final days are completely known')
    putToSleep(emulator(), 'checkout', slowOffice)
    await apply(alertsEvery('5m'))
    for (const alert of serviceOf(emulator()).alerts) alert.createdAt = alert.updatedAt = '2026-01-01T00:00:00Z'
    expect((await plan(alertsEvery('1m'))).text).toContain('the service slept although alerts were evaluated')
  })

  it('plan with price: true is not estimable where the warehouse is shared and sources use several connections', async () => {
    const service = serviceOf(emulator())
    const [source] = service.sources
    service.sources = [...service.sources, { ...source, id: '65f5e4a35eedc0de00ffffff', kind: 'log', name: 'Other', connection: 'other' }]
    expect((await plan(alertsEvery('5m'))).text).toContain('the sources use more than one connection')
  })

  it('fails above max-monthly-increase, and where an alert has no estimate', async () => {
    const judged = async (declared: object, max: string) => {
      const { document } = await plan(declared, { 'max-monthly-increase': max })
      return [document.status, document.failureReason]
    }
    expect(await judged(alertsEvery('5m'), '100000')).toEqual(['pass', ''])
    expect(await judged(alertsEvery('5m'), '0')).toEqual(['fail', expect.stringMatching(/: the changed alerts add \d+ of 0 CHC a month$/)])
    const [source] = serviceOf(emulator()).sources
    const other = { ...source, id: '65f5e4a35eedc0de00ffffff', kind: 'log', name: 'Other', connection: 'other' }
    Object.assign(serviceOf(emulator()), { sources: [...serviceOf(emulator()).sources, other] })
    expect(await judged(alertsEvery('5m'), '100000')).toEqual(['fail', expect.stringContaining('could not be checked for')])
    const { document } = await plan(alertsEvery('5m'), { price: '', 'max-monthly-increase': '1' })
    expect(document.failureReason).toContain('max-monthly-increase: requires price: true')
  })

  it('names a missing permission, and does not fail', async () => {
    for (const key of emulator().store.keys)
      key.permissions = key.permissions.filter((one) => one !== 'control-plane:organization:view-activities')
    const { text, exitCode, document } = await plan(alertsEvery('5m'))
    expect([exitCode, document.status]).toEqual([0, 'pass'])
    expect(text).toMatch(/No prices: .*control-plane:organization:view-activities/)
  })
})
