// Owns the waiver: a failure that somebody answers for, with a reason and until a date.
import * as z from 'zod'
import { type Day, isDay } from '../../kernel/days.ts'
import { InputError } from '../../kernel/errors.ts'

export interface Waiver {
  /** The last day on which it counts. */
  readonly until: Day
  readonly reason: string
}

const grammar = /^until=(\S{10});\s*reason=(\S.{0,499})$/

export const waiverField = z
  .string()
  .transform((text, context): Waiver => {
    const [, until = '', reason = ''] = grammar.exec(text.trim()) ?? []
    if (isDay(until)) return { until, reason: reason.trim() }
    context.addIssue({ code: 'custom', message: 'is no waiver' })
    return z.NEVER
  })
  .optional()
  .meta({
    description: 'Turns a failure into a warning up to and including a day, and says why in every report. An expired one is an error.',
    accepts: 'until=YYYY-MM-DD; reason=why',
  })

/** Throws an InputError when it has expired: a gate must not fall silent because somebody forgot. */
export function checkWaiver(waiver: Waiver | undefined, today: Day): void {
  if (waiver === undefined || today <= waiver.until) return
  const message = `expired on ${waiver.until}, today is ${today} in UTC: remove it, or give it a new date and reason`
  throw new InputError([{ name: 'waiver', message }])
}
