import { expect, it } from 'vitest'
import { isTemporary } from '../../../src/changes/plan/evaluations.ts'

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
