// When the silence of an alert ends, and what a plan keeps of it. The times are those of HyperDX 2.36.
import { describe, expect, it } from 'vitest'
import {
  borderAfter,
  borderBefore,
  carryOverStart,
  intervalMsOf,
  undeclaredSilenceOf,
  withoutHarmlessStart,
  withoutUnpulledStart,
} from '../../../src/kinds/alert/schedule.ts'
import type { Body } from '../../../src/kinds/kind.ts'
import { decideEnd, decideSilence } from '../../../src/objects/silence-operations.ts'
import { forEachEntry } from '../../support/corpus.ts'

const at = (time: string): number => Date.parse(`2026-11-11T${time}Z`)

const minuteMs = 60_000

const silence = (alert: Body, minutes: number, { now = '03:12:10' } = {}) => {
  const decided = decideSilence(alert, { nowMs: at(now), durationMs: minutes * minuteMs })
  if (!('startMs' in decided)) return decided
  const times = [decided.startMs, decided.firstEvaluationMs].map((ms) => new Date(ms).toISOString().slice(5, 16))
  return [decided.decision, ...times].join(' ')
}

describe('the end of a silence', () => {
  it('the end of a silence is rounded up to a border of the interval, and the first evaluation comes one interval later', () =>
    forEachEntry(
      [
        ['1m', 20, '11-11T03:33 11-11T03:34'],
        ['5m', 20, '11-11T03:35 11-11T03:40'],
        ['5m', 1, '11-11T03:15 11-11T03:20'],
        ['15m', 20, '11-11T03:45 11-11T04:00'],
        ['30m', 20, '11-11T04:00 11-11T04:30'],
        ['1h', 20, '11-11T04:00 11-11T05:00'],
        ['1h', 48, '11-11T05:00 11-11T06:00'],
      ] as const,
      (interval, minutes, expected) => expect(silence({ interval }, minutes), interval).toBe(`silence ${expected}`),
    ))

  it('the end of a silence is not rounded when it is on a border', () => {
    expect(silence({ interval: '5m' }, 20, { now: '03:10:00' })).toBe('silence 11-11T03:30 11-11T03:35')
  })

  it('the end of a silence is counted from the epoch, as days in UTC are', () => {
    expect(silence({ interval: '1d' }, 24 * 60)).toBe('silence 11-13T00:00 11-14T00:00')
    expect(silence({ interval: '12h' }, 12 * 60)).toBe('silence 11-12T00:00 11-12T12:00')
  })

  it('the end of a silence is at most a year away, the maximum of the server, so that the longest is rounded down', () => {
    const nowMs = at('03:12:10')
    const year = 365 * 24 * 60
    for (const interval of ['1m', '1h', '1d']) {
      const decided = decideSilence({ interval }, { nowMs, durationMs: year * minuteMs })
      const startMs = 'startMs' in decided ? decided.startMs : 0
      expect(startMs - nowMs).toBeLessThanOrEqual(year * minuteMs)
      expect(startMs % (intervalMsOf(interval) ?? 0)).toBe(0)
    }
  })

  it('the end of a silence is the later one of two silences', () => {
    const silenced = { interval: '5m', scheduleStartAt: '2026-11-11T04:00:00.000Z' }
    expect(silence(silenced, 20)).toBe('already-silenced 11-11T04:00 11-11T04:05')
    expect(silence(silenced, 60)).toBe('silence 11-11T04:15 11-11T04:20')
  })

  it('the end of a silence of an earlier silence, on a border in the past, does not prevent the next one', () => {
    expect(silence({ interval: '5m', scheduleStartAt: '2026-11-11T03:00:00.000Z' }, 20)).toBe('silence 11-11T03:35 11-11T03:40')
    expect(silence({ interval: '5m', scheduleStartAt: null, scheduleOffsetMinutes: 0 }, 20)).toBe('silence 11-11T03:35 11-11T03:40')
  })
})

