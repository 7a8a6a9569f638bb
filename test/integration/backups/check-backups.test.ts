import { describe, expect, it } from 'vitest'
import { type Backup, demo, type Effect } from '../../../src/emulator/index.ts'
import { formatMoment } from '../../../src/platform/core/dates.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { renderMarkdown } from '../../../src/platform/report/markdown.ts'
import { backupId, checkBackups, done, fillBackups, hoursAgo, outcomesOf, servicesOf } from '../../support/backups.ts'
import { methodsOf, serviceOf, useEmulator } from '../../support/emulator.ts'
import { factsIn } from '../../support/report-texts.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const { checkout, catalog, search } = demo.services

type Inputs = Readonly<Record<string, string>>

const check = (inputs: Inputs = {}) => checkBackups(emulator(), inputs)

const fill = (...backups: readonly Partial<Backup>[]) => fillBackups(emulator(), 'checkout', backups)

it('a service without a fresh backup has the command that lists its backups', async () => {
  const commandOf = async (...backups: readonly Partial<Backup>[]) => {
    fill(...backups)
    const { blocks } = await check()
    return blocks
      .flatMap((block) => (block.kind === 'paragraph' ? toPlainText(block.line) : []))
      .find((line) => line.includes('watchkeeper'))
  }
  const expected = expect.stringMatching(
    new RegExp(`ask its support.*: watchkeeper list-backups --organization-id ${demo.organizationId} --service-id ${checkout}$`),
  )
  expect(await commandOf(done(50))).toEqual(expected)
  expect(await commandOf()).toEqual(expected)
  expect(await commandOf(done(3))).toBeUndefined()
})

describe('the outcome of a service', () => {
  it.each<[string, readonly Partial<Backup>[], string, RegExp]>([
    ['fresh', [done(3)], 'pass', /^$/],
    ['stale', [done(50)], 'fail', /^Service checkout: the last successful backup is 2 d 2 h old, limit 1 d 2 h\.$/],
    [
      'failed',
      [{ status: 'error', startedAt: hoursAgo(2) }, done(20)],
      'fail',
      /^Service checkout: the last backup failed\. It started 2 h ago\. The last successful backup is 20 h old\.$/,
    ],
    ['in-progress', [{ status: 'in_progress', startedAt: hoursAgo(2) }], 'pass', /^$/],
  ])('the outcome of a service is %s', async (outcome, backups, status, reason) => {
    fill(...backups)
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status, ran.exitCode]).toEqual([[outcome], status, status === 'pass' ? 0 : 10])
    expect(ran.document).toMatchObject({ backupId: backupId(0), backupStatus: backups[0]?.status })
    expect(ran.outputs['backup-status']).toBe(backups[0]?.status)
    expect(ran.reason).toMatch(reason)
  })

  it('the outcome of a service is missing for an empty list, without outputs about a backup', async () => {
    fill()
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status, ran.exitCode]).toEqual([['missing'], 'fail', 10])
    expect(ran.reason).toBe('Service checkout: no backup.')
    expect(Object.keys(ran.outputs).filter((name) => name.startsWith('backup-'))).toEqual([])
    expect(ran.document).not.toHaveProperty('backupAgeHours')
  })

  it('the outcome of a service is missing and passes until its first backup is due', async () => {
    fill()
    const service = serviceOf(emulator(), 'checkout')
    service.createdAt = hoursAgo(2)
    const due = new Date(Date.parse(service.createdAt) + 26 * 3_600_000).toISOString()
    emulator().addFault({ match: { path: '/services' }, nth: 3, times: 2, effect: { kind: 'status', status: 503 } })
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status, ran.reason, ran.exitCode]).toEqual([['missing'], 'pass', '', 0])
    expect(ran.document.services).toMatchObject([{ passes: true, firstBackupDueAt: due }])
    const [verdict] = ran.blocks
    expect(verdict?.kind === 'verdict' && toPlainText(verdict.line)).toBe(
      `Service checkout: the first backup is due by ${formatMoment(due)}.`,
    )
    expect(JSON.stringify(ran.blocks)).toContain(`✅ missing, due by ${formatMoment(due)}`)
    expect((await check({ 'max-age-hours': '1' })).reason).toBe('Service checkout: no backup.')
    const both = await check({ services: `${checkout},${catalog}`, 'max-age-hours': '60' })
    const [first] = both.blocks
    expect(first?.kind === 'verdict' && toPlainText(first.line)).toMatch(
      /^1 of 2 services has a fresh backup, 1 has its first backup in progress or due\.$/,
    )
  })

  it('the outcome of a service is in-progress and fails when the first backup takes longer than the limit', async () => {
    fill({ status: 'in_progress', startedAt: hoursAgo(30) })
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status]).toEqual([['in-progress'], 'fail'])
    expect(ran.reason).toBe('Service checkout: the first backup is in progress, 1 d 6 h old, limit 1 d 2 h.')
  })

  it('the outcome of a service is unknown when a backup is dated in the future', async () => {
    fill(done(-2), done(3))
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status]).toEqual([['unknown'], 'fail'])
    expect(ran.reason).toBe('Service checkout: a backup is dated in the future, so ages are not reliable. Check the clock of this machine.')
  })

  it('the outcome of a service has outputs about the backup that decided it', async () => {
    const ran = await check()
    const [newest] = serviceOf(emulator(), 'checkout').backups
    expect(ran.document).toMatchObject({
      backupId: newest?.id,
      backupName: newest?.backupName,
      backupStatus: 'done',
      backupStartedAt: newest?.startedAt,
      backupFinishedAt: newest?.finishedAt,
      backupSizeBytes: newest?.sizeInBytes,
      backupDurationSeconds: 540,
      backupBucketPath: 'https://demo-shop-backups.s3.example/checkout',
    })
    expect(Number(ran.outputs['backup-age-hours'])).toBeCloseTo(3.15, 1)
  })
})

