import { describe, expect, it } from 'vitest'
import { describeThreshold, thresholdTypes } from '../../../../src/kinds/alert/alert.ts'
import {
  type AlertCondition,
  drawWindows,
  evaluate,
  type GroupValue,
  isBreach,
  summarize,
  type WindowValues,
  windowStarts,
} from '../../../../src/signals/backtest/evaluate.ts'
import { type SuggestOptions, suggestCondition } from '../../../../src/signals/backtest/suggest.ts'

const minute = 60_000
const dayMs = 86_400_000

const condition = (more: Partial<AlertCondition> = {}): AlertCondition => ({
  thresholdType: 'above',
  threshold: 5,
  thresholdMax: undefined,
  interval: '1m',
  consecutive: 1,
  isGrouped: false,
  ...more,
})

/** One value for each minute; undefined for a window without rows. */
const series = (values: readonly (number | null | undefined)[]): WindowValues =>
  new Map(values.flatMap((value, i) => (value === undefined ? [] : [[i * minute, [{ group: '', value }]]])))

const groups = (windows: readonly Readonly<Record<string, number>>[]): WindowValues =>
  new Map(windows.map((window, i) => [i * minute, Object.entries(window).map(([group, value]): GroupValue => ({ group, value }))]))

/** `!` for a notification, `?` for a breach without one, `o` for "OK again", `.` for none of them. */
function run(values: WindowValues, minutes: number, more: Partial<AlertCondition> = {}): string {
  return evaluate(condition(more), values, { fromMs: 0, untilMs: minutes * minute })
    .map(({ notifications, resolved, isBreaching }) => {
      if (notifications > 1) return String(notifications)
      return notifications > 0 ? '!' : resolved > 0 ? 'o' : isBreaching ? '?' : '.'
    })
    .join('')
}

const perMinute = (values: readonly (number | null | undefined)[], more: Partial<AlertCondition> = {}): string =>
  run(series(values), values.length, more)

describe('windows', () => {
  it('windows are aligned to the epoch and lie in the range as a whole', () => {
    expect(windowStarts({ fromMs: 30_000, untilMs: 270_000 }, minute)).toEqual([60_000, 120_000, 180_000])
    expect(windowStarts({ fromMs: 10_000, untilMs: 50_000 }, minute)).toEqual([])
  })
})

describe('a start', () => {
  it('leaves out the windows before it, also for windows in a row', () => {
    expect(perMinute([9, 9, 9, 9, 1], { startMs: 2 * minute })).toBe('!!o')
    expect(perMinute([9, 9, 9, 9, 1], { startMs: 2 * minute, consecutive: 2 })).toBe('?!o')
    expect(perMinute([9, 9], { startMs: 0 })).toBe('!!')
    expect(perMinute([9, 9], { startMs: -minute })).toBe('!!')
    expect(perMinute([9, 9], { startMs: 2 * minute })).toBe('')
    expect(perMinute([9, 9], { startMs: 60 * minute })).toBe('')
  })
})

it('a group without rows for more than seven days is forgotten, and does not report to be OK again', () => {
  const resolvedAfter = (days: number): number | undefined => {
    // 0 violates `below`, so that a missing group is not OK again.
    const values = Array.from({ length: days + 1 }, (_, i): readonly [number, readonly GroupValue[]] => {
      const other = { group: 'other', value: 9 }
      return [i * dayMs, i === 0 ? [{ group: 'a', value: 1 }, other] : i === days ? [{ group: 'a', value: 9 }, other] : [other]]
    })
    const daily = condition({ thresholdType: 'below', interval: '1d', isGrouped: true })
    return evaluate(daily, new Map(values), { fromMs: 0, untilMs: (days + 1) * dayMs }).at(-1)?.resolved
  }
  expect(resolvedAfter(7)).toBe(1)
  expect(resolvedAfter(8)).toBe(0)
})

