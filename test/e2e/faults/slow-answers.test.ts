// The answer never comes, or never ends. A limit ends the wait, and nothing keeps the process alive.
import { describe, expect, it } from 'vitest'
import { type Failure, type ReplaceAnswer, runWithFailure, type TestAction } from '../../support/faults.ts'

/** Sends the same bytes again and again, for as long as somebody listens. */
const forEver =
  (head: string, piece: string, everyMs: number): ReplaceAnswer =>
  async (wire) => {
    await wire.write(head)
    while (wire.isOpen()) {
      await wire.write(piece)
      await wire.sleep(everyMs)
    }
  }

const slow = {
  'nothing at all': { effect: { kind: 'hang' } },
  'half of the headers': { replaceAnswer: (wire) => wire.write('HTTP/1.1 200 OK\r\ncontent-type: appl') },
  'headers without an end': { replaceAnswer: forEver('HTTP/1.1 200 OK\r\n', 'x: y\r\n', 20) },
  'signs of life without an end': { replaceAnswer: forEver('', 'HTTP/1.1 102 Processing\r\n\r\n', 20) },
  'a byte now and then': { effect: { kind: 'drip', everyMs: 40 } },
  'chunks without an end': { replaceAnswer: forEver('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\n \r\n', 20) },
} as const satisfies Readonly<Record<string, Failure>>

const limit = { inputs: { 'timeout-seconds': '1' } }

describe.concurrent('W10, R4: an answer that takes too long or never ends is abandoned at a limit', () => {
  it.each<[keyof typeof slow, RegExp]>([
    ['nothing at all', /^No answer within [\d.]+ s \(REQUEST_TIMEOUT\)\n/],
    ['half of the headers', /^No answer within [\d.]+ s \(REQUEST_TIMEOUT\)\n/],
    ['headers without an end', /^No answer/],
    ['signs of life without an end', /^No answer within [\d.]+ s \(REQUEST_TIMEOUT\)\n/],
    ['a byte now and then', /^Only \d+ bytes of the answer within [\d.]+ s \(REQUEST_TIMEOUT\)\n/],
    ['chunks without an end', /^Only \d+ bytes of the answer within [\d.]+ s \(REQUEST_TIMEOUT\)\n/],
  ])('abandons a read in time and names the limit, for an answer of: %s', async (name, words) => {
    const { outcome, ran } = await runWithFailure('read', slow[name], { times: 99, ...limit })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'deadline', added: 0, problems: [] })
    expect(ran.outputs.get('failure-reason')).toMatch(words)
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })

  it.each<[keyof typeof slow, TestAction, string]>([
    ['nothing at all', 'create', 'may-exist'],
    ['half of the headers', 'create a dashboard', 'may-exist'],
    ['chunks without an end', 'create', 'may-exist'],
    ['nothing at all', 'update', 'deadline'],
    ['headers without an end', 'delete', 'deadline'],
  ])('sends a write once and reports that it may be done, for an answer of: %s, to: %s', async (name, action, conclusion) => {
    const { outcome, ran } = await runWithFailure(action, slow[name], { act: 'after', times: 99, ...limit })
    expect(outcome).toMatchObject({ exitCode: 4, conclusion, problems: [] })
    expect(outcome.methods.match(/POST|PUT|DELETE/g)).toHaveLength(1)
    expect(ran.outputs.get('failure-reason')).toMatch(/The server may still have created the|The server may still have applied it/)
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })

  it('waits for an answer that is only slow', async () => {
    const { outcome } = await runWithFailure('create', { effect: { kind: 'delay', ms: 1500 } })
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'POST', added: 1, problems: [] })
  })
})
