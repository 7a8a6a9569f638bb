// An unmanaged object is adopted only when the files say so, and only when it is clear what they mean.

import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { demo } from '../../../src/emulator/index.ts'
import { conditions } from '../../support/conditions.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { actions, errorRules, errorsIn, outcomes, watching } from '../../support/shop-declaration.ts'
import {
  acceptingRewrites,
  afterPull,
  decided,
  emptyPlan,
  markersIn,
  type Site,
  type SiteFiles,
  stateOf,
  unownedIn,
  withSite,
} from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const alerts = (content: object): SiteFiles => ({ 'a.json': { alerts: content } })

/** `Checkout errors` of the demo, exactly as it is there. */
const asItIs = {
  name: 'Checkout errors',
  dashboard: { name: 'Checkout overview' },
  tile: 'Error rate',
  threshold: 0.02,
  interval: '5m',
  channel: { type: 'webhook', webhook: 'oncall' },
  message: 'More than 2% of checkouts fail',
}

const theirs = () => {
  const found = serviceOf(emulator()).alerts.find(({ name }) => name === 'Checkout errors')
  if (found === undefined) throw new Error('the demo has no such alert')
  return found
}

describe('an unmanaged alert', () => {
  it('an unmanaged alert that differs is held, and the other objects are applied, but nothing is deleted', () =>
    site(async ({ plan, apply }) => {
      const old = { name: 'Old', dashboard: { name: 'Checkout overview' }, tile: 'Latency', ...watching }
      await apply(alerts({ old }))
      const files = alerts({ errors: { ...asItIs, threshold: 0.5 }, other: { ...old, name: 'Other' } })
      const planned = await plan(files, { prune: true })
      expect(actions(planned)).toEqual({ errors: 'held', other: 'create' })
      expect(planned).toMatchObject({ toHold: 1, toDelete: 0, changed: true, needsApply: true })
      expect(errorsIn(planned)).toMatchObject([
        {
          rule: 'held',
          message: expect.stringMatching(
            new RegExp(
              `^alerts\\.errors: apply leaves it as it is, and deletes nothing: the unmanaged alert "Checkout errors" \\(${theirs().id}\\) differs \\(threshold\\)\\. To keep the values of the file, set adopt to ${theirs().id}@2\\.[0-9a-f]{10}\\.files; to take those of the service, run watchkeeper pull --project shop/observability --organization-id ${demo.organizationId} --service-id ${demo.services.checkout} --files '\\*\\*' --only declared --select kind=alert --select key=errors; if it is another object, give the one in the file another name$`,
            ),
          ),
        },
      ])
      const before = structuredClone(theirs())
      const applied = await apply(files, { prune: true })
      expect(outcomes(applied)).toEqual({ errors: 'held', other: 'created' })
      expect(applied.isPlanWrong).toBe(false)
      expect(theirs()).toEqual(before)
      expect(serviceOf(emulator()).alerts.map(({ name }) => name)).toContain('Old')
    }))

  it('an unmanaged alert that is as declared is only marked: the plan says that nothing changes, and apply that it adopted it', () =>
    site(async ({ plan, apply, drift }) => {
      const { id } = theirs()
      const files = alerts({ errors: { ...asItIs, adopt: true } })
      for (const by of [files, alerts({ errors: asItIs }), alerts({ errors: { ...asItIs, adopt: id } })])
        expect(await plan(by)).toMatchObject({ ...emptyPlan, unchanged: 1, toAdopt: 1, objects: [{ action: 'adopt', fields: [] }] })
      expect(await drift(files)).toMatchObject({ changed: false })
      const applied = await apply(files)
      expect(applied).toMatchObject({ changed: true, objects: [{ outcome: 'adopted', id }] })
      expect(theirs()).toMatchObject({
        id,
        message: asItIs.message,
        note: expect.stringMatching(/^watchkeeper: shop\/observability errors [0-9a-f]{6} wka:- wkb:2\.[0-9a-f]{10}$/),
      })
      expect(await apply(files)).toMatchObject({ changed: false, toAdopt: 0, unchanged: 1, objects: [{ outcome: 'unchanged' }] })
    }))

  it('an unmanaged alert that differs is updated after a decision, and the plan says that it is taken over', () =>
    site(async ({ plan, apply }) => {
      const { id } = theirs()
      const files = await decided(plan, alerts({ errors: { ...asItIs, adopt: true, threshold: 0.5 } }))
      expect(await plan(files)).toMatchObject({
        toUpdate: 1,
        objects: [
          {
            action: 'update',
            takeover: 'unmanaged',
            notes: ['adopts an unmanaged object'],
            fields: [{ path: 'threshold', before: 0.02, after: 0.5 }],
          },
        ],
      })
      expect(await apply(files)).toMatchObject({ objects: [{ outcome: 'updated', id }] })
      // The words may go once it is ours.
      expect(await plan(alerts({ errors: { ...asItIs, threshold: 0.5 } }))).toMatchObject(emptyPlan)
    }))

  it('keeps the note that it had, above the mark', () =>
    site(async ({ apply }) => {
      theirs().note = 'Call Kim.\n\nThen restart.'
      await apply(alerts({ errors: { ...asItIs, adopt: true, note: 'Call Kim.\n\nThen restart.' } }))
      expect(theirs().note).toMatch(/^Call Kim\.\n\nThen restart\.\n\nwatchkeeper: /)
    }))

  it('an unmanaged alert is created when there is nothing to adopt, so that the same files serve a new service', () =>
    site(async ({ apply }) => {
      expect(outcomes(await apply(alerts({ errors: { ...asItIs, name: 'Nobody has this name', adopt: true } })))).toEqual({
        errors: 'created',
      })
    }))
})

