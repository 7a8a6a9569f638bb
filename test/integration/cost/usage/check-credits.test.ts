import { beforeEach, describe, expect, it } from 'vitest'
import { type CreditBalance, demo, type Effect } from '../../../../src/emulator/index.ts'
import { addDays, type Day, plainDay } from '../../../../src/platform/core/dates.ts'
import { toPlainText } from '../../../../src/platform/core/line.ts'
import { formatShortDay } from '../../../../src/platform/report/format.ts'
import { createVirtualClock } from '../../../support/clocks.ts'
import { fillUsage, inputsFor, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'
import { factsIn, tablesIn } from '../../../support/report-texts.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

let today: Day
/** Ten credits a day. */
beforeEach(() => {
  today = fillUsage(emulator(), 60, [{ name: 'checkout', microOn: () => ({ compute: 10_000_000 }) }])
})

type Inputs = Readonly<Record<string, string>>

/** At noon, so that half of the use of today is ahead. */
const check = (inputs: Inputs = {}) =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'check-credits', ...inputs },
    clock: createVirtualClock(Date.parse(`${today}T12:00:00.000Z`)),
  })

function fill(...balances: readonly Partial<CreditBalance & { left: number; startsIn: number; endsIn: number }>[]): void {
  const [organization] = emulator().store.organizations
  if (organization === undefined) throw new Error('the shop has no organization')
  organization.creditBalances = balances.map(({ left = 105, startsIn = -20, endsIn = 300, ...more }, i) => ({
    id: `c0ffee00-0000-4000-8000-00000000cc0${i}`,
    type: 'prepaid',
    totalMicro: (left + 50) * 1_000_000,
    spentMicro: 50_000_000,
    startDate: `${addDays(today, startsIn)}T00:00:00.000Z`,
    expirationDate: `${addDays(today, endsIn)}T00:00:00.000Z`,
    ...more,
  }))
}

/** Answers of a beta endpoint. */
const answer = (result: unknown) =>
  emulator().addFault({
    match: { path: 'creditBalances' },
    effect: { kind: 'body', text: JSON.stringify({ status: 200, requestId: 'c0ffee00-0000-4000-8000-0000000000aa', result }) },
  })

const textOf = (ran: Awaited<ReturnType<typeof check>>): string => JSON.stringify(ran.blocks)

