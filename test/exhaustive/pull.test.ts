import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import type { JsonObject } from '../../src/emulator/index.ts'
import { isMapping } from '../../src/platform/core/keys.ts'
import { type Edit, editFile } from '../../src/sync/pull/edit-yaml.ts'
import { written } from '../support/declarations.ts'
import { parsed } from '../support/edits.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { blend, commentsIn, type RandomService, randomService, respell, type Spelling, spelling } from '../support/random-declarations.ts'
import { runs } from '../support/seeds.ts'
import { acceptingRewrites, afterPull, differing, emptyPlan, type Site, type SiteFiles, withSite } from '../support/site.ts'

/** What is not as expected after the files were applied. */
async function problemsAfterApply(site: Site, files: SiteFiles): Promise<readonly unknown[]> {
  const { objects } = await site.apply(acceptingRewrites(files))
  const { changed, toAdopt } = await site.plan(files)
  const { writtenFiles } = await site.pull(files)
  return [
    ...objects.filter(({ outcome = '', rewrites }) => !['adopted', 'unchanged', ...(rewrites ? ['updated'] : [])].includes(outcome)),
    ...(changed || toAdopt > 0 ? ['plan'] : []),
    ...writtenFiles,
  ]
}

/** Pulls, and formats the files in another way. */
async function pullFormatted(site: Site, how: Spelling): Promise<SiteFiles> {
  const pulled = await site.pull({})
  return Object.fromEntries(
    Object.entries(afterPull({}, pulled)).map(([path, text]) => [
      how.json ? path.replace('.yml', '.json') : path,
      respell(String(text), how),
    ]),
  )
}

const at = (value: unknown, ...path: (string | number)[]): JsonObject =>
  path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value) as JsonObject

/** Where unknown fields are added. */
const places: Readonly<Record<string, readonly (string | number)[]>> = {
  'a dashboard': ['dashboards', 0],
  'a tile': ['dashboards', 0, 'tiles', 0],
  'a config': ['dashboards', 0, 'tiles', 0, 'config'],
  'an item of a config': ['dashboards', 0, 'tiles', 0, 'config', 'select', 0],
  'a filter': ['dashboards', 0, 'filters', 0],
  'an alert': ['alerts', 0],
  'a channel': ['alerts', 0, 'channels', 0],
  'a saved search': ['savedSearches', 0],
}

const mapTexts = (files: SiteFiles, change: (text: string) => string): SiteFiles =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, change(String(text))]))

