import { describe, expect, it } from 'vitest'
import { type Backup, demo } from '../../../src/emulator/index.ts'
import { backupId, checkBackups, done, fillBackups, hoursAgo, outcomesOf, servicesOf } from '../../support/backups.ts'
import { methodsOf, serviceOf, useEmulator } from '../../support/emulator.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const { checkout, catalog, search } = demo.services

type Inputs = Readonly<Record<string, string>>

const check = (inputs: Inputs = {}) => checkBackups(emulator(), inputs)

const fill = (...backups: readonly Partial<Backup>[]) => fillBackups(emulator(), 'checkout', backups)

describe('the outcome of a service', () => {
  it.each<[string, readonly Partial<Backup>[], string, RegExp]>([
    ['fresh', [done(3)], 'pass', /^$/],
    [
      'stale',
      [done(50)],
      'fail',
      /has no fresh backup: the last successful backup was started 50 hours ago, 24 hours over the limit of 26 hours$/,
    ],
    [
      'failed',
      [{ status: 'error', startedAt: hoursAgo(2) }, done(20)],
      'fail',
      /failed: started 2 hours ago; the last successful backup was started 20 hours ago$/,
    ],
    ['in-progress', [{ status: 'in_progress', startedAt: hoursAgo(2) }], 'pass', /^$/],
  ])('is %s', async (outcome, backups, status, reason) => {
    fill(...backups)
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status, ran.exitCode]).toEqual([[outcome], status, status === 'pass' ? 0 : 10])
    expect(ran.outputs).toMatchObject({ 'backup-id': backupId(0), 'backup-status': backups[0]?.status })
    expect(ran.reason).toMatch(reason)
  })

  it('is missing for an empty list, without outputs about a backup', async () => {
    fill()
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status, ran.exitCode]).toEqual([['missing'], 'fail', 10])
    expect(ran.reason).toBe(`Service ${checkout} has no backup: its list of backups is empty`)
    expect(Object.keys(ran.outputs).filter((name) => name.startsWith('backup-'))).toEqual([])
    expect(ran.document).not.toHaveProperty('backupAgeHours')
  })

  it('is in-progress and fails when the first backup takes longer than the limit', async () => {
    fill({ status: 'in_progress', startedAt: hoursAgo(30) })
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status]).toEqual([['in-progress'], 'fail'])
    expect(ran.reason).toContain('is still in progress: it was started 30 hours ago, 4 hours over the limit of 26 hours')
  })

  it('is unknown when a backup is dated in the future', async () => {
    fill(done(-2), done(3))
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status]).toEqual([['unknown'], 'fail'])
    expect(ran.reason).toContain('dated in the future')
  })

  it('has outputs about the backup that decided it', async () => {
    const ran = await check()
    const [newest] = serviceOf(emulator(), 'checkout').backups
    expect(ran.outputs).toMatchObject({
      'backup-id': newest?.id,
      'backup-name': newest?.backupName,
      'backup-status': 'done',
      'backup-started-at': newest?.startedAt,
      'backup-finished-at': newest?.finishedAt,
      'backup-size-bytes': String(newest?.sizeInBytes),
      'backup-duration-seconds': '540',
      'backup-bucket-path': 'https://demo-shop-backups.s3.example/checkout',
    })
    expect(Number(ran.outputs['backup-age-hours'])).toBeCloseTo(3.15, 1)
  })
})

describe('a data quality issue', () => {
  it.each<[string, readonly Partial<Backup>[], string]>([
    ['a missing status', [{ startedAt: hoursAgo(2), finishedAt: hoursAgo(1) }], 'it has an end and counts as successful'],
    ['a newer backup without status', [{ startedAt: hoursAgo(1) }, done(2)], 'a newer backup has no known status'],
    ['a backup without a date', [{ status: 'done' }, done(2)], 'backups without a date are left out'],
  ])('is a warning: %s', async (_, backups, words) => {
    fill(...backups)
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status]).toEqual([['fresh'], 'warn'])
    expect(ran.reason).toContain(words)
  })

  it('leaves the outcome unknown when every field is missing', async () => {
    fill({})
    expect([outcomesOf(await check())]).toEqual([['unknown']])
  })
})

