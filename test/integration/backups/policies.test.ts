// What check-backups asks of backup configurations and of restores.
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { renderMarkdown } from '../../../src/platform/report/markdown.ts'
import { outcomesOf, servicesOf } from '../../support/backups.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type Invoked, invokeText } from '../../support/invoke.ts'
import { restore, verifyRestore } from '../../support/restores.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const { checkout, catalog } = demo.services

const check = (inputs: Readonly<Record<string, string>>, files: Readonly<Record<string, string>> = {}): Promise<Invoked> =>
  invokeText({ inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'check-backups', ...inputs }, files })

const withPolicies = (policies: readonly object[], inputs: Readonly<Record<string, string>> = {}) =>
  check({ checks: 'backups.json', ...inputs }, { 'backups.json': JSON.stringify({ policies }) })

const problemsOf = (ran: Invoked) => servicesOf(ran).map((service) => (service as unknown as { problems: readonly string[] }).problems)

const correctionOf = (ran: Invoked) => (servicesOf(ran)[0] as { correction?: string } | undefined)?.correction

describe('a policy', () => {
  it('passes when the configuration is as it says', async () => {
    serviceOf(emulator()).backupConfiguration = { backupPeriodInHours: 24, backupRetentionPeriodInHours: 720, backupStartTime: '02:00' }
    const ran = await withPolicies([{ periodHours: 24, retentionHours: 720, startTime: '02:00', ownBucket: true }])
    expect([ran.document.status, ran.reason, problemsOf(ran)]).toEqual(['pass', '', [[]]])
    expect(correctionOf(ran)).toBeUndefined()
  })

  it('fails for each difference, with the command that corrects all of them, and writes nothing', async () => {
    serviceOf(emulator()).backupConfiguration = { backupPeriodInHours: 12, backupRetentionPeriodInHours: 24 }
    const ran = await withPolicies([
      { periodHours: 24, retentionHours: 720 },
      { startTime: '02:00', retentionHours: 720 },
    ])
    expect([ran.document.status, ran.exitCode, outcomesOf(ran)]).toEqual(['fail', 10, ['fresh']])
    expect(problemsOf(ran)).toEqual([
      [
        'periodHours is 12, and the policy has 24',
        'retentionHours is 24, and the policy has 720',
        'startTime is unknown, and the policy has 02:00',
      ],
    ])
    const command = `clickhousectl cloud service backup-config update ${checkout} --backup-period-hours 24 --backup-retention-period-hours 720 --backup-start-time 02:00 --org-id ${demo.organizationId}`
    expect(correctionOf(ran)).toBe(command)
    expect(ran.blocks).toContainEqual({ kind: 'preformatted', text: command })
    expect(ran.reason).toMatch(/^Service checkout: periodHours is 12, and the policy has 24\. Service checkout: retentionHours is 24, /)
    expect(emulator().requests.every(({ method }) => method === 'GET')).toBe(true)
  })

  it('has a period of 24 hours where a start time is set', async () => {
    serviceOf(emulator()).backupConfiguration = { backupPeriodInHours: 6, backupStartTime: '02:00' }
    expect((await withPolicies([{ periodHours: 24 }])).document.status).toBe('pass')
  })

  it('is about the services that it names, or that have its tag', async () => {
    serviceOf(emulator(), 'catalog').backupConfiguration = { backupPeriodInHours: 12 }
    const policies = [
      { services: ['checkout'], periodHours: 24 },
      { tag: 'team=catalog', periodHours: 6 },
    ]
    const ran = await withPolicies(policies, { services: `${checkout},${catalog}`, 'max-age-hours': '60' })
    expect(problemsOf(ran)).toEqual([[], ['periodHours is 12, and the policy has 6']])
    expect(ran.reason).toBe('1 of 2 services fails the check: catalog. Service catalog: periodHours is 12, and the policy has 6.')
  })

  it('that is missing for a service is a problem', async () => {
    const ran = await withPolicies([{ services: ['search'], periodHours: 24 }])
    expect(ran.reason).toBe('Service checkout: no policy of the file is about it.')
  })

  it.each([
    [{ services: ['check-out'] }, '"check-out", and no service has this name, id or tag; did you mean "checkout"?'],
    [{ tag: 'team=chekout' }, '"team=chekout", and no service has this name, id or tag; did you mean "team=checkout"?'],
  ])('for %j, which no service has, is an error, also beside a policy for all', async (scope, words) => {
    const ran = await withPolicies([{ periodHours: 24 }, { ...scope, ownBucket: true }])
    expect([ran.exitCode, ran.reason]).toEqual([2, expect.stringContaining(`a policy for ${words}`)])
  })

  it('asks for a daily backup in a bucket of your own, whatever the period of the service is, or one of the period of the policy', async () => {
    const policy = [{ ownBucket: true }]
    expect((await withPolicies(policy, { 'max-age-hours': '4' })).document.status).toBe('pass')
    const [newest] = serviceOf(emulator()).backups
    Object.assign(newest ?? {}, { bucket: undefined })
    expect((await withPolicies(policy, { 'max-age-hours': '4' })).reason).toMatch(
      /^Service checkout: the policy has a backup in a bucket of your own within 4 h, and the newest started 1 d 3 h ago\.$/,
    )
    // These backups are made every day, so the one before the newest is 27 h old.
    Object.assign(serviceOf(emulator()).backupConfiguration ?? {}, { backupPeriodInHours: 168 })
    expect((await withPolicies(policy)).reason).toMatch(/within 1 d 2 h, and the newest started 1 d 3 h ago\.$/)
    expect((await withPolicies([{ ownBucket: true, periodHours: 168 }])).document.status).toBe('pass')
    for (const backup of serviceOf(emulator()).backups) Object.assign(backup, { bucket: undefined })
    expect((await withPolicies(policy)).reason).toMatch(/within 1 d 2 h, and there is none\.$/)
    Object.assign(serviceOf(emulator()), { backups: [], createdAt: new Date(Date.now() - 3_600_000).toISOString() })
    expect((await withPolicies(policy)).document.status).toBe('pass')
  })

  it('fails when the configuration cannot be read, also with max-age-hours', async () => {
    emulator().addFault({
      match: { path: '/backupConfiguration' },
      times: Number.POSITIVE_INFINITY,
      effect: { kind: 'status', status: 500 },
    })
    const ran = await withPolicies([{ periodHours: 24 }], { 'max-age-hours': '26', 'max-attempts': '1' })
    expect(ran.document.status).toBe('fail')
    expect(problemsOf(ran)).toEqual([['periodHours is unknown, and the policy has 24']])
    expect(ran.reason).toContain('the backup configuration could not be read: The API answered 500')
  })

  it('keeps the reason of a stale backup in front', async () => {
    const ran = await withPolicies([{ periodHours: 48 }], { services: catalog })
    expect(ran.reason).toMatch(
      /^Service catalog: the last successful backup is .* Service catalog: periodHours is 24, and the policy has 48\.$/,
    )
  })

  it('has its command beside the advice on a stale service, before the facts', async () => {
    for (const name of ['checkout', 'catalog'] as const) serviceOf(emulator(), name).backupConfiguration = { backupPeriodInHours: 12 }
    const { blocks } = await withPolicies([{ periodHours: 24 }], { services: 'checkout,catalog' })
    const [advice, policies, commands, facts] = blocks.slice(blocks.findIndex(({ kind }) => kind === 'paragraph'))
    expect([advice, policies].map((block) => block?.kind === 'paragraph' && toPlainText(block.line))).toEqual([
      expect.stringContaining(`list-backups --organization-id ${demo.organizationId} --service-id ${catalog}`),
      'To make the backup configurations those of the policies:',
    ])
    expect([commands?.kind, facts?.kind]).toEqual(['preformatted', 'facts'])
  })

  it('reads neither the configurations nor the list of services where it does not need them', async () => {
    const paths = async (policy: object, inputs: Readonly<Record<string, string>>) => {
      const before = emulator().requests.length
      await withPolicies([policy], inputs)
      return emulator()
        .requests.slice(before)
        .map(({ path }) => path.replace(/^.*organizations\/[^/]+\/|\?.*$/g, '').replace(checkout, 'ID'))
    }
    expect(await paths({ minSizeRatio: 0.5 }, { 'max-age-hours': '26' })).toEqual(['services/ID/backups'])
    expect(await paths({ minSizeRatio: 0.5 }, {})).toEqual(['services/ID/backups', 'services/ID/backupConfiguration'])
    expect(await paths({ periodHours: 24 }, { 'max-age-hours': '26' })).toEqual(['services/ID/backups', 'services/ID/backupConfiguration'])
    expect(await paths({ tag: 'shop' }, { 'max-age-hours': '26' })).toEqual(['services', 'services/ID/backups'])
  })

  it('needs policies in the file', async () => {
    expect((await check({ checks: 'a.json' }, { 'a.json': '{}' })).reason).toBe('checks: has no policies; check-backups needs some')
  })
})

