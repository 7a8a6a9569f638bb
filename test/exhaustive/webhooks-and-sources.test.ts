// W1 and W2 for webhooks and sources: killed at any request, or with any answer lost, the next run ends where an undisturbed one would
// have: nothing twice, nothing left over.
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../src/emulator/index.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { spread } from '../support/seeds.ts'
import { errors, shop } from '../support/shop-declaration.ts'
import { emptyPlan, rememberState, type Site, type SiteFiles, stateOf, withSite } from '../support/site.ts'
import { circle } from '../support/source-declarations.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const secrets = {
  WEBHOOK_ONE_URL: 'https://hooks.example.com/one/secret',
  WEBHOOK_ONE_TOKEN: 'Bearer onesecret',
  WEBHOOK_TWO_URL: 'https://hooks.slack.com/services/T/B/two-secret',
  WEBHOOK_THREE_URL: 'https://api.incident.io/v2/three-secret',
}

const site = <T>(use: (one: Site) => Promise<T>): Promise<T> => withSite({ url: emulator().url, secrets }, 'hyperdx', use)

const webhooks = {
  one: { name: 'new-one', service: 'generic', urlFrom: 'WEBHOOK_ONE_URL', headersFrom: { Authorization: 'WEBHOOK_ONE_TOKEN' }, body: '{}' },
  two: { name: 'new-two', service: 'slack', urlFrom: 'WEBHOOK_TWO_URL' },
  three: { name: 'new-three', service: 'incidentio', urlFrom: 'WEBHOOK_THREE_URL', body: '{"a": 1}' },
}

const alert = { ...errors, channel: { type: 'webhook', webhook: 'new-one' } }
const tiles = shop.tiles.map((tile) => ({ ...tile, config: { ...tile.config, sourceId: { source: 'New traces' } } }))

const created: SiteFiles = {
  'a.json': { sources: circle, webhooks, dashboards: { shop: { ...shop, tiles } }, alerts: { alert } },
}

/** Another name, another body, a webhook that goes, a new one, and another reference between sources. */
const changed: SiteFiles = {
  'a.json': {
    sources: {
      ...circle,
      'new-metrics': { ...circle['new-metrics'], logSource: 'Logs' },
      more: { ...circle['new-sessions'], name: 'More' },
    },
    webhooks: {
      one: { ...webhooks.one, name: 'renamed', body: '{"b": 2}' },
      three: { ...webhooks.three, body: '{"c": 3}' },
      four: { name: 'new-four', service: 'slack', urlFrom: 'WEBHOOK_TWO_URL' },
    },
    dashboards: { shop: { ...shop, tiles } },
    alerts: { alert: { ...alert, channel: { type: 'webhook', webhook: 'renamed' } } },
  },
}

const run = (files: SiteFiles) => site((one) => one.apply(files, { prune: true }))

/** Ends as a process does that is killed: nothing is sent any more, not even to find out. */
async function runUntil(nth: number, act: 'before' | 'after', files: SiteFiles): Promise<void> {
  const arrived = emulator().requests.length + nth
  emulator().addFault({ nth, act, effect: { kind: 'hang' } })
  await site(async ({ apply, session }) => {
    const running = apply(files, { prune: true }).catch(() => undefined)
    while (emulator().requests.length < arrived) await wait(1)
    session.stop()
    session.abort()
    await running
  })
  emulator().clearFaults()
}

async function undisturbed(files: SiteFiles) {
  const before = emulator().requests.length
  const { objects } = await run(files)
  return {
    count: emulator().requests.length - before,
    state: stateOf(emulator()),
    outcomes: new Set(objects.map(({ outcome }) => outcome)),
  }
}

const twins = (): readonly string[] => {
  const { webhooks: hooks, sources } = serviceOf(emulator())
  const names = [...hooks.map(({ name }) => `webhook ${name}`), ...sources.map(({ kind, name }) => `${String(kind)} ${name}`)]
  return names.filter((name, i) => names.indexOf(name) !== i)
}

const plans = [
  ['creates', undefined, created, ['created']],
  ['updates, deletes and creates', created, changed, ['created', 'updated', 'marked', 'unchanged', 'deleted']],
] as const

describe.each(['before', 'after'] as const)('killed at each request, %s the server acted', (act) => {
  it.each(plans)(
    'a killed run is completed by the next one with %s',
    async (_, first, files, outcomes) => {
      if (first !== undefined) await run(first)
      const restore = rememberState(emulator())
      const whole = await undisturbed(files)
      expect(whole.outcomes).toEqual(new Set(outcomes))
      for (const nth of spread(whole.count)) {
        restore()
        await runUntil(nth, act, files)
        await run(files)
        expect([nth, twins(), stateOf(emulator())]).toEqual([nth, [], whole.state])
      }
      expect(await site((one) => one.plan(files, { prune: true }))).toMatchObject(emptyPlan)
    },
    120_000,
  )
})

const lost: Readonly<Record<string, Pick<Fault, 'act' | 'effect'>>> = {
  'a reset before the server acts': { act: 'before', effect: { kind: 'reset' } },
  'a reset after the server acted': { act: 'after', effect: { kind: 'reset' } },
  'half an answer': { act: 'after', effect: { kind: 'truncate' } },
  'a 502 after': { act: 'after', effect: { kind: 'status', status: 502 } },
}

const paths = ['/sources', '/webhooks']

describe.each(Object.entries(lost))('%s', (_, fault) => {
  it.each(paths)(
    'a run that fails at any create or update of %s ends in the same run as an undisturbed one',
    async (path) => {
      const restore = rememberState(emulator())
      const whole = await undisturbed(created)
      for (const method of ['POST', 'PUT']) {
        const count = emulator().requests.filter((one) => one.method === method && one.path.includes(path)).length
        restore()
        for (const nth of spread(count)) {
          emulator().addFault({ match: { method, path }, nth, ...fault })
          const { objects } = await run(created)
          const others = objects.filter(({ outcome }) => outcome !== 'created').map(({ key, message }) => [key, message])
          expect([method, nth, others, twins(), stateOf(emulator())]).toEqual([method, nth, [], [], whole.state])
          expect(await site((one) => one.plan(created, { prune: true }))).toMatchObject(emptyPlan)
          restore()
        }
        await run(created)
      }
    },
    120_000,
  )
})