describe('several services', () => {
  it('are judged in the given order, with outputs about the worst', async () => {
    const ran = await check({ services: [checkout, catalog, search].join(', ') })
    expect([outcomesOf(ran), ran.exitCode]).toEqual([['fresh', 'stale', 'failed'], 10])
    expect(ran.document.worstServiceId).toBe(search)
    expect(ran.outputs).toMatchObject({ 'backup-status': 'error', 'backup-id': serviceOf(emulator(), 'search').backups[0]?.id })
    expect(ran.reason).toMatch(/^Backups of 3 services \(1 fresh, 1 stale, 1 failed\): the last backup of service /)
  })

  it('are checked even if one of them cannot be read', async () => {
    emulator().addFault({ match: { path: checkout }, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 500 } })
    const ran = await check({ services: `${checkout}\n${catalog}`, 'max-age-hours': '60' })
    expect([outcomesOf(ran), ran.document.status, ran.document.worstServiceId]).toEqual([['unknown', 'fresh'], 'fail', checkout])
    expect(ran.outputs).not.toHaveProperty('backup-age-hours')
  })

  it('replace service-id, and duplicates are checked once', async () => {
    const ran = await check({ services: `${search},${search.toUpperCase()}\n\n ${search} ,`, 'max-age-hours': '26' })
    expect(servicesOf(ran).map(({ serviceId }) => serviceId)).toEqual([search])
    expect(methodsOf(emulator())).toEqual(['GET'])
  })

  it('have one limit each', async () => {
    serviceOf(emulator(), 'catalog').backupConfiguration = { backupPeriodInHours: 48 }
    const ran = await check({ services: `${checkout},${catalog}` })
    expect(servicesOf(ran).map(({ limit }) => limit.hours)).toEqual([26, 50])
    expect(JSON.stringify(ran.blocks)).toContain('Limits')
  })

  it('are counted in the reason after the first ten', async () => {
    const services = Array.from({ length: 30 }, (_, i) => backupId(i))
    const ran = await check({ services: services.join('\n'), 'max-age-hours': '26' })
    expect(ran.document.status).toBe('fail')
    expect(ran.reason).toContain('; 20 more services')
    expect(servicesOf(ran)).toHaveLength(30)
  })

  it('pass when all are fresh', async () => {
    const ran = await check({ services: `${checkout},${catalog}`, 'max-age-hours': '60' })
    expect([ran.document.status, ran.reason, ran.document.worstServiceId]).toEqual(['pass', '', catalog])
  })
})

describe('invalid input', () => {
  it.each<[Inputs, string]>([
    [
      { services: 'checkout' },
      'services: "checkout" is not accepted; accepted: uuids, one a line or with commas between them, at most 100',
    ],
    [{ services: `${checkout}, x` }, 'services: "x" is not accepted'],
    [{ services: ',' }, 'services: "[]" is not accepted'],
    [{ services: Array.from({ length: 101 }, (_, i) => backupId(i)).join() }, 'at most 100'],
    [
      { 'max-age-hours': '0' },
      'max-age-hours: "0" is not accepted; accepted: a number of hours above 0 and at most 87600, such as 26 or 1.5',
    ],
    [{ 'max-age-hours': '-1' }, 'max-age-hours: "-1" is not accepted'],
    [{ 'max-age-hours': '1d' }, 'max-age-hours: "1d" is not accepted'],
    [{ 'max-age-hours': '1e400' }, 'max-age-hours: "1e400" is not accepted'],
    [{ 'min-size-ratio': '50%' }, 'min-size-ratio: "50%" is not accepted; accepted: a number above 0 and at most 1, such as 0.5'],
    [{ 'min-size-ratio': '1.01' }, 'min-size-ratio: "1.01" is not accepted'],
    [{ 'max-age-hour': '26' }, 'max-age-hour: is no input of check-backups, did you mean "max-age-hours"?'],
    [{ 'service-id': '' }, 'service-id: is missing: give the input, or set WATCHKEEPER_SERVICE_ID, or give several as services'],
    [{ 'service-id': 'x' }, 'service-id: "x" is not accepted'],
  ])('%j is rejected by name, before any request', async (inputs, words) => {
    const ran = await check(inputs)
    expect([ran.exitCode, ran.document.status]).toEqual([2, 'error'])
    expect(ran.reason).toContain(words)
    expect(emulator().requests).toHaveLength(0)
  })

  it('does not require service-id with services', async () => {
    expect((await check({ 'service-id': '', services: checkout })).document.status).toBe('pass')
  })
})
