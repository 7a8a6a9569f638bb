// A warning says what cannot be, and a note what was not seen, because rare rows are healthy.

import { describeThreshold } from '../../kinds/alert/alert.ts'
import { dayOf, plainDay } from '../../platform/core/dates.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { nearestName } from '../../platform/core/names.ts'
import { namesAtMost, plural, quoteLong, showCount } from '../../platform/core/text.ts'
import { type AlertCondition, type EvaluatedWindow, isBreach, type TimeRange, type WindowValues } from './evaluate.ts'
import type { SeriesItem } from './series-api.ts'
import { comparisonOf } from './terms.ts'

export interface Evidence {
  readonly condition: AlertCondition
  readonly range: TimeRange
  readonly windows: readonly EvaluatedWindow[]
  readonly values: WindowValues
  /** Of raw SQL, its own values; otherwise each series that the value depends on. */
  readonly series: readonly SeriesEvidence[]
  /** Rows of a line in raw SQL begin before their window, and none at its start, in this number of windows. */
  readonly early?: number
}

export interface SeriesEvidence {
  /** Absent for raw SQL. */
  readonly item?: SeriesItem
  /** Windows with a value, and those with another value than 0. */
  readonly windows: number
  readonly nonZero: number
  /** Whether there is no value where this series is 0. */
  readonly divides?: boolean
  readonly name?: string | undefined
}

/** Of a series without rows, or with a value of 0 in all windows. */
export interface Silence {
  /** Rows of its source, or values of its metric, in a day. Undefined where unknown. */
  readonly rows: number | undefined
  /** Windows or rows of 7 days that match. Undefined where unknown. */
  readonly week?: { readonly rows: number; readonly lastMs: number | undefined } | undefined
  /** The terms of its condition that match no row of a day. */
  readonly dead: readonly string[]
  /** Frequent values by column, keys by map, and the names of metrics by `MetricName`. */
  readonly lists: ReadonlyMap<string, readonly string[]>
  /** Rows with a number. Undefined where unknown. */
  readonly numeric?: number | undefined
}

interface Finding {
  readonly severity: 'warning' | 'note'
  readonly message: string
}

export interface Judgement {
  /** `last window 0.3; 24 h: 0.25 … 0.4 in 288 of 288 windows; ≥ 0.9: not reached`. */
  readonly fact: string
  readonly findings: readonly Finding[]
}

const warning = (message: string): Finding => ({ severity: 'warning', message })
const note = (message: string): Finding => ({ severity: 'note', message })

export function showNumber(value: number): string {
  if (Math.abs(value) >= 1e6) return showCount(value)
  return Number.isInteger(value) ? value.toLocaleString('en-US') : String(Number(value.toPrecision(4)))
}

function showSpan(values: readonly number[]) {
  if (values.length === 0) return undefined
  const [low, high] = [Math.min, Math.max].map((choose) => showNumber(values.reduce((a, b) => choose(a, b))))
  return low === high ? low : `${low} … ${high}`
}

const periodOf = ({ fromMs, untilMs }: TimeRange) => {
  const days = Math.max(1, Math.ceil((untilMs - fromMs) / dayMs))
  return days === 1 ? '24 h' : `${days} days`
}

const countBreaching = ({ windows }: Evidence) => windows.filter(({ isBreaching }) => isBreaching).length

function describeValues(evidence: Evidence) {
  const { condition, range, windows, values } = evidence
  const all = windows.flatMap(({ startMs }) =>
    (values.get(startMs) ?? []).flatMap(({ group, value }) => (value === null ? [] : [{ startMs, group, value }])),
  )
  const spanOf = (some: typeof all) => showSpan(some.map(({ value }) => value))
  const [last, span] = [spanOf(all.filter(({ startMs }) => startMs === windows.at(-1)?.startMs)), spanOf(all)]
  const [filled, groups] = [new Set(all.map(({ startMs }) => startMs)).size, new Set(all.map(({ group }) => group)).size]
  const breaching = countBreaching(evidence)
  return [
    `last window ${last ?? 'none'}`,
    `${periodOf(range)}: ${span === undefined ? 'no value' : `${span} in ${filled} of ${windows.length} windows`}${groups > 1 ? `, ${groups} groups` : ''}`,
    `${describeThreshold(condition)}: ${breaching === 0 ? 'not reached' : `reached in ${breaching}`}`,
  ].join('; ')
}

/** Whether the silence of a series keeps the alert from firing. */
export const isSilent = ({ condition }: Evidence, { nonZero, divides }: SeriesEvidence): boolean =>
  nonZero === 0 && (divides === true || !isBreach(condition, 0))

