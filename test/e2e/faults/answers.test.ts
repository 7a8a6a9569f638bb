// What becomes of one request when its answer is lost, broken, late, refused or strange: whole runs of the action, in this process.
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Effect, FaultHeaders } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { ids, serviceOf } from '../../support/emulator.ts'
import {
  type Failure,
  type FailureRunOptions,
  type GoodAnswer,
  type ReplaceAnswer,
  runWithFailure,
  type TestAction,
  type TestApi,
  toHttp,
} from '../../support/faults.ts'
import { startRawServer } from '../../support/raw-server.ts'

/** What is done, what goes wrong, what comes of it (see `essence`), and a part of the reason or of the log. */
type Row = readonly [
  TestAction,
  name: string,
  failure: Failure | undefined,
  expected: string | RegExp,
  says?: RegExp | undefined,
  options?: FailureRunOptions,
]

/** Such as `4 may-exist: POST GET, 1 more`: the exit code, the status or the kind of the error, the requests, and new objects. */
const essence = ({ exitCode, conclusion, methods, added, problems }: Awaited<ReturnType<typeof runWithFailure>>['outcome']): string =>
  [`${exitCode} ${conclusion}: ${methods}`, ...(added === 0 ? [] : [`${added} more`]), ...problems].join(', ')

/** Runs each row on its own, several at once. Resolves to the rows that end otherwise; none when all is well. */
async function wrongRows(rows: readonly Row[], options: FailureRunOptions = {}): Promise<readonly string[]> {
  const wrong: string[] = []
  await forEachEntry<[string, Row]>(
    rows.map((row): [string, Row] => [`${row[0]}, ${row[1]}`, row]),
    async (title, [action, , failure, expected, says = /^/, more]) => {
      const { outcome, ran, activeMs } = await runWithFailure(action, failure, { ...options, ...more })
      const said = ran.outputs.get('failure-reason') || ran.stdout
      const isWrong =
        !(typeof expected === 'string' ? essence(outcome) === expected : expected.test(essence(outcome))) ||
        !says.test(said) ||
        activeMs > 20_000
      if (isWrong) wrong.push(`${title}: ${essence(outcome)} after ${Math.round(activeMs)} ms: ${said}`)
    },
    { atOnce: 6 },
  )
  return wrong
}

const status = (code: number, more: object = {}): Failure => ({ effect: { kind: 'status', status: code, ...more } as Effect })
const limited = (headers: FaultHeaders, body?: string): Failure => ({
  effect: { kind: 'rate-limited', headers, ...(body !== undefined && { body }) },
})
const bodyOf = (given: string | Uint8Array, headers?: FaultHeaders): Failure => ({
  effect: { kind: 'body', ...(typeof given === 'string' ? { text: given } : { bytes: given }), ...(headers && { headers }) },
})
const html: Failure = { effect: { kind: 'html' } }
const reset: Failure = { effect: { kind: 'reset' } }
const cut: Failure = { effect: { kind: 'truncate' } }

const half = ({ body }: GoodAnswer): string => body.slice(0, Math.floor(body.length / 2))
const chunked = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n'
const inChunks = (body: string): string => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`

/** Sends that, and ends the connection. */
const sayAndEnd = (text: string | ((answer: GoodAnswer) => string)): { readonly replaceAnswer: ReplaceAnswer } => ({
  replaceAnswer: async (wire, answer) => {
    await wire.write(typeof text === 'string' ? text : text(answer))
    wire.end()
  },
})

const breaks: Readonly<Record<string, Failure>> = {
  'a reset before any byte': reset,
  'an end before any byte': { replaceAnswer: (wire) => wire.end() },
  'half a status line': sayAndEnd('HTTP/1.1 20'),
  'the greeting of something else': sayAndEnd('SSH-2.0-OpenSSH_9.9\r\n'),
  'a status of four digits': sayAndEnd('HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\n[]'),
  'a header with a null byte': sayAndEnd('HTTP/1.1 200 OK\r\nx-a: \0\r\ncontent-length: 2\r\n\r\n[]'),
  'two lengths that differ': sayAndEnd('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n[]'),
  'headers of 100 kB': sayAndEnd(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}\r\n\r\n`),
  'an upgrade that was not requested': sayAndEnd('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  'a reset in the headers': { effect: { kind: 'reset-in-headers' } },
  'a reset in the body': { effect: { kind: 'reset-in-body' } },
  'a body shorter than its length': { effect: { kind: 'short-length' } },
  'chunks without the last one': sayAndEnd(({ body }) => `${chunked}\r\n${inChunks(body)}`),
  'a chunk that is cut': sayAndEnd((answer) => `${chunked}\r\nffff\r\n${half(answer)}`),
}

