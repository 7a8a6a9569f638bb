import { beforeAll, describe, expect, it } from 'vitest'
import { demo } from '../../../../src/emulator/index.ts'
import type { Day } from '../../../../src/platform/core/dates.ts'
import { fromText, sum } from '../../../../src/platform/core/decimal.ts'
import { renderCsv } from '../../../../src/platform/report/csv.ts'
import { type Charge, focusRows, type Provider } from '../../../../src/platform/report/focus.ts'
import { forEachEntry, hostile } from '../../../support/corpus.ts'
import { inputsFor, serviceOf, useEmulator } from '../../../support/emulator.ts'
import { brokenRules, columns, facts, faultsOf, headOf, numberIn, type Row, rowsOf, rules } from '../../../support/focus-oracle.ts'
import { invokeText, textOf } from '../../../support/invoke.ts'

const provider: Provider = {
  name: 'ClickHouse',
  serviceName: 'ClickHouse Cloud',
  serviceCategory: 'Databases',
  billingAccountId: 'organization',
  unit: 'CHC',
  listPrice: { currency: 'USD', amount: '1' },
  contractedPrice: undefined,
}

const charge = (more: Partial<Charge> = {}): Charge => ({
  date: '2026-01-31' as Day,
  billed: { from: '2026-01-01' as Day, end: '2026-01-31' as Day },
  metric: 'compute',
  amount: fromText('1.25'),
  entityType: 'service',
  entityId: 'a',
  entityName: 'checkout',
  warehouse: { id: 'w', name: 'main' },
  region: { id: 'eu-central-1', name: 'AWS eu-central-1' },
  tags: { team: 'platform', critical: true },
  locked: true,
  ...more,
})

const renderFocus = (charges: readonly Charge[], by: Provider): string => textOf(renderCsv(focusRows(charges, by)))

const rowOf = (more: Partial<Charge> = {}, by: Partial<Provider> = {}): Row =>
  rowsOf(renderFocus([charge(more)], { ...provider, ...by }))[0] ?? {}

describe('the columns', () => {
  const head = headOf(renderFocus([], provider))
  const own = head.filter((name) => name.startsWith('x_'))
  const theirs = head.filter((name) => !name.startsWith('x_'))

  it('the columns are all columns that FOCUS requires, and no unknown ones', () => {
    const mandatory = facts.columns.filter(({ featureLevel }) => featureLevel === 'Mandatory').map(({ name }) => name)
    expect(mandatory.filter((name) => !head.includes(name))).toEqual([])
    expect(theirs.filter((name) => !columns.has(name))).toEqual([])
  })

  it('the columns appear once, ordered by name, with the custom columns last', () => {
    expect(new Set(head).size).toBe(head.length)
    expect(head).toEqual([...theirs.toSorted(), ...own.toSorted()])
  })

  it('the columns include no SKU, because the API has none for a charge', () => {
    expect(theirs.filter((name) => name.startsWith('Sku'))).toEqual([])
  })
})

describe('a row', () => {
  it.each<[string, Partial<Charge>, Row]>([
    [
      'of a day',
      {},
      { ChargePeriodStart: '2026-01-31T00:00:00Z', ChargePeriodEnd: '2026-02-01T00:00:00Z', BillingPeriodEnd: '2026-02-01T00:00:00Z' },
    ],
    [
      'without a resource',
      { entityId: '', entityName: 'x', entityType: 'service' },
      { ResourceId: '', ResourceName: '', ResourceType: '' },
    ],
    ['without a name', { entityName: '' }, { ResourceName: '', ChargeDescription: 'compute of a' }],
    ['without a name of its own', { entityName: 'a' }, { ResourceId: 'a', ResourceName: '' }],
    ['without a type', { entityType: '' }, { ResourceType: 'unknown' }],
    ['in a region', {}, { RegionId: 'eu-central-1', RegionName: 'AWS eu-central-1', Tags: '{"team":"platform","critical":true}' }],
    ['without a region and tags', { region: undefined, tags: undefined }, { RegionId: '', RegionName: '', Tags: '' }],
    ['without anybody', { entityId: '', entityName: '' }, { ChargeDescription: 'compute of the organization' }],
    ['without a warehouse', { warehouse: undefined }, { SubAccountId: '', SubAccountName: '' }],
    ['that gives back', { amount: fromText('-0.000000001') }, { EffectiveCost: '-0.000000001', ConsumedQuantity: '-0.000000001' }],
    ['that can still change', { locked: false }, { x_IsFinal: 'false', x_Metric: 'compute' }],
  ])('a row of %s is valid', (_, more, expected) => {
    const row = rowOf(more)
    expect(row).toMatchObject(expected)
    expect([faultsOf([row]), brokenRules([row])]).toEqual([[], []])
  })

  it('a row stays a single valid row with untrusted text', () =>
    forEachEntry(
      hostile.filter(({ id }) => !id.startsWith('size-')),
      ({ value: text }) => {
        const rows = rowsOf(
          renderFocus([charge({ entityName: text, entityType: text, entityId: `id ${text}`, metric: text || 'x' })], provider),
        )
        expect(rows).toHaveLength(1)
        expect(faultsOf(rows).filter((fault) => !/^(?:ResourceName|ResourceType) is no String/.test(fault))).toEqual([])
      },
    ))

  it('a row has the list price of its unit', () => {
    expect(rowOf({ amount: fromText('0.1') }, { listPrice: { currency: 'EUR', amount: '0.3' } })).toMatchObject({
      BilledCost: '0.03',
      ListUnitPrice: '0.3',
      BillingCurrency: 'EUR',
      PricingCurrency: 'CHC',
      PricingCurrencyEffectiveCost: '0.1',
    })
  })
})

