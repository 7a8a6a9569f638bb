// Snapshot markers on a server that stores what known defaults do not explain: objects of versions that wrote none, two versions in
// turn, runs that end before the snapshot is written, and a server that learns new defaults.

import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { drift } from '../../src/changes/drift.ts'
import type { Fault } from '../../src/emulator/index.ts'
import { addressOf } from '../../src/kinds/kind-names.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { errorRules, slow, tile } from '../support/shop-declaration.ts'
import { duplicateMarkersIn, emptyPlan, rememberState, type Site, type SiteFiles, stateOf, withSite } from '../support/site.ts'

const dialects = ['clickhouse-cloud'] as const

/** A server that stores compareToPreviousPeriod: true for every line, and numConsecutiveWindows: 1 for every alert. */
const unexplained = 31

/** One service of a dialect, with the files and questions that the tests share. */
function useService(dialect: (typeof dialects)[number]) {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })
  const store = () => serviceOf(emulator())
  const run = <T>(use: (site: Site) => Promise<T>, version = withSite): Promise<T> => version(emulator(), dialect, use)

  const texts = (): readonly string[] => [
    ...[...store().dashboards, ...store().savedSearches].flatMap(({ tags }) => (tags ?? []) as readonly string[]),
    ...store().alerts.flatMap(({ message, note }) => `${message ?? ''}\n${note ?? ''}`.split('\n')),
  ]
  const snapshots = () => texts().filter(isSnapshot)
  const eachSnapshot = (rewrite: (snapshot: string) => readonly string[]): void => {
    const rewritten = (lines: readonly string[]) => lines.flatMap((one) => (isSnapshot(one) ? rewrite(one) : [one]))
    const inText = (text: string | null): string | null => text && rewritten(text.split('\n')).join('\n')
    for (const dashboard of store().dashboards) dashboard.tags = [...rewritten(dashboard.tags)]
    for (const one of store().alerts) Object.assign(one, { message: inText(one.message), note: inText(one.note) })
  }

  const plan = (files: SiteFiles, version = withSite) => run((site) => site.plan(files, { prune: true }), version)
  /** With how often it wrote. Throws on errors. */
  const apply = async (files: SiteFiles, version = withSite) => {
    const before = emulator().requests.length
    const applied = await run((site) => site.apply(files, { prune: true }), version)
    if (errorRules(applied).length > 0) throw new Error(`apply says ${errorRules(applied)}`)
    const writes = emulator()
      .requests.slice(before)
      .filter(({ method, path }) => method !== 'GET' && !path.includes('/validate'))
    return { ...applied, writes: writes.length }
  }

  return {
    emulator,
    store,
    run,
    ...filesFor(store),
    snapshotsWith: (alerts: number): number => 1 + alerts,
    snapshots,
    /** Rewrites every tag, and every line of the texts, that is a snapshot. */
    eachSnapshot,
    ownershipMarkers: () => texts().filter((text) => /^(?:wk:|watchkeeper: )/.test(text)),
    /** Of all objects of the service, and of tiles; alerts with the tile that they are on. */
    ids: () => [
      ...store().dashboards.flatMap(({ id, tiles }) => [id, ...tiles.map((one) => `${id} ${one.id}`)]),
      ...store().savedSearches.map(({ id }) => id),
      ...store().alerts.map(({ id, dashboardId, tileId }) => `${id} on ${dashboardId} ${tileId}`),
    ],
    tiles: () =>
      store()
        .dashboards.filter(({ name }) => name === 'Shop')
        .flatMap(({ tiles }) => tiles),
    alerts: () => store().alerts.filter(({ name }) => name === 'Errors' || name === 'More'),
    plan,
    apply,
    /** What a version still has to do. */
    leftToDo: async (files: SiteFiles, version = withSite) => {
      const { changed, diagnostics } = await plan(files, version)
      const { writes } = await apply(files, version)
      return { changed, diagnostics: diagnostics.map(({ message }) => message), writes }
    },
    drifted: async (files: SiteFiles) => {
      const { changed, ...result } = await run((site) => site.drift(files))
      return {
        status: drift.judge?.({ changed, ...result }, {} as never).status,
        notes: notesOf(result),
        updates: result.objects.flatMap(({ kind, key, action, origin, fields }) =>
          action === 'unchanged'
            ? []
            : [{ object: addressOf({ kind, key }), action, origin, fields: fields.map(({ path }) => path).toSorted() }],
        ),
      }
    },
  }
}

