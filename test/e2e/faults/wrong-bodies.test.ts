// Status 200, and a body that is not what was asked for.
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { FaultHeaders } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { type Failure, runWithFailure, type TestAction } from '../../support/faults.ts'

const body = (given: string | Uint8Array, headers?: FaultHeaders): Failure => ({
  effect: { kind: 'body', ...(typeof given === 'string' ? { text: given } : { bytes: given }), ...(headers && { headers }) },
})

const two = { inputs: { 'max-attempts': '2' }, times: 9 } as const

describe.concurrent('an answer that is not from the API is no result', () => {
  it('rejects the page of a captive portal, and quotes its words', async () => {
    const { outcome, ran } = await runWithFailure('read', { effect: { kind: 'html' } }, { times: 9 })
    expect(outcome).toEqual({ exitCode: 1, conclusion: 'bad-answer', methods: 'GET GET', added: 0, problems: [] })
    expect(ran.outputs.get('failure-reason')).toMatch(
      /The API answered 200, but the answer is not JSON: an HTML page, Welcome to the guest network Please sign in/,
    )
    expect(ran.outputs.get('failure-reason')).toContain('Check whether a proxy or a login page answers instead of the API.')
  })

  it.each<TestAction>(['create', 'create a dashboard'])(
    'reports that an object may exist when a portal answers a request to %s',
    async (action) => {
      const { outcome } = await runWithFailure(action, { effect: { kind: 'html' } }, { act: 'after' })
      expect(outcome).toMatchObject({ exitCode: 4, conclusion: 'may-exist', added: 1, problems: [] })
      expect(outcome.methods.match(/POST/g)).toHaveLength(1)
    },
  )

  it.each<[string, FaultHeaders]>([
    ['as text', { 'content-type': 'text/plain' }],
    ['as HTML', { 'content-type': 'text/html' }],
    ['of no type at all', { 'content-type': '' }],
  ])('JSON is JSON, also when it comes %s', async (_, headers) => {
    const { outcome, ran } = await runWithFailure('read', body('[{"id":"a1","name":"Logs","kind":"log"}]', headers))
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET', added: 0, problems: [] })
    expect(ran.outputs.get('ids')).toBe('["a1"]')
  })
})

describe.concurrent('an answer with bytes that are not text is rejected', () => {
  it('rejects bytes that are not text', () =>
    forEachEntry<[string, Uint8Array, RegExp]>(
      [
        ['invalid UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), /the answer is not UTF-8/],
        ['UTF-16', Buffer.from('\ufeff[]', 'utf16le'), /the answer is not UTF-8/],
        ['a null byte', Buffer.from('[\0]'), /the answer is not JSON: /],
      ],
      async (_, bytes, words) => {
        const { outcome, ran } = await runWithFailure('read', body(bytes), two)
        expect(outcome).toEqual({ exitCode: 1, conclusion: 'bad-answer', methods: 'GET GET', added: 0, problems: [] })
        expect(ran.outputs.get('failure-reason')).toMatch(words)
      },
      { atOnce: 3 },
    ))

  it('accepts a byte order mark before the text of an answer', async () => {
    const { outcome } = await runWithFailure('read', body('\ufeff[]'))
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', methods: 'GET' })
  })
})

describe.concurrent('misleading JSON is read like any reader of JSON reads it', () => {
  const cost = (more: string): Failure => body(`{"result":{${more}}}`)

  it('takes the last of two equal keys, as every reader of JSON does', async () => {
    const { ran } = await runWithFailure('read', body('[{"id":"a1","name":"first","name":"last"}]'))
    expect(ran.result).toMatchObject({ sources: [{ name: 'last' }] })
  })

  it('reads __proto__ as a field like any other', async () => {
    const { outcome, ran } = await runWithFailure('read', body('[{"id":"a1","__proto__":{"kind":"log"},"constructor":{"prototype":1}}]'))
    expect(outcome).toMatchObject({ exitCode: 0, problems: [] })
    expect(ran.summary).not.toContain('log')
  })

  it.each<[string, Failure, RegExp]>([
    ['1e400', cost('"grandTotalCredits":1e400,"costs":[]'), /result\.grandTotalCredits is not a finite number/],
    ['1e999999', cost('"grandTotalCredits":1e999999,"costs":[]'), /result\.grandTotalCredits is not a finite number/],
    ['100,000 levels', body(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), /the answer is nested deeper than 100 levels/],
  ])('rejects %s where it would be used', async (_, failure, words) => {
    const { outcome, ran } = await runWithFailure('read a cost', failure, { times: 9, inputs: { 'on-missing': 'ignore' } })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'bad-answer', problems: [] })
    expect(ran.outputs.get('failure-reason')).toMatch(words)
  })

  it('keeps forty digits of a number', async () => {
    const digits = '1234567890.123456789012345678901234567891'
    const { ran } = await runWithFailure('read a cost', cost(`"grandTotalCredits":${digits},"costs":[]`), {
      times: 2,
      inputs: { 'on-missing': 'ignore', budget: '1234567890.123456789012345678901234567890' },
    })
    expect(ran.outputs.get('grand-total-credits')).toBe(digits)
    expect(ran.outputs.get('status')).toBe('fail')
  })
})

