// Owns which days are read for a report, and reading each of them once.
import type { ReadApi } from '../api/client.ts'
import { sum } from '../core/decimal.ts'
import { WatchkeeperError } from '../core/errors.ts'
import type { Budget } from './budgets-file.ts'
import type { ReadUsage } from './data-quality.ts'
import { cutIntoWindows, daysBeside, type Period, periodBefore } from './periods.ts'
import type { SpendRecord } from './records.ts'
import { readUsageCost, type UsageAnswer } from './usage-api.ts'

export interface Readings {
  readonly unit: string
  /** The period of the report. */
  readonly main: ReadUsage
  /** The one before, where it is compared with. */
  readonly previous: ReadUsage | undefined
  /** What budgets need besides. */
  readonly others: readonly ReadUsage[]
  /** For budgets that count a tag, by tag. */
  readonly tagged: ReadonlyMap<string, readonly ReadUsage[]>
}

export interface ReadingWish {
  readonly period: Period
  readonly compares: boolean
  readonly budgets: readonly Budget[]
  readonly filters: readonly string[]
}

/** Throws when any part cannot be read: a total of some windows would be a wrong total. */
export async function readUsage(api: ReadApi, organizationId: string, wish: ReadingWish): Promise<Readings> {
  const { period, budgets, filters } = wish
  const previous = wish.compares ? periodBefore(period) : undefined
  const untagged = budgets.filter(({ scope }) => scope.tag === undefined)
  const others = daysBeside(periodsOf(untagged), [period, ...(previous === undefined ? [] : [previous])])
  const tags = [...new Set(budgets.flatMap(({ scope }) => scope.tag ?? []))]
  const units = new Set<string>()
  const read = async (days: Period, wanted: readonly string[]): Promise<ReadUsage> => {
    const answers = await Promise.all(cutIntoWindows(days).map((window) => readUsageCost(api, organizationId, window, wanted)))
    for (const { unit } of answers) units.add(unit)
    return {
      period: days,
      grandTotal: sum(answers.map(({ grandTotal }) => grandTotal)),
      records: recordsOf(answers),
      isFiltered: wanted.length > 0,
    }
  }
  const readTagged = async (tag: string): Promise<readonly [string, readonly ReadUsage[]]> => {
    const wanted = daysBeside(periodsOf(budgets.filter(({ scope }) => scope.tag?.includes(tag))), [])
    return [tag, await Promise.all(wanted.map((days) => read(days, [...filters, `tag:${tag}`])))]
  }
  const [main, before, rest, tagged] = await Promise.all([
    read(period, filters),
    previous === undefined ? undefined : read(previous, filters),
    Promise.all(others.map((days) => read(days, filters))),
    Promise.all(tags.map(readTagged)),
  ])
  return { unit: onlyUnit(units), main, previous: before, others: rest, tagged: new Map(tagged) }
}

const periodsOf = (budgets: readonly Budget[]): readonly Period[] => budgets.map(({ period }) => period)

const recordsOf = (answers: readonly UsageAnswer[]): readonly SpendRecord[] => answers.flatMap(({ records }) => records)

function onlyUnit(units: ReadonlySet<string>): string {
  const [unit, second] = units
  if (unit !== undefined && second === undefined) return unit
  throw new WatchkeeperError('bad-answer', `The API counts in ${unit} for one part of the days and in ${second} for another.`)
}

/** What was read without a tag, in no particular order; no day is in two of them. */
export const allReadings = ({ main, previous, others }: Readings): readonly ReadUsage[] => [
  main,
  ...(previous === undefined ? [] : [previous]),
  ...others,
]