describe('a report of credits', () => {
  it('has the credits, the days that they last, and what expires unused, with two requests', async () => {
    fill({ left: 105 }, { left: 80, endsIn: 6 })
    const ran = await check()
    expect([ran.exitCode, ran.document.status]).toEqual([0, 'pass'])
    // 55 of the 80 credits are used in five and a half days. Then 105 are left for 10 days.
    expect(ran.document).toMatchObject({
      remainingCredits: '185',
      creditsPerDay: '10',
      daysLeft: 15,
      creditsRunOutOn: addDays(today, 16),
      expiringCredits: '25',
      forecast: { status: 'estimated', days: 21, losses: [{ expected: '25' }] },
    })
    expect(ran.outputs).toMatchObject({ 'remaining-credits': '185', 'days-left': '15' })
    const [verdict] = ran.blocks
    expect(verdict?.kind === 'verdict' && toPlainText(verdict.line)).toContain(
      `185.00 CHC of prepaid credits remain, for 15 more days (until ${plainDay(addDays(today, 15))})`,
    )
    expect(textOf(ran)).toContain('CHC (ClickHouse Credits)')
    expect(textOf(ran)).not.toMatch(/start later|Trial credits|not estimable/)
    expect(
      emulator()
        .requests.map(({ path }) => path.replace(/^.*\/|\?.*$/g, ''))
        .toSorted(),
    ).toEqual(['creditBalances', 'usageCost'])
  })

  it('has a chart of the expected course, of 40 bars at most, where it has three days and not more than 800', async () => {
    const chartOf = async (left: number) => {
      fill({ left, endsIn: 3000 })
      return (await check()).blocks.flatMap((block) => (block.kind === 'chart' ? [[block.title, block.points.length]] : []))
    }
    expect(await chartOf(12)).toEqual([])
    expect(await chartOf(22)).toEqual([['Expected CHC at the end of the day', 3]])
    expect(await chartOf(392)).toEqual([['Expected CHC at the end of the day', 40]])
    expect(await chartOf(402)).toEqual([['Expected CHC at the end of every 2 days', 21]])
    expect(await chartOf(7992)).toEqual([['Expected CHC at the end of every 20 days', 40]])
    expect(await chartOf(8002)).toEqual([])
  })

  it('shows trial credits apart, and counts them nowhere', async () => {
    fill({ left: 105 }, { type: 'trial', left: 900, endsIn: 20 })
    const ran = await check({ 'min-days-left': '11' })
    expect(ran.document).toMatchObject({ status: 'fail', remainingCredits: '105', trialCredits: '900', daysLeft: 10, expiringCredits: '0' })
    expect(textOf(ran)).toContain('Trial credits do not count for limits and estimates.')
  })

  it('does not count credits that start later or are expired, also where the API lists them', async () => {
    const balances = [
      {
        type: 'prepaid',
        remainingCredits: 45,
        startDate: `${today}T12:00:00Z`,
        expirationDate: `${addDays(today, 90)}T00:00:00Z`,
      },
      {
        type: 'prepaid',
        remainingCredits: 500,
        startDate: `${addDays(today, 9)}T00:00:00Z`,
        expirationDate: `${addDays(today, 90)}T00:00:00Z`,
      },
      {
        type: 'prepaid',
        remainingCredits: 7,
        startDate: `${addDays(today, -90)}T00:00:00Z`,
        expirationDate: `${today}T12:00:00Z`,
      },
    ]
    answer({ balances, totalRemainingCredits: 45 })
    const ran = await check()
    expect(ran.document).toMatchObject({
      status: 'pass',
      remainingCredits: '45',
      daysLeft: 4,
      balances: [{ state: 'active' }, { state: 'not-started' }, { state: 'expired' }],
    })
    expect(textOf(ran)).toContain('Credits that start later do not count: 1 balance.')
  })

  it('has each fact and each balance', async () => {
    fill({ left: 105 }, { left: 80, endsIn: 6 }, { type: 'trial', left: 900, endsIn: 20 })
    const { blocks } = await check()
    const on = (days: number) => formatShortDay(addDays(today, days), today)
    expect(factsIn(blocks)).toEqual([
      'Prepaid credits: 185.00 CHC',
      'Trial credits: 900.00 CHC',
      expect.stringMatching(/^Use per day: 10\.00 CHC \(80% range .*\), mean of 21 final days from .* to .*$/),
      expect.stringMatching(/^Days left: 15 \(80% range .*\)$/),
      `Not enough credits on: ${on(16)}`,
      expect.stringMatching(/^Expire unused: 25\.00 CHC \(80% range .*\)$/),
      `Checked: ${plainDay(today)} 12:00 UTC`,
      'Unit: CHC (ClickHouse Credits)',
    ])
    expect(tablesIn(blocks)).toEqual([
      ['Type', 'State', 'Remaining (CHC)', 'Granted (CHC)', 'Starts', 'Expires', 'Expires unused (CHC)'],
      ['prepaid', 'in use', '80.00', '130.00', on(-20), on(6), '25.00'],
      ['trial', 'in use', '900.00', '950.00', on(-20), on(20), '–'],
      ['prepaid', 'in use', '105.00', '155.00', on(-20), on(300), '0.00'],
    ])
  })

  it('says how long they last where that is less than a day, or more than ten years', async () => {
    const wordsOf = async (left: number, perDay = 10) => {
      fillUsage(emulator(), 60, [{ name: 'checkout', microOn: () => ({ compute: perDay * 1_000_000 }) }])
      fill({ left, endsIn: 9000 })
      const { blocks, document } = await check()
      const [verdict] = blocks
      const [, words] = /, for (.*)$/.exec(verdict?.kind === 'verdict' ? toPlainText(verdict.line) : '') ?? []
      return [words, factsIn(blocks).find((fact) => fact.startsWith('Days left')), document.creditsRunOutOn]
    }
    expect(await wordsOf(4)).toEqual(['less than the rest of today', 'Days left: 0', today])
    expect(await wordsOf(6)).toEqual(['only the rest of today', 'Days left: 0', addDays(today, 1)])
    expect(await wordsOf(100, 0)).toEqual(['more than 10 years', 'Days left: more than 10 years', undefined])
  })

  it('has amounts of money with a price, and a page', async () => {
    fill({ left: 100 })
    const ran = await check({ 'credit-price': '0.95 USD', reports: 'html=credits.html' })
    expect(textOf(ran)).toContain('100.00 CHC (95.00 USD)')
    expect(ran.files.map(({ path }) => path)).toEqual(['credits.html'])
    expect(ran.files[0]?.content).toContain('95&#46;00 USD')
  })
})

