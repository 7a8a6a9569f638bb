import { describe, expect, it } from 'vitest'
import { type Backup, demo, type Emulator, type UsageRecord } from '../../../src/emulator/index.ts'
import { call, checkoutOf, type Json, now, organization, servicePath, startCloud } from './support.ts'

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
  it('the period of a usage cost is rejected when a date is missing, invalid, repeated or out of range', async () => {
    const emulator = await startCloud()
    const periods = {
      'no dates': '',
      'no from_date': 'to_date=2026-03-01',
      'no to_date': 'from_date=2026-03-01',
      'an empty date': 'from_date=&to_date=2026-03-01',
      'a day that does not exist': 'from_date=2026-02-29&to_date=2026-03-01',
      'a month that does not exist': 'from_date=2026-13-01&to_date=2026-13-02',
      'a time': 'from_date=2026-03-01T00:00:00Z&to_date=2026-03-02',
      'short forms': 'from_date=2026-3-1&to_date=2026-3-2',
      'a repeated date': `${march(1, 2)}&from_date=2026-03-01`,
      'a reversed period': march(2, 1),
      '32 days': 'from_date=2026-02-01&to_date=2026-03-04',
    }
    for (const [name, query] of Object.entries(periods)) {
      const { status, json } = await get(emulator, query)
      expect(status, name).toBe(400)
      expect(json).toEqual({ status: 400, error: expect.stringMatching(/^BAD_REQUEST: /), requestId: expect.any(String) })
    }
  })

  it('the period of a usage cost may have 1 to 31 days, both ends included', async () => {
    const emulator = await startCloud()
    const days = async (query: string) => new Set((await get(emulator, query)).json.result.costs.map(({ date }: Json) => date)).size
    expect(await days(march(20, 20))).toBe(1)
    expect(await days('from_date=2026-02-01&to_date=2026-03-03')).toBe(31)
  })

  it('the period of a usage cost has only its own records', async () => {
    const emulator = await startCloud()
    setUsage(
      emulator,
      ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'].map((date) => record(date, { compute: 1_000_000 })),
    )
    const { json } = await get(emulator, march(2, 3))
    expect(json.result.costs.map(({ date }: Json) => date)).toEqual(['2026-03-02', '2026-03-03'])
    expect(json.result.grandTotalCHC).toBe(2)
  })

  it('the period of a usage cost may be in the future, without records', async () => {
    expect((await get(await startCloud(), march(22, 31))).json.result).toEqual({ grandTotalCHC: 0, costs: [] })
  })
})

