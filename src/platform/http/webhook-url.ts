import { isLoopback, tryDecode } from './proxy.ts'

/** Accepts the address of a webhook: https, or plain http for loopback addresses. Its path and query hold a secret. */
export function isWebhookUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s\\/?#@]+(?:[/?][^\s\\#]*)?$/i.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || isLoopback(hostname)
}

/** The secret part of the address of a webhook, as written and as sent: its path and query. A text that is not accepted is secret as a whole. */
export function webhookSecrets(text: string): readonly string[] {
  return isWebhookUrl(text) ? pathSecrets(text) : [text]
}

/** The secret part of an address that a server has accepted: plain http and a fragment may be in it. With a user, it is secret as a whole. */
export const storedUrlSecrets = (text: string): readonly string[] =>
  /^https?:\/\/[^\s\\/?#@]+(?:[/?#]|$)/i.test(text) && URL.canParse(text) ? pathSecrets(text) : [text]

/** A text that a run does not show, and what it shows in its place. */
export type HiddenText = readonly [text: string, shown: string]

/** In characters. Other addresses can have a shorter path, too: its webhook has the secret in a header. */
export const shortestSecretPath = 16

/**
 * The address of a webhook as somebody may have copied it. Only with its host: other addresses can have the same path, and files, ids and names
 * a part of it.
 */
export function copiesOf(text: string): readonly HiddenText[] {
  const [, user = '', host = '', path = ''] = /^https?:\/\/([^\s\\/?#@]*@)?([^\s\\/?#@]+)([/?][^\s\\#]*)?/i.exec(text) ?? []
  return [
    ...(path.length < shortestSecretPath ? [] : [[`${host}${path}`, `${host}***`] as const]),
    ...(user === '' ? [] : [[`${user}${host}`, `***@${host}`] as const]),
  ]
}

function pathSecrets(text: string): readonly string[] {
  const { pathname, search } = new URL(text)
  const path = `${pathname}${search}`
  return [text.replace(/^https?:\/\/[^/?]+/i, ''), path, tryDecode(path) ?? path]
}
