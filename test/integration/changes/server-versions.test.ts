// Servers that are older or newer than what files can declare.
import { describe, expect, it } from 'vitest'
import { type Alert, demo, type Emulator } from '../../../src/emulator/index.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { startVariant, type VariantOptions } from '../../support/server-variants.ts'
import { actions, errorRules, errors, errorsIn, many, outcomes, shop, slow, tile } from '../../support/shop-declaration.ts'
import { emptyPlan, type Site, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'hyperdx' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'hyperdx', use)

const content = { dashboards: { shop }, savedSearches: { slow }, alerts: { errors, many } }
const files = { 'a.json': content }

async function withServer<T>(options: VariantOptions, use: (server: Emulator, site: Site) => Promise<T>): Promise<T> {
  const server = await startVariant({ dialect: 'hyperdx', rateLimit: 'off', ...options })
  try {
    return await withSite(server, 'hyperdx', (one) => use(server, one))
  } finally {
    await server.close()
  }
}

const _writesTo = ({ requests }: Emulator) =>
  requests.filter(({ method, path }) => method !== 'GET' && !/\/(?:validate|series)$/.test(path)).map(({ method }) => method)

describe('an alert that no file can declare', () => {
  /** As a newer server stores one, with a marker of this project where `note` has one. */
  function addInline(note: string | null, more: Partial<Alert> = {}): Alert {
    const store = serviceOf(emulator())
    const [template] = store.alerts
    if (template === undefined) throw new Error('the shop has no alert')
    const inline = { ...structuredClone(template), id: 'abcdefabcdefabcdefabcdef', name: 'Inline', ...more, note } as Alert
    Object.assign(inline, { source: 'inline', dashboardId: null, tileId: null, savedSearchId: null, config: { sql: 'SELECT 1' } })
    store.alerts.push(inline)
    return inline
  }

  /** The line of this project in the note of a declared alert. */
  async function markedNote(one: Site): Promise<string> {
    await one.apply(files)
    const found = serviceOf(emulator()).alerts.find(({ name }) => name === 'Errors')
    if (found === undefined) throw new Error('it was not created')
    return String(found.note)
  }

  const inlineIn = () => serviceOf(emulator()).alerts.find(({ id }) => id === 'abcdefabcdefabcdefabcdef')

  it('an alert that no file can declare is never pruned, updated or counted, also with the marker of this project', () =>
    site(async (one) => {
      const note = await markedNote(one)
      const inline = structuredClone(addInline(note))
      expect(await one.plan(files, { prune: true })).toMatchObject(emptyPlan)
      const { errors: _, ...others } = content.alerts
      const pruned = await one.apply({ 'a.json': { ...content, alerts: others } }, { prune: true })
      expect(errorRules(pruned)).toEqual([])
      expect(outcomes(pruned)).toMatchObject({ errors: 'deleted' })
      expect(inlineIn()).toEqual(inline)
    }))

  it('an alert that no file can declare is never pruned when it is the only one with a marker', () =>
    site(async (one) => {
      const note = await markedNote(one)
      addInline(note)
      const store = serviceOf(emulator())
      store.alerts = store.alerts.filter(({ id }) => id === 'abcdefabcdefabcdefabcdef')
      const pruned = await one.apply({ 'a.json': { dashboards: { shop }, savedSearches: { slow } } }, { prune: true })
      expect(errorRules(pruned)).toEqual([])
      expect(inlineIn()).toBeDefined()
    }))

  it('an alert that no file can declare is not adopted by its name, nor by its id', () =>
    site(async (one) => {
      const inline = addInline(null, { name: 'Errors' })
      const before = structuredClone(inline)
      const byName = await one.plan({ 'a.json': { ...content, alerts: { errors: { ...errors, adopt: true } } } })
      expect(actions(byName)).toEqual({ slow: 'create', shop: 'create', errors: 'held' })
      expect(errorRules(byName)).toEqual(['held'])
      const byId = await one.plan({ 'a.json': { ...content, alerts: { errors: { ...errors, adopt: inline.id } } } })
      expect(errorRules(byId)).toEqual(['held'])
      await one.apply({ 'a.json': { ...content, alerts: { errors: { ...errors, adopt: true } } } })
      expect(inlineIn()).toEqual(before)
    }))

  it('an alert that no file can declare is left out by pull, with the reason', () =>
    site(async (one) => {
      addInline(await markedNote(one))
      addInline(null, { id: 'abcdefabcdefabcdefabcde0', name: 'Other inline' })
      const pulled = await one.pull({}, ['observability/**/*.yml'])
      expect(JSON.stringify(pulled.writtenFiles)).not.toContain('nline')
      const reasons = JSON.stringify(pulled)
      expect(reasons).toContain('files have no field but raw for the source inline, and a write could lose it')
      expect(errorsIn(pulled)).toEqual([])
    }))

  it('an alert that no file can declare is listed and shown, and not deleted by its id', async () => {
    const { id } = addInline(null)
    const run = (operation: string, more: Readonly<Record<string, string>> = {}) =>
      invokeText({ inputs: { operation, ...inputsFor(emulator(), 'hyperdx'), ...more } })
    expect(JSON.stringify((await run('list-alerts')).document)).toContain(id)
    expect((await run('get-alert', { id: id })).document).toMatchObject({ status: 'pass', alert: { source: 'inline' } })
    expect((await run('delete-alert', { id: id })).document).toMatchObject({ status: 'error', error: { kind: 'refused' } })
    expect(inlineIn()).toBeDefined()
  })
})

