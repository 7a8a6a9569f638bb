import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { isMapping } from '../../src/core/keys.ts'
import type { JsonObject } from '../../src/emulator/index.ts'
import { addressOf } from '../../src/kinds/kind-names.ts'
import { type Edit, editFile } from '../../src/sync/pull/edit-yaml.ts'
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
  const ids = new Map(pulled.objects.map(({ kind, key, id = '' }) => [addressOf({ kind, key }), id]))
  return Object.fromEntries(
    Object.entries(afterPull({}, pulled)).map(([path, text]) => [
      how.json ? path.replace('.yml', '.json') : path,
      respell(String(text), ids, how),
    ]),
  )
}

const at = (value: unknown, ...path: (string | number)[]): JsonObject =>
  path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value) as JsonObject

/** Where unknown fields are added. In the neutral profile, alerts have documented fields only. */
const places: Readonly<Record<string, readonly (string | number)[]>> = {
  'a dashboard': ['dashboards', 0],
  'a tile': ['dashboards', 0, 'tiles', 0],
  'a config': ['dashboards', 0, 'tiles', 0, 'config'],
  'an item of a config': ['dashboards', 0, 'tiles', 0, 'config', 'select', 0],
  'a filter': ['dashboards', 0, 'filters', 0],
}
const cloudPlaces = {
  ...places,
  'an alert': ['alerts', 0],
  'a channel': ['alerts', 0, 'channels', 0],
  'a saved search': ['savedSearches', 0],
}

const mapTexts = (files: SiteFiles, change: (text: string) => string): SiteFiles =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, change(String(text))]))

describe.each(['neutral', 'clickhouse-cloud'] as const)('pull with the profile %s', (dialect) => {
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
      const warnings = pulled.diagnostics.filter(({ rule }) => rule !== 'rewrites-tiles')
      if (Object.keys(files).length === 0) return [...warnings, ...outside]
      const planned = await site.plan(acceptingRewrites(files))
      return [
        ...warnings,
        ...outside,
        ...planned.diagnostics.filter(({ severity }) => severity === 'error'),
        ...differing(planned),
        ...planned.objects.filter(({ action, rewrites }) => action !== 'adopt' && rewrites === undefined),
        ...(await site.pull(files)).writtenFiles,
        ...(isNewer ? [] : await problemsAfterApply(site, files)),
      ]
    })
  }

  it.each([false, true])(
    'F1: pull, then plan is empty, for any service (with fields of a newer server: %s)',
    async (isNewer) => {
      const arbitrary = randomService(serviceOf(emulator()), { dialect, isNewer, hasForeign: true })
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
      const lost = again.writtenFiles.flatMap(({ path, content }) =>
        commentsIn(String(files[path])).filter((one) => !content.includes(one)),
      )
      return [
        ...same.diagnostics.filter(({ rule }) => rule !== 'rewrites-tiles'),
        ...same.objects.filter(({ outcome }) => outcome !== 'unchanged'),
        ...same.writtenFiles,
        ...again.objects.filter(({ outcome }) => outcome === 'left-out'),
        ...objects.filter(({ action, id, rewrites, fields }) => id !== undefined && action !== 'adopt' && (!rewrites || fields.length > 0)),
        ...(await site.pull(after, globs)).writtenFiles,
        ...(how.json ? [] : lost),
      ]
    })
  }

  it.each([false, true])(
    'F2: pull changes what changed in a file, and nothing else (with fields of a newer server: %s)',
    async (isNewer) => {
      const service = randomService(serviceOf(emulator()), { dialect, isNewer })
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
    for (const [place, path] of Object.entries(dialect === 'neutral' ? places : cloudPlaces)) {
      emulator().reset()
      const novel = { novel: { deep: [1, 'two', null] }, novelFlag: true }
      Object.assign(at(serviceOf(emulator()), ...path), novel)
      await withSite(emulator(), dialect, async (site) => {
        const pulled = await site.pull({})
        expect(pulled.leftOut, place).toBe(0)
        expect(
          pulled.diagnostics.filter(({ rule }) => rule !== 'rewrites-tiles'),
          place,
        ).toEqual([])
        const files = afterPull({}, pulled)
        expect(JSON.stringify(files), place).not.toContain('novel')
        expect(differing(await site.plan(files)), place).toEqual([])
        const renamed = mapTexts(files, (text) =>
          text.replaceAll(/^( {4}| {6}- )name: (\w)/gm, '$1name: New $2').replaceAll(/tile: (\w)/g, 'tile: New $1'),
        )
        // A tile keeps its id, and an alert its tile, although all of them are renamed.
        const withoutAdoption = mapTexts(renamed, (text) => text.replaceAll('    adopt: true\n', ''))
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
      const edited = editFile({ path: 'a.yml', text, defaults: {}, edits: edits.map((one): Edit => ({ kind: 'alert', ...one })) }).text
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
