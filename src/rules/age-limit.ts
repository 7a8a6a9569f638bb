// Owns how old a backup may be when nobody says so: what follows from the period in which backups are made.

/** Where no period is known: one backup a day, and two hours to make it. */
export const standardHours = 26

/** Least time that a backup gets beyond its period. */
const leastSlackHours = 2

/** A backup may take this many times as long as it usually does. */
const patience = 2

/** Nobody makes backups more rarely than once a year. */
const longestPeriodHours = 366 * 24

/**
 * Ages count from the start, so the newest backup that is done is as old as the period plus its successor's duration just
 * before that one is done too. Undefined for a period that is none.
 */
export function limitForPeriod(periodHours: number, usualHours: number): number | undefined {
  if (!(periodHours > 0 && periodHours <= longestPeriodHours)) return undefined
  // A duration in the wrong unit must not let a gate sleep for months: a whole backup may be missed and no more.
  const slack = Math.min(periodHours, Math.max(leastSlackHours, patience * usualHours))
  return periodHours + slack
}
