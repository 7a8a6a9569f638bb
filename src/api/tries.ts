// Owns the count of one request's tries. The rate limit is no failure of a try: what fails after it is tried as often as ever.
import type { Failure } from './retry.ts'

export interface Tries {
  add(failure: Failure): void
  /** Requests sent, all answers together. */
  sent(): number
  /** Which try the last one was, as the retry policy counts. */
  counted(): number
  /** The same for people. */
  describe(): string
  /** How many failed as the last one did. */
  alike(): number
  /** A try before the last one may have been carried out, although its answer never came. */
  isAfterUnknown(): boolean
}

export function createTries(maxAttempts: number): Tries {
  const failures: Failure[] = []
  const isLimited = (failure: Failure | undefined): boolean => failure?.status === 429
  const counted = (): number => (isLimited(failures.at(-1)) ? failures.length : failures.filter((failure) => !isLimited(failure)).length)
  return {
    add: (failure) => void failures.push(failure),
    sent: () => failures.length,
    counted,
    alike: () => failures.filter(({ cause }) => cause === failures.at(-1)?.cause).length,
    describe: () => (isLimited(failures.at(-1)) ? `attempt ${counted()}` : `attempt ${counted()} of ${maxAttempts}`),
    isAfterUnknown: () => failures.slice(0, -1).some(({ certainty }) => certainty === 'unknown'),
  }
}
