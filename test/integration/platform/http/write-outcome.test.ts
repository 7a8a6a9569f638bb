import { describe, expect, it } from 'vitest'
import { ExchangeFailure, type Failure, failureOfExchange, failureOfStatus } from '../../../../src/platform/http/failure.ts'
import { forEachEntry } from '../../../support/corpus.ts'

describe('the outcome of a write that failed', () => {
  it('tells by the error code whether the server may have acted', () =>
    forEachEntry<[string, Failure['writeOutcome']]>(
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
        ['CANCELED', 'unknown'],
        ['BAD_UTF8', 'unknown'],
        ['TOO_LARGE', 'unknown'],
        ['SOMETHING_NEW', 'unknown'],
      ],
      (code, writeOutcome) => {
        expect(failureOfExchange(new ExchangeFailure(code, ''), 1000, undefined).writeOutcome).toBe(writeOutcome)
      },
    ))

  it('tells by the status whether the server may have acted', () =>
    forEachEntry<[readonly number[], Failure['writeOutcome']]>(
      [
        [[429], 'not-applied'],
        [[400, 401, 403, 404, 409, 410, 413, 415, 422, 424, 501], 'refused'],
        [[408, 418, 500, 502, 503, 504, 520], 'unknown'],
      ],
      (statuses, writeOutcome) => {
        for (const status of statuses) expect(failureOfStatus({ status, headers: {} }, '', 0).writeOutcome).toBe(writeOutcome)
      },
    ))
})
