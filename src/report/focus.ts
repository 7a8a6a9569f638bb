// Owns usage as rows of FOCUS 1.2, the FinOps Open Cost and Usage Specification: its mandatory columns, those conditional ones
// that the API has facts for, and two of our own with the prefix that it asks for.
import { addDays, addMonths, type Day, withDayOfMonth } from '../kernel/days.ts'
import { type Decimal, fromText } from '../kernel/decimal.ts'
import { type Cell, renderCsv } from './csv.ts'

export interface Charge {
  readonly date: Day
  readonly metric: string
  readonly amount: Decimal
  readonly entityType: string
  readonly entityId: string
  readonly entityName: string
  readonly warehouseId: string | undefined
  readonly locked: boolean
}

export interface Provider {
  readonly name: string
  readonly serviceName: string
  /** One of the categories that FOCUS knows. */
  readonly serviceCategory: string
  readonly billingAccountId: string
  /** The provider's own unit of account: Credits, CHC. */
  readonly unit: string
  /** What one unit costs by the public price list; undefined when nobody can tell from here. */
  readonly listPrice: { readonly currency: string; readonly amount: string } | undefined
}

/** ISO 4217 for "no currency": amounts stay in the provider's unit when its price is not known. */
const noCurrency = 'XXX'

type Column = (charge: Charge, provider: Provider) => Cell

const number = (value: Decimal): Cell => ({ number: value.toFixed() })

const instant = (day: Day): string => `${day}T00:00:00Z`

const firstOfMonth = (day: Day): Day => withDayOfMonth(day, 1)

const cost: Column = ({ amount }, { listPrice }) => number(amount.times(fromText(listPrice?.amount ?? '1')))

const quantity: Column = ({ amount }) => number(amount)

const unit: Column = (_, provider) => provider.unit

const listPrice: Column = (_, provider) => ({ number: provider.listPrice?.amount ?? '1' })

/** In the order of the file. */
const columns: Readonly<Record<string, Column>> = {
  BilledCost: cost,
  BillingAccountId: (_, { billingAccountId }) => billingAccountId,
  BillingAccountName: () => undefined,
  BillingCurrency: (_, provider) => provider.listPrice?.currency ?? noCurrency,
  BillingPeriodEnd: ({ date }) => instant(addMonths(firstOfMonth(date), 1)),
  BillingPeriodStart: ({ date }) => instant(firstOfMonth(date)),
  ChargeCategory: () => 'Usage',
  ChargeClass: () => undefined,
  ChargeDescription: ({ metric, entityName, entityId }) => `${metric} of ${entityName || entityId}`,
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodEnd: ({ date }) => instant(addDays(date, 1)),
  ChargePeriodStart: ({ date }) => instant(date),
  ConsumedQuantity: quantity,
  ConsumedUnit: unit,
  ContractedCost: cost,
  ContractedUnitPrice: listPrice,
  EffectiveCost: cost,
  InvoiceIssuerName: (_, { name }) => name,
  ListCost: cost,
  ListUnitPrice: listPrice,
  PricingCategory: () => 'Standard',
  PricingQuantity: quantity,
  PricingUnit: unit,
  ProviderName: (_, { name }) => name,
  PublisherName: (_, { name }) => name,
  ResourceId: ({ entityId }) => entityId || undefined,
  ResourceName: ({ entityName }) => entityName || undefined,
  ResourceType: ({ entityType }) => entityType || undefined,
  ServiceCategory: (_, { serviceCategory }) => serviceCategory,
  ServiceName: (_, { serviceName }) => serviceName,
  SubAccountId: ({ warehouseId }) => warehouseId,
  SubAccountName: () => undefined,
  x_Metric: ({ metric }) => metric,
  x_IsFinal: ({ locked }) => String(locked),
}

/** CSV with one row for each charge. */
export function renderFocus(charges: Iterable<Charge>, provider: Provider): string {
  const rows = Array.from(charges, (charge) => Object.values(columns).map((column) => column(charge, provider)))
  return renderCsv([Object.keys(columns), ...rows])
}
