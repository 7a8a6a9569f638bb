import { describe, expect, it } from 'vitest'
import { alertBody, alertFacts, call, checkoutOf, clickstack, now, observability, start, startCloud } from './support.ts'

const created = '2026-03-21T09:30:00.000Z'

describe('an alert', () => {
  it('is created, read, listed in order of creation, and deleted', async () => {
    const emulator = await start()
    const { json: alert } = await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator) })
    expect((await call(emulator, 'GET', `${observability}/alerts/${alert.id}`)).json).toEqual(alert)
    expect((await call(emulator, 'GET', `${observability}/alerts`)).json.at(-1)).toEqual(alert)
    expect((await call(emulator, 'DELETE', `${observability}/alerts/${alert.id}`)).status).toBe(200)
    expect((await call(emulator, 'GET', `${observability}/alerts/${alert.id}`)).status).toBe(404)
    expect((await call(emulator, 'DELETE', `${observability}/alerts/${alert.id}`)).status).toBe(404)
  })

  it('is created again by a second POST: there is no idempotency', async () => {
    const emulator = await start()
    const one = await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator) })
    const two = await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator) })
    expect(two.json).toEqual({ ...one.json, id: two.json.id })
    expect(two.json.id).not.toBe(one.json.id)
  })

  it('answers the documented fields, id, team and state in the neutral dialect', async () => {
    const emulator = await start()
    const { status, json } = await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator) })
    expect(status).toBe(200)
    expect(json).toEqual({
      ...alertBody(emulator),
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      teamId: checkoutOf(emulator).teamId,
      state: 'OK',
    })
  })

  it('answers every field in the cloud dialect, null where nothing is set', async () => {
    const emulator = await startCloud()
    const { json } = await call(emulator, 'POST', `${clickstack}/alerts`, { body: alertBody(emulator) })
    const { channel } = alertBody(emulator)
    expect(json.result).toEqual({
      ...alertBody(emulator),
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      teamId: checkoutOf(emulator).teamId,
      state: 'OK',
      channels: [channel],
      savedSearchId: null,
      groupBy: null,
      thresholdMax: null,
      scheduleOffsetMinutes: 0,
      scheduleStartAt: null,
      note: null,
      numConsecutiveWindows: null,
      silenced: null,
      executionErrors: [],
      createdAt: created,
      updatedAt: created,
    })
  })

  it('takes a list of channels, and answers the first as channel', async () => {
    const emulator = await startCloud()
    const { channel: _, ...body } = alertBody(emulator)
    const channels = [
      { type: 'email', emailRecipients: ['ops@shop.example'] },
      { type: 'webhook', webhookId: alertFacts(emulator).webhookId, severity: 'critical' },
    ]
    const { json } = await call(emulator, 'POST', `${clickstack}/alerts`, { body: { ...body, channels } })
    expect(json.result).toMatchObject({ channels, channel: channels[0] })
  })
})

describe('an update of an alert', () => {
  const optional = { name: 'Old', message: 'Old', note: 'Old', numConsecutiveWindows: 3 }
  const schedule = { thresholdType: 'between', thresholdMax: 9, scheduleStartAt: '2026-03-01T00:00:00Z' }

  async function createFull() {
    const emulator = await startCloud()
    const { name: _name, message: _message, ...minimal } = alertBody(emulator)
    const body = { ...minimal, ...optional, ...schedule }
    const { json } = await call(emulator, 'POST', `${clickstack}/alerts`, { body })
    const put = (more: object) => call(emulator, 'PUT', `${clickstack}/alerts/${json.result.id}`, { body: { ...minimal, ...more } })
    return { emulator, put, before: json.result }
  }

  it('clears name, message, note and numConsecutiveWindows when they are left out', async () => {
    const { put, before } = await createFull()
    expect(before).toMatchObject(optional)
    const { json } = await put({})
    expect(json.result).toMatchObject({ name: null, message: null, note: null, numConsecutiveWindows: null })
  })

  it('keeps thresholdMax and scheduleStartAt when they are left out, and clears them by null', async () => {
    const { put } = await createFull()
    expect((await put({})).json.result).toMatchObject({ thresholdType: 'above', thresholdMax: 9, scheduleStartAt: '2026-03-01T00:00:00Z' })
    expect((await put({ thresholdMax: null, scheduleStartAt: null })).json.result).toMatchObject({
      thresholdMax: null,
      scheduleStartAt: null,
    })
  })

  it('keeps the schedule offset when it is left out, and drops it with a start', async () => {
    const { put } = await createFull()
    expect((await put({ scheduleStartAt: null, scheduleOffsetMinutes: 10 })).json.result.scheduleOffsetMinutes).toBe(10)
    expect((await put({})).json.result.scheduleOffsetMinutes).toBe(10)
    expect((await put({ scheduleStartAt: '2026-03-01T00:00:00Z' })).json.result.scheduleOffsetMinutes).toBe(0)
  })

  it('clears the ids of the source that it leaves', async () => {
    const { emulator, put } = await createFull()
    const savedSearchId = checkoutOf(emulator).savedSearches[0]?.id
    const searching = { source: 'saved_search', savedSearchId, groupBy: 'ServiceName' }
    expect((await put(searching)).json.result).toMatchObject({ ...searching, dashboardId: null, tileId: null })
    expect((await put({})).json.result).toMatchObject({ source: 'tile', savedSearchId: null, groupBy: null })
  })

  it('keeps id, team, state, silence and creation, and moves the time of the update', async () => {
    let at = now
    const emulator = await startCloud({ now: () => at })
    const [alert] = checkoutOf(emulator).alerts
    at += 60_000
    const { json } = await call(emulator, 'PUT', `${clickstack}/alerts/${alert?.id}`, { body: alertBody(emulator) })
    expect(json.result).toMatchObject({ id: alert?.id, state: 'ALERT', createdAt: alert?.createdAt, updatedAt: '2026-03-21T09:31:00.000Z' })
  })

  it('refuses what was answered when it is sent back whole: the id is no property of the body', async () => {
    const { emulator, before } = await createFull()
    const { json } = await call(emulator, 'PUT', `${clickstack}/alerts/${before.id}`, { body: before })
    expect(json.error).toBe("BAD_REQUEST: request body property can't be validated: id")
  })

  it('looks for the alert before it looks at the body', async () => {
    const emulator = await start()
    const { status } = await call(emulator, 'PUT', `${observability}/alerts/ffffffffffffffffffffffff`, { body: {} })
    expect(status).toBe(404)
  })

  it('changes nothing when it is refused', async () => {
    const { emulator, put } = await createFull()
    const before = structuredClone(emulator.store)
    expect((await put({ threshold: 'five' })).status).toBe(400)
    expect(emulator.store).toEqual(before)
  })
})
