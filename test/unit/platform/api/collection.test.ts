import { expect, it } from 'vitest'
import type { ReadApi } from '../../../../src/platform/api/client.ts'
import { countConcurrentWrites } from '../../../../src/platform/api/collection.ts'

it('half of the requests that a rate limit leaves are written at a time, at least one and at most ten', () => {
  const count = (remaining?: number): number =>
    countConcurrentWrites({
      rateLimit: () => (remaining === undefined ? undefined : { limit: 100, remaining }),
    } as Partial<ReadApi> as ReadApi)
  expect([undefined, 0, 1, 3, 4, 5, 19, 20, 100].map((remaining) => count(remaining))).toEqual([1, 1, 1, 1, 2, 2, 9, 10, 10])
})
