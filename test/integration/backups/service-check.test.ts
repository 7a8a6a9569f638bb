import { describe, expect, it } from 'vitest'
import { type Backup, demo, type Effect } from '../../../src/emulator/index.ts'
import { checkBackups, done, fillBackups, outcomesOf, servicesOf } from '../../support/backups.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import type { Invoked } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const { checkout, catalog } = demo.services

type Inputs = Readonly<Record<string, string>>

const check = (inputs: Inputs = {}) => checkBackups(emulator(), inputs)

const fill = (...backups: readonly Partial<Backup>[]) => fillBackups(emulator(), 'checkout', backups)

describe('a service whose backups cannot be read', () => {
  const effects: readonly (readonly [string, Effect, string])[] = [
    ['status 500', { kind: 'status', status: 500 }, 'The API answered 500'],
    ['status 503', { kind: 'status', status: 503 }, 'The API answered 503'],
    ['status 400', { kind: 'status', status: 400 }, 'The API answered 400'],
    ['status 403', { kind: 'status', status: 403 }, 'control-plane:service:view-backups'],
    ['a 404 of the API', { kind: 'status', status: 404 }, 'The service does not exist'],
    ['a 404 that is not from the API', { kind: 'html', status: 404 }, 'This URL does not serve the API'],
    ['an HTML page', { kind: 'html' }, 'Check whether a proxy or a login page answers'],
    ['a redirect', { kind: 'status', status: 302, headers: { location: 'https://evil.example/' } }, 'Redirects are never followed'],
    ['a reset', { kind: 'reset' }, 'the connection was closed before an answer'],
    ['a truncated answer', { kind: 'truncate' }, 'not JSON'],
    ['a map instead of a list', { kind: 'body', text: '{"result":{}}' }, 'result is not of type array'],
    ['null', { kind: 'body', text: '{"result":null}' }, 'result is not of type array'],
    ['an empty answer', { kind: 'body', text: '' }, 'the answer is empty'],
    ['a null in the list', { kind: 'body', text: '{"result":[null]}' }, 'result[0] is not of type object'],
    [
      'an invalid date',
      { kind: 'body', text: `{"result":[{"id":"a","status":"done","startedAt":"today"}]}` },
      'result[0].startedAt is not a date and time',
    ],
  ]

  it.each(effects)('a service whose backups cannot be read is unknown after %s', async (_, effect, words) => {
    emulator().addFault({ match: { path: `${checkout}/backups` }, times: Number.POSITIVE_INFINITY, effect })
    const ran = await check({ 'max-attempts': '2' })
    expect([outcomesOf(ran), ran.document.status, ran.exitCode]).toEqual([['unknown'], 'fail', 10])
    expect(ran.reason).toMatch(/^Service \S+: not checked\. /)
    expect(ran.reason).toContain(words)
    expect(Object.keys(ran.outputs).filter((name) => name.startsWith('backup-'))).toEqual([])
    expect(JSON.stringify(ran.blocks)).toContain(`Request: GET /v1/organizations/${demo.organizationId}/services/${checkout}/backups`)
  })

  it('a service whose backups cannot be read is judged as usual when a retry succeeds', async () => {
    emulator().addFault({ match: { path: `${checkout}/backups` }, times: 3, effect: { kind: 'status', status: 502 } })
    expect(outcomesOf(await check())).toEqual(['fresh'])
  })

  it('a service whose backups cannot be read is unknown when the key is rejected', async () => {
    const ran = await check({ 'api-key-id': demo.keys.disabled.id, 'api-key-secret': demo.keys.disabled.secret })
    expect([outcomesOf(ran), ran.document.status]).toEqual([['unknown'], 'fail'])
    expect(ran.reason).toContain('Check api-key-id and api-key-secret')
  })
})

