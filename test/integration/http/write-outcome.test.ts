import { describe, expect, it } from 'vitest'
import { type Certainty, certaintyOf } from '../../../src/http/retry.ts'

describe('certaintyOf', () => {
  it.each<[string, Certainty]>([
    ['ECONNREFUSED', 'not-done'],
    ['ENOTFOUND', 'not-done'],
    ['EAI_AGAIN', 'not-done'],
    ['EHOSTUNREACH', 'not-done'],
    ['ENETUNREACH', 'not-done'],
    ['UND_ERR_CONNECT_TIMEOUT', 'not-done'],
    ['PROXY_REFUSED', 'not-done'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'not-done'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'not-done'],
    ['CERT_HAS_EXPIRED', 'not-done'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'not-done'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'not-done'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'not-done'],
    ['UND_ERR_SOCKET', 'unknown'],
    ['ECONNRESET', 'unknown'],
    ['EPIPE', 'unknown'],
    ['UND_ERR_HEADERS_TIMEOUT', 'unknown'],
    ['UND_ERR_BODY_TIMEOUT', 'unknown'],
    ['REQUEST_TIMEOUT', 'unknown'],
    ['CANCELLED', 'unknown'],
    ['BAD_UTF8', 'unknown'],
    ['TOO_LARGE', 'unknown'],
    ['SOMETHING_NEW', 'unknown'],
  ])('after %s the server has %s acted', (code, certainty) => {
    expect(certaintyOf({ code })).toBe(certainty)
  })

  it.each<[readonly number[], Certainty]>([
    [[429], 'not-done'],
    [[400, 401, 403, 404, 409, 410, 413, 415, 422, 424, 501], 'refused'],
    [[200, 201, 204], 'done'],
    [[301, 302, 303, 307, 308, 408, 418, 500, 502, 503, 504, 520], 'unknown'],
  ])('%j with a readable body is %s', (statuses, certainty) => {
    for (const status of statuses) expect(certaintyOf({ status, readable: true })).toBe(certainty)
  })

  it('takes a success that cannot be read for unknown', () => {
    expect(certaintyOf({ status: 200, readable: false })).toBe('unknown')
  })
})
