import { beforeEach, describe, expect, it } from 'vitest'
import { addDays, type Day, dayOf } from '../../../../src/platform/core/dates.ts'
import { inputsFor, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })

let days: readonly [Day, Day]
beforeEach(() => {
  const today = dayOf(Date.now())
  days = [addDays(today, -4), addDays(today, -3)]
})

interface WireRecord {
  readonly total?: number
  readonly metrics: Readonly<Record<string, number | null>> | null
  readonly locked?: boolean
}

/** The API answers with these records of one entity, on two days. */
function answerWith(records: readonly WireRecord[]): void {
  const costs = records.map(({ total = 100, metrics, locked = true }, i) => ({
    date: days[i],
    entityType: 'service',
    entityId: 'a',
    entityName: 'x',
    totalCredits: total,
    metrics,
    locked,
  }))
  const grandTotalCredits = costs.reduce((whole, { totalCredits }) => whole + totalCredits, 0)
  emulator().addFault({ effect: { kind: 'body', text: JSON.stringify({ result: { grandTotalCredits, costs } }) } })
}

const judge = (budget: string, inputs: Readonly<Record<string, string>> = {}) =>
  invokeText({
    inputs: { ...inputsFor(emulator()), operation: 'usage-cost', budgets: 'b.yml', period: `${days[0]}..${days[1]}`, ...inputs },
    files: { 'b.yml': `[{ name: one, ${budget} }]` },
  })

const compute = 'limit: 500, scope: { metric: compute }'
const words = 'The usage of budget one is unknown, because the metrics of its records do not add up to their totals.'

describe('a budget by metric', () => {
  it.each<[string, string, readonly WireRecord[]]>([
    ['a record has no metrics', compute, [{ metrics: { computeCredits: 100 } }, { metrics: null }]],
    ['a metric is null', compute, [{ metrics: { computeCredits: 100 } }, { metrics: { computeCredits: null } }]],
    ['metrics do not cover the total', compute, [{ metrics: { computeCredits: 1 } }, { metrics: { computeCredits: 1 } }]],
    ['metrics exceed the total', compute, [{ metrics: { computeCredits: 150 } }, { metrics: { computeCredits: 50 } }]],
    ['a metric is negative', compute, [{ metrics: { computeCredits: -1, storageCredits: 101 } }, { metrics: { computeCredits: 100 } }]],
    [
      'the uncovered part is small for the total and large for the limit',
      'limit: 1, scope: { metric: backup }',
      [
        { total: 1000, metrics: { computeCredits: 999.4, backupCredits: 0.5 } },
        { total: 1000, metrics: { computeCredits: 1000 } },
      ],
    ],
    [
      'the excess in one record hides the uncovered part of another',
      'limit: 20, scope: { metric: other }',
      [{ metrics: { computeCredits: 150 } }, { metrics: { computeCredits: 40 } }],
    ],
  ])('a budget by metric has a data quality issue when %s', async (_, budget, records) => {
    answerWith(records)
    const failed = await judge(budget)
    expect([failed.exitCode, failed.document.status]).toEqual([10, 'fail'])
    expect(failed.reason).toContain(words)
    expect(failed.document.budgets).toMatchObject([
      { status: 'fail', dataQualityIssue: { kind: 'metrics-mismatch' }, limitStatus: 'within' },
    ])
    answerWith(records)
    expect((await judge(budget, { 'on-missing': 'warn' })).document.status).toBe('warn')
    answerWith(records)
    expect((await judge('limit: 5000')).document.status).toBe('pass')
  })

  it.each<[string, string, readonly WireRecord[]]>([
    ['metrics add up', compute, [{ metrics: { computeCredits: 60, storageCredits: 40 } }, { metrics: { computeCredits: 100 } }]],
    ['the uncovered part is rounding', compute, [{ metrics: { computeCredits: 99.99 } }, { metrics: { computeCredits: 100 } }]],
    [
      'the uncovered part is the metric that counts',
      'limit: 500, scope: { metric: other }',
      [{ metrics: { computeCredits: 1 } }, { metrics: null }],
    ],
  ])('a budget by metric is trusted when %s', async (_, budget, records) => {
    answerWith(records)
    expect((await judge(budget)).document.status).toBe('pass')
  })
})

describe('a budget of days that have just begun', () => {
  it.each([
    ['', 0, 'warn'],
    ['fail', 10, 'fail'],
    ['ignore', 0, 'pass'],
  ])(
    'a budget of days that have just begun is a warning by default when there are no records yet: on-missing %j',
    async (onMissing, exitCode, status) => {
      answerWith([])
      const ran = await judge('limit: 5, period: yesterday', {
        period: 'yesterday',
        'on-missing': onMissing,
      })
      expect([ran.exitCode, ran.document.status]).toEqual([exitCode, status])
      expect(ran.document.budgets).toMatchObject([{ status, dataQualityIssue: { kind: 'no-records-yet' } }])
      if (status !== 'pass') expect(ran.reason.match(/No usage records yet/g)).toHaveLength(1)
    },
  )
})