describe('a contracted price', () => {
  const amount = fromText('10')

  it('a contracted price is what a row costs, beside the list price in the same currency', () => {
    const row = rowOf({ amount }, { contractedPrice: { currency: 'USD', amount: '0.9' } })
    expect(row).toMatchObject({
      BilledCost: '9',
      EffectiveCost: '9',
      ContractedCost: '9',
      ContractedUnitPrice: '0.9',
      ListCost: '10',
      ListUnitPrice: '1',
      BillingCurrency: 'USD',
      PricingCurrencyEffectiveCost: '10',
    })
    expect([faultsOf([row]), brokenRules([row])]).toEqual([[], []])
  })

  it('a contracted price is the list price, too, where the price list has another currency or is unknown', () => {
    for (const listPrice of [{ currency: 'USD', amount: '1' }, undefined]) {
      const row = rowOf({ amount }, { listPrice, contractedPrice: { currency: 'EUR', amount: '0.95' } })
      expect(row).toMatchObject({ BilledCost: '9.5', ListCost: '9.5', ListUnitPrice: '0.95', BillingCurrency: 'EUR' })
      expect([faultsOf([row]), brokenRules([row])]).toEqual([[], []])
    }
  })
})

describe.each(['clickhouse-cloud'] as const)('the file of a month, %s', (dialect) => {
  const emulator = useEmulator({ dialect })
  const run = async (more: Readonly<Record<string, string>> = {}) => {
    const period = { period: 'last-30-days', budget: '1000', reports: 'focus=focus.csv', ...more }
    const { files, document } = await invokeText({ inputs: { ...inputsFor(emulator(), dialect), operation: 'usage-cost', ...period } })
    return { rows: rowsOf(files[0]?.content ?? ''), document }
  }
  const revokeServices = () => {
    for (const key of emulator().store.keys) key.permissions = key.permissions.filter((one) => one !== 'control-plane:service:view')
  }
  let month: Awaited<ReturnType<typeof run>>
  beforeAll(async () => {
    month = await run()
  })

  it('follows the rules of FOCUS for values', () => {
    expect(month.rows.length).toBeGreaterThan(100)
    expect(faultsOf(month.rows)).toEqual([])
  })

  it.each(Object.entries(rules))('the file of a month has rows of which each %s', (_, holds) => {
    expect(month.rows.filter((row) => !holds(row))).toEqual([])
  })

  it('has no row for a metric without usage', async () => {
    const records = ['a', 'b'].map((entityId) => ({
      date: new Date().toISOString().slice(0, 10),
      entityId,
      metrics: { compute: 1, storage: 0 },
      totalCHC: 1,
      locked: true,
    }))
    emulator().addFault({ effect: { kind: 'body', text: JSON.stringify({ result: { grandTotalCHC: 2, costs: records } }) } })
    const { rows } = await run({ period: 'today' })
    expect(rows.map((row) => [row.x_Metric, row.EffectiveCost])).toEqual([
      ['compute', '1'],
      ['compute', '1'],
    ])
  })

  it('adds up to the exact total', () => {
    expect(sum(month.rows.map((row) => numberIn(row, 'EffectiveCost'))).toFixed()).toBe(month.document.grandTotalCredits)
  })

  it('the file of a month has the currency of the price list', () => {
    expect(new Set(month.rows.map((row) => `${row.BillingCurrency} ${row.PricingCurrency} ${row.PricingUnit}`))).toEqual(
      new Set(['USD CHC CHC']),
    )
  })

  it('the file of a month has the price of credit-price', async () => {
    const { rows } = await run({ 'credit-price': '1.05 EUR' })
    expect(new Set(rows.map((row) => `${row.BillingCurrency} ${row.ContractedUnitPrice}`))).toEqual(new Set(['EUR 1.05']))
    const total = sum(rows.map((row) => numberIn(row, 'BilledCost')))
    expect(total.toFixed()).toBe(
      fromText(month.document.grandTotalCredits as string)
        .times('1.05')
        .toFixed(),
    )
  })

  it('uses the name of the warehouse for the sub account', () => {
    expect(new Set(month.rows.map((row) => row.SubAccountName))).toEqual(new Set(['demo-warehouse']))
  })

  it('the file of a month has the regions and tags of services, with one request', async () => {
    const services = [serviceOf(emulator()), serviceOf(emulator(), 'search')] as const
    Object.assign(services[0], { region: 'eu-central-1', provider: 'aws', tags: [{ key: 'team', value: 'shop' }, { key: 'critical' }] })
    Object.assign(services[1], { tags: [] })
    const { rows } = await run()
    const placeOf = (id: string) => {
      const { RegionId, RegionName, Tags } = rows.find((row) => row.ResourceId === id) ?? {}
      return [RegionId, RegionName, Tags]
    }
    const requests = emulator().requests.filter(({ path }) => path.endsWith('/services'))
    expect(requests).toHaveLength(1)
    expect(placeOf(demo.services.checkout)).toEqual(['eu-central-1', 'AWS eu-central-1', '{"team":"shop","critical":true}'])
    expect(placeOf(demo.services.search)[2]).toBe('{}')
    // A warehouse has no tags.
    expect(placeOf(demo.warehouseId)).toEqual([expect.stringMatching(/./), expect.stringMatching(/^AWS /), ''])
    await run({ reports: 'csv=usage.csv' })
    expect(emulator().requests.filter(({ path }) => path.endsWith('/services'))).toHaveLength(1)
    revokeServices()
    const without = await run()
    expect([without.document.status, without.rows[0]?.Tags]).toEqual(['pass', ''])
  })

  it('follows the given billing cycle', async () => {
    const { rows } = await run({ period: 'previous-billing-cycle', 'billing-cycle-day': '15' })
    expect(brokenRules(rows)).toEqual([])
    expect(rows.map((row) => row.BillingPeriodStart).every((start) => start?.endsWith('-15T00:00:00Z'))).toBe(true)
  })
})

