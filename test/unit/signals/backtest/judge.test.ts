// What values prove about an alert, row by row.
import { describe, expect, it } from 'vitest'
import { type AlertCondition, evaluate, type WindowValues } from '../../../../src/signals/backtest/evaluate.ts'
import {
  type Evidence,
  isSilent,
  type Judgement,
  judge,
  nearValue,
  type SeriesEvidence,
  type Silence,
} from '../../../../src/signals/backtest/judge.ts'
import type { SeriesItem } from '../../../../src/signals/backtest/series-api.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const fromMs = Date.UTC(2026, 10, 22)
const range = { fromMs, untilMs: fromMs + 86_400_000 }
const condition: AlertCondition = {
  thresholdType: 'above',
  threshold: 5,
  thresholdMax: undefined,
  interval: '5m',
  consecutive: 1,
  isGrouped: false,
}

/** The value of each window of the day; undefined for a window without rows. */
const valuesOf = (value: (i: number) => number | null | undefined, groups: readonly string[] = ['']): WindowValues =>
  new Map(
    Array.from({ length: 288 }, (_, i) => {
      const one = value(i)
      return [fromMs + i * 5 * minuteMs, one === undefined ? [] : groups.map((group) => ({ group, value: one }))] as const
    }).filter(([, rows]) => rows.length > 0),
  )

function evidenceOf(values: WindowValues, more: Partial<Evidence> = {}): Evidence {
  const compared = { ...condition, ...more.condition }
  return { range, windows: evaluate(compared, values, more.range ?? range), values, series: [], ...more, condition: compared }
}

const series = (where: string, more: Partial<SeriesItem> = {}, silent: Partial<SeriesEvidence> = {}): SeriesEvidence => ({
  item: { sourceId: 's', aggFn: 'count', where, whereLanguage: 'lucene', groupBy: [], ...more },
  windows: 0,
  nonZero: 0,
  ...silent,
})

const silence = (more: Partial<Silence> = {}): Silence => ({
  rows: 18_216,
  week: { rows: 0, lastMs: undefined },
  dead: [],
  lists: new Map(),
  ...more,
})

/** The findings on one silent series. */
const findingsOn = (one: SeriesEvidence, found: Silence): Judgement['findings'] =>
  judge(
    evidenceOf(
      valuesOf(() => (one.windows === 0 ? undefined : 0)),
      { series: [one] },
    ),
    [found],
  ).findings

describe('the fact of an alert', () => {
  const factOf = (values: WindowValues, more: Partial<Evidence> = {}, silences: readonly Silence[] = []): string =>
    judge(evidenceOf(values, more), silences).fact

  it('has the value now, those of a day, and how often they reach the threshold', () => {
    expect(
      factOf(
        valuesOf((i) => (i % 3 === 0 ? 0.25 : 0.4)),
        { condition: { ...condition, threshold: 0.9 } },
      ),
    ).toBe('last window 0.4; 24 h: 0.25 … 0.4 in 288 of 288 windows; ≥ 0.9: not reached')
    expect(factOf(valuesOf((i) => (i < 50 ? (i < 3 ? 51 : 1) : undefined)))).toBe(
      'last window none; 24 h: 1 … 51 in 50 of 288 windows; ≥ 5: reached in 3',
    )
    expect(
      factOf(
        valuesOf((i) => (i + 1) * 1_000_000, ['a', 'b', 'c', 'd']),
        { condition: { ...condition, isGrouped: true } },
      ),
    ).toBe('last window 288.0 million; 24 h: 1.0 million … 288.0 million in 288 of 288 windows, 4 groups; ≥ 5: reached in 288')
    expect(factOf(valuesOf(() => null))).toBe('last window none; 24 h: no value; ≥ 5: not reached')
    expect(
      factOf(
        valuesOf(() => 0.123456, ['a', 'b']),
        { range: { fromMs: fromMs - 1, untilMs: range.untilMs } },
      ),
    ).toBe('last window 0.1235; 2 days: 0.1235 in 288 of 288 windows, 2 groups; ≥ 5: not reached')
  })

  it('has the last day with rows where a day has none', () => {
    const one = evidenceOf(new Map(), { series: [series('SeverityText:error')] })
    for (const rows of [50, 1])
      expect(judge(one, [silence({ week: { rows, lastMs: Date.UTC(2026, 10, 20, 9) } })])).toEqual({
        fact: `last window none; 24 h: no value; ≥ 5: not reached; ${rows} in 7 days, last on 20 Nov 2026`,
        findings: [],
      })
  })
})

