// W5 and W6: one bad object does not stop the others; an API that fails does.
import { describe, expect, it } from 'vitest'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { outcomes, shop, twentyObjects } from '../../support/shop-declaration.ts'
import { markersIn } from '../../support/site.ts'

const emulator = useEmulator()

const webhookId = (): string => serviceOf(emulator()).webhooks[0]?.id ?? ''

const alert = (dashboard: string, name: string) => ({
  name,
  dashboard,
  tile: 'A',
  threshold: 1,
  interval: '5m',
  channel: { type: 'webhook', webhookId: webhookId() },
})

/** Six objects; the third is a dashboard with an alert on it. */
const six = () => ({
  dashboards: { one: shop, two: { ...shop, name: 'Two' }, three: { ...shop, name: 'Three' } },
  alerts: { 'on-one': alert('one', 'On one'), 'on-three': alert('three', 'On three'), 'on-two': alert('two', 'On two') },
})

async function apply(content: object, inputs: Readonly<Record<string, string>> = {}, clock = createVirtualClock(Date.now())) {
  const ran = await invokeText({
    clock,
    inputs: { ...inputsFor(emulator()), operation: 'apply', project: 'shop/six', files: 'a.json', ...inputs },
    files: { 'a.json': JSON.stringify(content) },
  })
  const { objects = [] } = ran.document as unknown as Partial<Parameters<typeof outcomes>[0]>
  return { ...ran, outcomes: outcomes({ objects }) }
}

const writes = () => emulator().requests.filter(({ method }) => method !== 'GET')

describe('a 400 for the third of six objects', () => {
  const refuseThird = () =>
    emulator().addFault({
      match: { method: 'POST' },
      nth: 3,
      effect: { kind: 'status', status: 400, body: '{"error":"BAD_REQUEST: no such thing"}' },
    })

  it('fails it, skips what depends on it, and writes all others: exit 4', async () => {
    refuseThird()
    const ran = await apply(six())
    expect(ran.outcomes).toEqual({
      one: 'created',
      two: 'created',
      three: 'failed',
      'on-one': 'created',
      'on-three': 'skipped',
      'on-two': 'created',
    })
    expect([ran.exitCode, ran.outputs.status, ran.outputs.changed]).toEqual([4, 'error', 'true'])
    expect(ran.reason).toBe(
      'Applied in part to shop/six (1 failed, 1 skipped, 4 created): dashboard three: The API answered 400: BAD_REQUEST: no such thing',
    )
    const objects = ran.document.objects as readonly { readonly key: string; readonly message?: string }[]
    expect(objects.find(({ key }) => key === 'three')?.message).toContain('BAD_REQUEST: no such thing')
    expect(objects.find(({ key }) => key === 'on-three')?.message).toBe('dashboards.three was not written')
  })

  it('ends the run with on-error stop', async () => {
    refuseThird()
    const ran = await apply(six(), { 'on-error': 'stop' })
    expect(ran.outcomes).toEqual({
      one: 'created',
      two: 'created',
      three: 'failed',
      'on-one': 'skipped',
      'on-three': 'skipped',
      'on-two': 'skipped',
    })
    expect([ran.exitCode, writes().length]).toEqual([4, 3])
    expect(ran.reason).toContain('stopped because another object failed (on-error: stop)')
  })

  it('is all that the next run has to do', async () => {
    refuseThird()
    await apply(six())
    const ran = await apply(six())
    expect(ran.outcomes).toEqual({
      one: 'unchanged',
      two: 'unchanged',
      three: 'created',
      'on-one': 'unchanged',
      'on-three': 'created',
      'on-two': 'unchanged',
    })
    expect([ran.exitCode, ran.outputs.status]).toEqual([0, 'pass'])
  })

  it('is exit 1 where nothing else was to be written', async () => {
    emulator().addFault({ match: { method: 'POST' }, effect: { kind: 'status', status: 400 } })
    const ran = await apply({ dashboards: { one: shop } })
    expect([ran.exitCode, ran.outputs.changed]).toEqual([1, 'false'])
  })
})

describe('a create without an answer', () => {
  it('behind another that was answered is looked for, and then what depends on it is written', async () => {
    emulator().addFault({ match: { method: 'POST' }, nth: 2, act: 'after', effect: { kind: 'status', status: 502 } })
    const ran = await apply(six())
    expect(new Set(Object.values(ran.outcomes))).toEqual(new Set(['created']))
    expect([ran.exitCode, ran.outputs.status]).toEqual([0, 'pass'])
  })
})

