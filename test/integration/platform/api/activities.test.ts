import { describe, expect, it, onTestFinished } from 'vitest'
import { demo, type Emulator, startEmulator } from '../../../../src/emulator/index.ts'
import { listActivities } from '../../../../src/platform/api/activities.ts'
import { profileNamed } from '../../../../src/platform/api/profiles.ts'
import { findServices, listServices } from '../../../../src/platform/api/services.ts'
import { withSession } from '../../../support/session.ts'

const dayMs = 86_400_000
const nowMs = Date.parse('2026-11-20T12:00:00Z')

async function start(): Promise<Emulator> {
  const emulator = await startEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', now: () => nowMs })
  onTestFinished(() => emulator.close())
  return emulator
}

const connection = { profile: profileNamed('clickhouse-cloud'), observabilityPath: 'clickstack' }

const read = (emulator: Emulator, days = 60, body?: string) =>
  withSession(emulator, ({ api }) => listActivities(api, demo.organizationId, nowMs - days * dayMs, nowMs), {
    connection,
    faults: body === undefined ? [] : [{ match: { path: 'activities' }, effect: { kind: 'body', text: body } }],
  })

describe('the list of activities', () => {
  it('the list of activities is sorted by time, the oldest first, and asks for the given time', async () => {
    const emulator = await start()
    const { activities, withoutTime } = await read(emulator, 60)
    expect(withoutTime).toBe(0)
    expect(activities.map(({ type }) => type)).toContain('service_idle')
    expect(activities.map(({ atMs }) => atMs)).toEqual(activities.map(({ atMs }) => atMs).toSorted((a, b) => a - b))
    const { path } = emulator.requests.at(-1) ?? { path: '' }
    expect(decodeURIComponent(path)).toContain('from_date=2026-09-21T12:00:00.000Z&to_date=2026-11-20T12:00:00.000Z')
  })

  it('keeps neither names nor addresses nor user agents of people', async () => {
    const { activities } = await read(await start())
    expect(new Set(activities.flatMap(Object.keys))).toEqual(new Set(['type', 'atMs', 'serviceId', 'actorType']))
  })

  it('keeps the order of activities at the same time, whether the newest or the oldest comes first', async () => {
    const at = (createdAt: string, type: string) => ({ id: type, createdAt, type })
    const oldestFirst = [
      at('2026-11-01T00:00:00Z', 'service_create'),
      at('2026-11-02T00:00:00Z', 'SERVICE_IDLE'),
      at('2026-11-02T00:00:00Z', 'service_awaken'),
    ]
    const types = ['service_create', 'service_idle', 'service_awaken']
    const last = at('2026-11-03T00:00:00Z', 'last')
    for (const answer of [oldestFirst, oldestFirst.toReversed(), [...oldestFirst.slice(0, 1), last, ...oldestFirst.slice(1)]]) {
      const { activities } = await read(await start(), 60, JSON.stringify({ result: answer }))
      expect(activities.map(({ type }) => type)).toEqual(answer.includes(last) ? [...types, 'last'] : types)
    }
  })

  it('counts activities without a valid time, and reads the others', async () => {
    const answer = {
      result: [{ type: 'service_idle' }, { type: 'service_idle', createdAt: 'soon' }, { createdAt: '2026-11-01T00:00:00Z', type: 7 }],
    }
    expect(await read(await start(), 60, JSON.stringify(answer))).toEqual({
      activities: [{ type: '', atMs: Date.parse('2026-11-01T00:00:00Z'), serviceId: undefined, actorType: undefined }],
      withoutTime: 2,
    })
  })

  it('names the missing permission', async () => {
    const emulator = await start()
    for (const key of emulator.store.keys) key.permissions = ['control-plane:service:view']
    await expect(read(emulator)).rejects.toThrow('control-plane:organization:view-activities')
  })
})

it('reads the settings of services, and drops values of another type', async () => {
  const emulator = await start()
  const list = () => withSession(emulator, ({ api }) => listServices(api, demo.organizationId), { connection })
  expect(await list()).toContainEqual(
    expect.objectContaining({ name: 'search', idleScaling: true, idleTimeoutMinutes: 15, isReadonly: false, state: 'running' }),
  )
  const odd = { id: demo.services.search, idleScaling: 'yes', idleTimeoutMinutes: null, tags: {}, ipAccessList: 'anywhere' }
  emulator.addFault({ effect: { kind: 'body', text: JSON.stringify({ result: [odd] }) } })
  expect(await list()).toEqual([
    expect.objectContaining({ name: '', idleScaling: undefined, idleTimeoutMinutes: undefined, tags: undefined, ipAccessList: undefined }),
  ])
})

it('finds no services where they cannot be read, and does not hide that a run was canceled', async () => {
  const emulator = await start()
  emulator.addFault({ match: { path: '/services' }, effect: { kind: 'status', status: 403 } })
  await withSession(
    emulator,
    async ({ api, stop }) => {
      expect(await findServices(api, demo.organizationId)).toEqual([])
      expect(await findServices(api, demo.organizationId)).not.toEqual([])
      stop()
      await expect(findServices(api, demo.organizationId)).rejects.toMatchObject({ kind: 'canceled' })
    },
    { connection },
  )
})
