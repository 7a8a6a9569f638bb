// V1 and V5: a gate passes on a complete, finite, verified figure alone, and a day is a UTC day wherever the runner stands.
import { describe, expect, it } from 'vitest'
import { createVirtualClock } from '../../support/clocks.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { inputsFor } from '../../support/emulator.ts'
import { runWithFailure, withTestApi } from '../../support/faults.ts'
import { invokeText } from '../../support/invoke.ts'

const [from, to] = ['2026-01-01', '2026-01-02'] as const

const record = (date: unknown, totalCredits: unknown, more: object = {}) => ({
  date,
  entityType: 'service',
  entityId: 'a',
  entityName: 'checkout',
  totalCredits,
  metrics: { computeCredits: totalCredits },
  locked: true,
  ...more,
})

const whole = [record(from, 1), record(to, 2)]

const result = (value: unknown): string => JSON.stringify({ status: 200, result: value })

/** Each is the answer of a good day with one thing wrong. The budget is far above all of them. */
const mutations: Readonly<Record<string, string>> = {
  'no total': result({ costs: whole }),
  'a total of null': result({ grandTotalCredits: null, costs: whole }),
  'a total as text': result({ grandTotalCredits: '3', costs: whole }),
  'a total of NaN': '{"result":{"grandTotalCredits":NaN,"costs":[]}}',
  'a total of "NaN"': result({ grandTotalCredits: 'NaN', costs: whole }),
  'a total of 1e400': '{"result":{"grandTotalCredits":1e400,"costs":[]}}',
  'a total of true': result({ grandTotalCredits: true, costs: whole }),
  'a total of []': result({ grandTotalCredits: [], costs: whole }),
  'a total below zero': result({ grandTotalCredits: -1, costs: [record(from, -1), record(to, 0)] }),
  'two totals': result({ grandTotalCredits: 3, grandTotalCHC: 3, costs: whole }),
  'a total of no unit': result({ grandTotal: 3, costs: whole }),
  'no records': result({ grandTotalCredits: 3 }),
  'an empty list of records': result({ grandTotalCredits: 0, costs: [] }),
  'records of null': result({ grandTotalCredits: 3, costs: null }),
  'a record without a total': result({ grandTotalCredits: 3, costs: [...whole, { date: to }] }),
  'a record of another unit': result({ grandTotalCredits: 3, costs: [record(from, 1), { date: to, totalCHC: 2 }] }),
  'a record of another day': result({ grandTotalCredits: 4, costs: [...whole, record('2026-01-09', 1)] }),
  'a record of no day': result({ grandTotalCredits: 3, costs: [record(from, 1), record('2026-02-30', 2)] }),
  'a record twice': result({ grandTotalCredits: 5, costs: [...whole, record(to, 2)] }),
  'a day without a record': result({ grandTotalCredits: 1, costs: [record(from, 1)] }),
  'records that miss the total': result({ grandTotalCredits: 5, costs: whole }),
  'a total that misses the records': result({ grandTotalCredits: 0, costs: whole }),
  'a metric in words': result({ grandTotalCredits: 3, costs: [record(from, 1), record(to, 2, { metrics: { computeCredits: 'x' } })] }),
  'half of it': result({ grandTotalCredits: 3, costs: whole }).slice(0, -20),
}

