import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { renderMarkdown } from '../../../src/report/markdown.ts'
import { hostile } from '../../support/corpus.ts'
import { fleetDocument, makeFleet } from '../../support/fleet.ts'
import { invokeText } from '../../support/invoke.ts'
import { foreignHtml } from '../../support/markdown-oracle.ts'

const fleet = makeFleet([2, 1])
const [one, other] = fleet
const organizationOf = (i: number): string => fleet[i]?.id ?? ''
const services = fleet.flatMap(({ id, services: own }) => own.map((service) => ({ organizationId: id, serviceId: service.id })))
const [first, second, third] = services

/** A result document of a leg, as text. */
const told = (more: object): string =>
  JSON.stringify({
    operation: 'list-alerts',
    status: 'pass',
    failureReason: '',
    requestId: '00000001-5eed-4000-8000-00000000c0de',
    ...more,
  })

const complete = Object.fromEntries(services.map((target, i) => [`${i}.json`, told({ ...target, count: i })]))

function merge(
  results: Readonly<Record<string, string>>,
  inputs: Readonly<Record<string, string>> = {},
  document: object = fleetDocument(fleet),
) {
  const files = { 'fleet.yml': stringify(document), ...results }
  return invokeText({ inputs: { operation: 'report', fleet: 'fleet.yml', 'result-files': '*.json', ...inputs }, files })
}

const statusesOf = ({ document }: Awaited<ReturnType<typeof merge>>): readonly (readonly [string, string | undefined])[] =>
  (document.results as readonly { status: string; service?: string }[]).map(({ status, service }) => [status, service])

describe('a merged report', () => {
  it('passes when every service passed', async () => {
    const ran = await merge(complete)
    expect([ran.document.status, ran.reason, ran.exitCode]).toEqual(['pass', '', 0])
    expect(ran.outputs).toMatchObject({ 'result-count': '3', 'service-count': '3', 'pass-count': '3', 'missing-count': '0' })
    expect(renderMarkdown(ran.blocks)).toContain('`1 found`')
  })

  it('is as bad as the worst result, which stands first', async () => {
    const ran = await merge({
      ...complete,
      '0.json': told({ ...first, status: 'warn', failureReason: 'the list may not be complete' }),
      '2.json': told({ ...third, status: 'fail', failureReason: 'too many' }),
    })
    expect([ran.document.status, ran.exitCode]).toEqual(['fail', 10])
    expect(ran.reason).toBe('3 services, 3 result files: 1 failed (org-2.service-0001)')
    expect(statusesOf(ran)).toEqual([
      ['fail', 'service-0001'],
      ['warn', 'service-0001'],
      ['pass', 'service-0002'],
    ])
  })

  it('fails when a leg could not do its work', async () => {
    const ran = await merge({ ...complete, '1.json': told({ ...second, status: 'error', failureReason: 'Refused.\nMore of it.' }) })
    expect(ran.reason).toBe('3 services, 3 result files: 1 could not be done (org-1.service-0002)')
    expect(ran.document.results).toContainEqual(expect.objectContaining({ status: 'error', reason: 'Refused.', file: '1.json' }))
  })

  it('warns when a result is a warning, as under warn-only', async () => {
    const ran = await merge({ ...complete, '1.json': told({ ...second, status: 'warn', failureReason: 'stale' }) })
    expect([ran.document.status, ran.exitCode]).toEqual(['warn', 0])
  })

  it('names three of many, and counts the rest', async () => {
    const many = makeFleet([9])
    const files = Object.fromEntries(
      (many[0]?.services ?? []).map(({ id }, i) => [`${i}.json`, told({ organizationId: many[0]?.id, serviceId: id, status: 'fail' })]),
    )
    expect((await merge(files, {}, fleetDocument(many))).reason).toBe(
      '9 services, 9 result files: 9 failed (org-1.service-0001, org-1.service-0002, org-1.service-0003 and 6 more)',
    )
  })
})

