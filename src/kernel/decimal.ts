// Owns exact decimals: what a person may write, what a JSON number says, and how they are shown. No float on the way.
import Big from 'big.js'
import { numberText } from './json.ts'

export type Decimal = Big

export const zero = new Big(0)

/** Reads back what `toFixed()` wrote. Throws for anything that is no decimal. */
export const fromText = (text: string): Decimal => new Big(text)

// Plain decimal notation alone: no sign, exponent, separator, leading zero or bare point, so that nothing is guessed.
const amountGrammar = /^(?:0|[1-9]\d{0,29})(?:\.\d{1,30})?$/

/** Zero or more, in plain decimal notation; undefined for anything else. */
export const parseAmount = (text: string): Decimal | undefined => (amountGrammar.test(text) ? new Big(text) : undefined)

// An exponent is bounded before big.js sees it: it would write out every one of 1e999999's digits.
const numberGrammar = /^-?\d{1,60}(?:\.\d{1,60})?(?:[eE][+-]?\d{1,2})?$/

/** The exact value of a JSON number, as its source text says; undefined for what is no finite, plausible number. */
export function toDecimal(value: unknown): Decimal | undefined {
  const text = numberText(value)
  return text !== undefined && numberGrammar.test(text) ? new Big(text) : undefined
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

/** An estimate as a decimal of six significant digits: more would claim to be known. */
export const fromEstimate = (value: number): Decimal => new Big(value.toPrecision(6))

export const largest = (a: Decimal, b: Decimal): Decimal => (a.gt(b) ? a : b)
