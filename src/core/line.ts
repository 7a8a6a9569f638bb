import { andMore, plural } from './text.ts'

/** Text from the API, a file or the user. Renderers escape it, so that it is only shown. */
export interface Untrusted {
  readonly kind: 'untrusted'
  readonly text: string
  /** How much of it is shown, where that is more than usual. */
  readonly maxLength?: number
  /** An http address, for media with links. */
  readonly href?: string
}

/** Text that this project wrote: words, formatted numbers and days. */
export interface Trusted {
  readonly kind: 'trusted'
  readonly text: string
  readonly strong?: boolean
}

export type Inline = Untrusted | Trusted

/** A line of text that remembers which parts are untrusted, so that each renderer can escape them. */
export type Line = readonly Inline[]

export const untrusted = (text: string): Untrusted => ({ kind: 'untrusted', text })

export const link = (text: string, href: string): Untrusted => ({ kind: 'untrusted', text, href })

export const maxSentenceLength = 1000

/** A sentence that contains untrusted text. The text was shortened when the sentence was made. */
export const sentence = (text: string): Untrusted => ({ kind: 'untrusted', text, maxLength: maxSentenceLength })

/** Only for text that this project wrote or formatted itself. */
export const trusted = (text: string): Trusted => ({ kind: 'trusted', text })

export const strong = (text: string): Trusted => ({ kind: 'trusted', text, strong: true })

/** `1 object`, `2 objects`. */
export const counted = (count: number, noun: string): Trusted => trusted(plural(count, noun))

type Part = string | number | Inline | Line

/** Template tag. Its literal parts are trusted. Interpolated strings are not, so that nothing is shown without escaping by mistake. */
export function say(literals: TemplateStringsArray, ...parts: readonly Part[]): Line {
  return literals.flatMap((literal, i) => [
    ...(literal === '' ? [] : [trusted(literal)]),
    ...(i < parts.length ? toLine(parts[i] ?? '') : []),
  ])
}

function toLine(part: Part): Line {
  if (typeof part === 'string') return [untrusted(part)]
  if (typeof part === 'number') return [trusted(String(part))]
  return 'kind' in part ? [part] : part
}

export const join = (lines: readonly Line[], separator: string): Line =>
  lines.flatMap((line, i) => (i === 0 ? line : [trusted(separator), ...line]))

/** `a, b and 3 more`. */
export const joinFirst = (names: readonly Line[], max: number): Line => [
  ...join(names.slice(0, max), ', '),
  ...(names.length > max ? [trusted(andMore(names.length, max))] : []),
]

/** A dash for a missing or empty text. */
export const textOrDash = (text: string | null | undefined): Inline => (text ? untrusted(text) : trusted('–'))

/** For outputs and JSON. */
export const toPlainText = (line: Line): string => line.map(({ text }) => text).join('')
