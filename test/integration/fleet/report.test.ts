import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { toPlainText } from '../../../src/core/line.ts'
import { renderMarkdown } from '../../../src/report/markdown.ts'
import { hostile } from '../../support/corpus.ts'
import { fleetDocument, makeFleet } from '../../support/fleet.ts'
import { invokeText } from '../../support/invoke.ts'
import { unexpectedHtml } from '../../support/output-oracle.ts'

const fleet = makeFleet([2, 1])
const [one, other] = fleet
const organizationOf = (i: number): string => fleet[i]?.id ?? ''
const services = fleet.flatMap(({ id, services: own }) => own.map((service) => ({ organizationId: id, serviceId: service.id })))
const [first, second, third] = services

/** A result document of a leg, as text. */
const resultText = (more: object): string =>
  JSON.stringify({
    operation: 'list-alerts',
    status: 'pass',
    failureReason: '',
    requestId: '00000001-5eed-4000-8000-00000000c0de',
    ...more,
  })

const complete = Object.fromEntries(services.map((target, i) => [`${i}.json`, resultText({ ...target, count: i })]))

function merge(
  results: Readonly<Record<string, string>>,
  inputs: Readonly<Record<string, string>> = {},
  document: object = fleetDocument(fleet),
) {
  const files = { 'fleet.yml': stringify(document), ...results }
  return invokeText({ inputs: { operation: 'fleet-report', fleet: 'fleet.yml', files: '*.json', ...inputs }, files })
}

const statusesOf = ({ document }: Awaited<ReturnType<typeof merge>>): readonly (readonly [string, string | undefined])[] =>
  (document.results as readonly { status: string; service?: string }[]).map(({ status, service }) => [status, service])

describe('report', () => {
  it('passes when every service passed', async () => {
    const ran = await merge(complete)
    expect([ran.document.status, ran.reason, ran.exitCode]).toEqual(['pass', '', 0])
    expect(ran.document).toMatchObject({ resultCount: 3, serviceCount: 3, passCount: 3, missingCount: 0 })
    expect(renderMarkdown(ran.blocks)).toContain('1 found')
  })

  it('fails when wildcards skip a linked directory with results', async () => {
    const { document, exitCode } = await invokeText({
      inputs: { operation: 'fleet-report', fleet: 'fleet.yml', files: 'results/**/*.json' },
      files: {
        'fleet.yml': stringify(fleetDocument(fleet)),
        ...Object.fromEntries(Object.entries(complete).map(([name, text]) => [`results/${name}`, text])),
        'elsewhere/bad.json': resultText({ ...first, status: 'fail', failureReason: 'too many' }),
      },
      links: { 'results/more': '../elsewhere' },
    })
    expect(exitCode).not.toBe(0)
    expect(document).toMatchObject({ status: 'fail', unreadable: [{ file: 'results/more', reason: 'is a link to a directory' }] })
  })

  it('does not count a result without an organization as outside of the fleet', async () => {
    const { document } = await merge({ ...complete, 'files.json': resultText({ operation: 'validate' }) })
    expect(document.results).toContainEqual(expect.objectContaining({ file: 'files.json', isOutsideFleet: false }))
  })

  it('report has the verdict of the worst result, which comes first', async () => {
    const ran = await merge({
      ...complete,
      '0.json': resultText({ ...first, status: 'warn', failureReason: 'the list may not be complete' }),
      '2.json': resultText({ ...third, status: 'fail', failureReason: 'too many' }),
    })
    expect([ran.document.status, ran.exitCode]).toEqual(['fail', 10])
    expect(ran.reason).toBe('1 result failed: org-2.service-0001. Read 3 result files for 3 services.')
    expect(statusesOf(ran)).toEqual([
      ['fail', 'service-0001'],
      ['warn', 'service-0001'],
      ['pass', 'service-0002'],
    ])
  })

  it('fails when a leg ended with an error', async () => {
    const ran = await merge({ ...complete, '1.json': resultText({ ...second, status: 'error', failureReason: 'Refused.\nMore of it.' }) })
    expect(ran.reason).toBe('1 result is an error: org-1.service-0002. Read 3 result files for 3 services.')
    expect(ran.document.results).toContainEqual(expect.objectContaining({ status: 'error', reason: 'Refused.', file: '1.json' }))
  })

  it('warns when a result is a warning, as under warn-only', async () => {
    const ran = await merge({ ...complete, '1.json': resultText({ ...second, status: 'warn', failureReason: 'stale' }) })
    expect([ran.document.status, ran.exitCode]).toEqual(['warn', 0])
  })

  it('counts the results of each organization, without a column for a status that no result has', async () => {
    const { blocks } = await merge({ ...complete, '1.json': resultText({ ...second, status: 'warn', failureReason: 'stale' }) })
    const found = blocks.flatMap((block) => (block.kind === 'table' && block.title === 'By organization' ? [block] : []))
    expect(found.map(({ columns, rows }) => [columns.map(({ title }) => title), ...rows.map((row) => row.map(toPlainText))])).toEqual([
      [
        ['Organization', '⚠️ warning', '✅ passed'],
        ['org-1', '1', '1'],
        ['org-2', '0', '1'],
      ],
    ])
  })

  it('names three results and counts the rest', async () => {
    const many = makeFleet([9])
    const files = Object.fromEntries(
      (many[0]?.services ?? []).map(({ id }, i) => [
        `${i}.json`,
        resultText({ organizationId: many[0]?.id, serviceId: id, status: 'fail' }),
      ]),
    )
    expect((await merge(files, {}, fleetDocument(many))).reason).toBe(
      '9 results failed: org-1.service-0001, org-1.service-0002, org-1.service-0003 and 6 more. Read 9 result files for 9 services.',
    )
  })
})

