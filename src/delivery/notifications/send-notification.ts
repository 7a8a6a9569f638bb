import { formatLocation } from '../../platform/core/diagnostics.ts'
import { createRedact, type Redact, redactDeep } from '../../platform/core/secrets.ts'
import { quote } from '../../platform/core/text.ts'
import type { Variables } from '../../platform/core/variables.ts'
import { version } from '../../platform/core/version.ts'
import { describeFailedRequest, type Failure, failureOfStatus } from '../../platform/http/failure.ts'
import { isReadableOnTheWay, type ProxySettings, readProxySettings } from '../../platform/http/proxy.ts'
import { type RetryPolicy, retryPolicyFor } from '../../platform/http/retry.ts'
import { inSeconds, type SendDeps, sendOnce, sendWithRetries, startDeadline } from '../../platform/http/send.ts'
import { createTransport } from '../../platform/http/transport.ts'
import { formats } from './formats.ts'
import type { Message } from './message.ts'

interface NotificationOptions {
  readonly url: string
  readonly format: keyof typeof formats
  readonly message: Message
  readonly secrets: readonly string[]
}

/** Changes no verdict. Resolves to one line when it was not delivered, with the reason. */
export async function sendNotification(
  { url: address, format, message, secrets }: NotificationOptions,
  env: Variables,
  deps: SendDeps,
): Promise<string | undefined> {
  const url = new URL(address)
  const redact = createRedact(secrets)
  const { settings: proxy, diagnostics } = readProxySettings(env)
  const [fault] = diagnostics
  if (fault !== undefined) return `notification: not sent: ${formatLocation(fault.location)} ${fault.message}.`
  if (isReadableOnTheWay(url, proxy))
    return 'notification: not sent: a proxy could read it, because the URL is http; add its host to NO_PROXY.'
  // Redacted before it is escaped, which would hide a secret.
  const body = JSON.stringify(formats[format](redactDeep(message, redact)))
  const failure = await deliver({ url, body, proxy, redact }, deps)
  if (failure === undefined) deps.note(`notification: sent to ${url.host}`)
  return failure === undefined ? undefined : `notification: not delivered: ${failure}`
}

const requestMs = 10_000

const totalMs = 30_000

/**
 * Follows no redirect. Sends again only what certainly did not arrive, so that no message arrives twice. Resolves to the reason when it was
 * not accepted.
 */
async function deliver(
  { url, body, proxy, redact }: { readonly url: URL; readonly body: string; readonly proxy: ProxySettings; readonly redact: Redact },
  deps: SendDeps,
) {
  const { clock, cancellation } = deps
  const transport = createTransport(url, proxy, clock)
  const remainingMs = startDeadline(clock, totalMs)
  const describe = (failure: Failure): string => redact(explainFailure(failure, url))

  async function tryOnce() {
    const outcome = await sendOnce(transport, {
      method: 'POST',
      url,
      body,
      authorization: undefined,
      userAgent: `watchkeeper/${version}`,
      timeoutMs: Math.min(requestMs, Math.max(1, Math.floor(remainingMs()))),
      signal: cancellation.abort,
    })
    if ('failure' in outcome) return outcome
    const { answer } = outcome
    return answer.status < 300
      ? { value: undefined }
      : {
          failure: failureOfStatus(
            answer,
            quote(redact(answer.text.slice(0, 2000)).replace(/\s+/g, ' ').trim(), 100).replace(/\.$/, ''),
            clock.now(),
          ),
        }
  }

  const policyOf = (failure: Failure): RetryPolicy => (failure.cause === 'rate-limit' ? 'attempts' : retryPolicyFor('POST', failure))
  const rules = { maxAttempts: 3, remainingMs, policyOf, describe: (failure: Failure) => `notification: ${describe(failure)}` }
  try {
    const end = await sendWithRetries(tryOnce, rules, deps)
    if ('value' in end) return undefined
    return `${describe(end.failure)}.${end.isOutcomeUnknown ? ' The message may have been delivered.' : ''}`
  } finally {
    await transport.close()
  }
}

function explainFailure(failure: Failure, { host }: URL) {
  const { cause, writeOutcome, waitMs } = failure
  const answer = describeFailedRequest(failure, host)
  if (cause === 'redirect') return `${answer}. Redirects are not followed. Check notify-url`
  if (cause === 'rate-limit') return `${answer}${waitMs === undefined ? '' : `. It asks to wait ${inSeconds(waitMs)}`}`
  return `${answer}${writeOutcome === 'refused' ? '. Check notify-url and notify-format' : ''}`
}