function filesFor(store: () => ReturnType<typeof serviceOf>) {
  const alert = (name: string, tileName: string) => ({
    name,
    dashboard: 'shop',
    tile: tileName,
    threshold: 1,
    interval: '5m',
    message: 'Look',
    channel: { type: 'webhook', webhookId: store().webhooks[0]?.id },
  })
  const searches = { savedSearches: { slow } }
  return {
    /** No two tiles or alerts, so that nothing tells a default of the server from an edit. */
    single: (tag = 'shop', threshold = 1): SiteFiles => ({
      'a.json': {
        dashboards: { shop: { name: 'Shop', tags: [tag], tiles: [tile('A')] } },
        alerts: { errors: { ...alert('Errors', 'A'), threshold } },
      },
    }),
    /** Two tiles and two alerts that are alike. */
    pairs: (): SiteFiles => ({
      'a.json': {
        dashboards: { shop: { name: 'Shop', tags: ['shop'], tiles: [tile('A'), tile('B', 4)] } },
        ...searches,
        alerts: { errors: alert('Errors', 'A'), more: alert('More', 'B') },
      },
    }),
  }
}

const isSnapshot = (text: string): boolean => /^(?:wks\d+:|watchkeeper-snapshot: )/.test(text)

/** By the field that they name, in whichever tile. */
const notesOf = ({ diagnostics }: Pick<Awaited<ReturnType<Site['plan']>>, 'diagnostics'>): readonly string[] =>
  diagnostics
    // A write of a dashboard warns of hidden parts, whatever changed.
    .filter(({ rule }) => rule !== 'rewrites-tiles')
    .map(
      ({ rule, severity, message }) =>
        `${severity} ${rule}: ${message.replace(/^.*, such as (\S+)\. They.*$/, '$1').replace(/\["[AB]"\]/, '')}`,
    )

const nothing = { changed: false, diagnostics: [], writes: 0 }

/** A plan may show what was not finished; the objects are the same. */
const updatesOnly = { toCreate: 0, toReplace: 0, toDelete: 0 }

