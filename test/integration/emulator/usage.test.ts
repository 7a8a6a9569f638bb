import { describe, expect, it } from 'vitest'
import { demo, type Emulator, type UsageRecord } from '../../../src/emulator/index.ts'
import { call, type Json, now, organization, start, startCloud } from './support.ts'

const get = (emulator: Emulator, query: string) => call(emulator, 'GET', `${organization}/usageCost?${query}`)

const march = (from: number, to: number): string =>
  `from_date=2026-03-${String(from).padStart(2, '0')}&to_date=2026-03-${String(to).padStart(2, '0')}`

const setUsage = (emulator: Emulator, usage: UsageRecord[]): void => {
  for (const one of emulator.store.organizations) one.usage = usage
}

const record = (date: string, micro: UsageRecord['micro'], more: Partial<UsageRecord> = {}): UsageRecord => ({
  dataWarehouseId: demo.warehouseId,
  serviceId: demo.services.checkout,
  date,
  entityType: 'service',
  entityId: demo.services.checkout,
  entityName: 'checkout',
  micro,
  ...more,
})

describe('the period of a usage cost', () => {
  it.each([
    ['no dates', ''],
    ['no from_date', 'to_date=2026-03-01'],
    ['no to_date', 'from_date=2026-03-01'],
    ['an empty date', 'from_date=&to_date=2026-03-01'],
    ['a day that does not exist', 'from_date=2026-02-29&to_date=2026-03-01'],
    ['a month that does not exist', 'from_date=2026-13-01&to_date=2026-13-02'],
    ['a time', 'from_date=2026-03-01T00:00:00Z&to_date=2026-03-02'],
    ['short forms', 'from_date=2026-3-1&to_date=2026-3-2'],
    ['a date given twice', `${march(1, 2)}&from_date=2026-03-01`],
    ['a reversed period', march(2, 1)],
    ['32 days', 'from_date=2026-02-01&to_date=2026-03-04'],
  ])('is refused with %s', async (_, query) => {
    const { status, json } = await get(await start(), query)
    expect(status).toBe(400)
    expect(json).toEqual({ status: 400, error: expect.stringMatching(/^BAD_REQUEST: /), requestId: expect.any(String) })
  })

  it('may be one day, and 31 days with both ends', async () => {
    const emulator = await start()
    const days = async (query: string) => new Set((await get(emulator, query)).json.result.costs.map(({ date }: Json) => date)).size
    expect(await days(march(20, 20))).toBe(1)
    expect(await days('from_date=2026-02-01&to_date=2026-03-03')).toBe(31)
  })

  it('holds its own records alone', async () => {
    const emulator = await start()
    setUsage(
      emulator,
      ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'].map((date) => record(date, { compute: 1_000_000 })),
    )
    const { json } = await get(emulator, march(2, 3))
    expect(json.result.costs.map(({ date }: Json) => date)).toEqual(['2026-03-02', '2026-03-03'])
    expect(json.result.grandTotalCredits).toBe(2)
  })

  it('may lie in the future, where nothing is', async () => {
    expect((await get(await start(), march(22, 31))).json.result).toEqual({ grandTotalCredits: 0, costs: [] })
  })
})