describe.concurrent('JSON of another shape is rejected with its place, or kept where it does no harm', () => {
  it('names the place where an answer has the wrong shape', () =>
    forEachEntry<[TestAction, string, RegExp]>(
      [
        ['read', '{"result":[{"id":"a1"},{"name":"b"}]}', /result\[1\]\.id is missing/],
        ['read', '{"result":{}}', /result is not of type array/],
        ['read', 'null', /the answer is not of type array/],
        ['read', '', /the answer is empty/],
        ['read a backup', '{"status":200,"error":"INTERNAL: oops"}', /message of the API: INTERNAL: oops/],
        ['read a cost', '[]', /the answer is not of type object/],
        ['update', '{"id":7}', /the answer\.id is not of type string/],
      ],
      async (action, text, words) => {
        const { outcome, ran } = await runWithFailure(action, body(text), { times: 9 })
        expect(outcome).toMatchObject({ exitCode: action === 'update' ? 4 : 1, conclusion: 'bad-answer', problems: [] })
        expect(ran.outputs.get('failure-reason')).toMatch(words)
      },
      { atOnce: 4 },
    ))

  it('reports that an object may exist after a create without a usable answer', () =>
    forEachEntry(
      ['', 'null', '[]', '{}', '{"id":""}'],
      async (text) => {
        const { outcome } = await runWithFailure('create', body(text), { act: 'after' })
        expect(outcome).toEqual({ exitCode: 4, conclusion: 'may-exist', methods: 'POST GET', added: 1, problems: [] })
      },
      { atOnce: 4 },
    ))

  it('accepts any body as the answer to a successful deletion', () =>
    forEachEntry<[string, Failure]>(
      [
        ['an empty body', body('')],
        ['null', body('null')],
        ['a list', body('[]')],
        ['204', { effect: { kind: 'status', status: 204 } }],
      ],
      async (_, failure) => {
        const { outcome, ran } = await runWithFailure('delete', failure, { act: 'after' })
        expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET DELETE', added: -1, problems: [] })
        expect(ran.outputs.get('changed')).toBe('true')
      },
      { atOnce: 4 },
    ))

  it('keeps unknown fields of an answer', async () => {
    const { ran } = await runWithFailure('read', body('[{"id":"a1","novelty":{"deep":[1.10]}}]'))
    expect(ran.result).toMatchObject({ sources: [{ id: 'a1', novelty: { deep: [1.1] } }] })
  })
})

describe.concurrent('R5: answers that are too large are rejected', () => {
  const nested = (times: number): Uint8Array => (times === 0 ? Buffer.from('[]') : gzipSync(nested(times - 1)))
  const endless: Failure = { effect: { kind: 'endless' } }

  it('rejects answers that are too large or encoded, in little memory', () =>
    forEachEntry<[string, TestAction, Failure, RegExp]>(
      [
        ['more than 16 MiB', 'read', endless, /larger than the limit of 16 MiB/],
        ['a gzip bomb', 'read', { effect: { kind: 'gzip-bomb', mebibytes: 500 } }, /larger than the limit of 16 MiB/],
        ['a gzip bomb after a create', 'create', { effect: { kind: 'gzip-bomb', mebibytes: 500 } }, /larger than the limit of 16 MiB/],
        ['gzip in gzip in gzip', 'read', body(nested(3), { 'content-encoding': 'gzip, gzip, gzip' }), /encoding "gzip, gzip, gzip"/],
        ['an encoding that was not asked for', 'read', body(brotliCompressSync('[]'), { 'content-encoding': 'br' }), /encoding "br"/],
        ['gzip that is none', 'read', body('[]', { 'content-encoding': 'gzip' }), /gzip is broken/],
      ],
      async (_, action, failure, words) => {
        const { outcome, ran } = await runWithFailure(action, failure, two)
        expect(outcome).toMatchObject(
          action === 'create'
            ? { exitCode: 4, conclusion: 'may-exist', problems: [] }
            : { exitCode: 1, conclusion: 'bad-answer', problems: [] },
        )
        expect(outcome.methods.match(/POST/g) ?? []).toHaveLength(action === 'create' ? 1 : 0)
        expect(ran.outputs.get('failure-reason')).toMatch(words)
        expect(ran.ending?.peakMegabytes).toBeLessThan(300)
      },
      { atOnce: 3 },
    ))
})