describe('the report', () => {
  const factsOf = async (inputs?: Inputs) => factsIn((await check(inputs)).blocks)

  it('the report says which backup decided, when it ran, where it is and what the limit is', async () => {
    const [newest] = serviceOf(emulator(), 'checkout').backups
    const ofBackup = [
      `Last successful backup: ${newest?.backupName}`,
      `Started: ${formatMoment(newest?.startedAt ?? '')}`,
      `Finished: ${formatMoment(newest?.finishedAt ?? '')}`,
      'Location: https://demo-shop-backups.s3.example/checkout',
    ]
    expect(await factsOf()).toEqual([
      ...ofBackup,
      'Limit: 1 d 2 h (from the backup configuration: a period of 1 d, and 2 h to make the backup)',
    ])
    expect(await factsOf({ 'max-age-hours': '72' })).toEqual([...ofBackup, 'Limit: 3 d (from max-age-hours)'])
    fill({ status: 'error', startedAt: hoursAgo(2), backupName: 'nightly' }, done(20))
    const failed = await factsOf({ services: `${catalog},${checkout}`, 'max-age-hours': '72' })
    expect(failed.slice(0, 2)).toEqual(['Worst service: checkout', 'Failed backup: nightly'])
    fill({ status: 'in_progress', startedAt: hoursAgo(2), backupName: 'nightly' })
    expect(await factsOf()).toContain('First backup: nightly')
  })

  const lasting = (hours: number, backup: ReturnType<typeof done>): ReturnType<typeof done> => ({
    ...backup,
    finishedAt: new Date(Date.parse(String(backup.startedAt)) + hours * 3_600_000).toISOString(),
  })

  it('the report compares size and duration of the last successful backup with earlier ones, and lists them', async () => {
    fill(
      lasting(1, done(2, { sizeInBytes: 1024, type: 'full' })),
      lasting(2, done(26, { sizeInBytes: 4096, type: 'full', backupName: 'nightly' })),
    )
    const text = renderMarkdown((await check()).blocks)
    expect(text).toContain(`| Service | Outcome | Last successful backup | Limit | Backups |
| --- | --- | ---: | ---: | ---: |
| \`${checkout}\` | ✅ fresh | 2 h ago | 1 d 3 h | 2 |
`)
    expect(text).toContain(`| Service | Type | Size | Share of median | Sizes | Duration | Share of median | Durations |
| --- | --- | ---: | ---: | --- | ---: | ---: | --- |
| \`${checkout}\` | \`full\` | 1.0 KiB | 25% | █▃ | 1 h | 50% | █▅ |
`)
    expect(text.replaceAll(/\d+ \w+ \d{4} \d\d:\d\d UTC/g, 'TIME')).toContain(`| Started | Status | Type | Duration | Size | Name | Id |
| --- | --- | --- | ---: | ---: | --- | --- |
| TIME | \`done\` | \`full\` | 1 h | 1.0 KiB | – | \`${backupId(0)}\` |
| TIME | \`done\` | \`full\` | 2 h | 4.0 KiB | \`nightly\` | \`${backupId(1)}\` |
`)
  })
})

