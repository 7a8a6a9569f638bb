import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { cancelOnSignals } from '../../../src/runtime/signals.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('R6: after the first signal, requests under way have four seconds, and the process six', () => {
  const exits: number[] = []
  const handlers = new Map<string, () => void>()
  const signal = (): void => handlers.get('SIGINT')?.()
  const cancellation = cancelOnSignals({
    on: (name, handler) => handlers.set(name, handler),
    off: (name, handler) => handlers.get(name) === handler && handlers.delete(name),
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
  expect([...handlers.keys()]).toEqual(['SIGINT', 'SIGTERM'])
  cancellation.dispose()
  expect([...handlers.keys()]).toEqual([])
})
