import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRateLimitWindow, serverWaitMs } from '../../../../src/platform/http/rate-limit.ts'
import { forEachEntry } from '../../../support/corpus.ts'

const now = Date.parse('2026-03-31T12:00:00Z')

describe('toldWaitMs', () => {
  it('R2: reads how long the server wants the client to wait, whatever the clock of the runner shows', () =>
    forEachEntry<[string, Record<string, string>, number | undefined]>(
      [
        ['seconds', { 'retry-after': '3' }, 3000],
        ['no wait', { 'retry-after': '0' }, 0],
        ['a date', { 'retry-after': 'Tue, 31 Mar 2026 12:00:30 GMT' }, 30_000],
        [
          'a date, from that of the answer',
          { 'retry-after': 'Wed, 01 Apr 2026 12:00:30 GMT', date: 'Wed, 01 Apr 2026 12:00:00 GMT' },
          30_000,
        ],
        [
          'a date, when that of the answer is none',
          { 'retry-after': 'Tue, 31 Mar 2026 12:00:30 GMT', date: 'Tue, 99 Xyz 2026 12:00:00 GMT' },
          30_000,
        ],
        ['a past date', { 'retry-after': 'Tue, 31 Mar 2026 11:59:00 GMT' }, undefined],
        ['a date of another form', { 'retry-after': '2026-03-31T12:00:30Z' }, undefined],
        ['a negative number', { 'retry-after': '-1' }, undefined],
        ['a word', { 'retry-after': 'soon' }, undefined],
        ['an empty header', { 'retry-after': '' }, undefined],
        ['a huge number', { 'retry-after': '1000000000' }, 1e12],
        ['two values', { 'retry-after': '1, 5' }, undefined],
        ['the end of the window, a second later', { 'x-ratelimit-reset': '0.4' }, 1400],
        ['an epoch where seconds are left', { 'x-ratelimit-reset': '1774958400' }, 1_774_958_401_000],
        ['the longer of two', { 'retry-after': '1', 'x-ratelimit-reset': '5' }, 6000],
        ['nothing', {}, undefined],
      ],
      (_, headers, waitMs) => {
        expect(serverWaitMs(429, headers, now)).toBe(waitMs)
      },
    ))

  it('lets the window delay only what the window refused', () => {
    expect(serverWaitMs(503, { 'x-ratelimit-reset': '5' }, now)).toBeUndefined()
    expect(serverWaitMs(503, { 'retry-after': '5' }, now)).toBe(5000)
  })

  it('never throws and never waits a negative time', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (retryAfter, reset, date) => {
        expect(serverWaitMs(429, { 'retry-after': retryAfter, 'x-ratelimit-reset': reset, date }, now) ?? 0).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})

describe('readWindow', () => {
  const headers = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '8.5' }

  it('reads what is left of the window', () => {
    expect(readRateLimitWindow({ ...headers, 'x-ratelimit-policy': '10;w=10;comment="fixed window"' })).toEqual({
      limit: 10,
      remaining: 7,
      resetMs: 8500,
      windowMs: 10_000,
    })
  })

  it('readWindow needs all three figures', () => {
    for (const name of Object.keys(headers)) expect(readRateLimitWindow({ ...headers, [name]: undefined })).toBeUndefined()
    expect(readRateLimitWindow({ ...headers, 'x-ratelimit-limit': '0' })).toBeUndefined()
    expect(readRateLimitWindow(headers)?.windowMs).toBeUndefined()
  })
})
