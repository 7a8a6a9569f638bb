import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BackupFacts, byWorst, clockSkewMs, judgeFreshness, type Outcome, outcomes, stateOf } from '../../../src/backups/freshness.ts'

const nowMs = Date.parse('2026-03-29T01:30:00Z')
const hourMs = 3_600_000
const limitMs = 26 * hourMs

type Given = Partial<BackupFacts> & { readonly name: string }

const missing: BackupFacts = { status: undefined, startedMs: undefined, finishedMs: undefined, durationMs: undefined }

const backup = (name: string, facts: Partial<BackupFacts>) => ({ ...missing, ...facts, name })

/** Started so many hours ago, and done within half an hour. */
const done = (hoursAgo: number, more: Partial<BackupFacts> = {}) =>
  backup(`done ${hoursAgo}`, {
    status: 'done',
    startedMs: nowMs - hoursAgo * hourMs,
    finishedMs: nowMs - hoursAgo * hourMs + hourMs / 2,
    ...more,
  })
const failed = (hoursAgo: number) => backup(`error ${hoursAgo}`, { status: 'error', startedMs: nowMs - hoursAgo * hourMs })
const running = (hoursAgo: number) => backup(`running ${hoursAgo}`, { status: 'in_progress', startedMs: nowMs - hoursAgo * hourMs })

const judge = (backups: readonly ReturnType<typeof backup>[], limit = limitMs) => judgeFreshness(backups, limit, nowMs)

const cases: readonly (readonly [string, readonly Given[], string])[] = [
  ['nothing', [], 'fails: never'],
  ['one that is new', [done(1)], 'passes: fresh by done 1'],
  ['one that is just as old as the limit', [done(26)], 'passes: fresh by done 26'],
  ['one that is a millisecond older', [done(26, { startedMs: nowMs - limitMs - 1 })], 'fails: stale by done 26'],
  ['one that began before the limit and was done after it', [done(26.25)], 'fails: stale by done 26.25'],
  ['a list out of order', [done(40), done(2), done(99)], 'passes: fresh by done 2'],
  ['a failure after one that is done', [failed(1), done(2)], 'fails: failing by error 1'],
  ['a failure before one that is done', [done(2), failed(3)], 'passes: fresh by done 2'],
  ['a failure at the very moment of one that is done', [done(2), failed(2)], 'fails: failing by error 2'],
  ['nothing but failures', [failed(50), failed(1)], 'fails: failing by error 1'],
  ['one in progress over a fresh one', [running(0.5), done(20)], 'passes: fresh by done 20'],
  ['one in progress over a stale one', [running(0.5), done(30)], 'fails: stale by done 30'],
  ['one in progress over a failure', [running(0.5), failed(5), done(20)], 'fails: failing by error 5'],
  ['one in progress over nothing but a failure', [running(0.5), failed(5)], 'fails: failing by error 5'],
  ['a first one in progress', [running(26)], 'passes: running by running 26'],
  ['a first one in progress for too long', [running(26.001)], 'fails: running by running 26.001'],
  ['two in progress, the first of them for too long', [running(1), running(30)], 'fails: running by running 30'],
]

describe('judgeFreshness', () => {
  it.each(cases)('of %s', (_, backups, expected) => {
    for (const list of [backups, backups.toReversed()] as ReturnType<typeof backup>[][]) {
      const { outcome, passes, decisive, doubts } = judge(list)
      expect(`${passes ? 'passes' : 'fails'}: ${outcome}${decisive ? ` by ${decisive.backup.name}` : ''}`).toBe(expected)
      expect(doubts).toEqual([])
    }
  })

  it('tells the last one to restore from, and one that is in progress since', () => {
    const judged = judge([running(1), failed(5), done(30), running(31), done(54)])
    expect([judged.newestDone?.backup.name, judged.inProgress?.backup.name]).toEqual(['done 30', 'running 1'])
  })
})

describe('a date in the future', () => {
  it.each([
    ['a start within what clocks differ', done(0, { startedMs: nowMs + clockSkewMs, finishedMs: undefined }), 'fresh'],
    ['a start beyond it', done(0, { startedMs: nowMs + clockSkewMs + 1, finishedMs: undefined }), 'unknown'],
    ['an end within what clocks differ', done(1, { finishedMs: nowMs + clockSkewMs }), 'fresh'],
    ['an end beyond it', done(1, { finishedMs: nowMs + clockSkewMs + 1 }), 'unknown'],
  ])('%s', (_, one, outcome) => {
    expect(judge([one]).outcome).toBe(outcome)
  })

  it('is no negative age', () => {
    expect(judge([done(0, { startedMs: nowMs + 60_000, finishedMs: undefined })]).decisive?.ageMs).toBe(0)
  })

  it.each([
    ['a fresh one', done(1)],
    ['a failure', failed(1)],
  ])('makes %s unknown as well: the clock may be wrong by as much', (_, other) => {
    const judged = judge([running(-1), other])
    expect(judged).toMatchObject({ outcome: 'unknown', passes: false, riddle: 'ahead' })
    expect(judged).not.toHaveProperty('decisive')
  })
})