describe('report fails when a result is missing', () => {
  it('fails when the result of a service whose leg left no file is missing', async () => {
    const { '1.json': _, ...rest } = complete
    const ran = await merge(rest)
    expect([ran.document.status, ran.exitCode]).toEqual(['fail', 10])
    expect(ran.reason).toBe('1 result is missing: org-1.service-0002. Read 2 result files for 3 services.')
  })

  it('returns an error when there are no result files', async () => {
    const ran = await merge({})
    expect([ran.document.status, ran.exitCode]).toEqual(['error', 2])
    expect(ran.reason).toBe('files: no file matches *.json. The legs left no results')
  })

  it('fails when results of services that a leg skipped are missing', async () => {
    const ran = await merge({ '0.json': resultText({ ...first }) })
    expect(ran.document.missingCount).toBe(2)
  })

  it('an error of one service is not the reason why the result of another one is missing', async () => {
    const ran = await merge({
      '0.json': resultText({ ...first, status: 'error', failureReason: 'no answer' }),
      '2.json': resultText({ ...third }),
    })
    expect(ran.document).toMatchObject({ errorCount: 1, missingCount: 1, passCount: 1 })
  })

  it('fails when results of an operation that only some legs ran', async () => {
    const ran = await merge({ ...complete, 'more.json': resultText({ ...first, operation: 'get-backup' }) })
    expect(ran.document.missingCount).toBe(2)
  })

  it('fails when a required operation ran in no leg', async () => {
    const ran = await merge(complete, { operations: 'list-alerts\ncheck-backups' })
    expect(ran.reason).toBe('2 results are missing: org-1, org-2. Read 3 result files for 3 services.')
    expect((await merge(complete, { operations: 'list-alerts' })).document.status).toBe('pass')
  })

  it('fails without a result of an organization for an operation on organizations', async () => {
    const cost = (i: number): string =>
      resultText({ operation: 'usage-cost', organizationId: organizationOf(i), grandTotalCredits: '12.5', unit: 'CHC' })
    expect((await merge({ 'a.json': cost(0), 'b.json': cost(1) })).document.status).toBe('pass')
    expect((await merge({ 'a.json': cost(0) })).reason).toBe('1 result is missing: org-2. Read 1 result file for 3 services.')
    expect(renderMarkdown((await merge({ 'a.json': cost(0) })).blocks)).toContain('12.50 CHC')
  })

  it('fails for the whole fleet when no result is about it', async () => {
    const ran = await merge({ 'a.json': resultText({ operation: 'validate' }) })
    expect(ran.document.missingCount).toBe(3)
  })

  it('passes without results of services that the labels do not select', async () => {
    const { organizations } = fleetDocument(fleet)
    const labelled = {
      organizations: organizations.map((organization) => ({
        ...organization,
        services: organization.services.map((service, i) => ({ ...service, labels: i === 0 ? ['a'] : ['b'] })),
      })),
    }
    const { '1.json': _, ...rest } = complete
    expect((await merge(rest, { select: 'label=a' }, labelled)).document).toMatchObject({ status: 'pass', serviceCount: 2 })
    expect((await merge(rest, {}, labelled)).document).toMatchObject({ status: 'fail', missingCount: 1 })
    // A result that the labels do not select keeps the name of its service.
    const ran = await merge(complete, { select: 'label=a' }, labelled)
    expect(ran.reason).toBe('1 result is not in the fleet: org-1.service-0002. Read 3 result files for 2 services.')
    expect(ran.document.results).toContainEqual(
      expect.objectContaining({ organization: 'org-1', service: 'service-0002', isOutsideFleet: true }),
    )
  })
})

