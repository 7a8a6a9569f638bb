import { expect, it } from 'vitest'
import { inputDiagnostic } from '../../../src/platform/core/diagnostics.ts'
import { InputError, WatchkeeperError } from '../../../src/platform/core/errors.ts'
import { counted, say, trusted } from '../../../src/platform/core/line.ts'
import type { Verdict } from '../../../src/platform/report/report.ts'
import { causeOfError, causeOfVerdict, toCauseText } from '../../../src/runtime/run-result.ts'

const ofVerdict = (verdict: Omit<Verdict, 'status' | 'reasons'> & Partial<Verdict>, diagnostics = []): string =>
  toCauseText(causeOfVerdict({ status: 'fail', reasons: [], ...verdict }, diagnostics))

it('the cause of a verdict is its first sentence up to the first figure of this project, with the names as they are', () => {
  expect(ofVerdict({ sentence: [trusted('Budget exceeded: 296.66 of 250.00 CHC (119%). Used so far: 3 CHC.')] })).toBe('budget exceeded')
  expect(ofVerdict({ sentence: say`Budget ${'team 7: shop. Inc'} exceeded: ${trusted('3 of 2 CHC.')}` })).toBe(
    'budget team 7: shop. Inc exceeded',
  )
  expect(ofVerdict({ reasons: [say`the values of ${counted(2, 'rule')} differ`] })).toBe('failed')
  expect(ofVerdict({ reasons: [say`Backups are late: ${counted(2, 'service')}`, say`others`] })).toBe('backups are late')
  expect(ofVerdict({ status: 'error', reasons: [say`${counted(2, 'object')} skipped`] })).toBe('did not complete')
  expect(ofVerdict({ status: 'pass', sentence: say`All is well` })).toBe('')
  expect(ofVerdict({ reasons: [say`Nothing is known: no usage, and no files`] })).toBe('nothing is known: no usage, and no files')
  expect([say`${'Shop'} is late`, say`API keys are missing`].map((line) => ofVerdict({ reasons: [line] }))).toEqual([
    'Shop is late',
    'API keys are missing',
  ])
})

it('the cause of a verdict on files is their first error, in place of the number of errors', () => {
  const location = { file: 'observability/a.yml', line: 3 }
  const error = {
    rule: 'schema',
    severity: 'error',
    message: 'alerts.a: unknown field treshold; did you mean threshold?',
    location,
  } as const
  const warning = { ...error, severity: 'warning', message: 'other' } as const
  const verdict: Verdict = { status: 'fail', reasons: [say`${counted(2, 'error')}`] }
  expect(toCauseText(causeOfVerdict(verdict, [warning, error, error]))).toBe('observability/a.yml: alerts.a: unknown field treshold')
})

it('the cause of a verdict on objects has no amounts and no ids', () => {
  const ofMessage = (message: string, file: string, line?: number): string => {
    const error = { rule: 'duplicate-marker', severity: 'error', message, location: { file, ...(line !== undefined && { line }) } } as const
    return toCauseText(causeOfVerdict({ status: 'fail', reasons: [] }, [error]))
  }
  expect(ofMessage('alerts.slow: 2 alerts have this ownership marker (65f1, 66a2); set repair', 'a.yml', 3)).toBe(
    'a.yml: alerts.slow: several alerts have this ownership marker',
  )
  expect(ofMessage('14 deletes (alerts.a2, alerts.a3, alerts.b and 11 more), and max-deletes allows 5. Check them', 'prune')).toBe(
    'several deletes, and max-deletes allows 5',
  )
})

it('the cause of a wrong input is its first problem, and an empty secret by its name', () => {
  const ofInputs = (...messages: readonly (readonly [string, string])[]): string =>
    toCauseText(causeOfError(new InputError(messages.map(([name, message]) => inputDiagnostic(name, message)))))
  const empty = 'is missing, because WATCHKEEPER_API_KEY_SECRET is empty; set it'
  expect(ofInputs(['api-key-secret', empty], ['period', 'is missing'])).toBe('WATCHKEEPER_API_KEY_SECRET is empty')
  expect(ofInputs(['api-key-id', 'is missing or empty: check the name'])).toBe('api-key-id is missing or empty')
  expect(toCauseText(causeOfError(new WatchkeeperError('network', 'The server did not answer. Try again.\nRequest: GET /')))).toBe(
    'the server did not answer',
  )
})