describe.each(dialects)('%s: objects of a version that wrote no snapshots', (dialect) => {
  const service = useService(dialect)
  const { emulator, store, pairs, single, plan, apply, ids, snapshots, snapshotsWith, leftToDo, ownershipMarkers } = service

  it('objects without snapshots are as declared where known defaults explain what is stored, and their markers stay byte for byte', async () => {
    await apply(pairs())
    // As the last version without snapshots wrote them for this file.
    const markers = [
      'wk:08f2bd:shop:fc81e3',
      'wk:08f2bd:slow:e231a0',
      'watchkeeper: shop/observability errors bbccb1',
      'watchkeeper: shop/observability more e02046',
    ]
    expect([ownershipMarkers(), snapshots()]).toEqual([markers, []])
    const before = JSON.stringify(store())
    expect(await leftToDo(pairs())).toEqual(nothing)
    expect(await service.drifted(pairs())).toEqual({ status: 'pass', notes: [], updates: [] })
    expect(JSON.stringify(store())).toBe(before)
  })

  it('objects without snapshots are updated once where an unknown default may be an edit, and gain snapshots', async () => {
    emulator().setUnknownDefaults(unexplained)
    await apply(single())
    expect(snapshots()).toHaveLength(snapshotsWith(1))
    service.eachSnapshot(() => [])
    expect(snapshots()).toEqual([])
    const [known, markers] = [ids(), ownershipMarkers()]
    expect(await plan(single())).toMatchObject({ ...updatesOnly, toUpdate: snapshotsWith(1) })
    expect(await apply(single())).toMatchObject({ ...updatesOnly, writes: 2 * snapshotsWith(1) })
    expect(snapshots()).toHaveLength(snapshotsWith(1))
    expect(await leftToDo(single())).toEqual(nothing)
    expect([ids(), ownershipMarkers()]).toEqual([known, markers])
  })

  it('objects without snapshots are not changed where all of them have the same unknown default, with a note', async () => {
    emulator().setUnknownDefaults(unexplained)
    await apply(pairs())
    expect(snapshots()).toHaveLength(snapshotsWith(2))
    service.eachSnapshot(() => [])
    const before = JSON.stringify(store())
    const planned = await plan(pairs())
    expect(planned).toMatchObject(emptyPlan)
    expect(notesOf(planned)[0]).toBe('note server-default: tiles.config.compareToPreviousPeriod')
    expect(await apply(pairs())).toMatchObject({ ...emptyPlan, writes: 0 })
    expect(JSON.stringify(store())).toBe(before)
  })

  it('objects without snapshots gain snapshots with the next change of their declarations', async () => {
    await apply(single())
    expect(snapshots()).toEqual([])
    emulator().setUnknownDefaults(unexplained)
    const known = ids()
    expect(await apply(single('changed', 2))).toMatchObject({ ...updatesOnly, toUpdate: 2 })
    expect(snapshots()).toHaveLength(snapshotsWith(1))
    expect(await leftToDo(single('changed', 2))).toEqual(nothing)
    expect(ids()).toEqual(known)
  })
})

type Version = typeof withSite

/** This tool with other known defaults: a second instance of its modules, changed before it looks any of them up. */
async function versionThat(knows: { readonly fillNulls: boolean; readonly ofThisServer: boolean }): Promise<Version> {
  vi.resetModules()
  const [{ builtConfig }, { declaredAlert }, site] = await Promise.all([
    import('../../src/kinds/dashboard/tile-schema.ts'),
    import('../../src/kinds/alert/alert.ts'),
    import('../support/site.ts'),
  ])
  const [line] = builtConfig.options
  if (!knows.fillNulls) line.shape.fillNulls.register(z.globalRegistry, { serverDefault: undefined })
  if (knows.ofThisServer) {
    line.shape.compareToPreviousPeriod.register(z.globalRegistry, { serverDefault: true })
    const { numConsecutiveWindows } = declaredAlert.shape
    numConsecutiveWindows.register(z.globalRegistry, { ...z.globalRegistry.get(numConsecutiveWindows), serverDefault: 1 })
  }
  return site.withSite
}

