import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BackupMeasures,
  type BackupOutcome,
  type BackupTimes,
  byWorst,
  classifyBackup,
  computeTrend,
  computeTypicalDurationMs,
  deriveLimitHours,
  judgeFreshness,
  judgeSize,
  outcomes,
} from '../../../src/backups/backup-rules.ts'

const clockSkewMs = 5 * 60_000
const defaultLimitHours = 26

const nowMs = Date.parse('2026-03-29T01:30:00Z')
const hourMs = 3_600_000
const limitMs = 26 * hourMs

const noTimes: BackupTimes = { status: undefined, startedMs: undefined, finishedMs: undefined, durationMs: undefined }

const backup = (name: string, times: Partial<BackupTimes>) => ({ ...noTimes, ...times, name })

/** Started so many hours ago, and finished half an hour later. */
const done = (hoursAgo: number, more: Partial<BackupTimes> = {}) =>
  backup(`done ${hoursAgo}`, {
    status: 'done',
    startedMs: nowMs - hoursAgo * hourMs,
    finishedMs: nowMs - hoursAgo * hourMs + hourMs / 2,
    ...more,
  })
const failed = (hoursAgo: number) => backup(`error ${hoursAgo}`, { status: 'error', startedMs: nowMs - hoursAgo * hourMs })
const running = (hoursAgo: number) => backup(`running ${hoursAgo}`, { status: 'in_progress', startedMs: nowMs - hoursAgo * hourMs })

const judge = (backups: readonly ReturnType<typeof backup>[]) => judgeFreshness(backups, { limitMs, nowMs })

describe('deriveLimitHours', () => {
  it.each([
    [24, 0, 26],
    [24, 0.2, 26],
    [24, 1, 26],
    [24, 3, 30],
    [6, 0, 8],
    [48, 0.5, 50],
    [1, 0, 2],
    [24, 24, 48],
    // Milliseconds read as seconds.
    [24, 900, 48],
  ])('deriveLimitHours of a backup every %d hours that takes %d hours is %d hours', (period, typical, hours) => {
    expect(deriveLimitHours(period, typical)).toBe(hours)
  })

  it.each([0, -24, Number.NaN, Number.POSITIVE_INFINITY, 8785])('deriveLimitHours is undefined for a period of %d hours', (period) => {
    expect(deriveLimitHours(period, 0)).toBeUndefined()
  })

  it('deriveLimitHours is the default limit for daily backups that take no time', () => {
    expect(deriveLimitHours(24, 0)).toBe(defaultLimitHours)
  })

  it('deriveLimitHours is always more than the period, and never allows two missed backups', () => {
    const hours = fc.double({ min: 0.01, max: 8784, noNaN: true })
    fc.assert(
      fc.property(hours, fc.double({ min: 0, noNaN: true }), (period, typical) => {
        const limit = deriveLimitHours(period, typical) ?? 0
        expect(limit).toBeGreaterThan(period)
        expect(limit).toBeLessThanOrEqual(2 * period)
      }),
    )
  })
})

