// Failed and missing evaluations of managed alerts: an alert that is stored as declared can still never fire.
import { type Diagnostic, diagnosticOf, exceptionOf, type Rules } from '../../core/diagnostics.ts'
import { quote } from '../../core/text.ts'
import {
  explainFailedEvaluation,
  failedAt,
  isEvaluated,
  nextEvaluationMs,
  type OnFailedEvaluation,
} from '../../resources/alerts/evaluation.ts'
import type { RemoteObject } from '../../resources/resource-type.ts'
import type { Outcome } from '../apply/apply-state.ts'
import type { Change, Plan } from './change.ts'

export const evaluationRules = {
  'failed-evaluation': {
    severity: 'warning',
    exception: 'error',
    description:
      'The last evaluation of a managed alert failed, so it sends no notification. With `on-failed-evaluation: fail`, this is an error.',
  },
  'failing-query': {
    severity: 'warning',
    description:
      'The server cannot run the query of a new or changed alert, so it would never fire. A condition may name a column that does not exist.',
  },
  'unchecked-query': {
    severity: 'note',
    description: 'Queries of new or changed alerts or SLOs were not run: they are too many, or the server refused the key.',
  },
} as const satisfies Rules

/** Diagnostics on the alerts of the plan and of its orphans, as they are now on the service. */
export function findFailedEvaluations(
  plan: Pick<Plan, 'changes' | 'orphans'>,
  alerts: readonly RemoteObject[],
  policy: OnFailedEvaluation,
): readonly Diagnostic[] {
  if (policy === 'ignore') return []
  const changes = new Map(plan.changes.filter(isKeptAlert).map((change) => [change.id, change]))
  const orphans = new Set(plan.orphans.map(({ id }) => id))
  return alerts.flatMap((alert): readonly Diagnostic[] => {
    const change = changes.get(alert.id)
    if (change === undefined && !orphans.has(alert.id)) return []
    const reason = explainFailedEvaluation(alert)
    if (reason === undefined) return []
    const name = change === undefined ? `alert "${quote(alert.name ?? '', 60)}" (${alert.id})` : `alerts.${change.key}`
    const message = `${name}: its last evaluation failed with ${reason}`
    const report = policy === 'fail' ? exceptionOf : diagnosticOf
    return [report(evaluationRules, 'failed-evaluation', change?.location ?? { file: 'alerts' }, message)]
  })
}

const isKeptAlert = ({ section, action, id }: Change): boolean => section === 'alerts' && action !== 'delete' && id !== undefined

interface Review {
  readonly plan: Plan
  readonly outcomes: readonly Outcome[]
  /** The alerts after the writes. */
  readonly alerts: readonly RemoteObject[]
  readonly nowMs: number
}

/** An alert that the server has not evaluated since this run wrote it. */
interface NotEvaluated {
  readonly key: string
  readonly id: string
  /** The latest time of the next evaluation; undefined for an interval that this version does not know. */
  readonly dueAt?: string
}

interface EvaluationReview {
  readonly failed: readonly Diagnostic[]
  readonly notEvaluated: readonly NotEvaluated[]
}

/** After apply: alerts that fail, and alerts that this run wrote and the server has not evaluated since. */
export function reviewEvaluations({ plan, outcomes, alerts, nowMs }: Review): EvaluationReview {
  const byId = new Map(alerts.map((alert) => [alert.id, alert]))
  const pending = outcomes.flatMap(({ change, kind, id }) => {
    const alert = change.section === 'alerts' ? byId.get(id ?? '') : undefined
    return alert !== undefined && isPending(change, kind, alert) ? [{ key: change.key, alert }] : []
  })
  const pendingIds = new Set(pending.map(({ alert }) => alert.id))
  // The plan has no id for an alert that was created.
  const ids = new Map(outcomes.map(({ change, id }) => [change, id]))
  const changes = plan.changes.map((change) => ({ ...change, id: ids.get(change) ?? change.id }))
  return {
    failed: findFailedEvaluations(
      { ...plan, changes },
      alerts.filter(({ id }) => !pendingIds.has(id)),
      'warn',
    ),
    notEvaluated: pending.map(({ key, alert }) => {
      const dueMs = nextEvaluationMs(alert, nowMs)
      return { key, id: alert.id, ...(dueMs !== undefined && { dueAt: new Date(dueMs).toISOString() }) }
    }),
  }
}

/** A created alert is evaluated when it shows it. An updated one keeps its errors until then. */
function isPending({ actual: before }: Change, kind: Outcome['kind'], alert: RemoteObject): boolean {
  if (kind === 'created' || kind === 'replaced') return !isEvaluated(alert)
  return kind === 'updated' && before !== undefined && failedAt(alert) !== undefined && failedAt(alert) === failedAt(before)
}
