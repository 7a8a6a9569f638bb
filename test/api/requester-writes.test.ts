import { describe, expect, it } from 'vitest'
import type { Effect, Fault } from '../../src/emulator/index.ts'
import { methodsOf, useEmulator } from '../support/emulator.ts'
import { apiErrorOf, service, type TestSession, withSession } from '../support/session.ts'

const emulator = useEmulator()

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

const create = ({ api }: TestSession) => api.alerts.create(service, alertBody)

describe('a create', () => {
  it.each<[string, Effect]>([
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
  ])('is not sent again after %s, because the server may have acted', async (_, effect) => {
    const error = await apiErrorOf(withSession(emulator(), create, { faults: [{ act: 'after', effect }] }))
    expect(error).toMatchObject({ kind: 'may-exist', mayHaveActed: true, attempts: 1 })
    expect(error.message).toContain('The server may have created the alert all the same')
    expect(methodsOf(emulator())).toEqual(['POST'])
  })

  it.each<[string, Effect]>([
    ['the rate limit', { kind: 'rate-limited' }],
    ['the rate limit without a word', { kind: 'rate-limited', headers: {} }],
  ])('is sent again after %s, because the server certainly did nothing', async (_, effect) => {
    const before = emulator().store.organizations[0]?.services[0]?.alerts.length ?? 0
    await withSession(emulator(), create, { faults: [{ effect }] })
    expect(methodsOf(emulator())).toEqual(['POST', 'POST'])
    expect(emulator().store.organizations[0]?.services[0]?.alerts).toHaveLength(before + 1)
  })

  it("is refused for good with the API's own words", async () => {
    const error = await apiErrorOf(withSession(emulator(), ({ api }) => api.alerts.create(service, { ...alertBody, tileId: 'nope' })))
    expect(error).toMatchObject({ kind: 'refused', status: 400, mayHaveActed: false })
    expect(error.message).toContain('BAD_REQUEST: tileId: tile nope does not exist')
  })
})

describe('an update and a delete', () => {
  const update = ({ api }: TestSession) => api.alerts.update(service, '65f5e4a35eedc0de0000001f', alertBody)
  const remove = ({ api }: TestSession) => api.alerts.remove(service, '65f5e4a35eedc0de0000001f')

  it.each<[string, Effect]>([
    ['a reset', { kind: 'reset' }],
    ['503', { kind: 'status', status: 503 }],
    ['half an answer', { kind: 'truncate' }],
  ])('after %s an update is looked up: what was done is not done again', async (_, effect) => {
    await withSession(emulator(), update, { faults: [{ act: 'after', effect }] })
    expect(methodsOf(emulator())).toEqual(['PUT', 'GET'])
  })

  it('an update that was not done is sent again', async () => {
    await withSession(emulator(), update, { faults: [{ effect: { kind: 'reset' } }] })
    expect(methodsOf(emulator())).toEqual(['PUT', 'GET', 'PUT'])
  })

  it('an update that nobody can look at is not sent again', async () => {
    const faults: Fault[] = [
      { act: 'after', effect: { kind: 'reset' } },
      { match: { method: 'GET' }, times: 9, effect: { kind: 'status', status: 503 } },
    ]
    const error = await apiErrorOf(withSession(emulator(), update, { faults }))
    expect(error).toMatchObject({ kind: 'network', method: 'PUT', mayHaveActed: true })
    expect(error.message).toContain('It may be done all the same')
    expect(methodsOf(emulator())).toEqual(['PUT', 'GET', 'GET', 'GET', 'GET', 'GET'])
  })

  it('take a thing that was not there for deleted, and say that it was not', async () => {
    await withSession(emulator(), remove)
    expect(await withSession(emulator(), remove)).toBe(false)
  })

  it('take a thing for deleted by themselves when the answer to that was lost', async () => {
    expect(await withSession(emulator(), remove, { faults: [{ act: 'after', effect: { kind: 'reset' } }] })).toBe(true)
    expect(methodsOf(emulator())).toEqual(['DELETE', 'DELETE'])
  })
})
