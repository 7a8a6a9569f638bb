import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Body } from '../../../../src/kinds/kind.ts'
import type { TimeRange } from '../../../../src/signals/backtest/evaluate.ts'
import type { SeriesItem, SeriesRow } from '../../../../src/signals/backtest/series-api.ts'

// Recorded on HyperDX 2.36: its own alert task, stepped through seven days of telemetry, and the answers of `POST /charts/series` for the
// same days. In recorded-alerts.json, a list of windows is a text: `-*3 0 1*2` is three windows without a row, one 0 and two 1. `~` is null.

const alert = z.looseObject({ name: z.string(), tile: z.record(z.string(), z.unknown()).optional() })

const recordedSchema = z.object({
  fromMs: z.number(),
  untilMs: z.number(),
  /** By interval and series, then by group and number of the series. An error is a text. */
  answers: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.record(z.string(), z.string()))])),
  /** Those of raw SQL tiles, as a backtest read them from the server, by interval, type and query. */
  sqlValues: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.record(z.string(), z.string()))])),
  runs: z.array(
    z.object({
      name: z.string(),
      /** The task began each span without a history, and ran every five minutes. */
      spans: z.array(z.object({ fromMs: z.number(), untilMs: z.number() })),
      stepMs: z.number(),
      alerts: z.array(alert),
      /** The notifications of each window. */
      sent: z.record(z.string(), z.object({ alert: z.string(), ok: z.string() })),
    }),
  ),
})

export type RecordedRun = z.output<typeof recordedSchema>['runs'][number]

export const recorded = recordedSchema.parse(JSON.parse(readFileSync(new URL('recorded-alerts.json', import.meta.url), 'utf8')))

/** The key of an answer. */
export const answerKey = (interval: string, series: readonly SeriesItem[]): string => JSON.stringify([interval, series])

/** The rows of an answer, or the message of the server's error. */
export function recordedRows(interval: string, lengthMs: number, series: readonly SeriesItem[]): readonly SeriesRow[] | string {
  return toRows(recorded.answers[answerKey(interval, series)], answerKey(interval, series), lengthMs)
}

/** The rows of a raw SQL tile, or why there are none. */
export function recordedSqlRows(interval: string, lengthMs: number, config: Body): readonly SeriesRow[] | string {
  const key = JSON.stringify([interval, config.displayType, config.sqlTemplate])
  return toRows(recorded.sqlValues[key], key, lengthMs)
}

type Answer = z.output<typeof recordedSchema>['answers'][string]

function toRows(answer: Answer | undefined, key: string, lengthMs: number): readonly SeriesRow[] | string {
  if (answer === undefined) throw new Error(`no recorded answer for ${key}`)
  if (typeof answer === 'string') return answer
  return Object.entries(answer).flatMap(([group, columns]) => {
    const byWindow = new Map<number, Map<number, number | null>>()
    for (const [i, text] of Object.entries(columns))
      for (const [index, token] of expand(text).entries()) {
        if (token === '-') continue
        const numbers = byWindow.get(index) ?? new Map<number, number | null>()
        byWindow.set(index, numbers.set(Number(i), token === '~' ? null : Number(token)))
      }
    return [...byWindow].map(([index, numbers]) => ({
      startMs: recorded.fromMs + index * lengthMs,
      group,
      groupValues: [group],
      numbers,
    }))
  })
}

const expand = (text: string): readonly string[] =>
  text.split(' ').flatMap((run) => {
    const [token = '', count = '1'] = run.split('*')
    return Array.from({ length: Number(count) }, () => token)
  })

/** The counts of all windows as a text. */
export function toRuns(counts: ReadonlyMap<number, number>, lengthMs: number): string {
  const runs: { token: number; count: number }[] = []
  for (let at = recorded.fromMs; at < recorded.untilMs; at += lengthMs) {
    const token = counts.get(at) ?? 0
    const last = runs.at(-1)
    if (last?.token === token) last.count++
    else runs.push({ token, count: 1 })
  }
  return runs.map(({ token, count }) => (count === 1 ? String(token) : `${token}*${count}`)).join(' ')
}

/** The windows that the task evaluated in a span: its first tick evaluates the window before. */
export function evaluatedRange({ fromMs, untilMs }: TimeRange, stepMs: number, lengthMs: number): TimeRange {
  const floor = (at: number): number => Math.floor(at / lengthMs) * lengthMs
  return { fromMs: floor(fromMs) - lengthMs, untilMs: floor(untilMs - stepMs) }
}

/** What a recorded alert watches. */
export const watchedBy = ({ tile, savedSearch, name }: RecordedRun['alerts'][number]) =>
  tile === undefined ? { savedSearch: savedSearch as Body, source: undefined } : { tile: { name, config: tile } }
