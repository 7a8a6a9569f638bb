import type { Clock } from '../core/clock.ts'
import type { Cancellation } from './cancellation.ts'
import { ExchangeFailure, type Failure, type FailureCause, failureOfExchange, failureOfRedirect } from './failure.ts'
import { decideRetry, type RetryDecision, type RetryPolicy } from './retry.ts'
import type { Answer, Exchange, Transport } from './transport.ts'

/** What requests need of their process. */
export interface SendDeps {
  readonly clock: Clock
  readonly random: () => number
  /** Called for every retry and every long wait, with one line each. */
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
}

/** Starts the time that a group of requests has, and returns how much of it is left, in milliseconds. */
export function startDeadline(clock: Clock, deadlineMs: number): () => number {
  const endsAtMs = clock.monotonicMs() + deadlineMs
  return () => endsAtMs - clock.monotonicMs()
}

/** `1.5 s`. */
export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Sends a request once. Resolves to the answer with its status, or to a failure when no whole answer came, or a redirect. */
export async function sendOnce(
  transport: Transport,
  exchange: Exchange,
): Promise<{ readonly answer: Answer } | { readonly failure: Failure }> {
  try {
    const answer = await transport.exchange(exchange)
    const isRedirect = answer.status >= 300 && answer.status < 400
    return isRedirect ? { failure: failureOfRedirect(answer, exchange.url) } : { answer }
  } catch (thrown) {
    if (thrown instanceof ExchangeFailure) return { failure: failureOfExchange(thrown, exchange.timeoutMs, transport.proxyHost) }
    throw thrown
  }
}

/** The last attempt of a request, which failed, and what follows from it. */
export interface FailedAttempt<F> {
  readonly failure: F
  /** Requests that were sent, this one included. */
  readonly sent: number
  /** `attempt 2 of 5`, without those that a rate limit refused; `attempt 6` after a refusal by a rate limit. */
  readonly label: string
  /** This attempt or an earlier one may have been carried out, although its answer was lost. */
  readonly isOutcomeUnknown: boolean
  readonly decision: RetryDecision
  /** A signal ended the wait for the next attempt. */
  readonly isStopped?: true
}

interface SendRules<F> {
  readonly maxAttempts: number
  remainingMs(): number
  policyOf(failure: F): RetryPolicy
  /** Names the failure in the line of the log about a retry. */
  describe(failure: F): string
  onFailure?(failed: FailedAttempt<F>): void
  /** Writes the line about a retry to the log. Default: `note` of the process. */
  note?(line: string, failed: FailedAttempt<F>, waitMs: number): void
}

/** The loop of every request: tries until there is a value, or nothing more to try. `tryOnce` gets the attempt before it. */
export async function sendWithRetries<T, F extends Failure>(
  tryOnce: (last: FailedAttempt<F> | undefined) => Promise<{ readonly value: T } | { readonly failure: F }>,
  rules: SendRules<F>,
  { clock, random, note, cancellation: { stop } }: SendDeps,
): Promise<{ readonly value: T } | FailedAttempt<F>> {
  const { maxAttempts, onFailure, note: noteRetry = note } = rules
  const causes: FailureCause[] = []
  let counted = 0
  let isOutcomeUnknown = false
  for (let last: FailedAttempt<F> | undefined; ; ) {
    const outcome = await tryOnce(last)
    if ('value' in outcome) return outcome
    const { failure } = outcome
    // The first signal ends retries.
    const policy = stop.aborted ? 'none' : rules.policyOf(failure)
    const isCounted = policy !== 'until-deadline'
    causes.push(failure.cause)
    if (isCounted) counted += 1
    isOutcomeUnknown ||= failure.writeOutcome === 'unknown'
    const attempts = isCounted ? counted : causes.length
    const decision = decideRetry({
      policy,
      attempts,
      sameCause: causes.filter((cause) => cause === failure.cause).length,
      maxAttempts,
      serverWaitMs: failure.waitMs,
      remainingMs: rules.remainingMs(),
      random: random(),
    })
    const label = `attempt ${attempts}${isCounted ? ` of ${maxAttempts}` : ''}`
    last = { failure, sent: causes.length, label, isOutcomeUnknown, decision }
    onFailure?.(last)
    if (!decision.retry) return last
    noteRetry(`Trying again in ${inSeconds(decision.waitMs)} (${label}): ${rules.describe(failure)}`, last, decision.waitMs)
    await clock.sleep(decision.waitMs, stop).catch(() => undefined)
    if (stop.aborted) return { ...last, isStopped: true }
  }
}
