import type { Clock } from '../core/clock.ts'
import type { Cancellation } from './cancellation.ts'
import { ExchangeFailure, type Failure, type FailureCause, failureOfExchange, failureOfRedirect } from './failure.ts'
import type { Answer, Exchange, Method, Transport } from './transport.ts'

export interface SendDeps {
  readonly clock: Clock
  readonly random: () => number
  /** Gets one line for every retry and every long wait. */
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
}

/** Returns how much time is left, in milliseconds. */
export function startDeadline(clock: Clock, deadlineMs: number): () => number {
  const endsAtMs = clock.monotonicMs() + deadlineMs
  return () => endsAtMs - clock.monotonicMs()
}

/** `1.5 s`. */
export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** A redirect is a failure. */
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

export interface FailedAttempt<F> {
  readonly failure: F
  readonly sent: number
  /** `attempt 2 of 5`, without those that a rate limit refused; `attempt 6` after a refusal by a rate limit. */
  readonly label: string
  /** This attempt or an earlier one may have been carried out. */
  readonly isOutcomeUnknown: boolean
  readonly decision: RetryDecision
  /** A signal ended the wait for the next attempt. */
  readonly isStopped?: true
}

interface SendRules<F> {
  readonly maxAttempts: number
  remainingMs(): number
  policyOf(failure: F): RetryPolicy
  describe(failure: F): string
  onFailure?(failed: FailedAttempt<F>): void
  /** Default: `note` of the process. */
  note?(line: string, failed: FailedAttempt<F>, waitMs: number): void
}

/** The loop of every request. `tryOnce` gets the attempt before it. */
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

/** `until-deadline`: the server refuses the request until a window ends, which uses up no attempt. */
export type RetryPolicy = 'none' | 'once' | 'attempts' | 'until-deadline'

/** POST is repeated only where it certainly was not applied: the API has no idempotency key. */
export function retryPolicyFor(method: Method, { cause, status, writeOutcome }: Omit<Failure, 'detail' | 'headers'>): RetryPolicy {
  if (cause === 'rate-limit') return 'until-deadline'
  if (cause === 'tls' || cause === 'redirect' || cause === 'too-large' || cause === 'unfit' || cause === 'canceled') return 'none'
  if (writeOutcome === 'refused') return 'none'
  if (cause === 'proxy') return status === 407 ? 'none' : 'attempts'
  if (cause === 'lookup') return 'once'
  if (writeOutcome === 'not-applied') return 'attempts'
  if (method === 'POST') return 'none'
  return cause === 'unreadable' ? 'once' : 'attempts'
}

interface RetryInput {
  readonly policy: RetryPolicy
  readonly attempts: number
  readonly sameCause: number
  readonly maxAttempts: number
  readonly serverWaitMs: number | undefined
  readonly remainingMs: number
  readonly random: number
}

export type RetryDecision =
  | { readonly retry: true; readonly waitMs: number }
  | { readonly retry: false; readonly because: 'final' | 'attempts' }
  | { readonly retry: false; readonly because: 'deadline'; readonly waitMs: number }

export function decideRetry(input: RetryInput): RetryDecision {
  const { policy, attempts, sameCause, maxAttempts, serverWaitMs, remainingMs, random } = input
  if (policy === 'none') return { retry: false, because: 'final' }
  const isUsedUp = attempts >= maxAttempts || (policy === 'once' && sameCause > 1)
  if (policy !== 'until-deadline' && isUsedUp) return { retry: false, because: 'attempts' }
  // Full jitter: clients that failed together do not come back together.
  const waitMs = serverWaitMs ?? Math.round(random * Math.min(20_000, 500 * 2 ** (attempts - 1)))
  return waitMs >= remainingMs ? { retry: false, because: 'deadline', waitMs } : { retry: true, waitMs }
}