describe('the oracle', () => {
  const good = rowOf()

  it.each<[string, Row]>([
    ['BilledCost is null', { BilledCost: '' }],
    ['BilledCost is no Decimal: 1e5', { BilledCost: '1e5' }],
    ['BilledCost is no Decimal: 1,000', { BilledCost: '1,000' }],
    ['ChargeCategory is not allowed: usage', { ChargeCategory: 'usage' }],
    ['ChargePeriodStart is no DateTime: 2026-01-31', { ChargePeriodStart: '2026-01-31' }],
    ['ServiceCategory is not allowed: Observability', { ServiceCategory: 'Observability' }],
  ])('sees that %s', (fault, broken) => {
    expect(faultsOf([{ ...good, ...broken }])).toEqual([fault])
  })

  it.each<[string, Row]>([
    ['has a price, a quantity and a unit', { PricingUnit: '' }],
    ['costs its list price times its quantity', { ListCost: '1.2500001' }],
    ['has a resource with a type, or none at all', { ResourceType: '' }],
    ['has a resource name only with a resource, and no copy of its id', { ResourceName: 'a' }],
    ['has a sub account with a name, or none at all', { SubAccountName: '' }],
    ['has a region with a name, or none at all', { RegionName: '' }],
    ['is charged inside its billing period', { ChargePeriodEnd: '2026-02-02T00:00:00Z' }],
  ])('sees when no row %s', (rule, broken) => {
    expect(brokenRules([good])).toEqual([])
    expect(brokenRules([{ ...good, ...broken }])).toEqual([rule])
  })
})