describe('the leg of an organization whose secrets are not set', () => {
  it('has one row for each of its services, with the reason', async () => {
    const leg = await invokeText({
      inputs: {
        operation: 'check-backups',
        profile: 'clickhouse-cloud',
        'organization-id': organizationOf(1),
        services: third?.serviceId ?? '',
      },
      env: { GITHUB_ACTIONS: 'true' },
    })
    const backups = { operation: 'check-backups', organizationId: organizationOf(0), failureReason: '', status: 'pass' }
    const passed = [first, second].map((service) => ({ ...service, outcome: 'fresh', passes: true }))
    const { document } = await merge({
      'a.json': resultText({ ...backups, services: passed }),
      'b.json': JSON.stringify(leg.document),
    })
    expect((document.results as readonly object[])[0]).toMatchObject({
      status: 'error',
      organization: 'org-2',
      service: 'service-0001',
      reason: expect.stringMatching(/^2 errors in the input: api-key-id: is missing or empty; set the input to a secret that exists/),
      file: 'b.json',
    })
    expect(document).toMatchObject({ errorCount: 1, missingCount: 0, passCount: 2 })
  })
})

describe('the result of an operation on several services', () => {
  const checks = (more: object, ...outcomes: readonly object[]): string =>
    resultText({ operation: 'check-backups', organizationId: one?.id, services: outcomes, ...more })
  const fresh = (i: number) => ({ serviceId: services[i]?.serviceId, outcome: 'fresh', passes: true, ageHours: 3.5 })
  const stale = (i: number) => ({ serviceId: services[i]?.serviceId, outcome: 'stale', passes: false, ageHours: 50 })
  const rest = { 'b.json': resultText({ operation: 'check-backups', organizationId: other?.id, services: [fresh(2)] }) }

  it('counts for each of them', async () => {
    const ran = await merge({ ...rest, 'a.json': checks({ status: 'fail', failureReason: 'stale' }, fresh(0), stale(1)) })
    expect(statusesOf(ran)).toEqual([
      ['fail', 'service-0002'],
      ['pass', 'service-0001'],
      ['pass', 'service-0001'],
    ])
    expect(renderMarkdown(ran.blocks)).toContain('stale, 2 d 2 h old')
    expect(ran.document.resultCount).toBe(2)
  })

  it('the result of an operation on several services does not count for a service that it left out', async () => {
    const ran = await merge({ ...rest, 'a.json': checks({}, fresh(0)) })
    expect(ran.reason).toContain('1 result is missing: org-1.service-0002.')
  })

  it('the result of an operation on several services has warnings instead of failures under warn-only', async () => {
    const ran = await merge({ ...rest, 'a.json': checks({ status: 'warn', failureReason: 'stale' }, fresh(0), stale(1)) })
    expect(ran.reason).toContain('1 result has a warning: org-1.service-0002.')
  })

  it.each(['warn', 'fail'])('the result of an operation on several services is never better than its own verdict: %s', async (status) => {
    const ran = await merge({ ...rest, 'a.json': checks({ status, failureReason: 'something else' }, fresh(0), fresh(1)) })
    expect(ran.document.status).toBe(status)
    expect(ran.document.results).toContainEqual(expect.objectContaining({ status, organization: 'org-1', reason: 'something else' }))
  })

  it('counts for none of them without their verdicts', async () => {
    const ran = await merge({ ...rest, 'a.json': checks({}, { serviceId: first?.serviceId }, { serviceId: second?.serviceId }) })
    expect(ran.document.missingCount).toBe(2)
  })
})