/** How the answer to a read broke off, as the error names it. */
const named: Readonly<Record<string, RegExp>> = {
  'a reset before any byte': /^No answer: the connection was closed before an answer \(ECONNRESET\)\n/,
  'chunks without the last one': /^No answer: the connection was closed after \d+ bytes of the answer \(UND_ERR_SOCKET\)\n/,
  'the greeting of something else': /^No answer: Response does not match the HTTP\/1\.1 protocol/,
  'headers of 100 kB': /^No answer: Headers Overflow Error \(UND_ERR_HEADERS_OVERFLOW\)\n/,
}

const after = { act: 'after' } as const
const always = { times: 9 } as const
const twice = { times: 2, inputs: { 'max-attempts': '2' } } as const
const mayBe = /The server may still have applied it/

describe.concurrent('W1, W10, R1: a request whose answer breaks off is repeated only if nothing can be done twice', () => {
  it('repeats a read, and names in the error how the answer broke off', async () =>
    expect(
      await wrongRows([
        ...Object.entries(breaks).map(([name, failure]): Row => ['read', name, failure, '0 pass: GET GET']),
        ...Object.entries(named).map(([name, words]): Row => ['read', name, breaks[name], '1 network: GET GET', words, twice]),
      ]),
    ).toEqual([]))

  // Whether the server acted or not, the client sees the same and must do the same.
  it('sends no create again, whether the server carried it out or not', async () =>
    expect(
      await wrongRows(
        Object.entries(breaks).map(([name, failure], i): Row => {
          const reason = /The server may still have created the alert[\s\S]*Currently, /
          return i % 2 === 0
            ? ['create', name, failure, '4 may-exist: POST GET', new RegExp(`${reason.source}no alert matches it\\.`)]
            : [
                'create',
                name,
                failure,
                '4 may-exist: POST GET, 1 more',
                new RegExp(`${reason.source}these alerts match it: [0-9a-f]{24}\\.`),
                after,
              ]
        }),
      ),
    ).toEqual([]))

  it('looks up an update, and repeats a delete', async () =>
    expect(
      await wrongRows([
        ['create a dashboard', 'a reset in the body', breaks['a reset in the body'], '4 may-exist: POST, 1 more', undefined, after],
        ['update', 'a reset', reset, '0 pass: GET PUT GET', undefined, after],
        ['update a dashboard', 'a reset in the body', breaks['a reset in the body'], '0 warn: GET GET PUT GET, -3 more', undefined, after],
        ['delete', 'a reset', reset, '0 pass: GET DELETE DELETE, -1 more', undefined, after],
        ['update', 'two resets', reset, '4 network: GET PUT GET PUT GET', mayBe, twice],
        ['delete', 'two resets', reset, '4 network: GET DELETE DELETE, -1 more', mayBe, { ...twice, ...after }],
      ]),
    ).toEqual([]))

  it('does not use half an answer that looks whole', async () =>
    expect(
      await wrongRows(
        [
          ['read', 'half', cut, '1 bad-answer: GET GET', /^The API answered 200, but the answer is not JSON: /],
          // Once with the days before the period, and once without them.
          ['read a cost', 'half', cut, '1 bad-answer: GET GET GET GET', /^The API answered 200, but the answer is not JSON: /],
          ['create', 'half', cut, '4 may-exist: POST GET, 1 more', /^The API answered 200, but the answer is not JSON: /],
          ['update', 'half', cut, '0 pass: GET PUT GET'],
        ],
        { ...always, ...after },
      ),
    ).toEqual([]))
})

