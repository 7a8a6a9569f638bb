// The server ends a query after 30 seconds. An alert with such a query, or a wrong one, never fires.

import { maxQueryMs, type SqlAnswer } from '../../platform/api/sql-query.ts'
import { type Diagnostic, diagnosticOf } from '../../platform/core/diagnostics.ts'
import type { Context } from '../../platform/operation/operation.ts'
import { toRefusal } from '../../signals/backtest/read-windows.ts'
import { type Slo, sourceOf } from '../../signals/slos/expand-slos.ts'
import { sloServiceRules } from '../../signals/slos/slo-file.ts'
import { burnRateSql, wantedAlerts } from '../../signals/slos/slo-sql.ts'
import { isDifference, isPlanned } from '../../sync/decide/change.ts'
import type { PlanningResult } from '../../sync/plan/make-plan.ts'
import { isTemporary, withoutQuery } from '../plan/evaluations.ts'
import { explainUnchecked, toNote } from './query-problems.ts'

/** Data grows: a third of the limit leaves time to act. */
const slowMs = 10_000

/** Warnings on the SLOs that the plan creates or changes and whose longest alert query is slow or refused. One query for each. */
export async function findSloQueryProblems(
  context: Context<'read', 'service-or-server'>,
  planned: PlanningResult,
): Promise<readonly Diagnostic[]> {
  const changed = changedSlos(planned)
  if (changed.length === 0 || (await context.files.mayBeFromFork())) return []
  const found: Diagnostic[] = []
  // One after the other: queries at the same time would slow each other down.
  for (const slo of changed) {
    const query = longestQuery(slo, planned, context.clock.now())
    if (query === undefined) continue
    try {
      const answer = await context.api.runSql(context.service, query)
      const problem = toProblem(slo, answer)
      if (problem === undefined) context.debug(`slos.${slo.key}: its longest alert query was answered with ${answer.kind}`)
      else found.push(problem)
    } catch (thrown) {
      // The other queries would fail in the same way.
      return [...found, ...explainUnchecked('SLOs', thrown)]
    }
  }
  return found
}

function changedSlos({ found, plan }: PlanningResult): readonly Slo[] {
  const makers = new Set(plan.changes.map((change) => isPlanned(change) && isDifference(change) && change.madeFrom))
  return found.slos.filter(({ key }) => makers.has(`slos.${key}`))
}

/** Undefined without an alert on a burn rate. */
function longestQuery(slo: Slo, { storedObjects }: PlanningResult, endMs: number) {
  const longest = wantedAlerts(slo.value).at(-1)
  const source = sourceOf(slo, storedObjects?.source ?? [])
  if (longest === undefined || 'diagnostic' in source) return undefined
  // Servers of both kinds fill in only the start and the end. Conditions have no braces.
  const sql = burnRateSql(slo.value, source, longest).replaceAll('{intervalSeconds:Int64}', String(longest.short.ms / 1000))
  return { sql, connectionId: source.connectionId, startMs: endMs - longest.long.ms, endMs }
}

function describeSlow(answer: SqlAnswer) {
  if (answer.kind === 'too-slow') return `more than ${maxQueryMs / 1000} s, so the alert never fires: the server ends it then`
  if (answer.kind !== 'rows' || answer.elapsedMs === undefined || answer.elapsedMs <= slowMs) return undefined
  return `${(answer.elapsedMs / 1000).toFixed(1)} s; the server ends it after ${maxQueryMs / 1000} s, and the alert then never fires`
}

function toProblem({ key, location }: Slo, answer: SqlAnswer): Diagnostic | undefined {
  const whyNotRun =
    answer.kind === 'unsent' || answer.kind === 'asleep' || (answer.kind === 'refused' && isTemporary(answer.reason))
      ? toRefusal(answer).reason
      : undefined
  if (whyNotRun !== undefined) return toNote(location, `slos.${key}: its query was not run: ${whyNotRun}`)
  if (answer.kind === 'refused') {
    const message = `slos.${key}: its alerts would never fire, because the server cannot run their query: ${withoutQuery(answer.reason)}. Correct total, good, groupBy or the source`
    return diagnosticOf(sloServiceRules, 'slo-failing-query', location, message)
  }
  const took = describeSlow(answer)
  if (took === undefined) return undefined
  const message = `slos.${key}: its longest alert query takes ${took}. Narrow total by columns in the sorting key of the table, such as ServiceName, or use a source of a smaller table`
  return diagnosticOf(sloServiceRules, 'slo-slow-query', location, message)
}
