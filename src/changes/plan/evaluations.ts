import {
  explainFailedEvaluation,
  explainOverdue,
  explainStoppedTask,
  failedAt,
  isEvaluated,
  nextEvaluationMs,
  type OnFailedEvaluation,
} from '../../kinds/alert/schedule.ts'
import { describeStored, type StoredObject } from '../../kinds/kind.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rules } from '../../platform/core/diagnostics.ts'
import { clip } from '../../platform/core/text.ts'
import type { Judgement } from '../../signals/backtest/judge.ts'
import { type Change, changesOf, isDelete, type Outcome, type Plan } from '../../sync/decide/change.ts'

export const evaluationRules = {
  'failed-evaluation': {
    severity: 'warning',
    exception: 'error',
    description:
      'The last evaluation of a managed alert failed, so it sent no notification, or not to all receivers. With `on-failed-evaluation: fail`, this is an error.',
  },
  'overdue-evaluation': {
    severity: 'warning',
    description: 'The server has not evaluated a managed alert for more than two of its intervals and ten minutes.',
  },
  'failing-query': {
    severity: 'warning',
    description:
      'The server cannot run the query of a changed alert, tile or saved search, or read what a changed source names. A column or a table might not exist.',
  },
  'never-evaluated': {
    severity: 'error',
    description:
      'The server would never evaluate a changed alert: its query has no column that is a number (a decimal is none), or no time where it needs one.',
  },
  'implausible-alert': {
    severity: 'warning',
    description:
      'By its values in the last 24 hours, or in the days of a backtest, a new or changed alert can never fire, or would always fire. The message says what cannot match, or what the values are.',
  },
  'quiet-alert': {
    severity: 'note',
    description: 'No row matched a condition of a new or changed alert in 7 days, which is right if such rows are rare.',
  },
  'unchecked-query': {
    severity: 'note',
    description:
      'A query of what the plan changes was not run, or a part of it. The message has the reason, such as SQL that could read other data than that of the database, or a missing key of ClickHouse Cloud.',
  },
} as const satisfies Rules

/** The server also passes on that its database is down or busy. The same query may run later. */
export const isTemporary = (error: string): boolean =>
  /\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)\b/.test(error) ||
  /(?:^|: )(?:socket hang up|timeout (?:error|exceeded)|(?:\(\w+\) |\w+ )?memory limit|too many simultaneous queries)\b/i.test(error)

/** ClickHouse ends its message with the query, or with everything that may come next. */
export const withoutQuery = (error: string): string =>
  clip((error.split(/(?<=[.?]) In (?:scope|query) /)[0] ?? '').trim().replace(/\.$/, ''), 300)

export const withRemedy = (error: string, remedy: string): string =>
  withoutQuery(error).replace(/\?$|$/, (end) => `${end || '.'} ${remedy}`)

const diagnoseAlert = (change: Change, rule: keyof typeof evaluationRules, message: string) =>
  diagnosticOf(evaluationRules, rule, change.location ?? { file: 'alerts' }, `${nameOfAlert(change)}: ${message}`)

/** `error` are the words of the server. An alert without a declaration has no key. */
export const warnFailing = (change: Change, error: string): Diagnostic => {
  const remedy = withRemedy(error, 'Correct the conditions and expressions of what it watches')
  return diagnoseAlert(change, 'failing-query', `it would never fire, because the server cannot run its query: ${remedy}`)
}

export function nameOfAlert(change: Change): string {
  const { key, name, id } = change
  if (key === '') return `alert ${describeStored({ id: id ?? '', name })}`
  const maker = makerOf(change)
  return maker === '' ? `alerts.${key}` : `${maker} (alert ${key})`
}

/** `slos.KEY`, or empty. */
export const makerOf = (change: Change): string => ('madeFrom' in change && change.madeFrom) || ''

