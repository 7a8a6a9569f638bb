import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { toKebab } from '../../../src/core/names.ts'
import { fleetMatrix, legSchema, ofOrganizations } from '../../../src/fleet/matrix.ts'
import { operationNames, operations } from '../../../src/operations.ts'
import { fleetDocument, fleetFile, makeFleet } from '../../support/fleet.ts'
import { invokeText } from '../../support/invoke.ts'

interface Leg {
  readonly name: string
  readonly organization: string
  readonly 'service-id'?: string
  readonly services: string
  readonly 'api-key-id-name': string
  readonly settings?: object
}

const run = (fleet: string, inputs: Readonly<Record<string, string>> = {}) =>
  invokeText({ inputs: { operation: 'fleet-matrix', fleet: 'fleet.yml', ...inputs }, files: { 'fleet.yml': fleet } })

async function legsOf(fleet: string, inputs: Readonly<Record<string, string>> = {}): Promise<readonly Leg[]> {
  const { outputs, reason } = await run(fleet, inputs)
  if (outputs.matrix === undefined) throw new Error(reason)
  return (JSON.parse(outputs.matrix) as { include: readonly Leg[] }).include
}

const namesOf = (legs: readonly Leg[]): readonly string[] => legs.map(({ name }) => name)

const small = fleetFile(makeFleet([3, 2]))

it('says how to get a fleet file where none is given', async () => {
  const { reason } = await invokeText({ inputs: { operation: 'fleet-matrix' } })
  expect(reason).toBe(
    'fleet: is missing; accepted: a path inside the workspace; set it to a file such as fleet.yml; watchkeeper init fleet writes one',
  )
})

describe('the matrix', () => {
  it('the matrix has a leg for each service, with the names of its secrets and neighbours of other keys', async () => {
    const legs = await legsOf(small)
    expect(namesOf(legs)).toEqual([
      'org-1.service-0001',
      'org-2.service-0001',
      'org-1.service-0002',
      'org-2.service-0002',
      'org-1.service-0003',
    ])
    expect(legs[1]).toEqual({
      name: 'org-2.service-0001',
      organization: 'org-2',
      'organization-id': 'f1ee7000-0000-4000-8000-000000000002',
      'service-id': 'f1ee7100-0000-4000-8000-000000010001',
      services: 'f1ee7100-0000-4000-8000-000000010001',
      profile: 'clickhouse-cloud',
      'api-key-id-name': 'ORG_2_KEY_ID',
      'api-key-secret-name': 'ORG_2_KEY_SECRET',
    })
  })

  it('the matrix has a result with the counts', async () => {
    const { document, outputs } = await run(small)
    expect(document).toMatchObject({ status: 'pass', legCount: 5, serviceCount: 5, organizationCount: 2 })
    expect(outputs['max-parallel']).toBe('2')
  })

  it.each([257, 4000])('the matrix has each of %i services once, in at most 256 legs, within the limit of an output', async (size) => {
    const fleet = makeFleet([size - 150, 149, 1])
    const { outputs } = await run(fleetFile(fleet))
    const legs = (JSON.parse(outputs.matrix ?? '') as { include: readonly Leg[] }).include
    expect(legs.length).toBeLessThanOrEqual(256)
    const ids = legs.flatMap(({ services }) => services.split('\n'))
    expect(ids.toSorted()).toEqual(fleet.flatMap(({ services }) => services.map(({ id }) => id)).toSorted())
    expect(new Set(namesOf(legs)).size).toBe(legs.length)
    for (const leg of legs) expect(leg['service-id'] !== undefined).toBe(!leg.services.includes('\n'))
    for (const { organization, services } of legs) {
      const own = fleet.find(({ name }) => name === organization)?.services.map(({ id }) => id)
      expect(services.split('\n').filter((id) => !own?.includes(id))).toEqual([])
    }
    // GitHub counts two bytes a character.
    expect((outputs.matrix ?? '').length * 2).toBeLessThan(1024 * 1024)
  })

  it('the matrix does not depend on the order of the file', async () => {
    const { organizations } = fleetDocument(makeFleet([400, 20]))
    const shuffled = organizations.map((one) => ({ ...one, services: one.services.toReversed() }))
    expect(await legsOf(stringify({ organizations: shuffled }))).toEqual(await legsOf(stringify({ organizations })))
  })

  it('packs services with different settings into different legs, which have these settings', async () => {
    const [first] = makeFleet([600])
    const settings = (i: number): object => (i < 200 ? { settings: { 'max-age-hours': 6 } } : {})
    const fleet = first && [{ ...first, services: first.services.map((one, i) => ({ ...one, ...settings(i) })) }]
    const legs = await legsOf(fleetFile(fleet ?? []))
    expect(legs.length).toBeLessThanOrEqual(256)
    const strict = legs.filter(({ settings: own }) => own !== undefined)
    expect(strict.flatMap(({ services }) => services.split('\n'))).toHaveLength(200)
  })

  it('adds the settings of the organization to those of a service', async () => {
    const document = fleetDocument(makeFleet([2]))
    const organizations = document.organizations.map((one) => ({
      ...one,
      settings: { budget: 10, 'max-age-hours': 26 },
      services: one.services.map((service, i) => ({ ...service, ...(i === 0 && { settings: { 'max-age-hours': 6 } }) })),
    }))
    expect((await legsOf(stringify({ organizations }))).map(({ settings }) => settings)).toEqual([
      { budget: 10, 'max-age-hours': 6 },
      { budget: 10, 'max-age-hours': 26 },
    ])
  })

  it('the matrix has one leg for each organization for an operation of organizations, even if it has several keys', async () => {
    const { organizations } = fleetDocument(makeFleet([3, 2, 1]))
    const [one, other, third] = organizations
    const twice = [one, other, { ...third, 'organization-id': one?.['organization-id'] }]
    const { document, outputs } = await run(stringify({ organizations: twice }), { operations: 'usage-cost' })
    const legs = (JSON.parse(outputs.matrix ?? '') as { include: readonly Leg[] }).include
    expect(namesOf(legs)).toEqual(['org-1', 'org-2'])
    expect(legs[0]).not.toHaveProperty('services')
    expect(document).toMatchObject({ organizationCount: 2, serviceCount: 6 })
  })

  it('uses the default names of the secrets in an environment', async () => {
    const [organization] = fleetDocument(makeFleet([1])).organizations
    const { 'api-key-id-name': _, 'api-key-secret-name': __, ...rest } = { ...organization }
    expect(await legsOf(stringify({ organizations: [{ ...rest, environment: 'production eu' }] }))).toMatchObject([
      { environment: 'production eu', 'api-key-id-name': 'WATCHKEEPER_API_KEY_ID', 'api-key-secret-name': 'WATCHKEEPER_API_KEY_SECRET' },
    ])
  })

  it('counts secrets of one name in two environments as two keys', async () => {
    const organizations = fleetDocument(makeFleet([1, 1])).organizations.map((one, i) => {
      const { 'api-key-id-name': _, 'api-key-secret-name': __, ...rest } = one
      return { ...rest, environment: `production ${i}` }
    })
    expect((await run(stringify({ organizations }))).outputs['max-parallel']).toBe('2')
  })
})