describe('the times agree with the evaluations that HyperDX 2.36 made', () => {
  // Its alert task, stepped minute by minute through an hour of errors that breach in every window. Interval 5m, silenced at 03:12:10.
  it('an alert after a silence of 20 minutes is evaluated at 03:10, then at 03:40', () => {
    expect(silence({ interval: '5m' }, 20)).toBe('silence 11-11T03:35 11-11T03:40')
  })

  it('an alert with three consecutive windows is pending at 03:30 and 03:35 after a silence of 10 minutes, and notifies at 03:40', () => {
    expect(silence({ interval: '5m', numConsecutiveWindows: 3 }, 10)).toBe('silence 11-11T03:25 11-11T03:30')
  })

  it('an alert whose silence of 30 minutes ends at 03:22:10 is evaluated at 03:25', () => {
    const ended = decideEnd({ interval: '5m', scheduleStartAt: '2026-11-11T03:45:00.000Z' }, at('03:22:10'))
    expect(ended).toMatchObject({ firstEvaluationMs: at('03:25:00') })
  })

  it('an alert whose errors stop during a silence of 15 minutes from 03:52:10 is evaluated and resolved at 04:15', () => {
    expect(silence({ interval: '5m' }, 15, { now: '03:52:10' })).toBe('silence 11-11T04:10 11-11T04:15')
  })

  it('an alert with an interval of 1h, silenced from 03:10:10 for 20 minutes, is evaluated at 03:00, then at 05:00', () => {
    expect(silence({ interval: '1h' }, 20, { now: '03:10:10' })).toBe('silence 11-11T04:00 11-11T05:00')
  })
})

describe('an alert that is not silenced', () => {
  it('an alert that is not silenced has an interval of 6h or more that is longer than the silence', () => {
    for (const interval of ['6h', '12h', '1d'])
      expect(silence({ interval }, 20)).toEqual({
        decision: 'left-out',
        reason: `its interval is ${interval}; to include it, silence it for at least that long`,
      })
  })

  it('an alert that is not silenced has an offset, a start between two borders or an unknown interval', () =>
    forEachEntry(
      [
        [{ interval: '5m', scheduleOffsetMinutes: 1 }, /offset/],
        [{ interval: '5m', scheduleStartAt: '2026-11-11T03:01:00.000Z' }, /not at a border/],
        [{ interval: '1h', scheduleStartAt: '2026-11-11T05:05:00.000Z' }, /not at a border/],
        [{ interval: '2h' }, /interval is unknown/],
        [{}, /interval is unknown/],
      ] as const,
      (alert, reason) => expect(silence(alert, 20)).toEqual({ decision: 'refused', reason: expect.stringMatching(reason) }),
    ))
})

describe('the end of a silence before its time', () => {
  const decide = (alert: Body, now = '03:22:10') => decideEnd(alert, at(now))

  it('the end of a silence before its time is ended also when an offset was added meanwhile', () => {
    const alert = { interval: '5m', scheduleOffsetMinutes: 2, scheduleStartAt: '2026-11-11T05:00:00.000Z' }
    expect(decide(alert)).toMatchObject({ decision: 'end', startMs: at('03:20:00') })
  })

  it('the end of a silence before its time is a start at the latest border, so that the current window is evaluated as usual', () => {
    const silenced = { interval: '5m', scheduleStartAt: '2026-11-11T03:45:00.000Z' }
    expect(decide(silenced)).toEqual({ decision: 'end', startMs: at('03:20:00'), firstEvaluationMs: at('03:25:00') })
    expect(decide(silenced, '03:25:00')).toEqual({ decision: 'end', startMs: at('03:25:00'), firstEvaluationMs: at('03:30:00') })
  })

  it('the end of a silence before its time has nothing to do without a start in the future', () => {
    for (const scheduleStartAt of [
      null,
      undefined,
      5,
      'soon',
      '+275760-09-13T00:00:00.000Z',
      '2026-11-11T03:20:00.000Z',
      '2026-11-11T03:21:00.000Z',
    ])
      expect(decide({ interval: '5m', scheduleStartAt })).toEqual({ decision: 'not-silenced' })
  })

  it('the end of a silence before its time is refused where the start is between two borders', () => {
    expect(decide({ interval: '5m', scheduleStartAt: '2026-11-11T03:46:00.000Z' })).toMatchObject({ decision: 'refused' })
  })
})