describe.each(dialects)('%s: two versions in turn', (dialect) => {
  const service = useService(dialect)
  const { emulator, single, pairs, plan, apply, ids, snapshots, snapshotsWith, leftToDo } = service

  beforeEach(() => emulator().setUnknownDefaults(unexplained))
  // Files that run later in this process share the modules.
  afterAll(() => void vi.resetModules())

  /** One applies the files, and then the other one does: what each of them finds, and what is left to do in the end. */
  async function handOver(files: SiteFiles, [mine, other]: readonly [Version, Version]) {
    await apply(files, mine)
    const { changed } = await plan(files, mine)
    const { toUpdate, toCreate, toReplace, toDelete } = await plan(files, other)
    await apply(files, other)
    const left = [await leftToDo(files, other), await leftToDo(files, mine), await leftToDo(files, other)]
    const kept = { ids: ids(), doubles: duplicateMarkersIn(emulator()), snapshots: snapshots().length }
    return { isOwnEmpty: !changed, toUpdate, others: { toCreate, toReplace, toDelete }, left, kept }
  }

  /** On a new service, with a change of both objects each time. */
  async function inTurn(first: Version, second: Version) {
    emulator().reset()
    emulator().setUnknownDefaults(unexplained)
    const found: Awaited<ReturnType<typeof handOver>>[] = []
    for (const round of [1, 2, 3, 4])
      found.push(await handOver(single(`round-${round}`, round), round % 2 ? [first, second] : [second, first]))
    return found
  }

  /** That the other version wanted so many updates each time, and that all is well. */
  const asExpected = (...updates: readonly number[]) =>
    updates.map((toUpdate) => ({
      isOwnEmpty: true,
      toUpdate,
      others: updatesOnly,
      left: [nothing, nothing, nothing],
      kept: { ids: ids(), doubles: [], snapshots: snapshotsWith(1) },
    }))

  it('two versions leave each other nothing to do where both need snapshots, for different defaults', async () => {
    const other = await versionThat({ fillNulls: false, ofThisServer: true })
    expect(await inTurn(withSite, other)).toEqual(asExpected(0, 0, 0, 0))
    // It knows the default of alerts, and so writes no snapshot of them before this version has done so.
    expect(await inTurn(other, withSite)).toEqual(asExpected(1, 0, 0, 0))
  })

  it('two versions leave each other nothing to do where only one needs snapshots, once it has written them', async () => {
    const other = await versionThat({ fillNulls: true, ofThisServer: true })
    await apply(single(), other)
    expect(snapshots()).toEqual([])
    expect(await inTurn(withSite, other)).toEqual(asExpected(0, 0, 0, 0))
    expect(await inTurn(other, withSite)).toEqual(asExpected(snapshotsWith(1), 0, 0, 0))
  })

  /** The snapshots of this revision and those of another change places: what runs then is a version of the other one. */
  async function asOtherRevision<T>(use: () => Promise<T>): Promise<T> {
    const names = new Map([
      ['wks1:', 'wks99:'],
      ['wks99:', 'wks1:'],
      ['snapshot: 1 ', 'snapshot: 99 '],
      ['snapshot: 99 ', 'snapshot: 1 '],
    ])
    const exchange = () => service.eachSnapshot((text) => [text.replace(/^wks\d+:|snapshot: \d+ /, (found) => names.get(found) ?? found)])
    exchange()
    try {
      return await use()
    } finally {
      exchange()
    }
  }

  it('two versions with snapshots of different revisions write each object once per turn, and keep one snapshot on each', async () => {
    await apply(single())
    const known = ids()
    for (const turn of Array.from({ length: 3 }, () => [asOtherRevision, <T>(use: () => Promise<T>) => use()]).flat()) {
      await turn(async () => {
        expect(await plan(single())).toMatchObject({ ...updatesOnly, toUpdate: snapshotsWith(1) })
        expect(await apply(single())).toMatchObject({ ...updatesOnly, writes: 2 * snapshotsWith(1) })
        expect(await leftToDo(single())).toEqual(nothing)
        expect([ids(), snapshots().length]).toEqual([known, snapshotsWith(1)])
      })
    }
  })

  it('two versions with snapshots of different revisions write nothing where all objects are alike, or known defaults explain them', async () => {
    await apply(pairs())
    for (const defaults of [unexplained, undefined]) {
      emulator().setUnknownDefaults(defaults)
      const before = stateOf(emulator())
      await asOtherRevision(async () => {
        expect(snapshots()).toHaveLength(snapshotsWith(2))
        expect(await leftToDo(pairs())).toMatchObject({ changed: false, writes: 0 })
      })
      expect(stateOf(emulator())).toEqual(before)
    }
  })
})

