import { expect, it } from 'vitest'
import { isTemporary, reviewEvaluations } from '../../../src/changes/plan/evaluations.ts'

it('an error of a database that is down or busy is temporary, and one of a query is not', () => {
  for (const error of [
    'connect ECONNREFUSED 127.0.0.1:8123',
    'Timeout error.',
    'socket hang up',
    '(total) memory limit exceeded: would use 1.00 GiB',
    'Too many simultaneous queries. Maximum: 100',
  ])
    expect(isTemporary(error), error).toBe(true)
  for (const error of ['Unknown expression or function identifier `Timeout`', 'Table default.memory does not exist.'])
    expect(isTemporary(error), error).toBe(false)
})

it('an updated alert that keeps the error of before its update is not evaluated since, and one with a newer error is', () => {
  const failedAt = (minute: number) => [{ timestamp: `2026-11-22T19:${minute}:00Z`, type: 'QUERY_ERROR', message: 'No' }]
  const pendingWith = (executionErrors: unknown): readonly string[] => {
    const change = { kind: 'alert', key: 'a', id: 'x', stored: { id: 'x', executionErrors: failedAt(10) }, notes: [], fields: [] }
    const plan = { changes: [change], orphans: [] } as never
    const outcomes = [{ change, became: 'updated', id: 'x' }] as never
    return reviewEvaluations(plan, outcomes, [{ id: 'x', executionErrors }] as never, 0).notEvaluated.map(({ key }) => key)
  }
  expect([failedAt(10), failedAt(15), [], undefined].map(pendingWith)).toEqual([['a'], [], ['a'], ['a']])
})