describe('the start of an alert that no file declares', () => {
  const nowMs = at('03:22:10')
  const settled = (stored: Body, desired: Body = {}) => carryOverStart({ interval: '5m', ...desired }, { interval: '5m', ...stored }, nowMs)
  const compared = (stored: Body, declared: Body = {}) =>
    withoutHarmlessStart({ interval: '5m', ...stored }, settled(stored, declared), nowMs).scheduleStartAt
  const start = (time: string) => ({ scheduleStartAt: `2026-11-11T${time}:00.000Z` })

  it('the start of an alert that no file declares is left to the service while it is in the future, and on a border in the past', () => {
    for (const stored of [start('03:20'), start('03:25'), start('03:26'), { scheduleStartAt: null }, {}]) {
      expect(settled(stored)).not.toHaveProperty('scheduleStartAt')
      expect(compared(stored)).toBeFalsy()
    }
  })

  it('the start of an alert that no file declares is a silence only while it is in the future', () => {
    const silenceOf = (time: string, desired: Body = {}) => undeclaredSilenceOf({ interval: '5m', ...start(time) }, desired, at('03:25:00'))
    expect(['03:20', '03:25', '03:30'].map((time) => silenceOf(time))).toEqual([undefined, undefined, at('03:30:00')])
    expect(silenceOf('03:30', start('03:35'))).toBeUndefined()
  })

  it('the start of an alert that no file declares is moved to a border, and never cleared, where it shifts the windows', () => {
    expect(settled(start('03:01'))).toMatchObject(start('03:00'))
    expect(compared(start('03:01'))).toBe('2026-11-11T03:01:00.000Z')
  })

  it('the start of an alert that no file declares moves with the interval, and ends the silence no earlier', () => {
    expect(settled(start('03:25'), { interval: '1h' })).toMatchObject(start('04:00'))
    expect(settled(start('03:05'), { interval: '1h' })).toMatchObject(start('03:00'))
  })

  it('the start of an alert that no file declares gives way to an offset that a file declares, once the first window after it has been evaluated', () => {
    const desired = { scheduleOffsetMinutes: 2 }
    expect(settled(start('03:15'), desired)).not.toHaveProperty('scheduleStartAt')
    expect(settled(start('03:10'), desired)).toMatchObject({ scheduleStartAt: null })
  })

  it('the start of an alert that no file declares is left to the service where the interval is unknown', () => {
    expect(settled(start('03:01'), { interval: '2h' })).not.toHaveProperty('scheduleStartAt')
  })
})

describe('the start that pull writes into a file', () => {
  const pulled = (stored: Body, desired: Body = {}) => withoutUnpulledStart(stored, desired, at('03:22:10')).scheduleStartAt

  it('the start that pull writes is one that would be a difference with the interval of the service, whatever interval the file had', () => {
    const start = { scheduleStartAt: '2026-11-11T03:15:00.000Z' }
    expect(pulled({ interval: '5m', ...start }, { interval: '1h' })).toBeUndefined()
    expect(pulled({ interval: '1h', ...start }, { interval: '5m' })).toBe(start.scheduleStartAt)
  })

  it('the start that pull writes is not that of a silence, and that of the file where both have no effect', () => {
    expect(pulled({ interval: '5m', scheduleStartAt: '2026-11-11T04:00:00.000Z' })).toBeUndefined()
    const declared = { interval: '5m', scheduleStartAt: '2026-01-01T00:00:00.000Z' }
    expect(pulled({ interval: '5m', scheduleStartAt: '2026-11-11T03:15:00.000Z' }, declared)).toBe(declared.scheduleStartAt)
  })
})

describe('a start that a file declares', () => {
  const nowMs = at('03:22:10')
  const compared = (storedStart: string, declaredStart: string) =>
    withoutHarmlessStart({ interval: '5m', scheduleStartAt: storedStart }, { interval: '5m', scheduleStartAt: declaredStart }, nowMs)
      .scheduleStartAt

  it('a start that a file declares differs from another one that has an effect', () => {
    expect(compared('2026-11-11T03:45:00.000Z', '2026-01-01T00:00:00.000Z')).toBe('2026-11-11T03:45:00.000Z')
    expect(compared('2026-11-11T03:01:00.000Z', '2026-01-01T00:00:00.000Z')).toBe('2026-11-11T03:01:00.000Z')
    expect(compared('2026-11-11T03:00:00.000Z', '2026-12-01T00:00:00.000Z')).toBe('2026-11-11T03:00:00.000Z')
  })

  it('a start that a file declares does not differ from what a past silence left, because both have no effect', () => {
    expect(compared('2026-11-11T03:00:00.000Z', '2026-01-01T00:00:00.000Z')).toBe('2026-01-01T00:00:00.000Z')
  })
})

it('borders are multiples of the interval since the epoch', () => {
  expect([borderBefore(12, 5), borderAfter(12, 5), borderBefore(10, 5), borderAfter(10, 5)]).toEqual([10, 15, 10, 10])
})