describe.each(dialects)('%s: a run that ends before its snapshots are written', (dialect) => {
  const service = useService(dialect)
  const { emulator, single, pairs, plan, apply, ids, snapshots, snapshotsWith, leftToDo } = service

  beforeEach(() => emulator().setUnknownDefaults(unexplained))

  const putsSince = (start: number) =>
    emulator()
      .requests.slice(start)
      .filter(({ method }) => method === 'PUT')

  /** Ends as a process does that is killed: nothing is sent after the nth PUT. */
  async function killAtPut(nth: number, act: 'before' | 'after', files: SiteFiles): Promise<void> {
    const start = emulator().requests.length
    emulator().addFault({ match: { method: 'PUT' }, nth, act, effect: { kind: 'hang' } })
    await service.run(async ({ session, ...site }) => {
      const running = site.apply(files, { prune: true }).catch(() => undefined)
      while (putsSince(start).length < nth) await wait(1)
      session.stop()
      session.abort()
      await running
    })
    emulator().clearFaults()
    if (putsSince(start).length > nth) throw new Error('it was not killed')
  }

  /** What the next two runs find and leave behind. */
  async function nextRuns(files: SiteFiles) {
    const known = ids()
    const { toCreate, toReplace, toDelete, toUpdate } = await plan(files)
    const applied = await apply(files)
    const { changed, writes } = await leftToDo(files)
    const isSame = JSON.stringify(ids()) === JSON.stringify(known)
    return {
      planned: { toCreate, toReplace, toDelete },
      isAsPlanned: applied.toUpdate === toUpdate,
      left: { changed, writes },
      isSame,
      doubles: duplicateMarkersIn(emulator()),
      alerts: service.alerts().length,
    }
  }

  const finished = { planned: updatesOnly, isAsPlanned: true, left: { changed: false, writes: 0 }, isSame: true, doubles: [] }

  describe.each(['before', 'after'] as const)('killed at a write, %s it was stored', (act) => {
    it.each([
      ['one alert', 1],
      ['two alerts that are alike', 2],
    ] as const)(
      'a run that was killed at the write of a snapshot after the creates of %s: the next run finishes the same objects',
      async (_, alerts) => {
        const restore = rememberState(emulator())
        const files = alerts === 1 ? single() : pairs()
        const start = emulator().requests.length
        await apply(files)
        // All PUTs of a first apply write snapshots.
        const puts = putsSince(start).map(({ text }) => /wks1:|watchkeeper-snapshot: 1/.test(text))
        expect(puts).toEqual(Array(snapshotsWith(alerts)).fill(true))
        for (const i of puts.keys()) {
          restore()
          await killAtPut(i + 1, act, files)
          const stored = act === 'before' ? i : i + 1
          expect(snapshots()).toHaveLength(stored)
          if (alerts === 1) expect((await plan(files)).toUpdate).toBe(snapshotsWith(1) - stored)
          expect(await nextRuns(files)).toEqual({ ...finished, alerts })
        }
      },
    )

    it('a run that was killed at an update: the next run ends as an undisturbed one', async () => {
      await apply(single())
      const [restore, known] = [rememberState(emulator()), ids()]
      const start = emulator().requests.length
      await apply(single('changed', 2))
      const [puts, whole] = [putsSince(start).length, stateOf(emulator())]
      expect(puts).toBe(2 + snapshotsWith(1))
      for (let nth = 1; nth <= puts; nth++) {
        restore()
        await killAtPut(nth, act, single('changed', 2))
        expect([nth, await nextRuns(single('changed', 2))]).toEqual([nth, { ...finished, alerts: 1 }])
        expect([nth, ids(), stateOf(emulator())]).toEqual([nth, known, whole])
      }
    })
  })

  const failures: Readonly<Record<string, Omit<Fault, 'match' | 'times'>>> = {
    'is refused': { effect: { kind: 'status', status: 400 } },
    'always fails': { effect: { kind: 'status', status: 503 } },
    'is lost': { effect: { kind: 'reset' } },
    'is stored without an answer': { act: 'after', effect: { kind: 'reset' } },
  }

  it.each(Object.entries(failures))('a run whose snapshot %s reports it, and the next run finishes it', async (name, fault) => {
    emulator().addFault({ match: { method: 'PUT' }, times: Number.POSITIVE_INFINITY, ...fault })
    const applied = await service.run((site) => site.apply(single()))
    emulator().clearFaults()
    expect(applied.objects.map(({ outcome }) => outcome)).toEqual(['created', 'created'])
    expect(errorRules(applied)).toEqual(Array(snapshotsWith(1)).fill('snapshot-failed'))
    const stored = name === 'is stored without an answer' ? snapshotsWith(1) : 0
    expect(snapshots()).toHaveLength(stored)
    expect((await plan(single())).toUpdate).toBe(snapshotsWith(1) - stored)
    expect(await nextRuns(single())).toEqual({ ...finished, alerts: 1 })
    expect(snapshots()).toHaveLength(snapshotsWith(1))
  })
})