describe('judgeFreshness', () => {
  it('judgeFreshness passes a service without a backup until its age is the limit, if its creation is known and not in the future', () => {
    const withAge = (hours: number) => judgeFreshness([], { limitMs, nowMs, createdMs: nowMs - hours * hourMs })
    expect(withAge(2)).toEqual({ outcome: 'missing', passes: true, issues: [], firstDueMs: nowMs + 24 * hourMs })
    expect(withAge(26)).toMatchObject({ passes: true, firstDueMs: nowMs })
    expect(withAge(26.001)).toEqual({ outcome: 'missing', passes: false, issues: [] })
    expect(withAge(-0.05).passes).toBe(true)
    expect(withAge(-1).passes).toBe(false)
  })

  const cases: readonly (readonly [string, readonly ReturnType<typeof backup>[], string])[] = [
    ['no backups', [], 'fails: missing'],
    ['a new backup', [done(1)], 'passes: fresh by done 1'],
    ['a backup as old as the limit', [done(26)], 'passes: fresh by done 26'],
    ['a backup one millisecond older', [done(26, { startedMs: nowMs - limitMs - 1 })], 'fails: stale by done 26'],
    ['a backup started before the limit and finished after it', [done(26.25)], 'fails: stale by done 26.25'],
    ['an unsorted list', [done(40), done(2), done(99)], 'passes: fresh by done 2'],
    ['a failure after a success', [failed(1), done(2)], 'fails: failed by error 1'],
    ['a failure before a success', [done(2), failed(3)], 'passes: fresh by done 2'],
    ['a failure and a success at the same time', [done(2), failed(2)], 'fails: failed by error 2'],
    ['only failures', [failed(50), failed(1)], 'fails: failed by error 1'],
    ['one in progress after a fresh one', [running(0.5), done(20)], 'passes: fresh by done 20'],
    ['one in progress after a stale one', [running(0.5), done(30)], 'fails: stale by done 30'],
    ['one in progress after a failure', [running(0.5), failed(5), done(20)], 'fails: failed by error 5'],
    ['one in progress after nothing but a failure', [running(0.5), failed(5)], 'fails: failed by error 5'],
    ['a first one in progress', [running(26)], 'passes: in-progress by running 26'],
    ['a first one in progress for too long', [running(26.001)], 'fails: in-progress by running 26.001'],
    ['two in progress, the first of them for too long', [running(1), running(30)], 'fails: in-progress by running 30'],
  ]

  it.each(cases)('judges %s', (_, backups, expected) => {
    for (const list of [backups, backups.toReversed()]) {
      const { outcome, passes, decisive, issues } = judge(list)
      expect(`${passes ? 'passes' : 'fails'}: ${outcome}${decisive ? ` by ${decisive.backup.name}` : ''}`).toBe(expected)
      expect(issues).toEqual([])
    }
  })

  it('returns the last successful backup and the one in progress after it', () => {
    const judged = judge([running(1), failed(5), done(30), running(31), done(54)])
    expect([judged.lastSuccessful?.backup.name, judged.inProgress?.backup.name]).toEqual(['done 30', 'running 1'])
  })

  it.each([
    ['a start within the clock skew', done(0, { startedMs: nowMs + clockSkewMs, finishedMs: undefined }), 'fresh'],
    ['a start beyond the clock skew', done(0, { startedMs: nowMs + clockSkewMs + 1, finishedMs: undefined }), 'unknown'],
    ['an end within the clock skew', done(1, { finishedMs: nowMs + clockSkewMs }), 'fresh'],
    ['an end beyond the clock skew', done(1, { finishedMs: nowMs + clockSkewMs + 1 }), 'unknown'],
  ])('judges %s in the future', (_, one, outcome) => {
    expect(judge([one]).outcome).toBe(outcome)
  })

  it('returns no negative age for a start in the future', () => {
    expect(judge([done(0, { startedMs: nowMs + 60_000, finishedMs: undefined })]).decisive?.ageMs).toBe(0)
  })

  it('keeps the order of backups that a clock a little ahead dates in the future', () => {
    const newer = done(0, { startedMs: nowMs + 30_000, finishedMs: undefined })
    const older = backup('error', { status: 'error', startedMs: nowMs + 10_000 })
    expect(judge([older, newer])).toMatchObject({ outcome: 'fresh', passes: true })
  })

  it('returns unknown when any backup is dated in the future, because the clock may be wrong', () => {
    for (const other of [done(1), failed(1)]) {
      const judged = judge([running(-1), other])
      expect(judged).toMatchObject({ outcome: 'unknown', passes: false, unknownReason: 'future-date' })
      expect(judged).not.toHaveProperty('decisive')
    }
  })
})

