// What servers newer than HyperDX 2.36 have: names and tags of alerts, and filters with fixed options or a required selection.
import { describe, expect, it } from 'vitest'
import type { Alert } from '../../../src/emulator/index.ts'
import { lines, readText } from '../../support/declarations.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { errorRules, errors, errorsIn, many, shop, slow } from '../../support/shop-declaration.ts'
import { afterPull, convergenceProblems, differing, emptyPlan, withSite } from '../../support/site.ts'

const file = (content: object) => ({ 'observability/a.json': content })
const declared = { ...errors, displayName: 'Shop is failing', tags: ['team:shop', 'p1'] }
const fixed = { type: 'STATIC_LIST', name: 'Environment', options: ['dev', 'prod'], variableName: 'environment', minSelections: 1 }
const queried = { name: 'Host', expression: 'Host', source: 'Logs', minSelections: 1, isGlobalRequirement: true }
const board = { ...shop, filters: [fixed, queried] }
const content = { dashboards: { shop: board }, savedSearches: { slow: { ...slow, tags: ['ops'] } }, alerts: { errors: declared, many } }

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('a newer server, %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off', isNewer: true })
  const run = (operation: string, more: Readonly<Record<string, string>> = {}) =>
    invokeText({ inputs: { operation, ...inputsFor(emulator(), dialect), ...more } })
  const alertOf = (key: string): Alert | undefined => serviceOf(emulator()).alerts.find(({ note }) => note?.includes(` ${key} `))
  const sent = (path: string) =>
    emulator().requests.flatMap(({ method, path: to, body }) => (method !== 'GET' && to.includes(path) ? [body as object] : []))

  it('names, tags and filters are applied once, and then the plan is empty', () =>
    withSite(emulator(), dialect, async (site) => {
      expect(await convergenceProblems(site, content)).toEqual([])
      expect(alertOf('errors')?.newer).toEqual({ displayName: 'Shop is failing', tags: ['team:shop', 'p1'] })
      const [first, second] = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')?.filters ?? []
      expect(first?.newer).toMatchObject({ type: 'STATIC_LIST', options: ['dev', 'prod'], minSelections: 1 })
      expect(second?.newer).toMatchObject({ minSelections: 1, isGlobalRequirement: true })
    }))

  it('an alert without them is created without them, and no tag that it inherits is a marker', () =>
    withSite(emulator(), dialect, async (site) => {
      await site.apply(file(content))
      const bodies = sent('/alerts').filter((body) => 'savedSearchId' in body)
      expect(bodies).toHaveLength(1)
      expect(bodies[0]).not.toHaveProperty('tags')
      expect(bodies[0]).not.toHaveProperty('displayName')
      expect(alertOf('many')?.newer?.tags).toContainEqual(expect.stringMatching(/^wk:/))
      expect(await site.plan(file(content))).toMatchObject(emptyPlan)
      const { document, blocks } = await run('list-alerts', { select: 'tag=ops' })
      expect(document.ids).toEqual([alertOf('many')?.id])
      expect(JSON.stringify(blocks)).not.toContain('wk:')
    }))

  it('a dashboard that the server says is provisioned has a warning, as the only object, too, and no other dashboard has one', () =>
    withSite(emulator(), dialect, async (site) => {
      const only = file({ dashboards: { shop: board } })
      for (const isMade of [false, true]) {
        await site.apply(only)
        Object.assign(serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop') ?? {}, { provisioned: isMade })
        const { diagnostics } = await site.plan(only)
        expect(diagnostics.flatMap(({ rule, message }) => (rule === 'provisioned' ? [message] : []))).toEqual(
          isMade
            ? [
                'dashboards.shop: the provisioner of the server overwrites the dashboards that it made, with their ownership markers; remove its file there first',
              ]
            : [],
        )
      }
    }))

  it('a change in the service is a difference, and pull takes it into the file', () =>
    withSite(emulator(), dialect, async (site) => {
      await site.apply(file(content))
      Object.assign(alertOf('errors') ?? {}, { newer: { displayName: 'Renamed', tags: ['p2'] } })
      const [filter] = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')?.filters ?? []
      Object.assign(filter ?? {}, { newer: { ...(filter?.newer as object), options: ['dev', 'test', 'prod'] } })
      const planned = await site.plan(file(content))
      expect(planned.objects.flatMap(({ fields }) => fields.map(({ path }) => path))).toEqual([
        expect.stringMatching(/^filters\["Environment"\]\.options/),
        'displayName',
        'tags',
      ])
      const pulled = await site.pull(file(content))
      const after = afterPull(file(content), pulled)
      expect(JSON.parse(String(after['observability/a.json'])).alerts.errors).toMatchObject({ displayName: 'Renamed', tags: ['p2'] })
      expect(differing(await site.plan(after))).toEqual([])
    }))

  it('a pull from nothing writes them only where they say more than what the alert watches', () =>
    withSite(emulator(), dialect, async (site) => {
      for (const objects of [serviceOf(emulator()).alerts, serviceOf(emulator()).dashboards, serviceOf(emulator()).savedSearches])
        objects.splice(0)
      await site.apply(file(content))
      const pulled = await site.pull({})
      const text = pulled.writtenFiles.map((written) => written.content).join('\n')
      expect(text.match(/displayName: .*/g)).toEqual(['displayName: Shop is failing'])
      expect(text).toContain('tags: [p1, team:shop]')
      expect(text).toContain('type: STATIC_LIST')
      expect(text).not.toContain('raw:')
      expect(await site.plan(afterPull({}, pulled))).toMatchObject(emptyPlan)
    }))

  it('list-alerts shows and finds an alert by the name that only the page of alerts shows', async () => {
    const [alert] = serviceOf(emulator()).alerts
    Object.assign(alert ?? {}, { name: null, newer: { displayName: 'Failed logins', tags: ['team:id'] } })
    const { document, blocks } = await run('list-alerts', { select: 'name~logins' })
    expect(document.ids).toEqual([alert?.id])
    expect(JSON.stringify(blocks)).toContain('"text":"Failed logins"')
    expect(JSON.stringify(blocks)).toContain('"text":"team:id"')
  })

  it('list-alerts shows an alert that only notifies an agent, and pull says that a file cannot have it', async () => {
    const [alert] = serviceOf(emulator()).alerts
    Object.assign(alert ?? {}, { name: 'For the agent', newer: { channel: { type: 'agent' }, channels: [{ type: 'agent' }] } })
    expect(JSON.stringify((await run('list-alerts')).blocks)).toContain('"text":"agent"')
    const pulled = await withSite(emulator(), dialect, (site) => site.pull({}))
    expect(JSON.stringify(pulled.writtenFiles)).not.toContain('For the agent')
    const reason = 'channel.type: "agent" is not accepted; accepted: webhook, email'
    expect(pulled.objects).toContainEqual(expect.objectContaining({ name: 'For the agent', outcome: 'left-out', reason }))
  })

  it('a pull into new files leaves out an alert in anomaly mode by name, and writes the others, so that the next plan has no difference', () =>
    withSite(emulator(), dialect, async (site) => {
      const [alert] = serviceOf(emulator()).alerts
      const anomaly = { detectionMode: 'anomaly', anomalyConfig: { sensitivity: 2 } }
      Object.assign(alert ?? {}, { name: 'Learned', newer: anomaly })
      const pulled = await site.pull({})
      const reason = 'files have no field but raw for the detectionMode anomaly, and a write could lose it'
      expect(pulled.objects).toContainEqual(expect.objectContaining({ name: 'Learned', outcome: 'not-exportable', reason }))
      expect(JSON.stringify(pulled.writtenFiles)).not.toContain('Learned')
      expect(pulled.objects.filter(({ kind, outcome }) => kind === 'alert' && outcome === 'added').length).toBeGreaterThan(3)
      const files = afterPull({}, pulled)
      expect(differing(await site.plan(files))).toEqual([])
      await site.apply(files)
      expect(alert).toMatchObject({ name: 'Learned', note: null, newer: anomaly })
    }))

  it('create-alert and update-alert send them as they are given, and leave them otherwise', async () => {
    const [first] = serviceOf(emulator()).alerts
    const { dashboardId, tileId, channels } = first ?? {}
    const alert = { dashboardId, tileId, threshold: 1, interval: '5m', channel: channels?.[0], displayName: 'Mine', tags: ['a'] }
    const { document } = await run('create-alert', { alert: JSON.stringify(alert) })
    const created = () => serviceOf(emulator()).alerts.find(({ id }) => id === document.id)
    expect(created()?.newer).toEqual({ displayName: 'Mine', tags: ['a'] })
    await run('update-alert', { id: String(document.id), alert: '{ tags: [b] }' })
    expect(created()?.newer).toMatchObject({ tags: ['b'] })
  })
})

