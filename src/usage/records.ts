import * as z from 'zod'
import type { ReadApi } from '../api/client.ts'
import { path } from '../api/path.ts'
import { type Reader, readOne } from '../api/wire.ts'
import { addDays, type Day, eachDay, isDay } from '../core/dates.ts'
import { type Decimal, fromText, parseAmount, percentOf, sum, toDecimal, zero } from '../core/decimal.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { type CurrentPeriod, daysBeside, daysIn, hasDaysAhead, historyBefore, isOverlapping, isWithin, type Period } from './periods.ts'

// A result has decimals, so that every figure is exact. Its document has them as text, so that no JSON parser rounds them.
const decimalAs = (write: (value: Decimal) => string) =>
  z.codec(z.string(), z.custom<Decimal>().meta({ type: 'string' }), { decode: fromText, encode: write })

/** A decimal of the result with all its digits. */
export const amount = decimalAs((value) => value.toFixed())

export const exactAmount = (description: string) => amount.describe(`${description} Exact decimal.`)

export const estimate = (description: string) => amount.describe(`${description} An estimate, as a decimal.`)

export const percent = (description: string) =>
  decimalAs((value) => value.toFixed(2)).describe(`${description} In percent, with two decimals.`)

export const date = z.custom<Day>().meta({ type: 'string' })

export const dayOn = (description: string) => date.describe(`${description} YYYY-MM-DD, in UTC.`)

/** An amount from a user: text or number in, exact decimal out. */
export const amountInput = (description: string) =>
  z
    .union([z.string(), z.number()])
    .transform((value, context): Decimal => {
      const decimal = parseAmount(typeof value === 'number' ? plainText(value) : value)
      if (decimal !== undefined) return decimal
      context.addIssue({ code: 'custom', message: 'is not a valid amount' })
      return z.NEVER
    })
    .meta({
      description,
      accepts: 'an amount of zero or more without separators, such as 1000 or 99.5',
      pattern: '^(0|[1-9][0-9]{0,29})([.][0-9]{1,30})?$',
      minimum: 0,
    })

/** A number without an exponent: 0.0000001 instead of 1e-7. */
const plainText = (value: number): string => (Number.isFinite(value) ? fromText(String(value)).toFixed() : String(value))

export type UsageRecord = z.output<typeof usageRecord>

/** Usage of one entity on one UTC day. */
export const usageRecord = z.object({
  date,
  entityType: z.string(),
  entityId: z.string(),
  entityName: z.string(),
  warehouseId: z.string().optional(),
  serviceId: z.string().optional().describe('Absent for records of warehouses, which have storage and backups.'),
  total: amount,
  metrics: z.record(z.string(), amount).describe('By metric, without the unit word. They may not add up to the total.'),
  locked: z.boolean().describe('False while the record is provisional.'),
})

/** Usage of a period: the API's own total, and the records that should add up to it. */
export interface UsageReading {
  readonly period: Period
  readonly grandTotal: Decimal
  readonly records: readonly UsageRecord[]
  /** Only usage with certain tags was read, so a day without records is normal. */
  readonly isFiltered?: boolean
}

/** Identity of the entity: names can change and repeat. */
export const entityKey = ({ entityType, entityId, entityName }: UsageRecord): string => `${entityType}\n${entityId || entityName}`

/** Name of the entity for people. */
export const entityLabel = ({ entityName, entityId }: UsageRecord): string => entityName || entityId || 'unnamed'

export interface Tally<Key> {
  add(key: Key, amount: Decimal): void
  /** Zero for a key that was never added. */
  of(key: Key): Decimal
  /** In the order in which keys were added. */
  entries(): readonly (readonly [Key, Decimal])[]
}

export function createTally<Key = string>(): Tally<Key> {
  const sums = new Map<Key, Decimal>()
  return {
    add(key, amount) {
      const sum = sums.get(key)
      sums.set(key, sum === undefined ? amount : sum.plus(amount))
    },
    of: (key) => sums.get(key) ?? zero,
    entries: () => [...sums],
  }
}

/** The API rounds records, metrics and totals separately: a difference of 0.01% of the total, or a millionth, is rounding. */
export function isRounding(difference: Decimal, total: Decimal): boolean {
  const relative = total.abs().times('0.0001')
  return difference.abs().lte(relative.lt('0.000001') ? '0.000001' : relative)
}

