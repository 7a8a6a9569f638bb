import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { createDeadline } from '../../../src/http/deadline.ts'
import type { Admission, Pacer } from '../../../src/http/rate-limit.ts'

const listAlerts = { method: 'GET', path: '/v1/alerts', label: 'GET …/alerts' }
const listSources = { method: 'GET', path: '/v1/sources', label: 'GET …/sources' }

/** A deadline on a clock that moves only when a test moves it, with a pacer that asks every request to wait for `waitMs`. */
function openDeadline() {
  const notes: string[] = []
  const state = { nowMs: 0, waitMs: 3000 }
  const clock: Clock = {
    now: () => state.nowMs,
    monotonicMs: () => state.nowMs,
    sleep: async () => undefined,
    timeout: () => new AbortController().signal,
  }
  const admission: Admission = { settle: () => undefined, cancel: () => undefined }
  const admit: Pacer['admit'] = async ({ onWait }) => {
    onWait(state.waitMs)
    return admission
  }
  const pacer: Pacer = { admit, quota: () => undefined }
  const stop = new AbortController().signal
  const deadline = createDeadline({ clock, deadlineMs: 60_000, pacer, stop, note: (line) => void notes.push(line) })
  return { deadline, notes, state }
}

describe('a wait for the rate limit', () => {
  it('a wait for the rate limit is noted once, with the request, for requests that wait for the same window', async () => {
    const { deadline, notes, state } = openDeadline()
    await deadline.admit(listAlerts)
    state.nowMs = 500
    state.waitMs = 2500
    await deadline.admit(listSources)
    deadline.noteRateLimit(2600, 'Trying again in 2.6 s')
    expect(notes).toEqual(['Waiting 3.0 s for the rate limit before GET …/alerts'])
  })

  it('a wait for the rate limit is noted again when the previous wait is over, or when it gets longer', async () => {
    const { deadline, notes, state } = openDeadline()
    await deadline.admit(listAlerts)
    state.waitMs = 10_000
    await deadline.admit(listSources)
    state.nowMs = 10_000
    state.waitMs = 1000
    await deadline.admit(listAlerts)
    expect(notes).toEqual([
      'Waiting 3.0 s for the rate limit before GET …/alerts',
      'Waiting 10.0 s for the rate limit before GET …/sources',
      'Waiting 1.0 s for the rate limit before GET …/alerts',
    ])
  })

  it('a wait for the rate limit is not noted below a second', async () => {
    const { deadline, notes, state } = openDeadline()
    state.waitMs = 999
    await deadline.admit(listAlerts)
    expect(notes).toEqual([])
  })
})
