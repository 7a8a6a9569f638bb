// What the values of a day say about stored alerts. Apart, because it loads what evaluates queries, and few servers need that.

import { judgeStoredAlerts } from '../../changes/queries/query-problems.ts'
import type { Alert } from '../../kinds/alert/alert.ts'
import { createAlertKind } from '../../kinds/alert/alert-kind.ts'
import { listAtMost, namesAtMost, plural } from '../../platform/core/text.ts'
import type { Context } from '../../platform/operation/operation.ts'
import { readStoredObjects } from '../../sync/plan/stored-objects.ts'

/** Of managed alerts only: those that can never fire, or always do, are a warning. */
export async function checkAlertValues(context: Context<'read', 'service-or-server'>, alerts: readonly Alert[]) {
  const { api, service, profile, clock } = context
  const kind = createAlertKind(profile, clock.now())
  const isManaged = (alert: Alert): boolean => kind.readMarker(kind.toBody(alert)) !== undefined
  if (!alerts.some(isManaged)) return { detail: 'no managed alerts' }
  const storedObjects = await readStoredObjects({ api, service, profile, wanted: new Set(), wantsConnections: false })
  const managed = storedObjects.alert.filter(isManaged)
  const { facts, diagnostics, answeredCount, reasons } = await judgeStoredAlerts(context, storedObjects, managed)
  const problems = diagnostics.filter(({ severity }) => severity !== 'note').map(({ message }) => message)
  const looked = `${answeredCount} of ${plural(managed.length, 'managed alert')} looked at, over 24 h`
  const detail = answeredCount === managed.length ? looked : `${looked}; not the others: ${namesAtMost(3, [...reasons])}`
  const about = { found: facts.length, facts: [...facts] }
  if (problems.length === 0) return { ...about, ...(answeredCount === 0 && { outcome: 'skipped' as const }), detail }
  const advice = `${plural(problems.length, 'problem')} in the values of managed alerts`
  const lines = listAtMost(problems, 10, (count) => `… and ${count} more`)
  return { ...about, outcome: 'warning' as const, detail: [`${advice}:`, ...lines, detail].join('\n'), advice }
}
