import { beforeEach, describe, expect, it } from 'vitest'
import { addDays, type Day, formatDays } from '../../../../src/platform/core/dates.ts'
import { formatShortDay } from '../../../../src/platform/report/format.ts'
import { fillUsage, inputsFor, useEmulator } from '../../../support/emulator.ts'
import { type Invoked, invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: 'off' })

let today: Day
beforeEach(() => {
  today = fillUsage(emulator(), 60, [
    { name: 'checkout', microOn: () => ({ compute: 3_000_000 }), locked: true },
    { name: 'search', microOn: (ago) => ({ compute: ago === 5 ? 9_000_000 : 1_000_000 }), locked: false },
  ])
})

type Inputs = Readonly<Record<string, string>>

const judge = (inputs: Inputs) =>
  invokeText({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period: 'last-10-days', ...inputs } })

it('provisional records count', async () => {
  expect((await judge({ budget: '40' })).document).toMatchObject({ status: 'fail', grandTotalCredits: '48', provisionalCredits: '18' })
})

const textOf = (line: readonly { readonly text: string }[]): string => line.map(({ text }) => text).join('')

const factsOf = ({ blocks }: Invoked): Readonly<Record<string, string>> =>
  Object.fromEntries(
    blocks.flatMap((block) => (block.kind === 'facts' ? block.facts : [])).map(({ label, value }) => [label, textOf(value)]),
  )

describe('the report', () => {
  it('shows the limits, the total and the provisional part', async () => {
    expect(factsOf(await judge({ budget: '64', 'warn-budget': '50' }))).toEqual({
      Used: '48.00 of 64.00 CHC (75%)',
      'Warning level': '50.00 CHC',
      Provisional: '18.00 CHC (38%)',
      Period: `${formatDays(addDays(today, -9), today).replaceAll('\u00a0', ' ')} (10 days)`,
      Unit: 'CHC (ClickHouse Credits)',
    })
  })

  it('the report has a row for each group with its provisional part', async () => {
    const { blocks } = await judge({})
    const tables = blocks.flatMap((block) => (block.kind === 'table' ? [block] : []))
    const [table] = tables.filter(({ columns }) => columns[0]?.title === 'Entity')
    expect(table?.columns.map(({ title, align = 'left' }) => [title, align])).toEqual([
      ['Entity', 'left'],
      ['Type', 'left'],
      ['Used (CHC)', 'right'],
      ['Share', 'right'],
      ['Provisional (CHC)', 'right'],
    ])
    expect(table?.rows.map((row) => row.map(textOf))).toEqual([
      ['checkout', 'service', '30.00', '62.5%', '0.00'],
      ['search', 'service', '18.00', '37.5%', '18.00'],
    ])
  })
})

describe('a forecast', () => {
  const dates = (days: number, ahead: number): Inputs => ({
    period: `${addDays(today, 1 - days)}..${addDays(today, ahead)}`,
  })

  it.each([
    [10, 10, '80', 'pass'],
    [10, 10, '79', 'fail'],
  ])('a forecast from %i days for %i more days with forecast-budget %s is a %s', async (days, ahead, most, status) => {
    for (const record of emulator().store.organizations[0]?.usage ?? []) {
      record.micro = { compute: record.entityName === 'search' ? 1_000_000 : 3_000_000 }
    }
    const ran = await judge({ ...dates(days, ahead), 'forecast-budget': most })
    expect(ran.document).toMatchObject({ status, forecastCredits: '80', forecast: { status: 'expected', learnedFromDays: 58 } })
  })

  it('a forecast is not available early in the period, and does not fail the gate', async () => {
    const ran = await judge({ ...dates(2, 28), 'forecast-budget': '8' })
    expect(ran.document).toMatchObject({ status: 'pass', forecast: { status: 'too-early', completeDays: 0 } })
    expect(ran.outputs).not.toHaveProperty('forecast-credits')
    expect(JSON.stringify(ran.blocks)).toContain('not available yet: too early in the period')
  })

  it('a forecast is not needed when the usage already exceeds forecast-budget', async () => {
    const ran = await judge({ ...dates(2, 28), 'forecast-budget': '7.9' })
    expect([ran.document.status, ran.reason]).toEqual(['fail', 'Budget exceeded: 8.00 of 7.90 CHC (101%).'])
  })

  it('a forecast of a past period is its total', async () => {
    const ran = await judge({ period: `${addDays(today, -9)}..${addDays(today, -1)}`, 'forecast-budget': '40' })
    expect(ran.document).toMatchObject({ status: 'fail' })
    expect(ran.document.forecast).toBeUndefined()
    expect(ran.reason).toBe('Budget exceeded: 44.00 of 40.00 CHC (110%).')
  })

  it('requires a period with future days', async () => {
    expect((await judge({ 'forecast-budget': '40' })).reason).toBe(
      'forecast-budget: requires a period with future days, and last-10-days has none',
    )
  })
})

