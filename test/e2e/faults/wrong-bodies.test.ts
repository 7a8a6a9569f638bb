// Rows 15 to 20 of the fault matrix: status 200, and a body that is not what was asked for.
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { FaultHeaders } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { type Doing, meet, type Trouble } from '../../support/faults.ts'

const body = (given: string | Uint8Array, headers?: FaultHeaders): Trouble => ({
  effect: { kind: 'body', ...(typeof given === 'string' ? { text: given } : { bytes: given }), ...(headers && { headers }) },
})

const two = { inputs: { 'max-attempts': '2' }, times: 9 } as const

describe.concurrent('row 15: something else answers', () => {
  it('the page of a captive portal is not a list, and its words are quoted', async () => {
    const { met, ran } = await meet('read', { effect: { kind: 'html' } }, { times: 9 })
    expect(met).toEqual({ exitCode: 1, said: 'bad-answer', methods: 'GET GET', more: 0, complaints: [] })
    expect(ran.outputs.get('failure-reason')).toMatch(
      /The API answered 200, but the answer is not JSON at character 0: an HTML page, Welcome to the guest network Please sign in/,
    )
    expect(ran.outputs.get('failure-reason')).toContain('Is a proxy or a login page answering instead of the API?')
  })

  it.each<Doing>(['create', 'create a dashboard'])('to %s, the portal may have let it through', async (doing) => {
    const { met } = await meet(doing, { effect: { kind: 'html' } }, { act: 'after' })
    expect(met).toMatchObject({ exitCode: 1, said: 'may-exist', more: 1, complaints: [] })
    expect(met.methods.match(/POST/g)).toHaveLength(1)
  })

  it.each<[string, FaultHeaders]>([
    ['as text', { 'content-type': 'text/plain' }],
    ['as HTML', { 'content-type': 'text/html' }],
    ['of no type at all', { 'content-type': '' }],
  ])('JSON is JSON, also when it comes %s', async (_, headers) => {
    const { met, ran } = await meet('read', body('[{"id":"a1","name":"Logs","kind":"log"}]', headers))
    expect(met).toEqual({ exitCode: 0, said: 'pass', methods: 'GET', more: 0, complaints: [] })
    expect(ran.outputs.get('ids')).toBe('["a1"]')
  })
})

