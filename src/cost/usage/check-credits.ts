import * as z from 'zod'
import { addDays, type Day, dayOf } from '../../platform/core/dates.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { toFailure } from '../../platform/core/errors.ts'
import { type Context, defineOperation } from '../../platform/operation/operation.ts'
import {
  type CreditBalance,
  type CreditBalances,
  type CreditForecast,
  creditsDetails,
  creditsInput,
  creditsOutput,
  creditsRunOutDay,
  forecastCredits,
  latestFinalDays,
  readCreditBalances,
  totalOfBalances,
  usableBalances,
} from './credits.ts'
import { judgeCredits, reportCredits } from './credits-report.ts'
import { whyNotTrusted } from './phrases.ts'
import { isRounding } from './records.ts'
import { maxWindowDays, readUsageCost } from './usage-api.ts'

export const checkCredits = defineOperation({
  title: 'Credits',
  summary: 'Checks how many prepaid credits remain, how long they last, and how many expire unused.',
  effect: 'read',
  scope: 'organization',
  input: creditsInput,
  output: creditsOutput,
  get details() {
    return creditsDetails()
  },
  example: { minDaysLeft: 30 },
  async run(context, { creditPrice }) {
    const { api, organizationId, clock } = context
    const nowMs = clock.now()
    const today = dayOf(nowMs)
    const [found, usage] = await Promise.all([readCreditBalances(api, organizationId, nowMs), readFinalUsage(context, today)])
    const { balances } = found
    const prepaid = usableBalances(balances, 'prepaid')
    const trial = usableBalances(balances, 'trial')
    const forecast = prepaid.length === 0 ? undefined : forecastFrom(prepaid, usage, nowMs)
    const estimated = forecast?.status === 'estimated' ? forecast : undefined
    return {
      remainingCredits: prepaid.length === 0 ? undefined : totalOfBalances(prepaid),
      trialCredits: trial.length === 0 ? undefined : totalOfBalances(trial),
      creditsPerDay: estimated?.perDay.expected,
      daysLeft: estimated?.daysLeft.expected,
      creditsRunOutOn: estimated && creditsRunOutDay(estimated),
      expiringCredits: estimated?.expiring.expected,
      checkedAt: new Date(nowMs).toISOString(),
      creditUnit: 'failure' in usage ? 'credits' : usage.unit,
      today,
      balances: [...balances],
      apiTotal: differentTotal(found),
      forecast,
      creditPrice,
    }
  },
  judge: judgeCredits,
  report: reportCredits,
  toDocument: (result) => z.encode(z.object({ ...creditsOutput.shape, ...creditsDetails().shape }), result),
})

/** Undefined where the total is that of the balances, or where the answer has none. */
function differentTotal({ balances, total }: CreditBalances) {
  if (total === undefined) return undefined
  const own = totalOfBalances(balances.filter(({ state }) => state === 'active'))
  return isRounding(own.minus(total), total) ? undefined : total
}

type FinalUsage = { readonly unit: string; readonly days: ReturnType<typeof latestFinalDays> } | { readonly failure: string }

/** The balances are the subject of the run, so that unreadable usage only prevents the estimate. */
async function readFinalUsage({ api, organizationId }: Context<'read', 'organization'>, today: Day): Promise<FinalUsage> {
  const period = { from: addDays(today, 1 - maxWindowDays), to: today }
  try {
    const { unit, grandTotal, records } = await readUsageCost(api, organizationId, period, [])
    const failure = whyNotTrusted({ period, grandTotal, records }, unit, today)
    if (failure !== undefined) return { failure }
    return { unit, days: latestFinalDays(records, today) }
  } catch (thrown) {
    const [cause = '', advice = ''] = toFailure(thrown).message.split('\n')
    return { failure: `the usage could not be read: ${cause}. ${advice}` }
  }
}

function forecastFrom(prepaid: readonly CreditBalance[], usage: FinalUsage, nowMs: number): CreditForecast {
  if ('failure' in usage) return { status: 'not-estimable', reason: usage.failure }
  const today = dayOf(nowMs)
  return forecastCredits(prepaid, usage.days, today, (Date.parse(addDays(today, 1)) - nowMs) / dayMs)
}
