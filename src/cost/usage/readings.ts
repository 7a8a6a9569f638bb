import type { ReadApi } from '../../platform/api/client.ts'
import { addDays, type Day, eachDay } from '../../platform/core/dates.ts'
import { type Decimal, zero } from '../../platform/core/decimal.ts'
import { toFailure, WatchkeeperError } from '../../platform/core/errors.ts'
import { findIssues, lastCompleteDay } from './data-quality.ts'
import { type CurrentPeriod, daysBeside, hasDaysAhead, historyBefore, isOverlapping, isWithin, type Period } from './periods.ts'
import { tallyDays, totalOf, type UsageReading, type UsageRecord } from './records.ts'
import { addAnswers, cutIntoWindows, onlyUnit, readUsageCost } from './usage-api.ts'

/** All usage that a run reads. */
export interface Readings {
  readonly unit: string
  readonly main: UsageReading
  readonly previous: UsageReading | undefined
  readonly others: readonly UsageReading[]
  /** The days before the period, and before budgets with future days. */
  readonly history: History
  /** Readings for budgets with a tag in their scope, by tag. */
  readonly tagged: ReadonlyMap<string, TaggedReadings>
}

interface TaggedReadings {
  readonly readings: readonly UsageReading[]
  readonly history: History
}

/** All readings without a tag that limits count, in no particular order. No day is in two of them. */
export const allReadings = ({ main, previous, others }: Readings): readonly UsageReading[] => [
  main,
  ...(previous === undefined ? [] : [previous]),
  ...others,
]

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

export function findHistoryFailure({ failures }: History, period: CurrentPeriod): HistoryFailure | undefined {
  const days = historyBefore(period)
  return failures.find((failure) => isOverlapping(failure.period, days))
}

interface ReadUsageOptions {
  readonly today: Day
  readonly period: CurrentPeriod
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
    return { ...addAnswers(answers), period: days, isFiltered: wanted.length > 0 }
  }
  const readPeriods = async (needed: readonly Period[], earlier: readonly Period[], wanted: readonly string[]): Promise<TaggedReadings> => {
    const groups = joinPeriods(needed, daysBeside(earlier, needed))
    const all = await Promise.all(groups.map((group) => readGroup(group, today, (days) => read(days, wanted))))
    const readings = all.flatMap((one) => one.readings)
    for (const { unit } of readings) units.add(unit)
    // Amounts in different units cannot be added up. Earlier usage may have another unit.
    const isKnown = ({ unit }: UnitReading) => units.has(unit)
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

const periodsOf = (budgets: ReadUsageOptions['budgets']): readonly CurrentPeriod[] => budgets.map(({ period }) => period)

const historiesOf = (budgets: ReadUsageOptions['budgets'], today: Day): readonly Period[] =>
  periodsOf(budgets)
    .filter((period) => hasDaysAhead(period, today))
    .map(historyBefore)

interface UnitReading extends UsageReading {
  readonly unit: string
}

/** Consecutive periods that fewer requests can read together, or one period. */
interface PeriodGroup {
  readonly days: Period
  readonly needed: readonly Period[]
  readonly history: readonly Period[]
}

/** Joins consecutive periods as long as that saves a request. No two periods overlap. */
export function joinPeriods(needed: readonly Period[], history: readonly Period[]): readonly PeriodGroup[] {
  const groups: PeriodGroup[] = []
  for (const period of [...needed, ...history].toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    const one = needed.includes(period) ? { needed: [period], history: [] } : { needed: [], history: [period] }
    const last = groups.at(-1)
    const days = { from: last?.days.from ?? period.from, to: period.to }
    const requestsFor = (some: Period) => cutIntoWindows(some).length
    const isNext = last !== undefined && addDays(last.days.to, 1) === period.from
    if (isNext && requestsFor(days) < requestsFor(last.days) + requestsFor(period))
      groups[groups.length - 1] = { days, needed: [...last.needed, ...one.needed], history: [...last.history, ...one.history] }
    else groups.push({ days: period, ...one })
  }
  // What the run requires is requested first.
  return groups.toSorted((a, b) => Math.sign(b.needed.length) - Math.sign(a.needed.length))
}

type ReadDays = (days: Period) => Promise<UnitReading>

async function readGroup({ days, needed, history }: PeriodGroup, today: Day, read: ReadDays) {
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
 * of errors that a request for the needed days might not have.
 */
async function tryToRead(days: Period, read: ReadDays, hasNeeded: boolean): Promise<UnitReading | WatchkeeperError> {
  try {
    return await read(days)
  } catch (thrown) {
    const failure = toFailure(thrown)
    if (hasNeeded && failure.kind !== 'refused' && failure.kind !== 'bad-answer') throw failure
    return failure
  }
}

function partOf<Reading extends UsageReading>({ records, ...whole }: Reading, period: Period) {
  const own = records.filter(({ date }) => isWithin(date, period))
  return { ...whole, period, records: own, grandTotal: totalOf(own) }
}

export interface DayTotal {
  readonly date: Day
  readonly total: Decimal
}

/** One entry for each day of the period, in order, with or without usage. */
export function totalByDay(records: readonly UsageRecord[], period: Period) {
  const { totals, provisional } = tallyDays(records)
  return [...eachDay(period.from, period.to)].map((date) => ({ date, total: totals.of(date), provisional: provisional.of(date) }))
}

/** The days around the period that were read without a gap, and belong to it or its history. An unread day is not a day without usage. */
function blockAround(period: CurrentPeriod, readings: readonly UsageReading[]): Period {
  const blocks = daysBeside(
    readings.map((reading) => reading.period),
    [],
  )
  const block = blocks.find((one) => isWithin(period.from, one)) ?? period
  const earliest = historyBefore(period).from
  return { from: block.from > earliest ? block.from : earliest, to: period.to }
}

/**
 * Usage of the `counted` records on each known day, from its history to its end. A day with only other records is zero. A
 * day without any record is left out. Of filtered usage, it is zero from the first record up to `lastComplete`.
 */
export function knownDays(
  period: CurrentPeriod,
  readings: readonly UsageReading[],
  counted: readonly UsageRecord[],
  lastComplete: Day,
): ReadonlyMap<Day, Decimal> {
  const block = blockAround(period, readings)
  const days = new Set(readings.flatMap(({ records }) => records.map(({ date }) => date)))
  const { totals } = tallyDays(counted)
  const all = [...eachDay(block.from, block.to)]
  const first = readings.some(({ isFiltered }) => isFiltered) ? all.find((day) => days.has(day)) : undefined
  const isKnown = (day: Day) => days.has(day) || (first !== undefined && day > first && day <= lastComplete)
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

export function withoutGaps(known: ReadonlyMap<Day, Decimal>, { to }: Period): readonly DayTotal[] {
  const [first] = known.keys()
  return first === undefined ? [] : [...eachDay(first, to)].map((date) => ({ date, total: known.get(date) ?? zero }))
}
