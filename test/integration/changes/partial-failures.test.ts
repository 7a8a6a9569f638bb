// W5 and W6: one bad object does not stop the others; an API that fails does.
import { describe, expect, it } from 'vitest'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, serviceOf, storesNothing, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { outcomes, shop, twentyObjects } from '../../support/shop-declaration.ts'
import { markersIn } from '../../support/site.ts'

const emulator = useEmulator({ rateLimit: 'off' })

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

/** Requests before the first write: five lists, and a validation of each dashboard. */
const [lists, validations] = [5, 3]

const writes = () => emulator().requests.filter((request) => request.method !== 'GET' && !storesNothing(request))

describe('W5: an object that the API rejects with 400 does not stop the others', () => {
  const refuseThird = () =>
    emulator().addFault({
      match: { method: 'POST' },
      nth: validations + 3,
      effect: { kind: 'status', status: 400, body: '{"error":"BAD_REQUEST: no such thing"}' },
    })

  it('fails a rejected object, skips what depends on it, and writes all others with exit 4', async () => {
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

  it('leaves only the failed object and its dependents to the next run', async () => {
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

  it('exits with 1 when the only object fails', async () => {
    emulator().addFault({ match: { method: 'POST' }, nth: 2, effect: { kind: 'status', status: 400 } })
    const ran = await apply({ dashboards: { one: shop } })
    expect([ran.exitCode, ran.outputs.changed]).toEqual([1, 'false'])
  })
})

describe('a create without an answer', () => {
  it('looks for an object whose create got no answer, and then writes what depends on it, again if that got no answer either', async () => {
    emulator().addFault({ match: { method: 'POST' }, nth: validations + 2, act: 'after', effect: { kind: 'status', status: 502 } })
    emulator().addFault({ match: { method: 'POST' }, nth: validations + 6, act: 'before', effect: { kind: 'status', status: 502 } })
    const ran = await apply(six())
    expect(new Set(Object.values(ran.outcomes))).toEqual(new Set(['created']))
    expect(writes()).toHaveLength(6 + 1)
    expect([ran.exitCode, ran.outputs.status]).toEqual([0, 'pass'])
  })
})

describe('W6: an API that fails stops apply after five failures in a row', () => {
  const twenty = () => twentyObjects(webhookId())

  it('sends five more creates after the API began to fail, and no more', async () => {
    emulator().addFault({ nth: lists + validations + 17, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 503 } })
    const ran = await apply(twenty())
    const kinds = Object.values(ran.outcomes)
    const count = (kind: string) => kinds.filter((one) => one === kind).length
    // Before a create, the list is read again when it is old, because the client waited for its own limit of ten requests.
    expect([count('created'), count('unknown'), count('failed'), count('skipped')]).toEqual([14, 5, 0, 1])
    expect(writes()).toHaveLength(14 + 5)
    // Creates without an answer are looked for in lists, which are tried five times.
    expect(emulator().requests.length).toBeLessThanOrEqual(lists + validations + 14 + 5 + 1 + 2 * 5)
    expect(ran.exitCode).toBe(4)
  })

  it('does not try to update every object of an API that fails', { tags: 'slow' }, async () => {
    await apply(twenty())
    const { dashboards, alerts } = twenty()
    const changed = Object.fromEntries(Object.entries(alerts).map(([key, one]) => [key, { ...one, threshold: 99 }]))
    const before = emulator().requests.length
    emulator().addFault({ nth: lists + 5, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 503 } })
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
    expect(ran.exitCode).toBe(4)
  })
})

describe('W6: a key that the API refuses is used once', () => {
  it('sends nothing else when the key is refused, and exits with 3 at the first write and with 4 in the middle', async () => {
    for (const [status, why] of [
      [401, 'the service does not accept the key'],
      [403, 'the key lacks a permission'],
    ] as const) {
      for (const nth of [1, 3]) {
        emulator().reset()
        emulator().addFault({
          match: { method: 'POST' },
          nth: validations + nth,
          times: Number.POSITIVE_INFINITY,
          effect: { kind: 'status', status },
        })
        const ran = await apply(six())
        const message = `${status} at write ${nth}`
        expect([ran.exitCode, writes().length], message).toEqual([nth === 1 ? 3 : 4, nth])
        expect(Object.values(ran.outcomes), message).toEqual([
          ...Array(nth - 1).fill('created'),
          'failed',
          ...Array(6 - nth).fill('skipped'),
        ])
        if (nth > 1) continue
        expect([emulator().requests.length, markersIn(emulator())], message).toEqual([lists + validations + 1, []])
        expect(ran.reason).toContain(`stopped because ${why}`)
      }
    }
  })

  it('reads no list with a refused key after a create without an answer', async () => {
    emulator().addFault({ match: { method: 'POST' }, nth: validations + 1, act: 'after', effect: { kind: 'status', status: 502 } })
    emulator().addFault({ match: { method: 'POST' }, nth: validations + 2, effect: { kind: 'status', status: 401 } })
    const ran = await apply(six())
    expect(Object.values(ran.outcomes)).toEqual(['unknown', 'failed', 'skipped', 'skipped', 'skipped', 'skipped'])
    expect(emulator().requests).toHaveLength(lists + validations + 2)
    expect([ran.exitCode, ran.outputs.changed]).toEqual([4, 'false'])
  })

  it('exits with 3 when the key is refused at the first list', async () => {
    emulator().addFault({ effect: { kind: 'status', status: 403 } })
    expect((await apply(six())).exitCode).toBe(3)
  })
})

describe('the time for the whole operation', () => {
  it('ends a run that has used up its time, and reports what was done', async () => {
    emulator().addFault({
      match: { method: 'POST' },
      nth: validations + 3,
      effect: { kind: 'rate-limited', headers: { 'retry-after': '900' } },
    })
    const ran = await apply(six())
    expect(Object.values(ran.outcomes)).toEqual(['created', 'created', 'failed', 'skipped', 'skipped', 'skipped'])
    expect([ran.exitCode, writes().length]).toEqual([4, 3])
    expect(ran.reason).toContain('stopped because the rate limit does not allow more requests in time')
  })

  it('does not wait beyond the deadline to look for a create without an answer', async () => {
    emulator().addFault({ match: { method: 'POST' }, nth: 2, act: 'before', effect: { kind: 'status', status: 502 } })
    const clock = createVirtualClock(Date.now())
    const ran = await apply({ dashboards: { one: shop } }, { 'timeout-seconds': '20' }, clock)
    expect(ran.outcomes).toEqual({ one: 'unknown' })
    expect(ran.reason).toContain('1 object may have been written')
    expect(clock.elapsedMs()).toBeLessThan(20_000)
  })
})

it('an update whose answer and object could not be read is found in the list after the writes', async () => {
  const content = (threshold: number) => ({ dashboards: { one: shop }, alerts: { errors: { ...alert('one', 'Errors'), threshold } } })
  await apply(content(1))
  const id = serviceOf(emulator()).alerts.find(({ name }) => name === 'Errors')?.id ?? ''
  emulator().addFault({ match: { method: 'PUT' }, act: 'after', effect: { kind: 'reset' } })
  emulator().addFault({ match: { method: 'GET', path: `/alerts/${id}` }, nth: 2, times: 99, effect: { kind: 'status', status: 503 } })
  expect((await apply(content(2))).outcomes).toEqual({ one: 'unchanged', errors: 'updated' })
})
