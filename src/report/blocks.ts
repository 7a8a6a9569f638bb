import { type Diagnostic, formatLocation, type Severity } from '../core/diagnostics.ts'
import { clip, plural, printable } from '../core/text.ts'

/** Text from the API, a file or the user. It is shown, and can do nothing else. */
interface Untrusted {
  readonly kind: 'untrusted'
  readonly text: string
  /** How much of it is shown, where that is more than usual. */
  readonly maxLength?: number
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

export const maxSentenceLength = 1000

/** A sentence with untrusted text in it, which was shortened when the sentence was made. */
export const sentence = (text: string): Untrusted => ({ kind: 'untrusted', text, maxLength: maxSentenceLength })

/** Only for text that this project wrote or formatted itself. */
export const trusted = (text: string): Trusted => ({ kind: 'trusted', text })

export const strong = (text: string): Trusted => ({ kind: 'trusted', text, strong: true })

/** `1 object`, `2 objects`. */
export const counted = (count: number, noun: string): Trusted => trusted(plural(count, noun))

type Part = string | number | Inline | Line

/** Template tag: its literal parts are trusted, and an interpolated string is not: forgetting to escape one is impossible. */
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

/** For outputs and JSON. */
export const toPlainText = (line: Line): string => line.map(({ text }) => text).join('')

/** `error`: the operation could not be done, so there is nothing to judge. */
export type Status = 'pass' | 'warn' | 'fail' | 'error'

export interface Column {
  readonly title: string
  /** Numbers are aligned to the right. */
  readonly align?: 'left' | 'right'
}

/** For drawing only: numbers that people rely on are decimals. */
export interface Point {
  /** Trusted: a day. */
  readonly label: string
  readonly value: number
  /** The part of the value that cannot change anymore; the rest is provisional. */
  readonly finalValue?: number
}

export interface DiffLine {
  /** `~` is a change that fits into one line. */
  readonly sign: '+' | '-' | '~' | ' '
  /** Untrusted, and one line. */
  readonly text: string
}

/** What a report is made of. Markdown, terminal and page render the same blocks. */
export type Block =
  /** The first block of every report. */
  | { readonly kind: 'verdict'; readonly status: Status; readonly line: Line }
  | { readonly kind: 'paragraph'; readonly line: Line }
  | { readonly kind: 'list'; readonly items: readonly Line[] }
  /** The few numbers that matter. */
  | { readonly kind: 'facts'; readonly facts: readonly { readonly label: string; readonly value: Line }[] }
  | { readonly kind: 'table'; readonly title?: string; readonly columns: readonly Column[]; readonly rows: readonly (readonly Line[])[] }
  | { readonly kind: 'diagnostics'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'diff'; readonly lines: readonly DiffLine[] }
  | { readonly kind: 'chart'; readonly title: string; readonly unit: string; readonly points: readonly Point[] }
  /** Collapsed where the medium can do that. */
  | { readonly kind: 'details'; readonly title: string; readonly blocks: readonly Block[] }
  /** Untrusted text over several lines. */
  | { readonly kind: 'preformatted'; readonly text: string }

export type BlockOf<Kind extends Block['kind']> = Extract<Block, { kind: Kind }>

/** Empty blocks are left out: a table without rows looks as if something were missing. */
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

const severityWords: Readonly<Record<Severity, string>> = { error: '❌ error', warning: '⚠️ warning', note: 'ℹ️ note' }

/** Diagnostics for a medium with tables. */
export const toTable = ({ diagnostics }: BlockOf<'diagnostics'>): BlockOf<'table'> => ({
  kind: 'table',
  columns: [{ title: 'Severity' }, { title: 'Location' }, { title: 'Message' }, { title: 'Rule' }],
  rows: diagnostics.map(({ severity, location, message, rule }) => [
    [trusted(severityWords[severity])],
    [untrusted(formatLocation(location))],
    [sentence(message)],
    [trusted(rule)],
  ]),
})

const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/** A chart in one line: a character for each point, from zero to the largest value. */
export function sparkline(points: readonly Point[]): string {
  const largest = Math.max(0, ...points.map(({ value }) => value))
  return points.map(({ value }) => levels[largest === 0 ? 0 : Math.round((Math.max(0, value) / largest) * (levels.length - 1))]).join('')
}

/** A progress bar of ten characters. More than 100 percent looks like 100. */
export function progressBar(percent: number): string {
  const full = Math.min(10, Math.max(0, Math.round(percent / 10)))
  return '█'.repeat(full) + '░'.repeat(10 - full)
}

/** A changed field of an object; undefined for a side on which it does not exist. */
interface FieldDifference {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  /** The differing lines, where both sides are long texts. */
  readonly lines?: readonly { readonly sign: DiffLine['sign']; readonly text: string }[] | undefined
}

/** Length of both sides that still read as one line. */
const maxPairLength = 100
const maxValueLength = 400

const indent = '    '

/** Both sides in one line where they are short, and line by line where they are long. */
export const toDiffLines = (fields: readonly FieldDifference[]): readonly DiffLine[] => fields.flatMap(toLines)

function toLines({ path, before, after, lines }: FieldDifference): readonly DiffLine[] {
  const name = `${indent}${shown(path)}`
  if (lines !== undefined)
    return [{ sign: '~', text: `${name}:` }, ...lines.map(({ sign, text }): DiffLine => ({ sign, text: `${indent}  ${shown(text)}` }))]
  if (before === undefined) return oneSide('+', name, after)
  if (after === undefined) return oneSide('-', name, before)
  const [old, now] = [toText(before), toText(after)]
  if (old.length + now.length <= maxPairLength) return [{ sign: '~', text: `${name}: ${old} → ${now}` }]
  return [
    { sign: '-', text: `${name}: ${old}` },
    { sign: '+', text: `${name}: ${now}` },
  ]
}

function oneSide(sign: '+' | '-', name: string, value: unknown): readonly DiffLine[] {
  const lines = typeof value === 'string' ? value.trimEnd().split('\n') : []
  if (lines.length < 2) return [{ sign, text: `${name}: ${toText(value)}` }]
  return [{ sign, text: `${name}: |` }, ...lines.map((line): DiffLine => ({ sign, text: `${indent}  ${shown(line)}` }))]
}

/** As in YAML: without quotes where a text cannot be mistaken for something else. */
function toText(value: unknown): string {
  if (typeof value === 'string')
    return /^[\p{L}\p{N}_][^\n]*$/u.test(value) && value.trim() === value && Number.isNaN(Number(value))
      ? shown(value)
      : shown(JSON.stringify(value))
  return shown(JSON.stringify(value) ?? '')
}

const shown = (text: string): string => printable(clip(text, maxValueLength))