it('the plan of a delete says that the object was adopted, and what no file has of it', { tags: 'slow' }, () =>
  site(async ({ plan, apply, pull }) => {
    const pulled = await pull({}, undefined, { select: conditions('kind=webhook,dashboard,alert') })
    const files = acceptingRewrites(afterPull({}, pulled))
    const [mine, other] = ['mine', 'other'].map((name) => ({ 'a.json': { dashboards: { [name]: { name, tiles: [] } } } }))
    await apply({ ...files, ...mine })
    // A later update keeps what the marker says.
    await apply({ ...files, ...mine }, { repair: ['rewrite', 'secrets'] })
    const { objects } = await plan({ ...other }, { prune: true })
    const notes = objects.flatMap(({ kind, action, notes: [note] }) => (action === 'delete' ? [`${kind}: ${note}`] : []))
    const before = 'existed before it was adopted'
    const advice = 'prune: forget would keep it'
    expect([...new Set(notes)].toSorted()).toEqual([
      `alert: ${before}; ${advice}`,
      `dashboard: ${before}; the parts that the API does not return are in no file; ${advice}`,
      'dashboard: undefined',
      `webhook: ${before}; its URL, headers and query parameters are in no file; ${advice}`,
    ])
  }),
)

describe('what is not clear is an error, and nothing is written', () => {
  /** What is said of it; undefined when anything was written. */
  const refusal = async (files: SiteFiles) => {
    const before = JSON.stringify([stateOf(emulator()), unownedIn(emulator())])
    const applied = await site(({ apply }) => apply(files))
    const isUntouched = JSON.stringify([stateOf(emulator()), unownedIn(emulator())]) === before && !applied.changed
    return isUntouched ? errorsIn(applied).map(({ rule, message }) => `${rule}: ${message}`) : undefined
  }

  it('rejects an id and a name that two keys refer to, and the id of an alert of another project', async () => {
    expect(await refusal(alerts({ one: { ...asItIs, adopt: theirs().id }, two: { ...asItIs, adopt: theirs().id } }))).toEqual([
      `owned-elsewhere: alerts.two: alerts.one refers to ${theirs().id}, too`,
    ])
    const [one, two] = [1, 2].map((threshold) => ({ ...asItIs, threshold, adopt: true }))
    expect(await refusal(alerts({ one, two }))).toEqual([
      expect.stringMatching(
        `^held: alerts\\.one, alerts\\.two: apply leaves them as they are: could be one of the unmanaged alerts ${theirs().id}, which differ\\. To keep the values of the file, set adopt to ${theirs().id}@2\\.\\w+\\.files; if it is another object, give the one in the file another name$`,
      ),
    ])
    await site(({ apply }) => apply(alerts({ errors: { ...asItIs, adopt: true } }), { project: 'other/project' }))
    const { id } = theirs()
    expect(await refusal(alerts({ errors: { ...asItIs, adopt: id } }))).toEqual([
      `held: alerts.errors: apply does not create it: the project other/project owns the alert "Checkout errors" (${id}). To take it over, remove it from the files of that project, and run apply there with prune: forget; to create another one, remove the id from adopt`,
    ])
  })
})