export interface DayTotal {
  readonly date: Day
  readonly total: Decimal
}

export const totalOf = (records: readonly UsageRecord[]): Decimal => sum(records.map(({ total }) => total))

export const finalRecords = (records: readonly UsageRecord[]): readonly UsageRecord[] => records.filter(({ locked }) => locked)

/** The amount that is compared with limits: the API's own total, or the sum of the final records. */
export const judgedTotal = ({ grandTotal, records }: UsageReading, isFinalOnly: boolean): Decimal =>
  isFinalOnly ? totalOf(finalRecords(records)) : grandTotal

/** The provisional part of the total: its records can still change. */
export const provisionalOf = (records: readonly UsageRecord[]): Decimal => totalOf(records.filter(({ locked }) => !locked))

/** One entry for each day of the period, in order, with or without usage. */
export function totalByDay(records: readonly UsageRecord[], period: Period) {
  const [totals, provisional] = [createTally<Day>(), createTally<Day>()]
  for (const { date, total, locked } of records) {
    totals.add(date, total)
    if (!locked) provisional.add(date, total)
  }
  return [...eachDay(period.from, period.to)].map((date) => ({ date, total: totals.of(date), provisional: provisional.of(date) }))
}

/** The days around the period that were read without a gap, at most four weeks before it. An unread day is not a day without usage. */
function blockAround(period: Period, readings: readonly UsageReading[]): Period {
  const blocks = daysBeside(
    readings.map((reading) => reading.period),
    [],
  )
  const block = blocks.find((one) => isWithin(period.from, one)) ?? period
  const earliest = historyBefore(period).from
  return { from: block.from > earliest ? block.from : earliest, to: period.to }
}

/**
 * Usage of the `counted` records on each known day, from four weeks before the period to its end. A day with only other records is zero. A
 * day without any record is left out. Of filtered usage, it is zero from the first record up to `lastComplete`.
 */
export function knownDays(
  period: Period,
  readings: readonly UsageReading[],
  counted: readonly UsageRecord[],
  lastComplete: Day,
): ReadonlyMap<Day, Decimal> {
  const block = blockAround(period, readings)
  const days = new Set(readings.flatMap(({ records }) => records.map(({ date }) => date)))
  const totals = createTally<Day>()
  for (const { date, total } of counted) totals.add(date, total)
  const all = [...eachDay(block.from, block.to)]
  const first = readings.some(({ isFiltered }) => isFiltered) ? all.find((day) => days.has(day)) : undefined
  const isKnown = (day: Day): boolean => days.has(day) || (first !== undefined && day > first && day <= lastComplete)
  return new Map(all.filter(isKnown).map((day) => [day, totals.of(day)]))
}

/** The last day of which all records are there: earlier than usual when the API returned no records of recent days at all. */
export function lastDayWithAllRecords(readings: Readings, today: Day): Day {
  const latest = lastCompleteDay(today)
  const reading = [...allReadings(readings), ...readings.history.readings].find(
    ({ period, isFiltered }) => !isFiltered && isWithin(latest, period),
  )
  if (reading === undefined) return latest
  const days = reading.records.map(({ date }) => date).filter((day) => day <= latest)
  return days.toSorted().at(-1) ?? addDays(reading.period.from, -1)
}

/** Every day from the first known one to the end of the period. */
export function withoutGaps(known: ReadonlyMap<Day, Decimal>, { to }: Period): readonly DayTotal[] {
  const [first] = known.keys()
  return first === undefined ? [] : [...eachDay(first, to)].map((date) => ({ date, total: known.get(date) ?? zero }))
}

/** The first day on which usage exceeds the limit. Undefined when it stays within the limit. */
export function runOutDay(days: readonly DayTotal[], limit: Decimal): Day | undefined {
  let used = zero
  return days.find(({ total }) => {
    used = used.plus(total)
    return used.gt(limit)
  })?.date
}

export const limitStatuses = ['within', 'warn', 'exceeded'] as const

interface LimitCheck {
  readonly status: (typeof limitStatuses)[number]
  /** Undefined without a limit, and for a limit of zero. */
  readonly usedPercent: Decimal | undefined
}

