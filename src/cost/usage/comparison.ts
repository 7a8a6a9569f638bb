import * as z from 'zod'
import { addDays, addMonths, type Day, eachDay, plainDay } from '../../platform/core/dates.ts'
import { type Decimal, fromText, percentOf } from '../../platform/core/decimal.ts'
import { inputError } from '../../platform/core/errors.ts'
import { amount, exactAmount, percent } from './amounts.ts'
import { type DataQualityIssue, hasJustBegun, type IssueLevel, issueLevel, lastCompleteDay } from './data-quality.ts'
import { date, dayOn, daysIn, isWithin, monthBefore, type Period, periodBefore } from './periods.ts'
import { createTally, entityKey, entityOf, metricsOf, totalOf, type UsageReading, type UsageRecord } from './records.ts'

/** Largest allowed increase: an amount, or a share of the earlier total. */
type Increase = { readonly kind: 'amount'; readonly amount: Decimal } | { readonly kind: 'percent'; readonly percent: Decimal }

/** Writes the increase as it was given. */
export const writeIncrease = (increase: Increase): string =>
  increase.kind === 'percent' ? `${increase.percent.toFixed()}%` : increase.amount.toFixed()

const increaseText = z.codec(z.string(), z.custom<Increase>().meta({ type: 'string' }), {
  decode: (text, context): Increase => {
    const [, whole, fraction = '', percentSign] = /^(0|[1-9]\d{0,29})((?:\.\d{1,30})?)(\s*%)?$/.exec(text.trim()) ?? []
    if (whole !== undefined) {
      const decimal = fromText(`${whole}${fraction}`)
      return percentSign === undefined ? { kind: 'amount', amount: decimal } : { kind: 'percent', percent: decimal }
    }
    context.issues.push({ code: 'custom', message: 'is not a valid increase', input: text })
    return z.NEVER
  },
  encode: writeIncrease,
})

export const increaseInput = z.union([z.string(), z.number()]).transform(String).pipe(increaseText).meta({
  description:
    'Fails when the cost grew by more than this over the days of `compare`, which it needs. Only days that are complete in both periods count. If no day is complete in both, `on-missing` decides.',
  accepts: 'an amount such as 50, or a percentage such as 20%',
})

export const comparisons = ['previous-period', 'previous-month-days'] as const

const entitySchema = () => z.object({ name: z.string(), entityId: z.string(), entityType: z.string() })

export type UsageComparison = z.output<ReturnType<typeof comparisonSchema>>

/** `no-complete-days`: no day of the period and its counterpart both have all their records, so there is nothing to compare. */
export function comparisonSchema() {
  const asGiven = {
    with: z.enum(comparisons).describe('What the usage is compared with, as given.'),
    maxIncrease: increaseText.optional().describe('Largest allowed increase, as given.'),
  }
  return z.discriminatedUnion('status', [
    z.object({
      status: z.literal('no-complete-days'),
      ...asGiven,
      fromDate: dayOn('First day of the previous period.'),
      toDate: dayOn('Last day of the previous period.'),
    }),
    z.object({
      status: z.literal('compared'),
      ...asGiven,
      fromDate: dayOn('First day of the previous period that counts.'),
      toDate: dayOn('Last day of the previous period that counts.'),
      ofFromDate: dayOn('First day of the period that counts.'),
      ofToDate: dayOn('Last day of the period that counts.'),
      leftOut: z.array(date).describe('Days of the period that do not count: they, or the days to compare them with, are not complete.'),
      ofTotal: exactAmount('Usage of the days of the period that count.'),
      total: exactAmount('Usage of the days of the previous period that count.'),
      change: exactAmount('Increase since the previous period. Negative for a decrease.'),
      changePercent: percent('The increase as a share of the previous usage. Absent without previous usage.').optional(),
      isAboveMaxIncrease: z.boolean(),
      movers: z
        .array(
          z.object({
            entityName: z.string(),
            entityId: z.string(),
            entityType: z.string(),
            metric: z.string(),
            before: amount,
            after: amount,
          }),
        )
        .describe('Largest change first, increase or decrease.'),
      added: z.array(entitySchema()).describe('Entities without usage in the previous period.'),
      removed: z.array(entitySchema()).describe('Entities with usage in the previous period only.'),
    }),
  ])
}

export type Compared = Extract<UsageComparison, { status: 'compared' }>

/**
 * The period that is compared with. Throws an InputError for the same days of the previous month when they overlap the period, or when the
 * previous month lacks the first of them. A billing cycle starts on the last day of such a month.
 */
export function comparedPeriod(compare: UsageComparison['with'], period: Period, isBillingCycle: boolean): Period {
  if (compare === 'previous-period') return periodBefore(period)
  const before = monthBefore(period)
  if (!isBillingCycle && addMonths(before.from, 1) !== period.from) {
    const last = plainDay(before.from)
    const message = `previous-month-days requires a first day that the previous month has: the period starts on ${plainDay(period.from)}, and that month ends on ${last}. Set an earlier first day, or compare with previous-period`
    throw inputError('compare', message)
  }
  if (before.to < period.from) return before
  throw inputError('compare', 'previous-month-days requires a period of at most one month, so that the two periods have no day in common')
}

interface CompareOptions {
  readonly compare: UsageComparison['with']
  readonly maxIncrease: Increase | undefined
  readonly today: Day
}

/**
 * Compares the days that are complete in both periods, because a day that still grows would look like a decrease. Provisional records of these
 * days count: the latest days have few final ones, so a whole earlier period would be compared with a part of this.
 */