describe('an API that answers 503 from the twentieth request on', () => {
  const twenty = () => twentyObjects(webhookId())

  it('is asked for five more creates, and then no more', async () => {
    emulator().addFault({ nth: 20, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 503 } })
    const ran = await apply(twenty())
    const kinds = Object.values(ran.outcomes)
    const count = (kind: string) => kinds.filter((one) => one === kind).length
    expect([count('created'), count('unknown'), count('skipped')]).toEqual([16, 4, 0])
    // Three lists and sixteen creates; four without an answer; and a list that is tried five times to settle them.
    expect(emulator().requests.length).toBeLessThanOrEqual(3 + 16 + 4 + 5 + 10)
    expect(ran.exitCode).toBe(1)
  })

  it('is not asked to update everything that there is', async () => {
    await apply(twenty())
    const { dashboards, alerts } = twenty()
    const changed = Object.fromEntries(Object.entries(alerts).map(([key, one]) => [key, { ...one, threshold: 99 }]))
    const before = emulator().requests.length
    emulator().addFault({ nth: 8, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 503 } })
    const ran = await apply({ dashboards, alerts: changed })
    const kinds = Object.values(ran.outcomes)
    const count = (wanted: string) => kinds.filter((kind) => kind === wanted).length
    const attempted = count('failed') + count('unknown')
    // Those that were under way when the fifth failed are the last.
    expect(attempted).toBeGreaterThanOrEqual(5)
    expect(attempted).toBeLessThanOrEqual(10)
    expect(count('updated') + attempted + count('skipped')).toBe(17)
    // Each is tried five times, and read once more where an update may have been applied.
    expect(emulator().requests.length - before).toBeLessThanOrEqual(7 + 6 * attempted)
    expect(ran.reason).toContain('stopped because the API is failing: 5 objects in a row could not be written')
    // 1 where the outcome of an update stayed unknown.
    expect([1, 4]).toContain(ran.exitCode)
  })
})

describe('a key that is refused', () => {
  it.each([
    [401, 'the service does not accept the key'],
    [403, 'the key lacks a permission'],
  ])('with %i at the first write: nothing else is sent, exit 3', async (status, why) => {
    emulator().addFault({ match: { method: 'POST' }, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status } })
    const ran = await apply(six())
    expect(writes()).toHaveLength(1)
    expect(emulator().requests).toHaveLength(4)
    expect([ran.exitCode, markersIn(emulator())]).toEqual([3, []])
    expect(ran.reason).toContain(`stopped because ${why}`)
    expect(Object.values(ran.outcomes)).toEqual(['failed', ...Array(5).fill('skipped')])
  })

  it.each([401, 403])('with %i in the middle: what was written is said, exit 4', async (status) => {
    emulator().addFault({ match: { method: 'POST' }, nth: 3, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status } })
    const ran = await apply(six())
    expect([ran.exitCode, writes().length]).toEqual([4, 3])
    expect(Object.values(ran.outcomes)).toEqual(['created', 'created', 'failed', 'skipped', 'skipped', 'skipped'])
  })

  it('after a create without an answer: not even the list is read that would settle it', async () => {
    emulator().addFault({ match: { method: 'POST' }, act: 'after', effect: { kind: 'status', status: 502 } })
    emulator().addFault({ match: { method: 'POST' }, nth: 2, effect: { kind: 'status', status: 401 } })
    const ran = await apply(six())
    expect(Object.values(ran.outcomes)).toEqual(['unknown', 'failed', 'skipped', 'skipped', 'skipped', 'skipped'])
    expect(emulator().requests).toHaveLength(5)
    expect([ran.exitCode, ran.outputs.changed]).toEqual([1, 'false'])
  })

  it('at the first list: exit 3', async () => {
    emulator().addFault({ effect: { kind: 'status', status: 403 } })
    expect((await apply(six())).exitCode).toBe(3)
  })
})

describe('the time for the whole operation', () => {
  it('ends a run that has used it up, and the report says what was done', async () => {
    emulator().addFault({ match: { method: 'POST' }, nth: 3, effect: { kind: 'rate-limited', headers: { 'retry-after': '900' } } })
    const ran = await apply(six())
    expect(Object.values(ran.outcomes)).toEqual(['created', 'created', 'failed', 'skipped', 'skipped', 'skipped'])
    expect([ran.exitCode, writes().length]).toEqual([4, 3])
    expect(ran.reason).toContain('stopped because the rate limit does not allow more requests in time')
  })

  it('does not wait beyond the deadline: a create without an answer stays unknown', async () => {
    emulator().addFault({ match: { method: 'POST' }, act: 'before', effect: { kind: 'status', status: 502 } })
    const clock = createVirtualClock(Date.now())
    const ran = await apply({ dashboards: { one: shop } }, { 'timeout-seconds': '20' }, clock)
    expect(ran.outcomes).toEqual({ one: 'unknown' })
    expect(ran.reason).toContain('1 object may have been written')
    expect(clock.elapsedMs()).toBeLessThan(20_000)
  })
})
