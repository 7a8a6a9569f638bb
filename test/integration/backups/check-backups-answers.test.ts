import { describe, expect, it } from 'vitest'
import { type Backup, demo, type Effect } from '../../../src/emulator/index.ts'
import { done, fillBackups, serviceOf } from '../../support/backups.ts'
import { checkBackups, outcomesOf, servicesOf } from '../../support/check-backups.ts'
import { useEmulator } from '../../support/emulator.ts'
import type { Invoked } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const { checkout, catalog } = demo.services

type Inputs = Readonly<Record<string, string>>

const check = (inputs: Inputs = {}) => checkBackups(emulator(), inputs)

const fill = (...backups: readonly Partial<Backup>[]) => fillBackups(emulator(), 'checkout', backups)

describe('a query that fails is unknown, never never', () => {
  const effects: readonly (readonly [string, Effect, string])[] = [
    ['status 500', { kind: 'status', status: 500 }, 'The API answered 500'],
    ['status 503', { kind: 'status', status: 503 }, 'The API answered 503'],
    ['status 400', { kind: 'status', status: 400 }, 'The API answered 400'],
    ['status 403', { kind: 'status', status: 403 }, 'control-plane:service:view-backups'],
    ['a 404 of the API', { kind: 'status', status: 404 }, 'There is no such service'],
    ['a 404 of something else', { kind: 'html', status: 404 }, 'This url does not serve the API'],
    ['a captive portal', { kind: 'html' }, 'Is a proxy or a login page answering'],
    ['a redirect', { kind: 'status', status: 302, headers: { location: 'https://evil.example/' } }, 'Redirects are never followed'],
    ['a reset', { kind: 'reset' }, 'connection closed before an answer'],
    ['half an answer', { kind: 'truncate' }, 'not JSON'],
    ['no list', { kind: 'body', text: '{"result":{}}' }, 'result is not of type array'],
    ['null', { kind: 'body', text: '{"result":null}' }, 'result is not of type array'],
    ['an empty answer', { kind: 'body', text: '' }, 'the answer is empty'],
    ['a list with a hole', { kind: 'body', text: '{"result":[null]}' }, 'result[0] is not of type object'],
    [
      'a date that is none',
      { kind: 'body', text: `{"result":[{"id":"a","status":"done","startedAt":"today"}]}` },
      'result[0].startedAt is not a date and time',
    ],
  ]

  it.each(effects)('after %s', async (_, effect, words) => {
    emulator().addFault({ match: { path: `${checkout}/backups` }, times: Number.POSITIVE_INFINITY, effect })
    const ran = await check({ 'max-attempts': '2' })
    expect([outcomesOf(ran), ran.document.status, ran.exitCode]).toEqual([['unknown'], 'fail', 10])
    expect(ran.reason).toContain('could not be checked: ')
    expect(ran.reason).toContain(words)
    expect(Object.keys(ran.outputs).filter((name) => name.startsWith('backup-'))).toEqual([])
    expect(JSON.stringify(ran.blocks)).toContain(`Request: GET /v1/organizations/${demo.organizationId}/services/${checkout}/backups`)
  })

  it('and one that is answered in the end is not', async () => {
    emulator().addFault({ match: { path: `${checkout}/backups` }, times: 3, effect: { kind: 'status', status: 502 } })
    expect(outcomesOf(await check())).toEqual(['fresh'])
  })

  it('of a key that is not accepted either', async () => {
    const ran = await check({ 'api-key-id': demo.keys.disabled.id, 'api-key-secret': demo.keys.disabled.secret })
    expect([outcomesOf(ran), ran.document.status]).toEqual([['unknown'], 'fail'])
    expect(ran.reason).toContain('check api-key-id and api-key-secret')
  })
})