describe('an object of another project with the same name', () => {
  const mine = alerts({ errors: { ...asItIs, adopt: true } })

  const formerly = (project: string | false) => ({ ...mine, '.watchkeeper.yml': { 'previous-project': project } })

  it(
    'an object of another project with the same name is an error while this project owns nothing, as after a rename, and previous-project takes it over',
    { tags: 'slow' },
    () =>
      site(async ({ apply, plan, pull, drift }) => {
        await apply(mine, { project: 'old/name' })
        const stored = stateOf(emulator())
        for (const run of [plan, apply]) expect(errorRules(await run(mine))).toEqual(['other-project'])
        for (const result of [await plan(mine), await pull(mine, ['**'])])
          expect(errorsIn(result)[0]?.message).toContain('add previous-project: old/name to .watchkeeper.yml. ')
        expect(errorsIn(await plan(formerly('older/name')))[0]?.message).toContain('the previous project, older/name, does not own it')
        expect(stateOf(emulator())).toEqual(stored)
        const { length } = serviceOf(emulator()).alerts
        expect(actions(await plan(formerly('old/name')))).toEqual({ errors: 'adopt' })
        expect(outcomes(await apply(formerly('old/name')))).toEqual({ errors: 'adopted' })
        expect(serviceOf(emulator()).alerts).toHaveLength(length)
        for (const files of [mine, formerly('old/name')]) {
          expect(await plan(files)).toMatchObject(emptyPlan)
          expect(errorsIn(await drift(files))).toEqual([])
          expect(errorsIn(await pull(files, ['**']))).toEqual([])
        }
      }),
  )

  it('an object of another project with the same name stays with the other project, beside a second set, with previous-project: false', () =>
    site(async ({ apply, plan }) => {
      await apply(mine, { project: 'other/project' })
      expect(outcomes(await apply(formerly(false)))).toEqual({ errors: 'created' })
      for (const project of ['other/project', undefined]) expect(await plan(mine, { ...(project && { project }) })).toMatchObject(emptyPlan)
    }))

  it('an object of another project with the same name is a warning once this project owns something', () =>
    site(async ({ apply, plan }) => {
      await apply(alerts({ first: { ...asItIs, name: 'First' } }))
      await apply(formerly(false), { project: 'other/project' })
      const planned = await plan({ 'a.json': { alerts: { first: { ...asItIs, name: 'First' }, errors: asItIs } } })
      expect(planned.diagnostics.map(({ rule, severity }) => [rule, severity])).toEqual([
        ['other-project', 'warning'],
        ['unchecked-query', 'note'],
      ])
      expect(actions(planned)).toEqual({ first: 'unchanged', errors: 'create' })
    }))
})

describe('a key that is renamed', () => {
  const named = (key: string, more: object = {}) => alerts({ [key]: { ...asItIs, name: 'Renamed', ...more } })

  it('a key that is renamed keeps its object with previousKey, and is created again without it, with a warning that says how to keep the old one', () =>
    site(async ({ apply, plan }) => {
      await apply(named('old'))
      const planned = await plan(named('new'))
      expect(actions(planned)).toEqual({ new: 'create' })
      expect(planned.diagnostics).toMatchObject([
        { rule: 'same-name', severity: 'warning', message: expect.stringContaining('previousKey: old') },
        { rule: 'unchecked-query', message: expect.stringContaining('were not run (alerts.new): set sql-key-id') },
      ])
      const { length } = serviceOf(emulator()).alerts
      expect(actions(await plan(named('new', { previousKey: 'old' })))).toEqual({ new: 'adopt' })
      expect(outcomes(await apply(named('new', { previousKey: 'old', threshold: 7 })))).toEqual({ new: 'updated' })
      expect(serviceOf(emulator()).alerts).toHaveLength(length)
      expect(await plan(named('new', { threshold: 7 }))).toMatchObject(emptyPlan)
    }))

  it('a key that is renamed keeps its own object where objects exist under both keys, and no file declares the other one', () =>
    site(async ({ apply, plan }) => {
      await apply(alerts({ old: { ...asItIs, name: 'Old' }, new: { ...asItIs, name: 'New' } }))
      const planned = await plan(alerts({ new: { ...asItIs, name: 'New', previousKey: 'old' } }))
      expect(actions(planned)).toEqual({ new: 'unchanged' })
      expect(planned.orphans).toMatchObject([{ key: 'old', name: 'Old' }])
    }))
})

