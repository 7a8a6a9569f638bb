import { describe, expect, it } from 'vitest'
import { decideRetry, type RetryPolicy, retryPolicyFor } from '../../../../src/platform/http/send.ts'
import type { Method } from '../../../../src/platform/http/transport.ts'
import { forEachEntry } from '../../../support/corpus.ts'

const failures: Readonly<Record<string, Parameters<typeof retryPolicyFor>[1]>> = {
  'a reset before the answer': { cause: 'connection', writeOutcome: 'unknown' },
  'a refused connection': { cause: 'connection', writeOutcome: 'not-applied' },
  'an unknown host': { cause: 'lookup', writeOutcome: 'not-applied' },
  'a bad certificate': { cause: 'tls', writeOutcome: 'not-applied' },
  'a signal': { cause: 'canceled', writeOutcome: 'unknown' },
  'a timeout': { cause: 'timeout', writeOutcome: 'unknown' },
  'a connect timeout': { cause: 'timeout', writeOutcome: 'not-applied' },
  'a rate limit': { cause: 'rate-limit', writeOutcome: 'not-applied' },
  'a 503': { cause: 'status', writeOutcome: 'unknown', status: 503 },
  'a 408': { cause: 'status', writeOutcome: 'unknown', status: 408 },
  'a 400': { cause: 'status', writeOutcome: 'refused', status: 400 },
  'a 401': { cause: 'status', writeOutcome: 'refused', status: 401 },
  'a redirect': { cause: 'redirect', writeOutcome: 'unknown', status: 302 },
  'a success that is no JSON': { cause: 'unreadable', writeOutcome: 'unknown', status: 200 },
  'a success that does not fit': { cause: 'unfit', writeOutcome: 'unknown', status: 200 },
  'an answer that is too large': { cause: 'too-large', writeOutcome: 'unknown' },
  'a proxy that asks for a password': { cause: 'proxy', writeOutcome: 'not-applied', status: 407 },
  'a proxy without a way': { cause: 'proxy', writeOutcome: 'not-applied', status: 502 },
}

describe('retryPolicyFor', () => {
  it('R1: decides by cause and method whether a request is sent again', () =>
    forEachEntry<[string, RetryPolicy, RetryPolicy, RetryPolicy]>(
      [
        // what happened · GET · POST · PUT and DELETE
        ['a reset before the answer', 'attempts', 'none', 'attempts'],
        ['a refused connection', 'attempts', 'attempts', 'attempts'],
        ['an unknown host', 'once', 'once', 'once'],
        ['a bad certificate', 'none', 'none', 'none'],
        ['a signal', 'none', 'none', 'none'],
        ['a timeout', 'attempts', 'none', 'attempts'],
        ['a connect timeout', 'attempts', 'attempts', 'attempts'],
        ['a rate limit', 'until-deadline', 'until-deadline', 'until-deadline'],
        ['a 503', 'attempts', 'none', 'attempts'],
        ['a 408', 'attempts', 'none', 'attempts'],
        ['a 400', 'none', 'none', 'none'],
        ['a 401', 'none', 'none', 'none'],
        ['a redirect', 'none', 'none', 'none'],
        ['a success that is no JSON', 'once', 'none', 'once'],
        ['a success that does not fit', 'none', 'none', 'none'],
        ['an answer that is too large', 'none', 'none', 'none'],
        ['a proxy that asks for a password', 'none', 'none', 'none'],
        ['a proxy without a way', 'attempts', 'attempts', 'attempts'],
      ],
      (name, get, post, put) => {
        const failure = failures[name]
        if (failure === undefined) throw new Error(`no failure called ${name}`)
        const policy = (method: Method): RetryPolicy => retryPolicyFor(method, failure)
        expect({ get: policy('GET'), post: policy('POST'), put: policy('PUT'), delete: policy('DELETE') }).toEqual({
          get,
          post,
          put,
          delete: put,
        })
      },
    ))

  it('W1: never sends a POST again when the server may have acted', () => {
    for (const failure of Object.values(failures).filter(({ writeOutcome }) => writeOutcome === 'unknown')) {
      expect(retryPolicyFor('POST', failure)).toBe('none')
    }
  })
})

describe('decideRetry', () => {
  const question = {
    policy: 'attempts',
    attempts: 1,
    sameCause: 1,
    maxAttempts: 5,
    serverWaitMs: undefined,
    remainingMs: 600_000,
    random: 0.5,
  } as const

  it('waits a random part of a doubling time, up to 20 s', () => {
    const waits = [1, 2, 3, 4, 10].map((attempts) => decideRetry({ ...question, maxAttempts: 20, attempts, random: 1 }))
    expect(waits.map((answer) => (answer.retry ? answer.waitMs : undefined))).toEqual([500, 1000, 2000, 4000, 20_000])
    expect(decideRetry({ ...question, random: 0 })).toEqual({ retry: true, waitMs: 0 })
  })

  it('waits as long as the server asks', () => {
    expect(decideRetry({ ...question, serverWaitMs: 45_000 })).toEqual({ retry: true, waitMs: 45_000 })
  })

  it('stops after the last attempt', () => {
    expect(decideRetry({ ...question, attempts: 5 })).toEqual({ retry: false, because: 'attempts' })
    expect(decideRetry({ ...question, policy: 'once', attempts: 2, sameCause: 2 })).toEqual({ retry: false, because: 'attempts' })
    expect(decideRetry({ ...question, policy: 'none' })).toEqual({ retry: false, because: 'final' })
  })

  it('tries once more what may be over by then, whatever failed before it', () => {
    expect(decideRetry({ ...question, policy: 'once', attempts: 4, sameCause: 1 })).toMatchObject({ retry: true })
    expect(decideRetry({ ...question, policy: 'once', attempts: 5, sameCause: 1 })).toEqual({ retry: false, because: 'attempts' })
  })

  it('does not count attempts against the rate limit, only time', () => {
    expect(decideRetry({ ...question, policy: 'until-deadline', attempts: 500, serverWaitMs: 1000 })).toEqual({ retry: true, waitMs: 1000 })
  })

  it('fails at once when the wait leaves no time, and says how long it was', () => {
    const waiting = (serverWaitMs: number) => decideRetry({ ...question, policy: 'until-deadline', serverWaitMs })
    expect(waiting(599_999)).toEqual({ retry: true, waitMs: 599_999 })
    expect(waiting(600_000)).toEqual({ retry: false, because: 'deadline', waitMs: 600_000 })
  })
})
