// Usage as rows of FOCUS 1.2, the FinOps Open Cost and Usage Specification: the mandatory columns, the conditional columns with data from
// the API, and two custom columns with the required prefix.
//
// Columns without data from the API:
// - SkuId, SkuPriceId, SkuMeter and SkuPriceDetails are left out.
// - RegionId, RegionName and Tags are those of the service, as far as the list of services has them. A warehouse has no tags.
// - Without a price list, BillingCurrency is XXX instead of a national currency, and all costs are in the provider's unit.
// - BilledCost, ContractedCost and EffectiveCost are ListCost: discounts, prepaid credits and taxes are only on the invoice.
// - ConsumedQuantity counts units of account, which is what the API meters; BillingAccountName is empty.
// - csv.ts escapes texts: a formula gets an apostrophe, and a control character is spelled out.
import { addDays, type Day } from '../core/dates.ts'
import { type Decimal, fromText } from '../core/decimal.ts'
import type { CsvCell } from './csv.ts'

export interface Charge {
  readonly date: Day
  /** Includes both ends. */
  readonly billed: { readonly from: Day; readonly end: Day }
  readonly metric: string
  readonly amount: Decimal
  readonly entityType: string
  readonly entityId: string
  readonly entityName: string
  readonly warehouse: { readonly id: string; readonly name: string } | undefined
  readonly region: { readonly id: string; readonly name: string } | undefined
  readonly tags: Readonly<Record<string, string | true>> | undefined
  readonly locked: boolean
}

export interface Provider {
  readonly name: string
  readonly serviceName: string
  readonly serviceCategory: string
  readonly billingAccountId: string
  readonly unit: string
  /** Undefined when the public price is unknown. */
  readonly listPrice: UnitPrice | undefined
  /** Undefined when it is the list price, as far as is known. */
  readonly contractedPrice: UnitPrice | undefined
}

interface UnitPrice {
  readonly currency: string
  readonly amount: string
}

type FocusColumn = (charge: Charge, provider: Provider) => CsvCell

const numberCell = (value: Decimal): CsvCell => ({ number: value.toFixed() })

const startOfDay = (day: Day) => `${day}T00:00:00Z`

/** What the customer pays. All columns of costs have this currency, so a list price in another one cannot be shown. */
const contractedPrice = ({ contractedPrice, listPrice }: Provider): UnitPrice =>
  contractedPrice ?? listPrice ?? { currency: 'XXX', amount: '1' }

function publicPrice(provider: Provider): UnitPrice {
  const paid = contractedPrice(provider)
  return provider.listPrice?.currency === paid.currency ? provider.listPrice : paid
}

const costAt =
  (priceOf: (provider: Provider) => UnitPrice): FocusColumn =>
  ({ amount }, provider) =>
    numberCell(amount.times(fromText(priceOf(provider).amount)))

const costColumn = costAt(contractedPrice)

const quantity: FocusColumn = ({ amount }) => numberCell(amount)

const unit: FocusColumn = (_, provider) => provider.unit

const priceAt =
  (priceOf: (provider: Provider) => UnitPrice): FocusColumn =>
  (_, provider) => ({ number: priceOf(provider).amount })

/** A unit of account costs 1 in its own currency. */
const unitPrice: FocusColumn = () => ({ number: '1' })

const columns: Readonly<Record<string, FocusColumn>> = {
  BilledCost: costColumn,
  BillingAccountId: (_, { billingAccountId }) => billingAccountId,
  BillingAccountName: () => undefined,
  BillingCurrency: (_, provider) => contractedPrice(provider).currency,
  BillingPeriodEnd: ({ billed }) => startOfDay(addDays(billed.end, 1)),
  BillingPeriodStart: ({ billed }) => startOfDay(billed.from),
  ChargeCategory: () => 'Usage',
  ChargeClass: () => undefined,
  ChargeDescription: ({ metric, entityName, entityId }) => `${metric} of ${entityName || entityId || 'the organization'}`,
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodEnd: ({ date }) => startOfDay(addDays(date, 1)),
  ChargePeriodStart: ({ date }) => startOfDay(date),
  ConsumedQuantity: quantity,
  ConsumedUnit: unit,
  ContractedCost: costColumn,
  ContractedUnitPrice: priceAt(contractedPrice),
  EffectiveCost: costColumn,
  InvoiceIssuerName: (_, { name }) => name,
  ListCost: costAt(publicPrice),
  ListUnitPrice: priceAt(publicPrice),
  PricingCategory: () => 'Standard',
  PricingCurrency: unit,
  PricingCurrencyContractedUnitPrice: unitPrice,
  PricingCurrencyEffectiveCost: quantity,
  PricingCurrencyListUnitPrice: unitPrice,
  PricingQuantity: quantity,
  PricingUnit: unit,
  ProviderName: (_, { name }) => name,
  PublisherName: (_, { name }) => name,
  RegionId: ({ region }) => region?.id,
  RegionName: ({ region }) => region?.name,
  ResourceId: ({ entityId }) => entityId || undefined,
  // The API repeats the id as the name of a resource without a name. A charge without an id has no resource.
  ResourceName: ({ entityId, entityName }) => (entityId === '' || entityName === entityId ? undefined : entityName || undefined),
  ResourceType: ({ entityId, entityType }) => (entityId === '' ? undefined : entityType || 'unknown'),
  ServiceCategory: (_, { serviceCategory }) => serviceCategory,
  ServiceName: (_, { serviceName }) => serviceName,
  SubAccountId: ({ warehouse }) => warehouse?.id,
  SubAccountName: ({ warehouse }) => warehouse?.name,
  Tags: ({ tags }) => tags && JSON.stringify(tags),
  x_IsFinal: ({ locked }) => String(locked),
  x_Metric: ({ metric }) => metric,
}

export function* focusRows(charges: Iterable<Charge>, provider: Provider): Generator<readonly CsvCell[]> {
  yield Object.keys(columns)
  for (const charge of charges) yield Object.values(columns).map((column) => column(charge, provider))
}
