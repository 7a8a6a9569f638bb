import { describe, expect, it } from 'vitest'
import { type WriteOutcome, writeOutcomeOf } from '../../../src/http/retry.ts'
import { forEachEntry } from '../../support/corpus.ts'

describe('writeOutcomeOf', () => {
  it('tells by the error code whether the server may have acted', () =>
    forEachEntry<[string, WriteOutcome]>(
      [
        ['ECONNREFUSED', 'not-applied'],
        ['ENOTFOUND', 'not-applied'],
        ['EAI_AGAIN', 'not-applied'],
        ['EHOSTUNREACH', 'not-applied'],
        ['ENETUNREACH', 'not-applied'],
        ['UND_ERR_CONNECT_TIMEOUT', 'not-applied'],
        ['PROXY_REFUSED', 'not-applied'],
        ['DEPTH_ZERO_SELF_SIGNED_CERT', 'not-applied'],
        ['SELF_SIGNED_CERT_IN_CHAIN', 'not-applied'],
        ['CERT_HAS_EXPIRED', 'not-applied'],
        ['ERR_TLS_CERT_ALTNAME_INVALID', 'not-applied'],
        ['ERR_SSL_WRONG_VERSION_NUMBER', 'not-applied'],
        ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'not-applied'],
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
      ],
      (code, writeOutcome) => {
        expect(writeOutcomeOf({ code })).toBe(writeOutcome)
      },
    ))

  it('tells by the status whether the server may have acted', () =>
    forEachEntry<[readonly number[], WriteOutcome]>(
      [
        [[429], 'not-applied'],
        [[400, 401, 403, 404, 409, 410, 413, 415, 422, 424, 501], 'refused'],
        [[200, 201, 204], 'applied'],
        [[301, 302, 303, 307, 308, 408, 418, 500, 502, 503, 504, 520], 'unknown'],
      ],
      (statuses, writeOutcome) => {
        for (const status of statuses) expect(writeOutcomeOf({ status, readable: true })).toBe(writeOutcome)
      },
    ))

  it('takes a success that cannot be read for unknown', () => {
    expect(writeOutcomeOf({ status: 200, readable: false })).toBe('unknown')
  })
})
