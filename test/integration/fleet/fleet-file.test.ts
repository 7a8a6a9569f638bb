import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { invokeText } from '../../support/invoke.ts'

const [organizationId, serviceId] = ['f1ee7000-0000-4000-8000-000000000001', 'f1ee7100-0000-4000-8000-000000000001']

const keys = { 'api-key-id-name': 'SHOP_KEY_ID', 'api-key-secret-name': 'SHOP_KEY_SECRET' }
const service = { name: 'checkout', 'service-id': serviceId }
const shop = { name: 'shop', 'organization-id': organizationId, ...keys, services: [service] }

const refusal = async (text: string): Promise<string> => {
  const { document } = await invokeText({ inputs: { operation: 'fleet-matrix', fleet: 'fleet.yml' }, files: { 'fleet.yml': text } })
  return document.status === 'error' ? document.failureReason : 'it was accepted'
}

const refusalOf = (...organizations: readonly object[]): Promise<string> => refusal(stringify({ organizations }))

describe('a fleet file', () => {
  it('a fleet file is accepted as YAML and as JSON', async () => {
    expect(await refusalOf(shop)).toBe('it was accepted')
    expect(await refusal(JSON.stringify({ $schema: 'x', organizations: [shop] }))).toBe('it was accepted')
  })

  it('a fleet file has a diagnostic with the location of each mistake', async () => {
    const text = `organizations:
  - name: shop
    organisation-id: ${organizationId}
    api-key-id-name: SHOP_KEY_ID
    api-key-secret-name: SHOP_KEY_SECRET
    profile: clickhouse-clud
    services: [{ name: a.b, service-id: 123 }]
`
    expect((await refusal(text)).split('\n').toSorted()).toEqual(
      [
        '- fleet.yml:3:5: organizations["shop"]: "organisation-id" is an unknown field; did you mean "organization-id"?',
        '- fleet.yml:6:14: organizations["shop"].profile: "clickhouse-clud" is not accepted; accepted: clickhouse-cloud; did you mean "clickhouse-cloud"?',
        '- fleet.yml:7:24: organizations["shop"].services["a.b"].name: "a.b" is not accepted; accepted: letters, digits, dashes and underscores, at most 63',
        '- fleet.yml:7:41: organizations["shop"].services["a.b"].service-id: 123 is not accepted; accepted: a UUID such as 11111111-2222-4333-8444-555555555555',
        '4 errors in the input:',
      ].toSorted(),
    )
  })

  it('a fleet file cannot have a service twice', async () => {
    const other = { ...shop, name: 'store', services: [{ name: 'till', 'service-id': serviceId.toUpperCase() }] }
    expect(await refusalOf(shop, other)).toContain(`"${serviceId.toUpperCase()}" is already the service-id of shop.checkout`)
  })

  it('a fleet file cannot have a name twice, in any case, because legs, files and artifacts have these names', async () => {
    const twin = { ...service, name: 'Checkout', 'service-id': serviceId.replace(/1$/, '2') }
    expect(await refusalOf({ ...shop, services: [service, twin] })).toContain('"Checkout" is already the name of number 1 of shop')
    expect(await refusalOf(shop, { ...shop, name: 'SHOP', services: [] })).toContain('"SHOP" is already the name of number 1')
  })

  it('a fleet file can have an organization twice, with other services and another key', async () => {
    const more = { ...shop, name: 'shop-2', 'api-key-id-name': 'SHOP_KEY_ID_2', services: [{ ...service, 'service-id': organizationId }] }
    expect(await refusalOf(shop, more)).toBe('it was accepted')
  })

  it('requires names of secrets, or an environment', async () => {
    const { 'api-key-secret-name': _, ...rest } = shop
    expect(await refusalOf(rest)).toMatch(
      /organizations\["shop"\]\.api-key-secret-name: is missing; accepted: the name of a secret in capitals/,
    )
    expect(await refusalOf({ ...rest, environment: 'shop' })).toBe('it was accepted')
  })
})

describe('a fleet file rejects what looks like a credential, and never shows it', () => {
  const values = [
    'demo-secret-that-opens-nothing-000000001',
    'sEcReT0123456789abcdef',
    'AKIAIOSFODNN7EXAMPLE',
    '4b1d9c2e7f',
    `\${{ secrets.SHOP_KEY_SECRET }}`,
    'GITHUB_TOKEN',
    'SHOP KEY',
    'A'.repeat(101),
  ]

  it.each(values)('rejects a credential instead of the name of a secret: %s', async (value) => {
    for (const field of ['api-key-id-name', 'api-key-secret-name', 'api-url-name']) {
      const reason = await refusalOf({ ...shop, [field]: value })
      expect(reason).toContain(`${field}: is not accepted; accepted: the name of a `)
      expect(reason).not.toContain(value)
    }
  })

  it.each(['SHOP_KEY_SECRET', '_X', 'KEY2', 'SHOPKEYSECRET'])('accepts the name %s', async (name) => {
    expect(await refusalOf({ ...shop, 'api-key-secret-name': name })).toBe('it was accepted')
  })

  it.each(['api-key-id', 'api-key-secret', 'github-token', 'password', 'api-url', 'service-id', 'profile'])(
    'rejects a credential as the setting %s',
    async (name) => {
      const reason = await refusalOf({ ...shop, settings: { [name]: 'sEcReT0123456789' } })
      expect(reason).toContain(`settings.${name}: cannot be a setting: it has its own field`)
      expect(reason).not.toContain('sEcReT')
    },
  )

  it.each(['api-key-id', 'api-key-secret', 'api-url'])('rejects a credential as the field %s', async (name) => {
    const reason = await refusalOf({ ...shop, [name]: 'sEcReT0123456789' })
    expect(reason).toContain(`"${name}" is an unknown field; did you mean "${name}-name"?`)
    expect(reason).not.toContain('sEcReT')
  })
})

it.each([
  ['Max-Age', 1, 'has an invalid name'],
  ['a_b', 1, 'has an invalid name'],
  ['x', null, 'is not accepted; accepted: one line of at most 1024 characters, a number, or true or false'],
  ['x', 'a\nb', 'is not accepted'],
  ['x', [1], 'is not accepted'],
])('a fleet file rejects the setting %s with the value %j', async (name, value, words) => {
  expect(await refusalOf({ ...shop, settings: { [name]: value } })).toContain(`settings.${name}: ${words}`)
})

it.each([
  ['nothing', '', 'is empty'],
  ['no organization', 'organizations: []', 'accepted: at least 1 item'],
  ['a list', '- a', 'is not accepted'],
  ['something else', 'budgets: []', '"budgets" is an unknown field'],
])('a fleet file with %s is an error', async (_, text, words) => {
  expect(await refusal(text)).toContain(words)
})