/** Compares all digits. An equal amount is within the limit, and zero is a valid limit. */
export function checkLimit(used: Decimal, limit: Decimal | undefined, warnAbove: Decimal | undefined): LimitCheck {
  const usedPercent = limit === undefined ? undefined : percentOf(used, limit)
  if (limit !== undefined && used.gt(limit)) return { status: 'exceeded', usedPercent }
  return { status: warnAbove !== undefined && used.gt(warnAbove) ? 'warn' : 'within', usedPercent }
}

export const groupings = ['entity', 'metric', 'date', 'warehouse', 'type'] as const

export type Grouping = (typeof groupings)[number]

type Group = z.output<typeof usageGroup>

export const usageGroup = z.object({
  name: z.string(),
  entityType: z.string().optional().describe('Of an entity, such as service, datawarehouse or clickpipe.'),
  total: exactAmount('Usage.'),
  provisional: exactAmount('Provisional part of the usage.'),
})

/** Largest first. Days are in their order. */
export function groupRecords(records: readonly UsageRecord[], by: Grouping): Group[] {
  if (by === 'metric') return groupByMetric(records)
  const keyOf = keys[by]
  const [totals, provisional] = [createTally(), createTally()]
  // The newest record gives the name, because entities can be renamed.
  const newest = new Map<string, UsageRecord>()
  for (const record of records) {
    const key = keyOf(record)
    totals.add(key, record.total)
    if (!record.locked) provisional.add(key, record.total)
    const known = newest.get(key)
    if (known === undefined || known.date < record.date) newest.set(key, record)
  }
  const nameOf = by === 'warehouse' ? warehouseNames(records) : labels[by]
  const groups = [...newest].map(([key, record]) => ({
    name: nameOf(record),
    ...(by === 'entity' && { entityType: record.entityType }),
    total: totals.of(key),
    provisional: provisional.of(key),
  }))
  return groups.sort(by === 'date' ? byName : largestFirst)
}

const keys = {
  entity: entityKey,
  date: ({ date }: UsageRecord): string => date,
  warehouse: ({ warehouseId }: UsageRecord): string => warehouseId ?? '',
  type: ({ entityType }: UsageRecord): string => entityType,
}

const labels = {
  entity: entityLabel,
  date: keys.date,
  type: ({ entityType }: UsageRecord): string => entityType || 'unknown type',
}

/** The name comes from the warehouse's own record, otherwise it is the id. */
export function warehouseNames(records: readonly UsageRecord[]): (record: UsageRecord) => string {
  const rows = records.filter(({ entityType, entityName }) => entityType === 'datawarehouse' && entityName !== '')
  const names = new Map(rows.map(({ warehouseId, entityName }) => [warehouseId, entityName]))
  return ({ warehouseId }) => names.get(warehouseId) ?? (warehouseId || 'no warehouse')
}

const byName = (a: Group, b: Group): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

const largestFirst = (a: Group, b: Group): number => b.total.cmp(a.total) || byName(a, b)

/** The part of a record's total that no metric covers. */
export const otherMetric = 'other'

function groupByMetric(records: readonly UsageRecord[]): Group[] {
  const [totals, provisional] = [createTally(), createTally()]
  for (const record of records) {
    for (const [name, amount] of metricsOf(record)) {
      totals.add(name, amount)
      if (!record.locked) provisional.add(name, amount)
    }
  }
  return totals
    .entries()
    .map(([name, total]) => ({ name, total, provisional: provisional.of(name) }))
    .filter(({ total }) => !total.eq(zero))
    .sort(largestFirst)
}

/** A record's metrics, with the metric `other` where they do not add up to its total. */
export function metricsOf({ total, metrics }: Pick<UsageRecord, 'total' | 'metrics'>): readonly (readonly [string, Decimal])[] {
  const named = Object.entries(metrics)
  const rest = named.reduce((left, [, amount]) => left.minus(amount), total)
  return rest.eq(zero) ? named : [...named, [otherMetric, rest]]
}

/** The effect of an issue on the verdict. */
export const issueLevels = ['fail', 'warn', 'ignore'] as const

export type IssueLevel = (typeof issueLevels)[number]

const level = z.enum(issueLevels)
const span = { fromDate: date, toDate: date }

export type DataQualityIssue = z.output<typeof dataQualityIssue>