describe('the first line of a verdict', () => {
  const running = (): Inputs => ({ period: `${addDays(today, -9)}..${addDays(today, 10)}` })

  it.each([
    [{ budget: '60', 'forecast-budget': '60' }, 'the budget of 60'],
    // What was used is above this one already.
    [{ budget: '60', 'forecast-budget': '40' }, 'the forecast budget of 40'],
    [{ 'forecast-budget': '40' }, 'the budget of 40'],
  ])('the first line of a verdict with %j has the forecast', async (limits, exceeded) => {
    const ran = await judge({ ...running(), ...limits })
    const { forecastCredits } = ran.document
    expect(ran.reason).toBe(
      `Forecast of ${Number(forecastCredits).toFixed(2)} CHC by ${formatShortDay(addDays(today, 10), today)} exceeds ${exceeded}.00 CHC.`,
    )
  })

  it('the first line of a verdict has the most important reason, and a list has the others', async () => {
    const ran = await judge({ budget: '40', compare: 'previous-period', 'max-increase': '10%' })
    expect(ran.blocks.slice(0, 2).map(({ kind }) => kind)).toEqual(['verdict', 'list'])
    expect(ran.reason).toBe(
      'Budget exceeded: 48.00 of 40.00 CHC (120%). Usage increased by 8.00 CHC (25%) from the previous period. The limit is 10%.',
    )
  })

  it('the first line of a verdict has the exact amounts where rounding would hide the difference', async () => {
    expect((await judge({ budget: '47.999999' })).reason).toBe('Budget exceeded: 48 of 47.999999 CHC (100.000002%).')
  })

  it('the first line of a verdict has the used amount, the budget and the period of a run that passes', async () => {
    const [verdict] = (await judge({ budget: '50' })).blocks
    const days = formatDays(addDays(today, -9), today).replaceAll('\u00a0', ' ')
    expect(verdict?.kind === 'verdict' && textOf(verdict.line)).toBe(`Used 48.00 of 50.00 CHC (96%) from ${days}.`)
  })

  it('names the setting that makes a failure a warning', async () => {
    expect((await judge({ budget: '40', 'warn-only': 'true' })).reason).toBe(
      'Budget exceeded: 48.00 of 40.00 CHC (120%). The setting warn-only makes this failure a warning.',
    )
  })
})

it('shows the forecast with its 80% range and the days it is based on', async () => {
  const ran = await judge({ period: `${addDays(today, -40)}..${addDays(today, 10)}` })
  expect(factsOf(ran)[`Forecast by ${formatShortDay(addDays(today, 10), today)}`]).toMatch(
    /^\d+\.\d\d CHC \(80% range \d+–\d+ CHC, from 58 days with a weekday pattern; no budget judges it\)$/,
  )
})

it('the report has two decimals for every amount of money in the report, and all digits in the result', async () => {
  const records = emulator().store.organizations[0]?.usage ?? []
  for (const record of records) record.micro = { compute: 1_234_567 }
  const ran = await judge({ budget: '100', compare: 'previous-period' })
  expect(ran.document.grandTotalCredits).toBe('24.69134')
  expect(JSON.stringify(ran.blocks.filter(({ kind }) => kind !== 'chart'))).not.toMatch(/\d\.\d{3,}/)
})

describe('the day on which usage exceeds the budget', () => {
  it('the day on which usage exceeds the budget is in the past for an exceeded budget, and the report says "Budget exceeded on"', async () => {
    const ran = await judge({ budget: '20' })
    expect(ran.outputs['runs-out-on']).toBe(addDays(today, -5))
    expect(factsOf(ran)).toMatchObject({ 'Budget exceeded on': formatShortDay(addDays(today, -5), today) })
  })

  it('the day on which usage exceeds the budget is a forecast for a budget that is not exceeded yet, and the report says "Budget will be exceeded on"', async () => {
    const ran = await judge({ period: `${addDays(today, -9)}..${addDays(today, 10)}`, budget: '60' })
    expect(factsOf(ran)).toMatchObject({ 'Budget will be exceeded on': formatShortDay(ran.outputs['runs-out-on'] as Day, today) })
    expect(factsOf(ran)).not.toHaveProperty('Budget exceeded on')
  })

  it('the day on which usage exceeds the budget is absent when the usage stays within the budget', async () => {
    expect((await judge({ budget: '48' })).outputs).not.toHaveProperty('runs-out-on')
  })
})

it('names a spike with the entity and the metric that caused it', async () => {
  const ran = await judge({ period: 'last-30-days', gate: 'off' })
  expect(ran.document).toMatchObject({
    status: 'pass',
    spikes: [
      { date: addDays(today, -5), total: '12', usual: '4', driver: { entityName: 'search', metric: 'compute', total: '9', usual: '1' } },
    ],
  })
})
