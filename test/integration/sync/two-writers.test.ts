// W3: two applies at once. Nothing can stop the second one, so that it must be seen: at least one run fails and names both ids.
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { forEachEntry } from '../../support/corpus.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { errorRules, errorsIn, outcomes, shop, tile } from '../../support/shop-declaration.ts'
import { duplicateMarkersIn, emptyPlan, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator()

const files = () => ({
  'a.json': {
    dashboards: { shop, other: { name: 'Other', tags: ['x'], tiles: [tile('A')] } },
    alerts: {
      errors: {
        name: 'Errors',
        dashboard: 'shop',
        tile: 'A',
        threshold: 1,
        interval: '5m',
        channel: { type: 'webhook', webhookId: serviceOf(emulator()).webhooks[0]?.id },
      },
    },
  },
})

const apply = () => withSite(emulator(), 'neutral', (site) => site.apply(files()))

const idsOfDoubles = (): readonly string[] => {
  const doubles = new Set(duplicateMarkersIn(emulator()))
  const { dashboards, alerts } = serviceOf(emulator())
  const bears = (texts: readonly (string | null)[]): boolean => texts.some((text) => [...doubles].some((mark) => text?.includes(mark)))
  return [...dashboards.filter(({ tags }) => bears(tags)), ...alerts.filter(({ message }) => bears([message]))].map(({ id }) => id)
}

it('two runs that start up to 60 ms apart notice each other', () =>
  forEachEntry(
    [0, 5, 20, 60],
    async (ms) => {
      const both = await Promise.all([apply(), wait(ms).then(apply)])
      const ids = idsOfDoubles()
      const said = both
        .flatMap(errorsIn)
        .map(({ message }) => message)
        .join('\n')
      for (const id of ids) expect(said).toContain(id)
      expect(both.flatMap(errorRules).every((rule) => rule === 'duplicate-marker')).toBe(true)
      // Nothing is deleted for it, and whoever comes later is told as well.
      const before = stateOf(emulator())
      const later = await withSite(emulator(), 'neutral', (site) => site.plan(files(), { prune: true }))
      const saidLater = errorsIn(later)
        .map(({ message }) => message)
        .join('\n')
      for (const id of ids) expect(saidLater).toContain(id)
      const again = await apply()
      if (ids.length > 0) expect([again.isPlanWrong, again.changed]).toEqual([true, false])
      else expect(again).toMatchObject(emptyPlan)
      expect(stateOf(emulator())).toEqual(before)
    },
    { before: () => emulator().reset() },
  ))

it('that both read before either wrote: both see it', async () => {
  // The first answer to each list is held back until both have asked.
  for (const path of ['/dashboards', '/alerts', '/sources'])
    emulator().addFault({ match: { method: 'GET', path }, times: 2, effect: { kind: 'delay', ms: 150 } })
  const both = await Promise.all([apply(), apply()])
  expect(both.map(outcomes)).toEqual(Array(2).fill({ shop: 'created', other: 'created', errors: 'created' }))
  expect(both.map((result) => errorRules(result).length > 0)).toContain(true)
  expect(idsOfDoubles()).toHaveLength(6)
})