describe('each threshold type, counted by hand', () => {
  // 4, 5 and 6 around the threshold of 5.
  const values = [4, 5, 6]
  const expected = {
    above: '.!!',
    above_exclusive: '..!',
    below: '!o.',
    below_or_equal: '!!o',
    equal: '.!o',
    not_equal: '!o!',
  } as const

  for (const [thresholdType, notifications] of Object.entries(expected))
    it(`${thresholdType} 5 for the values 4, 5 and 6: ${notifications}`, () => {
      expect(perMinute(values, { thresholdType: thresholdType as keyof typeof expected })).toBe(notifications)
    })

  it('between 5 and 7 includes both ends', () => {
    expect(perMinute([4, 5, 6, 7, 8], { thresholdType: 'between', thresholdMax: 7 })).toBe('.!!!o')
  })

  it('not_between 5 and 7 excludes both ends', () => {
    expect(perMinute([4, 5, 6, 7, 8], { thresholdType: 'not_between', thresholdMax: 7 })).toBe('!o..!')
  })
})

describe('an alert', () => {
  it('notifies once for each breaching window, and once when it is OK again', () => {
    expect(perMinute([0, 9, 9, 9, 0, 0, 9, 0])).toBe('.!!!o.!o')
  })

  it('an alert takes a window without rows as 0', () => {
    expect(perMinute([9, undefined, 9])).toBe('!o!')
    expect(perMinute([9, undefined, 9], { thresholdType: 'below' })).toBe('.!o')
  })

  it('skips NULL, which also ends an alert', () => {
    expect(perMinute([9, null, null, 9])).toBe('!o.!')
    expect(perMinute([null, null], { thresholdType: 'below' })).toBe('..')
  })

  it('waits until enough windows in a row breach', () => {
    expect(perMinute([9, 0, 9, 9, 9, 0, 0], { consecutive: 2 })).toBe('?.?!!o.')
    expect(perMinute([9, 9, 0, 9, 9, 9], { consecutive: 3 })).toBe('??.??!')
  })
})

it('the values of a window are what is compared: 0 without rows, and nothing of a group that is gone', () => {
  const valuesOf = (values: WindowValues, more: Partial<AlertCondition>) =>
    evaluate(condition(more), values, { fromMs: 0, untilMs: 3 * minute }).map((window) => window.values)
  for (const thresholdType of ['above', 'below'] as const)
    expect(valuesOf(series([9, undefined, 0]), { thresholdType }), thresholdType).toEqual([[9], [0], [0]])
  expect(valuesOf(groups([{ a: 9 }, {}, {}]), { isGrouped: true })).toEqual([[9], [], [0]])
  expect(valuesOf(groups([{ a: 1 }, {}, {}]), { isGrouped: true, thresholdType: 'below' })).toEqual([[1], [0], [0]])
})

describe('an alert with groups', () => {
  const grouped = { isGrouped: true }

  it('notifies for each group, and is OK again for each of them', () => {
    expect(run(groups([{ a: 9, b: 9 }, { a: 9, b: 0 }, { a: 0 }]), 3, grouped)).toBe('2!o')
  })

  it('an alert with groups takes a group that disappears as OK', () => {
    expect(run(groups([{ a: 9, b: 1 }, { b: 1 }, { a: 9 }]), 3, grouped)).toBe('!o!')
  })

  it('an alert with groups does not evaluate a silent group as long as another one has rows, so that below fires for silence of all only', () => {
    expect(run(groups([{ a: 9, b: 9 }, { b: 9 }, {}]), 3, { ...grouped, thresholdType: 'below' })).toBe('..!')
  })

  it('counts the windows in a row of each group', () => {
    expect(run(groups([{ a: 9 }, { b: 9 }, { a: 9, b: 9 }, { a: 9 }]), 4, { ...grouped, consecutive: 2 })).toBe('??!!')
  })

  it('counts them again after a window in which the group is silent', () => {
    const windows = groups([{ a: 1, b: 9 }, { b: 9 }, { a: 1, b: 9 }, { a: 1, b: 9 }])
    expect(run(windows, 4, { ...grouped, thresholdType: 'below', consecutive: 2 })).toBe('?.?!')
  })
})