describe('an older server', () => {
  it('an older server that drops a declared field fails apply by the name of the field, and deletes nothing', () =>
    withServer({ unknownFields: ['numConsecutiveWindows'] }, async (server, one) => {
      await one.apply({ 'a.json': { ...content, dashboards: { shop, old: { ...shop, name: 'Old' } } } })
      const newer = { 'a.json': { ...content, alerts: { errors, many: { ...many, numConsecutiveWindows: 3 } } } }
      const applied = await one.apply(newer, { prune: true })
      expect(errorRules(applied)).toEqual(['field-dropped'])
      expect(errorsIn(applied)[0]?.message).toBe(
        'alerts.many: the service did not store numConsecutiveWindows. Its version might not have it yet: remove it from the file, or upgrade the service',
      )
      expect(outcomes(applied)).toMatchObject({ old: 'skipped' })
      expect(serviceOf(server).dashboards.some(({ name }) => name === 'Old')).toBe(true)
      const planned = await one.plan(newer, { prune: true })
      expect(planned).toMatchObject({ toUpdate: 0, toDelete: 1 })
      expect(planned.diagnostics[0]).toMatchObject({ rule: 'field-dropped', severity: 'warning' })
      expect(planned.diagnostics[0]?.message).toContain('alerts.many: the service did not store numConsecutiveWindows.')
      expect(JSON.stringify(planned)).not.toContain('outside of the files')
      const puts = () => server.requests.filter(({ method }) => method === 'PUT').length
      const sent = puts()
      expect(errorRules(await one.apply(newer, { prune: true }))).toEqual([])
      expect(puts()).toBe(sent)
      // A change by hand is not hidden by it.
      const stored = serviceOf(server).alerts.find(({ name }) => name === 'Many')
      Object.assign(stored ?? {}, { threshold: 99 })
      expect(await one.plan(newer)).toMatchObject({ toUpdate: 1 })
      Object.assign(stored ?? {}, { threshold: many.threshold })
      // Without the field, everything is as declared.
      expect(errorRules(await one.apply(files, { prune: true }))).toEqual([])
      expect(await one.plan(files, { prune: true })).toMatchObject(emptyPlan)
    }))

  it('an older server is not blamed for a write that was never applied, nor for a field that another user removed', () =>
    withServer({}, async (server, one) => {
      await one.apply(files)
      const newer = { 'a.json': { ...content, alerts: { errors, many: { ...many, numConsecutiveWindows: 3 } } } }
      const headers = { authorization: `Bearer ${demo.apiKeySecret}` }
      const before = await (await fetch(`${server.url}/api/v2/alerts`, { headers })).text()
      server.addFault({ match: { method: 'PUT', path: '/alerts' }, times: 50, effect: { kind: 'status', status: 504 } })
      expect(errorRules(await one.apply(newer))).not.toContain('field-dropped')
      server.clearFaults()
      // The list after the write: the answer to the write still had the field.
      server.addFault({ match: { method: 'GET', path: '/alerts' }, nth: 3, effect: { kind: 'body', text: before } })
      const applied = await one.apply(newer)
      expect(outcomes(applied)).toMatchObject({ many: 'updated' })
      expect(errorRules(applied)).not.toContain('field-dropped')
    }))

  it('an older server that drops a declared field of a new object, of a tile or of a saved search fails apply, too', () =>
    withServer({ unknownFields: ['numConsecutiveWindows', 'seriesLimit', 'orderBy', 'filters'] }, async (_, one) => {
      const config = { ...tile('A').config, groupBy: 'ServiceName', seriesLimit: 7 }
      const newer = {
        dashboards: { shop: { ...shop, tiles: [tile('A', 0, config), tile('B', 4)] } },
        savedSearches: { slow: { ...slow, orderBy: 'Timestamp DESC' } },
        alerts: { errors: { ...errors, numConsecutiveWindows: 2 } },
      }
      const applied = await one.apply({ 'a.json': newer })
      expect(errorRules(applied)).toEqual(['field-dropped', 'field-dropped', 'field-dropped'])
      const text = errorsIn(applied)
        .map(({ message }) => message)
        .join('\n')
      for (const name of ['numConsecutiveWindows', 'seriesLimit', 'orderBy']) expect(text).toContain(name)
      const planned = await one.plan({ 'a.json': newer })
      expect([planned.toUpdate, planned.diagnostics.map(({ rule }) => rule)]).toEqual([0, Array(3).fill('field-dropped')])
    }))

  it('an older server that drops the field of the marker keeps nothing, stops after one object, and gets no duplicates', () =>
    // With a limit that allows several writes at the same time.
    withServer({ unknownFields: ['note'], rateLimit: { limit: 10_000, windowMs: 60_000 } }, async (server, one) => {
      const alerts = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a${i}`, { ...errors, name: `Alert ${i}` }]))
      const before = serviceOf(server).alerts.length
      const dashboards = { shop, two: { ...shop, name: 'Two' }, three: { ...shop, name: 'Three' } }
      for (let turn = 0; turn < 2; turn++) {
        const created = server.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/alerts')).length
        const applied = await one.apply({ 'a.json': { dashboards, alerts } }, { prune: true })
        const results = Object.values(outcomes(applied))
        expect(results.filter((outcome) => outcome === 'failed')).toHaveLength(1)
        expect(results.filter((outcome) => outcome === 'skipped')).toHaveLength(19)
        const failed = applied.objects.find(({ outcome }) => outcome === 'failed')
        expect(failed?.message).toContain('did not store the ownership marker')
        expect(serviceOf(server).alerts).toHaveLength(before)
        const posts = server.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/alerts')).length
        expect(posts - created).toBe(1)
      }
      expect(serviceOf(server).dashboards.filter(({ name }) => name === 'Shop')).toHaveLength(1)
    }))

  it('names the object that is left where an older server drops the field of the marker and refuses to delete', () =>
    withServer({ unknownFields: ['note'] }, async (server, one) => {
      server.addFault({ match: { method: 'DELETE' }, times: 99, effect: { kind: 'status', status: 500 } })
      const applied = await one.apply({ 'a.json': { dashboards: { shop }, alerts: { errors, other: { ...errors, name: 'Other' } } } })
      const left = serviceOf(server).alerts.filter(({ name }) => name === 'Errors' || name === 'Other')
      expect(left).toHaveLength(1)
      expect(outcomes(applied)).toMatchObject({ errors: 'failed', other: 'skipped' })
      expect(applied.objects.find(({ key }) => key === 'errors')?.message).toContain(left[0]?.id)
    }))

  it('an older server that drops tags keeps no dashboard without its marker', () =>
    withServer({ unknownFields: ['tags'] }, async (server, one) => {
      const before = stateOf(server)
      const applied = await one.apply(files)
      expect(outcomes(applied)).toMatchObject({ slow: 'failed', shop: 'skipped', errors: 'skipped', many: 'skipped' })
      expect(stateOf(server)).toEqual(before)
    }))

  it('an older server is refused before any write by every operation that writes', () =>
    withServer({ serverVersion: '2.28.0' }, async (server, one) => {
      await expect(one.apply(files)).rejects.toThrow(/^HyperDX 2\.28\.0 at .* is too old/)
      await expect(one.plan(files)).rejects.toThrow(/is too old/)
      await expect(one.pull({})).rejects.toThrow(/is too old/)
      expect(server.requests.map(({ path }) => path)).toEqual(['/health'])
    }))
})
