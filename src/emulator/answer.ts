/** A list stands for a header that is sent several times. */
export type Headers = Readonly<Record<string, string | readonly string[]>>

/** An answer before it goes onto the wire. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: string | Uint8Array
}

export const jsonType = 'application/json; charset=utf-8'

export const htmlType = 'text/html; charset=utf-8'

export const toJson = (status: number, value: unknown, headers: Headers = {}): Answer => ({
  status,
  headers: { 'content-type': jsonType, ...headers },
  body: JSON.stringify(value),
})

export const toText = (status: number, body: string): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})

/** What Express answers for a path that is not served. */
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
