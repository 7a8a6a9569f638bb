// A number that a double cannot hold keeps its source text. The last of duplicate keys wins, as with JSON.parse.
import { fromText } from './decimal.ts'

/** Made by `JSON.rawJSON`. */
export interface ExactNumber {
  readonly rawJSON: string
}

declare global {
  // The compiler's library lacks the proposal "JSON.parse source text access".
  interface JSON {
    rawJSON(text: string): ExactNumber
    isRawJSON(value: unknown): value is ExactNumber
    parse(text: string, reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  }
}

export const isExactNumber = (value: unknown): value is ExactNumber => JSON.isRawJSON(value)

const maxJsonDepth = 100

/** Throws a SyntaxError for a text that is not JSON, or a RangeError when it is nested too deeply. */
export function parseJson(text: string): unknown {
  refuseDepth(text)
  try {
    // A reviver makes parsing several times slower: only where a number may lose digits. A double holds every decimal with up to 15
    // significant digits exactly.
    if (!/(?:^|[\s:,[])-?(?:[\d.]{16}|[\d.]+[eE])/.test(text)) return JSON.parse(text)
    // 1.10 equals 1.1, and 1e2 equals 100; 0.1 does not equal a 20-digit number next to it.
    return JSON.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined
        ? String(value) === source || (Number.isFinite(value) && fromText(source).eq(value))
          ? value
          : JSON.rawJSON(source)
        : value,
    )
  } catch (cause) {
    throw new SyntaxError('not JSON', { cause })
  }
}

/** JSON.parse needs a gigabyte for 16 MiB of brackets, and recursive functions overflow the stack. */
function refuseDepth(text: string) {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]
    if (mark === '"') at = endOfString(text, at)
    else if (mark === '[' || mark === '{') depth++
    else if (mark === ']' || mark === '}') depth--
    if (depth > maxJsonDepth) throw new RangeError(`nested deeper than ${maxJsonDepth} levels`)
  }
}

/** The place of the quotation mark that ends the string from `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = start
  do end = text.indexOf('"', end + 1)
  while (end > 0 && isEscaped(text, end))
  return end < 0 ? text.length : end
}

function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first--
  return (at - first) % 2 === 1
}

/** For a text whose numbers need not be exact. Undefined for one that is not JSON, or is nested too deeply. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    refuseDepth(text)
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
