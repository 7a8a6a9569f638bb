// How long do prepaid credits last, and how many expire unused?
import * as z from 'zod'
import { addDays, type Day, dayOf, plainDay } from '../core/dates.ts'
import { type Decimal, sum } from '../core/decimal.ts'
import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { dayMs } from '../core/durations.ts'
import { toFailure } from '../core/errors.ts'
import { type Line, say, sentence, trusted } from '../core/line.ts'
import { toKebab } from '../core/names.ts'
import { plural } from '../core/text.ts'
import { htmlFileInput, htmlFiles } from '../operation/html-file.ts'
import { flag, integer } from '../operation/inputs.ts'
import { type Context, defineOperation, type Given, type Report, type Verdict } from '../operation/operation.ts'
import { alignRight, type Block, factOf } from '../report/blocks.ts'
import { formatMoney, formatMoneyPair, formatRange, formatShortDay, formatTime } from '../report/format.ts'
import { amountInput, creditPriceSchema, estimate, exactAmount, priceInput } from './amounts.ts'
import { balanceSchema, type CreditBalance, type CreditBalances, readCreditBalances, totalOfBalances } from './credit-balances.ts'
import { type CreditForecast, creditForecastSchema, forecastCredits, horizonDays, latestFinalDays } from './credit-forecast.ts'
import { isRounding } from './data-quality.ts'
import { dayOn } from './periods.ts'
import { unitWords, whyNotTrusted } from './phrases.ts'
import { maxWindowDays, readUsageCost } from './usage-api.ts'

const input = z.strictObject({
  minCredits: amountInput('The gate fails when fewer prepaid credits than this remain. An equal amount passes.').optional(),
  warnCredits: amountInput('The gate warns when fewer prepaid credits than this remain.').optional(),
  minDaysLeft: integer('The gate fails when the prepaid credits are expected to last for fewer days than this.', 1, horizonDays).optional(),
  warnDaysLeft: integer(
    'The gate warns when the prepaid credits are expected to last for fewer days than this.',
    1,
    horizonDays,
  ).optional(),
  maxExpiring: amountInput('The gate fails when more prepaid credits than this are expected to expire unused.').optional(),
  warnExpiring: amountInput('The gate warns when more prepaid credits than this are expected to expire unused.').optional(),
  requireCredits: flag(
    'Whether the gate fails without prepaid credits. The default is true with min-credits or min-days-left, and otherwise false.',
  ).optional(),
  creditPrice: priceInput('What you pay for one credit, by your contract. The report then also shows amounts of money.').optional(),
  htmlFile: htmlFileInput,
})

type CreditsInput = z.output<typeof input>

const output = z.object({
  remainingCredits: exactAmount('Prepaid credits that remain and can be used now. Absent without prepaid credits.').optional(),
  trialCredits: exactAmount('Trial credits that remain and can be used now. Absent without trial credits.').optional(),
  creditsPerDay: estimate('Mean use of a day, from final days.').optional(),
  daysLeft: z
    .int()
    .optional()
    .describe('Whole days after today that the prepaid credits are expected to last. Absent without an estimate.'),
  creditsRunOutOn: dayOn('The first day without enough prepaid credits, an estimate. Absent without one.').optional(),
  expiringCredits: estimate('Prepaid credits that are expected to expire unused.').optional(),
})

const details = () =>
  z.object({
    checkedAt: z.string().describe('The time of the check, ISO 8601 in UTC.'),
    creditUnit: z.string().describe('Unit of all amounts.'),
    today: dayOn('The day of the check.'),
    balances: z.array(balanceSchema()).describe('All balances of the answer.'),
    apiTotal: exactAmount("The API's own total of all balances that can be used, where it differs from their sum.").optional(),
    forecast: creditForecastSchema().optional().describe('Absent without prepaid credits.'),
    creditPrice: creditPriceSchema().optional().describe('The price of one credit, as given.'),
  })

type Credits = z.output<typeof output> & z.output<ReturnType<typeof details>>

