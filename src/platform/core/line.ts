import type { Location } from './diagnostics.ts'
import { andMore, clip, plural } from './text.ts'

/** Text from the API, a file or the user, which renderers escape. */
export interface Untrusted {
  readonly kind: 'untrusted'
  readonly text: string
  /** How much of it is shown, where that is more than usual. */
  readonly maxLength?: number
  /** In backticks, which a code span has anyway. */
  readonly isCode?: boolean
  /** An http address, for media with links. */
  readonly href?: string
  /** A line of a file, for media that can link to it. */
  readonly location?: Location
}

/** Text that this project wrote: words, formatted numbers and days. */
export interface Trusted {
  readonly kind: 'trusted'
  readonly text: string
  readonly strong?: boolean
}

export type Inline = Untrusted | Trusted

/** Remembers which parts are untrusted, so that each renderer can escape them. */
export type Line = readonly Inline[]

export const untrusted = (text: string): Untrusted => ({ kind: 'untrusted', text })

export const link = (text: string, href: string): Untrusted => ({ kind: 'untrusted', text, href })

export const placed = (text: string, location: Location): Untrusted => ({ kind: 'untrusted', text, location })

/** Text that is never cut, such as a command to copy. */
export const uncut = (text: string): Untrusted => ({ kind: 'untrusted', text, maxLength: text.length })

const maxSentenceLength = 1000

/** Never cuts inside a command, which would not work. */
export function clipSentence(text: string): string {
  if (text.length <= maxSentenceLength) return text
  const ends = [...text.matchAll(new RegExp(commandGrammar, 'g'))]
    .filter(({ index }) => index < maxSentenceLength)
    .map(({ index, 0: { length } }) => index + length)
  const end = Math.max(0, ...ends)
  if (end < maxSentenceLength) return clip(text, maxSentenceLength)
  const rest = text.slice(end)
  const clipped = clip(rest, 0)
  return clipped === rest ? text : `${text.slice(0, end)} ${clipped}`
}

/** Trusts words without a meaning in any medium: no names with marks, addresses, commands, ids, digests and numbers of issues. */
export function untrustedSentence(text: string): Line {
  const parts: Inline[] = []
  const add = (kind: Inline['kind'], piece: string, isCode = false): void => {
    const last = parts.at(-1)
    if (piece === '') return
    const part = kind === 'trusted' ? trusted : uncut
    if (last?.kind === kind) parts[parts.length - 1] = part(last.text + piece)
    else parts.push(isCode ? { ...uncut(piece), isCode } : part(piece))
  }
  for (const [n, piece] of clipSentence(text).split(pieceGrammar).entries()) {
    if (n % 2 === 1) add('untrusted', piece, piece.startsWith('`'))
    else addWords(piece)
  }
  return parts.length === 0 ? [untrusted(text)] : parts

  function addWords(words: string): void {
    for (const [i, token] of words.split(' ').entries()) {
      const [, before = '', word = '', after = ''] = /^([("]*)(.*?)([)",.;:?]*)$/su.exec(token) ?? []
      const isSafe = isWord(word) && !/^\d+[.)]$/.test(word + after)
      const isOneName = !isSafe && before === '' && parts.at(-1)?.kind === 'untrusted'
      add(isOneName ? 'untrusted' : 'trusted', i === 0 ? '' : ' ')
      add('trusted', before)
      add(isSafe ? 'trusted' : 'untrusted', word)
      add('trusted', after)
    }
  }
}

/** A command of this tool stays in one piece, so that it can be copied. */
const commandGrammar = /watchkeeper [a-z-]+(?: (?=\S*\d)[\w.~-]{1,128})?(?: --[a-z-]+(?: (?:'(?:[^']|'\\'')*'|(?!-)[^\s']*[^\s'.,;:?)]))?)+/

const pieceGrammar = new RegExp(`(${commandGrammar.source}|\`[^\`]+\`)`)

/** Letters and digits, and no id, digest or key of an issue, which GitHub would link. */
const isWord = (word: string) =>
  word === '' ||
  (/^(?:[\p{L}\p{N}]+(?:['’/-][\p{L}\p{N}]+)*%?|\d+(?:[.,:]\d+)*%?|[→–≥≤…])$/u.test(word) && !/^(?:[0-9a-f]{7,}|[a-z]+-\d+)$/i.test(word))

/** Only for text that this project wrote or formatted itself. */
export const trusted = (text: string): Trusted => ({ kind: 'trusted', text })

export const strong = (text: string): Trusted => ({ kind: 'trusted', text, strong: true })

export const counted = (count: number, noun: string): Trusted => trusted(plural(count, noun))

type Text = string | number | Inline | Line

/** Interpolated strings are untrusted, so that nothing is shown without escaping by mistake. */
export function say(literals: TemplateStringsArray, ...parts: readonly Text[]): Line {
  return literals.flatMap((literal, i) => [
    ...(literal === '' ? [] : [trusted(literal)]),
    ...(i < parts.length ? toLine(parts[i] ?? '') : []),
  ])
}

export function toLine(part: Text): Line {
  if (typeof part === 'string') return [untrusted(part)]
  if (typeof part === 'number') return [trusted(String(part))]
  return 'kind' in part ? [part] : part
}

export const join = (texts: readonly Text[], separator: string): Line =>
  texts.flatMap((text, i) => [...(i === 0 ? [] : [trusted(separator)]), ...toLine(text)])

/** `a, b and 3 more`. */
export const joinAtMost = (max: number, names: readonly Text[]): Line => [
  ...join(names.slice(0, max), ', '),
  trusted(andMore(names.length, max)),
]

/** `a, b and others`, for a title, which has no figures. */
export const joinSome = (names: readonly Text[], max: number): Line => [
  ...join(names.slice(0, max), ', '),
  ...(names.length > max ? [trusted(' and others')] : []),
]

export const nameOrId = ({ name, id }: { readonly name?: string | null | undefined; readonly id: string }): Untrusted =>
  untrusted(name || id)

export const textOrDash = (text: string | null | undefined): Inline => (text ? untrusted(text) : trusted('–'))

/** Masks text of servers and files, by position, because it has signs and figures of its own. */
export const ownText = (line: Line): string => line.map(({ kind, text }) => (kind === 'trusted' ? text : '_'.repeat(text.length))).join('')

/** By positions in the plain text. */
export function sliceLine(line: Line, start: number, end = Number.POSITIVE_INFINITY): Line {
  let next = 0
  return line.flatMap((part) => {
    const at = next
    next += part.text.length
    const text = part.text.slice(Math.max(0, start - at), Math.max(0, end - at))
    return text === '' ? [] : [{ ...part, text }]
  })
}

export const toPlainText = (line: Line): string => line.map(({ text }) => text).join('')