/** A reason to distrust the figures. */
export const dataQualityIssue = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['no-records', 'no-records-yet', 'no-final-records']), level, ...span }),
  z.object({ kind: z.literal('total-mismatch'), level, ...span, recordsTotal: amount, grandTotal: amount }),
  z.object({ kind: z.literal('negative-total'), level, ...span, grandTotal: amount }),
  z.object({ kind: z.enum(['negative-record', 'duplicate-record']), level, date, entityName: z.string() }),
  z.object({ kind: z.enum(['outside-period', 'missing-days']), level, days: z.array(date) }),
])

/** An issue fails the gate by default. Days that have just begun may have no records yet, which is a warning by default. */
export const issueLevel = (kind: string, onMissing: IssueLevel | undefined): IssueLevel =>
  onMissing ?? (kind === 'no-records-yet' ? 'warn' : 'fail')

export const findDataQualityIssues = (reading: UsageReading, today: Day, onMissing?: IssueLevel): readonly DataQualityIssue[] =>
  findIssues(reading, today).map((issue) => ({ ...issue, level: issueLevel(issue.kind, onMissing) }))

function findIssues({ period, grandTotal, records, isFiltered }: UsageReading, today: Day) {
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
const lastCompleteDay = (today: Day): Day => addDays(today, -2)

function missingDays({ from, to }: Period, today: Day, present: ReadonlySet<Day>): Day[] {
  const last = lastCompleteDay(today)
  return [...eachDay(from, to < last ? to : last)].filter((day) => !present.has(day))
}

/** All usage that a run reads. */
export interface Readings {
  readonly unit: string
  /** The period of the report. */
  readonly main: UsageReading
  /** The days that the period is compared with. */
  readonly previous: UsageReading | undefined
  /** Other days that budgets need. */
  readonly others: readonly UsageReading[]
  /** The days before the period, and before budgets with future days. */
  readonly history: History
  /** For budgets with a tag in their scope, by tag. */
  readonly tagged: ReadonlyMap<string, TaggedReadings>
}

export interface TaggedReadings {
  readonly readings: readonly UsageReading[]
  readonly history: History
}

/** Earlier days for forecasts and spikes. No limit counts them, so that a run does not require them. */
export interface History {
  readonly readings: readonly UsageReading[]
  readonly failures: readonly HistoryFailure[]
}

interface HistoryFailure {
  readonly period: Period
  /** Why the days could not be read, or why their records cannot be trusted. */
  readonly cause: string | ReturnType<typeof findIssues>[number]
}

/** Why the days before the period are not completely known. Undefined when they are. */
export function findHistoryFailure({ failures }: History, period: Period): HistoryFailure | undefined {
  const days = historyBefore(period)
  return failures.find((failure) => isOverlapping(failure.period, days))
}

interface ReadUsageOptions {
  readonly today: Day
  readonly period: CurrentPeriod
  /** The days that the period is compared with. */
  readonly previous: Period | undefined
  /** The days that budgets need, with a tag where the API filters the usage. */
  readonly budgets: readonly { readonly period: CurrentPeriod; readonly scope: { readonly tag?: readonly string[] | undefined } }[]
  readonly filters: readonly string[]
}

/** Reads every day once. Throws when a day that counts cannot be read, because a partial total would be wrong. */
export async function readUsage(api: ReadApi, organizationId: string, options: ReadUsageOptions): Promise<Readings> {
  const { today, period, previous, budgets, filters } = options
  const units = new Set<string>()
  const read = async (days: Period, wanted: readonly string[]): Promise<UnitReading> => {
    const answers = await Promise.all(cutIntoWindows(days).map((window) => readUsageCost(api, organizationId, window, wanted)))
    return {
      unit: onlyUnit(new Set(answers.map(({ unit }) => unit))),
      period: days,
      grandTotal: sum(answers.map(({ grandTotal }) => grandTotal)),
      records: answers.flatMap(({ records }) => records),
      isFiltered: wanted.length > 0,
    }
  }
  const readPeriods = async (needed: readonly Period[], earlier: readonly Period[], wanted: readonly string[]): Promise<TaggedReadings> => {
    const groups = joinPeriods(needed, daysBeside(earlier, needed))
    const all = await Promise.all(groups.map((group) => readGroup(group, today, (days) => read(days, wanted))))
    const readings = all.flatMap((one) => one.readings)
    for (const { unit } of readings) units.add(unit)
    // Amounts in different units cannot be added up. Earlier usage may have another unit.
    const isKnown = ({ unit }: UnitReading): boolean => units.has(unit)
    const history = all.flatMap((one) => one.history)
    const failures = history.filter((one) => !isKnown(one)).map((one) => ({ period: one.period, cause: `The unit is ${one.unit}.` }))
    // Days that a limit needs, too, are as reliable for a forecast as other days.
    const inconsistent = earlier.flatMap((days) => readings.flatMap((reading) => findInconsistency(reading, days, today) ?? []))
    return {
      readings,
      history: { readings: history.filter(isKnown), failures: [...all.flatMap((one) => one.failures), ...failures, ...inconsistent] },
    }
  }
  const untagged = budgets.filter(({ scope }) => scope.tag === undefined)
  const compared = previous === undefined ? [] : [previous]
  const others = daysBeside(periodsOf(untagged), [period, ...compared])
  const tags = [...new Set(budgets.flatMap(({ scope }) => scope.tag ?? []))]
  const [all, tagged] = await Promise.all([
    readPeriods([period, ...compared, ...others], [historyBefore(period), ...historiesOf(untagged, today)], filters),
    Promise.all(
      tags.map(async (tag) => {
        const own = budgets.filter(({ scope }) => scope.tag?.includes(tag))
        return [tag, await readPeriods(daysBeside(periodsOf(own), []), historiesOf(own, today), [...filters, `tag:${tag}`])] as const
      }),
    ),
  ])
  const readingOf = (wanted: Period): UsageReading | undefined => all.readings.find((one) => one.period.from === wanted.from)
  const main = readingOf(period)
  if (main === undefined) throw new Error('the period of the run was not read')
  return {
    unit: onlyUnit(units),
    main,
    previous: previous && readingOf(previous),
    others: others.flatMap((one) => readingOf(one) ?? []),
    history: all.history,
    tagged: new Map(tagged),
  }
}

const periodsOf = (budgets: ReadUsageOptions['budgets']): readonly Period[] => budgets.map(({ period }) => period)

/** The earlier days that the forecasts of budgets need. */
const historiesOf = (budgets: ReadUsageOptions['budgets'], today: Day): readonly Period[] =>
  periodsOf(budgets.filter(({ period }) => hasDaysAhead(period, today))).map(historyBefore)

interface UnitReading extends UsageReading {
  readonly unit: string
}

function onlyUnit(units: ReadonlySet<string>): string {
  const [unit, second] = units
  if (unit !== undefined && second === undefined) return unit
  throw new WatchkeeperError('bad-answer', `The API uses the unit ${unit} for some days and the unit ${second} for others.`)
}

/** Consecutive periods that one request can read, or one period of any length. */
interface PeriodGroup {
  readonly days: Period
  readonly needed: readonly Period[]
  readonly history: readonly Period[]
}

/** Joins consecutive periods as long as they fit into one request. No two periods overlap. */
export function joinPeriods(needed: readonly Period[], history: readonly Period[]): readonly PeriodGroup[] {
  const groups: PeriodGroup[] = []
  for (const period of [...needed, ...history].toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    const one = needed.includes(period) ? { needed: [period], history: [] } : { needed: [], history: [period] }
    const last = groups.at(-1)
    const days = last && { from: last.days.from, to: period.to }
    if (last !== undefined && days !== undefined && addDays(last.days.to, 1) === period.from && daysIn(days) <= longestWindowDays)
      groups[groups.length - 1] = { days, needed: [...last.needed, ...one.needed], history: [...last.history, ...one.history] }
    else groups.push({ days: period, ...one })
  }
  // What the run requires is requested first.
  return groups.toSorted((a, b) => Math.sign(b.needed.length) - Math.sign(a.needed.length))
}

interface GroupReading {
  readonly readings: readonly UnitReading[]
  readonly history: readonly UnitReading[]
  readonly failures: readonly HistoryFailure[]
}

type ReadDays = (days: Period) => Promise<UnitReading>

async function readGroup({ days, needed, history }: PeriodGroup, today: Day, read: ReadDays): Promise<GroupReading> {
  if (history.length === 0 && needed.length === 1) return { readings: [await read(days)], history: [], failures: [] }
  const readSeparately = () => Promise.all(needed.map(read))
  const joined = await tryToRead(days, read, needed.length > 0)
  if (joined instanceof WatchkeeperError) {
    const [cause = ''] = joined.message.split('\n')
    return { readings: await readSeparately(), history: [], failures: history.map((period) => ({ period, cause })) }
  }
  const parts = (periods: readonly Period[]): readonly UnitReading[] => periods.map((period) => partOf(joined, period))
  // The total is that of all days. A part of it is exact only if the records add up to it.
  const isExact = totalOf(joined.records).eq(joined.grandTotal) && joined.records.every(({ date }) => isWithin(date, days))
  const readings = isExact ? parts(needed) : await readSeparately()
  const failures = history.flatMap((period) => findInconsistency(joined, period, today) ?? [])
  return { readings, history: parts(history.filter((days) => failures.every(({ period }) => period !== days))), failures }
}

/**
 * Why the records of the days in this reading cannot be trusted. A wrong record counts on its own day. A wrong total may concern any day.
 */
function findInconsistency(reading: UsageReading, days: Period, today: Day): HistoryFailure | undefined {
  const own = partOf(reading, days)
  const ofRecords = findIssues(own, today).find(({ kind }) => kind === 'negative-record' || kind === 'duplicate-record')
  const ofTotal = findIssues(reading, today).find(({ kind }) => kind === 'total-mismatch' || kind === 'outside-period')
  const cause = ofRecords ?? (isOverlapping(reading.period, days) ? ofTotal : undefined)
  return cause && { period: days, cause }
}

/**
 * Days that only a forecast needs must not fail the run, so their error is returned. Where needed days are read with them, this is true only
 * of errors that a request for the needed days may not have.
 */
async function tryToRead(days: Period, read: ReadDays, hasNeeded: boolean): Promise<UnitReading | WatchkeeperError> {
  try {
    return await read(days)
  } catch (thrown) {
    if (!(thrown instanceof WatchkeeperError) || thrown.kind === 'cancelled') throw thrown
    if (hasNeeded && thrown.kind !== 'refused' && thrown.kind !== 'bad-answer') throw thrown
    return thrown
  }
}

function partOf<Reading extends UsageReading>({ records, ...whole }: Reading, period: Period) {
  const own = records.filter(({ date }) => isWithin(date, period))
  return { ...whole, period, records: own, grandTotal: totalOf(own) }
}

/** All readings without a tag that limits count, in no particular order. No day is in two of them. */
export const allReadings = ({ main, previous, others }: Readings): readonly UsageReading[] => [
  main,
  ...(previous === undefined ? [] : [previous]),
  ...others,
]

/** Longest period of one request, in days. */
export const longestWindowDays = 31

/** As few windows as possible that cover the period exactly once, in order. */
export function cutIntoWindows({ from, to }: Period): readonly Period[] {
  const windows: Period[] = []
  for (let start = from; start <= to; start = addDays(start, longestWindowDays)) {
    const end = addDays(start, longestWindowDays - 1)
    windows.push({ from: start, to: end < to ? end : to })
  }
  return windows
}

interface UsageAnswer {
  /** The unit word of the fields: `Credits`, `CHC`. */
  readonly unit: string
  readonly grandTotal: Decimal
  readonly records: readonly UsageRecord[]
}

/** Both days included, at most 31 days. Throws an ApiError of kind `bad-answer` when a total is missing or not a number. */
export function readUsageCost(
  api: ReadApi,
  organizationId: string,
  { from, to }: Period,
  filters: readonly string[],
): Promise<UsageAnswer> {
  const query = new URLSearchParams({ from_date: from, to_date: to })
  for (const filter of filters) query.append('filter', filter)
  return api.read({
    method: 'GET',
    path: path`/v1/organizations/${organizationId}/usageCost`,
    query,
    read: readAnswer,
    noun: 'organization',
    permission: api.profile.permissions.usage,
  })
}

// Compiling a schema takes longer than reading a small answer, so each unit has one schema for the whole process.
const readers = new Map<string, Reader<UsageAnswer>>()

const readAnswer: Reader<UsageAnswer> = (json, headers) => {
  const outer = readOne(z.looseObject({}))(json, headers)
  if ('mismatch' in outer) return outer
  const totals = Object.keys(outer.value).flatMap((key) => /^grandTotal([A-Z][A-Za-z]{0,15})$/.exec(key)?.[1] ?? [])
  const [unit, second] = totals
  if (unit === undefined) return { mismatch: 'the answer does not fit: result.grandTotal… is missing' }
  if (second !== undefined) return { mismatch: `the answer does not fit: it has two totals, grandTotal${unit} and grandTotal${second}` }
  const read = readers.get(unit) ?? readOne(answerSchema(unit))
  // Units come from the server, so the number of schemas has a limit.
  if (readers.size < 8) readers.set(unit, read)
  return read(json, headers)
}

type Context = z.core.$RefinementCtx

// The name of the field ends in the unit word, which is not known when the schema is written, so the issue names the field.
function amountAt(wire: Readonly<Record<string, unknown>>, key: string, context: Context): Decimal {
  const decimal = toDecimal(wire[key])
  if (decimal !== undefined) return decimal
  context.addIssue({ code: 'custom', path: [key], message: wire[key] === undefined ? 'is missing' : 'is not a finite number' })
  return z.NEVER
}

// Older answers have date-times at midnight UTC instead of days. Many records share a day, so each day is parsed once.
function createDaySchema(): z.ZodType<Day> {
  const known = new Map<string, Day>()
  return z.string().transform((text, context): Day => {
    const before = known.get(text)
    if (before !== undefined) return before
    const date = text.replace(/T00:00:00(?:\.0+)?Z$/, '')
    if (isDay(date)) {
      known.set(text, date)
      return date
    }
    context.addIssue({ code: 'custom', message: 'is not a valid day' })
    return z.NEVER
  })
}

const text = z.string().nullish()

const wireRecord = z.looseObject({
  date: z.unknown(),
  entityType: text,
  entityId: text,
  entityName: text,
  dataWarehouseId: text,
  serviceId: text,
  locked: z.boolean().nullish(),
  metrics: z.record(z.string(), z.unknown()).nullish(),
})

function answerSchema(unit: string): z.ZodType<UsageAnswer> {
  const record = wireRecord.extend({ date: createDaySchema() }).transform((wire, context) => toRecord(wire, unit, context))
  return z
    .looseObject({ costs: z.unknown().optional().transform(toArray).pipe(z.array(record)) })
    .transform((wire, context) => ({ unit, grandTotal: amountAt(wire, `grandTotal${unit}`, context), records: wire.costs }))
}

// The documentation shows one object, the API returns a list. It returns nothing when there is no usage.
function toArray(costs: unknown): readonly unknown[] {
  if (Array.isArray(costs)) return costs
  const isNothing = costs === null || costs === undefined || (typeof costs === 'object' && Object.keys(costs).length === 0)
  return isNothing ? [] : [costs]
}

function toRecord(wire: z.output<typeof wireRecord> & { readonly date: Day }, unit: string, context: Context): UsageRecord {
  const { dataWarehouseId: warehouseId, serviceId } = wire
  return {
    date: wire.date,
    entityType: wire.entityType ?? '',
    entityId: wire.entityId ?? '',
    entityName: wire.entityName ?? '',
    ...(isGiven(warehouseId) && { warehouseId }),
    ...(isGiven(serviceId) && { serviceId }),
    total: amountAt(wire, `total${unit}`, context),
    metrics: toMetrics(wire.metrics ?? {}, unit, context),
    // A record is provisional unless the API reports that it is final.
    locked: wire.locked ?? false,
  }
}

const isGiven = (id: string | null | undefined): id is string => id !== null && id !== undefined

function toMetrics(wire: Readonly<Record<string, unknown>>, unit: string, context: Context): Record<string, Decimal> {
  const metrics = new Map<string, Decimal>()
  for (const [key, value] of Object.entries(wire)) {
    if (value === null || value === undefined) continue
    const decimal = toDecimal(value)
    if (decimal === undefined) context.addIssue({ code: 'custom', path: ['metrics', key], message: 'is not a finite number' })
    else {
      const name = key.endsWith(unit) && key !== unit ? key.slice(0, -unit.length) : key
      // `compute` and `computeCredits` are the same metric.
      metrics.set(name, metrics.get(name)?.plus(decimal) ?? decimal)
    }
  }
  return Object.fromEntries(metrics)
}
