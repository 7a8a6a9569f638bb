// Whatever changed in the service, and however somebody spelt the files: a pull changes what changed, and nothing else.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blend } from '../support/blended-service.ts'
import { useEmulator } from '../support/emulator.ts'
import { type RandomService, randomService } from '../support/random-service.ts'
import { afterPull, type Site, type SiteFiles, storeOf, withSite } from '../support/site.ts'
import { commentsIn, respell, type Spelling, spelling } from '../support/spellings.ts'

/** What a first pull writes, as somebody else would have written it. */
async function firstFiles(site: Site, how: Spelling): Promise<SiteFiles> {
  const pulled = await site.pull({})
  const ids = new Map(pulled.objects.map(({ section, key, id = '' }) => [`${section}.${key}`, id]))
  return Object.fromEntries(
    Object.entries(afterPull({}, pulled)).map(([path, text]) => [
      how.json ? path.replace('.yml', '.json') : path,
      respell(String(text), ids, how),
    ]),
  )
}

describe.each(['neutral', 'clickhouse-cloud'] as const)('%s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off', newFieldPrefix: 'novel' })
  const put = (service: RandomService) => Object.assign(storeOf(emulator()), structuredClone(service))

  /** What is wrong, in words; nothing when all is well. */
  async function wrongWith(first: RandomService, second: RandomService, how: Spelling): Promise<readonly unknown[]> {
    emulator().reset()
    put(first)
    return withSite(emulator(), dialect, async (site) => {
      const files = await firstFiles(site, how)
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
        ...same.diagnostics,
        ...same.objects.filter(({ outcome: what }) => what !== 'unchanged'),
        ...same.writtenFiles,
        ...again.objects.filter(({ outcome: what }) => what === 'left-out'),
        ...objects.filter(({ action, id }) => id !== undefined && action !== 'adopt'),
        ...(await site.pull(after, globs)).writtenFiles,
        ...(how.json ? [] : lost),
      ]
    })
  }

  it.each([false, true])(
    'changes what changed, and nothing else (with fields of a newer server: %s)',
    async (isNewer) => {
      const service = randomService(storeOf(emulator()), { dialect, isNewer })
      const choices = fc.array(fc.nat(5), { minLength: 20, maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(service, service, choices, spelling, async (first, second, choice, how) => {
          expect(await wrongWith(first, blend(first, second, choice), how)).toEqual([])
        }),
        { numRuns: 40 },
      )
    },
    240_000,
  )
})