describe.concurrent('W1: a write that the server carries out after an error leaves one object, as wanted', () => {
  const late = (ms: number): readonly [Failure, string, undefined, FailureRunOptions] => [
    { effect: { kind: 'late-commit', ms } },
    '4 may-exist: POST GET, 1 more',
    undefined,
    { settleMs: ms + 500 },
  ]

  it('leaves one object when the server carries out a create after a 504', async () =>
    expect(
      await wrongRows([
        ['create', 'at once', ...late(0)],
        ['create', 'after a second', ...late(1000)],
      ]),
    ).toEqual([]))

  it('leaves the wanted object when the server carries out an update twice', async () => {
    const { outcome, testApi } = await runWithFailure('update', { effect: { kind: 'late-commit', ms: 300 } }, { settleMs: 500 })
    expect(essence(outcome)).toBe('0 pass: GET PUT GET PUT')
    expect(serviceOf(testApi.emulator).alerts.filter(({ threshold }) => threshold === 4711)).toHaveLength(1)
  })
})

describe.concurrent('R2: a rate limit is waited for as long as the server asks, and otherwise for a short time', () => {
  it('waits for every spelling of Retry-After, and then sends the request again', async () =>
    expect(
      await wrongRows([
        [
          'read',
          'seconds',
          limited({ 'retry-after': '1' }),
          '0 pass: GET GET',
          /Trying again in 1\.0 s \(attempt 1\): GET \S+: status 429/,
        ],
        [
          'read',
          'a date',
          limited({ 'retry-after': new Date(Date.now() + 5000).toUTCString() }),
          '0 pass: GET GET',
          /again in [0-5]\.\d s/,
        ],
        ['create', 'parts of a second', limited({ 'x-ratelimit-reset': '0.4' }), '0 pass: POST POST, 1 more', /Trying again in 1\.4 s/],
        ['create', 'nothing', limited({}), '0 pass: POST POST, 1 more', /Trying again in 0\.0 s/],
        ['update', 'a negative number', limited({ 'retry-after': '-1' }), '0 pass: GET PUT PUT', /Trying again in 0\.0 s/],
        ['delete', 'words', limited({ 'retry-after': 'soon' }), '0 pass: GET DELETE DELETE, -1 more', /Trying again in 0\.0 s/],
        ['create a dashboard', 'two', limited({ 'retry-after': ['1', '90'] }), '0 pass: POST POST, 1 more', /Trying again in 0\.0 s/],
      ]),
    ).toEqual([]))
})

describe.concurrent('R2: a rate limit that does not end fails the run within its time limit', () => {
  it('does not wait longer than the time that is left', async () =>
    expect(
      await wrongRows(
        (['read', 'create'] as const).map(
          (action): Row => [
            action,
            'years',
            limited({ 'retry-after': '1000000000' }),
            `1 rate-limited: ${action === 'read' ? 'GET' : 'POST'}`,
            /belongs to the key.*Try again after \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC \(in 1000000000 s\)/,
            { times: 99, inputs: { 'timeout-seconds': '5' } },
          ],
        ),
      ),
    ).toEqual([]))

  it('waits for a rate limit that does not end until no time is left, and no longer', async () => {
    const page = limited({}, '<html><body>Slow down</body></html>')
    const { outcome, activeMs } = await runWithFailure('create', page, { times: 99, inputs: { 'timeout-seconds': '3' } })
    expect(essence(outcome)).toMatch(/^1 [a-z-]+: POST( POST)+$/)
    expect(activeMs).toBeLessThan(9000)
  })
})

describe.concurrent('R1: server errors are retried where nothing can be done twice', () => {
  it('waits for a 503 that says how long, and sends no create again', async () =>
    expect(
      await wrongRows([
        [
          'read',
          '503',
          status(503, { headers: { 'retry-after': '1' } }),
          '0 pass: GET GET',
          /in 1\.0 s \(attempt 1 of 5\): GET \S+: status 503/,
        ],
        ['update', '503', status(503), '0 pass: GET PUT GET PUT', /Trying again in 0\.0 s \(attempt 1 of 5\): PUT \S+: status 503/],
        ['create', '503', status(503), '4 may-exist: POST GET', /^The API answered 503/],
      ]),
    ).toEqual([]))
})