describe('the age limit', () => {
  const limitOf = (ran: Invoked) => servicesOf(ran)[0]?.limit

  it('the age limit is derived from the period of the backup configuration', async () => {
    serviceOf(emulator(), 'checkout').backupConfiguration = { backupPeriodInHours: 6 }
    fill(done(9))
    const ran = await check()
    expect(ran.document.status).toBe('fail')
    expect(limitOf(ran)).toEqual({ hours: 8, source: 'configuration', periodHours: 6 })
    expect(JSON.stringify(ran.blocks)).toContain('8 h (from the backup configuration: a period of 6 h, and 2 h to make the backup)')
  })

  it('the age limit is the one for daily backups where a start time is configured, even with a shorter period', async () => {
    for (const backupConfiguration of [{ backupStartTime: '03:00' }, { backupStartTime: '03:00', backupPeriodInHours: 6 }]) {
      serviceOf(emulator(), 'checkout').backupConfiguration = backupConfiguration
      fill(done(28, { durationInSeconds: 3 * 3600 }), done(52, { durationInSeconds: 3 * 3600 }))
      const ran = await check()
      expect(ran.document.status).toBe('pass')
      expect(limitOf(ran)).toMatchObject({ hours: 30, source: 'configuration', startTime: '03:00' })
    }
  })

  it('includes twice the typical duration of long backups', async () => {
    fill(done(29), done(53, { durationInSeconds: 3 * 3600 }))
    expect(limitOf(await check())).toMatchObject({ hours: 30, source: 'configuration' })
  })

  it('the age limit is max-age-hours when it is given, without a request for the backup configuration', async () => {
    const ran = await check({ 'max-age-hours': '2.5' })
    expect([ran.document.status, limitOf(ran)]).toEqual(['fail', { hours: 2.5, source: 'input' }])
    expect(emulator().requests.map(({ path }) => path.split('/').at(-1))).toEqual(['backups', 'services'])
  })

  it.each([{}, { backupPeriodInHours: 0 }, { backupPeriodInHours: null as unknown as number, backupRetentionPeriodInHours: 24 }])(
    'the age limit is 26 hours with the configuration %j',
    async (configuration) => {
      serviceOf(emulator(), 'checkout').backupConfiguration = configuration
      const ran = await check()
      expect(ran.document.status).toBe('pass')
      expect(limitOf(ran)).toMatchObject({ hours: 26, source: 'default', defaultReason: 'no-period' })
      expect(JSON.stringify(ran.blocks)).toContain('1 d 2 h (default for daily backups, because the backup configuration has no period)')
    },
  )

  it.each<[string, Effect]>([
    ['status 500', { kind: 'status', status: 500 }],
    ['status 403', { kind: 'status', status: 403 }],
    ['a reset', { kind: 'reset' }],
    ['a period that is not a number', { kind: 'body', text: '{"result":{"backupPeriodInHours":"daily"}}' }],
  ])('the age limit is 26 hours after %s for the configuration, with a warning', async (_, effect) => {
    emulator().addFault({ match: { path: 'backupConfiguration' }, times: Number.POSITIVE_INFINITY, effect })
    const ran = await check({ 'max-attempts': '2' })
    expect([outcomesOf(ran), ran.document.status, ran.exitCode]).toEqual([['fresh'], 'warn', 0])
    expect(limitOf(ran)).toEqual({ hours: 26, source: 'default', defaultReason: 'unreadable' })
    expect(ran.reason).toContain('Service checkout: the backup configuration could not be read, so the limit is the default of 1 d 2 h: ')
  })

  it('the age limit is 26 hours without a warning where the API has no backup configuration', async () => {
    emulator().addFault({ match: { path: 'backupConfiguration' }, times: Number.POSITIVE_INFINITY, effect: { kind: 'html', status: 404 } })
    const ran = await check()
    expect([ran.document.status, limitOf(ran)?.defaultReason]).toEqual(['pass', 'no-configuration'])
  })

  it('still fails a stale service when the configuration cannot be read', async () => {
    emulator().addFault({
      match: { path: 'backupConfiguration' },
      times: Number.POSITIVE_INFINITY,
      effect: { kind: 'status', status: 400 },
    })
    const ran = await check({ 'service-id': catalog })
    expect([outcomesOf(ran), ran.document.status]).toEqual([['stale'], 'fail'])
  })
})

describe('minSizeRatio of a policy', () => {
  const withRatio = (...ratios: readonly number[]) =>
    checkBackups(
      emulator(),
      { checks: 'a.json' },
      { 'a.json': JSON.stringify({ policies: ratios.map((minSizeRatio) => ({ minSizeRatio })) }) },
    )

  const sized = (...sizes: (number | undefined)[]) =>
    fill(...sizes.map((sizeInBytes, i) => done(1 + 24 * i, sizeInBytes === undefined ? {} : { sizeInBytes })))

  it.each([
    [[49, 100, 1, 100], 'warn', 'Service checkout: the last successful backup has 49 B, 49% of the median of 100 B. The minimum is 50%.'],
    [[4999, 10_000], 'warn', '49.9% of the median of 9.8 KiB. The minimum is 50%.'],
    [[50, 100, 1, 100], 'pass', ''],
    [[100], 'pass', ''],
    [[undefined, 100], 'warn', 'the size of the last successful backup is unknown and was not compared'],
    [[-1, 100], 'warn', 'the size of the last successful backup is unknown and was not compared'],
    [[100, undefined], 'warn', 'the sizes of earlier backups are unknown'],
  ])('a minSizeRatio of 0.5 with the sizes %j, newest first: %s', async (sizes, status, words) => {
    sized(...sizes)
    const ran = await withRatio(0.5)
    expect([ran.document.status, ran.exitCode, outcomesOf(ran)]).toEqual([status, 0, ['fresh']])
    expect(ran.reason).toContain(words)
    expect(JSON.stringify(ran.blocks)).toContain(status === 'warn' ? '⚠️ fresh' : '✅ fresh')
  })

  it('is optional: the trend is reported without it', async () => {
    sized(1, 100, 100)
    const ran = await check()
    expect(ran.document).toMatchObject({
      status: 'pass',
      services: [{ size: { latest: 1, median: 100, ratio: 0.01, values: [100, 100, 1] } }],
    })
  })

  it('is the highest one of several policies', async () => {
    sized(70, 100, 100)
    expect((await withRatio(0.5, 0.6)).document.status).toBe('pass')
    expect((await withRatio(0.5, 0.8, 0.6)).reason).toContain('The minimum is 80%.')
  })

  it('is a number above 0 and at most 1', async () => {
    expect((await withRatio(1.01)).reason).toContain(
      'policies[0].minSizeRatio: 1.01 is not accepted; accepted: a number above 0 and at most 1, such as 0.5',
    )
  })

  it('compares incremental backups with incremental ones', async () => {
    const ran = await withRatio(0.9)
    expect(ran.document).toMatchObject({ status: 'pass', services: [{ type: 'incremental', sizeOutcome: 'ok' }] })
  })

  it('adds its warning after the reason of a failure', async () => {
    fill(done(40, { sizeInBytes: 1 }), done(60, { sizeInBytes: 100 }))
    const ran = await withRatio(0.5)
    expect(ran.document.status).toBe('fail')
    expect(ran.reason).toMatch(/limit 1 d 2 h\. Service checkout: the last successful backup has 1 B/)
  })
})
