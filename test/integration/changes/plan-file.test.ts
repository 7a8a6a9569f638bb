// W8: apply with a plan file does what was reviewed, or nothing.
import { describe, expect, it } from 'vitest'
import { demo, startEmulator } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { serviceOf, storesNothing, useApplied, useEmulator } from '../../support/emulator.ts'
import { errors, outcomes, shop, tile, watching } from '../../support/shop-declaration.ts'
import { emptyPlan, project, rememberState, type Site, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const search = { name: 'Search', tags: ['s'], sourceId: { source: 'Logs' } }
const before = {
  dashboards: { shop },
  savedSearches: { search },
  alerts: { errors, onb: { ...errors, name: 'On B', tile: 'B' }, old: { ...errors, name: 'Old' } },
}

/** Creates, updates, replaces, adopts and deletes. */
const after = {
  dashboards: { shop: { ...shop, tiles: [tile('A', 9)] }, fresh: { ...shop, name: 'Fresh' } },
  savedSearches: { search },
  alerts: {
    errors: { ...errors, threshold: 5 },
    onb: { ...errors, name: 'On B' },
    fresh: { ...errors, name: 'New', dashboard: 'fresh' },
    orders: {
      name: 'No orders',
      adopt: true,
      dashboard: { name: 'Checkout overview' },
      tile: 'Orders',
      ...watching,
      note: null,
      thresholdType: 'below',
      interval: '15m',
      channel: { type: 'webhook', webhook: 'incidents' },
      message: 'No orders for 15 minutes',
    },
  },
}

const planFile = 'it.plan.json'

interface Content {
  changes: { key: string; action: string; digest: string }[]
  [field: string]: unknown
}

/** The plan as it is in the file. */
const planOf = async (content: object, prune = true): Promise<Content> => {
  const { planContent, planFile: written } = await site(({ plan }) => plan({ 'a.json': content }, { prune, planFile }))
  return written === planFile ? (JSON.parse(JSON.stringify(planContent)) as Content) : { changes: [] }
}

const applyPlan = (content: object, plan: unknown, prune = true) =>
  site(({ apply }) => apply({ 'a.json': content, [planFile]: typeof plan === 'string' ? plan : JSON.stringify(plan) }, { prune, planFile }))

const alertNamed = (wanted: string) => {
  const found = serviceOf(emulator()).alerts.find(({ name }) => name === wanted)
  if (found === undefined) throw new Error(`no alert ${wanted}`)
  return found
}

const change = (name: string, fields: object): void => void Object.assign(alertNamed(name), fields)

function remove(wanted: string): void {
  const store = serviceOf(emulator())
  store.alerts = store.alerts.filter(({ name }) => name !== wanted)
}

const haveApplied = useApplied(emulator, () => site(({ apply }) => apply({ 'a.json': before })))

/** With the first files applied, and a plan of the second ones. */
async function reviewed(): Promise<Content> {
  await haveApplied()
  return planOf(after)
}

/** What is said; undefined when anything was written. */
async function refusal(plan: unknown, content: object = after, prune = true): Promise<string | undefined> {
  const state = JSON.stringify(stateOf(emulator()))
  const said = await applyPlan(content, plan, prune).then(
    () => undefined,
    (thrown: Error) => thrown.message,
  )
  return JSON.stringify(stateOf(emulator())) === state ? said : undefined
}

describe('a plan file', () => {
  it('a plan file is applied when nothing changed since', async () => {
    const plan = await reviewed()
    expect(plan.changes.map(({ key, action }) => `${action} ${key}`).toSorted()).toEqual([
      'adopt orders',
      'create fresh',
      'create fresh',
      'delete old',
      'replace onb',
      'update errors',
      'update shop',
    ])
    expect(outcomes(await applyPlan(after, plan))).toEqual({
      search: 'unchanged',
      shop: 'updated',
      errors: 'updated',
      onb: 'replaced',
      fresh: 'created',
      orders: 'adopted',
      old: 'deleted',
    })
    expect(await site(({ plan: again }) => again({ 'a.json': after }, { prune: true }))).toMatchObject(emptyPlan)
  })

  it('a plan file is applied without changes when it has none', async () => {
    await haveApplied()
    const plan = await planOf(before)
    expect(plan.changes).toEqual([])
    expect((await applyPlan(before, plan)).changed).toBe(false)
  })

  it('a plan file is applied although unmanaged objects have changed', async () => {
    const plan = await reviewed()
    const store = serviceOf(emulator())
    alertNamed('Checkout errors').threshold = 99
    alertNamed('Errors').state = 'ALERT'
    store.alerts.push({ ...alertNamed('Checkout errors'), id: '65f5e4a35eedc0deffffffff', name: 'New one' })
    expect((await applyPlan(after, plan)).changed).toBe(true)
  })

  it('a plan file is not written where files or plan are wrong', async () => {
    const content = { alerts: { errors: { ...errors, note: undefined, dashboard: 'nowhere' } } }
    expect(await site(({ plan }) => plan({ 'a.json': content }, { planFile }))).toMatchObject({ planFile: '' })
  })
})

describe('a plan file that is out of date', () => {
  const edits: Readonly<Record<string, readonly [edit: () => void, words: string]>> = {
    'somebody changed what is to be updated': [
      () => change('Errors', { threshold: 3 }),
      'alerts.errors: the plan was to update it; now the plan is to leave it as it is',
    ],
    'somebody did what was to be done': [
      () => change('Errors', { threshold: 5 }),
      'alerts.errors: the plan was to update it; now the plan is to update its marker',
    ],
    'somebody changed what is to be deleted': [
      () => change('Old', { threshold: 3 }),
      'alerts.old: the plan was to delete it; now its fields differ',
    ],
    'somebody deleted what is to be deleted': [() => remove('Old'), 'alerts.old: the plan was to delete it; now no change is needed'],
    'somebody deleted what is to be updated': [
      () => remove('Errors'),
      'alerts.errors: the plan was to update it; now the plan is to create it',
    ],
    'somebody changed what was unchanged': [
      () => void Object.assign(serviceOf(emulator()).savedSearches.find(({ name }) => name === 'Search') ?? {}, { where: 'x' }),
      'savedSearches.search: the plan did not contain it; now the plan is to update it',
    ],
    'somebody took the mark away from what is to be updated': [
      () => change('Errors', { note: 'n' }),
      'alerts.errors: the plan was to update it; now the plan is to leave it as it is',
    ],
    'there is less than there was, of anything': [() => remove('Checkout errors'), 'there were 9 objects under alerts, and there are 8'],
  }
  it('applies nothing after the service has changed, and names each change', async () => {
    const plan = await reviewed()
    await forEachEntry(
      Object.entries(edits),
      async (_what, [edit, words]) => {
        edit()
        const said = await refusal(plan)
        expect(said).toContain('The files or the service have changed since the plan was made, so nothing was written:')
        expect(said).toContain(`- ${words}`)
        expect(said).toContain('Run plan again and review the new plan.')
      },
      { before: rememberState(emulator()) },
    )
  })

  it('applies nothing after the files have changed, and names each change', async () => {
    const plan = await reviewed()
    await forEachEntry(
      [
        [
          'the files say something else',
          { ...after, alerts: { ...after.alerts, errors: { ...errors, threshold: 6 } } },
          'alerts.errors: the plan was to update it; now its fields differ',
        ],
        [
          'the files say more',
          { ...after, alerts: { ...after.alerts, more: errors } },
          'alerts.more: the plan did not contain it; now the plan is to create it',
        ],
        ['the files say less', { ...after, alerts: {} }, 'alerts.errors: the plan was to update it; now the plan is to delete it'],
      ],
      async (_what, content, words) => {
        expect(await refusal(plan, content)).toContain(`- ${words}`)
      },
    )
  })

  it('lists only the first changes when there are many', async () => {
    const many = { dashboards: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`d${i}`, { ...shop, name: `D${i}` }])) }
    const plan = await planOf(many)
    const said = await refusal(plan, { dashboards: { shop } })
    expect(said?.split('\n').length).toBeLessThan(13)
    expect(said).toContain('… and 13 more')
  })
})

