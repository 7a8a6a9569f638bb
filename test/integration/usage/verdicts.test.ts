import { beforeEach, describe, expect, it } from 'vitest'
import { addDays, type Day } from '../../../src/core/dates.ts'
import { fillUsage, inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator()

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

describe('records that can still change', () => {
  it.each<[string, Inputs, string]>([
    ['count by default', { budget: '40' }, 'fail'],
    ['do not count when they are excluded', { budget: '30', unlocked: 'exclude' }, 'pass'],
    ['do not hide that the final ones are above', { budget: '29.999', unlocked: 'exclude' }, 'fail'],
  ])('%s', async (_, inputs, status) => {
    const ran = await judge(inputs)
    expect(ran.document).toMatchObject({ status, grandTotalCredits: '48', provisionalCredits: '18' })
  })

  it('are not all there is: nothing final is no zero', async () => {
    for (const record of emulator().store.organizations[0]?.usage ?? []) record.locked = false
    const ran = await judge({ budget: '10', unlocked: 'exclude' })
    expect([ran.document.status, ran.reason]).toEqual(['fail', expect.stringContaining('is final yet, and final ones alone are judged')])
  })

  it('are said to be left out', async () => {
    const ran = await judge({ budget: '29.999', unlocked: 'exclude' })
    expect(ran.reason).toContain('final records alone are above the budget of 29.999 by 0.001 Credits')
    expect(ran.document.judgedCredits).toBe('30')
  })
})

describe('the report', () => {
  const textOf = (line: readonly { readonly text: string }[]): string => line.map(({ text }) => text).join('')

  it('shows the limits, what was judged and what can still change', async () => {
    const { blocks } = await judge({ budget: '40', 'warn-budget': '29', unlocked: 'exclude' })
    const facts = blocks.flatMap((block) => (block.kind === 'facts' ? block.facts : []))
    expect(Object.fromEntries(facts.map(({ label, value }) => [label, textOf(value)]))).toEqual({
      Total: '48 Credits',
      Final: '30 Credits',
      Budget: '40 Credits',
      'Warn above': '29 Credits',
      Used: '75.00 %',
      'Can still change': '18 Credits (37.5 %)',
      Days: '10',
    })
  })

  it('says that no limit was given', async () => {
    const { blocks } = await judge({})
    expect(JSON.stringify(blocks)).toContain('no limit was given')
    expect(JSON.stringify(blocks)).toContain('none given')
  })

  it('has a row for each group, with the part that can still change', async () => {
    const { blocks } = await judge({ 'group-by': 'entity' })
    const tables = blocks.flatMap((block) => (block.kind === 'table' ? [block] : []))
    const [table] = tables.filter(({ columns }) => columns[0]?.title === 'Entity')
    expect(table?.columns.map(({ title, align = 'left' }) => [title, align])).toEqual([
      ['Entity', 'left'],
      ['Type', 'left'],
      ['Used, Credits', 'right'],
      ['Share', 'right'],
      ['Can still change', 'right'],
    ])
    expect(table?.rows.map((row) => row.map(textOf))).toEqual([
      ['checkout', 'service', '30.00', '62.5 %', '0.00'],
      ['search', 'service', '18.00', '37.5 %', '18.00'],
    ])
  })
})

describe('a forecast', () => {
  const dates = (days: number, ahead: number): Inputs => ({
    period: '',
    'from-date': addDays(today, 1 - days),
    'to-date': addDays(today, ahead),
  })

  it.each([
    [10, 10, '80', 'pass'],
    [10, 10, '79', 'fail'],
  ])('of %i days and %i more against %s is a %s', async (days, ahead, most, status) => {
    for (const record of emulator().store.organizations[0]?.usage ?? []) {
      record.micro = { compute: record.entityName === 'search' ? 1_000_000 : 3_000_000 }
    }
    const ran = await judge({ ...dates(days, ahead), 'forecast-budget': most })
    expect(ran.document).toMatchObject({ status, forecastCredits: '80', forecast: { status: 'expected', learnedFromDays: 9 } })
  })

  it('is no number while it is too early, and fails nothing', async () => {
    const ran = await judge({ ...dates(2, 28), 'forecast-budget': '8' })
    expect(ran.document).toMatchObject({ status: 'pass', forecast: { status: 'too-early', completeDays: 1 } })
    expect(ran.outputs).not.toHaveProperty('forecast-credits')
    expect(JSON.stringify(ran.blocks)).toContain('not yet: too early to tell')
  })

  it('is not needed for what is used up already', async () => {
    const ran = await judge({ ...dates(2, 28), 'forecast-budget': '7.9' })
    expect([ran.document.status, ran.reason]).toEqual(['fail', expect.stringContaining('above the forecast budget of 7.9 by 0.1 Credits')])
  })

  it('of a period that is over is its total', async () => {
    const ran = await judge({ period: '', 'from-date': addDays(today, -9), 'to-date': addDays(today, -1), 'forecast-budget': '40' })
    expect(ran.document).toMatchObject({ status: 'fail' })
    expect(ran.document.forecast).toBeUndefined()
    expect(ran.reason).toContain('above the forecast budget of 40 by 4 Credits')
  })

  it('means nothing for a period without days to come', async () => {
    expect((await judge({ 'forecast-budget': '40' })).reason).toBe(
      'forecast-budget: means nothing for last-10-days, of which no day is still to come',
    )
  })
})

describe('the day on which a budget runs out', () => {
  it('is a day that is past when it did', async () => {
    expect((await judge({ budget: '20' })).outputs['runs-out-on']).toBe(addDays(today, -5))
  })

  it('is none when it lasts', async () => {
    expect((await judge({ budget: '48' })).outputs).not.toHaveProperty('runs-out-on')
  })
})

it('names a spike with the entity and the metric that caused it', async () => {
  const ran = await judge({ period: 'last-30-days' })
  expect(ran.document).toMatchObject({
    status: 'pass',
    spikes: [
      { date: addDays(today, -5), total: '12', usual: '4', driver: { entityName: 'search', metric: 'compute', total: '9', usual: '1' } },
    ],
  })
})

describe('a waiver', () => {
  const waiver = (until: Day) => `until=${until}; reason=Load test of the shop; agreed`

  it('turns a failure into a warning that says who answers for it', async () => {
    const ran = await judge({ budget: '40', waiver: waiver(today) })
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'warn'])
    expect(ran.reason).toContain(`above the budget of 40 by 8 Credits (120.00 %); waived until ${today}: Load test of the shop; agreed`)
    expect(ran.document).toMatchObject({ budgetExceeded: true, waiver: { until: today, reason: 'Load test of the shop; agreed' } })
  })

  it('stands in the report when nothing needs it', async () => {
    const ran = await judge({ budget: '50', waiver: waiver(today) })
    expect(ran.document.status).toBe('pass')
    expect(JSON.stringify(ran.blocks)).toContain('Load test of the shop; agreed')
  })

  it('is an error once it has expired, whatever the figures say', async () => {
    const ran = await judge({ budget: '50', waiver: waiver(addDays(today, -1)) })
    expect([ran.exitCode, ran.document.status]).toEqual([2, 'error'])
    expect(ran.reason).toContain(`waiver: expired on ${addDays(today, -1)}, today is ${today} in UTC`)
    expect(emulator().requests).toHaveLength(0)
  })

  it.each(['until=2026-02-30; reason=x', 'until=2099-01-01', 'until=2099-01-01; reason=', 'reason=x; until=2099-01-01', '2099-01-01'])(
    'is refused when it is "%s"',
    async (text) => {
      expect((await judge({ budget: '50', waiver: text })).reason).toContain('is not accepted; accepted: until=YYYY-MM-DD; reason=why')
    },
  )
})