export function compareUsage(previous: UsageReading, main: UsageReading, { compare, maxIncrease, today }: CompareOptions): UsageComparison {
  const days = completeDays(previous, main, compare, lastCompleteDay(today))
  const [before, after] = [onlyDays(previous, days.before), onlyDays(main, days.after)]
  const [from, ofFrom] = [days.before[0], days.after[0]]
  const [to, ofTo] = [days.before.at(-1), days.after.at(-1)]
  if (from === undefined || to === undefined || ofFrom === undefined || ofTo === undefined)
    return { status: 'no-complete-days', with: compare, maxIncrease, fromDate: previous.period.from, toDate: previous.period.to }
  const change = after.total.minus(before.total)
  return {
    status: 'compared',
    with: compare,
    maxIncrease,
    fromDate: from,
    toDate: to,
    ofFromDate: ofFrom,
    ofToDate: ofTo,
    leftOut: [...eachDay(main.period.from, main.period.to)].filter((day) => !days.after.includes(day)),
    ofTotal: after.total,
    total: before.total,
    change,
    changePercent: percentOf(change, before.total),
    isAboveMaxIncrease: maxIncrease !== undefined && isAboveIncrease(before.total, after.total, maxIncrease),
    ...findChanges(before.records, after.records),
  }
}

/**
 * The days of both periods that count. A day that is not complete takes its counterpart with it. The days without a counterpart count: March
 * is compared with all of February.
 */
function completeDays(
  previous: UsageReading,
  main: UsageReading,
  compare: CompareOptions['compare'],
  last: Day,
): Readonly<Record<'before' | 'after', readonly Day[]>> {
  const completeDaysOf = ({ period, records, isFiltered }: UsageReading): ReadonlySet<Day> => {
    const present = new Set(records.map((record) => record.date))
    // Filtered usage may have days without records, which have no usage.
    return new Set([...eachDay(period.from, period.to)].filter((day) => day <= last && (isFiltered === true || present.has(day))))
  }
  const counterparts = [...eachDay(main.period.from, main.period.to)].flatMap((day) => {
    const other = compare === 'previous-month-days' ? sameDayBefore(day) : addDays(day, -daysIn(main.period))
    return other !== undefined && isWithin(other, previous.period) ? [[day, other] as const] : []
  })
  const [before, after] = [completeDaysOf(previous), completeDaysOf(main)]
  const isDropped = ([day, other]: readonly [Day, Day]) => !after.has(day) || !before.has(other)
  const dropped = counterparts.filter(isDropped)
  if (dropped.length === counterparts.length) return { before: [], after: [] }
  const [droppedAfter, droppedBefore] = [new Set(dropped.map(([day]) => day)), new Set(dropped.map(([, other]) => other))]
  return { before: [...before].filter((day) => !droppedBefore.has(day)), after: [...after].filter((day) => !droppedAfter.has(day)) }
}

/** Undefined where the previous month is too short. */
function sameDayBefore(day: Day) {
  const before = addMonths(day, -1)
  return addMonths(before, 1) === day ? before : undefined
}

/** The API has a total of its own for all days only. */
function onlyDays(
  { period, grandTotal, records }: UsageReading,
  days: readonly Day[],
): { readonly total: Decimal; readonly records: readonly UsageRecord[] } {
  const wanted = new Set(days)
  if ([...eachDay(period.from, period.to)].every((day) => wanted.has(day))) return { total: grandTotal, records }
  const own = records.filter((record) => wanted.has(record.date))
  return { total: totalOf(own), records: own }
}

/** The limit of an increase cannot be judged without days to compare. */
export function comparisonIssue(
  comparison: UsageComparison,
  { period, today, onMissing }: { readonly period: Period; readonly today: Day; readonly onMissing: IssueLevel | undefined },
): readonly DataQualityIssue[] {
  if (comparison.status !== 'no-complete-days' || comparison.maxIncrease === undefined) return []
  const kind = hasJustBegun(period, today) ? 'nothing-to-compare-yet' : 'nothing-to-compare'
  return [{ kind, level: issueLevel(kind, onMissing), fromDate: period.from, toDate: period.to }]
}

export function isAboveIncrease(before: Decimal, after: Decimal, max: Increase): boolean {
  const allowed = max.kind === 'amount' ? max.amount : before.times(max.percent).times('0.01')
  return after.minus(before).gt(allowed)
}

export function findChanges(before: readonly UsageRecord[], after: readonly UsageRecord[]) {
  const [old, now] = [tallyMetrics(before), tallyMetrics(after)]
  const cells = new Map([...old.cells, ...now.cells])
  const movers = [...cells].map(([key, { entity, metric }]) => ({
    ...entityOf(entity),
    metric,
    before: old.amounts.of(key),
    after: now.amounts.of(key),
  }))
  return {
    movers: movers
      .filter((mover) => !mover.after.eq(mover.before))
      .sort((a, b) => b.after.minus(b.before).abs().cmp(a.after.minus(a.before).abs()) || (a.entityName < b.entityName ? -1 : 1)),
    added: [...now.entities].filter(([key]) => !old.entities.has(key)).map(([, entity]) => toEntity(entity)),
    removed: [...old.entities].filter(([key]) => !now.entities.has(key)).map(([, entity]) => toEntity(entity)),
  }
}

function toEntity(record: UsageRecord) {
  const { entityName: name, ...entity } = entityOf(record)
  return { name, ...entity }
}

function tallyMetrics(records: readonly UsageRecord[]) {
  const amounts = createTally()
  const cells = new Map<string, { readonly entity: UsageRecord; readonly metric: string }>()
  const entities = new Map<string, UsageRecord>()
  for (const entity of records) {
    entities.set(entityKey(entity), entity)
    for (const [metric, amount] of metricsOf(entity)) {
      const key = `${entityKey(entity)}\n${metric}`
      amounts.add(key, amount)
      cells.set(key, { entity, metric })
    }
  }
  return { amounts, cells, entities }
}
