import * as z from 'zod'
import { ApiError } from '../../platform/api/api-error.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { causeOf } from '../../platform/core/errors.ts'
import { say, untrustedSentence } from '../../platform/core/line.ts'
import { flag, grouped } from '../../platform/operation/inputs.ts'
import { paragraph } from '../../platform/report/blocks.ts'
import { pass } from '../../platform/report/report.ts'
import type { Review } from '../review.ts'
import { backtestedAlert, type Gates, gateInput, judgeBacktest, reviewBlocks } from './backtest-report.ts'

const reviewedDays = 7

/** The rate limit of one minute has room for this many requests and for the lists that a plan reads. */
const maxRequests = 60

const reviewedBacktest = z.object({
  days: z.int(),
  alerts: z.array(backtestedAlert),
  requestCount: z.int(),
  message: z.string().optional().describe('Why there are no estimates.'),
})

export interface BacktestAnswer {
  readonly backtest?: z.output<typeof reviewedBacktest> | undefined
}

/** A failure is part of the result, because a plan depends on its estimates only if a gate is set. */
export const backtestReview = {
  inputs: grouped('Gates', {
    backtest: flag(
      'Shows how often changed alerts would have fired. It compares the alerts before and after the change over the last 7 days. In ClickHouse Cloud, it needs `sql-key-id`.',
    ).default(false),
    ...gateInput,
  }),
  details: { backtest: reviewedBacktest.optional().describe('With `backtest`: the changed alerts in the last 7 days.') },
  async demand(context, { backtest }) {
    if (backtest) (await import('./backtest-plan.ts')).demandValues(context)
  },
  async run(context, planned, { backtest }) {
    if (!backtest) return {}
    const { backtestPlan, whyNoBacktest } = await import('./backtest-plan.ts')
    const without = (message: string) => ({ result: { backtest: { days: reviewedDays, alerts: [], requestCount: 0, message } } })
    const onProgress = (done: number, total: number): Promise<void> =>
      context.progress({ done, total, line: say`series of values`, result: async () => ({}) })
    const refusal = await whyNoBacktest(context)
    if (refusal !== undefined) return without(refusal)
    try {
      const nowMs = context.clock.now()
      const range = { fromMs: nowMs - reviewedDays * dayMs, untilMs: nowMs }
      const request = { range, only: 'changed', maxRequests } as const
      const { alerts, requestCount, run, diagnostics } = await backtestPlan(planned, { ...context, nowMs, onProgress }, request)
      return { result: { backtest: { days: reviewedDays, alerts: [...alerts], requestCount } }, tested: run, diagnostics }
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.kind === 'canceled') throw thrown
      return without(causeOf(thrown))
    }
  },
  blocks({ backtest }) {
    if (backtest === undefined) return []
    if (backtest.message !== undefined) return [paragraph(say`No backtest: ${untrustedSentence(backtest.message)}`)]
    return reviewBlocks(backtest.alerts, backtest.days)
  },
  judge({ backtest }, gates) {
    if (backtest === undefined || gates.maxNotifications === undefined) return pass
    if (backtest.message === undefined) return judgeBacktest(backtest.alerts, gates)
    return { status: 'fail', reasons: [say`no backtest: ${untrustedSentence(backtest.message)}`] }
  },
} satisfies Review<Gates & { readonly backtest: boolean }, BacktestAnswer>
