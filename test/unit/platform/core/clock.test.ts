import { expect, it, vi } from 'vitest'
import { systemClock } from '../../../../src/platform/core/clock.ts'

it('R2: waits and deadlines do not follow the wall clock, which may jump', () => {
  const before = systemClock.monotonicMs()
  using _ = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 86_400_000)
  expect(systemClock.monotonicMs() - before).toBeLessThan(3_600_000)
})
