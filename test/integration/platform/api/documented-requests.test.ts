import { beforeEach, describe, expect, it } from 'vitest'
import { demo } from '../../../../src/emulator/index.ts'
import { createVirtualClock } from '../../../support/clocks.ts'
import { basicPair, inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'
import { errors, shop } from '../../../support/shop-declaration.ts'
import { nowMs } from '../../../support/sleepy-service.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', now: () => nowMs })

interface DocumentedRead {
  /** By default GET. */
  readonly method?: 'POST'
  /** Every query parameter that may be sent, with the form of its value. */
  readonly query?: Readonly<Record<string, RegExp>>
  readonly required?: readonly string[]
  /** Fields that the answer or an item of it may have. Absent where another test compares the answers. */
  readonly fields?: readonly string[]
  readonly source: string
}

const openApi = "the vendor's OpenAPI document of 2026-07-31"
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/
const date = /^\d{4}-\d{2}-\d{2}$/
const organization = '/v1/organizations/{organizationId}'
const clickStack = `${organization}/services/{serviceId}/clickstack`

const documented: Readonly<Record<string, DocumentedRead>> = {
  [organization]: { source: `${openApi}, organizationGet` },
  [`${organization}/services`]: { query: { filter: /^tag:/ }, source: `${openApi}, instanceGetList` },
  [`${organization}/activities`]: {
    query: { from_date: dateTime, to_date: dateTime },
    fields: [
      ...['id', 'createdAt', 'type', 'actorType', 'actorId', 'actorDetails', 'actorIpAddress', 'organizationId', 'serviceId', 'userAgent'],
      ...['targetKeyId', 'keyUpdateType'],
    ],
    source: `${openApi}, activityGetList`,
  },
  [`${organization}/usageCost`]: {
    query: { from_date: date, to_date: date, filter: /^tag:/ },
    required: ['from_date', 'to_date'],
    fields: ['grandTotalCHC', 'costs'],
    source: `${openApi}, usageCostGet`,
  },
  [`${organization}/keys`]: {
    fields: [...['id', 'name', 'state', 'roles', 'assignedRoles', 'keySuffix', 'createdAt', 'expireAt', 'usedAt', 'ipAccessList']],
    source: `${openApi}, openapiKeyGetList`,
  },
  [`${organization}/creditBalances`]: {
    fields: ['totalRemainingCredits', 'balances'],
    source: `"Get organization active credit balances" in the vendor's API reference (beta; not in the OpenAPI document)`,
  },
  '/v1/whoami': { source: `"Resolve the caller identity" in the vendor's API reference (beta; not in the OpenAPI document)` },
  [`${organization}/services/{serviceId}/backups`]: { source: `${openApi}, backupGetList` },
  [`${clickStack}/alerts`]: { source: `${openApi}, clickStackListAlerts` },
  [`${clickStack}/dashboards`]: { source: `${openApi}, clickStackListDashboards` },
  [`${clickStack}/dashboards/validate`]: { method: 'POST', source: `${openApi}, clickStackValidateDashboard; it writes nothing` },
  [`${clickStack}/saved-searches`]: { source: `${openApi}, clickStackListSavedSearches` },
  [`${clickStack}/sources`]: { source: `${openApi}, clickStackListSources` },
  [`${clickStack}/webhooks`]: { source: `${openApi}, clickStackListWebhooks` },
}

const templateOf = (pathname: string): string =>
  pathname.replace(/^\/v1\/organizations\/[^/]+/, organization).replace(/\/services\/[^/]+/, '/services/{serviceId}')

/** What is wrong with a request, by the documents. */
function faultsOf(method: string, target: string): readonly string[] {
  const { pathname, searchParams } = new URL(target, 'http://localhost')
  const known = documented[templateOf(pathname)]
  if (known === undefined || method !== (known.method ?? 'GET')) return [`${method} ${pathname} is not documented`]
  const { query = {}, required = [] } = known
  return [
    ...[...searchParams].flatMap(([name, value]) => (query[name]?.test(value) ? [] : [`${pathname} has ${name}=${value}`])),
    ...required.flatMap((name) => (searchParams.getAll(name).length === 1 ? [] : [`${pathname} lacks ${name}`])),
  ]
}

const runs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'audit-costs': { 'service-id': '' },
  'check-credits': { 'service-id': '' },
  'usage-cost': { 'service-id': '', period: 'last-10-days', select: 'tag=team' },
  plan: { price: 'true', project: 'shop/prices', files: 'a.json' },
  doctor: {},
}

describe('the documents of the vendor', () => {
  beforeEach(() => {
    serviceOf(emulator()).alerts = []
  })

  it('have every request of operations about costs, with each query parameter and its form', async () => {
    const seen = new Set<string>()
    for (const [operation, inputs] of Object.entries(runs)) {
      emulator().reset()
      await invokeText({
        inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, ...inputs },
        files: { 'a.json': JSON.stringify({ dashboards: { shop }, alerts: { errors } }) },
        clock: createVirtualClock(nowMs),
      })
      expect(emulator().requests.length, operation).toBeGreaterThan(0)
      expect(
        emulator().requests.flatMap(({ method, path }) => faultsOf(method, path)),
        operation,
      ).toEqual([])
      for (const { path } of emulator().requests) seen.add(templateOf(new URL(path, 'http://localhost').pathname))
    }
    for (const name of ['activities', 'usageCost', 'creditBalances', 'services'])
      expect([...seen], name).toContain(`${organization}/${name}`)
    expect([...seen]).toContain('/v1/whoami')
  })

  it('have every field of the answers about costs that the emulator gives', async () => {
    const period = '?from_date=2026-03-01&to_date=2026-03-02'
    for (const [template, { fields, required = [] }] of Object.entries(documented)) {
      if (fields === undefined) continue
      const path = template.replace('{organizationId}', demo.organizationId) + (required.length > 0 ? period : '')
      const answer = await fetch(emulator().url + path, { headers: { authorization: `Basic ${basicPair}` } })
      const { result } = (await answer.json()) as { result: object | readonly object[] }
      const given = [result].flat().flatMap((one) => Object.keys(one))
      expect(given.length, template).toBeGreaterThan(0)
      expect(
        given.filter((name) => !fields.includes(name)),
        template,
      ).toEqual([])
    }
  })
})