describe('an edited or unreadable plan file', () => {
  it('rejects every edited or unreadable plan file, and still accepts the original', async () => {
    const plan = await reviewed()
    await forEachEntry(
      [
        ['another action', (plan: Content) => ({ ...plan, changes: plan.changes.map((one) => ({ ...one, action: 'create' })) })],
        ['another digest', (plan: Content) => ({ ...plan, changes: plan.changes.map((one) => ({ ...one, digest: '0'.repeat(40) })) })],
        ['a change taken out', (plan: Content) => ({ ...plan, changes: plan.changes.slice(1) })],
        [
          'a change more',
          (plan: Content) => ({ ...plan, changes: [...plan.changes, { kind: 'alert', key: 'x', action: 'delete', digest: '' }] }),
        ],
        ['fewer objects seen', (plan: Content) => ({ ...plan, seen: {} })],
        ['another service', (plan: Content) => ({ ...plan, serviceId: demo.services.catalog })],
        ['another organization', (plan: Content) => ({ ...plan, organizationId: demo.services.catalog })],
        ['another project', (plan: Content) => ({ ...plan, project: 'other/project' })],
        ['another version', (plan: Content) => ({ ...plan, version: 2 })],
        ['another kind', (plan: Content) => ({ ...plan, kind: 'x' })],
        ['no JSON', () => '{'],
        ['nothing', () => ''],
        ['null', () => 'null'],
        ['a list', () => '[]'],
      ] as const,
      async (_what, spoil) => {
        expect(await refusal(spoil(plan))).toMatch(/^plan-file: "it\.plan\.json" .*: run plan again$/)
      },
    )
    expect((await applyPlan(after, plan)).changed).toBe(true)
  })
})