export const checkCredits = defineOperation({
  summary: 'Checks how many prepaid credits remain, how long they last, and how many expire unused.',
  effect: 'read',
  scope: 'organization',
  profiles: ['clickhouse-cloud'],
  input,
  output,
  get details() {
    return details()
  },
  example: { warnDaysLeft: 30 },
  check: checkInput,
  async run(context, { creditPrice }) {
    const { api, organizationId, clock } = context
    const nowMs = clock.now()
    const today = dayOf(nowMs)
    const [read, usage] = await Promise.all([readCreditBalances(api, organizationId, nowMs), readFinalUsage(context, today)])
    const { balances } = read
    const prepaid = usable(balances, 'prepaid')
    const trial = usable(balances, 'trial')
    const forecast = prepaid.length === 0 ? undefined : forecastFrom(prepaid, usage, nowMs)
    const isEstimated = forecast?.status === 'estimated'
    return {
      remainingCredits: prepaid.length === 0 ? undefined : totalOfBalances(prepaid),
      trialCredits: trial.length === 0 ? undefined : totalOfBalances(trial),
      creditsPerDay: isEstimated ? forecast.perDay.expected : undefined,
      daysLeft: isEstimated ? forecast.daysLeft.expected : undefined,
      creditsRunOutOn: isEstimated ? runOutDay(forecast) : undefined,
      expiringCredits: isEstimated ? forecast.expiring.expected : undefined,
      checkedAt: new Date(nowMs).toISOString(),
      creditUnit: 'failure' in usage ? 'credits' : usage.unit,
      today,
      balances: [...balances],
      apiTotal: differentTotal(read),
      forecast,
      creditPrice,
    }
  },
  judge: judgeCredits,
  report: reportCredits,
  files: (_, { htmlFile }, blocks) => htmlFiles(htmlFile, 'Credits', blocks),
  toDocument: (result) => z.encode(z.object({ ...output.shape, ...details().shape }), result),
})

function checkInput({ values }: Given<typeof input>): readonly Diagnostic[] {
  const { minCredits, warnCredits, minDaysLeft, warnDaysLeft, maxExpiring, warnExpiring } = values
  const never = (name: string, isNever: boolean | undefined, place: string): readonly Diagnostic[] =>
    isNever ? [inputDiagnostic(toKebab(name), `is ${place}, so the gate would never warn`)] : []
  return [
    ...never('warnCredits', minCredits && warnCredits?.lt(minCredits), 'below min-credits'),
    ...never('warnDaysLeft', minDaysLeft !== undefined && warnDaysLeft !== undefined && warnDaysLeft < minDaysLeft, 'below min-days-left'),
    ...never('warnExpiring', maxExpiring && warnExpiring?.gt(maxExpiring), 'above max-expiring'),
  ]
}

/** Credits of a type that can be used now. */
const usable = (balances: readonly CreditBalance[], type: CreditBalance['type']): readonly CreditBalance[] =>
  balances.filter((balance) => balance.type === type && balance.state === 'active' && balance.remaining.gt(0))

