// What check-slos shows, against what the product's alert task made of the same SLOs at the same times. Both ways to the counts are compared:
// the values of charts, which a self-hosted server has, and the SQL query that the cloud gets.

import { sourceCollection } from '../../src/kinds/source/source-wire.ts'
import type { ReadApi } from '../../src/platform/api/client.ts'
import type { Target } from '../../src/platform/api/path.ts'
import type { RunSql } from '../../src/platform/api/sql.ts'
import type { SqlRow } from '../../src/platform/api/sql-query.ts'
import { type BudgetState, judgeBudget } from '../../src/signals/slos/error-budget.ts'
import { type Slo, sourceOf } from '../../src/signals/slos/expand-slos.ts'
import { type GroupHistory, readHistory, readWithSql } from '../../src/signals/slos/slo-series.ts'
import { burnRateAlerts, noDataSpan, type SloSource } from '../../src/signals/slos/slo-sql.ts'

/** One evaluation of an alert of an SLO, by the alert task. */
export interface SloEvaluation {
  /** `checkout.page-1h`. */
  readonly key: string
  /** End of all windows. */
  readonly endMs: number
  /** Empty without groups. */
  readonly group: string
  readonly value: number
  readonly state: string
}

export interface SloAccess {
  readonly api: ReadApi
  readonly service: Target
}

interface Checked {
  readonly state: BudgetState
  /** In the last hour. */
  readonly events: number
}

/** A line for each difference. `access` gives an API with requests left. */
export async function compareWithCheckSlo(
  slos: readonly Slo[],
  evaluations: readonly SloEvaluation[],
  access: () => SloAccess,
): Promise<readonly string[]> {
  const differences: string[] = []
  const { api, service } = access()
  const { items: sources } = await sourceCollection.list(api, service)
  for (const slo of slos) {
    const source = sourceOf(slo, sources)
    if ('diagnostic' in source) throw new Error(source.diagnostic.message)
    const own = evaluations.filter(({ key }) => key.startsWith(`${slo.key}.`))
    for (const [endMs, evaluated] of Map.groupBy(own, (one) => one.endMs)) {
      const checked = await checkBothWays({ slo, source, endMs }, access, differences)
      for (const one of evaluated) {
        const expected = expect(one, checked)
        if (expected.state !== one.state || !isClose(expected.value, one.value))
          differences.push(`${at(one.key, endMs)} ${one.group}: ${expected.value} ${expected.state} / ${one.value} ${one.state}`)
      }
    }
  }
  return differences
}

const at = (key: string, endMs: number): string => `${key} at ${new Date(endMs).toISOString()}`

interface Request {
  readonly slo: Slo
  readonly source: SloSource
  readonly endMs: number
}

/** With SQL at full hours only: such a query counts all that the SLO counts in its window. */
async function checkBothWays(request: Request, access: () => SloAccess, differences: string[]): Promise<ReadonlyMap<string, Checked>> {
  const { slo, source, endMs } = request
  const asked = { slo: slo.value, source, endMs }
  const checked = check(request, await readHistory(access(), asked))
  if (endMs % hourMs !== 0) return checked
  const withSql = check(request, await readWithSql(inPages(access), asked))
  const [one, other] = [checked, withSql].map((states) => JSON.stringify([...states]))
  if (one !== other) differences.push(`${at(slo.key, endMs)}, charts / SQL: ${one} / ${other}`)
  return checked
}

const hourMs = 3_600_000

/** Below the 50,000 characters at which a self-hosted server shortens an answer. The cloud, which check-slos queries, has no such limit. */
const pageRows = 400

function inPages(access: () => SloAccess): SloAccess {
  const { api, service } = access()
  const runSql: RunSql = async (target, query) => {
    const rows: SqlRow[] = []
    for (;;) {
      const sql = `SELECT * FROM (${query.sql}) ORDER BY ALL LIMIT ${pageRows} OFFSET ${rows.length}`
      const answer = await access().api.runSql(target, { ...query, sql })
      if (answer.kind !== 'rows') return answer
      rows.push(...answer.rows)
      if (answer.rows.length < pageRows) return { ...answer, rows }
    }
  }
  return { api: { ...api, runSql }, service }
}

function check({ slo, endMs }: Request, histories: readonly GroupHistory[] | 'asleep'): ReadonlyMap<string, Checked> {
  if (histories === 'asleep') throw new Error('the service is asleep')
  return new Map(
    histories.map((history) => {
      const lastHour = history.steps.filter(({ startMs }) => startMs >= endMs - noDataSpan.ms)
      const events = lastHour.reduce((sum, { total }) => sum + total, 0)
      return [history.group ?? '', { state: judgeBudget(slo.value, history, endMs), events }]
    }),
  )
}

/** What the alert should have had. */
function expect({ key, group }: SloEvaluation, checked: ReadonlyMap<string, Checked>): Pick<SloEvaluation, 'value' | 'state'> {
  const policy = burnRateAlerts.find(({ id }) => key.endsWith(`.${id}`))
  if (policy === undefined) {
    const events = [...checked.values()].reduce((sum, one) => sum + one.events, 0)
    return { value: events, state: events === 0 ? 'ALERT' : 'OK' }
  }
  const state = checked.get(group)?.state
  const rates: Readonly<Record<string, number>> = state?.burnRates ?? {}
  const value = Math.min(rates[policy.long.name] ?? 0, rates[policy.short.name] ?? 0)
  return { value, state: state?.burning.includes(policy.id) ? 'ALERT' : 'OK' }
}

const isClose = (one: number, other: number): boolean => Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(one))
