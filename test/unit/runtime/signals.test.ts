import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { cancelOnSignals } from '../../../src/runtime/signals.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('R6: after the first signal, requests under way have four seconds, and the process six', () => {
  const exits: number[] = []
  let signal = (): void => undefined
  const cancellation = cancelOnSignals({
    on: (_, handler) => (signal = handler),
    off: () => undefined,
    exit: (code) => exits.push(code),
  })
  const state = () => [cancellation.stop.aborted, cancellation.abort.aborted, exits]
  expect(state()).toEqual([false, false, []])
  signal()
  vi.advanceTimersByTime(3999)
  expect(state()).toEqual([true, false, []])
  vi.advanceTimersByTime(1)
  expect(state()).toEqual([true, true, []])
  vi.advanceTimersByTime(1999)
  expect(state()).toEqual([true, true, []])
  vi.advanceTimersByTime(1)
  expect(state()).toEqual([true, true, [130]])
})
