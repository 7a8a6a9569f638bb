// Owns a line of text that remembers which parts are ours and which came from somewhere else. Foreign by default:
// whoever writes a report cannot forget to escape, because a plain string is data.

/** Text from the API, a file or the user. It is shown, and can do nothing else. */
export interface Data {
  readonly kind: 'data'
  readonly text: string
  /** How much of it is shown, where that is more than usual. */
  readonly longest?: number
}

/** Text of ours: words, formatted numbers and days. */
export interface Ours {
  readonly kind: 'ours'
  readonly text: string
  readonly strong?: boolean
}

export type Inline = Data | Ours

export type Line = readonly Inline[]

export const data = (text: string): Data => ({ kind: 'data', text })

/** A sentence about foreign text, which was shortened when the sentence was made. */
export const sentence = (text: string): Data => ({ kind: 'data', text, longest: longestSentence })

export const longestSentence = 1000

/** Only for text that this project wrote or formatted itself. */
export const ours = (text: string): Ours => ({ kind: 'ours', text })

export const strong = (text: string): Ours => ({ kind: 'ours', text, strong: true })

type Part = string | number | Inline | Line

/** Template tag: the literal parts are ours, an interpolated string is data. */
export function say(literals: TemplateStringsArray, ...parts: readonly Part[]): Line {
  return literals.flatMap((literal, i) => [...(literal === '' ? [] : [ours(literal)]), ...(i < parts.length ? toLine(parts[i] ?? '') : [])])
}

function toLine(part: Part): Line {
  if (typeof part === 'string') return [data(part)]
  if (typeof part === 'number') return [ours(String(part))]
  return 'kind' in part ? [part] : part
}

export const join = (lines: readonly Line[], separator: string): Line =>
  lines.flatMap((line, i) => (i === 0 ? line : [ours(separator), ...line]))

/** The bare words, for outputs and JSON. */
export const toPlainText = (line: Line): string => line.map(({ text }) => text).join('')

/** `1 object`, `2 objects`. */
export const counted = (count: number, noun: string): Ours => ours(`${count} ${noun}${count === 1 ? '' : 's'}`)

export const countOf = (things: readonly unknown[], noun: string): Ours => counted(things.length, noun)
