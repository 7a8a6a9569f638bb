// JSON without loss: a number that a double cannot hold as written keeps its source text. Of duplicate keys the last one wins, as with
// JSON.parse.

/** A number as its source text, made by `JSON.rawJSON`. `JSON.stringify` writes it unchanged. */
export interface ExactNumber {
  readonly rawJSON: string
}

declare global {
  // From the proposal "JSON.parse source text access"; the compiler's library does not have it yet.
  interface JSON {
    rawJSON(text: string): ExactNumber
    isRawJSON(value: unknown): value is ExactNumber
    parse(text: string, reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  }
}

const maxDepth = 100

/** More than any answer needs. A value takes far more memory than its text. */
const maxValues = 2_000_000

/** Throws a SyntaxError for a text that is not JSON, or a RangeError when it is too deep or holds too many values. */
export function parseJson(text: string): unknown {
  const { mayLoseDigits } = scan(text)
  try {
    // A reviver makes parsing several times slower: only where a number may lose digits.
    if (!mayLoseDigits) return JSON.parse(text)
    return JSON.parse(text, (_key, value, { source }) => (typeof value === 'number' && source !== undefined ? exact(value, source) : value))
  } catch (cause) {
    throw new SyntaxError('not JSON', { cause })
  }
}

const exact = (value: number, source: string): number | ExactNumber =>
  String(value) === source || sameDecimal(String(value), source) ? value : JSON.rawJSON(source)

/** The decimal text of a JSON number as the sender wrote it, or undefined for anything else. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  return JSON.isRawJSON(value) ? value.rawJSON : undefined
}

// 1.10 equals 1.1, and 1e2 equals 100; 0.1 does not equal a 20-digit number next to it.
function sameDecimal(a: string, b: string): boolean {
  const [left, right] = [scientific(a), scientific(b)]
  return left !== undefined && left === right
}

// Significant digits and the power of ten of the last one: equal decimals get equal texts.
function scientific(text: string): string | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** A double holds every decimal with this many significant digits exactly. */
const safeDigits = 15

// Before parsing, because the recursive functions that use the value would end in a stack overflow.
function scan(text: string): { readonly mayLoseDigits: boolean } {
  let depth = 0
  let values = 0
  let mayLoseDigits = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quoteMark) i = endOfString(text, i)
    else if (isPartOfNumber(code)) {
      const end = endOfNumber(text, i)
      mayLoseDigits ||= end - i > safeDigits || isExponent(text.charCodeAt(end))
      i = end - 1
    } else {
      depth += depthOf(code)
      if (code === comma) values += 1
    }
    if (values > maxValues) throw new RangeError(`longer than ${maxValues} values`)
    if (depth > maxDepth) throw new RangeError(`nested deeper than ${maxDepth} levels`)
  }
  return { mayLoseDigits }
}

function depthOf(code: number): number {
  if (code === openBracket || code === openBrace) return 1
  return code === closeBracket || code === closeBrace ? -1 : 0
}

/** Digits and the point between them. */
const isPartOfNumber = (code: number): boolean => (code >= 0x30 && code <= 0x39) || code === 0x2e

const isExponent = (code: number): boolean => code === 0x65 || code === 0x45

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (isPartOfNumber(text.charCodeAt(end))) end += 1
  return end
}

const [quoteMark, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d]

// A search takes a fraction of the time of a loop over the characters, before the engine has compiled that loop.
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text.charCodeAt(first - 1) === backslash) first -= 1
  return (at - first) % 2 === 1
}

/** For texts whose numbers need not be exact. Undefined for a text that is not JSON. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
