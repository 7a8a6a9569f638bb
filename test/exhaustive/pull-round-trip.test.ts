// Whatever a service has: what pull writes is valid, and leaves plan nothing to do.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { useEmulator } from '../support/emulator.ts'
import { type RandomService, randomService } from '../support/random-service.ts'
import { afterPull, type Site, type SiteFiles, storeOf, withSite } from '../support/site.ts'

/** What is wrong after everything was taken over. */
async function remains(site: Site, files: SiteFiles): Promise<readonly unknown[]> {
  const { objects } = await site.apply(files)
  const { changed, toAdopt } = await site.plan(files)
  const { writtenFiles } = await site.pull(files)
  return [
    ...objects.filter(({ outcome = '' }) => !['adopted', 'unchanged'].includes(outcome)),
    ...(changed || toAdopt > 0 ? ['plan'] : []),
    ...writtenFiles,
  ]
}

describe.each(['neutral', 'clickhouse-cloud'] as const)('%s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off', newFieldPrefix: 'novel' })

  /** What is wrong, in words; nothing when all is well. */
  async function wrongWith(random: RandomService, isNewer: boolean): Promise<readonly unknown[]> {
    emulator().reset()
    Object.assign(storeOf(emulator()), structuredClone(random))
    return withSite(emulator(), dialect, async (site) => {
      const pulled = await site.pull({})
      const outside = pulled.objects.filter(({ outcome: what }) => what !== 'added' && what !== 'other-project')
      const files = afterPull({}, pulled)
      if (Object.keys(files).length === 0) return [...pulled.diagnostics, ...outside]
      const { diagnostics, objects } = await site.plan(files)
      return [
        ...pulled.diagnostics,
        ...outside,
        ...diagnostics.filter(({ severity }) => severity === 'error'),
        ...objects.filter(({ action }) => action !== 'adopt'),
        ...(await site.pull(files)).writtenFiles,
        ...(isNewer ? [] : await remains(site, files)),
      ]
    })
  }

  it.each([false, true])(
    'pull, then plan is empty, for any service (with fields of a newer server: %s)',
    async (isNewer) => {
      const arbitrary = randomService(storeOf(emulator()), { dialect, isNewer, hasForeign: true })
      await fc.assert(
        fc.asyncProperty(arbitrary, async (random) => {
          expect(await wrongWith(random, isNewer)).toEqual([])
        }),
        { numRuns: 50 },
      )
    },
    240_000,
  )
})