describe('an alert that always fires', () => {
  it('is a warning from 95% of the windows, and windows without rows count as 0', () => {
    const firing = (count: number) => judge(evidenceOf(valuesOf((i) => (i < count ? 9 : 1))), []).findings
    expect(firing(273)).toEqual([])
    expect(firing(274)).toEqual([{ severity: 'warning', message: 'it would fire in 274 of 288 windows of the last 24 h' }])
    for (const thresholdType of ['below', 'equal'] as const) {
      const threshold = thresholdType === 'below' ? 1 : 0
      const [found] = judge(evidenceOf(new Map(), { condition: { ...condition, thresholdType, threshold } }), []).findings
      expect(found?.message, thresholdType).toBe('it would fire in 288 of 288 windows of the last 24 h')
    }
    expect(
      judge(
        evidenceOf(
          valuesOf(() => null),
          { condition: { ...condition, thresholdType: 'below', threshold: 1 } },
        ),
        [],
      ).findings,
    ).toEqual([])
  })

  it('is a warning of a single window, too, and of none where there is no window', () => {
    const findingsOf = (count: number, firing: number) => {
      const values = new Map(Array.from({ length: count }, (_, i) => [fromMs + i * dayMs, [{ group: '', value: i < firing ? 9 : 1 }]]))
      const days = { fromMs, untilMs: fromMs + count * dayMs }
      return judge(evidenceOf(values, { condition: { ...condition, interval: '1d' }, range: days }), []).findings
    }
    expect(findingsOf(20, 19)).toEqual([{ severity: 'warning', message: 'it would fire in 19 of 20 windows of the last 20 days' }])
    expect(findingsOf(1, 1)).toEqual([{ severity: 'warning', message: 'it would fire in 1 of 1 windows of the last 24 h' }])
    expect(findingsOf(0, 0)).toEqual([])
  })
})

describe('a series with no value but 0', () => {
  it('is silent where the alert does not fire at 0, or divides by it', () => {
    const isSilentAt = (thresholdType: AlertCondition['thresholdType'], one: Partial<SeriesEvidence> = {}) =>
      isSilent(evidenceOf(new Map(), { condition: { ...condition, thresholdType, threshold: 1 } }), series('a', {}, one))
    expect([isSilentAt('above'), isSilentAt('below'), isSilentAt('below', { divides: false })]).toEqual([true, false, false])
    expect(isSilentAt('below', { divides: true })).toBe(true)
    expect([isSilentAt('above', { nonZero: 1 }), isSilentAt('below', { nonZero: 1, divides: true })]).toEqual([false, false])
  })
})