describe('the amounts of a usage cost', () => {
  it('the amounts of a usage cost have their unit in their names', async () => {
    const emulator = await startCloud()
    setUsage(emulator, [record('2026-03-02', { compute: 1_250_000, publicDataTransfer: 3 })])
    expect((await get(emulator, march(2, 2))).json.result).toEqual({
      grandTotalCHC: 1.250003,
      costs: [
        {
          dataWarehouseId: demo.warehouseId,
          serviceId: demo.services.checkout,
          date: '2026-03-02',
          entityType: 'service',
          entityId: demo.services.checkout,
          entityName: 'checkout',
          metrics: { computeCHC: 1.25, publicDataTransferCHC: 0.000003 },
          totalCHC: 1.250003,
          locked: true,
        },
      ],
    })
  })

  it('the amounts of a usage cost are exact decimals, also where a float is inexact', async () => {
    const emulator = await startCloud()
    setUsage(emulator, [
      record('2026-03-01', { compute: 100_000, storage: 200_000 }),
      record('2026-03-02', { compute: 9_007_199_254_740_991, backup: 10 }),
      record('2026-03-03', { compute: -1_500_000 }),
    ])
    const { text } = await get(emulator, march(1, 3))
    expect(text).toContain('"totalCHC":0.3,')
    expect(text).toContain('"totalCHC":9007199254.741001,')
    expect(text).toContain('"computeCHC":-1.5}')
    expect(text).toContain('"grandTotalCHC":9007199253.541001,')
  })

  it('the amounts of a usage cost are written without an exponent', async () => {
    const { text } = await get(await startCloud(), march(1, 21))
    expect(text.match(/CHC":[^,}]+/g)?.every((one) => /:\d+(\.\d{1,6})?$/.test(one))).toBe(true)
  })
})

describe('a record of a usage cost', () => {
  it('a record of a usage cost is locked when its day is more than three days before the day of the server', async () => {
    const emulator = await startCloud()
    const { json } = await get(emulator, march(15, 21))
    const open = new Set(json.result.costs.filter(({ locked }: Json) => locked === false).map(({ date }: Json) => date))
    expect([...open]).toEqual(['2026-03-18', '2026-03-19', '2026-03-20', '2026-03-21'])
  })

  it('a record of a usage cost is locked as stored', async () => {
    const emulator = await startCloud()
    setUsage(emulator, [record('2026-03-01', { compute: 1 }, { locked: false }), record('2026-03-21', { compute: 1 }, { locked: true })])
    const { json } = await get(emulator, march(1, 21))
    expect(json.result.costs.map(({ locked }: Json) => locked)).toEqual([false, true])
  })

  it('a record of a usage cost has no service when it belongs to the warehouse', async () => {
    const { json } = await get(await startCloud(), march(2, 2))
    const rows = json.result.costs.filter(({ entityType }: Json) => entityType === 'datawarehouse')
    expect(rows).toEqual([
      expect.objectContaining({
        serviceId: null,
        entityId: demo.warehouseId,
        metrics: { storageCHC: expect.any(Number), backupCHC: expect.any(Number) },
      }),
    ])
  })
})

describe('the filters of a usage cost', () => {
  const names = async (filters: string) => {
    const { json } = await get(await startCloud(), `${march(2, 2)}${filters}`)
    return json.result.costs.map(({ entityName }: Json) => entityName)
  }

  it('the filters of a usage cost select by the tags of the service, by key or by key and value', async () => {
    expect(await names('')).toEqual(['demo-warehouse', 'checkout', 'catalog', 'search'])
    expect(await names('&filter=tag:shop')).toEqual(['checkout', 'catalog', 'search'])
    expect(await names('&filter=tag:importance=normal')).toEqual(['catalog', 'search'])
    expect(await names('&filter=tag%3Ateam%3Dsearch')).toEqual(['search'])
    expect(await names('&filter=tag:unknown')).toEqual([])
  })

  it('the filters of a usage cost must all match', async () => {
    expect(await names('&filter=tag:importance=normal&filter=tag:team=catalog')).toEqual(['catalog'])
    expect(await names('&filter=tag:team=search&filter=tag:team=catalog')).toEqual([])
  })

  it('the filters of a usage cost apply to the total', async () => {
    const { json } = await get(await startCloud(), `${march(2, 2)}&filter=tag:team=search`)
    expect(json.result.grandTotalCHC).toBe(json.result.costs[0].totalCHC)
  })

  it('the filters of a usage cost are rejected in any other form', async () => {
    const emulator = await startCloud()
    for (const filter of ['region:eu', 'tag:', 'tag:=x', 'team=search', ''])
      expect((await get(emulator, `${march(2, 2)}&filter=${filter}`)).status, filter).toBe(400)
  })
})

describe('the usage of the shop', () => {
  const totals = async (emulator: Emulator) => {
    const costs: Json[] = []
    for (const query of ['from_date=2026-01-21&to_date=2026-02-19', 'from_date=2026-02-20&to_date=2026-03-21'])
      costs.push(...(await get(emulator, query)).json.result.costs)
    return Map.groupBy(costs, ({ date }) => String(date))
  }
  const sum = (rows: readonly Json[] = []) => rows.reduce((total, { totalCHC }) => total + Number(totalCHC), 0)

  it('the usage of the shop is 12 to 15 credits a day up to a part of today, with one spike', async () => {
    const days = await totals(await startCloud())
    expect([days.size, [...days.keys()][0], [...days.keys()].at(-1)]).toEqual([60, '2026-01-21', '2026-03-21'])
    const unusual = [...days].filter(([, rows]) => sum(rows) < 12 || sum(rows) > 15).map(([date]) => date)
    expect(unusual).toEqual(['2026-03-09', '2026-03-21'])
    expect(sum(days.get('2026-03-21'))).toBeLessThan(7)
    const search = days.get('2026-03-09')?.find(({ entityName }) => entityName === 'search')
    expect(search).toMatchObject({ metrics: { computeCHC: expect.toSatisfy((credits: number) => credits > 14 && credits < 17) } })
  })

  it('the usage of the shop is the same for the same day, whenever the emulator is started', async () => {
    const [one, later] = [await startCloud(), await startCloud({ now: () => now + 5 * 86_400_000 })]
    expect((await get(one, march(15, 17))).json.result).toEqual((await get(later, march(15, 17))).json.result)
  })
})

const listBackups = async (name: keyof typeof demo.services): Promise<Backup[]> =>
  (await call(await startCloud(), 'GET', `${servicePath(name)}/backups`)).json.result

const ageHours = (time: string | undefined): number => (now - Date.parse(time ?? '')) / 3_600_000

describe('backups', () => {
  it('backups are listed most recent first', async () => {
    const emulator = await startCloud()
    const before = checkoutOf(emulator).backups.map(({ id }) => id)
    checkoutOf(emulator).backups.reverse()
    const { json } = await call(emulator, 'GET', `${servicePath('checkout')}/backups`)
    expect(json.result.map(({ id }: Backup) => id)).toEqual(before)
  })

  it('backups are read by their uuid', async () => {
    const emulator = await startCloud()
    const [, second] = checkoutOf(emulator).backups
    const { json } = await call(emulator, 'GET', `${servicePath('checkout')}/backups/${second?.id}`)
    expect(json.result).toEqual(second)
    expect((await call(emulator, 'GET', `${servicePath('catalog')}/backups/${second?.id}`)).status).toBe(404)
  })

  it('backups have times, size, duration and bucket', async () => {
    const [newest] = await listBackups('checkout')
    expect(newest).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'done',
      serviceId: demo.services.checkout,
      startedAt: '2026-03-21T06:21:00.000Z',
      finishedAt: '2026-03-21T06:30:00.000Z',
      sizeInBytes: expect.any(Number),
      durationInSeconds: 540,
      type: 'incremental',
      backupName: 'checkout-2026-03-21',
      bucket: {
        bucketProvider: 'AWS',
        bucketPath: expect.any(String),
        iamRoleArn: expect.any(String),
        iamRoleSessionName: expect.any(String),
      },
    })
  })

  it('backups of the shop are fresh for checkout, stale for catalog, and failing for search', async () => {
    const [checkout, catalog, search] = [await listBackups('checkout'), await listBackups('catalog'), await listBackups('search')]
    expect([checkout.length, catalog.length, search.length]).toEqual([10, 10, 10])
    expect([checkout[0]?.status, ageHours(checkout[0]?.finishedAt)]).toEqual(['done', 3])
    expect([catalog[0]?.status, ageHours(catalog[0]?.finishedAt)]).toEqual(['done', 50])
    expect([search[0]?.status, search[0]?.finishedAt]).toEqual(['error', undefined])
    expect([search[1]?.status, ageHours(search[1]?.finishedAt)]).toEqual(['done', 29])
  })

  it('backups have a configuration in the cloud dialect', async () => {
    const { json } = await call(await startCloud(), 'GET', `${servicePath('checkout')}/backupConfiguration`)
    expect(json.result).toEqual({ backupPeriodInHours: 24, backupRetentionPeriodInHours: 240 })
  })
})