describe('a summary', () => {
  it('a summary has episodes, their longest, the busiest day and the share of time', () => {
    const values = new Map<number, readonly GroupValue[]>(
      [0, 6, 7, 25, 26, 27].map((hours) => [hours * 3_600_000, [{ group: '', value: 9 }]]),
    )
    const windows = evaluate(condition({ interval: '1h' }), values, { fromMs: 0, untilMs: 2 * dayMs })
    expect(summarize(windows, 3_600_000)).toEqual({
      windows: 48,
      breachingWindows: 6,
      episodes: 3,
      notifications: 6,
      notificationsOnBusiestDay: 3,
      longestEpisodeMs: 3 * 3_600_000,
      notifiedAtMs: [1, 7, 26].map((hours) => hours * 3_600_000),
      shareOfTime: 6 / 48,
    })
  })

  it('counts windows that only wait as breaching, but not as an episode', () => {
    const windows = evaluate(condition({ consecutive: 3 }), series([9, 9, 0]), { fromMs: 0, untilMs: 3 * minute })
    expect(summarize(windows, minute)).toMatchObject({ breachingWindows: 2, episodes: 0, notifications: 0 })
  })

  it('a summary counts a notification at the end of its window, and has no episode where nothing fires', () => {
    const nightly = [-1, 0, 1].map((i) => [dayMs + i * minute, [{ group: '', value: 9 }]] as const)
    const windows = evaluate(condition(), new Map(nightly), { fromMs: 0, untilMs: 2 * dayMs })
    expect(summarize(windows, minute).notificationsOnBusiestDay).toBe(3)
    expect(summarize(windows.slice(0, 9), minute)).toMatchObject({ notifications: 0, longestEpisodeMs: 0, notificationsOnBusiestDay: 0 })
  })

  it('draws the largest value of each part, and marks the parts that breach', () => {
    const windows = evaluate(condition(), series([0, 1, 2, 3, 9, 0]), { fromMs: 0, untilMs: 6 * minute })
    expect(drawWindows(windows, 6)).toBe('▁▂▂▃█▁')
    expect(drawWindows(windows, 2)).toBe('▂█')
    expect(drawWindows([])).toBe('')
    const uneven = evaluate(condition(), series([0, 4, 9, 0, 2]), { fromMs: 0, untilMs: 5 * minute })
    expect([drawWindows(uneven, 2), drawWindows(uneven.slice(0, 2)), drawWindows(uneven.slice(0, 3))]).toEqual(['▃█', '▁▆', '▁▃█'])
  })
})