describe('select', () => {
  const labelled = stringify({
    organizations: fleetDocument(makeFleet([2, 1])).organizations.map((one, i) => ({
      ...one,
      services: one.services.map((service, j) => ({ ...service, labels: i === 0 && j === 0 ? ['critical'] : ['shop', 'rest'] })),
    })),
  })

  it('select keeps the services with all of the labels', async () => {
    expect(namesOf(await legsOf(labelled, { select: 'label=critical' }))).toEqual(['org-1.service-0001'])
    expect(await legsOf(labelled, { select: 'label=shop\nlabel=rest' })).toHaveLength(2)
  })

  it('select keeps the organizations of those services', async () => {
    expect(namesOf(await legsOf(labelled, { select: 'label=critical', operations: 'check-credits' }))).toEqual(['org-1'])
  })

  it('a label without a service is an error, because a matrix without legs would pass', async () => {
    const { document, reason } = await run(labelled, { select: 'label=crtical' })
    expect(document.status).toBe('error')
    expect(reason).toBe('select: no service of fleet.yml has label=crtical')
  })
})

describe('matrix returns an error with advice for', () => {
  it('rejects more groups than legs', async () => {
    const { reason } = await run(fleetFile(makeFleet(Array.from({ length: 257 }, () => 1))))
    expect(reason).toMatch(
      /^fleet: needs at least 257 legs, and a matrix has at most 256\. .* Select services by label, or use several files$/,
    )
  })

  it('rejects operations that need different legs', async () => {
    expect((await run(small, { operations: 'usage-cost\ncheck-backups' })).reason).toBe(
      'operations: usage-cost needs a leg for each organization, and check-backups legs for services; make a matrix for each of them',
    )
  })

  it('knows all operations that are about an organization, and take no services', async () => {
    const all = await Promise.all(operationNames.map(async (name) => [name, await operations[name]()] as const))
    const found = all.filter(([, { scope, input }]) => scope === 'organization' && !Object.hasOwn(input.shape, 'services'))
    expect(found.map(([name]) => name).toSorted()).toEqual(ofOrganizations.toSorted())
  })

  it('rejects a matrix that is too long for an output', async () => {
    const { organizations } = fleetDocument(makeFleet([256]))
    const settings = Object.fromEntries(Array.from({ length: 3 }, (_, i) => [`filter-${i}`, 'x'.repeat(700)]))
    const { reason } = await run(stringify({ organizations: organizations.map((one) => ({ ...one, settings })) }))
    expect(reason).toMatch(/^fleet: the matrix of fleet\.yml has \d{6} characters, and the limit for an output is 500000\. /)
  })

  it('rejects a fleet without services', async () => {
    expect((await run(fleetFile(makeFleet([0])))).reason).toBe('fleet.yml: has no services')
  })
})

it('the matrix has every field that the example workflow uses', () => {
  const workflow = readFileSync(new URL('../../../examples/workflows/fleet.yml', import.meta.url), 'utf8')
  const namesAfter = (prefix: string): readonly string[] =>
    [...workflow.matchAll(new RegExp(`\\b${prefix}\\.([a-z-]+)`, 'g'))].map(([, name = '']) => name)
  expect(namesAfter('matrix').length).toBeGreaterThan(5)
  expect(namesAfter('matrix').filter((name) => !Object.hasOwn(legSchema.shape, name))).toEqual([])
  const outputs = Object.keys(fleetMatrix.output.shape).map(toKebab)
  expect(namesAfter('outputs').length).toBeGreaterThan(3)
  expect(namesAfter('outputs').filter((name) => !outputs.includes(name))).toEqual([])
})
