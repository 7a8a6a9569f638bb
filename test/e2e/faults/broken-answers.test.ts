// The request arrived, and the answer breaks off, is no HTTP, or is unusual and right.
import { describe, expect, it } from 'vitest'
import { forEachEntry } from '../../support/corpus.ts'
import { type Failure, type GoodAnswer, type ReplaceAnswer, runWithFailure, type TestAction, toHttp } from '../../support/faults.ts'

const half = ({ body }: GoodAnswer): string => body.slice(0, Math.floor(body.length / 2))

const chunked = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n'

const inChunks = (body: string): string => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`

/** Sends that, and ends the connection. */
const sayAndEnd =
  (text: string | ((answer: GoodAnswer) => string)): ReplaceAnswer =>
  async (wire, answer) => {
    await wire.write(typeof text === 'string' ? text : text(answer))
    wire.end()
  }

const breaks = {
  'a reset before any byte': { effect: { kind: 'reset' } },
  'an end before any byte': { replaceAnswer: (wire) => wire.end() },
  'half a status line': { replaceAnswer: sayAndEnd('HTTP/1.1 20') },
  'the greeting of something else': { replaceAnswer: sayAndEnd('SSH-2.0-OpenSSH_9.9\r\n') },
  'a status of four digits': { replaceAnswer: sayAndEnd('HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\n[]') },
  'a header with a null byte': { replaceAnswer: sayAndEnd('HTTP/1.1 200 OK\r\nx-a: \0\r\ncontent-length: 2\r\n\r\n[]') },
  'two lengths that differ': { replaceAnswer: sayAndEnd('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n[]') },
  'headers of 100 kB': { replaceAnswer: sayAndEnd(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}\r\n\r\n`) },
  'an upgrade that was not requested': {
    replaceAnswer: sayAndEnd('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  },
  'a reset in the headers': { effect: { kind: 'reset-in-headers' } },
  'a reset in the body': { effect: { kind: 'reset-in-body' } },
  'a body shorter than its length': { effect: { kind: 'short-length' } },
  'chunks without the last one': { replaceAnswer: sayAndEnd(({ body }) => `${chunked}\r\n${inChunks(body)}`) },
  'a chunk that is cut': { replaceAnswer: sayAndEnd((answer) => `${chunked}\r\nffff\r\n${half(answer)}`) },
} as const satisfies Readonly<Record<string, Failure>>

type Break = keyof typeof breaks

const names = Object.keys(breaks) as readonly Break[]

describe.concurrent('W1, W10, R1: a request whose answer breaks off is repeated only if nothing can be done twice', () => {
  it('repeats a read after every kind of broken answer', () =>
    forEachEntry(
      names,
      async (name) => {
        const { outcome } = await runWithFailure('read', breaks[name])
        expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET GET', added: 0, problems: [] })
      },
      { atOnce: 4 },
    ))

  // Whether the server acted or not, the client sees the same and must do the same.
  it('does not send a create again after a broken answer, whether the server carried it out or not', () =>
    forEachEntry<readonly [Break, 'before' | 'after']>(
      names.map((name, i) => [name, i % 2 === 0 ? 'before' : 'after'] as const),
      async (name, act) => {
        const { outcome, ran } = await runWithFailure('create', breaks[name], { act })
        expect(outcome).toEqual({ exitCode: 4, conclusion: 'may-exist', methods: 'POST GET', added: act === 'after' ? 1 : 0, problems: [] })
        const reason = ran.outputs.get('failure-reason')
        expect(reason).toContain('The server may still have created the alert')
        expect(reason).toMatch(act === 'after' ? /Currently, these alerts match it: [0-9a-f]{24}\./ : /Currently, no alert matches it\./)
      },
      { atOnce: 4 },
    ))

  it.each<[TestAction, Break, string]>([
    ['create a dashboard', 'a reset in the body', 'POST'],
    ['create a dashboard', 'an end before any byte', 'POST'],
  ])('a request to %s is not sent again after %s either', async (action, name, methods) => {
    const { outcome } = await runWithFailure(action, breaks[name], { act: 'after' })
    expect(outcome).toEqual({ exitCode: 4, conclusion: 'may-exist', methods, added: 1, problems: [] })
  })

  it.each<[TestAction, Break, string]>([
    ['update', 'a reset before any byte', 'GET PUT GET'],
    ['update', 'chunks without the last one', 'GET PUT GET'],
    ['update a dashboard', 'a reset in the body', 'GET GET PUT GET'],
    ['delete', 'a reset before any byte', 'GET DELETE DELETE'],
    ['delete', 'a reset in the headers', 'GET DELETE DELETE'],
  ])('a request to %s is looked up, or sent again, after %s', async (action, name, methods) => {
    const { outcome, testApi } = await runWithFailure(action, breaks[name], { act: 'after' })
    expect(outcome).toMatchObject({ exitCode: 0, methods, problems: [] })
    const [service] = testApi.emulator.store.organizations[0]?.services ?? []
    if (action === 'update') expect(service?.alerts.filter(({ threshold }) => threshold === 4711)).toHaveLength(1)
    if (action === 'delete') expect(outcome.added).toBe(-1)
  })

  it('names in the error how the answer to a read broke off', () =>
    forEachEntry<[string, Break, RegExp]>(
      [
        ['that there was no answer', 'a reset before any byte', /^No answer: the connection was closed before an answer \(ECONNRESET\)\n/],
        [
          'how much of it came',
          'chunks without the last one',
          /^No answer: the connection was closed after \d+ bytes of the answer \(UND_ERR_SOCKET\)\n/,
        ],
        ['that it was no HTTP', 'the greeting of something else', /^No answer: Response does not match the HTTP\/1\.1 protocol/],
        ['that the headers were too much', 'headers of 100 kB', /^No answer: Headers Overflow Error \(UND_ERR_HEADERS_OVERFLOW\)\n/],
      ],
      async (_, name, words) => {
        const { outcome, ran } = await runWithFailure('read', breaks[name], { times: 2, inputs: { 'max-attempts': '2' } })
        expect(outcome).toEqual({ exitCode: 1, conclusion: 'network', methods: 'GET GET', added: 0, problems: [] })
        expect(ran.outputs.get('failure-reason')).toMatch(words)
      },
      { atOnce: 4 },
    ))

  it.each<[TestAction, 'before' | 'after', string]>([
    ['update', 'before', 'GET PUT GET PUT GET'],
    ['delete', 'after', 'GET DELETE DELETE'],
  ])('a request to %s reports in the end that it may be done (%s it was)', async (action, act, methods) => {
    const { outcome, ran } = await runWithFailure(action, breaks['a reset before any byte'], {
      act,
      times: 2,
      inputs: { 'max-attempts': '2' },
    })
    expect(outcome).toMatchObject({ exitCode: 4, conclusion: 'network', methods, problems: [] })
    expect(ran.outputs.get('failure-reason')).toContain('The server may still have applied it')
  })
})

describe.concurrent('half an answer that looks whole is not used', () => {
  it.each<[TestAction, string, string]>([
    ['read', 'bad-answer', 'GET GET'],
    // Once with the days before the period, and once without them.
    ['read a cost', 'bad-answer', 'GET GET GET GET'],
    ['create', 'may-exist', 'POST GET'],
  ])('half an answer to %s is an error', async (action, conclusion, methods) => {
    const { outcome, ran } = await runWithFailure(action, { effect: { kind: 'truncate' } }, { times: 9, act: 'after' })
    expect(outcome).toEqual({
      exitCode: action === 'create' ? 4 : 1,
      conclusion,
      methods,
      added: action === 'create' ? 1 : 0,
      problems: [],
    })
    expect(ran.outputs.get('failure-reason')).toMatch(/^The API answered 200, but the answer is not JSON: /)
  })

  it('looks up an update whose answer is cut, and finds that it was done', async () => {
    const { outcome } = await runWithFailure('update', { effect: { kind: 'truncate' } }, { times: 9, act: 'after' })
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET PUT GET', added: 0, problems: [] })
  })
})

describe.concurrent('unusual answers that are valid HTTP are accepted', () => {
  const unusual: Readonly<Record<string, ReplaceAnswer>> = {
    'early hints before it': (wire, answer) => wire.write(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${toHttp(answer)}`),
    'a hundred signs of life before it': (wire, answer) => wire.write(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)}${toHttp(answer)}`),
    'chunks and trailers': (wire, { body }) => wire.write(`${chunked}trailer: x-sum\r\n\r\n${inChunks(body)}0\r\nx-sum: 1\r\n\r\n`),
    'a connection that ends each time': sayAndEnd((answer) => toHttp(answer, ['connection: close'])),
    'HTTP/1.0 without a length': sayAndEnd(({ body }) => `HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${body}`),
    'more bytes than its length': sayAndEnd((answer) => `${toHttp(answer)}HTTP/1.1 500 Injected\r\ncontent-length: 0\r\n\r\n`),
  }

  it('accepts unusual answers that are valid HTTP', () =>
    forEachEntry<[string, TestAction, string]>(
      [
        ['early hints before it', 'create', 'POST'],
        ['a hundred signs of life before it', 'read', 'GET'],
        ['chunks and trailers', 'read a backup', 'GET'],
        ['chunks and trailers', 'create a dashboard', 'POST'],
        ['a connection that ends each time', 'update', 'GET PUT'],
        ['HTTP/1.0 without a length', 'delete', 'GET DELETE'],
        ['HTTP/1.0 without a length', 'read a cost', 'GET'],
        ['more bytes than its length', 'create', 'POST'],
      ],
      async (name, action, methods) => {
        const replaceAnswer = unusual[name]
        if (replaceAnswer === undefined) throw new Error(`there is no ${name}`)
        const { outcome } = await runWithFailure(action, { replaceAnswer }, { times: 9, act: 'after' })
        expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', methods, problems: [] })
      },
      { atOnce: 4 },
    ))
})
