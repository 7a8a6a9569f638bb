import { beforeEach, describe, expect, it } from 'vitest'
import { addDays, type Day } from '../../../../src/platform/core/dates.ts'
import { fillUsage, inputsFor, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 10_000 } })

let today: Day
beforeEach(() => {
  today = fillUsage(emulator(), 800, [{ name: 'checkout', microOn: () => ({ compute: 1_100_000 }), locked: true }])
})

const run = (inputs: Readonly<Record<string, string>>) =>
  invokeText({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', ...inputs } })

const windows = () =>
  emulator().requests.map(({ path }) => {
    const query = new URL(path, 'http://x').searchParams
    return [query.get('from_date') ?? '', query.get('to_date') ?? ''] as const
  })

describe('a period', () => {
  it('a period of 365 days that is over is read in 12 requests, and the four weeks before it in another one', async () => {
    const ran = await run({ period: `${addDays(today, -364)}..${today}`, gate: 'off' })
    expect(ran.document).toMatchObject({ status: 'pass', days: 365, grandTotalCredits: '401.5' })
    expect(windows()).toHaveLength(13)
  })

  it('a period is read without gaps and overlaps', { tags: 'slow' }, async () => {
    await run({ period: `${addDays(today, -99)}..${today}` })
    const sorted = windows().toSorted()
    expect(sorted).toHaveLength(5)
    expect([sorted[0]?.[0], sorted[1]?.[0], sorted.at(-1)?.[1]]).toEqual([addDays(today, -127), addDays(today, -99), today])
    for (const [i, [from]] of sorted.entries()) if (i > 0) expect(from).toBe(addDays(sorted[i - 1]?.[1] as Day, 1))
  })

  it('fails when one of its requests fails, and the error names the days', async () => {
    const from = addDays(today, -99)
    const third = addDays(from, 62)
    emulator().addFault({ match: { path: `from_date=${third}` }, effect: { kind: 'status', status: 403 } })
    const ran = await run({ period: `${from}..${today}` })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'permission' } })
    expect(ran.document).not.toHaveProperty('grandTotalCredits')
    expect(ran.reason).toContain(`from_date=${third}&to_date=${addDays(third, 30)}`)
  })

  it('a period is an error when the API uses two units', async () => {
    const from = addDays(today, -40)
    const text = '{"result":{"grandTotalCredits":1,"costs":[]}}'
    emulator().addFault({ match: { path: `from_date=${from}` }, effect: { kind: 'body', text } })
    expect((await run({ period: `${from}..${today}` })).reason).toMatch(/uses the unit \w+ for some days and the unit \w+ for others/)
  })

  it.each([
    [{ period: '2026-3-1..2026-03-01' }, /period: "2026-3-1\.\.2026-03-01" is not accepted/],
    [{ period: '2010-01-01..2025-01-02' }, /at most 3660 days/],
  ])('%o is rejected before any request', async (inputs, reason) => {
    const ran = await run(inputs as Readonly<Record<string, string>>)
    expect([ran.exitCode, ran.reason]).toEqual([2, expect.stringMatching(reason)])
    expect(emulator().requests).toHaveLength(0)
  })

  it('a period is the month to date by default', async () => {
    expect((await run({})).document).toMatchObject({ toDate: today, fromDate: `${today.slice(0, 8)}01` })
  })

  it('a period is a day, or begins on a day and ends today', async () => {
    expect((await run({ period: addDays(today, -3) })).document).toMatchObject({ fromDate: addDays(today, -3), toDate: addDays(today, -3) })
    expect((await run({ period: `${addDays(today, -3)}..` })).document).toMatchObject({ days: 4, toDate: today, clipped: false })
  })

  it('a period ends today when its last day is in the future, and the report says so', async () => {
    const ran = await run({ period: `${addDays(today, -3)}..${addDays(today, 20)}` })
    expect(ran.document).toMatchObject({ toDate: today, endDate: addDays(today, 20), clipped: true, days: 4 })
    expect(JSON.stringify(ran.blocks)).toContain('because the later days of the period are in the future.')
  })
})

describe('a comparison', () => {
  it('reads the previous period together with the other days of the four weeks', async () => {
    const ran = await run({ period: 'last-7-days', compare: 'previous-period' })
    expect(windows().toSorted()).toEqual([
      [addDays(today, -34), addDays(today, -7)],
      [addDays(today, -6), today],
    ])
    expect(ran.document).toMatchObject({
      comparison: { total: '5.5', change: '0', changePercent: '0.00', movers: [], added: [], removed: [] },
    })
  })

  const grown = (factor: number) =>
    fillUsage(emulator(), 60, [
      { name: 'checkout', microOn: (ago) => ({ compute: ago < 7 ? 1_000_000 * factor : 1_000_000 }), locked: true },
      { name: 'new', microOn: (ago) => (ago < 7 ? { compute: 0 } : undefined), locked: true },
      { name: 'old', microOn: (ago) => (ago < 7 ? undefined : { storage: 0 }), locked: true },
    ])

  it.each([
    [1.2, '20%', 'pass'],
    [1.200001, '20%', 'fail'],
    [1.2, '1', 'pass'],
    [1.2, '0.99', 'fail'],
    [0.5, '0%', 'pass'],
  ])('a comparison of %f times the usage with max-increase %s is a %s', async (factor, most, status) => {
    grown(factor)
    expect((await run({ period: 'last-7-days', compare: 'previous-period', 'max-increase': most })).document.status).toBe(status)
  })

  it('names new and removed entities', async () => {
    grown(2)
    const ran = await run({ period: 'last-7-days', compare: 'previous-period' })
    expect(ran.document.comparison).toMatchObject({
      added: [{ name: 'new', entityType: 'service' }],
      removed: [{ name: 'old', entityType: 'service' }],
      movers: [{ entityName: 'checkout', metric: 'compute', before: '5', after: '10' }],
    })
  })

  it('a comparison with a previous period without records fails', async () => {
    fillUsage(emulator(), 7, [{ name: 'checkout', microOn: () => ({ compute: 1 }), locked: true }])
    const ran = await run({ period: 'last-7-days', compare: 'previous-period', 'max-increase': '50' })
    expect([ran.document.status, ran.reason]).toEqual(['fail', expect.stringContaining('No usage records for ')])
  })

  it('includes provisional records, because the latest days have few final records', async () => {
    fillUsage(emulator(), 60, [{ name: 'checkout', microOn: (ago) => ({ compute: ago < 10 ? 2_000_000 : 1_000_000 }) }])
    expect((await run({ period: 'last-10-days', compare: 'previous-period' })).document).toMatchObject({
      comparison: { total: '8', change: '8', movers: [{ before: '8', after: '16' }] },
    })
  })

  it('a comparison is required by max-increase', async () => {
    expect((await run({ period: 'last-7-days', 'max-increase': '50' })).reason).toBe(
      'max-increase: requires compare: previous-period or previous-month-days',
    )
  })
})