describe('judgeFreshness with missing fields', () => {
  it.each<[string, Partial<BackupTimes>, number]>([
    ['the end and the duration', { status: 'done', finishedMs: nowMs - hourMs, durationMs: 2 * hourMs }, 3],
    ['the end only', { status: 'done', finishedMs: nowMs - hourMs }, 1],
    ['the start only', { status: 'done', startedMs: nowMs - hourMs }, 1],
    ['the duration of one in progress', { status: 'in_progress', durationMs: 4 * hourMs }, 4],
  ])('computes the age from %s', (_, times, hours) => {
    expect(judge([backup('x', times)])).toMatchObject({ passes: true, decisive: { ageMs: hours * hourMs }, issues: [] })
  })

  it.each<[string, Partial<BackupTimes>, BackupOutcome, string | undefined]>([
    ['without any field', {}, 'unknown', 'missing-date'],
    ['that is done and has no date', { status: 'done' }, 'unknown', 'missing-date'],
    ['in progress without a date', { status: 'in_progress' }, 'unknown', 'missing-date'],
    ['that failed and has no date', { status: 'error', durationMs: 5 }, 'failed', undefined],
    ['without status and end', { startedMs: nowMs - hourMs }, 'unknown', 'unknown-status'],
    ['with an unknown status', { status: 'paused', startedMs: nowMs, finishedMs: nowMs }, 'unknown', 'unknown-status'],
    ['with a status called like a property of objects', { status: 'constructor', startedMs: nowMs }, 'unknown', 'unknown-status'],
  ])('does not pass a backup %s', (_, times, outcome, unknownReason) => {
    const judged = judge([backup('x', times)])
    expect([judged.outcome, judged.passes, judged.unknownReason]).toEqual([outcome, false, unknownReason])
  })

  it('counts a backup with an end and no status as successful, and reports that', () => {
    expect(judge([done(1, { status: undefined })])).toMatchObject({ outcome: 'fresh', passes: true, issues: ['missing-status'] })
  })

  it('reports a newer backup with an unknown status, and ignores an older one', () => {
    const paused = (hoursAgo: number) => backup('x', { status: 'paused', startedMs: nowMs - hoursAgo * hourMs })
    expect(judge([paused(1), done(2)])).toMatchObject({ outcome: 'fresh', issues: ['unknown-status'] })
    expect(judge([paused(3), done(2)]).issues).toEqual([])
  })

  it('leaves out a backup without a date, and reports that unless it is in progress', () => {
    expect(judge([backup('x', { status: 'done' }), done(30)])).toMatchObject({ outcome: 'stale', issues: ['missing-date'] })
    expect(judge([backup('x', { status: 'error' }), done(2)])).toMatchObject({ outcome: 'fresh', issues: ['missing-date'] })
    expect(judge([backup('x', { status: 'in_progress' }), done(2)]).issues).toEqual([])
    expect(judge([backup('x', { status: 'done' }), running(2)])).toMatchObject({ outcome: 'unknown', passes: false })
  })
})

describe('judgeFreshness of random lists', () => {
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
  const instant = fc.integer({ min: nowMs - 100 * hourMs, max: nowMs + hourMs })
  const times: fc.Arbitrary<BackupTimes> = fc.record({
    status: maybe(fc.constantFrom('done', 'error', 'in_progress', 'paused')),
    startedMs: maybe(instant),
    finishedMs: maybe(instant),
    durationMs: maybe(fc.integer({ min: 0, max: 10 * hourMs })),
  })
  const lists = fc.array(times, { maxLength: 8 })

  it('passes only with a successful backup, or a first one in progress, within the limit', () => {
    fc.assert(
      fc.property(lists, (list) => {
        const { outcome, passes, decisive } = judgeFreshness(list, { limitMs, nowMs })
        if (!passes) return
        expect(['fresh', 'in-progress']).toContain(outcome)
        expect(decisive?.ageMs).toBeLessThanOrEqual(limitMs)
        expect(decisive && classifyBackup(decisive.backup)).toBe(outcome === 'fresh' ? 'successful' : 'in-progress')
      }),
    )
  })

  it('returns missing for an empty list only', () => {
    fc.assert(
      fc.property(lists, (list) => {
        expect(judgeFreshness(list, { limitMs, nowMs }).outcome === 'missing').toBe(list.length === 0)
      }),
    )
  })

  it('returns the same for every order of the list', () => {
    const shuffled = lists.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })))
    const summary = (list: readonly BackupTimes[]) => {
      const { outcome, passes, decisive, unknownReason, issues } = judgeFreshness(list, { limitMs, nowMs })
      return { outcome, passes, ageMs: decisive?.ageMs, unknownReason, issues: issues.filter((issue) => issue !== 'missing-status') }
    }
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(summary(other)).toEqual(summary(list))
      }),
    )
  })

  it('does not improve with time or with a smaller limit', () => {
    const past = lists.map((list) => list.filter(({ startedMs, finishedMs }) => (startedMs ?? 0) <= nowMs && (finishedMs ?? 0) <= nowMs))
    fc.assert(
      fc.property(past, fc.integer({ min: 0, max: 50 * hourMs }), (list, ms) => {
        const { passes } = judgeFreshness(list, { limitMs, nowMs })
        if (passes) return
        expect(judgeFreshness(list, { limitMs, nowMs: nowMs + ms }).passes).toBe(false)
        expect(judgeFreshness(list, { limitMs: Math.max(0, limitMs - ms), nowMs }).passes).toBe(false)
      }),
    )
  })
})

