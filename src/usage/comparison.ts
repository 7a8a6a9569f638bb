import * as z from 'zod'
import { addMonths, plainDay } from '../core/dates.ts'
import { type Decimal, fromText, percentOf } from '../core/decimal.ts'
import { inputError } from '../core/errors.ts'
import { amount, exactAmount, percent } from './amounts.ts'
import { dayOn, monthBefore, type Period, periodBefore } from './periods.ts'
import { createTally, entityKey, entityLabel, metricsOf, type Tally, type UsageReading, type UsageRecord } from './records.ts'

/** Largest allowed increase: an amount, or a share of the earlier total. */
type Increase = { readonly kind: 'amount'; readonly amount: Decimal } | { readonly kind: 'percent'; readonly percent: Decimal }

const increaseGrammar = /^(0|[1-9]\d{0,29})((?:\.\d{1,30})?)(\s*%)?$/

/** As it was given. */
export function writeIncrease(most: Increase): string {
  return most.kind === 'percent' ? `${most.percent.toFixed()}%` : most.amount.toFixed()
}

const increaseText = z.codec(z.string(), z.custom<Increase>().meta({ type: 'string' }), {
  decode: (text, context): Increase => {
    const [, whole, fraction = '', percentSign] = increaseGrammar.exec(text.trim()) ?? []
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
  description: 'Largest allowed increase over the previous period. The gate fails above it. Requires compare.',
  accepts: 'an amount such as 50, or a percentage such as 20%',
})

export const comparisons = ['previous-period', 'previous-month-days'] as const

const entitySchema = () => z.object({ name: z.string(), entityType: z.string() })

export type UsageComparison = z.output<ReturnType<typeof comparisonSchema>>

export const comparisonSchema = () =>
  z.object({
    with: z.enum(comparisons).describe('What the usage is compared with, as given.'),
    fromDate: dayOn('First day of the previous period.'),
    toDate: dayOn('Last day of the previous period.'),
    total: exactAmount('Usage of the previous period.'),
    change: exactAmount('Increase since the previous period. Negative for a decrease.'),
    changePercent: percent('The increase as a share of the previous usage. Absent without previous usage.').optional(),
    maxIncrease: increaseText.optional().describe('Largest allowed increase, as given.'),
    isAboveMaxIncrease: z.boolean(),
    movers: z
      .array(z.object({ entityName: z.string(), entityType: z.string(), metric: z.string(), before: amount, after: amount }))
      .describe('Largest change first, increase or decrease.'),
    added: z.array(entitySchema()).describe('Entities without usage in the previous period.'),
    removed: z.array(entitySchema()).describe('Entities with usage in the previous period only.'),
  })

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
}

/** Provisional records always count: the latest days have few final ones, so a whole earlier period would be compared with a part of this. */
export function compareUsage(previous: UsageReading, main: UsageReading, { compare, maxIncrease }: CompareOptions): UsageComparison {
  const [before, after] = [previous.grandTotal, main.grandTotal]
  const change = after.minus(before)
  return {
    with: compare,
    fromDate: previous.period.from,
    toDate: previous.period.to,
    total: before,
    change,
    changePercent: percentOf(change, before),
    maxIncrease,
    isAboveMaxIncrease: maxIncrease !== undefined && isAboveIncrease(before, after, maxIncrease),
    ...findChanges(previous.records, main.records),
  }
}

export function isAboveIncrease(before: Decimal, after: Decimal, most: Increase): boolean {
  const allowed = most.kind === 'amount' ? most.amount : before.times(most.percent).div(100)
  return after.minus(before).gt(allowed)
}

export function findChanges(
  before: readonly UsageRecord[],
  after: readonly UsageRecord[],
): Pick<UsageComparison, 'movers' | 'added' | 'removed'> {
  const [old, now] = [tallyMetrics(before), tallyMetrics(after)]
  const cells = new Map([...old.cells, ...now.cells])
  const movers = [...cells].map(([key, { entity, metric }]) => ({
    entityName: entityLabel(entity),
    entityType: entity.entityType,
    metric,
    before: old.amounts.of(key),
    after: now.amounts.of(key),
  }))
  return {
    movers: movers.filter((mover) => !mover.after.eq(mover.before)).sort(largestChangeFirst),
    added: [...now.entities].filter(([key]) => !old.entities.has(key)).map(([, entity]) => toEntity(entity)),
    removed: [...old.entities].filter(([key]) => !now.entities.has(key)).map(([, entity]) => toEntity(entity)),
  }
}

const toEntity = (record: UsageRecord): z.output<ReturnType<typeof entitySchema>> => ({
  name: entityLabel(record),
  entityType: record.entityType,
})

type Mover = UsageComparison['movers'][number]

const largestChangeFirst = (a: Mover, b: Mover): number =>
  b.after.minus(b.before).abs().cmp(a.after.minus(a.before).abs()) || (a.entityName < b.entityName ? -1 : 1)

interface Metrics {
  readonly amounts: Tally<string>
  readonly cells: ReadonlyMap<string, { readonly entity: UsageRecord; readonly metric: string }>
  readonly entities: ReadonlyMap<string, UsageRecord>
}

function tallyMetrics(records: readonly UsageRecord[]): Metrics {
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
