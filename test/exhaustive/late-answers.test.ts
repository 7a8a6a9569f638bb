// R3 with concurrent writes: answers arrive late and overtake each other, and still no request is sent that the rate limit refuses.
import { expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { inputsFor, serviceOf, useEmulator } from '../support/emulator.ts'
import { invokeText } from '../support/invoke.ts'
import { randomFrom } from '../support/random.ts'
import { tile } from '../support/shop-declaration.ts'

const emulator = useEmulator({ rateLimit: { limit: 10, windowMs: 400 } })

const declareObjects = (count: number) => {
  const channel = { type: 'webhook', webhookId: serviceOf(emulator()).webhooks[0]?.id }
  const fields = { dashboard: 'd', tile: 'A', interval: '5m', channel }
  return {
    dashboards: { d: { name: 'D', tiles: [tile('A')] } },
    alerts: Object.fromEntries(Array.from({ length: count - 1 }, (_, i) => [`a${i}`, { name: `Alert ${i}`, threshold: i, ...fields }])),
  }
}

it.each([7, 11, 13])('R3: 100 creates are never refused when answers arrive late and in any order (seed %i)', async (seed) => {
  const random = randomFrom(seed)
  for (let nth = 1; nth <= 200; nth++) emulator().addFault({ nth, effect: { kind: 'delay', ms: random() * 150 } })
  const ran = await invokeText({
    clock: systemClock,
    inputs: { ...inputsFor(emulator()), operation: 'apply', project: 'shop/six', files: 'a.json' },
    files: { 'a.json': JSON.stringify(declareObjects(100)) },
  })
  expect(ran.document.status).toBe('pass')
  expect(emulator().requests.filter(({ method }) => method === 'POST')).toHaveLength(100)
  expect(emulator().requests.filter(({ status }) => status === 429)).toEqual([])
})
