// Judges rows by the published facts of FOCUS 1.2 (test/corpus/focus-1.2.json): presence, type, null and allowed values of each
// column, and the rules between columns. Source: the FOCUS_Spec repository and focus_validator's model-1.2.json.
import { readFileSync } from 'node:fs'
import { parse } from 'csv-parse/sync'
import { type Decimal, fromText } from '../../src/platform/core/decimal.ts'

interface Column {
  readonly name: string
  readonly dataType: 'String' | 'Decimal' | 'DateTime' | 'JSON'
  readonly featureLevel: 'Mandatory' | 'Conditional' | 'Recommended' | 'Optional'
  readonly nullable: boolean
  readonly allowedValues?: readonly string[]
}

export type Row = Readonly<Record<string, string>>

export const facts = JSON.parse(readFileSync(new URL('../corpus/focus-1.2.json', import.meta.url), 'utf8')) as {
  readonly columns: Column[]
}
export const columns = new Map(facts.columns.map((column) => [column.name, column]))

export const headOf = (csv: string): readonly string[] => parse(csv, { to: 1 })[0] ?? []
export const rowsOf = (csv: string): readonly Row[] => parse<Row>(csv, { columns: true })

const formats = {
  String: /\S/,
  Decimal: /^-?\d+(?:\.\d+)?$/,
  DateTime: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/,
  JSON: /^\{.*\}$/s,
} as const

/** What a value breaks of what its column allows. */
function faultOf({ nullable, dataType, allowedValues }: Column, value: string): string | undefined {
  if (value === '') return nullable ? undefined : 'is null'
  if (!formats[dataType].test(value)) return `is no ${dataType}: ${value}`
  if (dataType === 'DateTime' && new Date(value).toISOString().replace('.000', '') !== value) return `is no instant: ${value}`
  return allowedValues === undefined || allowedValues.includes(value) ? undefined : `is not allowed: ${value}`
}

export const faultsOf = (rows: readonly Row[]): readonly string[] =>
  rows.flatMap((row) =>
    Object.entries(row).flatMap(([name, value]) => {
      const column = columns.get(name)
      const fault = column && faultOf(column, value)
      return fault === undefined ? [] : [`${name} ${fault}`]
    }),
  )

const isNull = (row: Row, name: string): boolean => (row[name] ?? '') === ''
export const numberIn = (row: Row, name: string): Decimal => fromText(row[name] ?? '')

/** The rules between columns that concern rows of usage which is no correction. Each gives what is wrong with a row. */
export const rules: Readonly<Record<string, (row: Row) => boolean>> = {
  'has a price, a quantity and a unit': (row) =>
    ['PricingQuantity', 'PricingUnit', 'PricingCategory', 'ListUnitPrice', 'ContractedUnitPrice', 'ConsumedQuantity', 'ConsumedUnit'].every(
      (name) => !isNull(row, name),
    ),
  'costs its list price times its quantity': (row) =>
    numberIn(row, 'ListUnitPrice').times(numberIn(row, 'PricingQuantity')).eq(numberIn(row, 'ListCost')),
  'costs its contracted price times its quantity': (row) =>
    numberIn(row, 'ContractedUnitPrice').times(numberIn(row, 'PricingQuantity')).eq(numberIn(row, 'ContractedCost')),
  'has prices of zero or more': (row) => ['ListUnitPrice', 'ContractedUnitPrice'].every((name) => numberIn(row, name).gte(0)),
  'has the same cost in the currency of its price': (row) =>
    numberIn(row, 'PricingCurrencyListUnitPrice').times(numberIn(row, 'PricingQuantity')).eq(numberIn(row, 'PricingCurrencyEffectiveCost')),
  'has a resource with a type, or none at all': (row) => isNull(row, 'ResourceId') === isNull(row, 'ResourceType'),
  'has a resource name only with a resource, and no copy of its id': (row) =>
    isNull(row, 'ResourceName') || (!isNull(row, 'ResourceId') && row.ResourceName !== row.ResourceId),
  'has a sub account with a name, or none at all': (row) => isNull(row, 'SubAccountId') === isNull(row, 'SubAccountName'),
  'has a region with a name, or none at all': (row) => isNull(row, 'RegionId') === isNull(row, 'RegionName'),
  'is charged inside its billing period': ({
    BillingPeriodStart = '',
    ChargePeriodStart = '',
    ChargePeriodEnd = '',
    BillingPeriodEnd = '',
  }) => BillingPeriodStart <= ChargePeriodStart && ChargePeriodStart < ChargePeriodEnd && ChargePeriodEnd <= BillingPeriodEnd,
  'bills in a code of three letters': ({ BillingCurrency = '' }) => /^[A-Z]{3}$/.test(BillingCurrency),
  'is usage that is no correction': (row) => row.ChargeCategory === 'Usage' && isNull(row, 'ChargeClass'),
}

export const brokenRules = (rows: readonly Row[]): readonly string[] =>
  Object.entries(rules).flatMap(([name, holds]) => (rows.every(holds) ? [] : [name]))