describe('a plan file of another kind of server', () => {
  const planWithPatches = async (one: Site) => JSON.stringify((await one.plan({ 'a.json': before }, { planFile })).planContent)
  const apply = (one: Site, plan: string) => one.apply({ 'a.json': before, [planFile]: plan }, { planFile })

  it('is refused for another self-hosted server, and for a service, and the other way round, before any write', async () => {
    const servers = [
      await startEmulator({ dialect: 'hyperdx', rateLimit: 'off' }),
      await startEmulator({ dialect: 'hyperdx', rateLimit: 'off' }),
    ]
    const [first, second] = servers
    try {
      if (first === undefined || second === undefined) throw new Error('two were started')
      const plan = await withSite(first, 'hyperdx', planWithPatches)
      expect(JSON.parse(plan)).toMatchObject({ serverUrl: `${first.url}/api/v2`, project })
      expect(JSON.parse(plan)).not.toHaveProperty('serviceId')
      const other = `serverUrl was ${first.url}/api/v2 and is now ${second.url}/api/v2`
      await withSite(second, 'hyperdx', (one) => expect(apply(one, plan)).rejects.toThrow(other))
      await site((one) => expect(apply(one, plan)).rejects.toThrow('and is now not set'))
      const ofService = await site(planWithPatches)
      await withSite(first, 'hyperdx', (one) => expect(apply(one, ofService)).rejects.toThrow('serverUrl was not set'))
      const writes = [emulator(), ...servers].flatMap(({ requests }) =>
        requests.filter((one) => one.method !== 'GET' && !storesNothing(one)),
      )
      expect(writes).toEqual([])
      expect(await withSite(first, 'hyperdx', (one) => apply(one, plan))).toMatchObject({ changed: true })
    } finally {
      for (const one of servers) await one.close()
    }
  })
})