describe('a series without rows', () => {
  const lists = new Map<string, readonly string[]>([
    ['SeverityText', ['info', 'warn', 'error', 'fatal']],
    ["LogAttributes['http.status_code']", ['200', '500']],
    ["LogAttributes['http.statuscode']", []],
    ['LogAttributes', ['http.status_code', 'http.route']],
    ['MetricName', ['cpu.utilization']],
    ['Kind', ['', 'api']],
    ['Region', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['Pod', Array.from({ length: 100 }, (_, i) => `p${i}`)],
  ])
  const dead = (term: string): Silence => silence({ dead: [term], lists })
  const avg = { aggFn: 'avg', field: 'Body' }

  it('is judged by a second look: what cannot be is a warning, what was not seen a note, and what was seen is neither', () => {
    const cases: readonly (readonly [SeriesEvidence, Silence, 'warning' | 'note', string])[] = [
      [
        series('SeverityText:eror'),
        dead('SeverityText:eror'),
        'warning',
        'no row matches `SeverityText:eror` in 7 days; did you mean `error`?',
      ],
      [
        series("SeverityText = 'Error'", { whereLanguage: 'sql' }),
        dead("SeverityText = 'Error'"),
        'warning',
        "no row matches `SeverityText = 'Error'` in 7 days; did you mean `error`?",
      ],
      [
        series('a'),
        dead('LogAttributes.http.status_code:"503"'),
        'note',
        'no row matches `LogAttributes.http.status_code:"503"` in 7 days; the column has `200`, `500`. Right if such rows are rare',
      ],
      [series('a'), dead('Kind:web'), 'note', 'no row matches `Kind:web` in 7 days; the column has `api`. Right if such rows are rare'],
      [
        series('a'),
        dead('Region:z'),
        'note',
        'no row matches `Region:z` in 7 days; the column has `a`, `b`, `c`, `d`, `e` and 1 more. Right if such rows are rare',
      ],
      // The list of values has an end, so the value can be behind it.
      [
        series('a'),
        dead('Pod:web'),
        'note',
        'no row matches `Pod:web` in 7 days, of 18,216 rows a day. A plan cannot tell a rare text from a wrong one',
      ],
      [
        series('a'),
        dead('LogAttributes.http.statuscode:500'),
        'warning',
        'no row has the key `http.statuscode`; did you mean `http.status_code`?',
      ],
      [
        series('a', { aggFn: 'avg', field: "LogAttributes['latensy']" }, { windows: 288 }),
        silence({ numeric: 0, lists }),
        'warning',
        'no row has the key `latensy`, so its value is 0',
      ],
      [
        series('', avg, { windows: 288 }),
        silence({ numeric: 0 }),
        'warning',
        '`Body` has no number in any of 18,216 rows, so its value is 0 and never reaches 5',
      ],
      [
        series('', { metricName: 'cpu.utilisation' }),
        silence({ rows: 0, lists }),
        'warning',
        'the metric `cpu.utilisation` has no value in 24 h; did you mean `cpu.utilization`?',
      ],
      [
        series('a:b c:d'),
        silence(),
        'note',
        'no row matches all its terms together in 7 days; each matches some. That is good news if such rows are rare',
      ],
      [
        series('Body:"out of memory"'),
        dead('Body:"out of memory"'),
        'note',
        'no row matches `Body:"out of memory"` in 7 days, of 18,216 rows a day. A plan cannot tell a rare text from a wrong one',
      ],
      [
        series('a:b SeverityText:eror'),
        silence({ dead: ['LogAttributes.http.status_code:"503"', 'SeverityText:eror'], lists }),
        'warning',
        'no row matches `SeverityText:eror` in 7 days; did you mean `error`?',
      ],
      [series('a'), silence({ rows: 0 }), 'warning', 'its source has no row in 24 h'],
      [{ windows: 0, nonZero: 0 }, silence(), 'warning', 'its SQL has no value in any window of 24 h and on no day of 7'],
      [{ windows: 48, nonZero: 0 }, silence(), 'note', 'its value was 0 in all windows of 24 h and on 7 days. Right if it is rare'],
    ]
    for (const [one, found, severity, message] of cases) {
      const language = found.dead[0]?.includes('=') ? 'sql' : 'lucene'
      const item = one.item && ({ ...one.item, whereLanguage: language } as const)
      expect(findingsOn({ ...one, ...(item && { item }) }, found), message).toEqual([{ severity, message }])
    }
    const seen = silence({ week: { rows: 3, lastMs: fromMs } })
    for (const one of [series('a'), { windows: 48, nonZero: 0 }]) expect(findingsOn(one, seen)).toEqual([])
    expect(findingsOn(series('', avg, { windows: 288 }), silence({ numeric: 5 }))).toEqual([])
    expect(findingsOn(series('a', {}, { windows: 1 }), silence())).toEqual([])
    // Nothing is said where a second look was not possible.
    expect(findingsOn(series('a'), silence({ rows: undefined }))).toEqual([])
  })

  it('is a warning where the value is divided by it, and a healthy numerator has none beside it', () => {
    const ratio = [series('StatusCode:Error'), series('SpanKind:Serverr', {}, { divides: true })]
    const found = (denominator: Silence) =>
      judge(evidenceOf(new Map(), { series: ratio }), [silence({ week: { rows: 60, lastMs: fromMs } }), denominator]).findings
    expect(found(silence({ dead: ['SpanKind:Serverr'] }))).toEqual([
      {
        severity: 'warning',
        message: expect.stringMatching(
          /^B, which it divides by, has no row in 7 days \(no row matches `SpanKind:Serverr` .*\), so it has no value and never fires$/,
        ),
      },
    ])
    expect(found(silence({ week: { rows: 1, lastMs: fromMs } }))).toEqual([])
  })

  it('with a note is not named beside one with a warning', () => {
    const both = judge(evidenceOf(new Map(), { series: [series('a:b c:d'), series('SeverityText:eror')] }), [
      silence(),
      dead('SeverityText:eror'),
    ])
    expect(both.findings).toEqual([
      { severity: 'warning', message: 'B: no row matches `SeverityText:eror` in 7 days; did you mean `error`?' },
    ])
  })

  it('of a line in raw SQL is a warning where its rows are not at the starts of windows', () => {
    expect(judge(evidenceOf(new Map(), { series: [{ windows: 0, nonZero: 0 }], early: 1 }), [silence()]).findings).toEqual([
      { severity: 'warning', message: expect.stringContaining('its rows are not at the starts of windows') },
    ])
  })
})

describe('a near value', () => {
  it('is one in another case or a typo away, and never one of a text with digits', () => {
    expect(nearValue('Error', ['errors', 'error'])).toBe('error')
    expect(nearValue('chekout', ['cart', 'checkout'])).toBe('checkout')
    expect(nearValue('catalogue', ['cart', 'catalog'])).toBe('catalog')
    for (const [given, known] of [
      ['503', ['500']],
      ['v2x-beta', ['v1x-beta']],
      ['err', ['ert']],
      ['OutOfMemory', ['cart', 'checkout']],
      ['checkoutservice', ['checkout-svc']],
    ] as const)
      expect(nearValue(given, known), given).toBeUndefined()
  })
})
