// Owns exact decimals: what a person may write, what a JSON number says, and how they are shown. No float on the way.
import Big from 'big.js'
import { numberText } from './json.ts'

/** What is used of big.js, spelled out so that the published types need none of its own. */
export interface Decimal {
  plus(other: Decimal | string): Decimal
  minus(other: Decimal | string): Decimal
  times(other: Decimal | string | number): Decimal
  div(other: Decimal | string | number): Decimal
  abs(): Decimal
  round(places?: number): Decimal
  /** -1, 0 or 1. */
  cmp(other: Decimal): number
  eq(other: Decimal | string | number): boolean
  gt(other: Decimal | string | number): boolean
  gte(other: Decimal | string | number): boolean
  lt(other: Decimal | string | number): boolean
  lte(other: Decimal | string | number): boolean
  /** Plain notation, never an exponent; exact without `places`. */
  toFixed(places?: number): string
  toNumber(): number
}

const create = (value: string): Decimal => new Big(value) as Decimal

export const zero: Decimal = create('0')

/** Reads back what `toFixed()` wrote. Throws for anything that is no decimal. */
export const fromText = (text: string): Decimal => create(text)

// Plain decimal notation alone: no sign, exponent, separator, leading zero or bare point, so that nothing is guessed.
const amountGrammar = /^(?:0|[1-9]\d{0,29})(?:\.\d{1,30})?$/

/** Zero or more, in plain decimal notation; undefined for anything else. */
export const parseAmount = (text: string): Decimal | undefined => (amountGrammar.test(text) ? create(text) : undefined)

// An exponent is bounded before big.js sees it: it would write out every one of 1e999999's digits.
const numberGrammar = /^-?\d{1,60}(?:\.\d{1,60})?(?:[eE][+-]?\d{1,2})?$/

/** The exact value of a JSON number, as its source text says; undefined for what is no finite, plausible number. */
export function toDecimal(value: unknown): Decimal | undefined {
  const text = numberText(value)
  return text !== undefined && numberGrammar.test(text) ? create(text) : undefined
}

export const sum = (values: Iterable<Decimal>): Decimal => [...values].reduce((total, value) => total.plus(value), zero)

/** `part / whole × 100`; undefined when the whole is zero. */
export const percentOf = (part: Decimal, whole: Decimal): Decimal | undefined => (whole.eq(0) ? undefined : part.times(100).div(whole))

/** Plain notation with `,` between thousands, every decimal that the value has. */
export function formatExact(value: Decimal): string {
  const [whole = '', fraction] = value.toFixed().split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** The same, rounded half up to `places` decimals. */
export const formatRounded = (value: Decimal, places = 2): string => {
  const [whole = '', fraction = ''] = formatExact(value.round(places)).split('.')
  return places === 0 ? whole : `${whole}.${fraction.padEnd(places, '0')}`
}

/** For figures that are no more than likely: two decimals, or four where two would say nothing. */
export const formatEstimate = (value: Decimal): string => formatRounded(value, value.abs().lt(10) ? 4 : 2)

/** An estimate as a decimal of six significant digits: more would claim to be known. */
export const fromEstimate = (value: number): Decimal => create(value.toPrecision(6))

export const largest = (a: Decimal, b: Decimal): Decimal => (a.gt(b) ? a : b)
