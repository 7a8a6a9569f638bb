import { describe, expect, it } from 'vitest'
import type { Effect, Fault } from '../../../../src/emulator/index.ts'
import { type Alert, alertCollection, toAlertBody } from '../../../../src/kinds/alert/alert.ts'
import { createVirtualClock } from '../../../support/clocks.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { methodsOf, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { apiErrorOf, openSession, service, type TestSession, withSession } from '../../../support/session.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const alertBody = {
  source: 'tile',
  dashboardId: '65f5e4a35eedc0de0000000c',
  tileId: '65f5e4a35eedc0de0000000e',
  threshold: 5,
  thresholdType: 'above',
  interval: '1h',
  channel: { type: 'webhook', webhookId: '65f5e4a35eedc0de00000009' },
  name: 'Test',
}

const create = ({ api }: TestSession) => alertCollection.create(api, service, alertBody)

describe('a create', () => {
  it('W1: a create is not sent again when the server may have acted', () =>
    forEachEntry<[string, Effect]>(
      [
        ['a reset before the answer', { kind: 'reset' }],
        ['a reset in the body', { kind: 'reset-in-body' }],
        ['half an answer', { kind: 'truncate' }],
        ['a captive portal', { kind: 'html' }],
        ['500', { kind: 'status', status: 500 }],
        ['503 with a wait', { kind: 'status', status: 503, headers: { 'retry-after': '1' } }],
        ['504 that commits later', { kind: 'late-commit', ms: 50 }],
        ['408', { kind: 'status', status: 408 }],
        ['a redirect', { kind: 'status', status: 302, headers: { location: '/x' } }],
        ['an answer without an id', { kind: 'body', text: '{"name":"x"}' }],
      ],
      async (_, effect) => {
        const error = await apiErrorOf(withSession(emulator(), create, { faults: [{ act: 'after', effect }] }))
        expect(error).toMatchObject({ kind: 'may-exist', outcomeUnknown: true, attempts: 1 })
        expect(error.message).toContain('The server may still have created the alert')
        expect(methodsOf(emulator())).toEqual(['POST'])
      },
      { before: () => emulator().reset() },
    ))

  it("fails with the API's message when the server refuses it", async () => {
    const error = await apiErrorOf(
      withSession(emulator(), ({ api }) => alertCollection.create(api, service, { ...alertBody, tileId: 'nope' })),
    )
    expect(error).toMatchObject({ kind: 'refused', status: 400, outcomeUnknown: false })
    expect(error.message).toContain('BAD_REQUEST: Tile not found')
  })
})