describe('what is missing fails', () => {
  it('a service whose leg left no result', async () => {
    const { '1.json': _, ...rest } = complete
    const ran = await merge(rest)
    expect([ran.document.status, ran.exitCode]).toEqual(['fail', 10])
    expect(ran.reason).toBe('3 services, 2 result files: 1 without a result (org-1.service-0002)')
  })

  it('every result', async () => {
    const ran = await merge({})
    expect([ran.document.status, ran.exitCode]).toEqual(['error', 2])
    expect(ran.reason).toBe('result-files: no file matches *.json: the legs left no results')
  })

  it('the others of a leg that looked at its first service alone', async () => {
    const ran = await merge({ '0.json': told({ ...first }) })
    expect(ran.outputs['missing-count']).toBe('2')
  })

  it('an operation that some legs told of and others did not', async () => {
    const ran = await merge({ ...complete, 'more.json': told({ ...first, operation: 'get-backup' }) })
    expect(ran.outputs['missing-count']).toBe('2')
  })

  it('an operation that there must be, of which nobody told', async () => {
    const ran = await merge(complete, { operations: 'list-alerts\ncheck-backups' })
    expect(ran.reason).toBe('3 services, 3 result files: 2 without a result (org-1, org-2)')
    expect((await merge(complete, { operations: 'list-alerts' })).document.status).toBe('pass')
  })

  it('an organization that an operation on organizations did not tell of', async () => {
    const cost = (i: number): string =>
      told({ operation: 'usage-cost', organizationId: organizationOf(i), grandTotalCredits: '12.5', unit: 'CHC' })
    expect((await merge({ 'a.json': cost(0), 'b.json': cost(1) })).document.status).toBe('pass')
    expect((await merge({ 'a.json': cost(0) })).reason).toBe('3 services, 1 result file: 1 without a result (org-2)')
    expect(renderMarkdown((await merge({ 'a.json': cost(0) })).blocks)).toContain('`12.5 CHC`')
  })

  it('the whole fleet, when no result is about a part of it', async () => {
    const ran = await merge({ 'a.json': told({ operation: 'validate' }) })
    expect(ran.outputs['missing-count']).toBe('3')
  })

  it('but not what was not chosen', async () => {
    const { organizations } = fleetDocument(fleet)
    const labelled = {
      organizations: organizations.map((organization) => ({
        ...organization,
        services: organization.services.map((service, i) => ({ ...service, labels: i === 0 ? ['a'] : ['b'] })),
      })),
    }
    const { '1.json': _, ...rest } = complete
    expect((await merge(rest, { labels: 'a' }, labelled)).document).toMatchObject({ status: 'pass', serviceCount: 2 })
    expect((await merge(rest, {}, labelled)).document).toMatchObject({ status: 'fail', missingCount: 1 })
  })
})

describe('an operation on several services', () => {
  const checks = (more: object, ...outcomes: readonly object[]): string =>
    told({ operation: 'check-backups', organizationId: one?.id, services: outcomes, ...more })
  const fresh = (i: number) => ({ serviceId: services[i]?.serviceId, outcome: 'fresh', passes: true, ageHours: 3.5 })
  const stale = (i: number) => ({ serviceId: services[i]?.serviceId, outcome: 'stale', passes: false, ageHours: 50 })
  const rest = { 'b.json': told({ operation: 'check-backups', organizationId: other?.id, services: [fresh(2)] }) }

  it('tells of each of them', async () => {
    const ran = await merge({ ...rest, 'a.json': checks({ status: 'fail', failureReason: 'stale' }, fresh(0), stale(1)) })
    expect(statusesOf(ran)).toEqual([
      ['fail', 'service-0002'],
      ['pass', 'service-0001'],
      ['pass', 'service-0001'],
    ])
    expect(renderMarkdown(ran.blocks)).toContain('`stale`, `50 hours old`')
    expect(ran.outputs['result-count']).toBe('2')
  })

  it('that left one out is not complete', async () => {
    const ran = await merge({ ...rest, 'a.json': checks({}, fresh(0)) })
    expect(ran.reason).toContain('1 without a result (org-1.service-0002)')
  })

  it('whose failure is a warning under warn-only, warns', async () => {
    const ran = await merge({ ...rest, 'a.json': checks({ status: 'warn', failureReason: 'stale' }, fresh(0), stale(1)) })
    expect(ran.reason).toContain('1 with a warning (org-1.service-0002)')
  })

  it.each(['warn', 'fail'])('is never better than its own verdict: %s', async (status) => {
    const ran = await merge({ ...rest, 'a.json': checks({ status, failureReason: 'something else' }, fresh(0), fresh(1)) })
    expect(ran.document.status).toBe(status)
    expect(ran.document.results).toContainEqual(expect.objectContaining({ status, organization: 'org-1', reason: 'something else' }))
  })

  it('that does not say which of them pass, passes none of them', async () => {
    const ran = await merge({ ...rest, 'a.json': checks({}, { serviceId: first?.serviceId }, { serviceId: second?.serviceId }) })
    expect(ran.outputs['missing-count']).toBe('2')
  })
})