describe.each(['clickhouse-cloud'] as const)('pull with the profile %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off', newFieldPrefix: 'novel' })
  const put = (service: RandomService) => Object.assign(serviceOf(emulator()), structuredClone(service))

  /** Empty when the pull is right. */
  async function problemsAfterPull(random: RandomService, isNewer: boolean): Promise<readonly unknown[]> {
    emulator().reset()
    put(random)
    return withSite(emulator(), dialect, async (site) => {
      const pulled = await site.pull({})
      const outside = pulled.objects.filter(({ outcome }) => outcome !== 'added' && outcome !== 'other-project')
      const files = afterPull({}, pulled)
      const warnings = pulled.diagnostics
      if (Object.keys(files).length === 0) return [...warnings, ...outside]
      const planned = await site.plan(acceptingRewrites(files))
      return [
        ...warnings,
        ...outside,
        ...planned.diagnostics.filter(({ severity }) => severity === 'error'),
        ...differing(planned),
        ...planned.objects.filter(({ action, rewrites, isTracked }) => action !== 'adopt' && rewrites === undefined && !isTracked),
        ...(await site.pull(files)).writtenFiles,
        ...(isNewer ? [] : await problemsAfterApply(site, files)),
      ]
    })
  }

  it.each([false, true])(
    'F1: pull, then plan is empty, for any service (with fields of a newer server: %s)',
    async (isNewer) => {
      const arbitrary = randomService(serviceOf(emulator()), { isNewer, hasForeign: true })
      await fc.assert(
        fc.asyncProperty(arbitrary, async (random) => {
          expect(await problemsAfterPull(random, isNewer)).toEqual([])
        }),
        { numRuns: runs(25) },
      )
    },
    240_000,
  )

  /** Empty when the second pull is right. */
  async function problemsAfterUpdate(first: RandomService, second: RandomService, how: Spelling): Promise<readonly unknown[]> {
    emulator().reset()
    put(first)
    return withSite(emulator(), dialect, async (site) => {
      const files = await pullFormatted(site, how)
      const globs = [how.json ? 'observability/*.json' : 'observability/*.yml']
      const same = await site.pull(files, globs)
      put(second)
      const again = await site.pull(files, globs)
      const after = afterPull(files, again)
      const { objects } = Object.keys(after).length === 0 ? { objects: [] } : await site.plan(after)
      // Without its tile, the declaration of a deleted alert would be an error.
      const stay = again.objects.filter(({ reason = '' }) =>
        reason.endsWith('the service does not have this alert, so remove its declaration'),
      )
      const left = new Set(stay.map(({ id }) => id))
      // An alert cannot follow a tile of a dashboard that stays as it is.
      const staying = new Set([...left, ...second.alerts.filter(({ dashboardId }) => left.has(String(dashboardId))).map(({ id }) => id)])
      const lost = again.writtenFiles.flatMap(({ path, content }) =>
        commentsIn(String(files[path])).filter((one) => !content.includes(one)),
      )
      return [
        ...same.diagnostics,
        ...same.objects.filter(({ outcome }) => outcome !== 'unchanged'),
        ...same.writtenFiles,
        ...again.objects.filter(({ outcome, id }) => outcome === 'left-out' && !staying.has(id)),
        ...objects.filter(
          ({ action, id, rewrites, fields, isTracked }) =>
            id !== undefined && !staying.has(id) && action !== 'adopt' && !isTracked && (!rewrites || fields.length > 0),
        ),
        ...(await site.pull(after, globs)).writtenFiles,
        ...(how.json ? [] : lost),
      ]
    })
  }

  it.each([false, true])(
    'F2: pull changes what changed in a file, and nothing else (with fields of a newer server: %s)',
    async (isNewer) => {
      const service = randomService(serviceOf(emulator()), { isNewer })
      const choices = fc.array(fc.nat(5), { minLength: 20, maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(service, service, choices, spelling, async (first, second, choice, how) => {
          expect(await problemsAfterUpdate(first, blend(first, second, choice), how)).toEqual([])
        }),
        { numRuns: runs(20) },
      )
    },
    240_000,
  )

  it('F1: keeps unknown fields through a pull and an apply', async () => {
    for (const [place, path] of Object.entries(places)) {
      emulator().reset()
      const novel = { novel: { deep: [1, 'two', null] }, novelFlag: true }
      Object.assign(at(serviceOf(emulator()), ...path), novel)
      await withSite(emulator(), dialect, async (site) => {
        const pulled = await site.pull({})
        expect(pulled.leftOut, place).toBe(0)
        expect(pulled.diagnostics, place).toEqual([])
        const files = afterPull({}, pulled)
        expect(JSON.stringify(files), place).not.toContain('novel')
        expect(differing(await site.plan(files)), place).toEqual([])
        const renamed = mapTexts(files, (text) =>
          text.replaceAll(/^( {4}| {6}- )name: (\w)/gm, '$1name: New $2').replaceAll(/tile: (\w)/g, 'tile: New $1'),
        )
        // A tile keeps its id, and an alert its tile, although all of them are renamed.
        const withoutAdoption = mapTexts(renamed, (text) => text.replaceAll(/^ {4}adopt: .*\n/gm, ''))
        expect(
          (await site.apply(acceptingRewrites(files))).objects.filter(
            ({ outcome, rewrites }) => outcome !== (rewrites ? 'updated' : 'adopted'),
          ),
          place,
        ).toEqual([])
        expect(at(serviceOf(emulator()), ...path), place).toMatchObject(novel)
        expect(
          (await site.apply(withoutAdoption)).objects.filter(({ outcome }) => outcome !== 'updated'),
          place,
        ).toEqual([])
        expect(at(serviceOf(emulator()), ...path), place).toMatchObject(novel)
        expect(await site.plan(withoutAdoption), place).toMatchObject({ ...emptyPlan, toAdopt: 0 })
        expect((await site.pull(withoutAdoption)).writtenFiles, place).toEqual([])
      })
    }
  })
})