describe('a data quality issue', () => {
  it.each<[string, readonly Partial<Backup>[], string]>([
    [
      'a missing status',
      [{ startedAt: hoursAgo(2), finishedAt: hoursAgo(1) }],
      'the last successful backup has no status. It has an end, so it counts as successful.',
    ],
    ['a newer backup without status', [{ startedAt: hoursAgo(1) }, done(2)], 'a newer backup has no known status'],
    ['a backup without a date', [{ status: 'done' }, done(2)], 'backups without a date are left out'],
  ])('a data quality issue is a warning: %s', async (_, backups, words) => {
    fill(...backups)
    const ran = await check()
    expect([outcomesOf(ran), ran.document.status]).toEqual([['fresh'], 'warn'])
    expect(ran.reason).toContain(words)
  })

  it('has the ten newest backups, and counts all', async () => {
    fill(...Array.from({ length: 12 }, (_, i) => done(3 + i)))
    const ran = await check()
    const newest = Array.from({ length: 10 }, (_, i) => ({ id: backupId(i) }))
    expect(ran.document.services).toMatchObject([{ count: 12, backups: newest }])
    expect(ran.blocks).toContainEqual(expect.objectContaining({ title: `Newest 10 of 12 backups of service ${checkout}` }))
  })

  it('leaves the outcome unknown when every field is missing', async () => {
    fill({})
    expect([outcomesOf(await check())]).toEqual([['unknown']])
  })
})

