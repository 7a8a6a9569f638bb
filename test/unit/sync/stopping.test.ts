import { describe, expect, it } from 'vitest'
import type { ErrorKind } from '../../../src/platform/core/errors.ts'
import { preventsReading, reasonToStop, type StopReason } from '../../../src/sync/apply/apply-state.ts'
import type { Change, Outcome, OutcomeKind } from '../../../src/sync/decide/change.ts'

const maxConsecutiveFailures = 5

const change: Change = {
  kind: 'alert',
  key: 'a',
  name: 'A',
  action: 'create',
  location: { file: 'f.yml' },
  summary: '',
  desired: {},
  notes: [],
  fields: [],
}

const outcome = (became: OutcomeKind, errorKind?: ErrorKind): Outcome => ({ change, became, errorKind })

const times = (count: number, ...outcomes: readonly Outcome[]): readonly Outcome[] => Array.from({ length: count }, () => outcomes).flat()

const reason = (outcomes: readonly Outcome[]) => reasonToStop(outcomes)?.kind

describe('a run goes on', () => {
  it.each<[string, readonly Outcome[]]>([
    ['before anything happened', []],
    ['after what went well', [outcome('created')]],
    ['after an object that was refused', [outcome('failed', 'refused')]],
    ['after any number of them: that is their fault, not the API’s', times(9, outcome('failed', 'refused'))],
    ['after four failures of the API', times(maxConsecutiveFailures - 1, outcome('unknown', 'may-exist'))],
    [
      'after five with something else among them',
      [...times(4, outcome('failed', 'server')), outcome('created'), outcome('failed', 'server')],
    ],
    ['after five, once something went well', [...times(5, outcome('failed', 'server')), outcome('updated')]],
  ])('a run goes on %s', (_, outcomes) => {
    expect(reason(outcomes)).toBeUndefined()
  })
})

describe('a run stops', () => {
  it.each<[ErrorKind, string]>([
    ['authentication', 'denied'],
    ['permission', 'denied'],
    ['not-served', 'unreachable'],
    ['tls', 'unreachable'],
    ['redirect', 'unreachable'],
    ['deadline', 'no-time'],
    ['rate-limited', 'no-time'],
    ['canceled', 'canceled'],
  ])('a run stops at once after %s: %s', (errorKind, kind) => {
    expect(reason([outcome('created'), outcome('failed', errorKind)])).toBe(kind)
  })

  it.each<ErrorKind>(['server', 'network', 'timeout', 'may-exist', 'bad-answer'])(
    'a run stops after five failures in a row that end with %s',
    (errorKind) => {
      expect(reason([outcome('created'), ...times(5, outcome('failed', errorKind))])).toBe('failing')
      expect(reasonToStop(times(5, outcome('unknown', errorKind)))?.message).toContain('5 objects in a row')
    },
  )
})

it.each<[StopReason['kind'], boolean]>([
  ['denied', true],
  ['unreachable', true],
  ['no-time', true],
  ['canceled', true],
  ['failing', false],
])('preventsReading after %s returns %s', (kind, expected) => {
  expect(preventsReading({ kind, message: '' })).toBe(expected)
})

it('a run that goes on can read', () => {
  expect(preventsReading(undefined)).toBe(false)
})
