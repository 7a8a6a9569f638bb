import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { neutral } from '../../src/api/profiles.ts'
import type { Service } from '../../src/emulator/index.ts'
import { addressOf } from '../../src/kinds/kind-names.ts'
import { cloud, errors, type Lists, pull } from '../support/plans.ts'
import { blend, commentsIn, type RandomService, randomService, respell, type Spelling, spelling } from '../support/random-declarations.ts'

const connections = [{ id: 'c0' }]
const sources = ['log', 'trace'].map((kind, i) => ({ id: `s${i}`, name: kind, kind, connection: 'c0' }))
const webhooks = ['oncall', 'audit'].map((name, i) => ({ id: `w${i}`, name }))

const remoteStateOf = (service: RandomService): Lists => ({ ...service, source: sources, webhook: webhooks })

const service = { sources, connections, webhooks, alerts: [errors] } as unknown as Service

type Files = Readonly<Record<string, string>>

describe.each(['neutral', 'clickhouse-cloud'] as const)('%s', (dialect) => {
  const profile = dialect === 'neutral' ? neutral : cloud

  /** What a first pull writes, as somebody else would have written it. */
  function firstFiles(random: RandomService, how: Spelling): Files {
    const { objects, after } = pull(remoteStateOf(random), {}, { profile })
    const ids = new Map(objects.map(({ kind, key, id = '' }) => [addressOf({ kind, key }), id]))
    return Object.fromEntries(
      Object.entries(after).map(([path, text]) => [how.json ? path.replace('.yml', '.json') : path, respell(text, ids, how)]),
    )
  }

  it('declares every object of any service so that plan has nothing to do', () => {
    const arbitrary = randomService(service, { dialect, isNewer: true, hasForeign: true })
    fc.assert(
      fc.property(arbitrary, (random) => {
        const { objects, unverified, after } = pull(remoteStateOf(random), {}, { profile })
        expect(unverified).toEqual({})
        expect(objects.filter(({ outcome }) => outcome !== 'added' && outcome !== 'other-project')).toEqual([])
        expect(pull(remoteStateOf(random), after, { profile }).files).toEqual([])
      }),
      { numRuns: 10 },
    )
  })

  it('changes what changed in files with any formatting, and keeps their comments', () => {
    const arbitrary = randomService(service, { dialect, isNewer: true })
    const choices = fc.array(fc.nat(5), { minLength: 20, maxLength: 20 })
    fc.assert(
      fc.property(arbitrary, arbitrary, choices, spelling, (first, second, choice, how) => {
        const files = firstFiles(first, how)
        const globs = [how.json ? 'o/*.json' : 'o/*.yml']
        expect(pull(remoteStateOf(first), files, { profile, globs }).files).toEqual([])
        const remote = remoteStateOf(blend(first, second, choice))
        const again = pull(remote, files, { profile, globs })
        expect(again.unverified).toEqual({})
        expect(again.objects.filter(({ outcome }) => outcome === 'left-out')).toEqual([])
        expect(pull(remote, again.after, { profile, globs }).files).toEqual([])
        const lost = again.files.flatMap(({ before = '', after }) => commentsIn(before).filter((one) => !after.includes(one)))
        expect(how.json ? [] : lost).toEqual([])
      }),
      { numRuns: 6 },
    )
  })
})