it('adopts a dashboard and a saved search, and alerts can watch them', () =>
  site(async ({ apply, plan }) => {
    const { dashboards, savedSearches } = serviceOf(emulator())
    const overview = dashboards.find(({ name }) => name === 'Checkout overview')
    const search = savedSearches[0]
    if (overview === undefined || search === undefined) throw new Error('the demo has none')
    const tiles = overview.tiles.map(({ id: _, ...tile }) => tile)
    const filters = overview.filters.map(({ id: _, isBroadcastEnabled: __, isVariableEnabled: ___, ...filter }) => filter)
    const { name, sourceId, select, where, whereLanguage, orderBy } = search
    const content = {
      dashboards: { overview: { name: overview.name, tags: overview.tags, tiles, filters, adopt: true } },
      savedSearches: { search: { name, sourceId, select, where, whereLanguage, orderBy, tags: search.tags, adopt: search.id } },
      alerts: {
        found: { name: 'Found', savedSearch: 'search', ...watching },
        slow: { name: 'Slow', dashboard: 'overview', tile: 'Latency', ...watching },
      },
    }
    const files = await decided(plan, {
      'a.json': { ...content, dashboards: { overview: { ...content.dashboards.overview, tags: ['ours'] } } },
    })
    expect(actions(await plan(files))).toEqual({ overview: 'update', search: 'adopt', found: 'create', slow: 'create' })
    const unmanaged = serviceOf(emulator()).alerts.length
    expect(outcomes(await apply(files))).toEqual({ overview: 'updated', search: 'adopted', found: 'created', slow: 'created' })
    expect(serviceOf(emulator()).alerts).toHaveLength(unmanaged + 2)
    expect(overview.tags.at(-3)).toMatch(/^wk:/)
    expect(await plan(files)).toMatchObject(emptyPlan)
    expect(markersIn(emulator())).toHaveLength(4)
  }))