describe.concurrent('V1: a gate passes only on a figure that is complete, finite and adds up', () => {
  const gate = { period: `${from}..${to}`, budget: '1000000' }

  it('does not pass on an incomplete or invalid figure', () =>
    forEachEntry(
      Object.keys(mutations),
      async (name) => {
        const { outcome, ran } = await runWithFailure(
          'read a cost',
          { effect: { kind: 'body', text: mutations[name] ?? '' } },
          { times: 9, inputs: gate },
        )
        expect(outcome).toMatchObject({ exitCode: 1, problems: [] })
        expect(ran.outputs.get('status')).toMatch(/^(?:fail|error)$/)
        expect(ran.summary).toMatch(/^### (?:❌|🛑) /)
      },
      { atOnce: 4 },
    ))

  // The limits of the promise, so that the document, the promise and the gate stay the same.
  it.each<[string, string, object, 'pass' | 'fail']>([
    [
      'a difference of 0.01%, which is rounding',
      to,
      { grandTotalCredits: 10_000, costs: [record(from, 4_999), record(to, 5_000)] },
      'pass',
    ],
    ['a difference of a millionth more', to, { grandTotalCredits: 10_000, costs: [record(from, 4_999), record(to, 4_999.999999)] }, 'fail'],
    ['no records of yesterday yet', '2026-01-03', { grandTotalCredits: 3, costs: whole }, 'pass'],
    ['no records of yesterday and today yet', '2026-01-04', { grandTotalCredits: 3, costs: whole }, 'pass'],
    ['no records of a day that ended more than a day ago', '2026-01-04', { grandTotalCredits: 1, costs: [record(from, 1)] }, 'fail'],
  ])('a gate has the documented verdict on %s', async (_, lastDay, answer, status) => {
    const nowMs = Date.parse('2026-01-04T12:00:00.000Z')
    await withTestApi(
      { effect: { kind: 'body', text: result(answer) } },
      { times: 9 },
      async ({ emulator }) => {
        const inputs = { ...inputsFor(emulator), operation: 'usage-cost', ...gate, period: `${from}..${lastDay}` }
        const { document } = await invokeText({ inputs, clock: createVirtualClock(nowMs) })
        expect(document.status).toBe(status)
      },
      { now: () => nowMs },
    )
  })

  it('covers 24 faulty figures, and passes the same day without faults', async () => {
    expect(Object.keys(mutations)).toHaveLength(24)
    const text = result({ grandTotalCredits: 3, costs: whole })
    const { outcome } = await runWithFailure('read a cost', { effect: { kind: 'body', text } }, { inputs: gate })
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', problems: [] })
  })
})

describe.concurrent('V5: a period is whole UTC days, whatever the zone of the runner and however close to midnight', () => {
  const sought = (path: string): string => {
    const query = new URL(path, 'http://x').searchParams
    return `${query.get('from_date')} ${query.get('to_date')}`
  }

  /** The requests for days that fit into one. Fewer than 28 days are read with the 28 days before them, and up to three in the same request. */
  const withHistory = (days: string): readonly string[] => {
    const [from = '', to = ''] = days.split(' ')
    const daysBefore = (count: number): string => new Date(Date.parse(from) - count * 86_400_000).toISOString().slice(0, 10)
    const count = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1
    if (count >= 28) return [days]
    return count <= 3 ? [`${daysBefore(28)} ${to}`] : [`${daysBefore(28)} ${daysBefore(1)}`, days]
  }

  it('reads the same days in every time zone', () =>
    forEachEntry<[string, string, string, string]>(
      [
        ['2026-03-01T00:00:00.100Z', 'America/Sao_Paulo', 'today', '2026-03-01 2026-03-01'],
        ['2028-02-29T00:00:00.100Z', 'Pacific/Kiritimati', 'today', '2028-02-29 2028-02-29'],
        ['2027-12-31T23:59:59.900Z', 'Pacific/Kiritimati', 'month-to-date', '2027-12-01 2027-12-31'],
        ['2026-03-29T01:30:00.000Z', 'Europe/Berlin', 'last-7-days', '2026-03-23 2026-03-29'],
        ['2026-10-25T00:30:00.000Z', 'Europe/Berlin', 'last-31-days', '2026-09-25 2026-10-25'],
      ],
      async (startAt, zone, period, days) => {
        const { outcome, ran, testApi } = await runWithFailure('read a cost', undefined, {
          preload: { startAt, standsStill: true },
          env: { TZ: zone },
          inputs: { period, budget: '', 'on-missing': 'ignore' },
          api: { now: () => Date.parse(startAt) },
        })
        expect(outcome).toMatchObject({ exitCode: 0, problems: [] })
        const asked = testApi.emulator.requests.map(({ path }) => sought(path)).toSorted()
        expect(asked).toEqual(withHistory(days))
        expect(`${ran.result?.fromDate} ${ran.result?.toDate}`).toBe(days)
      },
      { atOnce: 4 },
    ))

  it('a run over midnight has one today', async () => {
    const { ran, testApi } = await runWithFailure(
      'read a cost',
      { effect: { kind: 'delay', ms: 300 } },
      {
        preload: { startAt: '2026-02-28T23:59:59.800Z' },
        inputs: { period: 'last-3-days', budget: '', 'on-missing': 'ignore' },
      },
    )
    const asked = testApi.emulator.requests.map(({ path }) => sought(path))
    expect(asked).toEqual(withHistory(`${ran.result?.fromDate} ${ran.result?.toDate}`))
    expect(ran.result).toMatchObject({ days: 3 })
  })

  it.each([
    ['2026-02-01', '2026-02-27', ['2026-01-04 2026-01-31', '2026-02-01 2026-02-27']],
    ['2026-02-01', '2026-02-28', ['2026-02-01 2026-02-28']],
    ['2026-01-01', '2026-01-31', ['2026-01-01 2026-01-31']],
    ['2026-01-01', '2026-02-01', ['2026-01-01 2026-01-31', '2026-02-01 2026-02-01']],
    ['2023-12-20', '2024-03-05', ['2023-12-20 2024-01-19', '2024-01-20 2024-02-19', '2024-02-20 2024-03-05']],
  ])(
    'the period from %s to %s is read in requests of at most 31 days, with the 28 days before it where it is shorter',
    async (first, last, requests) => {
      const inputs = { period: `${first}..${last}`, budget: '', 'on-missing': 'ignore' }
      const { outcome, testApi } = await runWithFailure('read a cost', undefined, { inputs })
      expect(outcome).toMatchObject({ exitCode: 0, problems: [] })
      expect(testApi.emulator.requests.map(({ path }) => sought(path)).sort()).toEqual(requests)
    },
  )
})