const days = (count: number): string => new Date(Date.now() - count * 86_400_000).toISOString()

const evidence = (more: object = {}): string =>
  JSON.stringify({
    operation: 'verify-restore',
    status: 'pass',
    organizationId: demo.organizationId,
    restoreStatus: 'verified',
    originalId: checkout,
    checkedAt: days(29),
    backupStartedAt: days(29),
    ...more,
  })

const requireRestore = (
  files: Readonly<Record<string, string>>,
  policies: readonly object[] = [{ requireRestoreDays: 30, results: ['evidence/*.json'] }],
) => check({ checks: 'backups.json' }, { 'backups.json': JSON.stringify({ policies }), ...files })

describe('the evidence of a restore', () => {
  it('passes with a result of verify-restore that is new enough', async () => {
    const { id } = restore(emulator())
    const ran = await verifyRestore(emulator(), id, { inputs: { reports: 'json=restore.json' } })
    const files = { 'evidence/a.json': JSON.stringify(ran.document), 'evidence/b.json': evidence({ checkedAt: days(300) }) }
    const checked = await requireRestore(files)
    expect([checked.document.status, checked.reason]).toEqual(['pass', ''])
    expect(checked.document.services).toMatchObject([{ restoredAt: ran.document.backupStartedAt, passes: true }])
  })

  const goodAt = days(29)
  const good = evidence({ checkedAt: goodAt })
  const none = 'results have no verified restore of it'

  it('V13: fails when the newest result is not verified or too old, or when a file cannot be read as a result', () =>
    forEachEntry<[string, string, string]>(
      [
        [
          'of an older backup, checked later',
          evidence({ backupStartedAt: days(31) }),
          'the newest backup with a verified restore started 31 days ago, and requireRestoreDays is 30',
        ],
        [
          'without a backup',
          evidence({ backupStartedAt: undefined }),
          `${none}. Service checkout: evidence/a.json is not a result of verify-restore`,
        ],
        ['of another service', evidence({ originalId: catalog }), `${none}, only of 1 other service`],
        ['only started', evidence({ restoreStatus: 'started' }), 'its newest restore, 29 days ago, is started (evidence/a.json)'],
        ['failed', evidence({ status: 'fail' }), 'its newest restore, 29 days ago, is verified, but the run failed (evidence/a.json)'],
        ['of another operation', evidence({ operation: 'check-backups' }), none],
        ['of another organization', evidence({ organizationId: demo.services.search }), none],
        ['of a run that did not complete', evidence({ status: 'error', restoreStatus: undefined }), none],
        ['in the future', evidence({ checkedAt: days(-2) }), `${none}. Service checkout: evidence/a.json is dated in the future`],
        [
          'without a date',
          evidence({ checkedAt: undefined }),
          `${none}. Service checkout: evidence/a.json is not a result of verify-restore`,
        ],
        ['cut off', evidence().slice(0, -9), `${none}. Service checkout: evidence/a.json is not a result of verify-restore`],
      ],
      async (_, text, problem) => {
        const ran = await requireRestore({ 'evidence/a.json': text })
        expect([ran.document.status, ran.reason]).toEqual(['fail', `Service checkout: ${problem}.`])
      },
    ))

  it('V13: a newer result that is not verified, or may not be, counts more than a verified one', () =>
    forEachEntry<[string, string, string]>(
      [
        [
          'different',
          evidence({ restoreStatus: 'different', status: 'fail', checkedAt: days(28) }),
          'its newest restore, 28 days ago, is different (evidence/b.json)',
        ],
        [
          'as a warning',
          evidence({ restoreStatus: 'different', status: 'warn', checkedAt: days(28) }),
          'its newest restore, 28 days ago, is different (evidence/b.json)',
        ],
        [
          'at the same time',
          evidence({ restoreStatus: 'not-started', status: 'fail', checkedAt: goodAt }),
          'its newest restore, 29 days ago, is not-started (evidence/b.json)',
        ],
        ['cut off', evidence({ restoreStatus: 'different' }).slice(0, -9), 'evidence/b.json is not a result of verify-restore'],
        ['in the future', evidence({ restoreStatus: 'different', checkedAt: days(-1) }), 'evidence/b.json is dated in the future'],
      ],
      async (_, text, problem) => {
        const ran = await requireRestore({ 'evidence/a.json': good, 'evidence/b.json': text })
        expect([ran.document.status, ran.reason]).toEqual(['fail', `Service checkout: ${problem}.`])
      },
    ))

  it('names files that say nothing about the services, and passes with an older result that does', async () => {
    const ran = await requireRestore({
      'evidence/a.json': good,
      'evidence/b.json': evidence({ organizationId: demo.services.search, restoreStatus: 'different', checkedAt: days(1) }),
      'evidence/c.json': evidence({ status: 'error', restoreStatus: undefined }),
      'evidence/d.json': evidence({ restoreStatus: 'different', checkedAt: days(30) }),
    })
    expect(ran.document.status).toBe('pass')
    const lines = ran.blocks.flatMap((block) => (block.kind === 'paragraph' ? [toPlainText(block.line)] : []))
    expect(lines).toContain(
      'Files without a result about these services: evidence/b.json (another organization), evidence/c.json (the run did not complete).',
    )
  })

  it('V13: fails without a file, and says how to make one', async () => {
    const ran = await requireRestore({})
    expect(ran.reason).toBe('Service checkout: results have no verified restore of it.')
    const text = renderMarkdown(ran.blocks)
    expect(text).toContain(
      `watchkeeper verify-restore --organization-id ${demo.organizationId} --service-id NEW --original ${checkout} --id BACKUP --reports json=restore.json`,
    )
    expect(text).toContain('❌ fresh, with 1 problem')
  })

  it('needs both fields in a policy', async () => {
    for (const policy of [{ requireRestoreDays: 30 }, { results: ['*.json'] }])
      expect((await requireRestore({}, [policy])).reason).toBe(
        `backups.json:1:14: policies[0]: ${JSON.stringify(policy)} has only one of requireRestoreDays and results; set both`,
      )
    expect((await requireRestore({}, [{ requireRestoreDays: 30, results: ['../*.json'] }])).reason).toContain(
      'policies[0].results[0]: "../*.json" is not accepted',
    )
  })

  it('is that of each policy about the service, and the strictest one decides', async () => {
    const files = { 'evidence/a.json': good, 'other/b.json': evidence({ backupStartedAt: days(3) }) }
    const policies = (daysOfFirst: number, services = [checkout]) => [
      { requireRestoreDays: daysOfFirst, results: ['evidence/*.json'] },
      { services, requireRestoreDays: 5, results: ['other/*.json'] },
    ]
    const passed = await requireRestore(files, policies(30))
    expect(passed.document).toMatchObject({ status: 'pass', services: [{ restoredAt: expect.stringMatching(days(3).slice(0, 10)) }] })
    const failed = await requireRestore({ ...files, 'other/b.json': evidence({ backupStartedAt: days(6) }) }, policies(20))
    expect(failed.reason).toBe(
      'Service checkout: the newest backup with a verified restore started 29 days ago, and requireRestoreDays is 20. Service checkout: the newest backup with a verified restore started 6 days ago, and requireRestoreDays is 5.',
    )
    const elsewhere = await requireRestore({ 'evidence/a.json': good }, policies(30, [catalog]))
    expect([elsewhere.document.status, elsewhere.reason]).toEqual(['pass', ''])
  })
})