describe('byWorst', () => {
  const judged = (outcome: BackupOutcome, passes: boolean, ageMs?: number) => ({ outcome, passes, ageMs })

  it('sorts failing services first, then by outcome, then the oldest first', () => {
    const sorted = [
      judged('missing', false),
      judged('failed', false, 5),
      judged('stale', false, 60),
      judged('stale', false, 50),
      judged('in-progress', false, 70),
      judged('unknown', false),
      judged('in-progress', true, 3),
      judged('fresh', true, 2),
      judged('fresh', true, 1),
    ]
    expect(sorted.toReversed().toSorted(byWorst)).toEqual(sorted)
    expect(new Set(sorted.map(({ outcome }) => outcome)).size).toBe(outcomes.length)
  })
})

const measures = (sizeBytes?: number, durationMs?: number, type?: string): BackupMeasures => ({ sizeBytes, durationMs, type })

const ofSizes = (latest: number | undefined, ...earlier: (number | undefined)[]) =>
  computeTrend([measures(latest), ...earlier.map((size) => measures(size))])

describe('computeTrend', () => {
  it('compares with the median, which one outlier does not move', () => {
    expect(ofSizes(90, 100, 1, 100, 100).size).toEqual({ latest: 90, median: 100, ratio: 0.9, values: [100, 100, 1, 100, 90] })
  })

  it('uses the mean of the middle two sizes', () => {
    expect(ofSizes(100, 80, 120).size.median).toBe(100)
  })

  it('compares backups of the same type only', () => {
    const list = [measures(5, 1, 'incremental'), measures(800, 60, 'full'), measures(10, 2, 'incremental'), measures(7, 9)] as const
    expect(computeTrend(list)).toMatchObject({ size: { median: 10, ratio: 0.5 }, duration: { median: 2, ratio: 0.5 }, earlierCount: 1 })
    expect(computeTrend([measures(7), ...list]).size.median).toBe(7)
  })

  it('computeTrend has no ratio where the latest size or a positive median is missing', () => {
    const trends = [ofSizes(100), ofSizes(100, 0, 0), ofSizes(100, undefined), ofSizes(undefined, 100)]
    expect(trends.map(({ size }) => size.ratio)).toEqual([undefined, undefined, undefined, undefined])
  })
})

describe('judgeSize', () => {
  it.each([
    ['a size above the ratio', ofSizes(60, 100), 0.5, 'ok'],
    ['a size equal to the ratio', ofSizes(50, 100), 0.5, 'ok'],
    ['a size equal to a ratio that doubles cannot represent', ofSizes(7, 100), 0.07, 'ok'],
    ['one byte less', ofSizes(49, 100), 0.5, 'too-small'],
    ['one byte less than a tebibyte', ofSizes(2 ** 40 - 1, 2 ** 40), 1, 'too-small'],
    ['an empty backup', ofSizes(0, 100), 0.5, 'too-small'],
    ['an empty backup after empty ones', ofSizes(0, 0, 0), 0.5, 'ok'],
    ['an unknown size', ofSizes(undefined, 100), 0.5, 'unknown-size'],
    ['unknown earlier sizes', ofSizes(100, undefined), 0.5, 'unknown-earlier-sizes'],
    ['no earlier backup', ofSizes(100), 0.5, 'no-earlier-backup'],
  ])('judges %s', (_, trend, ratio, expected) => {
    expect(judgeSize(trend, ratio)).toBe(expected)
  })
})

describe('computeTypicalDurationMs', () => {
  it('computeTypicalDurationMs is the median of the type that takes longest', () => {
    const full = [40, 60, 50].map((ms) => measures(1, ms, 'full'))
    const incremental = [5, 900, 6, 7].map((ms) => measures(1, ms, 'incremental'))
    expect(computeTypicalDurationMs([...full, ...incremental, measures(1, undefined, 'full')])).toBe(50)
  })

  it('computeTypicalDurationMs is 0 where no duration is known', () => {
    expect(computeTypicalDurationMs([])).toBe(0)
    expect(computeTypicalDurationMs([measures(1)])).toBe(0)
  })
})