describe('the limit', () => {
  const limitOf = (ran: Invoked) => servicesOf(ran)[0]?.limit

  it('follows from the period of the backup configuration', async () => {
    serviceOf(emulator(), 'checkout').backupConfiguration = { backupPeriodInHours: 6 }
    fill(done(9))
    const ran = await check()
    expect(ran.document.status).toBe('fail')
    expect(limitOf(ran)).toEqual({ hours: 8, source: 'configuration', periodHours: 6 })
    expect(JSON.stringify(ran.blocks)).toContain('8 hours (a backup every 6 hours by the backup configuration, and 2 hours to make it)')
  })

  it('is that of daily backups where a start time is configured, whatever else is', async () => {
    for (const backupConfiguration of [{ backupStartTime: '03:00' }, { backupStartTime: '03:00', backupPeriodInHours: 6 }]) {
      serviceOf(emulator(), 'checkout').backupConfiguration = backupConfiguration
      fill(done(28, { durationInSeconds: 3 * 3600 }), done(52, { durationInSeconds: 3 * 3600 }))
      const ran = await check()
      expect(ran.document.status).toBe('pass')
      expect(limitOf(ran)).toMatchObject({ hours: 30, source: 'configuration', startTime: '03:00' })
    }
  })

  it('leaves backups that take long the time that they take', async () => {
    fill(done(29), done(53, { durationInSeconds: 3 * 3600 }))
    expect(limitOf(await check())).toMatchObject({ hours: 30, source: 'configuration' })
  })

  it('is max-age-hours, when that is given, and the configuration is not asked for', async () => {
    const ran = await check({ 'max-age-hours': '2.5' })
    expect([ran.document.status, limitOf(ran)]).toEqual(['fail', { hours: 2.5, source: 'given' }])
    expect(emulator().requests.map(({ path }) => path.split('/').at(-1))).toEqual(['backups'])
  })

  it.each([{}, { backupPeriodInHours: 0 }, { backupPeriodInHours: null as unknown as number, backupRetentionPeriodInHours: 24 }])(
    'is 26 hours by a configuration such as %j',
    async (configuration) => {
      serviceOf(emulator(), 'checkout').backupConfiguration = configuration
      const ran = await check()
      expect(ran.document.status).toBe('pass')
      expect(limitOf(ran)).toMatchObject({ hours: 26, source: 'standard', whyStandard: 'no-period' })
      expect(JSON.stringify(ran.blocks)).toContain('26 hours (the usual one for a backup a day: the backup configuration names no period)')
    },
  )

  it.each<[string, Effect]>([
    ['status 500', { kind: 'status', status: 500 }],
    ['status 403', { kind: 'status', status: 403 }],
    ['a reset', { kind: 'reset' }],
    ['words for a period', { kind: 'body', text: '{"result":{"backupPeriodInHours":"daily"}}' }],
  ])('is 26 hours after %s, which is a warning and makes nothing unknown', async (_, effect) => {
    emulator().addFault({ match: { path: 'backupConfiguration' }, times: Number.POSITIVE_INFINITY, effect })
    const ran = await check({ 'max-attempts': '2' })
    expect([outcomesOf(ran), ran.document.status, ran.exitCode]).toEqual([['fresh'], 'warn', 0])
    expect(limitOf(ran)).toEqual({ hours: 26, source: 'standard', whyStandard: 'unreadable' })
    expect(ran.reason).toContain('its backup configuration could not be read, so the limit is 26 hours: ')
  })

  it('is 26 hours without a word of warning, where there is no such thing', async () => {
    emulator().addFault({ match: { path: 'backupConfiguration' }, times: Number.POSITIVE_INFINITY, effect: { kind: 'html', status: 404 } })
    const ran = await check()
    expect([ran.document.status, limitOf(ran)?.whyStandard]).toEqual(['pass', 'no-configuration'])
  })

  it('cannot save a stale service by being unreadable', async () => {
    emulator().addFault({
      match: { path: 'backupConfiguration' },
      times: Number.POSITIVE_INFINITY,
      effect: { kind: 'status', status: 400 },
    })
    const ran = await check({ 'service-id': catalog })
    expect([outcomesOf(ran), ran.document.status]).toEqual([['stale'], 'fail'])
  })
})

describe('the size', () => {
  const sized = (...sizes: (number | undefined)[]) =>
    fill(...sizes.map((sizeInBytes, i) => done(1 + 24 * i, sizeInBytes === undefined ? {} : { sizeInBytes })))

  it.each([
    [[49, 100, 1, 100], 'warn', 'has 49 B, 49 % of the usual 100 B: less than 50 %'],
    [[4999, 10_000], 'warn', '49.9 % of the usual 9.8 KiB: less than 50 %'],
    [[50, 100, 1, 100], 'pass', ''],
    [[100], 'pass', ''],
    [[undefined, 100], 'warn', 'is not told, so that it was not compared'],
    [[-1, 100], 'warn', 'is not told, so that it was not compared'],
    [[100, undefined], 'warn', 'no earlier backup tells its size'],
  ])('of %j is a %s against half of the median of the earlier ones', async (sizes, status, words) => {
    sized(...sizes)
    const ran = await check({ 'min-size-ratio': '0.5' })
    expect([ran.document.status, ran.exitCode, outcomesOf(ran)]).toEqual([status, 0, ['fresh']])
    expect(ran.reason).toContain(words)
    expect(JSON.stringify(ran.blocks)).toContain(status === 'warn' ? '⚠️ fresh' : '✅ fresh')
  })

  it('is nobody’s concern unless min-size-ratio is given, and shown all the same', async () => {
    sized(1, 100, 100)
    const ran = await check()
    expect(ran.document).toMatchObject({
      status: 'pass',
      services: [{ size: { latest: 1, usual: 100, ratio: 0.01, values: [100, 100, 1] } }],
    })
  })

  it('of an incremental backup is not compared with that of a full one', async () => {
    const ran = await check({ 'min-size-ratio': '0.9' })
    expect(ran.document).toMatchObject({ status: 'pass', services: [{ type: 'incremental', sizeVerdict: 'ok' }] })
  })

  it('warns beside a failure, after it', async () => {
    fill(done(40, { sizeInBytes: 1 }), done(60, { sizeInBytes: 100 }))
    const ran = await check({ 'min-size-ratio': '0.5' })
    expect(ran.document.status).toBe('fail')
    expect(ran.reason).toMatch(/over the limit of 26 hours; the newest backup that is done has 1 B/)
  })
})