describe('several services', () => {
  it('several services are judged in the given order, with outputs about the worst, and the first line names those without a fresh backup', async () => {
    const ran = await check({ services: [checkout, catalog, search].join(', ') })
    expect([outcomesOf(ran), ran.exitCode]).toEqual([['fresh', 'stale', 'failed'], 10])
    expect(ran.document.worstServiceId).toBe(search)
    expect(ran.cause).toBe('search has a failed backup, catalog is stale')
    expect(ran.document).toMatchObject({ backupStatus: 'error', backupId: serviceOf(emulator(), 'search').backups[0]?.id })
    const [verdict, details] = ran.blocks
    expect(verdict?.kind === 'verdict' && toPlainText(verdict.line)).toMatch(/^2 of 3 services have no fresh backup: search, catalog\.$/)
    expect(details?.kind === 'list' && details.items.map(toPlainText)).toEqual([
      expect.stringMatching(/^Service search: the last backup failed\. It started .* ago\. The last successful backup is .* old\.$/),
      expect.stringMatching(/^Service catalog: the last successful backup is 2 d \d+ h old, limit 1 d 2 h\.$/),
    ])
  })

  it('several services are checked even if one of them cannot be read', async () => {
    emulator().addFault({ match: { path: checkout }, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 500 } })
    const ran = await check({ services: `${checkout}\n${catalog}`, 'max-age-hours': '60' })
    expect([outcomesOf(ran), ran.document.status, ran.document.worstServiceId]).toEqual([['unknown', 'fresh'], 'fail', checkout])
    expect(ran.outputs).not.toHaveProperty('backup-age-hours')
  })

  it('several services replace service-id, and duplicates are checked once, with one request for the list of services after a failure', async () => {
    const ran = await check({ services: `${search},${search.toUpperCase()}\n\n ${search} ,`, 'max-age-hours': '26' })
    expect(servicesOf(ran).map(({ serviceId }) => serviceId)).toEqual([search])
    expect(methodsOf(emulator())).toEqual(['GET', 'GET'])
  })

  it('several services have one limit each', async () => {
    serviceOf(emulator(), 'catalog').backupConfiguration = { backupPeriodInHours: 48 }
    const ran = await check({ services: `${checkout},${catalog}` })
    expect(servicesOf(ran).map(({ limit }) => limit.hours)).toEqual([26, 50])
    expect(JSON.stringify(ran.blocks)).toContain('Limits')
  })

  it('several services are only counted in the reason after the first ten', async () => {
    const services = Array.from({ length: 30 }, (_, i) => backupId(i))
    const ran = await check({ services: services.join('\n'), 'max-age-hours': '26' })
    expect(ran.document.status).toBe('fail')
    expect(ran.reason).toMatch(/^30 of 30 services could not be checked: .* and 20 more\. /)
    expect(ran.cause).toBe(`${services.slice(0, 3).join(' could not be checked, ')} could not be checked and others`)
    expect(ran.reason).toContain(' and 20 more: not checked. The API answered 404')
    expect(servicesOf(ran)).toHaveLength(30)
  })

  it('several services pass when all are fresh', async () => {
    const ran = await check({ services: `${checkout},${catalog}`, 'max-age-hours': '60' })
    expect([ran.document.status, ran.reason, ran.document.worstServiceId]).toEqual(['pass', '', catalog])
  })
})

const listPath = `/v1/organizations/${demo.organizationId}/services`

const listRequests = (): number => emulator().requests.filter(({ path }) => path === listPath).length

describe('the names of services', () => {
  const refused: readonly (readonly [string, Effect])[] = [
    ['is refused', { kind: 'status', status: 403 }],
    ['fails', { kind: 'status', status: 500 }],
    ['is not JSON', { kind: 'html' }],
    ['has an id that is not a uuid', { kind: 'body', text: '{"result":[{"id":"../x","name":"checkout"}]}' }],
  ]

  it.each(refused)(
    'the names of services are replaced by ids when the list of services %s, after one request and with the same outcome',
    async (_, effect) => {
      emulator().addFault({ match: { path: '/services' }, nth: 3, times: 1, effect })
      fill(done(50))
      const ran = await check()
      expect([outcomesOf(ran), ran.document.status, ran.exitCode]).toEqual([['stale'], 'fail', 10])
      expect(ran.reason).toBe(`Service ${checkout}: the last successful backup is 2 d 2 h old, limit 1 d 2 h.`)
      expect(listRequests()).toBe(1)
    },
  )

  it('the names of services cost no request when every service has a fresh backup', async () => {
    expect((await check()).document.status).toBe('pass')
    expect(listRequests()).toBe(0)
  })

  it('the names of services cost no request when the API answers no request for a service', async () => {
    emulator().addFault({ match: { path: '/backups' }, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 500 } })
    expect((await check({ 'max-attempts': '1' })).document.status).toBe('fail')
    expect(listRequests()).toBe(0)
  })

  it('the names of services have the id beside them when two services have the same name', async () => {
    serviceOf(emulator(), 'catalog').name = 'search'
    const ran = await check({ services: `${catalog},${search}` })
    expect(ran.reason).toContain(`: search (${search}), search (${catalog}). `)
  })

  it('the names of services are in the result and in the last line of the report', async () => {
    const ran = await check({ services: search })
    expect(ran.document.services).toMatchObject([{ serviceId: search, name: 'search' }])
    const last = ran.blocks.at(-1)
    expect(last?.kind === 'footer' && toPlainText(last.line)).toMatch(
      new RegExp(`^Organization ${demo.organizationId} · service search · \\d{1,2} [A-Z][a-z]{2} \\d{4} \\d\\d:\\d\\d UTC$`),
    )
  })
})