describe('what is not in the fleet', () => {
  const stranger = { organizationId: one?.id, serviceId: 'f1ee7100-0000-4000-8000-00000000ffff' }

  it('is a warning: the fleet file may be older than the legs', async () => {
    const ran = await merge({ ...complete, 'x.json': told(stranger) })
    expect([ran.document.status, ran.reason]).toEqual([
      'warn',
      `3 services, 4 result files: 1 not in the fleet (${one?.id}.${stranger.serviceId})`,
    ])
  })

  it('fails all the same when it failed', async () => {
    expect((await merge({ ...complete, 'x.json': told({ ...stranger, status: 'fail' }) })).document.status).toBe('fail')
  })

  it('does not stand for a service of another organization', async () => {
    const ran = await merge({ ...complete, '2.json': told({ ...third, organizationId: one?.id }) })
    expect(ran.document).toMatchObject({ status: 'fail', missingCount: 1 })
  })
})

describe('a file that is no result', () => {
  it.each([
    ['no JSON', 'status: pass', 'is not JSON at character 0'],
    ['empty', '', 'is not JSON at character 0'],
    ['a list', '[]', 'is no result of Watchkeeper: it is no map'],
    ['something else', '{"name":"x"}', 'is no result of Watchkeeper: no usable operation, status, failureReason'],
    ['another status', told({ status: 'green' }), 'is no result of Watchkeeper: no usable status'],
    ['an id that is none', told({ serviceId: '../..' }), 'is no result of Watchkeeper: no usable serviceId'],
    ['far too deep', '['.repeat(5000), 'is nested deeper than 100 levels at character 100'],
    ['larger than anything that is read', ' '.repeat(5 * 1024 * 1024 + 1), 'is larger than 5 MiB'],
    ['a pointer from an output', '{"truncated":true,"file":"/tmp/x"}', 'only says where the result is'],
  ])('because it is %s, fails, is named, and hides no other', async (_, text, reason) => {
    const ran = await merge({ ...complete, 'x.json': text })
    expect([ran.document.status, ran.reason]).toEqual(['fail', '3 services, 3 result files: 1 unreadable (x.json)'])
    expect(ran.document.unreadable).toEqual([{ file: 'x.json', reason: expect.stringContaining(reason) }])
    expect(ran.outputs['pass-count']).toBe('3')
  })

  it('may begin with a byte order mark', async () => {
    expect((await merge({ ...complete, '0.json': `\ufeff${complete['0.json']}` })).document.status).toBe('pass')
  })
})

it('shows nothing of a hostile result as anything but data', async () => {
  const files = Object.fromEntries(
    hostile.map(({ value }, i) => [
      `h${i}.json`,
      told({ ...first, operation: value.slice(0, 200), status: 'fail', failureReason: value, unit: value, grandTotalCredits: '1' }),
    ]),
  )
  const ran = await merge({ ...complete, ...files })
  expect(ran.document.status).toBe('fail')
  const markdown = renderMarkdown(ran.blocks, 1024 * 1024)
  expect(foreignHtml(markdown)).toEqual([])
  expect(Buffer.byteLength(JSON.stringify(ran.document))).toBeLessThan(1024 * 1024)
})
