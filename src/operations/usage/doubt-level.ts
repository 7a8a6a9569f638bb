// Owns what a doubt about figures leads to.
import type { UsageInput } from './inputs.ts'

/** What was asked for. Otherwise a failure, but for days that have just begun and have no records for a while: they wake nobody. */
export const doubtLevel = (doubt: string | undefined, wished: UsageInput['onMissing']): NonNullable<UsageInput['onMissing']> =>
  wished ?? (doubt === 'not-yet' ? 'warn' : 'fail')
