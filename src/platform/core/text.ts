// Well-formed, without control characters, bounded. escape.ts has what each medium needs besides.

// C0, DEL, C1, line separators, bidirectional controls, blanks without width and tags move the cursor, end lines or hide text. Joiners of
// letters and emoji stay. The three flags that are spelled with tags no longer look like flags.
const invisible =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/** Shows control characters as `\u001b`, newlines as `\n`; half a surrogate pair becomes U+FFFD. */
export function printable(text: string): string {
  return text.toWellFormed().replace(invisible, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\r') return '\\r'
    if (character === '\t') return '\\t'
    const code = character.codePointAt(0)?.toString(16) ?? ''
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}

/**
 * Cuts to `limit` UTF-16 units, never inside a surrogate pair, and adds the number of those left out. A text that would not become shorter
 * stays whole.
 */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text
  const kept = text.slice(0, limit).replace(/[\ud800-\udbff]$/, '')
  const clipped = `${kept}… (${text.length - kept.length} more characters)`
  return clipped.length < text.length ? clipped : text
}

export const quote = (text: string, limit = 60): string => printable(clip(text, limit))

/** A path, or a sentence of others. */
export const quoteLong = (text: string): string => quote(text, 200)

export const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

export const shellQuote = (text: string): string => (/^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/** Orders by UTF-16 code units, which is the same on every machine. */
export const compareText = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0)

/** `alerts`, `saved searches`. */
export const pluralOf = (noun: string): string => `${noun}${/(?:s|x|ch|sh)$/.test(noun) ? 'es' : 's'}`

/** `999999`, and from a million on `1.2 million`. For people: results keep the exact number. */
export const showCount = (count: number): string => (Math.abs(count) < 1e6 ? String(count) : `${(count / 1e6).toFixed(1)} million`)

/** `1 alert`, `2 saved searches`, `1.2 million rows`. */
export const plural = (count: number, noun: string): string => `${showCount(count)} ${count === 1 ? noun : pluralOf(noun)}`

export const listAtMost = <T>(items: readonly T[], max: number, more: (count: number) => T): readonly T[] =>
  items.length > max ? [...items.slice(0, max), more(items.length - max)] : items

/** ` and 3 more`, or empty. */
export const andMore = (count: number, max: number): string => (count > max ? ` and ${count - max} more` : '')

/** `a, b and 3 more`. */
export const namesAtMost = (max: number, names: readonly string[]): string =>
  `${names.slice(0, max).join(', ')}${andMore(names.length, max)}`

const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

export function sparkline(values: readonly number[]): string {
  const largest = Math.max(0, ...values)
  return values.map((value) => levels[largest === 0 ? 0 : Math.round((Math.max(0, value) / largest) * (levels.length - 1))]).join('')
}

/** Ten characters, all of them full from 100 percent on, and not before. */
export function progressBar(percent: number): string {
  const full = percent >= 100 ? 10 : Math.min(9, Math.max(0, Math.round(percent / 10)))
  return '█'.repeat(full) + '░'.repeat(10 - full)
}