describe.concurrent('a request that the API refuses', () => {
  const notServed = status(404, { body: '<html><body>Cannot GET /x</body></html>', contentType: 'text/html' })

  it('is not sent again, and the error names the reason', async () =>
    expect(
      await wrongRows([
        ['read', '401', status(401), '1 authentication: GET', /The API rejects the key demo…0001/],
        ['read a cost', '403', status(403), '1 permission: GET', /lacks a permission \(needed: reading billing\)/],
        ['update', '403', status(403), '1 permission: GET PUT', /lacks a permission \(needed: managing alerts and dashboards\)/],
        ['read a backup', '404', status(404), '1 not-found: GET', /The service does not exist/],
        ['update', '404', status(404), '1 not-found: GET PUT', new RegExp(`/alerts/${ids.alert} `)],
        ['read', '404 of a page', notServed, '1 not-served: GET', /does not serve the API\. Check api-url and observability-path/],
        ['create', '409', status(409), '1 conflict: POST', /The API answered 409/],
        ['update', '422', status(422), '1 refused: GET PUT', /The API answered 422/],
        ['delete', '501', status(501), '1 server: GET DELETE', /The API answered 501/],
        ['delete', '404, as it is gone', status(404), '0 pass: GET DELETE'],
      ]),
    ).toEqual([]))
})

describe.concurrent('S4: a redirect is not followed, and the error names its origin', () => {
  it('sends nothing to the target, whatever was sent and whatever the status', () =>
    forEachEntry<[TestAction, number, string]>(
      [
        ['read', 302, '1 redirect: GET'],
        ['create', 307, '4 may-exist: POST GET'],
        ['update', 308, '4 redirect: GET PUT'],
      ],
      async (action, code, expected) => {
        const target = await startRawServer((wire) => wire.end())
        const origin = `http://127.0.0.1:${target.port}`
        const { outcome, ran } = await runWithFailure(action, status(code, { headers: { location: `${origin}/v1/x?a=b` } }))
        await target.close()
        expect(essence(outcome)).toBe(expected)
        expect(target.received).toEqual([])
        expect(ran.outputs.get('failure-reason')).toContain(`The API answered ${code}: a redirect to ${origin}\n`)
      },
    ))
})

describe.concurrent('W10, R4: an answer that takes too long or never ends is abandoned at a limit', () => {
  /** Sends the same bytes again and again, for as long as somebody listens. */
  const forEver = (head: string, piece: string): Failure => ({
    replaceAnswer: async (wire) => {
      await wire.write(head)
      while (wire.isOpen()) {
        await wire.write(piece)
        await wire.sleep(20)
      }
    },
  })
  const hang: Failure = { effect: { kind: 'hang' } }
  const halfHeaders: Failure = { replaceAnswer: (wire) => wire.write('HTTP/1.1 200 OK\r\ncontent-type: appl') }
  const headers = forEver('HTTP/1.1 200 OK\r\n', 'x: y\r\n')
  const chunks = forEver('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\n \r\n')
  const none = /^No answer within [\d.]+ s \(REQUEST_TIMEOUT\)\n/
  const few = /^Only \d+ bytes of the answer within [\d.]+ s \(REQUEST_TIMEOUT\)\n/
  const mayExist = /The server may still have created the/

  it('names the limit, and sends a write once', async () =>
    expect(
      await wrongRows(
        [
          ['read', 'nothing at all', hang, '1 deadline: GET', none],
          ['read', 'half of the headers', halfHeaders, '1 deadline: GET', none],
          ['read', 'headers without an end', headers, '1 deadline: GET', /^No answer/],
          ['read', 'signs of life', forEver('', 'HTTP/1.1 102 Processing\r\n\r\n'), '1 deadline: GET', none],
          ['read', 'a byte now and then', { effect: { kind: 'drip', everyMs: 40 } }, '1 deadline: GET', few],
          ['read', 'chunks without an end', chunks, '1 deadline: GET', few],
          // What is left of the second may be enough for one more request.
          ['create', 'nothing at all', hang, /^4 may-exist: POST( GET)?, 1 more$/, mayExist],
          ['create a dashboard', 'half of the headers', halfHeaders, /^4 may-exist: POST( GET)?, 1 more$/, mayExist],
          ['delete', 'headers without an end', headers, /^4 deadline: GET DELETE( DELETE)?, -1 more$/, mayBe],
        ],
        { times: 99, act: 'after', inputs: { 'timeout-seconds': '1' } },
      ),
    ).toEqual([]))

  it('waits for an answer that is only slow', async () =>
    expect(await wrongRows([['create', 'slow', { effect: { kind: 'delay', ms: 1200 } }, '0 pass: POST, 1 more']])).toEqual([]))
})

