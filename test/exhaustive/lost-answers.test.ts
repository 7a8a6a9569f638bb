// W1: one POST per object and run, unless the server certainly did not act.
import { describe, expect, it } from 'vitest'
import type { Effect, Emulator, Fault } from '../../src/emulator/index.ts'
import { createScaledClock } from '../support/clocks.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { spread } from '../support/seeds.ts'
import { twentyObjects } from '../support/shop-declaration.ts'
import { emptyPlan, withSite } from '../support/site.ts'

const effects: Readonly<Record<string, Pick<Fault, 'act' | 'effect'>>> = {
  'a reset before the server acts': { act: 'before', effect: { kind: 'reset' } },
  'a reset after the server acted': { act: 'after', effect: { kind: 'reset' } },
  'a reset in the headers': { act: 'after', effect: { kind: 'reset-in-headers' } },
  'a reset in the body': { act: 'after', effect: { kind: 'reset-in-body' } },
  'half an answer': { act: 'after', effect: { kind: 'truncate' } },
  'a 502 before': { act: 'before', effect: { kind: 'status', status: 502 } },
  'a 502 after': { act: 'after', effect: { kind: 'status', status: 502 } },
  'a 408 after': { act: 'after', effect: { kind: 'status', status: 408 } },
  'a page instead of an answer': { act: 'after', effect: { kind: 'html' } },
  'an answer that does not fit': { act: 'after', effect: { kind: 'body', text: '{"result": 5}' } },
}

/** How often each mark of ours stands in the service, where that is more than once. */
function doubles(emulator: Emulator): readonly string[] {
  const { dashboards, alerts } = serviceOf(emulator)
  const marks = [
    ...dashboards.flatMap(({ tags }) => tags.filter((tag) => tag.startsWith('wk:'))),
    ...alerts.flatMap(({ message, note }) => /watchkeeper: \S+ \S+/.exec(`${message} ${note}`)?.[0] ?? []),
  ]
  return marks.filter((mark, i) => marks.indexOf(mark) !== i)
}

const writesOf = (emulator: Emulator): number => emulator.requests.filter(({ method }) => method === 'POST').length

describe('W1: a create without an answer is never repeated blindly', () => {
  const emulator = useEmulator()
  const files = () => ({ 'a.json': twentyObjects(serviceOf(emulator()).webhooks[0]?.id ?? '') })

  it.each(Object.entries(effects))(
    'does not repeat any of twenty creates after %s',
    async (_name, fault) => {
      for (const nth of spread(20)) {
        emulator().reset()
        emulator().addFault({ match: { method: 'POST' }, nth, ...fault })
        await withSite(emulator(), 'neutral', async (site) => {
          const { objects } = await site.apply(files())
          expect(objects.filter(({ outcome }) => outcome !== 'created')).toEqual([])
          expect(doubles(emulator())).toEqual([])
          expect(writesOf(emulator())).toBeLessThanOrEqual(fault.act === 'before' ? 21 : 20)
          // Three lists, twenty creates, two lists to settle and review, one create again, and a list after each wait for the limit of the client.
          expect(emulator().requests.length).toBeLessThanOrEqual(3 + 20 + 3 + 1 + 2)
          expect(await site.plan(files())).toMatchObject(emptyPlan)
        })
      }
    },
    60_000,
  )

  it('waits as long as a request may take, so that a server that acts late does not act twice', async () => {
    const late: Effect = { kind: 'late-commit', ms: 100 }
    for (const nth of [1, 3, 4, 20]) {
      emulator().reset()
      emulator().addFault({ match: { method: 'POST' }, nth, effect: late })
      await withSite(
        emulator(),
        'neutral',
        async (site) => {
          const { objects } = await site.apply(files())
          expect(objects.filter(({ outcome }) => outcome !== 'created')).toEqual([])
          expect([doubles(emulator()), writesOf(emulator())]).toEqual([[], 20])
        },
        // Thirty seconds are three tenths of one.
        createScaledClock(100),
      )
    }
  }, 60_000)

  it('reports that an object may exist when its outcome stays unknown, and the next run repairs it', async () => {
    const { webhooks } = serviceOf(emulator())
    emulator().addFault({ match: { method: 'POST', path: '/alerts' }, times: 2, act: 'before', effect: { kind: 'status', status: 502 } })
    await withSite(emulator(), 'neutral', async (site) => {
      const all = twentyObjects(webhooks[0]?.id ?? '')
      const one = { 'a.json': { ...all, alerts: { 'alert-0': all.alerts['alert-0'] } } }
      const { objects } = await site.apply(one)
      expect(objects.at(-1)).toMatchObject({ key: 'alert-0', outcome: 'unknown', message: expect.stringContaining('may have written it') })
      expect((await site.apply(one)).objects.at(-1)).toMatchObject({ outcome: 'created' })
      expect(doubles(emulator())).toEqual([])
    })
  })
})