/** Undefined where the total is that of the balances, or where the answer has none. */
function differentTotal({ balances, total }: CreditBalances): Decimal | undefined {
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

/** Undefined for credits that last for longer than any estimate makes sense. */
const runOutDay = ({ daysLeft, course }: Estimated): Day | undefined => (daysLeft.expected >= horizonDays ? undefined : course.at(-1)?.date)

interface Reason {
  readonly level: 'warn' | 'fail'
  readonly line: Line
}

function judgeCredits(result: Credits, given: CreditsInput): Verdict {
  const all = [
    ...availabilityReasons(result, given),
    ...amountReasons(result, given),
    ...forecastReasons(result, given),
    ...totalReasons(result, given),
  ]
  const [first, ...others] = (['fail', 'warn'] as const).flatMap((wanted) => all.filter(({ level }) => level === wanted))
  if (first === undefined) return { status: 'pass', reasons: [] }
  return { status: first.level, sentence: first.line, reasons: others.map(({ line }) => line) }
}

const hasLimit = ({ minCredits, warnCredits, minDaysLeft, warnDaysLeft, maxExpiring, warnExpiring }: CreditsInput): boolean =>
  [minCredits, warnCredits, minDaysLeft, warnDaysLeft, maxExpiring, warnExpiring].some((limit) => limit !== undefined)

/** An organization that pays afterwards has no credits, which is not the same as none left. */
function availabilityReasons({ remainingCredits, balances }: Credits, given: CreditsInput): readonly Reason[] {
  if (remainingCredits !== undefined) return []
  const { minCredits, minDaysLeft, requireCredits = minCredits !== undefined || minDaysLeft !== undefined } = given
  const future = balances.find(({ type, state }) => type === 'prepaid' && state === 'not-started')
  const next = future?.startsAt === undefined ? '' : ` The next ones start on ${plainDay(dayOf(Date.parse(future.startsAt)))}.`
  const line = (effect: string) => [trusted(`No prepaid credits: none were granted, or all are used up or expired.${next}${effect}`)]
  if (requireCredits) return [{ level: 'fail', line: line('') }]
  return hasLimit(given) ? [{ level: 'warn', line: line(' No limit was checked.') }] : []
}

function amountReasons({ remainingCredits, creditUnit }: Credits, { minCredits, warnCredits }: CreditsInput): readonly Reason[] {
  if (remainingCredits === undefined) return []
  const reason = (level: Reason['level'], limit: Decimal, what: string): readonly Reason[] => {
    const [left, least] = formatMoneyPair(remainingCredits, limit)
    return [
      { level, line: [trusted(`Prepaid credits are below the ${what}: ${left} ${creditUnit} of at least ${least} ${creditUnit} remain.`)] },
    ]
  }
  if (minCredits !== undefined && remainingCredits.lt(minCredits)) return reason('fail', minCredits, 'minimum')
  return warnCredits !== undefined && remainingCredits.lt(warnCredits) ? reason('warn', warnCredits, 'warning level') : []
}

function forecastReasons(result: Credits, given: CreditsInput): readonly Reason[] {
  const { forecast, remainingCredits } = result
  if (forecast === undefined || remainingCredits === undefined) return []
  if (forecast.status === 'not-estimable') return notEstimatedReasons(forecast.reason, remainingCredits, given)
  return [...daysReasons(forecast, result, given), ...expiringReasons(forecast, result, given)]
}

/** More than all remaining credits cannot expire, so that a larger limit needs no estimate. */
function notEstimatedReasons(reason: string, remaining: Decimal, given: CreditsInput): readonly Reason[] {
  const { minDaysLeft, warnDaysLeft, maxExpiring, warnExpiring } = given
  const reasonFor = (level: Reason['level'], name: string, isUnchecked: boolean): readonly Reason[] =>
    isUnchecked ? [{ level, line: say`${trusted(name)} was not checked, because ${sentence(reason.replace(/\.$/, ''))}.` }] : []
  return [
    ...reasonFor('fail', 'min-days-left', minDaysLeft !== undefined),
    ...reasonFor('fail', 'max-expiring', maxExpiring?.lt(remaining) === true),
    ...reasonFor('warn', 'warn-days-left', minDaysLeft === undefined && warnDaysLeft !== undefined),
    ...reasonFor('warn', 'warn-expiring', maxExpiring === undefined && warnExpiring?.lt(remaining) === true),
  ]
}

type Estimated = Extract<CreditForecast, { status: 'estimated' }>

function daysReasons({ daysLeft }: Estimated, result: Credits, { minDaysLeft, warnDaysLeft }: CreditsInput): readonly Reason[] {
  const reason = (level: Reason['level'], limit: number, what: string): readonly Reason[] => [
    {
      level,
      line: [trusted(`Prepaid credits last for ${durationWords(daysLeft.expected, result)}. The ${what} is ${plural(limit, 'day')}.`)],
    },
  ]
  if (minDaysLeft !== undefined && daysLeft.expected < minDaysLeft) return reason('fail', minDaysLeft, 'minimum')
  return warnDaysLeft !== undefined && daysLeft.expected < warnDaysLeft ? reason('warn', warnDaysLeft, 'warning level') : []
}

function expiringReasons({ expiring }: Estimated, { creditUnit }: Credits, { maxExpiring, warnExpiring }: CreditsInput): readonly Reason[] {
  const reason = (level: Reason['level'], limit: Decimal, what: string): readonly Reason[] => {
    const [lost, most] = formatMoneyPair(expiring.expected, limit)
    return [{ level, line: [trusted(`${lost} ${creditUnit} are expected to expire unused. The ${what} is ${most} ${creditUnit}.`)] }]
  }
  if (maxExpiring !== undefined && expiring.expected.gt(maxExpiring)) return reason('fail', maxExpiring, 'maximum')
  return warnExpiring !== undefined && expiring.expected.gt(warnExpiring) ? reason('warn', warnExpiring, 'warning level') : []
}

/** The list may be incomplete, or have a balance that cannot be used. */
function totalReasons({ apiTotal, balances, creditUnit }: Credits, given: CreditsInput): readonly Reason[] {
  const level = hasLimit(given) || given.requireCredits === true ? 'fail' : 'warn'
  const others = balances.filter(({ type, state }) => type === 'other' && state === 'active')
  const unknown = say`${trusted(plural(others.length, 'balance'))} of an unknown type with ${trusted(`${formatMoney(totalOfBalances(others))} ${creditUnit}`)} did not count.`
  const own = formatMoney(totalOfBalances(balances.filter(({ state }) => state === 'active')))
  return [
    ...(apiTotal === undefined
      ? []
      : [
          {
            level,
            line: [trusted(`The balances add up to ${own} ${creditUnit}, but the API's total is ${formatMoney(apiTotal)} ${creditUnit}.`)],
          } as const,
        ]),
    ...(others.length === 0 ? [] : [{ level: 'warn', line: unknown } as const]),
  ]
}

function reportCredits(result: Credits): Report {
  return {
    headline: headlineOf(result),
    blocks: [
      { kind: 'facts', facts: factsOf(result) },
      ...notices(result).map((line): Block => ({ kind: 'paragraph', line })),
      ...chart(result),
      balanceTable(result),
    ],
  }
}

/** For a run that passes. */
function headlineOf(result: Credits): Line {
  const { remainingCredits, trialCredits, daysLeft, creditUnit } = result
  if (remainingCredits === undefined)
    return [trusted(trialCredits === undefined ? 'No prepaid credits' : `No prepaid credits, ${formatMoney(trialCredits)} trial credits`)]
  const lasting = daysLeft === undefined ? '' : `, enough for ${durationWords(daysLeft, result)}`
  return [trusted(`${formatMoney(remainingCredits)} ${creditUnit} of prepaid credits remain${lasting}`)]
}

function durationWords(daysLeft: number, { creditsRunOutOn, today }: Credits): string {
  if (daysLeft >= horizonDays) return 'more than 10 years'
  if (daysLeft === 0) return creditsRunOutOn === today ? 'less than the rest of today' : 'only the rest of today'
  return `${plural(daysLeft, 'more day')} (until ${plainDay(addDays(today, daysLeft))})`
}

function factsOf(result: Credits) {
  const { remainingCredits, trialCredits, creditUnit, forecast, creditPrice, creditsRunOutOn, today, checkedAt } = result
  const fact = (label: string, value: string | undefined) => factOf(label, value === undefined ? undefined : [trusted(value)])
  const amount = (value: Decimal): string => `${formatMoney(value)} ${creditUnit}`
  const withMoney = (value: Decimal): string =>
    creditPrice === undefined ? amount(value) : `${amount(value)} (${formatMoney(value.times(creditPrice.amount))} ${creditPrice.currency})`
  const words = unitWords(creditUnit)
  const price = creditPrice && `${words ?? creditUnit}, ${creditPrice.amount.toFixed()} ${creditPrice.currency} each`
  const estimated = forecast?.status === 'estimated' ? forecast : undefined
  return [
    ...fact('Prepaid credits', remainingCredits === undefined ? 'none' : withMoney(remainingCredits)),
    ...fact('Trial credits', trialCredits && amount(trialCredits)),
    ...fact('Use per day', estimated && perDayWords(estimated, creditUnit)),
    ...fact('Days left', estimated && daysWords(estimated)),
    ...fact('Not enough credits on', creditsRunOutOn && formatShortDay(creditsRunOutOn, today)),
    ...fact('Expire unused', estimated && `${withMoney(estimated.expiring.expected)}${rangeWords(estimated.expiring)}`),
    ...fact('Estimate', forecast?.status === 'not-estimable' ? 'not estimable' : undefined),
    ...fact('Checked', formatTime(checkedAt)),
    ...fact('Unit', price ?? words),
  ]
}

/** ` (80% range 12–15)`. Empty for a range of one value. */
const rangeWords = ({ low, high }: { readonly low: Decimal; readonly high: Decimal }): string =>
  low.eq(high) ? '' : ` (80% range ${formatRange(low, high)})`

const perDayWords = ({ perDay, days, fromDate, toDate }: Estimated, unit: string): string =>
  `${formatMoney(perDay.expected)} ${unit}${rangeWords(perDay)}, mean of ${plural(days, 'final day')} from ${plainDay(fromDate)} to ${plainDay(toDate)}`

const daysText = (days: number): string => (days >= horizonDays ? 'more than 10 years' : String(days))

function daysWords({ daysLeft: { expected, low, high } }: Estimated): string {
  return low === high ? daysText(expected) : `${daysText(expected)} (80% range ${daysText(low)}–${daysText(high)})`
}

function notices({ forecast, balances, trialCredits }: Credits): readonly Line[] {
  const waiting = balances.filter(({ state }) => state === 'not-started')
  return [
    ...(forecast?.status === 'not-estimable' ? [say`How long the credits last is not estimable: ${sentence(forecast.reason)}`] : []),
    ...(forecast?.status === 'estimated'
      ? [
          say`The estimate assumes that balances are used in the order of their expiry, and that the use per day stays as it is. The vendor does not document the order.`,
        ]
      : []),
    ...(waiting.length === 0 ? [] : [[trusted(`Credits that start later do not count: ${plural(waiting.length, 'balance')}.`)]]),
    ...(trialCredits === undefined ? [] : [say`Trial credits do not count for limits and estimates.`]),
  ]
}

/** Bars of the chart. */
const maxBars = 40

/** The expected course, for credits that last for at most two years. A longer course says nothing. */
function chart({ forecast, remainingCredits, creditUnit, today }: Credits): readonly Block[] {
  if (forecast?.status !== 'estimated' || remainingCredits === undefined || forecast.course.length < 3 || forecast.course.length > 800)
    return []
  const step = Math.max(1, Math.ceil(forecast.course.length / maxBars))
  const points = forecast.course.filter((_, i) => i % step === 0)
  return [
    {
      kind: 'chart',
      title: `Expected ${creditUnit} at the end of ${step === 1 ? 'the day' : `every ${step} days`}`,
      unit: creditUnit,
      valueName: 'Expected',
      points: points.map(({ date, remaining }) => ({ label: formatShortDay(date, today), value: Number(remaining) })),
    },
  ]
}

const stateWords = { active: 'in use', 'not-started': 'not started', expired: 'expired' } as const

function balanceTable({ balances, forecast, creditUnit, today }: Credits): Block {
  const losses = forecast?.status === 'estimated' ? forecast.losses : []
  const prepaid = usable(balances, 'prepaid')
  const lostOf = (balance: CreditBalance): Decimal =>
    sum(losses.filter((one) => prepaid[one.balance] === balance).map(({ expected }) => expected))
  const dayCell = (iso: string | undefined): Line => [trusted(iso === undefined ? '–' : formatShortDay(dayOf(Date.parse(iso)), today))]
  return {
    kind: 'table',
    title: 'Balances',
    columns: [
      { title: 'Type' },
      { title: 'State' },
      alignRight(`Remaining (${creditUnit})`),
      alignRight(`Granted (${creditUnit})`),
      { title: 'Starts' },
      { title: 'Expires' },
      alignRight(`Expires unused (${creditUnit})`),
    ],
    rows: balances.map((balance) => [
      [trusted(balance.type)],
      [trusted(stateWords[balance.state])],
      [trusted(formatMoney(balance.remaining))],
      [trusted(balance.granted === undefined ? '–' : formatMoney(balance.granted))],
      dayCell(balance.startsAt),
      dayCell(balance.expiresAt),
      [trusted(forecast?.status === 'estimated' && prepaid.includes(balance) ? formatMoney(lostOf(balance)) : '–')],
    ]),
  }
}