describe('the input services', () => {
  it('accepts names and ids', async () => {
    const ran = await check({ services: `checkout, ${catalog}\nsearch` })
    expect(servicesOf(ran).map(({ serviceId }) => serviceId)).toEqual([checkout, catalog, search])
    expect(listRequests()).toBe(1)
  })

  it('accepts a name and the id of the same service as one service', async () => {
    expect(servicesOf(await check({ services: `checkout,${checkout}` }))).toHaveLength(1)
  })

  it('suggests a name for one that is unknown, without a request for backups', async () => {
    const ran = await check({ services: 'chekout, nothing like it' })
    expect([ran.exitCode, ran.document.status]).toEqual([2, 'error'])
    expect(ran.reason).toContain('services: no service has the id or name "chekout"; did you mean "checkout"?')
    expect(ran.reason).toContain('services: no service has the id or name "nothing like it"')
    expect(emulator().requests.map(({ path }) => path)).toEqual([listPath])
  })

  it('rejects a name that several services have, and lists five of their ids', async () => {
    serviceOf(emulator(), 'catalog').name = 'search'
    const ran = await check({ services: 'search' })
    expect([ran.exitCode, ran.reason]).toEqual([
      2,
      `services: "search" is the name of 2 services. Use an id instead: ${catalog}, ${search}`,
    ])
    const one = serviceOf(emulator(), 'search')
    emulator().store.organizations[0]?.services.push(...Array.from({ length: 4 }, (_, i) => ({ ...one, id: backupId(i) })))
    expect((await check({ services: 'search' })).reason).toBe(
      `services: "search" is the name of 6 services. Use an id instead: ${[catalog, search, ...[0, 1, 2].map(backupId)].join(', ')}`,
    )
  })

  it('the input services is an error when it has a name and the key cannot list services', async () => {
    emulator().addFault({ match: { path: listPath }, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 403 } })
    const ran = await check({ services: 'checkout' })
    expect(ran.document).toMatchObject({ status: 'error', error: { kind: 'permission' } })
    expect(ran.reason).toContain('control-plane:service:view')
  })
})

describe('invalid input', () => {
  it.each<[Inputs, string]>([
    [{ services: ',' }, 'services: [] is not accepted; accepted: names or ids, one per line or separated by commas, at most 100'],
    [{ services: `${checkout}, a\u0007b` }, 'services: "a\\u0007b" is not accepted'],
    [{ services: 'x'.repeat(257) }, 'is not accepted; accepted: names or ids'],
    [{ services: Array.from({ length: 101 }, (_, i) => backupId(i)).join() }, 'at most 100'],
    [
      { 'max-age-hours': '0' },
      'max-age-hours: 0 is not accepted; accepted: a number of hours above 0 and at most 87600, such as 26 or 1.5',
    ],
    [{ 'max-age-hours': '-1' }, 'max-age-hours: -1 is not accepted'],
    [{ 'max-age-hours': '1d' }, 'max-age-hours: "1d" is not accepted'],
    [{ 'max-age-hours': '1e400' }, 'max-age-hours: "1e400" is not accepted'],
    [{ 'max-age-hour': '26' }, 'max-age-hour: unknown input of check-backups; did you mean "max-age-hours"?'],
    [{ 'service-id': '' }, 'service-id: is missing: set service-id, the variable WATCHKEEPER_SERVICE_ID, or services'],
    [{ 'service-id': 'x' }, 'service-id: "x" is not accepted'],
  ])('rejects %j by name, before any request', async (inputs, words) => {
    const ran = await check(inputs)
    expect([ran.exitCode, ran.document.status]).toEqual([2, 'error'])
    expect(ran.reason).toContain(words)
    expect(emulator().requests).toHaveLength(0)
  })

  it('does not require service-id with services', async () => {
    expect((await check({ 'service-id': '', services: checkout })).document.status).toBe('pass')
  })
})
