// The days before the period, which forecasts and spikes are based on.
import { beforeEach, describe, expect, it } from 'vitest'
import { addDays, type Day, plainDay, plainDays } from '../../../../src/platform/core/dates.ts'
import { toPlainText } from '../../../../src/platform/core/line.ts'
import { createVirtualClock } from '../../../support/clocks.ts'
import { fillUsage, inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { type Invoked, invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 10_000 } })

let today: Day
beforeEach(() => {
  today = fillUsage(emulator(), 120, [
    { name: 'checkout', microOn: (ago) => ({ compute: ago === 16 ? 90_000_000 : 3_000_000 + (ago % 7) * 100_000 }), locked: true },
    { name: 'search', microOn: (ago) => ({ compute: ago === 5 ? 40_000_000 : 1_000_000 }), locked: true },
  ])
})

type Inputs = Readonly<Record<string, string>>

const run = (inputs: Inputs, files: Inputs = {}) =>
  invokeText({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', gate: 'auto', ...inputs }, files })

/** Ten days that are over, today, and nineteen that are ahead. */
const running = (): Inputs => ({ period: `${addDays(today, -10)}..${addDays(today, 19)}` })

const windows = (): readonly string[] =>
  emulator()
    .requests.filter(({ path }) => path.includes('/usageCost'))
    .map(({ path }) => new URL(path, 'http://x').searchParams)
    .map((query) => `${query.get('from_date')} ${query.get('to_date')}`)
    .toSorted()

/** The request for the last four weeks before `running()`. */
const failHistory = (status = 400) =>
  emulator().addFault({
    match: { path: `from_date=${addDays(today, -38)}` },
    times: Number.POSITIVE_INFINITY,
    effect: { kind: 'status', status, headers: { 'retry-after': '0' } },
  })

const paragraphsOf = ({ blocks }: Invoked): readonly string[] =>
  blocks.flatMap((block) => (block.kind === 'paragraph' ? [toPlainText(block.line)] : []))

it('asks again for halves of the days whose answer is too large, and not for less than a day', { tags: 'slow' }, async () => {
  const closed = { period: `${addDays(today, -35)}..${addDays(today, -6)}`, budget: '500' }
  const { grandTotalCredits, records } = (await run(closed)).document
  const windowOf = (from: number, to: number): string => `${addDays(today, -from)} ${addDays(today, -to)}`
  const tooLarge = (times: number, path: string) =>
    emulator().addFault({ match: { path }, times, effect: { kind: 'body', text: ' '.repeat(17 * 1024 * 1024) } })
  const before = windows()
  // All days, and the first half of them.
  tooLarge(2, `from_date=${addDays(today, -35)}`)
  expect((await run(closed)).document).toMatchObject({ status: 'pass', grandTotalCredits, records })
  expect(before).toEqual([windowOf(63, 36), windowOf(35, 6)])
  expect(windows()).toEqual([...before, ...before, windowOf(35, 21), windowOf(35, 29), windowOf(28, 21), windowOf(20, 6)].toSorted())
  tooLarge(Number.POSITIVE_INFINITY, 'usageCost')
  expect((await run({ period: `${addDays(today, -7)}..${addDays(today, -6)}` })).reason).toMatch(/limit of 16 MiB/)
})

describe('a period with future days', () => {
  it('a period with future days has the same forecast and the same spikes with every option', { tags: 'slow' }, async () => {
    const budgets = { 'budgets.yml': `[{ name: long, limit: 9999, period: last-90-days }, { name: same, limit: 9999 }]` }
    const all = await Promise.all(
      [
        {},
        { compare: 'previous-period' },
        { compare: 'previous-month-days' },
        { budgets: 'budgets.yml' },
        { budget: '500', compare: 'previous-period', budgets: 'budgets.yml' },
      ].map((inputs) => run({ ...running(), ...inputs }, budgets)),
    )
    const [first, ...others] = all.map(({ document: { forecast, spikes, spikeDays } }) => ({ forecast, spikes, spikeDays }))
    expect(first).toMatchObject({
      forecast: { status: 'expected', learnedFromDays: 68, isWeekdayAware: true },
      spikes: [{ date: addDays(today, -5) }],
      spikeDays: 11,
    })
    for (const other of others) expect(other).toEqual(first)
    expect(all[3]?.document.budgets).toMatchObject([{ name: 'long' }, { name: 'same', forecast: first?.forecast }])
  })

  it('a period with future days has the same forecast for a budget of its own, whatever the period of the run is', async () => {
    const period = `${addDays(today, -10)}..${addDays(today, 19)}`
    const file = { 'b.yml': `[{ name: own, limit: 9999, period: ${period} }]` }
    const forecastOf = async (inputs: Inputs) => {
      const [budget] = (await run({ ...inputs, budgets: 'b.yml' }, file)).document.budgets as { forecast: unknown }[]
      return budget?.forecast
    }
    const { forecast } = (await run(running())).document
    expect([await forecastOf({ period: 'yesterday' }), await forecastOf({ period: 'last-60-days' })]).toEqual([forecast, forecast])
  })
})

describe('the requests', () => {
  it('the requests are one for the period and one for the four weeks before it', async () => {
    await run({ period: 'last-10-days' })
    expect(windows()).toEqual([`${addDays(today, -37)} ${addDays(today, -10)}`, `${addDays(today, -9)} ${today}`])
  })

  it('the requests are one more for a forecast, which is based on two ends of months', async () => {
    await run(running())
    expect(windows()).toEqual([
      `${addDays(today, -69)} ${addDays(today, -39)}`,
      `${addDays(today, -38)} ${addDays(today, -11)}`,
      `${addDays(today, -10)} ${today}`,
    ])
  })

  it('the requests are joined when all days fit into one', async () => {
    const ran = await run({ period: 'last-3-days', budget: '100' })
    expect(windows()).toEqual([`${addDays(today, -30)} ${today}`])
    expect(ran.document).toMatchObject({ status: 'pass', grandTotalCredits: '12.3', days: 3, spikeDays: 3 })
    expect(ran.document.records).toHaveLength(6)
  })

  it('the requests are separate when the records of joined days do not add up exactly, because the total of a part is then unknown', async () => {
    const record = (ago: number) => ({
      date: addDays(today, -ago),
      entityType: 'service',
      entityId: 'a',
      entityName: 'a',
      totalCredits: 1,
      locked: true,
    })
    const answer = (path: string, body: object) =>
      emulator().addFault({ match: { path }, effect: { kind: 'body', text: JSON.stringify({ result: body }) } })
    answer(`from_date=${addDays(today, -30)}`, { grandTotalCredits: 31.001, costs: Array.from({ length: 31 }, (_, i) => record(i)) })
    answer(`from_date=${addDays(today, -2)}`, { grandTotalCredits: 3.0001, costs: [2, 1, 0].map(record) })
    const ran = await run({ period: 'last-3-days', budget: '3' })
    expect(ran.document).toMatchObject({ status: 'fail', grandTotalCredits: '3.0001', spikeDays: 3 })
  })

  it('the requests do not depend on joined days that the API rejects', async () => {
    emulator().addFault({ match: { path: `from_date=${addDays(today, -30)}` }, effect: { kind: 'status', status: 400 } })
    const ran = await run({ period: 'last-3-days', budget: '100' })
    expect(ran.document).toMatchObject({ status: 'pass', grandTotalCredits: '12.3', spikeDays: 0 })
    expect(paragraphsOf(ran)).toContainEqual(expect.stringMatching(/^The usage of .* could not be read\. The API answered 400/))
  })
})

describe('a closed month', () => {
  /** The spike of checkout is on the second of 31 days. */
  const closed = (): Inputs => ({ period: `${addDays(today, -17)}..${addDays(today, 13)}` })

  it('a closed month has the spikes of all its days', async () => {
    const clock = createVirtualClock(Date.parse(`${addDays(today, 20)}T12:00:00Z`))
    const inputs = { ...inputsFor(emulator()), operation: 'usage-cost', 'on-missing': 'ignore', budget: '500', ...closed() }
    const ran = await invokeText({ inputs, clock })
    expect(windows()).toEqual([`${addDays(today, -45)} ${addDays(today, -18)}`, `${addDays(today, -17)} ${addDays(today, 13)}`])
    expect(ran.document).toMatchObject({ spikeDays: 31, spikes: [{ date: addDays(today, -16) }, { date: addDays(today, -5) }] })
    expect(paragraphsOf(ran).join()).not.toContain('checked for spikes')
  })
})

describe('without the days before the period, because they cannot be read,', () => {
  const days = (): string => plainDays(addDays(today, -69), addDays(today, -11))

  it.each([400, 403, 500])('without the days before the period there is no forecast, and the report says so: %i', async (status) => {
    failHistory(status)
    const ran = await run({ ...running(), budget: '500' })
    expect(ran.document).toMatchObject({ status: 'pass', forecast: { status: 'unavailable' } })
    expect(ran.outputs).not.toHaveProperty('forecast-credits')
    expect(paragraphsOf(ran)).toContainEqual(
      expect.stringMatching(new RegExp(`^The usage of ${days()} could not be read, so there is no forecast\\. The API answered ${status}`)),
    )
  })

  it('a forecast budget fails', async () => {
    failHistory()
    const ran = await run({ ...running(), 'forecast-budget': '5000' })
    expect([ran.exitCode, ran.document.status]).toEqual([10, 'fail'])
    expect(ran.reason).toMatch(/^Budget has no forecast, because the usage before its period could not be read or is inconsistent\.$/)
  })

  it('a budget with forecast: true fails, and the others pass', async () => {
    failHistory()
    const file = { 'b.yml': '[{ name: ahead, limit: 9999, forecast: true }, { name: now, limit: 9999 }]' }
    const ran = await run({ ...running(), budgets: 'b.yml' }, file)
    expect(ran.document).toMatchObject({ status: 'fail', budgets: [{ status: 'fail' }, { status: 'pass' }] })
    expect(ran.reason).toContain('Budget ahead has no forecast, because the usage before its period could not be read or is inconsistent.')
  })

  it('a comparison still works when it needs other days', async () => {
    failHistory()
    const ran = await run({ period: 'last-10-days', compare: 'previous-period', 'max-increase': '500%' })
    expect(ran.document.status).toBe('pass')
  })

  it('the same is true when their records are inconsistent', async () => {
    const costs = [{ date: addDays(today, -20), entityType: 'service', entityId: 'a', entityName: 'a', totalCHC: 1, locked: true }]
    emulator().addFault({
      match: { path: `from_date=${addDays(today, -38)}` },
      effect: { kind: 'body', text: JSON.stringify({ result: { grandTotalCHC: 7, costs } }) },
    })
    const ran = await run({ ...running(), budget: '500' })
    expect(ran.document).toMatchObject({ status: 'pass', forecast: { status: 'unavailable' } })
    const text = `The usage records for ${days()} are inconsistent, so there is no forecast. The usage records for ${days()} add up to`
    expect(paragraphsOf(ran)).toContainEqual(expect.stringContaining(text))
  })

  it('the same is true when their records are inconsistent and another limit needs them, too', async () => {
    const usage = emulator().store.organizations[0]?.usage ?? []
    usage.push(...usage.filter(({ date, entityName }) => date === addDays(today, -20) && entityName === 'checkout'))
    const file = { 'b.yml': `[{ name: other, limit: 9999, period: ${addDays(today, -45)}..${addDays(today, -11)} }]` }
    const limits = { ...running(), 'forecast-budget': '9999', 'on-missing': 'warn' }
    for (const inputs of [limits, { ...limits, budgets: 'b.yml' }, { ...limits, compare: 'previous-period' }]) {
      const ran = await run(inputs, file)
      expect(ran.document).toMatchObject({
        status: 'fail',
        forecast: { status: 'unavailable' },
        historyFailure: { status: 'inconsistent' },
      })
      expect(paragraphsOf(ran)).toContain(
        `The usage records for ${days()} are inconsistent, so there is no forecast. checkout has more than one usage record for ${plainDay(addDays(today, -20))}.`,
      )
    }
  })

  it('a forecast does not depend on inconsistent records of earlier days that a limit needs', async () => {
    const usage = emulator().store.organizations[0]?.usage ?? []
    usage.push(...usage.filter(({ date, entityName }) => date === addDays(today, -75) && entityName === 'checkout'))
    const file = { 'b.yml': `[{ name: other, limit: 9999, period: ${addDays(today, -75)}..${addDays(today, -11)} }]` }
    const ran = await run({ ...running(), 'forecast-budget': '9999', 'on-missing': 'warn', budgets: 'b.yml' }, file)
    expect(ran.document).toMatchObject({ status: 'warn', forecast: { status: 'expected' } })
  })

  it('the same is true when their unit is another one', async () => {
    for (const first of [-69, -38])
      emulator().addFault({
        match: { path: `from_date=${addDays(today, first)}` },
        effect: { kind: 'body', text: '{"result":{"grandTotalCredits":0,"costs":[]}}' },
      })
    const ran = await run({ ...running(), budget: '500' })
    expect(ran.document).toMatchObject({ status: 'pass', unit: 'CHC', forecast: { status: 'unavailable' } })
    expect(paragraphsOf(ran)).toContainEqual(expect.stringContaining('The unit is Credits.'))
  })
})

it('does not report missing records of days before the period', async () => {
  fillUsage(emulator(), 12, [{ name: 'checkout', microOn: () => ({ compute: 1_000_000 }), locked: true }])
  const ran = await run({ ...running(), budget: '500' })
  expect(ran.document).toMatchObject({ status: 'pass', dataQualityIssues: [], forecast: { status: 'expected', learnedFromDays: 10 } })
})

describe('usage that stopped', () => {
  beforeEach(() => {
    fillUsage(emulator(), 60, [
      { name: 'other', microOn: () => ({ compute: 10_000_000 }), locked: true },
      { name: 'team-a', microOn: (ago) => (ago > 8 ? { compute: 10_000_000 } : undefined), locked: true },
    ])
    const stopped = serviceOf(emulator())
    stopped.tags = [{ key: 'team', value: 'a' }]
    for (const record of emulator().store.organizations[0]?.usage ?? []) if (record.entityName === 'team-a') record.serviceId = stopped.id
  })

  it('usage that stopped has a forecast of no further usage in a budget by tag, as in a budget by service', async () => {
    const file = `
- { name: by-tag, limit: 30, forecast: true, scope: { tag: team=a } }
- { name: by-service, limit: 30, forecast: true, scope: { service: team-a } }`
    const ran = await run({ ...running(), budgets: 'b.yml' }, { 'b.yml': file })
    expect(ran.document).toMatchObject({
      status: 'pass',
      budgets: [
        { used: '20', forecast: { total: '20' } },
        { used: '20', forecast: { total: '20' } },
      ],
    })
  })

  it('usage that stopped has a forecast of no further usage with a filter', async () => {
    const ran = await run({ ...running(), select: 'tag=team=a', budget: '30', 'forecast-budget': '30' })
    expect(ran.document).toMatchObject({ status: 'pass', grandTotalCredits: '20', forecastCredits: '20' })
    expect(ran.outputs).not.toHaveProperty('runs-out-on')
  })
})

describe('compare: previous-month-days', () => {
  const runOn = (day: string, inputs: Inputs) =>
    invokeText({
      inputs: { ...inputsFor(emulator()), operation: 'usage-cost', 'on-missing': 'ignore', compare: 'previous-month-days', ...inputs },
      clock: createVirtualClock(Date.parse(`${day}T12:00:00Z`)),
    })

  it.each([
    ['2026-11-21', { period: 'month-to-date' }, '2026-10-01', '2026-10-19'],
    ['2026-03-31', { period: 'month-to-date' }, '2026-02-01', '2026-02-28'],
    ['2026-11-05', { period: 'previous-month' }, '2026-09-01', '2026-09-30'],
    ['2026-11-05', { period: '2026-10-20..2026-11-03' }, '2026-09-20', '2026-10-03'],
    ['2026-11-05', { period: '2026-10-20..2026-11-04' }, '2026-09-20', '2026-10-03'],
    ['2026-06-05', { period: 'billing-cycle', 'billing-cycle-day': '31' }, '2026-04-30', '2026-05-05'],
  ])('compare: previous-month-days on %s with %o compares with %s to %s', async (now, inputs, fromDate, toDate) => {
    const ran = await runOn(now, inputs)
    expect(ran.document.comparison).toMatchObject({ with: 'previous-month-days', fromDate, toDate })
    expect(JSON.stringify(ran.blocks)).toContain('Change from the same days of the previous month')
  })

  it.each([
    ['900%', ', limit 900%'],
    ['5000', ', limit 5,000.00 CHC'],
  ])('the change from the previous period has the limit %s beside it, also when it is kept', async (maxIncrease, shown) => {
    const ran = await runOn('2026-11-05', { period: 'previous-month', compare: 'previous-period', 'max-increase': maxIncrease })
    expect(ran.document.status).toBe('pass')
    expect(JSON.stringify(ran.blocks)).toContain(shown)
  })

  it('rejects a first day that the previous month lacks, because the two periods would have other days', async () => {
    const ran = await runOn('2026-04-05', { period: '2026-03-29..2026-03-31' })
    expect([ran.exitCode, ran.reason]).toEqual([
      2,
      'compare: previous-month-days requires a first day that the previous month has: the period starts on 29 Mar 2026, and that month ends on 28 Feb 2026. Set an earlier first day, or compare with previous-period',
    ])
    expect(emulator().requests).toHaveLength(0)
  })

  it('rejects a period that overlaps the earlier days', async () => {
    const ran = await runOn('2026-11-05', { period: '2026-09-20..2026-11-03' })
    expect([ran.exitCode, ran.reason]).toEqual([
      2,
      expect.stringMatching(/^compare: previous-month-days requires a period of at most one month/),
    ])
    expect(emulator().requests).toHaveLength(0)
  })

  it.each(['today', 'last-10-days', 'year-to-date'])('rejects %s on every day, and not only where the months differ', async (period) => {
    const ran = await runOn('2026-01-05', { period })
    expect([ran.exitCode, ran.reason]).toEqual([
      2,
      `compare: previous-month-days requires a period of a month or of dates; compare ${period} with previous-period`,
    ])
  })

  it('compare: previous-month-days is judged by max-increase', async () => {
    const ran = await run({ period: 'month-to-date', compare: 'previous-month-days', 'max-increase': '1%' })
    expect(ran.reason).toMatch(/Usage increased by [\d.]+ CHC \(\d+%\) from the same days of the previous month\. The limit is 1%\./)
  })
})

it('sums up changes below 0.5% of the total in one row of the report, and has each of them in the result', async () => {
  fillUsage(emulator(), 60, [
    { name: 'large', microOn: (ago) => ({ compute: ago < 10 ? 110_000_000 : 100_000_000 }), locked: true },
    { name: 'tiny', microOn: (ago) => ({ compute: ago < 10 ? 500_000 : 1_000 }), locked: true },
  ])
  const ran = await run({ period: 'last-10-days', compare: 'previous-period' })
  expect(ran.document.comparison).toMatchObject({ movers: [{ entityName: 'large' }, { entityName: 'tiny' }] })
  const [table] = ran.blocks.flatMap((block) => (block.kind === 'table' && block.title?.startsWith('Largest changes') ? [block] : []))
  expect(table?.rows.map((row) => row.map(toPlainText))).toEqual([
    ['large', 'compute', '800.00', '880.00', '+80.00'],
    ['1 smaller change', '–', '0.01', '4.00', '+3.99'],
  ])
})