describe('W10: an update is sent again only if it was not done, and a delete can be repeated', () => {
  const id = '65f5e4a35eedc0de0000001f'
  const stored = () => serviceOf(emulator()).alerts.find((alert) => alert.id === id)
  const update = async ({ api }: TestSession, change: object = {}) => {
    await alertCollection.update(api, service, { id, compose: (before) => ({ ...toAlertBody(before), name: 'Ours', ...change }) })
  }
  const remove = ({ api }: TestSession) => alertCollection.remove(api, service, id)
  const lost = (act: 'before' | 'after'): Fault => ({ match: { method: 'PUT' }, act, effect: { kind: 'reset' } })

  it('W8: an update uses what was read in the last two seconds, and reads the object again after that', async () => {
    await withSession(emulator(), async ({ api, clock }) => {
      const object = await alertCollection.get(api, service, id)
      const reading = { object, readAtMs: clock.monotonicMs() }
      const updateTo = (name: string) =>
        alertCollection.update(api, service, { id, reading, compose: (before) => ({ ...toAlertBody(before), name }) })
      await clock.sleep(2000)
      await updateTo('Recent')
      await clock.sleep(1)
      await updateTo('Late')
    })
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET', 'PUT'])
  })

  it('W8: an update is sent right after a read that takes longer than two seconds, with all that it needs', async () => {
    const seen: string[] = []
    await withSession(emulator(), async ({ api, clock }) => {
      const compose = async (before: Alert) => {
        seen.push(before.name ?? '')
        await clock.sleep(3000)
        if (seen.length === 1) Object.assign(stored() ?? {}, { name: 'Theirs' })
        return { ...toAlertBody(before), threshold: 99 }
      }
      await alertCollection.update(api, service, { id, compose })
    })
    expect(methodsOf(emulator())).toEqual(['GET', 'GET', 'PUT'])
    expect([seen, stored()]).toEqual([['Checkout errors', 'Theirs'], expect.objectContaining({ name: 'Theirs', threshold: 99 })])
  })

  it('W8: a write that waited for the rate limit is preceded by another read, which sees edits of the meantime', async () => {
    const seen: string[] = []
    const removeSeen = ({ api }: TestSession) =>
      alertCollection.remove(api, service, id, { check: ({ name }) => void seen.push(name ?? '') })
    for (const [method, write] of [
      ['PUT', update],
      ['DELETE', removeSeen],
    ] as const) {
      emulator().reset()
      const clock = createVirtualClock()
      const edited = {
        ...clock,
        sleep: async (ms: number, signal?: AbortSignal) => {
          Object.assign(stored() ?? {}, { name: 'Theirs', threshold: 99 })
          await clock.sleep(ms, signal)
        },
      }
      emulator().addFault({ match: { method }, effect: { kind: 'status', status: 429, headers: { 'retry-after': '3' } } })
      const session = openSession(emulator().url, {}, edited)
      await write(session)
      await session.close()
      expect(methodsOf(emulator())).toEqual(['GET', method, 'GET', method])
      if (method === 'PUT') expect(stored()).toMatchObject({ name: 'Ours', threshold: 99 })
    }
    expect(seen).toEqual(['Checkout errors', 'Theirs'])
  })

  it('an update that is not needed any more after another read is not sent', async () => {
    await withSession(emulator(), async ({ api, clock }) => {
      const before = await alertCollection.get(api, service, id)
      Object.assign(stored() ?? {}, { name: 'Ours' })
      await clock.sleep(3000)
      const compose = (current: typeof before) => (current.name === 'Ours' ? undefined : { ...toAlertBody(current), name: 'Ours' })
      const { object, isWritten } = await alertCollection.update(api, service, { id, reading: { object: before, readAtMs: 0 }, compose })
      expect({ name: object.name, isWritten }).toEqual({ name: 'Ours', isWritten: false })
    })
    expect(methodsOf(emulator())).toEqual(['GET', 'GET'])
  })

  it('an update that was carried out is looked up and not sent again', () =>
    forEachEntry<[string, Effect]>(
      [
        ['a reset', { kind: 'reset' }],
        ['503', { kind: 'status', status: 503 }],
        ['half an answer', { kind: 'truncate' }],
      ],
      async (_, effect) => {
        await withSession(emulator(), update, { faults: [{ match: { method: 'PUT' }, act: 'after', effect }] })
        expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET'])
        expect(stored()?.name).toBe('Ours')
      },
      { before: () => emulator().reset() },
    ))

  it('an update that was not done is sent again', async () => {
    await withSession(emulator(), update, { faults: [lost('before')] })
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET', 'PUT'])
    expect(stored()?.name).toBe('Ours')
  })

  it('an update that was not done is sent again although the server evaluated the alert meanwhile', async () => {
    const clock = createVirtualClock()
    const evaluated = {
      ...clock,
      sleep: async (ms: number, signal?: AbortSignal) => {
        Object.assign(stored() ?? {}, { state: 'INSUFFICIENT_DATA' })
        await clock.sleep(ms, signal)
      },
    }
    emulator().addFault(lost('before'))
    const session = openSession(emulator().url, {}, evaluated)
    await update(session)
    await session.close()
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET', 'PUT'])
    expect(stored()).toMatchObject({ name: 'Ours' })
  })

  it('an update that only removes something and was not done is sent again', async () => {
    const before = stored()
    if (before === undefined) throw new Error('the shop has changed')
    before.note = 'to go'
    await withSession(emulator(), (session) => update(session, { name: before.name, note: undefined }), { faults: [lost('before')] })
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET', 'PUT'])
    expect(stored()?.note ?? null).toBeNull()
  })

  it.each(['before', 'after'] as const)('does not overwrite a change that another client made meanwhile (%s it was done)', async (act) => {
    const clock = createVirtualClock()
    const theirs = {
      ...clock,
      sleep: async (ms: number, signal?: AbortSignal) => {
        Object.assign(stored() ?? {}, { name: 'Theirs' })
        await clock.sleep(ms, signal)
      },
    }
    emulator().addFault(lost(act))
    const session = openSession(emulator().url, {}, theirs)
    const error = await apiErrorOf(update(session))
    await session.close()
    expect(error).toMatchObject({ kind: 'network', method: 'PUT', outcomeUnknown: true })
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET'])
    expect(stored()?.name).toBe('Theirs')
  })

  it('an update whose object cannot be read is not sent again', async () => {
    const unseen: Fault = { match: { method: 'GET' }, nth: 2, times: 9, effect: { kind: 'status', status: 503 } }
    const error = await apiErrorOf(withSession(emulator(), update, { faults: [lost('after'), unseen] }))
    expect(error).toMatchObject({ kind: 'network', method: 'PUT', outcomeUnknown: true })
    expect(error.message).toContain('The server may still have applied it')
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET', 'GET', 'GET', 'GET', 'GET'])
  })

  it('reports a missing object when it was deleted after the lost answer', async () => {
    const gone: Fault = { match: { method: 'GET' }, nth: 2, effect: { kind: 'status', status: 404 } }
    const error = await apiErrorOf(withSession(emulator(), update, { faults: [lost('after'), gone] }))
    expect(error).toMatchObject({ kind: 'not-found', method: 'GET' })
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET'])
  })

  it('an update is looked up after every wait, whatever the last attempt returned', async () => {
    const limited: Fault = { match: { method: 'PUT' }, nth: 2, effect: { kind: 'status', status: 429 } }
    await withSession(emulator(), update, { faults: [lost('before'), limited] })
    expect(methodsOf(emulator())).toEqual(['GET', 'PUT', 'GET', 'PUT', 'GET', 'PUT'])
  })

  it('a delete of a missing object succeeds, and reports that it did not exist', async () => {
    await withSession(emulator(), remove)
    expect(await withSession(emulator(), remove)).toBe(false)
  })

  it('a repeated delete succeeds when the answer to the first one was lost', async () => {
    expect(await withSession(emulator(), remove, { faults: [{ act: 'after', effect: { kind: 'reset' } }] })).toBe(true)
    expect(methodsOf(emulator())).toEqual(['DELETE', 'DELETE'])
  })

  it('a delete is done whatever its answer says, and an update whose answer does not fit may be', async () => {
    const answers: readonly Effect[] = [
      ...['', 'null', '[]'].map((text): Effect => ({ kind: 'body', text })),
      { kind: 'status', status: 204 },
    ]
    for (const effect of answers) {
      emulator().reset()
      expect(await withSession(emulator(), remove, { faults: [{ act: 'after', effect }] })).toBe(true)
      expect(methodsOf(emulator())).toEqual(['DELETE'])
    }
    emulator().reset()
    const unfit: Fault = { match: { method: 'PUT' }, times: 9, effect: { kind: 'body', text: '{"id":7}' } }
    const error = await apiErrorOf(withSession(emulator(), update, { faults: [unfit] }))
    expect(error).toMatchObject({ kind: 'bad-answer', outcomeUnknown: true })
    expect(error.message).toContain('the answer.id is not of type string')
    expect(methodsOf(emulator()).filter((method) => method === 'PUT')).toHaveLength(1)
  })
})
