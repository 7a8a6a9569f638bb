// What an error of the API says: one line about what happened, one about what to do, and one about the request.
import { describe, expect, it } from 'vitest'
import { ApiError, explainFailure, type RequestFacts, readInHalves } from '../../../../src/platform/api/api-error.ts'
import type { AttemptFailure } from '../../../../src/platform/api/attempt.ts'
import { countDays, type Day } from '../../../../src/platform/core/dates.ts'

const cloud: RequestFacts = {
  method: 'GET',
  path: '/v1/alerts',
  origin: 'https://h',
  host: 'h',
  isSelfHosted: false,
  keyName: 'the key k',
  permission: undefined,
  noun: 'alert',
  isCreate: false,
  timeoutMs: 1000,
}
const selfHosted: RequestFacts = { ...cloud, path: '/api/v2/alerts', isSelfHosted: true }
const list = { missing: 'service' }
const update = { method: 'PUT' } as const

const explain = (facts: Partial<RequestFacts>, failure: Partial<AttemptFailure>, sent = 1) => {
  const whole = { cause: 'status', writeOutcome: 'unknown', detail: '', headers: {}, ...failure } as const
  const isOutcomeUnknown = whole.writeOutcome === 'unknown'
  const end = { failure: whole, sent, label: 'attempt 1 of 5', isOutcomeUnknown, decision: { retry: false, because: 'final' } } as const
  const { kind, message, advice } = explainFailure({ ...cloud, ...facts }, end, 0)
  return { kind, advice, lines: message.split('\n') }
}

describe('an answer 404', () => {
  const plain = { headers: { 'content-type': 'text/plain; charset=utf-8' } }
  it.each<[string, Partial<RequestFacts>, Partial<AttemptFailure>, string]>([
    ['of the API means that something does not exist', cloud, { isFromApi: true }, 'not-found'],
    ['of another server means that the API is not there', cloud, { isFromApi: false }, 'not-served'],
    ['of the API for a list means that the service does not exist', { ...cloud, ...list }, { isFromApi: true }, 'not-found'],
    ['of a self-hosted server for an object means that it does not exist', selfHosted, { isFromApi: true }, 'not-found'],
    ['of a self-hosted server for a list means that it is not one', { ...selfHosted, ...list }, { isFromApi: true }, 'not-served'],
    [
      'of a self-hosted server for a create is about what the object refers to',
      { ...selfHosted, ...list, method: 'POST' },
      { isFromApi: true },
      'not-found',
    ],
    ['in the words of a self-hosted server is its own', selfHosted, { isFromApi: true, detail: 'Not Found', ...plain }, 'not-found'],
    ['in other words as plain text is of another server', selfHosted, { isFromApi: true, detail: 'No such page', ...plain }, 'not-served'],
    ['in other words as JSON is of a self-hosted server', selfHosted, { isFromApi: true, detail: 'No alert' }, 'not-found'],
    ['as plain text is of the API of the cloud', cloud, { isFromApi: true, detail: 'No such page', ...plain }, 'not-found'],
  ])('%s', (_, facts, failure, kind) => expect(explain(facts, { status: 404, ...failure }).kind).toBe(kind))
})

it('a missing answer names the proxy, the request its id and the number of attempts, where there are several', () => {
  const proxyHost = 'p:3128'
  const [timeout, reset] = [
    { cause: 'timeout', detail: 'no answer within 1 s' } as const,
    { cause: 'connection', detail: 'reset' } as const,
  ]
  expect(explain({}, timeout).lines[0]).toBe('No answer within 1 s')
  expect(explain({}, { ...timeout, proxyHost }).lines[0]).toBe('No answer within 1 s through the proxy p:3128')
  expect(explain({}, { ...reset }).lines[0]).toBe('No answer: reset')
  expect(explain({}, { ...reset, proxyHost }).lines[0]).toBe('No answer through the proxy p:3128: reset')
  const ends = ([1, 2] as const).map((sent) => explain({}, { status: 400, requestId: 'r' }, sent).lines.at(-1))
  expect(ends).toEqual(['Request: GET /v1/alerts at h (request id r)', 'Request: GET /v1/alerts at h (request id r, 2 attempts)'])
  expect(explain({}, reset).lines.at(-1)).toBe('Request: GET /v1/alerts at h')
})

it('a write that may have been applied says so once, after what else to do', () => {
  const open = 'The server may still have applied it: check the alert, or run this again.'
  const reset = { cause: 'connection', detail: 'reset' } as const
  const network = 'Check api-url (h) and the network connection.'
  expect(explain(update, reset).advice).toBe(`${network} ${open}`)
  expect(explain(update, { ...reset, writeOutcome: 'not-applied' }).advice).toBe(network)
  expect(explain({}, reset).advice).toBe(network)
  expect(explain(update, { status: 503 }).advice).toBe(open)
  expect(explain(update, { cause: 'unfit', status: 200, detail: 'it has no id' }).advice).toBe(open)
  expect(explain(update, { cause: 'canceled', detail: 'canceled' }).advice).toBe(
    'The server may still have applied it: check the alert before you run this again.',
  )
})

it('what to do about an answer that no API gives depends on whether it is JSON, and about a key on whose it is', () => {
  const unreadable = { cause: 'unreadable', status: 200, detail: 'the answer is not JSON' } as const
  expect(explain({}, unreadable).advice).toBe('Check whether a proxy or a login page answers instead of the API.')
  expect(explain({}, { ...unreadable, cause: 'unfit' }).advice).toBe('')
  expect(explain(selfHosted, unreadable).advice).toContain('If this is the address of the UI, set api-url')
  const ofSql = { url: 'sql-url', key: 'sql-key-id', access: 'Give it a role.' }
  expect(explain({}, { status: 401 }).advice).toBe(
    'The API rejects the key k. Check api-key-id and api-key-secret, and that the key is enabled and not expired.',
  )
  expect(explain({ inputs: ofSql }, { status: 401 }).advice).toBe(
    'The API rejects the key k. Check sql-key-id, and that the key is enabled and not expired. Give it a role.',
  )
  const missing = { status: 404, isFromApi: true }
  expect(explain(list, missing).advice).toBe(
    'The service does not exist, or the key k has no access to it. Check service-id and organization-id.',
  )
  expect(explain({}, missing).advice).toBe('The alert does not exist, or the key k has no access to it.')
  expect(explain({ inputs: ofSql }, missing).advice).toBe('The alert does not exist, or the key k has no access to it. Give it a role.')
})

it('a period whose answer is too large is read in halves, without a gap or an overlap, and an error of one day is thrown', async () => {
  const errorOf = (cause: 'too-large' | 'status') => {
    const failure = { cause, writeOutcome: 'refused', status: 400, detail: 'no', headers: {} } as const
    const decision = { retry: false, because: 'final' } as const
    return new ApiError(explainFailure(cloud, { failure, sent: 1, label: '', isOutcomeUnknown: false, decision }, 0))
  }
  const read = (to: string, maxDays: number, error = errorOf('too-large')) =>
    readInHalves('2026-11-01' as Day, to as Day, async (first, last) => {
      if (countDays(first, last) > maxDays) throw error
      return `${first.slice(8)}-${last.slice(8)}`
    })
  expect(await read('2026-11-07', 7)).toEqual(['01-07'])
  expect(await read('2026-11-07', 2)).toEqual(['01-01', '02-03', '04-05', '06-07'])
  await expect(read('2026-11-02', 0)).rejects.toMatchObject({ isTooLarge: true })
  await expect(read('2026-11-02', 1, errorOf('status'))).rejects.toMatchObject({ isTooLarge: false })
})