describe('a service of a restore drill', () => {
  it('is left out of the check of backups, with a line, and only others are judged', async () => {
    const { id } = restore(emulator(), { tags: [{ key: 'restore-drill', value: '7' }] })
    const ran = await check({ services: `checkout,drill` })
    expect([ran.document.status, ran.document.drills, outcomesOf(ran)]).toEqual(['pass', ['drill'], ['fresh']])
    const lines = ran.blocks.flatMap((block) => (block.kind === 'paragraph' ? [toPlainText(block.line)] : []))
    expect(lines).toContain('Left out, because they belong to restore drills: drill.')
    const byId = await check({ services: `${checkout},${id}` })
    expect([byId.document.status, byId.document.drills, outcomesOf(byId)]).toEqual(['pass', ['drill'], ['fresh']])
  })

  it('is an error if nothing else is checked', async () => {
    const { id } = restore(emulator(), { tags: [{ key: 'restore-drill' }] })
    expect((await check({ services: id })).reason).toBe('services: are all services of restore drills, which have no backups of their own')
  })

  it('is judged without the tag', async () => {
    const { id } = restore(emulator(), { tags: [{ key: 'drill' }] })
    expect(outcomesOf(await check({ services: id }))).toEqual(['missing'])
  })

  it('is left out of the cost audit, with a line', async () => {
    const audit = async () => {
      const ran = await invokeText({ inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'audit-costs' } })
      return { ...ran, services: (ran.document.services as readonly { name: string }[]).map(({ name }) => name) }
    }
    restore(emulator(), { tags: [{ key: 'restore-drill', value: '7' }] })
    const ran = await audit()
    expect(ran.services).toEqual(['checkout', 'catalog', 'search'])
    expect(ran.document.unchecked).toContainEqual({
      what: 'a service of a restore drill',
      name: 'drill',
      reason: 'its tag restore-drill says that it is deleted soon',
      isFailure: false,
    })
    restore(emulator(), { name: 'other' })
    expect((await audit()).services).toContain('other')
  })

  it('is left out of the cost of entities, with a line, and counts in the total', async () => {
    const usage = async () => {
      const inputs = { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'usage-cost', period: 'last-7-days', budget: '10000' }
      return invokeText({ inputs })
    }
    const before = await usage()
    const [organization] = emulator().store.organizations
    const record = organization?.usage.findLast(({ entityName }) => entityName === 'search')
    if (record === undefined) throw new Error('the demo has usage of search')
    const serviceId = 'c0ffee00-0000-4000-8000-0000000000dd'
    organization?.usage.push({ ...record, serviceId, entityId: serviceId, entityName: 'restore-drill 7', micro: { compute: 2_500_000 } })
    const after = await usage()
    expect(Number(after.document.grandTotalCredits) - Number(before.document.grandTotalCredits)).toBeCloseTo(2.5)
    const texts = after.blocks.flatMap((block) =>
      block.kind === 'paragraph' ? [toPlainText(block.line)] : block.kind === 'table' ? [JSON.stringify(block.rows)] : [],
    )
    expect(texts).toContain('Left out of the entities: 1 of restore drills, 2.50 CHC.')
    expect(texts.filter((text) => text.startsWith('[') && text.includes('restore-drill'))).toEqual([])
  })
})