describe('the amounts of a usage cost', () => {
  it.each([
    ['neutral', 'Credits'],
    ['clickhouse-cloud', 'CHC'],
  ] as const)('end in the unit of the dialect: %s', async (dialect, unit) => {
    const emulator = await start({ dialect })
    setUsage(emulator, [record('2026-03-02', { compute: 1_250_000, publicDataTransfer: 3 })])
    expect((await get(emulator, march(2, 2))).json.result).toEqual({
      [`grandTotal${unit}`]: 1.250003,
      costs: [
        {
          dataWarehouseId: demo.warehouseId,
          serviceId: demo.services.checkout,
          date: '2026-03-02',
          entityType: 'service',
          entityId: demo.services.checkout,
          entityName: 'checkout',
          metrics: { [`compute${unit}`]: 1.25, [`publicDataTransfer${unit}`]: 0.000003 },
          [`total${unit}`]: 1.250003,
          locked: true,
        },
      ],
    })
  })

  it('are exact decimals, also where a float is not', async () => {
    const emulator = await start()
    setUsage(emulator, [
      record('2026-03-01', { compute: 100_000, storage: 200_000 }),
      record('2026-03-02', { compute: 9_007_199_254_740_991, backup: 10 }),
      record('2026-03-03', { compute: -1_500_000 }),
    ])
    const { text } = await get(emulator, march(1, 3))
    expect(text).toContain('"totalCredits":0.3,')
    expect(text).toContain('"totalCredits":9007199254.741001,')
    expect(text).toContain('"computeCredits":-1.5}')
    expect(text).toContain('"grandTotalCredits":9007199253.541001,')
  })

  it('are written without an exponent', async () => {
    const { text } = await get(await start(), march(1, 21))
    expect(text.match(/Credits":[^,}]+/g)?.every((one) => /:\d+(\.\d{1,6})?$/.test(one))).toBe(true)
  })
})

describe('a record of a usage cost', () => {
  it('is locked when its day is more than three days before the day of the server', async () => {
    const emulator = await start()
    const { json } = await get(emulator, march(15, 21))
    const open = new Set(json.result.costs.filter(({ locked }: Json) => locked === false).map(({ date }: Json) => date))
    expect([...open]).toEqual(['2026-03-18', '2026-03-19', '2026-03-20', '2026-03-21'])
  })

  it('is locked as it says when it says so', async () => {
    const emulator = await start()
    setUsage(emulator, [record('2026-03-01', { compute: 1 }, { locked: false }), record('2026-03-21', { compute: 1 }, { locked: true })])
    const { json } = await get(emulator, march(1, 21))
    expect(json.result.costs.map(({ locked }: Json) => locked)).toEqual([false, true])
  })

  it('has no service when it is of the warehouse', async () => {
    const { json } = await get(await start(), march(2, 2))
    const rows = json.result.costs.filter(({ entityType }: Json) => entityType === 'datawarehouse')
    expect(rows).toEqual([
      expect.objectContaining({
        serviceId: null,
        entityId: demo.warehouseId,
        metrics: { storageCredits: expect.any(Number), backupCredits: expect.any(Number) },
      }),
    ])
  })

  it('stands alone as an object where the older documentation is followed', async () => {
    const emulator = await start({ costs: 'object' })
    setUsage(emulator, [record('2026-03-01', { compute: 1 }), record('2026-03-02', { compute: 1 }), record('2026-03-02', { compute: 1 })])
    expect((await get(emulator, march(1, 1))).json.result.costs).toMatchObject({ date: '2026-03-01' })
    expect((await get(emulator, march(2, 2))).json.result.costs).toHaveLength(2)
    expect((await get(emulator, march(3, 3))).json.result.costs).toEqual([])
    const cloud = await startCloud({ costs: 'object' })
    setUsage(cloud, [record('2026-03-01', { compute: 1 })])
    expect((await get(cloud, march(1, 1))).json.result.costs).toHaveLength(1)
  })
})

describe('the filters of a usage cost', () => {
  const names = async (filters: string) => {
    const { json } = await get(await start(), `${march(2, 2)}${filters}`)
    return json.result.costs.map(({ entityName }: Json) => entityName)
  }

  it('choose by the tags of the service, by key or by key and value', async () => {
    expect(await names('')).toEqual(['demo-warehouse', 'checkout', 'catalog', 'search'])
    expect(await names('&filter=tag:shop')).toEqual(['checkout', 'catalog', 'search'])
    expect(await names('&filter=tag:importance=normal')).toEqual(['catalog', 'search'])
    expect(await names('&filter=tag%3Ateam%3Dsearch')).toEqual(['search'])
    expect(await names('&filter=tag:nobody')).toEqual([])
  })

  it('must all fit when there are several', async () => {
    expect(await names('&filter=tag:importance=normal&filter=tag:team=catalog')).toEqual(['catalog'])
    expect(await names('&filter=tag:team=search&filter=tag:team=catalog')).toEqual([])
  })

  it('go into the total', async () => {
    const { json } = await get(await start(), `${march(2, 2)}&filter=tag:team=search`)
    expect(json.result.grandTotalCredits).toBe(json.result.costs[0].totalCredits)
  })

  it.each(['region:eu', 'tag:', 'tag:=x', 'team=search', ''])('are refused in any other form: %j', async (filter) => {
    const { status } = await get(await start(), `${march(2, 2)}&filter=${filter}`)
    expect(status).toBe(400)
  })
})

describe('the usage of the shop', () => {
  const totals = async (emulator: Emulator) => {
    const costs: Json[] = []
    for (const query of ['from_date=2026-01-21&to_date=2026-02-19', 'from_date=2026-02-20&to_date=2026-03-21'])
      costs.push(...(await get(emulator, query)).json.result.costs)
    return Map.groupBy(costs, ({ date }) => String(date))
  }
  const sum = (rows: readonly Json[] = []) => rows.reduce((total, { totalCredits }) => total + Number(totalCredits), 0)

  it('is 12 to 15 credits a day up to a part of today, with one spike', async () => {
    const days = await totals(await start())
    expect([days.size, [...days.keys()][0], [...days.keys()].at(-1)]).toEqual([60, '2026-01-21', '2026-03-21'])
    const unusual = [...days].filter(([, rows]) => sum(rows) < 12 || sum(rows) > 15).map(([date]) => date)
    expect(unusual).toEqual(['2026-03-12', '2026-03-21'])
    expect(sum(days.get('2026-03-21'))).toBeLessThan(7)
    const search = days.get('2026-03-12')?.find(({ entityName }) => entityName === 'search')
    expect(search).toMatchObject({ metrics: { computeCredits: expect.toSatisfy((credits: number) => credits > 14 && credits < 17) } })
  })

  it('is lower on every day of a weekend than on every working day', async () => {
    const whole = [...(await totals(await start()))].filter(([date]) => !['2026-03-12', '2026-03-21'].includes(date))
    const byWeekend = Object.groupBy(whole, ([date]) => ([0, 6].includes(new Date(date).getUTCDay()) ? 'weekend' : 'work'))
    const amounts = (part: typeof whole = []) => part.map(([, rows]) => sum(rows))
    expect(Math.max(...amounts(byWeekend.weekend))).toBeLessThan(Math.min(...amounts(byWeekend.work)))
  })

  it('is the same for the same day, whenever the emulator is started', async () => {
    const [one, later] = [await start(), await start({ now: () => now + 5 * 86_400_000 })]
    expect((await get(one, march(14, 16))).json.result).toEqual((await get(later, march(14, 16))).json.result)
  })
})
