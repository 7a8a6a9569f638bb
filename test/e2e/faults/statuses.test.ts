// A whole answer with an error status.
import { describe, expect, it } from 'vitest'
import type { Effect, FaultHeaders } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { runWithFailure, type TestAction } from '../../support/faults.ts'
import { startRawServer } from '../../support/raw-server.ts'

const limited = (headers: FaultHeaders, body?: string): { readonly effect: Effect } => ({
  effect: { kind: 'rate-limited', headers, ...(body !== undefined && { body }) },
})
const status = (code: number, more: object = {}): { readonly effect: Effect } => ({
  effect: { kind: 'status', status: code, ...more } as Effect,
})

describe.concurrent('R2: a rate limit is waited for as long as the server asks, and otherwise for a short time', () => {
  const inTwoSeconds = (): string => new Date(Date.now() + 2000).toUTCString()

  it('waits for every spelling of Retry-After, and then sends the request again', () =>
    forEachEntry<[string, TestAction, () => FaultHeaders, RegExp]>(
      [
        ['seconds', 'read', () => ({ 'retry-after': '1' }), /Trying again in 1\.0 s/],
        ['a date', 'read', () => ({ 'retry-after': inTwoSeconds() }), /Trying again in (?:[01]\.\d|2\.0) s/],
        ['parts of a second', 'create', () => ({ 'x-ratelimit-reset': '0.4' }), /Trying again in 1\.4 s/],
        ['nothing', 'create', () => ({}), /Trying again in 0\.0 s/],
        ['a negative number', 'update', () => ({ 'retry-after': '-1' }), /Trying again in 0\.0 s/],
        ['words', 'delete', () => ({ 'retry-after': 'soon' }), /Trying again in 0\.0 s/],
        ['two things at once', 'create a dashboard', () => ({ 'retry-after': ['1', '90'] }), /Trying again in 0\.0 s/],
      ],
      async (_, action, headers, note) => {
        const { outcome, ran } = await runWithFailure(action, limited(headers()))
        const methods = { read: 'GET GET', create: 'POST POST', update: 'GET PUT PUT', delete: 'GET DELETE DELETE' }
        expect(outcome).toMatchObject({
          exitCode: 0,
          conclusion: 'pass',
          methods: Object.entries(methods).find(([name]) => action.startsWith(name))?.[1],
          problems: [],
        })
        expect(ran.stdout).toMatch(note)
        expect(ran.stdout).toMatch(/\(attempt 1\): [A-Z]+ \S+: status 429/)
        if (action.startsWith('create')) expect(outcome.added).toBe(1)
      },
      { atOnce: 4 },
    ))
})

describe.concurrent('R2: a rate limit that does not end fails the run within its time limit', () => {
  it.each<[TestAction, string]>([
    ['read', 'GET'],
    ['create', 'POST'],
  ])('a rate limit of a request to %s is not waited for when the wait is longer than the time that is left', async (action, methods) => {
    const { outcome, ran } = await runWithFailure(action, limited({ 'retry-after': '1000000000' }), {
      times: 99,
      inputs: { 'timeout-seconds': '5' },
    })
    expect(outcome).toEqual({ exitCode: 1, conclusion: 'rate-limited', methods, added: 0, problems: [] })
    expect(ran.outputs.get('failure-reason')).toMatch(
      /belongs to the key.*Try again after \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC \(in 1000000000 s\)/,
    )
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })

  it('waits for a rate limit that does not end until no time is left, and no longer', async () => {
    const page = limited({}, '<html><body>Slow down</body></html>')
    const { outcome, ran } = await runWithFailure('create', page, { times: 99, inputs: { 'timeout-seconds': '3' } })
    expect(outcome).toMatchObject({ exitCode: 1, methods: expect.stringMatching(/^POST POST/), added: 0, problems: [] })
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })
})

describe.concurrent('R1: server errors are retried where nothing can be done twice', () => {
  it.each<[TestAction, string, string]>([
    ['read', 'pass', 'GET GET'],
    ['update', 'pass', 'GET PUT GET PUT'],
    ['create', 'may-exist', 'POST GET'],
  ])('a 503 that says how long is waited for, to %s, but no create is sent again', async (action, conclusion, methods) => {
    const { outcome, ran } = await runWithFailure(action, status(503, { headers: { 'retry-after': '1' } }))
    expect(outcome).toMatchObject({ conclusion, methods, added: 0, problems: [] })
    if (action !== 'create') expect(ran.stdout).toMatch(/Trying again in 1\.0 s \(attempt 1 of 5\): [A-Z]+ \S+: status 503/)
  })
})

describe.concurrent('a request that the API refuses is not sent again', () => {
  const notServed = { body: '<html><body>Cannot GET /x</body></html>', contentType: 'text/html' }

  it('names the reason of a refusal and sends nothing again, for every such status', () =>
    forEachEntry<[TestAction, number, object, string, RegExp]>(
      [
        ['read', 401, {}, 'authentication', /The API rejects the key demo…0001/],
        ['create', 401, {}, 'authentication', /The API rejects the key demo…0001/],
        ['read a cost', 403, {}, 'permission', /lacks a permission \(needed: reading billing\)/],
        ['update', 403, {}, 'permission', /lacks a permission \(needed: managing alerts and dashboards\)/],
        ['read a backup', 404, {}, 'not-found', /The service does not exist/],
        ['create', 404, {}, 'not-found', /The service does not exist/],
        ['read', 404, notServed, 'not-served', /does not serve the API\. Check api-url and observability-path/],
        ['delete', 404, notServed, 'not-served', /does not serve the API/],
        ['create', 409, {}, 'conflict', /The API answered 409/],
        ['create a dashboard', 413, {}, 'refused', /The API answered 413/],
        ['update', 422, {}, 'refused', /The API answered 422/],
        ['create', 424, {}, 'refused', /The API answered 424/],
        ['delete', 501, {}, 'server', /The API answered 501/],
      ],
      // biome-ignore lint/complexity/useMaxParams: one column of the table each
      async (action, code, more, conclusion, words) => {
        const { outcome, ran } = await runWithFailure(action, status(code, more))
        expect(outcome).toMatchObject({ exitCode: 1, conclusion, added: 0, problems: [] })
        expect(outcome.methods.replace(/^GET (?=PUT|DELETE)/, '')).not.toContain(' ')
        expect(ran.outputs.get('failure-reason')).toMatch(words)
      },
      { atOnce: 4 },
    ))

  it('reports an object as deleted that is already gone', async () => {
    const { outcome, ran } = await runWithFailure('delete', status(404))
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', methods: 'GET DELETE', problems: [] })
    expect(ran.outputs.get('changed')).toBe('false')
  })
})

describe.concurrent('S4: a redirect is not followed, and the error names its origin', () => {
  it.each<[TestAction, number, string]>([
    ['read', 302, 'redirect'],
    ['create', 307, 'may-exist'],
    ['update', 308, 'redirect'],
  ])('a redirect of a request to %s with status %i is refused, and its target receives nothing', async (action, code, conclusion) => {
    const target = await startRawServer((wire) => wire.end())
    const origin = `http://127.0.0.1:${target.port}`
    const { outcome, ran } = await runWithFailure(action, status(code, { headers: { location: `${origin}/v1/x?a=b` } }))
    await target.close()
    expect(outcome).toMatchObject({ exitCode: action === 'read' ? 1 : 4, conclusion, added: 0, problems: [] })
    expect(target.received).toEqual([])
    expect(ran.outputs.get('failure-reason')).toContain(`The API answered ${code}: a redirect to ${origin}\n`)
  })
})
