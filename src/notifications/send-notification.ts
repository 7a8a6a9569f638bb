import { formatLocation } from '../core/diagnostics.ts'
import { createRedact, redactDeep } from '../core/secrets.ts'
import type { Variables } from '../core/variables.ts'
import type { RetryDeps } from '../http/deadline.ts'
import { isReadableOnTheWay, readProxySettings } from '../http/proxy.ts'
import { deliver } from './deliver.ts'
import { formats } from './formats.ts'
import type { Message } from './message.ts'

interface NotificationOptions {
  /** Accepted by `isWebhookUrl`. */
  readonly url: string
  readonly format: keyof typeof formats
  readonly message: Message
  readonly secrets: readonly string[]
}

/** Sends the message to the webhook. Changes no verdict. Resolves to one line when it was not delivered, with the reason. */
export async function sendNotification(
  { url: address, format, message, secrets }: NotificationOptions,
  env: Variables,
  deps: RetryDeps,
): Promise<string | undefined> {
  const url = new URL(address)
  const redact = createRedact(secrets)
  const problem = problemOf(url, env)
  if (problem !== undefined) return `notification: not sent: ${problem}.`
  const { settings: proxy } = readProxySettings(env)
  // Redacted before it is escaped, which would hide a secret.
  const body = JSON.stringify(formats[format](redactDeep(message, redact)))
  const failure = await deliver({ url, body, proxy, redact }, deps)
  if (failure === undefined) deps.note(`notification: sent to ${url.host}`)
  return failure === undefined ? undefined : `notification: not delivered: ${failure}`
}

/** Why the URL must not be used now, because the webhook's secret could be read on the way. */
function problemOf(url: URL, env: Variables): string | undefined {
  const { settings, diagnostics } = readProxySettings(env)
  const [fault] = diagnostics
  if (fault !== undefined) return `${formatLocation(fault.location)} ${fault.message}`
  if (isReadableOnTheWay(url, settings)) return 'a proxy could read it, because the URL is http; add its host to NO_PROXY'
  return url.protocol === 'https:' && env.NODE_TLS_REJECT_UNAUTHORIZED === '0'
    ? 'NODE_TLS_REJECT_UNAUTHORIZED is 0, which disables the check of certificates'
    : undefined
}
