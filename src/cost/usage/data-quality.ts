import * as z from 'zod'
import { addDays, type Day, eachDay } from '../../platform/core/dates.ts'
import { zero } from '../../platform/core/decimal.ts'
import { amount } from './amounts.ts'
import { date, isWithin, type Period } from './periods.ts'
import { entityKey, entityLabel, isRounding, totalOf, type UsageReading, type UsageRecord } from './records.ts'

/** The effect of an issue on the verdict. */
export const issueLevels = ['fail', 'warn', 'ignore'] as const

export type IssueLevel = (typeof issueLevels)[number]

export type DataQualityIssue = z.output<ReturnType<typeof dataQualityIssueSchema>>

export function dataQualityIssueSchema() {
  const level = z.enum(issueLevels)
  const span = { fromDate: date, toDate: date }
  return z.discriminatedUnion('kind', [
    z.object({
      kind: z.enum(['no-records', 'no-records-yet', 'nothing-to-compare', 'nothing-to-compare-yet']),
      level,
      ...span,
    }),
    z.object({ kind: z.literal('total-mismatch'), level, ...span, recordsTotal: amount, grandTotal: amount }),
    z.object({ kind: z.literal('negative-total'), level, ...span, grandTotal: amount }),
    z.object({ kind: z.enum(['negative-record', 'duplicate-record']), level, date, entityName: z.string() }),
    z.object({ kind: z.enum(['outside-period', 'missing-days']), level, days: z.array(date) }),
  ])
}

/** An issue fails the gate by default. Days that have just begun may have no records yet, which is a warning by default. */
export const issueLevel = (kind: string, onMissing: IssueLevel | undefined): IssueLevel =>
  onMissing ?? (kind === 'no-records-yet' || kind === 'nothing-to-compare-yet' ? 'warn' : 'fail')

export const findDataQualityIssues = (reading: UsageReading, today: Day, onMissing?: IssueLevel): readonly DataQualityIssue[] =>
  findIssues(reading, today).map((issue) => ({ ...issue, level: issueLevel(issue.kind, onMissing) }))

/** Issues before their effect on the verdict is known. */
export function findIssues({ period, grandTotal, records, isFiltered }: UsageReading, today: Day) {
  const span = { fromDate: period.from, toDate: period.to }
  const recordsTotal = totalOf(records)
  const isMismatch = !isRounding(recordsTotal.minus(grandTotal), grandTotal)
  const mismatch = isMismatch ? [{ kind: 'total-mismatch', ...span, recordsTotal, grandTotal } as const] : []
  if (records.length === 0)
    return [{ kind: hasJustBegun(period, today) ? ('no-records-yet' as const) : ('no-records' as const), ...span }, ...mismatch]
  const outside = records.filter((record) => !isWithin(record.date, period)).map((record) => record.date)
  const missing = isFiltered ? [] : missingDays(period, today, new Set(records.map((record) => record.date)))
  const negative = records.find(({ total }) => total.lt(zero))
  const duplicate = findDuplicate(records)
  return [
    ...(grandTotal.lt(zero) ? [{ kind: 'negative-total', ...span, grandTotal } as const] : []),
    ...mismatch,
    ...(outside.length > 0 ? [{ kind: 'outside-period', days: [...new Set(outside)].sort() } as const] : []),
    ...(negative ? [{ kind: 'negative-record', date: negative.date, entityName: entityLabel(negative) } as const] : []),
    ...(duplicate ? [{ kind: 'duplicate-record', date: duplicate.date, entityName: entityLabel(duplicate) } as const] : []),
    ...(missing.length > 0 ? [{ kind: 'missing-days', days: missing } as const] : []),
  ]
}

function findDuplicate(records: readonly UsageRecord[]): UsageRecord | undefined {
  const seen = new Set<string>()
  for (const record of records) {
    const key = `${record.date}\n${entityKey(record)}`
    if (seen.has(key)) return record
    seen.add(key)
  }
  return undefined
}

/** Whether the period is too recent for any of its days to require a record. */
export const hasJustBegun = ({ from }: Period, today: Day): boolean => from > lastCompleteDay(today)

/** The records of a day are complete one day after the day ends. */
export const lastCompleteDay = (today: Day): Day => addDays(today, -2)

function missingDays({ from, to }: Period, today: Day, present: ReadonlySet<Day>): Day[] {
  const last = lastCompleteDay(today)
  return [...eachDay(from, to < last ? to : last)].filter((day) => !present.has(day))
}
