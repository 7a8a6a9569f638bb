import { describe, expect, it } from 'vitest'
import { demo, type Effect } from '../../../../src/emulator/index.ts'
import { alertCollection } from '../../../../src/kinds/alert/alert.ts'
import { errorKinds } from '../../../../src/platform/core/errors.ts'
import { createVirtualClock } from '../../../support/clocks.ts'
import { useEmulator } from '../../../support/emulator.ts'
import { startRawServer } from '../../../support/raw-server.ts'
import { apiErrorOf, openSession, service, type TestSession, withSession } from '../../../support/session.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const list = ({ api }: TestSession) => alertCollection.list(api, service)

describe('time', () => {
  it('R2: holds out against the rate limit until the deadline, not only for a number of attempts', async () => {
    const effect: Effect = { kind: 'rate-limited', headers: { 'retry-after': '10' } }
    const error = await apiErrorOf(
      withSession(emulator(), list, { faults: [{ times: 1000, effect }], connection: { deadlineMs: 205_000 } }),
    )
    expect(error.kind).toBe('rate-limited')
    expect(error.attempts).toBe(21)
  })

  it('R2: a wait takes as long, and leaves as much time, when the wall clock jumps', async () => {
    emulator().addFault({ effect: { kind: 'rate-limited', headers: { 'retry-after': '2' } } })
    const clock = createVirtualClock()
    let days = 0
    const jumping = { ...clock, now: () => clock.now() + 86_400_000 * days++ }
    const session = openSession(emulator().url, {}, jumping)
    await list(session)
    await session.close()
    expect([days > 0, Math.ceil(clock.elapsedMs() / 1000)]).toEqual([true, 2])
  })
})

describe('cancelling', () => {
  it('sends nothing new', async () => {
    await withSession(emulator(), async (session) => {
      session.stop()
      await expect(list(session)).rejects.toMatchObject({ kind: 'canceled', message: 'Canceled. No further requests were sent.' })
    })
    expect(emulator().requests).toHaveLength(0)
  })

  it('lets the request under way come to its end', async () => {
    const { items } = await withSession(
      emulator(),
      async (session) => {
        const listing = list(session)
        setTimeout(session.stop, 50)
        return listing
      },
      { faults: [{ effect: { kind: 'delay', ms: 200 } }] },
    )
    expect(items).toHaveLength(6)
  })

  it('breaks it off when the grace is over, and says that it may have been done', async () => {
    const use = async (session: TestSession) => {
      setTimeout(session.stop, 20)
      setTimeout(session.abort, 60)
      return alertCollection.create(session.api, service, {})
    }
    const error = await apiErrorOf(withSession(emulator(), use, { faults: [{ effect: { kind: 'hang' } }] }))
    expect(error).toMatchObject({ kind: 'canceled', outcomeUnknown: true })
    expect(error.message).toContain('The server may still have applied it')
  })
})

describe('errors say what to do', () => {
  const withKey = ({ id, secret }: { readonly id: string; readonly secret: string }) => ({
    credentials: { keyId: id, keySecret: secret },
  })

  it('names the key that is not accepted, but not all of it', async () => {
    const error = await apiErrorOf(withSession(emulator(), list, { connection: withKey(demo.keys.disabled) }))
    expect(error.kind).toBe('authentication')
    expect(errorKinds[error.kind].exit).toBe(3)
    expect(error.message).toContain('rejects the key demo…0004')
  })

  it('names the permission that is lacking', async () => {
    const error = await apiErrorOf(withSession(emulator(), list, { connection: withKey(demo.keys.billing) }))
    expect(error.kind).toBe('permission')
    expect(errorKinds[error.kind].exit).toBe(3)
    expect(error.message).toContain('needed: control-plane:service:manage-clickstack-api')
  })

  it('S4: a redirect is not followed, and the error names its origin', async () => {
    const target = await startRawServer((wire) => wire.end())
    const origin = `http://127.0.0.1:${target.port}`
    for (const status of [302, 307]) {
      const effect: Effect = { kind: 'status', status, headers: { location: `${origin}/v1/x?a=b` } }
      const error = await apiErrorOf(withSession(emulator(), list, { faults: [{ effect }] }))
      expect(error).toMatchObject({ kind: 'redirect', attempts: 1 })
      expect(error.message).toContain(`The API answered ${status}: a redirect to ${origin}\n`)
    }
    await target.close()
    expect(target.received).toEqual([])
  })

  it('distinguishes a wrong address from an object that does not exist', async () => {
    const elsewhere = await apiErrorOf(withSession(emulator(), list, { connection: { observabilityPath: 'observability' } }))
    expect(elsewhere.kind).toBe('not-served')
    expect(elsewhere.message).toContain('Check api-url and observability-path')
    const unknown = await apiErrorOf(withSession(emulator(), ({ api }) => alertCollection.get(api, service, '0'.repeat(24))))
    expect(unknown.kind).toBe('not-found')
    expect(unknown.message).toContain('The alert does not exist')
  })

  it('never takes more than five lines, whatever the API says', async () => {
    const body = JSON.stringify({ status: 500, error: `${'x\n'.repeat(5000)}::error::y` })
    const error = await apiErrorOf(withSession(emulator(), list, { faults: [{ times: 9, effect: { kind: 'status', status: 500, body } }] }))
    expect(error.message.split('\n').length).toBeLessThanOrEqual(5)
    expect(error.message.length).toBeLessThan(800)
  })
})