/** With snapshots, and on a server that needs none. */
const servers = [
  ['with snapshots', unexplained],
  ['without snapshots', undefined],
] as const

const cases = dialects.flatMap((dialect) => servers.map(([name, defaults]) => ({ dialect, name, defaults })))

describe.each(cases)('$dialect: a server $name that changes after the apply', ({ dialect, defaults }) => {
  const service = useService(dialect)
  const { emulator, store, single, pairs, apply, ids, snapshots, snapshotsWith, tiles, alerts, drifted, leftToDo } = service
  const configs = () => tiles().map(({ config }) => config)

  async function applied(files: SiteFiles): Promise<void> {
    emulator().setUnknownDefaults(defaults)
    await apply(files)
    if (snapshots().length !== (defaults === undefined ? 0 : snapshotsWith(alerts().length)))
      throw new Error('other snapshots than expected')
  }

  const passes = { status: 'pass', notes: [], updates: [] }
  const drift = (object: string, ...fields: readonly string[]) => ({
    status: 'fail',
    notes: [],
    // A snapshot does not tell which of the fields that it explains was changed since.
    updates: [
      {
        object,
        action: 'update',
        origin: 'service',
        fields: defaults === undefined ? fields.toSorted() : expect.arrayContaining([...fields]),
      },
    ],
  })

  /** What drift says, and whether the next run changes nothing at all. */
  async function afterDefault(files: SiteFiles) {
    const before = JSON.stringify([ids(), store()])
    const found = await drifted(files)
    const { writes } = await apply(files)
    return { ...found, writes, isSame: JSON.stringify([ids(), store()]) === before }
  }

  /** What drift says, and whether the next run takes it back in the same objects. */
  async function afterEdit(files: SiteFiles) {
    const known = JSON.stringify(ids())
    const found = await drifted(files)
    await apply(files)
    return { ...found, left: await leftToDo(files), isSame: JSON.stringify(ids()) === known }
  }

  /** A snapshot does not tell a new default from an edit of all objects. */
  async function updatedOnce() {
    const { updates, ...after } = await afterEdit(pairs())
    return { ...after, objects: updates.map(({ object }) => object) }
  }
  const updatesOnce = (...objects: readonly string[]) => ({ status: 'fail', notes: [], objects, left: nothing, isSame: true })

  it('a change by a new default of all tiles passes with a note, or updates an object with a snapshot once', async () => {
    await applied(pairs())
    for (const config of configs()) config.fitYAxisToData = true
    if (defaults !== undefined) return expect(await updatedOnce()).toEqual(updatesOnce('dashboards.shop'))
    const notes = ['note server-default: tiles.config.fitYAxisToData']
    expect(await afterDefault(pairs())).toEqual({ ...passes, notes, writes: 0, isSame: true })
  })

  it('a change by a new default of all alerts passes with a note, or updates objects with snapshots once', async () => {
    await applied(pairs())
    for (const alert of alerts()) alert.scheduleOffsetMinutes = 2
    if (defaults !== undefined) return expect(await updatedOnce()).toEqual(updatesOnce('alerts.errors', 'alerts.more'))
    const notes = ['note server-default: scheduleOffsetMinutes']
    expect(await afterDefault(pairs())).toEqual({ ...passes, notes, writes: 0, isSame: true })
  })

  it('a change in one tile only has drifted, and the field is named', async () => {
    await applied(pairs())
    Object.assign(configs()[1] ?? {}, { fitYAxisToData: true })
    const expected = drift('dashboards.shop', 'tiles["B"].config.fitYAxisToData')
    expect(await afterEdit(pairs())).toEqual({ ...expected, left: nothing, isSame: true })
    expect(configs().some((config) => Object.hasOwn(config, 'fitYAxisToData'))).toBe(false)
  })

  it('a change in two tiles to different values has drifted, and both fields are named', async () => {
    await applied(pairs())
    for (const [i, config] of configs().entries()) config.seriesLimit = 7 + i
    const expected = drift('dashboards.shop', 'tiles["A"].config.seriesLimit', 'tiles["B"].config.seriesLimit')
    expect(await afterEdit(pairs())).toEqual({ ...expected, left: nothing, isSame: true })
  })

  it('a change in the only tile of its kind has drifted: it may as well be an edit', async () => {
    await applied(single())
    Object.assign(configs()[0] ?? {}, { fitYAxisToData: true })
    const expected = drift('dashboards.shop', 'tiles["A"].config.fitYAxisToData')
    expect(await afterEdit(single())).toEqual({ ...expected, left: nothing, isSame: true })
  })

  it('a change by a new default has drifted where a person edited a tile as well, and that field is named', async () => {
    await applied(pairs())
    for (const config of configs()) config.fitYAxisToData = true
    Object.assign(configs()[0] ?? {}, { seriesLimit: 7 })
    const expected = drift('dashboards.shop', 'tiles["A"].config.seriesLimit')
    expect(await afterEdit(pairs())).toMatchObject({ ...expected, left: { changed: false, writes: 0 }, isSame: true })
  })

  it('a change in one alert only has drifted, and the field is named where the dialect has it', async () => {
    await applied(pairs())
    Object.assign(alerts()[1] ?? {}, { scheduleOffsetMinutes: 2 })
    const expected = drift('alerts.more', 'scheduleOffsetMinutes')
    expect(await afterEdit(pairs())).toEqual({ ...expected, left: nothing, isSame: true })
  })

  it('a change in a field that a file declares has drifted, and the field is named, beside those that the server filled in', async () => {
    await applied(pairs())
    Object.assign(tiles()[0] ?? {}, { w: 7 })
    const candidates = ['A', 'B'].map((name) => `tiles["${name}"].config.compareToPreviousPeriod`)
    const expected = drift('dashboards.shop', ...(defaults === undefined ? [] : candidates), 'tiles["A"].w')
    expect(await afterEdit(pairs())).toEqual({ ...expected, left: nothing, isSame: true })
  })

  it('a change by unknown defaults of all kinds passes where there were none, with a note for each kind', async () => {
    await applied(pairs())
    emulator().setUnknownDefaults(unexplained)
    const notes = ['tiles.config.compareToPreviousPeriod', 'numConsecutiveWindows']
    const expected = { ...passes, notes: defaults === undefined ? notes.map((field) => `note server-default: ${field}`) : [] }
    expect(await afterDefault(pairs())).toEqual({ ...expected, writes: 0, isSame: true })
  })

  it('a change of all defaults causes updates of the same objects, once each time', async () => {
    await applied(single())
    for (const next of [0, 5, undefined, unexplained]) {
      emulator().setUnknownDefaults(next)
      const { updates, ...after } = await afterEdit(single())
      expect(updates.every(({ action }) => action === 'update')).toBe(true)
      expect(after).toMatchObject({ left: nothing, isSame: true })
      expect(duplicateMarkersIn(emulator())).toEqual([])
    }
  })
})
