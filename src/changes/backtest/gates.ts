import { spellInput } from '../../platform/core/input-spelling.ts'
import { counted, join, type Line, say, trusted } from '../../platform/core/line.ts'
import { integer, noted, onMissingInput } from '../../platform/operation/inputs.ts'
import { pass, type Verdict } from '../../platform/report/report.ts'
import { formatCoverage, minCoverage } from '../../signals/backtest/coverage.ts'
import type { AlertEstimate } from '../../signals/backtest/result.ts'
import type { BacktestedAlert } from './backtest-report.ts'

/** The inputs that make a backtest a gate. */
export const gateInput = {
  maxNotifications: integer(
    'Fails if an alert would have notified more often than this on a day; plan needs `backtest`. The days are those of UTC.',
    0,
    100_000,
  ).optional(),
  onMissing: noted(onMissingInput.optional(), `An alert needs an estimate, and data in ${minCoverage}% of its windows.`),
}

export interface Gates {
  readonly maxNotifications?: number | undefined
  readonly onMissing?: 'fail' | 'warn' | 'ignore' | undefined
}

/** An alert without an estimate passes only where `onMissing` accepts it. */
export function judgeBacktest(alerts: readonly BacktestedAlert[], { maxNotifications, onMissing = 'fail' }: Gates): Verdict {
  if (maxNotifications === undefined) return pass
  const failures = alerts.flatMap(({ key, next }): readonly Line[] => {
    const busiest = next?.notificationsOnBusiestDay
    if (busiest === undefined || busiest <= maxNotifications) return []
    return [say`alert ${key} sends ${counted(busiest, 'notification')} on one day, above ${maxNotifications}`]
  })
  const noisy = alerts.find(({ next }) => (next?.notificationsOnBusiestDay ?? 0) > maxNotifications)
  const missing = onMissing === 'ignore' ? [] : findUnchecked(alerts)
  if (failures.length > 0 || (missing.length > 0 && onMissing === 'fail'))
    return {
      status: 'fail',
      ...(noisy && { cause: say`alert ${noisy.key} notifies too often` }),
      reasons: [...failures, ...(onMissing === 'fail' ? missing : [])],
    }
  return missing.length === 0 ? pass : { status: 'warn', reasons: missing }
}

/** The alerts for which too little is known to compare them with the maximum of notifications. */
function findUnchecked(alerts: readonly BacktestedAlert[]): readonly Line[] {
  const unknown = alerts.filter(({ next }) => next !== undefined && next.notificationsOnBusiestDay === undefined)
  const names = join(
    unknown.map(({ key }) => say`${key}`),
    ', ',
  )
  const sparse = alerts.filter(({ next }) => next?.notificationsOnBusiestDay !== undefined && isSparse(next))
  return [
    ...(unknown.length === 0
      ? []
      : [
          say`max-notifications could not be checked for ${names}; ${trusted(spellInput('on-missing', 'warn'))} accepts alerts without an estimate`,
        ]),
    ...sparse.map(({ key, next }) => say`max-notifications was checked for alert ${key} with ${describeSparse(next)}`),
  ]
}

/** Whether too few windows have data, or their number is unknown. Without an evaluated window, there is nothing to cover. */
const isSparse = (estimate: AlertEstimate): boolean =>
  estimate.verdict !== 'not-estimable' && estimate.windows !== 0 && (estimate.coverage?.share ?? 0) * 100 < minCoverage

const describeSparse = (estimate: AlertEstimate | undefined): Line =>
  estimate?.coverage === undefined
    ? say`an unknown share of windows with data: set the source of its tile, or ${trusted(spellInput('on-missing', 'warn'))}`
    : say`data in only ${trusted(formatCoverage(estimate.coverage.share))} of its windows, below ${trusted(`${minCoverage}%`)}`