describe('pull of changed tiles', () => {
  const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
  const names = ['One', 'Two', 'Three', 'Four'] as const
  const place = fc.constantFrom('board.yml', 'alerts.yml', 'instances.yml')
  const alertOn = fc.record({ tile: fc.constantFrom(...names.slice(0, 3)), place, isAnchored: fc.boolean(), isByName: fc.boolean() })
  const edit = fc.record({
    what: fc.constantFrom('rename', 'rename', 'remove', 'change', 'delete alert', 'move alert', 'raise'),
    at: fc.nat(9),
    name: fc.constantFrom(...names),
  })
  const mode = fc.constantFrom({ only: 'drifted' } as const, { only: 'drifted-or-deleted' } as const, { only: 'declared' } as const, {})
  const given = fc.record({
    isSame: fc.boolean(),
    alerts: fc.array(alertOn, { minLength: 1, maxLength: 4 }),
    edits: fc.array(edit, { minLength: 1, maxLength: 4 }),
    mode,
    select: fc.constantFrom(undefined, 'dashboard', 'alert'),
    isRaised: fc.boolean(),
  })
  type Given = typeof given extends fc.Arbitrary<infer T> ? T : never

  function filesOf({ alerts, isSame }: Given, threshold: number): SiteFiles {
    const tiles = names.slice(0, 3).map((name, i) => {
      const where = isSame ? '' : `SeverityText = '${i}'`
      return { name, config: { displayType: 'line', source: 'Logs', select: [{ aggFn: 'count', where, whereLanguage: 'sql' }] } }
    })
    const board = stringify({ dashboards: { board: { name: 'Board', tiles } } })
    const toText = ({ tile, place, isAnchored, isByName }: Given['alerts'][number], i: number): string =>
      [
        `  ${place === 'instances.yml' ? written('‹instance.key›-') : ''}a${i}:${isAnchored ? ` &a${i}` : ''}`,
        `    name: A${i}`,
        `    dashboard: ${isByName && place !== 'board.yml' ? '{ name: Board }' : 'board'}`,
        `    tile: ${tile} # of alert ${i}`,
        `    threshold: ${threshold}`,
        '    interval: 5m',
        '    channel: { type: webhook, webhook: oncall }\n',
      ].join('\n')
    const inFile = (path: string): string => alerts.map((one, i) => (one.place === path ? toText(one, i) : '')).join('')
    const files = {
      'observability/board.yml': `${board}${inFile('board.yml') && `alerts:\n${inFile('board.yml')}`}`,
      'observability/alerts.yml': inFile('alerts.yml') && `alerts:\n${inFile('alerts.yml')}`,
      'observability/instances.yml': inFile('instances.yml') && `instances: { a: {}, b: {} }\nalerts:\n${inFile('instances.yml')}`,
    }
    return Object.fromEntries(Object.entries(files).filter(([, text]) => text !== ''))
  }

  function change({ what, at: index, name }: Given['edits'][number]): void {
    const service = serviceOf(emulator())
    const board = service.dashboards.find((one) => one.name === 'Board')
    const alerts = service.alerts.filter(({ dashboardId }) => dashboardId === board?.id)
    const [tile, alert] = [board?.tiles[index % board.tiles.length], alerts[index % alerts.length]]
    if (board === undefined || tile === undefined) return
    if (what === 'rename') tile.name = name
    if (what === 'change') Object.assign(tile.config, { displayType: 'stacked_bar' })
    if (what === 'raise' && alert !== undefined) alert.threshold += 1
    if (what === 'move alert' && alert !== undefined) alert.tileId = tile.id
    if (what === 'remove') board.tiles = board.tiles.filter((one) => one !== tile)
    // The server deletes the alerts of a tile with it.
    service.alerts = service.alerts.filter(
      (one) => !(what === 'delete alert' && one === alert) && !(what === 'remove' && one.tileId === tile.id),
    )
  }

  it('F1: every pull ends with valid files, and another one changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(given, async (one) => {
        emulator().reset()
        await withSite(emulator(), 'clickhouse-cloud', async (site) => {
          // An alert can name the dashboard once it exists.
          await site.apply(filesOf({ ...one, alerts: [] }, 5))
          const applied = await site.apply(filesOf(one, 5))
          expect(applied.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
          for (const each of one.edits) change(each)
          const files = filesOf(one, one.isRaised ? 7 : 5)
          const select = one.select === undefined ? {} : { select: [{ field: 'kind' as const, values: [one.select] }] }
          const pull = (current: SiteFiles) => site.pull(current, undefined, { ...one.mode, ...select })
          const after = afterPull(files, await pull(files))
          const again = await pull(after)
          expect([again.diagnostics.filter(({ severity }) => severity === 'error'), again.writtenFiles]).toEqual([[], []])
        })
      }),
      { numRuns: runs(40) },
    )
  }, 240_000)
})