describe('an organization without prepaid credits', () => {
  it.each<[string, Inputs, string]>([
    ['passes without a limit', {}, 'pass'],
    ['fails with min-days-left, because the last credits may be used up', { 'min-days-left': '5' }, 'fail'],
  ])('%s', async (_, inputs, status) => {
    fill()
    const ran = await check(inputs)
    expect(ran.document.status).toBe(status)
    expect(ran.outputs).not.toHaveProperty('remaining-credits')
    expect(ran.outputs).not.toHaveProperty('days-left')
    const [verdict] = ran.blocks
    expect(verdict?.kind === 'verdict' && toPlainText(verdict.line)).toMatch(/^No prepaid credits/)
    expect(textOf(ran)).not.toContain('0.00 CHC')
  })

  it('names the day on which the next credits start', async () => {
    answer({ balances: [{ type: 'prepaid', remainingCredits: 9, startDate: `${addDays(today, 9)}T00:00:00Z` }] })
    const ran = await check({ 'min-days-left': '1' })
    expect(ran.reason).toContain(`The next ones start on ${plainDay(addDays(today, 9))}.`)
  })
})

describe('a limit', () => {
  it.each<[Inputs, string, RegExp]>([
    [{ 'min-days-left': '10' }, 'pass', /^$/],
    [
      { 'min-days-left': '11' },
      'fail',
      /^Prepaid credits last for less than the minimum of 11 days: for 10 more days \(until .*\)\. Buy credits, or lower the use: watchkeeper usage-cost shows what costs most\. If less is enough, lower min-days-left\.$/,
    ],
  ])('%o: %s', async (inputs, status, reason) => {
    fill({ left: 105 })
    const ran = await check(inputs)
    expect([ran.document.status, ran.reason]).toEqual([status, expect.stringMatching(reason)])
  })
})

describe('an estimate', () => {
  it('V10: needs seven final days, and limits that depend on it fail', async () => {
    fillUsage(emulator(), 6, [{ name: 'checkout', microOn: () => ({ compute: 10_000_000 }) }])
    fill({ left: 105 })
    const ran = await check({ 'min-days-left': '5' })
    expect(ran.document).toMatchObject({ status: 'fail', remainingCredits: '105', forecast: { status: 'not-estimable' } })
    expect(factsIn(ran.blocks)).toContain('Estimate: not estimable')
    expect(textOf(ran)).not.toContain('The estimate assumes')
    expect(ran.outputs).not.toHaveProperty('days-left')
    expect(ran.reason).toMatch(
      /^min-days-left was not checked, because there are 0 final days of usage in a row, and an estimate needs 7\./,
    )
  })

  it('is missing when the usage cannot be read, and the credits are shown', async () => {
    emulator().addFault({ match: { path: 'usageCost' }, effect: { kind: 'status', status: 400 } })
    fill({ left: 105 })
    const ran = await check({ 'min-days-left': '5' })
    expect(ran.document).toMatchObject({ status: 'fail', remainingCredits: '105' })
    expect(ran.reason).toMatch(/^min-days-left was not checked, because the usage could not be read: The API answered 400/)
  })

  it('an estimate is missing when usage is negative', async () => {
    fillUsage(emulator(), 60, [{ name: 'checkout', microOn: (ago) => ({ compute: ago === 9 ? -5 : 10_000_000 }) }])
    fill({ left: 105 })
    expect((await check({ 'min-days-left': '5' })).reason).toContain('the usage records cannot be trusted: The usage of checkout on')
  })
})