describe('a field that the file leaves to a newer server', () => {
  const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', isNewer: true })

  it('stays as a person set it, also where the alert is written', () =>
    withSite(emulator(), 'hyperdx', async (site) => {
      const { displayName: _, tags: __, ...bare } = declared
      const files = file({ ...content, alerts: { errors: bare } })
      await site.apply(files)
      const alert = serviceOf(emulator()).alerts.find(({ name }) => name === 'Errors')
      Object.assign(alert ?? {}, { newer: { displayName: 'By hand', tags: ['mine', 'wk:012345:shop:abcdef'] } })
      expect(await site.plan(files)).toMatchObject(emptyPlan)
      expect((await site.pull(files, undefined, { only: 'declared' })).writtenFiles).toEqual([])
      await site.apply(file({ ...content, alerts: { errors: { ...bare, threshold: 9 } } }))
      expect(alert).toMatchObject({ threshold: 9, newer: { displayName: 'By hand', tags: ['mine'] } })
    }))
})

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('a server without them, %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })
  const run = (operation: string, more: Readonly<Record<string, string>> = {}) =>
    invokeText({ inputs: { operation, ...inputsFor(emulator(), dialect), ...more } })
  const writes = () => emulator().requests.filter(({ method }) => method !== 'GET' && method !== 'HEAD')

  it('an alert with them is held in one sentence, and never written', () =>
    withSite(emulator(), dialect, async (site) => {
      const files = file({ ...content, dashboards: { shop } })
      expect(errorsIn(await site.plan(files)).map(({ message }) => message)).toEqual([
        'alerts.errors: the version of the service does not have displayName, tags of alerts, so apply does not create it. Remove it, or upgrade the service',
      ])
      expect(errorRules(await site.apply(files))).toEqual(['held'])
      expect(writes().map(({ path }) => path.replace(/.*\//, ''))).toEqual(expect.arrayContaining(['dashboards', 'alerts']))
      expect(JSON.stringify(writes())).not.toContain('Shop is failing')
    }))

  it('a filter that it does not have is an error with its words', () =>
    withSite(emulator(), dialect, async (site) => {
      for (const filter of [fixed, queried]) {
        const planned = await site.plan(file({ dashboards: { shop: { ...shop, filters: [filter] } } }))
        expect(errorsIn(planned).map(({ message }) => message)).toEqual([expect.stringContaining('filters')])
      }
    }))

  it('without any alert to learn from, apply says that the service did not store them', () =>
    withSite(emulator(), dialect, async (site) => {
      serviceOf(emulator()).alerts.splice(0)
      const applied = await site.apply(file({ ...content, dashboards: { shop } }))
      const reasons = JSON.stringify([applied.objects.map(({ message }) => message), errorsIn(applied).map(({ message }) => message)])
      expect(reasons).toMatch(
        dialect === 'hyperdx' ? /alerts\.errors: the service did not store displayName, tags/ : /can't be validated: displayName/,
      )
    }))

  it('create-alert says that the alert was created without them', async () => {
    const [first] = serviceOf(emulator()).alerts
    const { dashboardId, tileId, channels } = first ?? {}
    const alert = { dashboardId, tileId, threshold: 1, interval: '5m', channel: channels?.[0], name: 'New', tags: ['a'] }
    const { reason } = await run('create-alert', { alert: JSON.stringify(alert) })
    expect(reason).toMatch(
      dialect === 'hyperdx' ? /^The alert "New" \(\w+\) was created, but the service did not store tags\./ : /can't be validated: tags/,
    )
  })
})

it('a requirement that does nothing, and another word for the options, are refused', () => {
  const invalid = (filters: unknown) => lines(readText(JSON.stringify({ dashboards: { shop: { ...shop, filters } } })).diagnostics)
  expect(invalid([{ ...queried, minSelections: 0 }]).join()).toContain('isGlobalRequirement: true has no effect without minSelections')
  expect(invalid([{ type: 'STATIC_LIST', name: 'E', values: ['dev'] }]).join()).toContain(
    '"values" is an unknown field; did you mean "options"?',
  )
})
