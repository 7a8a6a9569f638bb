// A create after another run may have created the object: when the list is read again, and which end of a create is not an error.
import { expect, it } from 'vitest'
import { createKinds } from '../../../src/kinds/kinds.ts'
import { profileNamed } from '../../../src/platform/api/profiles.ts'
import { WatchkeeperError } from '../../../src/platform/core/errors.ts'
import { createApplyState } from '../../../src/sync/apply/apply-state.ts'
import { createConcurrentRuns } from '../../../src/sync/apply/concurrent-runs.ts'
import { writeOne } from '../../../src/sync/apply/write.ts'
import type { Update } from '../../../src/sync/decide/change.ts'
import { indexStored } from '../../../src/sync/plan/stored-objects.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { remoteStateWith } from '../../support/plans.ts'
import { service, type TestSession, withSession } from '../../support/session.ts'

const emulator = useEmulator({ rateLimit: 'off' })
const kinds = createKinds(profileNamed('clickhouse-cloud'), Date.now())
const { savedSearch: kind } = kinds

const desiredOf = (key: string) =>
  kind.withMarker({ name: key, sourceId: serviceOf(emulator()).sources[0]?.id }, { project: 'shop/x', key, digest: '0a1b2c' })

const creation = (key: string) => ({ kind: 'savedSearch', desired: desiredOf(key) }) as const

type Runs = ReturnType<typeof createConcurrentRuns>

/** Of a plan that was made just now, when the service had nothing. */
const withRuns = (use: (runs: Runs, session: TestSession) => Promise<void>) =>
  withSession(emulator(), (session) => {
    const { api, clock } = session
    const lists = { savedSearch: indexStored([], kind) }
    return use(createConcurrentRuns({ api, service, kinds, clock, lists, listedAtMs: clock.monotonicMs() }), session)
  })

const store = ({ api }: TestSession, key: string) => kind.collection.create(api, service, desiredOf(key))

const countOfLists = (): number => emulator().requests.filter(({ method }) => method === 'GET').length

it('uses a list for ten seconds, and then reads one for all creates that wait', () =>
  withRuns(async (runs, session) => {
    await session.clock.sleep(10_000)
    await runs.create(creation('a'), () => store(session, 'a'))
    expect(countOfLists()).toBe(0)
    await session.clock.sleep(1)
    await Promise.all(['b', 'c'].map((key) => runs.create(creation(key), () => store(session, key))))
    expect(countOfLists()).toBe(1)
    await session.clock.sleep(20_000)
    runs.learn({ savedSearch: indexStored([], kind) })
    await runs.demandAbsent(creation('d'))
    expect(countOfLists()).toBe(1)
  }))

it('another object with the marker is a conflict, and the one that is replaced is none', () =>
  withRuns(async (runs, session) => {
    const { id } = await store(session, 'a')
    await session.clock.sleep(11_000)
    await expect(runs.demandAbsent(creation('a'))).rejects.toMatchObject({ kind: 'conflict', found: { id } })
    await expect(runs.demandAbsent({ ...creation('a'), replacedId: id })).resolves.toBeUndefined()
  }))

it('a replacement deletes its object, but not where another run has created one with its marker', () =>
  withRuns(async (concurrent, session) => {
    const [stored, other] = [await store(session, 'a'), await store(session, 'a')]
    const idsNow = () => serviceOf(emulator()).savedSearches.flatMap(({ id, name }) => (name === 'a' ? [id] : []))
    const common = { kind: 'savedSearch', key: 'a', name: 'a', location: { file: 'f.yml' }, notes: [], fields: [] } as const
    const change: Update = { ...common, action: 'replace', id: stored.id, stored, desired: desiredOf('a') }
    const options = { service, kinds, storedObjects: remoteStateWith(), listedAtMs: undefined, stop: session.stopSignal }
    const replace = async () => {
      await session.clock.sleep(11_000)
      const onProgress = async () => undefined
      const state = createApplyState(session.stopSignal, onProgress)
      await writeOne(change, change.desired, { ...session, ...options, onProgress, concurrent, state })
      return state.outcomeOf(change)
    }
    expect(await replace()).toMatchObject({ became: 'failed', isOfOtherRun: true })
    expect(idsNow()).toEqual([stored.id, other.id])
    await kind.collection.remove(session.api, service, other.id)
    const replaced = await replace()
    expect(replaced?.became).toBe('replaced')
    expect(idsNow()).toEqual([replaced?.id])
    expect(replaced?.id).not.toBe(stored.id)
  }))

it('only a create that was rejected and then not sent again looks for its object', () =>
  withRuns(async (runs, session) => {
    const create = (key: string, thrown: Error, notAfter?: AbortSignal) => {
      let isFirst = true
      return runs.create({ ...creation(key), notAfter }, async ({ onRejected }) => {
        if (!isFirst) return store(session, key)
        isFirst = false
        onRejected?.()
        throw thrown
      })
    }
    const notSent = new WatchkeeperError('canceled', 'It was not sent.')
    expect(await create('a', notSent)).toMatchObject({ name: 'a' })
    for (const error of [new WatchkeeperError('deadline', 'It is too late.'), new TypeError('A mistake.')])
      await expect(create('b', error)).rejects.toBe(error)
    await expect(create('c', notSent, AbortSignal.abort())).rejects.toBe(notSent)
    expect(countOfLists()).toBe(1)
  }))