describe('suggested conditions', () => {
  const always = () => true
  const days = { fromMs: 0, untilMs: 2 * dayMs }
  // Rare errors: 0 in most minutes.
  const counts = Array.from({ length: 2 * 1440 }, (_, i) => (i === 100 || i === 101 ? 30 : i % 1000 === 7 ? 4 : 0))
  const rare = series(counts)
  const rareLows = series(counts.map((count) => 50 - count))
  const suggest = (
    maxNotifications: number,
    more: Partial<AlertCondition> = {},
    { detectsAll = always, isQuietOutside = always }: Partial<Omit<SuggestOptions, 'maxNotifications'>> = {},
  ) => suggestCondition(condition(more), rare, days, { maxNotifications, detectsAll, isQuietOutside })

  it('suggests the most sensitive threshold with the wanted notifications, and never one that fires always', () => {
    expect(suggest(4)).toEqual({ threshold: 2, windows: 1, notificationsOnBusiestDay: 4 })
    expect(suggest(3)).toEqual({ threshold: 20, windows: 1, notificationsOnBusiestDay: 2 })
  })

  it('suggests more windows in a row where one threshold is not enough', () => {
    expect(suggest(1)).toEqual({ threshold: 2, windows: 2, notificationsOnBusiestDay: 1 })
  })

  it('says when no condition detects the incidents with so few notifications', () => {
    const reason = 'no threshold with up to 6 windows in a row detects all incidents with so few notifications'
    expect(suggest(3, {}, { detectsAll: () => false })).toEqual({ reason })
  })

  it('suggests a threshold between two values where there are no others, and up to six windows in a row', () => {
    const options = { maxNotifications: 9000, detectsAll: always, isQuietOutside: always }
    expect(suggestCondition(condition(), series([10, 20, 10]), { fromMs: 0, untilMs: 3 * minute }, options)).toMatchObject({
      threshold: 20,
      windows: 1,
    })
    expect(suggest(9000, {}, { detectsAll: ({ consecutive }) => consecutive === 6 })).toMatchObject({ windows: 6 })
    expect(suggest(9000, {}, { detectsAll: ({ consecutive }) => consecutive === 7 })).toHaveProperty('reason')
  })

  it('suggests a threshold that leaves out the next value, whatever the order of the values is', () => {
    const suggestOf = (values: readonly number[], more: Partial<AlertCondition> = {}) => {
      const options = { maxNotifications: 1, detectsAll: always, isQuietOutside: always }
      return suggestCondition(condition(more), series(values), { fromMs: 0, untilMs: values.length * minute }, options)
    }
    expect(suggestOf([30, 0, 7, 4])).toMatchObject({ threshold: 20, windows: 1 })
    expect(suggestOf([43, 50, 20, 46], { thresholdType: 'below' })).toMatchObject({ threshold: 30, windows: 1 })
    expect(suggestOf([10, 11, 10])).toMatchObject({ threshold: 11, windows: 1 })
    expect(suggestOf([10, 11, 10], { thresholdType: 'above_exclusive' })).toMatchObject({ threshold: 10, windows: 1 })
  })

  it('suggests the fewest windows in a row that detect the incidents', () => {
    const small = (tried: AlertCondition): boolean =>
      evaluate(tried, rare, days).some(({ startMs, notifications }) => startMs === 7 * minute && notifications > 0)
    expect(suggest(4, {}, { detectsAll: small })).toEqual({ threshold: 2, windows: 1, notificationsOnBusiestDay: 4 })
    expect(suggest(3, {}, { detectsAll: small })).toHaveProperty('reason')
  })

  it('suggests a less sensitive threshold until the limit outside of incidents is kept, and says when none keeps it', () => {
    const isQuietOutside = (tried: AlertCondition): boolean =>
      evaluate(tried, rare, days).every(
        ({ startMs, notifications }) => startMs === 100 * minute || startMs === 101 * minute || notifications === 0,
      )
    expect(suggest(4, {}, { isQuietOutside })).toEqual({ threshold: 20, windows: 1, notificationsOnBusiestDay: 2 })
    const reason = 'no threshold with up to 6 windows in a row keeps maxNotifications of all incidents'
    expect(suggest(4, {}, { isQuietOutside: () => false })).toEqual({ reason })
    expect(suggest(0, {}, { isQuietOutside: () => false })).toEqual({ reason })
  })

  it('has the same effect as a condition of the alert, for every type with a direction', () => {
    const cases = [
      ['above', rare],
      ['above_exclusive', rare],
      ['below', rareLows],
      ['below_or_equal', rareLows],
    ] as const
    for (const [thresholdType, values] of cases)
      for (const wanted of [1, 4, 9000]) {
        const found = suggestCondition(condition({ thresholdType }), values, days, {
          maxNotifications: wanted,
          detectsAll: always,
          isQuietOutside: always,
        })
        if ('reason' in found) throw new Error(found.reason)
        const windows = evaluate(condition({ thresholdType, threshold: found.threshold, consecutive: found.windows }), values, days)
        const sent = summarize(windows, minute).notificationsOnBusiestDay
        expect([found.notificationsOnBusiestDay, sent <= wanted], `${thresholdType} ${wanted}`).toEqual([sent, true])
      }
  })

  it('suggests nothing for a condition without a direction, or where all values are equal', () => {
    expect(suggest(3, { thresholdType: 'equal' })).toEqual({ reason: 'equal has no direction' })
    const equal = series(Array.from({ length: 100 }, () => 3))
    expect(
      suggestCondition(
        condition(),
        equal,
        { fromMs: 0, untilMs: 100 * minute },
        { maxNotifications: 5, detectsAll: always, isQuietOutside: always },
      ),
    ).toEqual({
      reason: 'all values are equal',
    })
  })
})

it('describes thresholds by the signs that the product compares with', () => {
  const signs: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
    '≥ 5': (value, threshold) => value >= threshold,
    '> 5': (value, threshold) => value > threshold,
    '< 5': (value, threshold) => value < threshold,
    '≤ 5': (value, threshold) => value <= threshold,
    '= 5': (value, threshold) => value === threshold,
    '≠ 5': (value, threshold) => value !== threshold,
    'between 5 and 7': (value) => value >= 5 && value <= 7,
    'not between 5 and 7': (value) => value < 5 || value > 7,
  }
  const shown = thresholdTypes.map((thresholdType) => {
    const text = describeThreshold({ thresholdType, threshold: 5, thresholdMax: 7 })
    const compare = signs[text]
    for (const value of [4, 5, 6, 7, 8])
      expect(compare?.(value, 5), `${value} ${text}`).toBe(isBreach(condition({ thresholdType, thresholdMax: 7 }), value))
    return text
  })
  expect(shown.toSorted()).toEqual(Object.keys(signs).toSorted())
})
