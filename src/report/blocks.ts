import { type Diagnostic, formatLocation, type Severity } from '../core/diagnostics.ts'
import { plural } from '../core/text.ts'

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
export const counted = (count: number, noun: string): Ours => ours(plural(count, noun))

// Owns what is found wrong in files, as a report shows it.

type DiagnosticsBlock = Extract<Block, { kind: 'diagnostics' }>

const words: Readonly<Record<Severity, string>> = { error: '❌ error', warning: '⚠️ warning', note: 'ℹ️ note' }

/** For places that have tables. */
export const toTable = ({ diagnostics }: DiagnosticsBlock): Extract<Block, { kind: 'table' }> => ({
  kind: 'table',
  columns: [{ title: 'Severity' }, { title: 'Location' }, { title: 'Message' }, { title: 'Rule' }],
  rows: diagnostics.map(({ severity, location, message, rule }) => [
    [ours(words[severity])],
    [data(formatLocation(location))],
    [sentence(message)],
    [ours(rule)],
  ]),
})

// Owns what a report is made of. Blocks are values: markdown.ts and terminal.ts render the same ones.

/** `pass` and its neighbours judge; `error` says that nothing could be judged. */
export type Status = 'pass' | 'warn' | 'fail' | 'error'

export interface Column {
  readonly title: string
  /** Numbers stand on the right. */
  readonly align?: 'left' | 'right'
}

export interface Point {
  /** Ours: a day. */
  readonly label: string
  /** For drawing alone; figures that people rely on are decimals. */
  readonly value: number
  /** The part of it that will not change any more. */
  readonly settled?: number
}

/** `~` stands for what changed and is shown in one line. */
export interface DiffLine {
  readonly sign: '+' | '-' | '~' | ' '
  /** Foreign, and one line. */
  readonly text: string
}

export type Block =
  /** The first line of every report. */
  | { readonly kind: 'verdict'; readonly status: Status; readonly line: Line }
  | { readonly kind: 'paragraph'; readonly line: Line }
  | { readonly kind: 'list'; readonly items: readonly Line[] }
  /** The few numbers that matter. */
  | { readonly kind: 'facts'; readonly facts: readonly { readonly label: string; readonly value: Line }[] }
  | { readonly kind: 'table'; readonly title?: string; readonly columns: readonly Column[]; readonly rows: readonly (readonly Line[])[] }
  /** What is wrong with files: a table on a page, a line each in a terminal. */
  | { readonly kind: 'diagnostics'; readonly diagnostics: readonly Diagnostic[] }
  /** What differs, as a review shows it. */
  | { readonly kind: 'diff'; readonly lines: readonly DiffLine[] }
  | { readonly kind: 'chart'; readonly title: string; readonly unit: string; readonly points: readonly Point[] }
  /** Folded where the place can fold. */
  | { readonly kind: 'details'; readonly title: string; readonly blocks: readonly Block[] }
  /** Foreign text over several lines. */
  | { readonly kind: 'preformatted'; readonly text: string }

/** A table without rows says less than nothing: it looks as if something were missing. */
export function isEmpty(block: Block): boolean {
  switch (block.kind) {
    case 'table':
      return block.rows.length === 0
    case 'facts':
      return block.facts.length === 0
    case 'diagnostics':
      return block.diagnostics.length === 0
    case 'diff':
      return block.lines.length === 0
    case 'details':
      return block.blocks.every(isEmpty)
    default:
      return false
  }
}