describe.concurrent('R5: answers that are too large are rejected', () => {
  const nested = (times: number): Uint8Array => (times === 0 ? Buffer.from('[]') : gzipSync(nested(times - 1)))
  const bomb: Failure = { effect: { kind: 'gzip-bomb', mebibytes: 100 } }

  it('rejects what is larger than 16 MiB, and every encoding but one gzip', async () =>
    expect(
      await wrongRows(
        [
          ['create', 'a gzip bomb', bomb, '4 may-exist: POST GET', /larger than the limit of 16 MiB/],
          [
            'read',
            'gzip thrice',
            bodyOf(nested(3), { 'content-encoding': 'gzip, gzip, gzip' }),
            '1 bad-answer: GET GET',
            /"gzip, gzip, gzip"/,
          ],
          ['read', 'brotli', bodyOf(brotliCompressSync('[]'), { 'content-encoding': 'br' }), '1 bad-answer: GET GET', /encoding "br"/],
          ['read', 'no gzip', bodyOf('[]', { 'content-encoding': 'gzip' }), '1 bad-answer: GET GET', /gzip is broken/],
        ],
        { ...always, inputs: { 'max-attempts': '2' } },
      ),
    ).toEqual([]))
})

describe.concurrent('an answer that is not what was asked for', () => {
  const cost = (more: string): Failure => bodyOf(`{"result":{${more}}}`)
  const ignore = { ...always, inputs: { 'on-missing': 'ignore' } }

  it('is an error that quotes it and names the place', async () =>
    expect(
      await wrongRows(
        [
          [
            'read',
            'a portal',
            html,
            '1 bad-answer: GET GET',
            /not JSON: an HTML page, Welcome to the guest network Please sign in[\s\S]*Check whether a proxy or a login page answers/,
          ],
          [
            'read',
            'invalid UTF-8',
            bodyOf(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d])),
            '1 bad-answer: GET GET',
            /the answer is not UTF-8/,
          ],
          ['read', 'a null byte', bodyOf('[\0]'), '1 bad-answer: GET GET', /the answer is not JSON: /],
          ['read', 'no id', bodyOf('{"result":[{"id":"a1"},{"name":"b"}]}'), '1 bad-answer: GET', /result\[1\]\.id is missing/],
          ['read', 'no list', bodyOf('{"result":{}}'), '1 bad-answer: GET', /result is not of type array/],
          ['read', 'nothing', bodyOf(''), '1 bad-answer: GET GET', /the answer is empty/],
          [
            'read a backup',
            'an error',
            bodyOf('{"status":200,"error":"INTERNAL: oops"}'),
            '1 bad-answer: GET',
            /message of the API: INTERNAL: oops/,
          ],
          [
            'read a cost',
            '1e400',
            cost('"grandTotalCredits":1e400,"costs":[]'),
            '1 bad-answer: GET GET',
            /grandTotalCredits is not a finite number/,
            ignore,
          ],
          [
            'read a cost',
            '100,000 levels',
            bodyOf(`${'['.repeat(100_000)}${']'.repeat(100_000)}`),
            '1 bad-answer: GET GET GET GET',
            /nested deeper than 100 levels/,
            ignore,
          ],
          ['update', 'a number as id', bodyOf('{"id":7}'), '4 bad-answer: GET PUT GET', /the answer\.id is not of type string/],
        ],
        always,
      ),
    ).toEqual([]))

  it('leaves the outcome of a create unknown, and a deletion done', async () =>
    expect(
      await wrongRows(
        [
          ['create a dashboard', 'a portal', html, '4 may-exist: POST, 1 more'],
          ...['', 'null', '[]', '{"id":""}'].map((text): Row => ['create', text, bodyOf(text), '4 may-exist: POST GET, 1 more']),
          ...['', 'null', '[]'].map((text): Row => ['delete', text, bodyOf(text), '0 pass: GET DELETE, -1 more']),
          ['delete', '204', status(204), '0 pass: GET DELETE, -1 more'],
        ],
        after,
      ),
    ).toEqual([]))

  it('is read where it is only unusual', async () => {
    const sources = async (text: string, headers?: FaultHeaders) => (await runWithFailure('read', bodyOf(text, headers))).ran.result?.items
    expect(await sources('\ufeff[{"id":"a1","name":"first","name":"last"}]', { 'content-type': '' })).toMatchObject([{ name: 'last' }])
    const [strange] = (await sources('[{"id":"a1","novelty":{"deep":[1.10]},"__proto__":{"kind":"log"}}]')) as readonly { kind?: string }[]
    expect(strange).toMatchObject({ id: 'a1', novelty: { deep: [1.1] } })
    expect(strange?.kind).toBeUndefined()
    const digits = '1234567890.123456789012345678901234567891'
    const { ran } = await runWithFailure('read a cost', cost(`"grandTotalCredits":${digits},"costs":[]`), {
      times: 2,
      inputs: { 'on-missing': 'ignore', budget: '1234567890.123456789012345678901234567890' },
    })
    expect([ran.outputs.get('grand-total-credits'), ran.outputs.get('status')]).toEqual([digits, 'fail'])
  })

  it('is accepted as HTTP where it is valid', async () =>
    expect(
      await wrongRows(
        [
          [
            'create',
            'early hints',
            { replaceAnswer: (wire, good) => wire.write(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${toHttp(good)}`) },
            '0 pass: POST, 1 more',
          ],
          [
            'read',
            'signs of life',
            { replaceAnswer: (wire, good) => wire.write(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)}${toHttp(good)}`) },
            '0 pass: GET',
          ],
          [
            'read a backup',
            'trailers',
            { replaceAnswer: (wire, { body }) => wire.write(`${chunked}trailer: x-sum\r\n\r\n${inChunks(body)}0\r\nx-sum: 1\r\n\r\n`) },
            '0 pass: GET',
          ],
          ['update', 'a connection that ends', sayAndEnd((good) => toHttp(good, ['connection: close'])), '0 pass: GET PUT'],
          [
            'read a cost',
            'HTTP/1.0',
            sayAndEnd(({ body }) => `HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${body}`),
            '0 pass: GET',
          ],
          [
            'create',
            'more bytes than its length',
            sayAndEnd((good) => `${toHttp(good)}HTTP/1.1 500 Injected\r\ncontent-length: 0\r\n\r\n`),
            '0 pass: POST, 1 more',
          ],
        ],
        { ...always, ...after },
      ),
    ).toEqual([]))
})

describe.concurrent('a list that may be incomplete', () => {
  const aThousand = ({ emulator }: TestApi): void => {
    const service = serviceOf(emulator)
    const [alert] = service.alerts
    if (alert === undefined) throw new Error('the shop has changed')
    service.alerts = Array.from({ length: 1001 }, (_, i) => ({ ...alert, id: i.toString(16).padStart(24, '0'), name: `Alert ${i}` }))
  }

  it('is a warning where it is shown, and prevents a create that depends on it', async () =>
    expect(
      await wrongRows([
        ['read', 'a page', undefined, '0 warn: GET GET', /1000/, { prepare: aThousand, inputs: { operation: 'list-alerts' } }],
        [
          'create',
          'a page',
          undefined,
          '1 conflict: GET',
          /The list of alerts may be incomplete/,
          { prepare: aThousand, inputs: { 'if-exists': 'skip' } },
        ],
      ]),
    ).toEqual([]))
})