it('credit balances are those that can be used now, the first to expire first', async () => {
  const emulator = await startCloud()
  const expiries = async (): Promise<readonly string[]> => {
    const { json } = await call(emulator, 'GET', `${organization}/creditBalances`)
    return json.result.balances.map(({ type, expirationDate }: Json) => `${type} ${String(expirationDate).slice(0, 10)}`)
  }
  expect(await expiries()).toEqual(['trial 2026-03-31', 'prepaid 2026-04-05', 'prepaid 2027-03-01'])
  for (const one of emulator.store.organizations[0]?.creditBalances ?? []) if (one.type === 'trial') one.spentMicro = one.totalMicro
  expect(await expiries()).toEqual(['prepaid 2026-04-05', 'prepaid 2027-03-01'])
})

describe('activities', () => {
  const path = `${organization}/activities`

  it('activities are listed between two times, the newest first', async () => {
    const emulator = await startCloud()
    const { json } = await call(emulator, 'GET', `${path}?from_date=2026-01-20T00:00:00Z&to_date=2026-03-11T09:30:00Z`)
    const times: string[] = json.result.map(({ createdAt }: { createdAt: string }) => createdAt)
    expect(times.length).toBeGreaterThan(10)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(times.every((time) => time >= '2026-01-20' && time <= '2026-03-11T09:30')).toBe(true)
  })

  it('activities accept days and date-times, and reject other texts', async () => {
    const emulator = await startCloud()
    for (const from of ['2026-03-01', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00%2B01:00'])
      expect((await call(emulator, 'GET', `${path}?from_date=${from}`)).status, from).toBe(200)
    expect((await call(emulator, 'GET', `${path}?from_date=yesterday`)).status).toBe(400)
  })

  it('activities need a permission of their own', async () => {
    const emulator = await startCloud()
    const { status, json } = await call(emulator, 'GET', path, { key: demo.keys.billing })
    expect(status).toBe(403)
    expect(json.error).toContain('control-plane:organization:view-activities')
  })
})
