import Big from 'big.js'

/** Declares only the used part of big.js, so that the published types do not depend on its types. */
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

function create(value: string) {
  const big = new Big(value)
  // Big reserves room for 17 digits, which is a third of the memory of a large month of usage.
  big.c = big.c.slice()
  return big as Decimal // A part of Big, whose own parameters are wider.
}

export const zero: Decimal = create('0')

export const isDecimal = (value: unknown): value is Decimal => value instanceof Big

/** Throws for a text that is not a decimal. */
export const fromText = (text: string): Decimal => create(text)

/** Accepts zero or more, in plain notation: a sign, an exponent, a separator or a leading zero would need guessing. */
export const parseAmount = (text: string): Decimal | undefined =>
  /^(?:0|[1-9]\d{0,29})(?:\.\d{1,30})?$/.test(text) ? create(text) : undefined

/** The exact value by the source text. Undefined for an implausible exponent. */
export function toDecimal(value: unknown): Decimal | undefined {
  const text = typeof value === 'number' ? String(value) : JSON.isRawJSON(value) ? value.rawJSON : undefined
  // big.js would write out every digit of 1e999999.
  return text !== undefined && /^-?\d{1,60}(?:\.\d{1,60})?(?:[eE][+-]?\d{1,2})?$/.test(text) ? create(text) : undefined
}

export const sum = (values: Iterable<Decimal>): Decimal => [...values].reduce((total, value) => total.plus(value), zero)

/** `part / whole × 100`; undefined when the whole is zero. */
export const percentOf = (part: Decimal, whole: Decimal): Decimal | undefined => (whole.eq(0) ? undefined : part.times(100).div(whole))

export function formatExact(value: Decimal): string {
  const [whole = '', fraction] = value.toFixed().split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** Rounds half up. */
export const formatRounded = (value: Decimal, places = 2): string => {
  const [whole = '', fraction = ''] = formatExact(value.round(places)).split('.')
  return places === 0 ? whole : `${whole}.${fraction.padEnd(places, '0')}`
}

/** Rounds to six significant digits, because more would suggest exactness. */
export const fromEstimate = (value: number): Decimal => create(value.toPrecision(6))

export const largest = (a: Decimal, b: Decimal): Decimal => (a.gt(b) ? a : b)
