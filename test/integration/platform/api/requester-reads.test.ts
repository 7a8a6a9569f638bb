import { describe, expect, it } from 'vitest'
import type { Effect, Fault } from '../../../../src/emulator/index.ts'
import { alertCollection } from '../../../../src/kinds/alert/alert.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { methodsOf, useEmulator } from '../../../support/emulator.ts'
import { apiErrorOf, service, type TestSession, withSession } from '../../../support/session.ts'

const emulator = useEmulator({ rateLimit: 'off' })

const list = ({ api }: TestSession) => alertCollection.list(api, service)

/** The request of `list`, as the log names it. */
const listRequest = `GET …/services/${service.serviceId.slice(0, 8)}…/clickstack/alerts`

/** An answer that says that the rate limit is used up for some time. */
const usedUp = (seconds: string): Fault => ({
  effect: { kind: 'body', text: '[]', headers: { 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': seconds } },
})

describe('a read', () => {
  it('R1: a read survives one failure of any kind', () =>
    forEachEntry<[string, Effect]>(
      [
        ['a reset before the answer', { kind: 'reset' }],
        ['a reset in the headers', { kind: 'reset-in-headers' }],
        ['a reset in the body', { kind: 'reset-in-body' }],
        ['an answer shorter than it said', { kind: 'short-length' }],
        ['half an answer', { kind: 'truncate' }],
        ['a captive portal', { kind: 'html' }],
        ['500', { kind: 'status', status: 500 }],
        ['502 with HTML', { kind: 'status', status: 502, body: '<html>bad</html>', contentType: 'text/html' }],
        ['503 with nothing', { kind: 'status', status: 503, body: '' }],
        ['504', { kind: 'status', status: 504 }],
        ['408', { kind: 'status', status: 408 }],
        ['429', { kind: 'rate-limited' }],
        ['429 without a word', { kind: 'rate-limited', headers: {}, body: '<html>slow down</html>' }],
        ['an empty answer', { kind: 'body', text: '' }],
        ['bytes that are no UTF-8', { kind: 'body', bytes: new Uint8Array([0x22, 0xff, 0x22]) }],
        ['broken gzip', { kind: 'body', text: 'nope', headers: { 'content-encoding': 'gzip' } }],
      ],
      async (_, effect) => {
        const { items } = await withSession(emulator(), list, { faults: [{ effect }] })
        expect(items).toHaveLength(6)
        expect(methodsOf(emulator())).toEqual(['GET', 'GET'])
      },
      { before: () => emulator().reset() },
    ))

  it('a list that ends before the number that the server counts is read twice, and then is an error', () =>
    withSession(emulator(), async (session) => {
      const { items } = await list(session)
      emulator().reset()
      const answer = (nth: number, page: readonly object[]): void =>
        emulator().addFault({ nth, effect: { kind: 'body', text: JSON.stringify({ data: page, meta: { total: items.length + 1 } }) } })
      for (const nth of [1, 3]) {
        answer(nth, items)
        answer(nth + 1, items.slice(-1))
      }
      await expect(list(session)).rejects.toThrow('The API counts 7 alerts and lists 6. Nothing is changed based on an incomplete list.')
      expect(methodsOf(emulator())).toHaveLength(4)
    }))

  it('R1: a read reports once for each retry why it waits and how long', async () => {
    await withSession(
      emulator(),
      async (session) => {
        await list(session)
        expect(session.notes).toEqual([
          `Trying again in 0.3 s (attempt 1 of 5): ${listRequest}: status 503, INJECTED_FAULT: status 503 on request`,
          `Trying again in 0.5 s (attempt 2 of 5): ${listRequest}: the connection was closed before an answer (ECONNRESET)`,
        ])
      },
      { faults: [{ effect: { kind: 'status', status: 503 } }, { nth: 2, effect: { kind: 'reset' } }] },
    )
  })

  it('reports once why parallel requests that failed together wait', async () => {
    await withSession(
      emulator(),
      async (session) => {
        await Promise.all(Array.from({ length: 5 }, () => list(session)))
        expect(methodsOf(emulator())).toHaveLength(10)
        // A fast retry can meet the last fault, which is another attempt.
        expect(session.notes.filter((note) => note.includes('attempt 1 '))).toEqual([
          `Trying again in 0.3 s (attempt 1 of 5): ${listRequest}: status 503, INJECTED_FAULT: status 503 on request`,
        ])
      },
      { faults: [{ times: 5, effect: { kind: 'status', status: 503 } }] },
    )
  })

  it('R2: fails at once when the wait for the rate limit leaves no time', async () => {
    const twice = withSession(emulator(), async (session) => [await list(session), await list(session)], {
      faults: [usedUp('59.95')],
      connection: { deadlineMs: 60_000 },
    })
    const message = expect.stringContaining('The rate limit requires a wait of 60.0 s.')
    await expect(twice).rejects.toMatchObject({ kind: 'deadline', message })
    expect(methodsOf(emulator())).toEqual(['GET'])
  })

  it('notes a wait for the rate limit once for all requests that wait for the same window, unless it is shorter than a second', async () => {
    await withSession(emulator(), async (session) => {
      for (const seconds of ['5', '0.9', '8']) {
        emulator().addFault(usedUp(seconds))
        await list(session)
        await Promise.all([list(session), list(session), list(session)])
      }
      expect(session.notes).toEqual([
        `Waiting 5.0 s for the rate limit before ${listRequest}`,
        `Waiting 8.1 s for the rate limit before ${listRequest}`,
      ])
    })
  })

  it('loses no attempt to the rate limit', async () => {
    await withSession(
      emulator(),
      async (session) => {
        await list(session)
        expect(methodsOf(emulator())).toHaveLength(8)
        expect(session.notes.filter((note) => !note.startsWith('Waiting'))).toEqual([
          ...[1, 2, 3, 4, 5, 6].map(
            (attempt) => `Trying again in 2.0 s (attempt ${attempt}): ${listRequest}: status 429, TOO_MANY_REQUESTS`,
          ),
          `Trying again in 0.3 s (attempt 1 of 2): ${listRequest}: status 503, INJECTED_FAULT: status 503 on request`,
        ])
      },
      {
        faults: [
          { times: 6, effect: { kind: 'rate-limited' } },
          { nth: 7, effect: { kind: 'status', status: 503 } },
        ],
        connection: { maxAttempts: 2 },
      },
    )
  })

  it("a read gives up after the last attempt, with the API's own words", async () => {
    const error = await apiErrorOf(withSession(emulator(), list, { faults: [{ times: 5, effect: { kind: 'status', status: 500 } }] }))
    expect(error).toMatchObject({ kind: 'server', status: 500, attempts: 5, outcomeUnknown: false })
    const [what, advice, where] = error.message.split('\n')
    expect(what).toBe('The API answered 500: INJECTED_FAULT: status 500 on request')
    expect(advice).toBe('The server failed. Run this again later. If it continues, contact support with the request id.')
    expect(where).toMatch(
      /^Request: GET \/v1\/organizations\/.*\/clickstack\/alerts at 127\.0\.0\.1:\d+ \(request id [\w-]+, 5 attempts\)$/,
    )
  })

  it('fails instead of returning a partial list', () =>
    forEachEntry<[string, Effect, RegExp]>(
      [
        ['a missing field', { kind: 'body', text: '[{"id":"a"},{"name":"b"}]' }, /the answer\[1\]\.id is missing/],
        ['a wrong type', { kind: 'body', text: '{"result":[{"id":7}]}' }, /result\[0\]\.id is not of type string/],
        ['an object instead of a list', { kind: 'body', text: '{"result":{}}' }, /result is not of type array/],
        ['null', { kind: 'body', text: 'null' }, /the answer is not of type array/],
        [
          'words of an error in a success',
          { kind: 'body', text: '{"status":500,"error":"INTERNAL: oops"}' },
          /message of the API: INTERNAL: oops/,
        ],
        ['too much nesting', { kind: 'body', text: `${'['.repeat(200)}${']'.repeat(200)}` }, /nested deeper than 100 levels/],
        ['half an answer, twice', { kind: 'body', text: '[{"id":' }, /not JSON: \[\{"id":/],
        ['a portal, twice', { kind: 'html' }, /an HTML page, Welcome to the guest network Please sign in/],
      ],
      async (_, effect, words) => {
        const error = await apiErrorOf(withSession(emulator(), list, { faults: [{ times: 2, effect }] }))
        expect(error.kind).toBe('bad-answer')
        expect(error.message).toMatch(words)
      },
      { before: () => emulator().reset() },
    ))

  it('accepts a byte order mark, an unusual type, and fields that it does not know', async () => {
    const effect: Effect = {
      kind: 'body',
      text: '\ufeff[{"id":"a","novelty":{"x":12345678901234567890}}]',
      headers: { 'content-type': 'text/plain' },
    }
    const { items } = await withSession(emulator(), list, { faults: [{ effect }] })
    expect(JSON.stringify(items[0])).toBe('{"id":"a","novelty":{"x":12345678901234567890}}')
  })
})
