import { describe, expect, it } from 'vitest'
import { explainFailedEvaluation, isEvaluated, nextEvaluationMs } from '../../../../src/kinds/alert/schedule.ts'
import type { Body } from '../../../../src/kinds/kind.ts'

const error = { timestamp: '2026-11-22T19:56:52.291Z', type: 'QUERY_ERROR', message: 'Unknown identifier `Nope`' }

describe('the last evaluation of an alert', () => {
  it.each<[string, Body, string | undefined]>([
    ['is unknown before the first one', {}, undefined],
    ['is unknown where the server answers null', { executionErrors: null }, undefined],
    ['did not fail without errors', { executionErrors: [] }, undefined],
    [
      'failed with its type, time and message',
      { executionErrors: [error] },
      'QUERY_ERROR at 22 Nov 2026 19:56 UTC: Unknown identifier `Nope`',
    ],
    [
      'sent a notification without a mention',
      { executionErrors: [{ type: 'WEBHOOK_ERROR', message: 'Alert message contains a mention that is not a webhook channel.' }] },
      'WEBHOOK_ERROR: Alert message contains a mention that is not a webhook channel. The server sent the notification without the mention',
    ],
    [
      'failed with several errors, of which the last one is shown',
      { executionErrors: [error, { ...error, type: 'WEBHOOK_ERROR', message: 'No answer' }] },
      'WEBHOOK_ERROR at 22 Nov 2026 19:56 UTC: No answer (and 1 more)',
    ],
    ['failed without a message', { executionErrors: [{ type: 'UNKNOWN' }] }, 'UNKNOWN'],
    [
      'failed at a time of another form',
      { executionErrors: [{ ...error, timestamp: 'yesterday' }] },
      'QUERY_ERROR: Unknown identifier `Nope`',
    ],
    ['is unknown where the errors have another form', { executionErrors: 'broken' }, undefined],
  ])('%s', (_what, alert, expected) => {
    expect(explainFailedEvaluation(alert)).toBe(expected)
  })

  it('shows a message of one line and limited length: the server repeats the whole query', () => {
    const message = `Unknown\n::error::column ${'x'.repeat(5000)}`
    const shown = explainFailedEvaluation({ executionErrors: [{ ...error, message }] }) ?? ''
    expect(shown).not.toContain('\n')
    expect(shown.length).toBeLessThan(400)
  })

  it('the last evaluation of an alert has happened as soon as the alert has a list of errors', () => {
    expect([{}, { executionErrors: null }, { executionErrors: [] }, { executionErrors: [error] }].map(isEvaluated)).toEqual([
      false,
      false,
      true,
      true,
    ])
  })
})

describe('the next evaluation of an alert', () => {
  const nowMs = Date.parse('2026-11-22T10:07:30Z')
  const next = (alert: Body): string | undefined => {
    const ms = nextEvaluationMs(alert, nowMs)
    return ms === undefined ? undefined : new Date(ms).toISOString()
  }

  it('the next evaluation of an alert comes at most a minute after the border of its intervals, and after a start in the future one interval later', () => {
    expect(next({ interval: '5m' })).toBe('2026-11-22T10:11:00.000Z')
    expect(next({ interval: '1d' })).toBe('2026-11-23T00:01:00.000Z')
    expect(next({ interval: '5m', scheduleStartAt: '2026-11-22T10:30:00Z' })).toBe('2026-11-22T10:36:00.000Z')
    expect(next({ interval: '5m', scheduleStartAt: '2026-11-01T00:00:00Z' })).toBe('2026-11-22T10:11:00.000Z')
    expect(next({ interval: '2m' })).toBeUndefined()
  })
})