type Fields = Readonly<Record<string, unknown>>

const scalar = fc.oneof(
  fc.constantFrom<unknown>(1, 2.5, true, 'a', '404', 'x: y', '# no', 'one\ntwo', ' lead', 'yes', '- x', '{', "it's"),
  fc.string({ maxLength: 6 }),
)
const field = fc.constantFrom('name', 'x', 'y', 'config', 'tags', 'tiles', 'raw')
const { any } = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.dictionary(field, tie('any'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(tie('any'), { maxLength: 4 }),
  ),
}))
const object = fc.dictionary(field, any, { minKeys: 1, maxKeys: 5, noNullPrototype: true })

/** Items and fields that go, come, change places and change. */
function mutate(value: unknown, other: unknown, next: () => number): unknown {
  const choice = next()
  if (choice < 4) return value
  const kept = <T>(all: readonly T[]): T[] => all.filter(() => next() > 1)
  if (Array.isArray(value) && choice < 8) {
    const items = [...kept(value).map((item: unknown) => mutate(item, other, next)), ...(next() > 5 ? [other] : [])]
    return next() > 6 ? items.toReversed() : items
  }
  if (isMapping(value) && choice < 9) {
    const fields = kept(Object.entries(value)).map(([name, item]) => [name, mutate(item, other, next)] as const)
    return Object.fromEntries([...fields, ...(next() > 5 ? [['extra', other] as const] : [])])
  }
  return other
}

const style = fc.record({
  indent: fc.constantFrom(2, 3, 4),
  indentSeq: fc.boolean(),
  collectionStyle: fc.constantFrom('any' as const, 'flow' as const),
  defaultStringType: fc.constantFrom('PLAIN' as const, 'QUOTE_DOUBLE' as const, 'QUOTE_SINGLE' as const),
})

it('F2: splices any change of some objects into a file, and keeps every byte of the others', () => {
  const keys = ['a', 'b', 'c', 'd'] as const
  const objects = fc.record({ a: object, b: object, c: object, d: object })
  fc.assert(
    fc.property(objects, any, style, fc.array(fc.nat(9), { minLength: 30 }), (before, other, how, choices) => {
      let at = 0
      const next = (): number => choices[at++ % choices.length] ?? 0
      const texts = keys.map((key) => {
        const text = stringify({ [key]: before[key] }, { ...how, lineWidth: 0, defaultKeyType: 'PLAIN', aliasDuplicateObjects: false })
        const lines = (how.collectionStyle === 'flow' ? text.trim().slice(1, -1).trim() : text.trimEnd()).split('\n')
        return `  # about ${key}\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}`
      })
      const text = `alerts:\n${texts.join('\n\n')}\n# the end\n`
      const changed = keys.map((key) => {
        const after = next() < 3 ? undefined : mutate(before[key], other, next)
        return isMapping(after) && Object.keys(after).length > 0 ? { key, before: before[key], after } : { key, before: before[key] }
      })
      const edits = changed.filter(() => next() > 3)
      const edited = editFile(
        'a.yml',
        text,
        edits.map((one): Edit => ({ kind: 'alert', ...one })),
      ).text
      const others = keys.filter((key) => !edits.some((one) => one.key === key))
      const left: Fields = {
        ...Object.fromEntries(others.map((key) => [key, before[key]])),
        ...Object.fromEntries(edits.flatMap(({ key, after }) => (after === undefined ? [] : [[key, after]]))),
      }
      expect(parsed(edited)).toEqual(Object.keys(left).length === 0 ? {} : { alerts: left })
      for (const key of others) expect(edited).toContain(texts[keys.indexOf(key)])
    }),
    { numRuns: 300 },
  )
})
