import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf } from '../../src/kinds/kind-names.ts'
import { serviceOf, useEmulator } from '../support/emulator.ts'
import { blend, commentsIn, type RandomService, randomService, respell, type Spelling, spelling } from '../support/random-declarations.ts'
import { runs } from '../support/seeds.ts'
import { acceptingRewrites, afterPull, differing, type Site, type SiteFiles, withSite } from '../support/site.ts'

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

describe.each(['neutral', 'clickhouse-cloud'] as const)('%s', (dialect) => {
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
    'pull, then plan is empty, for any service (with fields of a newer server: %s)',
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
    'pull changes what changed in a file, and nothing else (with fields of a newer server: %s)',
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
})