describe('the beta endpoint', () => {
  it('may lack every field that no figure depends on, and have other fields', async () => {
    const bare = { remainingCredits: '15.5', type: 'PREPAID', color: 'red', startDate: null, expirationDate: null }
    answer({ balances: [bare, { remainingCredits: 0.5, type: 'prepaid' }, { remainingCredits: 0, type: 'prepaid' }], version: 2 })
    const { document } = await check()
    expect(document).toMatchObject({ status: 'pass', remainingCredits: '16', daysLeft: 1 })
    expect((document.balances as object[])[0]).toEqual({ type: 'prepaid', state: 'active', remaining: '15.5' })
  })

  it('has types that are not known, which do not count and are a warning', async () => {
    answer({
      balances: [
        { remainingCredits: 12.5, type: 'promotion' },
        { remainingCredits: 3, type: 'prepaid' },
      ],
    })
    const ran = await check()
    expect(ran.document).toMatchObject({ status: 'warn', remainingCredits: '3' })
    expect(ran.reason).toBe('1 balance of an unknown type with 12.50 CHC did not count.')
  })

  it('has a total that differs from its balances, which fails a gate', async () => {
    answer({ totalRemainingCredits: 99, balances: [{ remainingCredits: 3, type: 'prepaid' }] })
    const { reason } = await check({ 'min-days-left': '1' })
    expect(reason).toContain("The balances add up to 3.00 CHC, but the API's total is 99.00 CHC.")
    expect(reason).toContain(' Buy credits, or lower the use: ')
    answer({ totalRemainingCredits: 99, balances: [{ remainingCredits: 3, type: 'prepaid' }] })
    expect((await check()).document.status).toBe('warn')
  })

  it.each([
    ['no list', {}, 'balances'],
    ['no amount', { balances: [{ type: 'prepaid' }] }, 'balances[0].remainingCredits is missing'],
    ['an amount that is not a number', { balances: [{ type: 'prepaid', remainingCredits: 'many' }] }, 'is not a finite number'],
    [
      'a negative amount',
      { totalRemainingCredits: 2, balances: [3, -1].map((remainingCredits) => ({ type: 'prepaid', remainingCredits })) },
      '[1].remainingCredits is negative',
    ],
    ['a wrong date', { balances: [{ type: 'prepaid', remainingCredits: 1, expirationDate: 'soon' }] }, 'is not a date and time'],
  ])('is not guessed with %s', async (_, result, expected) => {
    answer(result)
    const ran = await check()
    expect([ran.document.status, ran.reason]).toEqual(['error', expect.stringContaining(expected)])
  })

  it.each<[string, Effect]>([
    ['the gateway does not serve it', { kind: 'html', status: 404 }],
    ['the API answers that it does not exist', { kind: 'status', status: 404 }],
  ])('is named when %s', async (_, effect) => {
    emulator().addFault({ match: { path: 'creditBalances' }, effect })
    const ran = await check()
    expect([ran.document.status, ran.document.error]).toMatchObject(['error', { kind: 'not-served' }])
    expect(ran.reason).toContain('The API has no credit balances at this address. The endpoint is beta')
  })

  it('names the permission that the key lacks', async () => {
    const ran = await check({ 'api-key-id': demo.keys.observability.id, 'api-key-secret': demo.keys.observability.secret })
    expect([ran.exitCode, ran.reason]).toEqual([3, expect.stringContaining('control-plane:organization:view-billing')])
  })

  it('names a wrong organization', async () => {
    const ran = await check({ 'organization-id': 'c0ffee00-0000-4000-8000-0000000000ff' })
    expect(ran.reason).toContain('Check organization-id.')
  })
})
