// Owns what an answer is before it goes onto the wire, and the bodies that the API gives it: envelope, error, page.
import type { Ids } from './ids.ts'
import type { Settings } from './options.ts'
import type { Refusal } from './refusal.ts'

/** A list stands for a header that is sent several times. */
export type Headers = Readonly<Record<string, string | readonly string[]>>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: string | Uint8Array
}

export const jsonType = 'application/json; charset=utf-8'

export const htmlType = 'text/html; charset=utf-8'

export const toJson = (status: number, value: unknown): Answer => ({
  status,
  headers: { 'content-type': jsonType },
  body: JSON.stringify(value),
})

/** `{status, requestId, result}`; after a deletion there is no result. */
export const toEnvelope = (ids: Ids, result: unknown): Answer => toJson(200, { status: 200, requestId: ids.uuid(), result })

/** Observability resources: the neutral contract does not show their wrapping, so that it is an option. */
export function toObservability(settings: Settings, ids: Ids, result: unknown): Answer {
  if (settings.lists === 'envelope') return toEnvelope(ids, result)
  // The open-source server answers a deletion with an empty object.
  if (result === undefined) return toJson(200, {})
  return toJson(200, settings.lists === 'data' ? { data: result } : result)
}

export const toError = (ids: Ids, refusal: Refusal): Answer =>
  toJson(refusal.status, { status: refusal.status, error: `${refusal.code}: ${refusal.message}`, requestId: ids.uuid() })

/** Without status and request id: terraform-provider-clickhouse PR#366. */
export const tooManyRequests = (): Answer => toJson(429, { error: 'TOO_MANY_REQUESTS' })

/** What the gateway answers for a path that it does not serve, in the manner of Express. */
export function toNotServed(method: string, path: string): Answer {
  const title = escapeHtml(`Cannot ${method} ${path}`)
  return {
    status: 404,
    headers: { 'content-type': htmlType, 'content-security-policy': "default-src 'none'", 'x-content-type-options': 'nosniff' },
    body: `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Error</title>
</head>
<body>
<pre>${title}</pre>
</body>
</html>
`,
  }
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