describe.concurrent('row 16: bytes that are no text', () => {
  it.each<[string, Uint8Array, RegExp]>([
    ['invalid UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), /the answer is not UTF-8 at byte 2/],
    ['UTF-16', Buffer.from('\ufeff[]', 'utf16le'), /the answer is not UTF-8 at byte 0/],
    ['a null byte', Buffer.from('[\0]'), /the answer is not JSON at character 1/],
  ])('%s is refused, with the place', async (_, bytes, words) => {
    const { met, ran } = await meet('read', body(bytes), two)
    expect(met).toEqual({ exitCode: 1, said: 'bad-answer', methods: 'GET GET', more: 0, complaints: [] })
    expect(ran.outputs.get('failure-reason')).toMatch(words)
  })

  it('a byte order mark is not part of the text', async () => {
    const { met } = await meet('read', body('\ufeff[]'))
    expect(met).toMatchObject({ exitCode: 0, said: 'pass', methods: 'GET' })
  })
})

describe.concurrent('row 17: JSON that is made to mislead', () => {
  const cost = (more: string): Trouble => body(`{"result":{${more}}}`)

  it('of two equal keys the last one counts, as for every reader of JSON', async () => {
    const { ran } = await meet('read', body('[{"id":"a1","name":"first","name":"last"}]'))
    expect(ran.result).toMatchObject({ sources: [{ name: 'last' }] })
  })

  it('__proto__ is a field like any other', async () => {
    const { met, ran } = await meet('read', body('[{"id":"a1","__proto__":{"kind":"log"},"constructor":{"prototype":1}}]'))
    expect(met).toMatchObject({ exitCode: 0, complaints: [] })
    expect(ran.summary).not.toContain('log')
  })

  it.each<[string, Trouble, RegExp]>([
    ['1e400', cost('"grandTotalCredits":1e400,"costs":[]'), /result\.grandTotalCredits is not a finite number/],
    ['1e999999', cost('"grandTotalCredits":1e999999,"costs":[]'), /result\.grandTotalCredits is not a finite number/],
    ['100,000 levels', body('['.repeat(100_000)), /the answer is nested deeper than 100 levels/],
  ])('%s is refused where it would be used', async (_, trouble, words) => {
    const { met, ran } = await meet('read a cost', trouble, { times: 9, inputs: { 'on-missing': 'ignore' } })
    expect(met).toMatchObject({ exitCode: 1, said: 'bad-answer', complaints: [] })
    expect(ran.outputs.get('failure-reason')).toMatch(words)
  })

  it('forty digits are forty digits', async () => {
    const digits = '1234567890.123456789012345678901234567891'
    const { ran } = await meet('read a cost', cost(`"grandTotalCredits":${digits},"costs":[]`), {
      inputs: { 'on-missing': 'ignore', budget: '1234567890.123456789012345678901234567890' },
    })
    expect(ran.outputs.get('grand-total-credits')).toBe(digits)
    expect(ran.outputs.get('status')).toBe('fail')
  })
})

describe.concurrent('rows 18 and 19: JSON of another shape', () => {
  it('names the place where an answer has the wrong shape', () =>
    forEachEntry<[Doing, string, RegExp]>(
      [
        ['read', '{"result":[{"id":"a1"},{"name":"b"}]}', /result\[1\]\.id is missing/],
        ['read', '{"result":{}}', /result is not of type array/],
        ['read', 'null', /the answer is not of type array/],
        ['read', '', /the answer is empty/],
        ['read a backup', '{"status":200,"error":"INTERNAL: oops"}', /the API said: INTERNAL: oops/],
        ['read a cost', '[]', /the answer is not of type object/],
        ['update', '{"id":7}', /the answer\.id is not of type string/],
      ],
      async (doing, text, words) => {
        const { met, ran } = await meet(doing, body(text), { times: 9 })
        expect(met).toMatchObject({ exitCode: 1, said: 'bad-answer', complaints: [] })
        expect(ran.outputs.get('failure-reason')).toMatch(words)
      },
      { atOnce: 4 },
    ))

  it('a create without a usable answer may exist', () =>
    forEachEntry(
      ['', 'null', '[]', '{}', '{"id":""}'],
      async (text) => {
        const { met } = await meet('create', body(text), { act: 'after' })
        expect(met).toEqual({ exitCode: 1, said: 'may-exist', methods: 'POST GET', more: 1, complaints: [] })
      },
      { atOnce: 4 },
    ))

  it('a deletion is successful whatever the body of the answer', () =>
    forEachEntry<[string, Trouble]>(
      [
        ['an empty body', body('')],
        ['null', body('null')],
        ['a list', body('[]')],
        ['204', { effect: { kind: 'status', status: 204 } }],
      ],
      async (_, trouble) => {
        const { met, ran } = await meet('delete', trouble, { act: 'after' })
        expect(met).toEqual({ exitCode: 0, said: 'pass', methods: 'DELETE', more: -1, complaints: [] })
        expect(ran.outputs.get('changed')).toBe('true')
      },
      { atOnce: 4 },
    ))

  it('unknown fields are kept', async () => {
    const { ran } = await meet('read', body('[{"id":"a1","novelty":{"deep":[1.10]}}]'))
    expect(ran.result).toMatchObject({ sources: [{ id: 'a1', novelty: { deep: [1.1] } }] })
  })
})

describe.concurrent('R5 (row 20): too much', () => {
  const nested = (times: number): Uint8Array => (times === 0 ? Buffer.from('[]') : gzipSync(nested(times - 1)))
  const endless: Trouble = { effect: { kind: 'endless' } }

  it('rejects answers that are too large or encoded, in little memory', () =>
    forEachEntry<[string, Doing, Trouble, RegExp]>(
      [
        ['more than 64 MiB', 'read', endless, /larger than the cap of 64 MiB/],
        ['a gzip bomb', 'read', { effect: { kind: 'gzip-bomb', mebibytes: 500 } }, /larger than the cap of 64 MiB/],
        ['a gzip bomb after a create', 'create', { effect: { kind: 'gzip-bomb', mebibytes: 500 } }, /larger than the cap of 64 MiB/],
        ['gzip in gzip in gzip', 'read', body(nested(3), { 'content-encoding': 'gzip, gzip, gzip' }), /encoding "gzip, gzip, gzip"/],
        ['an encoding that was not asked for', 'read', body(brotliCompressSync('[]'), { 'content-encoding': 'br' }), /encoding "br"/],
        ['gzip that is none', 'read', body('[]', { 'content-encoding': 'gzip' }), /gzip is broken/],
      ],
      async (_, doing, trouble, words) => {
        const { met, ran } = await meet(doing, trouble, two)
        expect(met).toMatchObject({ exitCode: 1, said: doing === 'create' ? 'may-exist' : 'bad-answer', complaints: [] })
        expect(met.methods.match(/POST/g) ?? []).toHaveLength(doing === 'create' ? 1 : 0)
        expect(ran.outputs.get('failure-reason')).toMatch(words)
        expect(ran.ending?.peakMegabytes).toBeLessThan(300)
      },
      { atOnce: 3 },
    ))
})