describe('what the API does not tell', () => {
  it.each<[string, Partial<BackupFacts>, number]>([
    ['its start, told by end and duration', { status: 'done', finishedMs: nowMs - hourMs, durationMs: 2 * hourMs }, 3],
    ['its start and duration, so that the end must do', { status: 'done', finishedMs: nowMs - hourMs }, 1],
    ['its end', { status: 'done', startedMs: nowMs - hourMs }, 1],
    ['the start of one in progress, told by how long it has taken', { status: 'in_progress', durationMs: 4 * hourMs }, 4],
  ])('%s', (_, facts, hours) => {
    expect(judge([backup('x', facts)])).toMatchObject({ passes: true, decisive: { ageMs: hours * hourMs }, doubts: [] })
  })

  it.each<[string, Partial<BackupFacts>, Outcome, string | undefined]>([
    ['anything', {}, 'unknown', 'undated'],
    ['a date of one that is done', { status: 'done' }, 'unknown', 'undated'],
    ['a date of one in progress', { status: 'in_progress' }, 'unknown', 'undated'],
    ['a date of one that failed', { status: 'error', durationMs: 5 }, 'failing', undefined],
    ['a status or an end', { startedMs: nowMs - hourMs }, 'unknown', 'unclear'],
    ['a status that anybody knows', { status: 'paused', startedMs: nowMs, finishedMs: nowMs }, 'unknown', 'unclear'],
    ['a status that is no property of objects either', { status: 'constructor', startedMs: nowMs }, 'unknown', 'unclear'],
  ])('%s: nothing passes on that', (_, facts, outcome, riddle) => {
    const judged = judge([backup('x', facts)])
    expect([judged.outcome, judged.passes, judged.riddle]).toEqual([outcome, false, riddle])
  })

  it('a status, of one that has an end: it counts as done, with a doubt', () => {
    expect(judge([done(1, { status: undefined })])).toMatchObject({ outcome: 'fresh', passes: true, doubts: ['unproven'] })
  })

  it('what a newer one is: with a doubt', () => {
    expect(judge([backup('x', { status: 'paused', startedMs: nowMs - hourMs }), done(2)])).toMatchObject({
      outcome: 'fresh',
      doubts: ['unclear'],
    })
    expect(judge([backup('x', { status: 'paused', startedMs: nowMs - 3 * hourMs }), done(2)]).doubts).toEqual([])
  })

  it('when another was made: it is left out, with a doubt', () => {
    expect(judge([backup('x', { status: 'done' }), done(30)])).toMatchObject({ outcome: 'stale', doubts: ['undated'] })
    expect(judge([backup('x', { status: 'error' }), done(2)])).toMatchObject({ outcome: 'fresh', doubts: ['undated'] })
    expect(judge([backup('x', { status: 'in_progress' }), done(2)]).doubts).toEqual([])
    expect(judge([backup('x', { status: 'done' }), running(2)])).toMatchObject({ outcome: 'unknown', passes: false })
  })
})

describe('of any list', () => {
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
  const instant = fc.integer({ min: nowMs - 100 * hourMs, max: nowMs + hourMs })
  const facts: fc.Arbitrary<BackupFacts> = fc.record({
    status: maybe(fc.constantFrom('done', 'error', 'in_progress', 'paused')),
    startedMs: maybe(instant),
    finishedMs: maybe(instant),
    durationMs: maybe(fc.integer({ min: 0, max: 10 * hourMs })),
  })
  const lists = fc.array(facts, { maxLength: 8 })

  it('passes only with a backup that is done, or a first one in progress, and within the limit', () => {
    fc.assert(
      fc.property(lists, (list) => {
        const { outcome, passes, decisive } = judgeFreshness(list, limitMs, nowMs)
        if (!passes) return
        expect(['fresh', 'running']).toContain(outcome)
        expect(decisive?.ageMs).toBeLessThanOrEqual(limitMs)
        expect(decisive && stateOf(decisive.backup)).toBe(outcome === 'fresh' ? 'done' : 'running')
      }),
    )
  })

  it('says never of an empty one alone', () => {
    fc.assert(
      fc.property(lists, (list) => {
        expect(judgeFreshness(list, limitMs, nowMs).outcome === 'never').toBe(list.length === 0)
      }),
    )
  })

  it('says the same in whatever order', () => {
    const shuffled = lists.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })))
    const said = (list: readonly BackupFacts[]) => {
      const { outcome, passes, decisive, riddle, doubts } = judgeFreshness(list, limitMs, nowMs)
      return { outcome, passes, ageMs: decisive?.ageMs, riddle, doubts: doubts.filter((doubt) => doubt !== 'unproven') }
    }
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(said(other)).toEqual(said(list))
      }),
    )
  })

  it('gets no better by waiting, nor by a smaller limit', () => {
    const past = lists.map((list) => list.filter(({ startedMs, finishedMs }) => (startedMs ?? 0) <= nowMs && (finishedMs ?? 0) <= nowMs))
    fc.assert(
      fc.property(past, fc.integer({ min: 0, max: 50 * hourMs }), (list, ms) => {
        const { passes } = judgeFreshness(list, limitMs, nowMs)
        if (passes) return
        expect(judgeFreshness(list, limitMs, nowMs + ms).passes).toBe(false)
        expect(judgeFreshness(list, Math.max(0, limitMs - ms), nowMs).passes).toBe(false)
      }),
    )
  })
})

describe('byWorst', () => {
  const judged = (outcome: Outcome, passes: boolean, ageMs?: number) => ({ outcome, passes, ageMs })

  it('puts what fails first, then the worse outcome, then the older', () => {
    const sorted = [
      judged('never', false),
      judged('failing', false, 5),
      judged('stale', false, 60),
      judged('stale', false, 50),
      judged('running', false, 70),
      judged('unknown', false),
      judged('running', true, 3),
      judged('fresh', true, 2),
      judged('fresh', true, 1),
    ]
    expect(sorted.toReversed().toSorted(byWorst)).toEqual(sorted)
    expect(new Set(sorted.map(({ outcome }) => outcome)).size).toBe(outcomes.length)
  })
})
