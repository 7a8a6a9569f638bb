import { describe, expect, it } from 'vitest'
import { intervalMs } from '../../../../src/kinds/alert/schedule.ts'
import { evaluate } from '../../../../src/signals/backtest/evaluate.ts'
import { toAlertQuery } from '../../../../src/signals/backtest/query.ts'
import { evaluatedRange, type RecordedRun, recorded, recordedRows, recordedSqlRows, toRuns, watchedBy } from './recorded.ts'

type Outcome = { readonly alert: string; readonly ok: string } | { readonly reason: string }

/** What the recorded answers give for one alert: the notifications of each window, or why there are none. */
function backtest(run: RecordedRun, recordedAlert: RecordedRun['alerts'][number]): Outcome {
  const { name: _, tile, savedSearch: __, ...alert } = recordedAlert
  const query = toAlertQuery(alert, watchedBy(recordedAlert))
  if ('reason' in query) return query
  const lengthMs = intervalMs[query.condition.interval]
  const { interval } = query.condition
  const rows = 'series' in query ? recordedRows(interval, lengthMs, query.series) : recordedSqlRows(interval, lengthMs, tile ?? {})
  if (typeof rows === 'string') return { reason: rows }
  const read = query.read(rows, recorded)
  if ('reason' in read) return read
  const [alerts, oks] = [new Map<number, number>(), new Map<number, number>()]
  for (const span of run.spans)
    for (const { startMs, notifications, resolved } of evaluate(query.condition, read.values, evaluatedRange(span, run.stepMs, lengthMs))) {
      alerts.set(startMs, (alerts.get(startMs) ?? 0) + notifications)
      oks.set(startMs, (oks.get(startMs) ?? 0) + resolved)
    }
  return { alert: toRuns(alerts, lengthMs), ok: toRuns(oks, lengthMs) }
}

const outcomesOf = (run: RecordedRun) => run.alerts.map((alert) => [alert.name, backtest(run, alert)] as const)

const runNamed = (name: string): RecordedRun => {
  const run = recorded.runs.find((one) => one.name === name)
  if (run === undefined) throw new Error(`no recorded run ${name}`)
  return run
}

describe('alerts that the product evaluated', () => {
  it('sends the notifications of every window that the product sent, or none for a reason', { tags: 'slow' }, () => {
    for (const run of recorded.runs)
      for (const [name, outcome] of outcomesOf(run))
        if (!('reason' in outcome)) expect(outcome, `${run.name}: ${name}`).toEqual(run.sent[name])
  })

  it('estimates all alerts of seven whole days', () => {
    expect(outcomesOf(runNamed('days7')).filter(([, outcome]) => 'reason' in outcome)).toEqual([])
  })

  it('estimates all alerts on raw SQL tiles of seven whole days', () => {
    expect(outcomesOf(runNamed('sql')).filter(([, outcome]) => 'reason' in outcome)).toEqual([])
    expect(runNamed('sql').alerts).toHaveLength(20)
  })

  it('estimates all alerts with a start', () => {
    expect(outcomesOf(runNamed('starts')).filter(([, outcome]) => 'reason' in outcome)).toEqual([])
  })

  it('refuses exactly the alerts whose series the API does not give', () => {
    const refused = outcomesOf(runNamed('week')).flatMap(([name, outcome]) =>
      'reason' in outcome ? [[name, outcome.reason.slice(0, 60)]] : [],
    )
    expect(Object.fromEntries(refused)).toEqual({
      'ss filters above 19': 'the saved search combines filters with Lucene',
      'ss bare term': 'The API answered 500: Can not search bare text without an im',
      'tile bare term': 'The API answered 500: Can not search bare text without an im',
      sum: 'values of a metric of type sum differ after a gap',
      'table tile': 'never evaluated: the server accepts alerts on a tile of type',
      'pie tile': 'never evaluated: the server accepts alerts on a tile of type',
      'search tile': 'never evaluated: the server accepts alerts on a tile of type',
      'bad where': 'The API answered 500: Expected "!", "&&", "(", ")", "+", "-"',
      'unknown column': 'The API answered 500: Unknown expression or function identif',
      'bad sql tile': 'the server refused its SQL: Unknown table expression identif',
      'sql no number': 'never evaluated: the query has no column that is a number',
    })
  })
})
