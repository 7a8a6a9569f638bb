// Owns the question that decides about duplicates: after this answer, or this silence, may the server have acted?
// Pure: it sees a status, an error code and whether the answer could be read.

/** `not-done`: it certainly did not act · `refused`: it said no · `done`: it acted · `unknown`: nobody can tell. */
export type Certainty = 'not-done' | 'refused' | 'done' | 'unknown'

/** What is left of one attempt: a status with a body that fits or not, or the code of a failure before a whole answer. */
export type Evidence = { readonly status: number; readonly readable: boolean } | { readonly code: string }

const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'PROXY_REFUSED',
])

const refusals = new Set([400, 401, 403, 404, 405, 407, 409, 410, 413, 415, 422, 424, 501])

/** The codes with which Node and OpenSSL refuse a certificate or a handshake: no request was sent yet. */
export const isTlsCode = (code: string): boolean =>
  /^(?:ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH)/.test(
    code,
  )

export function certaintyOf(evidence: Evidence): Certainty {
  if ('code' in evidence) return neverConnected.has(evidence.code) || isTlsCode(evidence.code) ? 'not-done' : 'unknown'
  const { status, readable } = evidence
  if (status === 429) return 'not-done'
  if (refusals.has(status)) return 'refused'
  return status >= 200 && status < 300 && readable ? 'done' : 'unknown'
}