describe('a result from outside the fleet', () => {
  const outside = { organizationId: one?.id, serviceId: 'f1ee7100-0000-4000-8000-00000000ffff' }

  it('a result from outside the fleet is a warning: the fleet file may be older than the legs', async () => {
    const ran = await merge({ ...complete, 'x.json': resultText(outside) })
    expect([ran.document.status, ran.reason]).toEqual([
      'warn',
      `1 result is not in the fleet: ${one?.id}.${outside.serviceId}. Read 4 result files for 3 services.`,
    ])
  })

  it('fails when it failed', async () => {
    expect((await merge({ ...complete, 'x.json': resultText({ ...outside, status: 'fail' }) })).document.status).toBe('fail')
  })

  it('a result from outside the fleet does not count for a service of another organization', async () => {
    const ran = await merge({ ...complete, '2.json': resultText({ ...third, organizationId: one?.id }) })
    expect(ran.document).toMatchObject({ status: 'fail', missingCount: 1 })
  })
})

describe('a file that is not a result', () => {
  it.each([
    ['not JSON', 'status: pass', 'is not JSON'],
    ['empty', '', 'is not JSON'],
    ['a list', '[]', 'is not a result document of Watchkeeper: the document is not of type object'],
    ['another document', '{"name":"x"}', 'is not a result document of Watchkeeper: the document.operation is missing (and 2 more)'],
    ['an unknown status', resultText({ status: 'green' }), 'is not a result document of Watchkeeper: the document.status is not valid'],
    ['an invalid id', resultText({ serviceId: '../..' }), 'is not a result document of Watchkeeper: the document.serviceId is not a uuid'],
    ['nested too deeply', `${'['.repeat(5000)}${']'.repeat(5000)}`, 'is nested deeper than 100 levels'],
    ['too large', ' '.repeat(5 * 1024 * 1024 + 1), 'is larger than 5 MiB'],
    ['a pointer from an output', '{"truncated":true,"file":"/tmp/x"}', 'is the shortened output of a step'],
  ])('fails, is named, and does not hide other results: %s', async (_, text, reason) => {
    const ran = await merge({ ...complete, 'x.json': text })
    expect([ran.document.status, ran.reason]).toEqual(['fail', '1 result file is unreadable: x.json. Read 3 result files for 3 services.'])
    expect(ran.document.unreadable).toEqual([{ file: 'x.json', reason: expect.stringContaining(reason) }])
    expect(ran.document.passCount).toBe(3)
  })

  it('a file that is not a result may begin with a byte order mark', async () => {
    expect((await merge({ ...complete, '0.json': `\ufeff${complete['0.json']}` })).document.status).toBe('pass')
  })
})

it('escapes every text of a hostile result', async () => {
  const files = Object.fromEntries(
    hostile.map(({ value }, i) => [
      `h${i}.json`,
      resultText({ ...first, operation: value.slice(0, 200), status: 'fail', failureReason: value, unit: value, grandTotalCredits: '1' }),
    ]),
  )
  const ran = await merge({ ...complete, ...files })
  expect(ran.document.status).toBe('fail')
  const markdown = renderMarkdown(ran.blocks, 1024 * 1024)
  expect(unexpectedHtml(markdown)).toEqual([])
  expect(Buffer.byteLength(JSON.stringify(ran.document))).toBeLessThan(1024 * 1024)
})

describe('the lines for a notification', () => {
  const keyLinesOf = async (...given: Parameters<typeof merge>) => (await merge(...given)).keyLines.map(toPlainText)

  it('the lines for a notification are the counts when every service passed', async () => {
    expect(await keyLinesOf(complete)).toEqual(['Passed 3'])
  })

  it('the lines for a notification are the counts and the services that failed, worst first, without warnings', async () => {
    const results = {
      '0.json': resultText({ ...first, status: 'warn', failureReason: 'the list may not be complete' }),
      '2.json': resultText({ ...third, status: 'fail', failureReason: 'too many' }),
    }
    expect(await keyLinesOf(results)).toEqual([
      'Warnings 1 · Failed 1 · Missing 1',
      '❌ failed: org-2.service-0001 (list-alerts)',
      '❔ missing: org-1.service-0002 (list-alerts)',
    ])
  })

  it('the lines for a notification name at most ten services', async () => {
    const large = makeFleet([12])
    const results = Object.fromEntries(
      large.flatMap(({ id, services: own }) =>
        own.map((service, i) => [
          `${i}.json`,
          resultText({ organizationId: id, serviceId: service.id, status: 'fail', failureReason: 'no' }),
        ]),
      ),
    )
    const lines = await keyLinesOf(results, {}, fleetDocument(large))
    expect(lines).toHaveLength(12)
    expect(lines.at(-1)).toBe('… and 2 more')
  })
})
