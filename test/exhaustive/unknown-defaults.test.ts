import { describe, expect, it } from 'vitest'
import type { Emulator } from '../../src/emulator/index.ts'
import {
  alertBody,
  call,
  checkoutOf,
  clickstack,
  dashboardBody,
  type Json,
  lineConfig,
  startCloud,
  tile,
} from '../integration/emulator/support.ts'

const seeds = Array.from({ length: 25 }, (_, seed) => seed)

const owned = ['id', 'teamId', 'state', 'silenced', 'executionErrors', 'createdAt', 'updatedAt']

const listOf = async (emulator: Emulator, kind: string): Promise<Json[]> =>
  (await call(emulator, 'GET', `${clickstack}/${kind}`)).json.result

const bodyOf = (view: Json): Json => Object.fromEntries(Object.entries(view).filter(([name]) => !owned.includes(name)))

describe('a server whose defaults are unknown', () => {
  it('answers the same object always in the same way, and accepts every answer that is sent back', async () => {
    const emulator = await startCloud()
    emulator.saveInWebApp({ name: ' Blanks ', tiles: [{ name: ' Errors ', config: lineConfig(emulator) }], tags: ['b', 'a', 'c'] })
    for (const seed of seeds) {
      emulator.setUnknownDefaults(seed)
      for (const kind of ['dashboards', 'alerts', 'saved-searches']) {
        const listed = await listOf(emulator, kind)
        expect(await listOf(emulator, kind)).toEqual(listed)
        for (const view of listed) {
          const path = `${clickstack}/${kind}/${view.id}`
          expect((await call(emulator, 'GET', path)).json.result, `seed ${seed}`).toEqual(view)
          const { status, json } = await call(emulator, 'PUT', path, { body: bodyOf(view) })
          expect(status, `seed ${seed}: ${json.error}`).toBe(200)
          expect(bodyOf(json.result), `seed ${seed}`).toEqual(bodyOf(view))
        }
      }
      emulator.reset()
    }
  })

  it('a server whose defaults are unknown has the same default in the same place, whatever the object', async () => {
    for (const seed of seeds) {
      const emulator = await startCloud({ unknownDefaults: seed })
      const create = async (name: string): Promise<Json> => {
        const body = dashboardBody(emulator, { name, tiles: [tile(lineConfig(emulator))] })
        return (await call(emulator, 'POST', `${clickstack}/dashboards`, { body })).json.result.tiles[0].config
      }
      expect(await create('One')).toEqual(await create('Other'))
    }
  })

  it('fills in, reorders and trims', async () => {
    const seen = new Set<string>()
    for (const seed of seeds) {
      const emulator = await startCloud({ unknownDefaults: seed })
      const [first, second] = checkoutOf(emulator).webhooks.map(({ id }) => ({ type: 'webhook', webhookId: id }))
      const body = dashboardBody(emulator, {
        name: ' Trimmed ',
        tags: ['a', 'b'],
        tiles: ['A', 'B'].map((name) => tile(lineConfig(emulator), { name })),
      })
      const { json } = await call(emulator, 'POST', `${clickstack}/dashboards`, { body })
      const { channel: _, ...alert } = alertBody(emulator)
      const made = await call(emulator, 'POST', `${clickstack}/alerts`, {
        body: { ...alert, channels: [first, second], scheduleStartAt: '2026-03-01T00:00:00Z' },
      })
      expect(json.result.name).toBe('Trimmed')
      expect(made.json.result.channel).toEqual(made.json.result.channels[0])
      for (const field of Object.keys(json.result.tiles[0].config)) seen.add(field)
      seen.add(`tags ${json.result.tags}`).add(`tiles ${json.result.tiles.map(({ name }: Json) => name)}`)
      seen.add(`channels ${made.json.result.channels[0].webhookId === first?.webhookId}`)
      seen.add(`time ${made.json.result.scheduleStartAt}`)
    }
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'fitYAxisToData',
        'seriesLimit',
        'tags a,b',
        'tags b,a',
        'tiles A,B',
        'tiles B,A',
        'channels true',
        'channels false',
        'time 2026-03-01T00:00:00Z',
        'time 2026-03-01T00:00:00.000Z',
      ]),
    )
  })

  it('a server whose defaults are unknown can gain its defaults later, and loses them with a reset', async () => {
    const emulator = await startCloud()
    const before = await listOf(emulator, 'dashboards')
    emulator.setUnknownDefaults(7)
    expect(await listOf(emulator, 'dashboards')).not.toEqual(before)
    emulator.setUnknownDefaults(undefined)
    expect(await listOf(emulator, 'dashboards')).toEqual(before)
    emulator.setUnknownDefaults(7)
    emulator.reset()
    expect(await listOf(emulator, 'dashboards')).toEqual(before)
  })
})
