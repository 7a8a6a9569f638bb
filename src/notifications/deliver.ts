import type { Redact } from '../core/secrets.ts'
import { quote } from '../core/text.ts'
import { version } from '../core/version.ts'
import { inSeconds, type RetryDeps } from '../http/deadline.ts'
import { type ExchangeFailure, toExchangeFailure } from '../http/exchange-failure.ts'
import { type ProxySettings, proxyHost } from '../http/proxy.ts'
import { serverWaitMs } from '../http/rate-limit.ts'
import { decideRetry, isTlsCode, type RetryPolicy, type WriteOutcome, writeOutcomeOf } from '../http/retry.ts'
import { type Answer, createTransport, type Transport } from '../http/transport.ts'

interface Delivery {
  readonly url: URL
  readonly body: string
  readonly proxy: ProxySettings
  readonly redact: Redact
}

/** For one attempt. */
const requestMs = 10_000

/** For all attempts and the waits between them. */
const totalMs = 30_000

const maxAttempts = 3

interface FailedAttempt {
  /** What happened, without secrets. */
  readonly reason: string
  readonly writeOutcome: WriteOutcome
  readonly policy: RetryPolicy
  readonly waitMs: number | undefined
}

/**
 * Sends a message with POST. Follows no redirect. It is sent again only when it certainly did not arrive, so that no message arrives twice.
 * Resolves to the reason when it was not accepted. Never throws.
 */
export async function deliver(delivery: Delivery, deps: RetryDeps): Promise<string | undefined> {
  const { clock, random, note, cancellation } = deps
  const transport = createTransport(delivery.url, delivery.proxy, clock)
  const endsAtMs = clock.monotonicMs() + totalMs
  try {
    for (let attempts = 1; ; attempts++) {
      const remainingMs = endsAtMs - clock.monotonicMs()
      const failure = await attempt(transport, delivery, { ...deps, timeoutMs: Math.min(requestMs, Math.max(1, Math.floor(remainingMs))) })
      if (failure === undefined) return undefined
      const decision = decideRetry({
        policy: failure.policy,
        attempts,
        sameCause: attempts,
        maxAttempts,
        serverWaitMs: failure.waitMs,
        remainingMs: endsAtMs - clock.monotonicMs(),
        random: random(),
      })
      if (cancellation.stop.aborted || !decision.retry) return describe(failure)
      note(`notification: trying again in ${inSeconds(decision.waitMs)}: ${failure.reason}`)
      await clock.sleep(decision.waitMs, cancellation.stop).catch(() => undefined)
      if (cancellation.stop.aborted) return describe(failure)
    }
  } finally {
    await transport.close()
  }
}

const describe = ({ reason, writeOutcome }: FailedAttempt): string =>
  `${reason}.${writeOutcome === 'unknown' ? ' The message may have been delivered.' : ''}`

interface AttemptDeps extends RetryDeps {
  readonly timeoutMs: number
}

async function attempt(
  transport: Transport,
  { url, body, proxy, redact }: Delivery,
  { clock, cancellation, timeoutMs }: AttemptDeps,
): Promise<FailedAttempt | undefined> {
  try {
    const answer = await transport.exchange({
      method: 'POST',
      url,
      body,
      authorization: undefined,
      userAgent: `watchkeeper/${version}`,
      timeoutMs,
      signal: cancellation.abort,
    })
    return answer.status >= 200 && answer.status < 300 ? undefined : failureOfAnswer(answer, url, redact, clock.now())
  } catch (thrown) {
    const via = proxyHost(url, proxy)
    return failureOfExchange(toExchangeFailure(thrown, 0), `${url.host}${via === undefined ? '' : ` through the proxy ${via}`}`, redact)
  }
}

function failureOfAnswer({ status, headers, text }: Answer, url: URL, redact: Redact, nowMs: number): FailedAttempt {
  const { host } = url
  if (status >= 300 && status < 400) {
    const { location } = headers
    const target = location !== undefined && URL.canParse(location, url.href) ? ` to ${new URL(location, url).origin}` : ''
    const reason = `${host} answered with a redirect${quote(redact(target))}, which is not followed. Check notify-url`
    return { reason, writeOutcome: 'not-applied', policy: 'none', waitMs: undefined }
  }
  const writeOutcome = writeOutcomeOf({ status, readable: true })
  const waitMs = serverWaitMs(status, headers, nowMs)
  const words = quote(redact(text.slice(0, maxAnswerLength)).replace(/\s+/g, ' ').trim(), 100)
  const reason = `${host} answered ${status}${words === '' ? '' : `: ${words.replace(/\.$/, '')}`}`
  const wait = status === 429 && waitMs !== undefined ? `. It asks to wait ${inSeconds(waitMs)}` : ''
  const advice = writeOutcome === 'refused' ? '. Check notify-url and notify-format' : ''
  return { reason: `${reason}${wait}${advice}`, writeOutcome, policy: status === 429 && waitMs !== undefined ? 'attempts' : 'none', waitMs }
}

/** The beginning of an answer shows what is wrong. */
const maxAnswerLength = 2000

function failureOfExchange({ code, message }: ExchangeFailure, host: string, redact: Redact): FailedAttempt {
  const writeOutcome = writeOutcomeOf({ code })
  const isTimeout = /TIMEOUT|ETIMEDOUT/.test(code)
  const reason = isTimeout ? `${host} did not answer in time (${code})` : `${host}: ${quote(redact(message))} (${code})`
  return { reason, writeOutcome, policy: writeOutcome === 'not-applied' && !isTlsCode(code) ? 'attempts' : 'none', waitMs: undefined }
}
