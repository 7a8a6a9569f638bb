import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideRetry, type Failure, type Method, type Patience, patienceFor } from '../../../src/http/retry.ts'

const failures: Readonly<Record<string, Failure>> = {
  'a reset before the answer': { cause: 'connection', certainty: 'unknown' },
  'a refused connection': { cause: 'connection', certainty: 'not-done' },
  'an unknown host': { cause: 'lookup', certainty: 'not-done' },
  'a bad certificate': { cause: 'tls', certainty: 'not-done' },
  'a timeout': { cause: 'timeout', certainty: 'unknown' },
  'a connect timeout': { cause: 'timeout', certainty: 'not-done' },
  'a 429': { cause: 'status', certainty: 'not-done', status: 429 },
  'a 503': { cause: 'status', certainty: 'unknown', status: 503 },
  'a 408': { cause: 'status', certainty: 'unknown', status: 408 },
  'a 400': { cause: 'status', certainty: 'refused', status: 400 },
  'a 401': { cause: 'status', certainty: 'refused', status: 401 },
  'a redirect': { cause: 'redirect', certainty: 'unknown', status: 302 },
  'a success that is no JSON': { cause: 'unreadable', certainty: 'unknown', status: 200 },
  'a success that does not fit': { cause: 'unfit', certainty: 'unknown', status: 200 },
  'an answer that is too large': { cause: 'too-large', certainty: 'unknown' },
  'a proxy that asks for a password': { cause: 'proxy', certainty: 'not-done', status: 407 },
  'a proxy without a way': { cause: 'proxy', certainty: 'not-done', status: 502 },
}

describe('patienceFor', () => {
  it.each<[string, Patience, Patience, Patience]>([
    // what happened · GET · POST · PUT and DELETE
    ['a reset before the answer', 'attempts', 'none', 'attempts'],
    ['a refused connection', 'attempts', 'attempts', 'attempts'],
    ['an unknown host', 'once', 'once', 'once'],
    ['a bad certificate', 'none', 'none', 'none'],
    ['a timeout', 'attempts', 'none', 'attempts'],
    ['a connect timeout', 'attempts', 'attempts', 'attempts'],
    ['a 429', 'until-deadline', 'until-deadline', 'until-deadline'],
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
  ])('after %s: GET %s, POST %s, PUT and DELETE %s', (name, get, post, put) => {
    const failure = failures[name]
    if (failure === undefined) throw new Error(`no failure called ${name}`)
    const patience = (method: Method): Patience => patienceFor(method, failure)
    expect({ get: patience('GET'), post: patience('POST'), put: patience('PUT'), delete: patience('DELETE') }).toEqual({
      get,
      post,
      put,
      delete: put,
    })
  })

  it('never sends a POST again when the server may have acted', () => {
    for (const failure of Object.values(failures).filter(({ certainty }) => certainty === 'unknown')) {
      expect(patienceFor('POST', failure)).toBe('none')
    }
  })
})

describe('decideRetry', () => {
  const question = {
    patience: 'attempts',
    attempts: 1,
    alike: 1,
    maxAttempts: 5,
    toldMs: undefined,
    remainingMs: 600_000,
    random: 0.5,
  } as const

  it('waits a random part of a doubling time, up to 20 s', () => {
    const waits = [1, 2, 3, 4, 10].map((attempts) => decideRetry({ ...question, maxAttempts: 20, attempts, random: 1 }))
    expect(waits.map((answer) => (answer.retry ? answer.waitMs : undefined))).toEqual([500, 1000, 2000, 4000, 20_000])
    expect(decideRetry({ ...question, random: 0 })).toEqual({ retry: true, waitMs: 0 })
  })

  it('waits as long as it is told', () => {
    expect(decideRetry({ ...question, toldMs: 45_000 })).toEqual({ retry: true, waitMs: 45_000 })
  })

  it('stops after the last attempt', () => {
    expect(decideRetry({ ...question, attempts: 5 })).toEqual({ retry: false, because: 'attempts' })
    expect(decideRetry({ ...question, patience: 'once', attempts: 2, alike: 2 })).toEqual({ retry: false, because: 'attempts' })
    expect(decideRetry({ ...question, patience: 'none' })).toEqual({ retry: false, because: 'final' })
  })

  it('tries once more what may be over by then, whatever failed before it', () => {
    expect(decideRetry({ ...question, patience: 'once', attempts: 4, alike: 1 })).toMatchObject({ retry: true })
    expect(decideRetry({ ...question, patience: 'once', attempts: 5, alike: 1 })).toEqual({ retry: false, because: 'attempts' })
  })

  it('does not count attempts against the rate limit, only time', () => {
    expect(decideRetry({ ...question, patience: 'until-deadline', attempts: 500, toldMs: 1000 })).toEqual({ retry: true, waitMs: 1000 })
  })

  it('fails at once when the wait is longer than what is left, and says how long it was', () => {
    expect(decideRetry({ ...question, patience: 'until-deadline', toldMs: 700_000 })).toEqual({
      retry: false,
      because: 'deadline',
      waitMs: 700_000,
    })
  })

  it('never waits beyond the deadline', () => {
    const numbers = fc.integer({ min: 1, max: 100_000 })
    fc.assert(
      fc.property(
        numbers,
        numbers,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 30 }),
        (toldMs, remainingMs, random, attempts) => {
          const answer = decideRetry({ patience: 'until-deadline', attempts, alike: attempts, maxAttempts: 5, toldMs, remainingMs, random })
          if (answer.retry) expect(answer.waitMs).toBeLessThan(remainingMs)
        },
      ),
    )
  })
})