/** `silences` has what a second look found, in the order of the series. */
export function judge(evidence: Evidence, silences: readonly (Silence | undefined)[]): Judgement {
  const { windows, range, series, early = 0, condition } = evidence
  const breaching = countBreaching(evidence)
  const isAlways = windows.length > 0 && breaching >= 0.95 * windows.length
  const letterOf = (i: number): string => {
    const label = series[i]?.name ?? (series.length > 1 ? String.fromCodePoint(65 + i) : '')
    return label && `${label}: `
  }
  // Two series can lack the same term.
  const reported = new Set<string>()
  const found = series.flatMap((one, i): readonly Finding[] => {
    const letter = letterOf(i)
    const silence = silences[i]
    const finding = silence && (one.item === undefined ? judgeSql(one, silence) : judgeSeries(one.item, one, silence, condition))
    if (finding === undefined || reported.has(finding.message)) return []
    reported.add(finding.message)
    if (one.divides !== true || silence?.week?.rows !== 0) return [{ ...finding, message: `${letter}${finding.message}` }]
    const name = letter === '' ? 'the series' : letter.slice(0, 1)
    return [warning(`${name}, which it divides by, has no row in 7 days (${finding.message}), so it has no value and never fires`)]
  })
  const seen = silences.flatMap((silence, i) => {
    const { rows = 0, lastMs } = silence?.week ?? {}
    if (rows === 0 || lastMs === undefined) return []
    const counted = series[i]?.item === undefined ? `not 0 on ${plural(rows, 'day')} of 7` : `${showNumber(rows)} in 7 days`
    return [`; ${letterOf(i)}${counted}, last on ${plainDay(dayOf(lastMs))}`]
  })
  return {
    fact: [describeValues(evidence), ...seen].join(''),
    findings: withoutNotes([
      ...(isAlways ? [warning(`it would fire in ${breaching} of ${windows.length} windows of the last ${periodOf(range)}`)] : []),
      ...(early > 0
        ? [
            warning(
              'its rows are not at the starts of windows, and the server compares no others; use $__timeInterval for the time of its rows',
            ),
          ]
        : found),
    ]),
  }
}

function withoutNotes(findings: readonly Finding[]) {
  const warnings = findings.filter(({ severity }) => severity === 'warning')
  return warnings.length > 0 ? warnings : findings
}

function judgeSql({ windows }: SeriesEvidence, { week }: Silence): Finding | undefined {
  if (windows === 0) return week?.rows === 0 ? warning('its SQL has no value in any window of 24 h and on no day of 7') : undefined
  return week?.rows === 0 ? note('its value was 0 in all windows of 24 h and on 7 days. Right if it is rare') : undefined
}

function judgeSeries(item: SeriesItem, { windows }: SeriesEvidence, silence: Silence, { threshold }: AlertCondition): Finding | undefined {
  const { metricName, field = '', where } = item
  const { rows, week, dead, lists, numeric } = silence
  if (metricName !== undefined && rows === 0) {
    const names = lists.get('MetricName') ?? []
    if (names.includes(metricName)) return undefined
    return warning(`the metric ${name(metricName)} has no value in 24 h${suggest(metricName, names)}`)
  }
  if (rows === undefined) return undefined
  if (rows === 0) return warning('its source has no row in 24 h')
  if (numeric === 0) {
    const missing = explainKey(field, lists)
    return warning(
      missing === undefined
        ? `${name(field)} has no number in any of ${showNumber(rows)} rows, so its value is 0 and never reaches ${threshold}`
        : `${missing}, so its value is 0`,
    )
  }
  if (windows > 0 || week === undefined || week.rows > 0) return undefined
  if (dead.length === 0)
    return note('no row matches all its terms together in 7 days; each matches some. That is good news if such rows are rare')
  const judged = dead.map((term) => judgeTerm(term, item.whereLanguage, silence))
  return judged.find(({ severity }) => severity === 'warning') ?? judged[0] ?? note(`no row matches ${name(where)} in 7 days`)
}

const name = (text: string) => `\`${quoteLong(text)}\``

const suggest = (text: string, known: readonly string[]) => {
  const near = nearValue(text, known)
  return near === undefined ? '' : `; did you mean ${name(near)}?`
}

/** The same text in another case, or one that is a typo away. A text with digits means itself: 503 is not 500. */
export function nearValue(text: string, known: readonly string[]): string | undefined {
  if (/\d/.test(text) || text.length < 4) return undefined
  const others = known.filter((one) => Math.abs(one.length - text.length) <= 2)
  return others.find((one) => one.toLowerCase() === text.toLowerCase()) ?? nearestName(text, others)
}

function explainKey(column: string, lists: Silence['lists']) {
  const [, map = '', key = ''] = keyOfMap.exec(column) ?? []
  // The dots of a text are written in another way for the API.
  const [keys, wanted] = [lists.get(map), key.replaceAll('\\x2E', '.')]
  if (keys === undefined || keys.includes(wanted)) return undefined
  return `no row has the key ${name(wanted)}${suggest(wanted, keys)}`
}

export const keyOfMap = /^(\w+)\['([^']+)'\]$/

export const maxListed = 100

function judgeTerm(term: string, language: SeriesItem['whereLanguage'], { lists, rows }: Silence): Finding {
  const compared = comparisonOf(term, language)
  const key = compared && explainKey(compared.column, lists)
  if (key !== undefined) return warning(key)
  const unseen = `no row matches ${name(term)} in 7 days`
  const listed = (compared && lists.get(compared.column)) ?? []
  const near = compared && nearValue(compared.value, listed)
  if (near !== undefined && !listed.includes(compared?.value ?? '')) return warning(`${unseen}; did you mean ${name(near)}?`)
  const shown = listed.filter((one) => one !== '')
  if (shown.length > 0 && listed.length < maxListed)
    return note(`${unseen}; the column has ${namesAtMost(5, shown.map(name))}. Right if such rows are rare`)
  return note(`${unseen}, of ${showNumber(rows ?? 0)} rows a day. A plan cannot tell a rare text from a wrong one`)
}