/** The server records no error of such an alert, so that only the plan can tell. */
export const refuseNeverEvaluated = (change: Change, reason: string): Diagnostic =>
  diagnoseAlert(change, 'never-evaluated', `the server would never evaluate it, and shows no error: ${reason}`)

export const toFindings = (change: Change, judgement: Judgement | undefined): readonly Diagnostic[] =>
  (judgement?.findings ?? []).map(({ severity, message }) =>
    diagnoseAlert(change, severity === 'warning' ? 'implausible-alert' : 'quiet-alert', message),
  )

/** On the alerts of the plan and of its orphans. `alerts` are all alerts of the service. */
export function findEvaluationProblems(
  plan: Plan,
  alerts: readonly StoredObject[],
  { policy, nowMs }: { readonly policy: OnFailedEvaluation; readonly nowMs: number },
  idOf: (change: Change) => string | undefined = ({ id }) => id,
): readonly Diagnostic[] {
  if (policy === 'ignore') return []
  const kept = changesOf(plan.changes, 'alert').filter((change) => !isDelete(change))
  const changes = new Map(kept.map((change) => [idOf(change), change]))
  const orphans = new Set(plan.orphans.map(({ id }) => id))
  const managed = alerts.filter(({ id }) => changes.has(id) || orphans.has(id))
  const stopped = managed.some((alert) => explainOverdue(alert, nowMs) !== undefined) ? explainStoppedTask(alerts, nowMs) : undefined
  const found = managed.flatMap((alert): readonly Diagnostic[] => {
    const change = changes.get(alert.id)
    const name = change === undefined ? `alert ${describeStored(alert)}` : `alerts.${change.key}`
    const location = change?.location ?? { file: 'alerts' }
    const failed = explainFailedEvaluation(alert)
    const overdue = stopped === undefined ? explainOverdue(alert, nowMs) : undefined
    const report = policy === 'fail' ? exceptionalDiagnostic : diagnosticOf
    return [
      ...(failed === undefined
        ? []
        : [report(evaluationRules, 'failed-evaluation', location, `${name}: its last evaluation failed with ${failed}`)]),
      ...(overdue === undefined ? [] : [diagnosticOf(evaluationRules, 'overdue-evaluation', location, `${name}: ${overdue}`)]),
    ]
  })
  return stopped === undefined ? found : [diagnosticOf(evaluationRules, 'overdue-evaluation', { file: 'alerts' }, stopped), ...found]
}

/**
 * Alerts that are not evaluated or fail, and those that this run wrote and the server has not evaluated since, with the latest time of
 * that.
 */
export function reviewEvaluations(plan: Plan, outcomes: readonly Outcome[], alerts: readonly StoredObject[], nowMs: number) {
  const byId = new Map(alerts.map((alert) => [alert.id, alert]))
  const pending = outcomes.flatMap(({ change, became, id }) => {
    const alert = byId.get(id ?? '')
    return alert !== undefined && isPending(change, became, alert) ? [{ key: change.key, alert }] : []
  })
  const pendingIds = new Set(pending.map(({ alert }) => alert.id))
  const ids = new Map(outcomes.map(({ change, id }) => [change, id]))
  return {
    problems: findEvaluationProblems(
      plan,
      alerts.filter(({ id }) => !pendingIds.has(id)),
      { policy: 'warn', nowMs },
      (change) => ids.get(change) ?? change.id,
    ),
    notEvaluated: pending.map(({ key, alert }) => {
      const dueMs = nextEvaluationMs(alert, nowMs)
      return { key, id: alert.id, ...(dueMs !== undefined && { dueAt: new Date(dueMs).toISOString() }) }
    }),
  }
}

/** A created alert is evaluated when it shows it. An updated one keeps its errors until then, and only newer errors prove an evaluation. */
function isPending({ stored: before }: Change, became: Outcome['became'], alert: StoredObject) {
  if (became === 'created' || became === 'replaced') return !isEvaluated(alert)
  return became === 'updated' && (failedAt(alert) === undefined || failedAt(alert) === failedAt(before ?? {}))
}