describe('a dashboard whose tiles an adoption writes again', () => {
  const overview = () => {
    const found = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Checkout overview')
    if (found === undefined) throw new Error('the demo has no such dashboard')
    return found
  }

  /** As pull writes it, with other fields. */
  const pulledWith = async ({ pull }: Site, fields: object) => {
    const files = afterPull({}, await pull({}, undefined, { select: conditions('kind=dashboard', 'name~Checkout overview') }))
    const [path = ''] = Object.keys(files)
    const { dashboards = {} } = parse(String(files[path])) as { dashboards?: Record<string, object> }
    return {
      [path]: {
        dashboards: Object.fromEntries(Object.entries(dashboards).map(([key, one]) => [key, { ...one, ...fields }])),
      },
    }
  }

  it('W17: is an error while an alert is on such a tile, stored or declared, and names the ways out', () =>
    site(async (one) => {
      const files = await pulledWith(one, { tags: ['more'] })
      const before = JSON.stringify(unownedIn(emulator()))
      const [stored] = errorsIn(await one.apply(files))
      expect(stored).toMatchObject({ rule: 'held' })
      for (const part of [
        `"Checkout errors" (${theirs().id}) on the tile "Error rate", "Checkout is slow"`,
        'dashboard: { name: "Checkout overview" }',
        'o accept the loss, set adopt to ',
      ])
        expect(stored?.message).toContain(part)
      expect(JSON.stringify(unownedIn(emulator()))).toBe(before)
      serviceOf(emulator()).alerts = []
      expect(errorsIn(await one.plan(files))).toEqual([])
      const [path = ''] = Object.keys(files)
      const slow = { name: 'Slow', dashboard: 'checkout-overview', tile: 'Latency', ...watching }
      const [declared] = errorsIn(await one.plan({ [path]: { ...(files[path] as object), alerts: { slow } } }))
      expect(declared?.message).toContain('"Slow" (new) on the tile "Latency". To accept')
    }))

  it('is a change that names its tiles, in plan and drift, and apply writes it where a decision accepts the loss', () =>
    site(async (one) => {
      const files = acceptingRewrites(await pulledWith(one, {}))
      const tiles = overview().tiles.map(({ name }) => name)
      const note = `writes ${tiles.length} tiles again (${tiles.join(', ')}), and loses the parts that the API does not return`
      for (const run of [one.plan, one.drift])
        expect(await run(files)).toMatchObject({
          changed: true,
          toUpdate: 1,
          unchanged: 0,
          objects: [{ action: 'update', fields: [], notes: ['adopts an unmanaged object', note], rewrites: tiles }],
        })
      expect(outcomes(await one.apply(files))).toEqual({ 'checkout-overview': 'updated' })
      expect(await one.plan(files)).toMatchObject(emptyPlan)
    }))

  it('is not said to lose anything where it has no tiles', () =>
    site(async (one) => {
      serviceOf(emulator()).dashboards.push({ ...structuredClone(overview()), id: '665f000000000000000000ee', name: 'Empty', tiles: [] })
      const adopt = '665f000000000000000000ee'
      const tile = { name: 'New', config: { displayType: 'markdown', markdown: 'x' } }
      for (const fields of [{ tags: ['more'], tiles: [] }, { tiles: [tile] }]) {
        const planned = await one.plan(
          await decided(one.plan, { 'a.json': { dashboards: { empty: { name: 'Empty', adopt, ...fields } } } }),
        )
        expect(planned).toMatchObject({ toUpdate: 1, diagnostics: [] })
        expect(planned.objects).toMatchObject([{ action: 'update', notes: ['adopts an unmanaged object'] }])
      }
    }))

  it('is left alone by the declarations of its alerts, without an error', () =>
    site(async ({ apply }) => {
      const before = JSON.stringify(overview())
      const applied = await apply(alerts({ errors: { ...asItIs, adopt: true } }))
      expect(errorsIn(applied)).toEqual([])
      expect(JSON.stringify(overview())).toBe(before)
    }))

  it('is only tracked after pull, without a warning, in pull, plan, apply and drift', () =>
    site(async ({ pull, plan, apply, drift }) => {
      const before = JSON.stringify(overview())
      const pulled = await pull({}, undefined, { select: conditions('kind=dashboard', 'name~Checkout overview') })
      expect(pulled.diagnostics).toEqual([])
      const files = afterPull({}, pulled)
      for (const run of [plan, drift])
        expect(await run(files)).toMatchObject({ ...emptyPlan, tracked: 1, toAdopt: 0, unchanged: 1, needsApply: false, diagnostics: [] })
      expect(await apply(files)).toMatchObject({ changed: false, objects: [{ outcome: 'unchanged', isTracked: true }] })
      expect(JSON.stringify(overview())).toBe(before)
    }))

  it('is equal with another language of an empty condition, which pull and updates keep', () =>
    site(async ({ pull, plan, apply }) => {
      const id = '665f000000000000000000ef'
      const series = { aggFn: 'count', where: '', whereLanguage: 'sql' }
      const config = { displayType: 'line', sourceId: serviceOf(emulator()).sources[0]?.id, select: [series] }
      const tile = { id: 't', name: 'Volume', x: 0, y: 0, w: 8, h: 10, config }
      serviceOf(emulator()).dashboards.push({ ...structuredClone(overview()), id, name: 'Broker', tags: [], filters: [], tiles: [tile] })
      const stored = () => serviceOf(emulator()).dashboards.find((one) => one.id === id)
      const before = structuredClone(stored()?.tiles)
      const declared = {
        name: 'Broker',
        tiles: [{ ...tile, id: undefined, config: { displayType: 'line', source: 'Logs', select: [{ aggFn: 'count' }] } }],
      }
      const files = (more: object = {}) => ({ 'a.json': { dashboards: { broker: { ...declared, ...more } } } })
      expect(await plan(files())).toMatchObject({ ...emptyPlan, unchanged: 1, diagnostics: [] })
      const pulled = await pull({}, undefined, { select: conditions('kind=dashboard', 'name~Broker') })
      expect(pulled.writtenFiles[0]?.content).toContain('whereLanguage: sql')
      expect(await plan(afterPull({}, pulled))).toMatchObject({ ...emptyPlan, diagnostics: [] })
      await apply(files())
      expect((await pull(files(), ['a.json'], { only: 'declared' })).writtenFiles).toEqual([])
      await apply(await decided(plan, files({ tags: ['new'] })))
      expect(stored()?.tags).toContain('new')
      expect(stored()?.tiles).toEqual(before)
    }))
})
