import { describe, expect, it } from 'vitest'
import { inputsFor, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })

describe('V1: a gate passes only on figures that are complete, finite and add up', () => {
  const answer = (body: object) => answerText(JSON.stringify({ status: 200, result: body }))
  const answerText = (text: string) => {
    emulator().clearFaults()
    emulator().addFault({ times: Number.POSITIVE_INFINITY, effect: { kind: 'body', text } })
  }
  const record = (date: unknown, totalCredits: unknown, more: object = {}) => ({
    date,
    entityType: 'service',
    entityId: 'a',
    entityName: 'x',
    totalCredits,
    locked: true,
    ...more,
  })
  const from = '2026-01-01'
  const to = '2026-01-02'
  const whole = [record(from, 1), record(to, 2)]
  const judge = (more: Readonly<Record<string, string>> = {}) =>
    invokeText({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: `${from}..${to}`, budget: '10', ...more } })

  it.each<[string, object, RegExp]>([
    ['no total', { costs: whole }, /grandTotal… is missing/],
    ['a total of null', { grandTotalCredits: null, costs: whole }, /result\.grandTotalCredits is not a finite number/],
    ['a total that is NaN', { grandTotalCredits: 'NaN', costs: whole }, /result\.grandTotalCredits is not a finite number/],
    ['a total as text', { grandTotalCredits: '3', costs: whole }, /is not a finite number/],
    ['two totals', { grandTotalCredits: 3, grandTotalCHC: 3, costs: whole }, /two totals/],
    ['a record without a total', { grandTotalCredits: 3, costs: [...whole, { date: to }] }, /result\.costs\[2\]\.totalCredits is missing/],
    [
      'a record in another unit',
      { grandTotalCredits: 3, costs: [{ date: to, totalCHC: 3 }] },
      /result\.costs\[0\]\.totalCredits is missing/,
    ],
    ['a record of null', { grandTotalCredits: 3, costs: [null] }, /result\.costs\[0\]/],
    ['a record without a day', { grandTotalCredits: 3, costs: [{ totalCredits: 3 }] }, /result\.costs\[0\]\.date is missing/],
    [
      'a day that does not exist',
      { grandTotalCredits: 3, costs: [record('2026-02-30', 3)] },
      /result\.costs\[0\]\.date is not a valid day/,
    ],
    [
      'a metric that is not a number',
      { grandTotalCredits: 3, costs: [record(to, 3, { metrics: { computeCredits: 'x' } })] },
      /metrics\.computeCredits is not a finite number/,
    ],
    ['a name that is a number', { grandTotalCredits: 3, costs: [record(to, 3, { entityName: 5 })] }, /entityName is not of type string/],
    ['a day that is a number', { grandTotalCredits: 3, costs: [record(5, 3)] }, /costs\[0\]\.date is not of type string/],
    ['a locked that is text', { grandTotalCredits: 3, costs: [record(to, 3, { locked: 'no' })] }, /locked is not of type boolean/],
    ['metrics as a list', { grandTotalCredits: 3, costs: [record(to, 3, { metrics: [3] })] }, /metrics is not of type object/],
    ['records as text', { grandTotalCredits: 3, costs: 'none' }, /result\.costs\[0\] is not of type object/],
    ['a list instead of a result', [], /the answer has an unexpected form: result is not of type object/],
  ])('figures that cannot be trusted are an error and are not read as zero: %s', async (_, body, words) => {
    answer(body)
    const ran = await judge({ 'on-missing': 'ignore' })
    expect([ran.exitCode, ran.document.status]).toEqual([1, 'error'])
    expect(ran.reason).toMatch(words)
  })

  it('figures are an error when a number is too large', async () => {
    answerText('{"result":{"grandTotalCredits":1e400,"costs":[]}}')
    expect((await judge({ 'on-missing': 'ignore' })).reason).toContain('grandTotalCredits is not a finite number')
  })

  it.each([
    ['', 0, 'warn'],
    ['fail', 10, 'fail'],
    ['warn', 0, 'warn'],
    ['ignore', 0, 'pass'],
  ])('missing figures of days that have just begun are a warning by default: on-missing %j', async (onMissing, exitCode, status) => {
    answer({ grandTotalCredits: 0, costs: [] })
    const ran = await judge({ period: 'yesterday', 'on-missing': onMissing })
    expect([ran.exitCode, ran.document.status]).toEqual([exitCode, status])
  })

  it.each<[string, object, RegExp]>([
    ['no record at all', { grandTotalCredits: 0, costs: [] }, /No usage records for 1 – 2 Jan 2026, so the usage/],
    ['an empty object', { grandTotalCredits: 0, costs: {} }, /No usage records for 1 – 2 Jan 2026, so the usage/],
    [
      'records that do not add up to the total',
      { grandTotalCredits: 5, costs: whole },
      /The usage records for 1 – 2 Jan 2026 add up to 3\.00 Credits, but the API's total is 5\.00 Credits\./,
    ],
    [
      'another day',
      { grandTotalCredits: 4, costs: [...whole, record('2026-01-09', 1)] },
      /The API returned usage records of other days: 9 Jan 2026\./,
    ],
    ['a record twice', { grandTotalCredits: 5, costs: [...whole, record(to, 2)] }, /x has more than one usage record for 2 Jan 2026\./],
    [
      'a negative total',
      { grandTotalCredits: -1, costs: [record(from, -1), record(to, 0)] },
      /The API's total for 1 – 2 Jan 2026 is negative\./,
    ],
    ['a day without records', { grandTotalCredits: 1, costs: [record(from, 1)] }, /No usage records for 2 Jan 2026\./],
  ])('figures that cannot be trusted fail the gate by default: %s', async (_, body, words) => {
    answer(body)
    const failed = await judge()
    expect([failed.exitCode, failed.document.status]).toEqual([10, 'fail'])
    expect(failed.reason).toMatch(words)
    answer(body)
    const warned = await judge({ 'on-missing': 'warn' })
    expect([warned.exitCode, warned.document.status]).toEqual([0, 'warn'])
    answer(body)
    const ignored = await judge({ 'on-missing': 'ignore' })
    expect([ignored.exitCode, ignored.document.status]).toEqual([0, 'pass'])
  })

  it('figures are trusted when the API returns one object instead of a list, in any order and unit', async () => {
    answerText('{"result":{"costs":{"date":"2026-01-01T00:00:00Z","totalCHC":2.50,"novelty":1},"grandTotalCHC":2.50}}')
    const ran = await judge({ period: from, budget: '2.5' })
    expect(ran.document).toMatchObject({ status: 'pass', grandTotalCredits: '2.5', unit: 'CHC' })
  })

  it('figures are exact to the last digit, whatever the number of digits and the notation', async () => {
    const totals = ['0.12345678901234567891', '1e-7', '12345678901234567890.000000000001', '3.0']
    const sum = '12345678901234567893.12345688901334567891'
    const costs = totals.map(
      (total, i) =>
        `{"date":"${from}","entityId":"${i}","locked":true,"totalCredits":${total},"metrics":{"computeCredits":${total},"compute":0.0}}`,
    )
    answerText(`{"result":{"grandTotalCredits":${sum},"costs":[${costs.join()}]}}`)
    const ran = await judge({ period: from, budget: sum })
    expect(ran.document).toMatchObject({
      status: 'pass',
      grandTotalCredits: sum,
      byDay: [{ total: sum }],
      byMetric: [{ name: 'compute', total: sum }],
    })
    const records = ran.document.records as readonly { total: string; metrics: object }[]
    expect(records.map(({ total }) => total)).toEqual([totals[0], '0.0000001', totals[2], '3'])
    expect(records[1]?.metrics).toEqual({ compute: '0.0000001' })
    answerText(`{"result":{"grandTotalCredits":${sum},"costs":[${costs.join()}]}}`)
    expect((await judge({ period: from, budget: sum.replace(/1$/, '0') })).document.status).toBe('fail')
  })

  it('figures keep metrics of any name, and a name that is not one counts as other', async () => {
    const metrics = '{"constructor":1,"CHC":2,"toStringCHC":3,"__proto__":4,"__proto__CHC":5}'
    answerText(`{"result":{"grandTotalCHC":15,"costs":[{"date":"${from}","totalCHC":15,"locked":true,"metrics":${metrics}}]}}`)
    const { byMetric } = (await judge({ period: from, budget: '15' })).document
    expect(byMetric).toEqual(
      [
        ['other', '9'],
        ['toString', '3'],
        ['CHC', '2'],
        ['constructor', '1'],
      ].map(([name, total]) => ({ name, total, provisional: '0' })),
    )
  })

  it('says of a budget without any record neither that it is exceeded nor how much of it is used', async () => {
    answer({ grandTotalCredits: 0, costs: [] })
    const empty = await judge()
    expect([empty.outputs['budget-exceeded'], empty.outputs['budget-used-percent']]).toEqual([undefined, undefined])
    answer({ grandTotalCredits: 3, costs: whole })
    const known = await judge()
    expect([known.outputs['budget-exceeded'], known.outputs['budget-used-percent']]).toEqual(['false', '30.00'])
    answer({ grandTotalCredits: 3, costs: whole })
    expect((await judge({ budget: '' })).outputs).not.toHaveProperty('budget-exceeded')
  })
})
