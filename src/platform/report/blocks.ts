import { type Diagnostic, formatLocation, type Location, type Severity } from '../core/diagnostics.ts'
import { type Line, link, placed, say, trusted, type Untrusted, untrustedSentence } from '../core/line.ts'

/** `error`: the operation failed and gave no result to judge. */
export const statuses = ['pass', 'warn', 'fail', 'error'] as const

export type Status = (typeof statuses)[number]

/** Color is never the only sign. */
export const statusStyles = {
  pass: { sign: '✅', word: 'Passed', terminal: '✔', color: 'green' },
  warn: { sign: '⚠️', word: 'Warning', terminal: '▲ warning:', color: 'yellow' },
  fail: { sign: '❌', word: 'Failed', terminal: '✖ failed:', color: 'red' },
  error: { sign: '🛑', word: 'Error', terminal: '✖ error:', color: 'red' },
} as const satisfies Record<Status, object>

export const severityStyles = {
  error: { ...statusStyles.fail, status: 'fail' },
  warning: { ...statusStyles.warn, status: 'warn' },
  note: { sign: 'ℹ️', color: 'cyan', status: 'pass' },
} as const satisfies Record<Severity, object>

export const skippedSign = '–'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
}

export const countFacts = (counts: Readonly<Record<string, number>>): BlockOf<'facts'> => ({
  kind: 'facts',
  facts: Object.entries(counts).flatMap(([label, count]) => (count === 0 ? [] : [{ label, value: [trusted(String(count))] }])),
})

export const paragraph = (line: Line): BlockOf<'paragraph'> => ({ kind: 'paragraph', line })

/** Numbers that people rely on are decimals. */
export interface Point {
  /** Trusted: a day. */
  readonly label: string
  readonly value: number
  /** The final part of the value; the rest is provisional. */
  readonly finalValue?: number
  /** Far above comparable values. */
  readonly isSpike?: boolean
}

/** A level for the sum of all points. Its label contains the value. Trusted. */
export interface ChartLimit {
  readonly label: string
  readonly value: number
}

interface Chart {
  readonly kind: 'chart'
  readonly title: string
  readonly unit: string
  /** What a value is, for a legend. Default `Used`. */
  readonly valueName?: string
  readonly points: readonly Point[]
  /** Expected values: of points that can still grow, by their labels, and of later ones. */
  readonly forecast?: readonly { readonly label: string; readonly value: number }[]
  readonly limits?: readonly ChartLimit[]
}

interface Table {
  readonly kind: 'table'
  readonly title?: string
  readonly columns: readonly Column[]
  /** A line break between the items of a cell is one on a terminal, and otherwise a space. */
  readonly rows: readonly (readonly Line[])[]
  readonly statuses?: readonly Status[]
}

export interface DiffLine {
  /** `~` is a change that fits into one line. */
  readonly sign: '+' | '-' | '~' | ' '
  /** Untrusted, and one line. */
  readonly text: string
  /** The first line about an object. */
  readonly isHead?: true
}

export const tileMarks = ['added', 'changed', 'moved', 'removed'] as const

export type TileMark = (typeof tileMarks)[number]

export const markSigns: Readonly<Record<TileMark, string>> = { added: '+', changed: '~', moved: '>', removed: '-' }

/** The grid has 24 columns. The name is untrusted. */
export interface LayoutTile {
  readonly name: string
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
  readonly marks: readonly TileMark[]
}

export interface Layout {
  /** One for each container and tab with a difference. */
  readonly grids: readonly { readonly title: string; readonly before: readonly LayoutTile[]; readonly after: readonly LayoutTile[] }[]
  readonly undrawn: number
  /** Text for media without graphics. Untrusted. */
  readonly lines: readonly string[]
}

/** Markdown, terminal and page render the same blocks. */
export type Block =
  /** The first block of every report. `reason` follows after a colon, or below where both are too long for a title. */
  | { readonly kind: 'verdict'; readonly status: Status; readonly line: Line; readonly reason?: Line | undefined }
  | { readonly kind: 'paragraph'; readonly line: Line }
  | { readonly kind: 'list'; readonly items: readonly Line[] }
  | { readonly kind: 'facts'; readonly facts: readonly { readonly label: string; readonly value: Line }[] }
  | Table
  | { readonly kind: 'diagnostics'; readonly diagnostics: readonly Diagnostic[] }
  | {
      readonly kind: 'diff'
      readonly lines: readonly DiffLine[]
      /** What the lines are about, with locations, for media that can link to files but not inside of a diff. */
      readonly places?: readonly Line[]
    }
  | Chart
  | { readonly kind: 'layout'; readonly layout: Layout }
  /** Collapsed where the medium can do that. */
  | {
      readonly kind: 'details'
      readonly title: string
      readonly blocks: readonly Block[]
      /** Every run has it, or its reader has seen it before: a terminal, a comment and an issue leave it out. */
      readonly isQuiet?: true
    }
  | {
      readonly kind: 'message'
      /** Untrusted sentences, one or more in each line. */
      readonly text: string
      readonly locations?: readonly Location[]
    }
  | { readonly kind: 'preformatted'; readonly text: string }
  /** The last block of every report: organization, service and time of the run. */
  | { readonly kind: 'footer'; readonly line: Line }

export type BlockOf<Kind extends Block['kind']> = Extract<Block, { kind: Kind }>

export const verdictLine = ({ line, reason }: BlockOf<'verdict'>): Line => (reason === undefined ? line : say`${line}: ${reason}`)

/** A line is a paragraph. What does not apply is undefined, false or empty. */
export type Part = Block | Line | readonly Part[] | undefined | false

/** Leaves out blocks that say nothing, such as a table without rows. */
export function composeBlocks(part: Part): readonly Block[] {
  if (!part) return []
  if (isParts(part)) return part.flatMap(composeBlocks)
  if (!('kind' in part)) return [paragraph(part)]
  if (part.kind !== 'details') return isEmptyBlock(part) ? [] : [part]
  const blocks = composeBlocks(part.blocks)
  return blocks.length === 0 ? [] : [{ ...part, blocks }]
}

const isParts = (part: Exclude<Part, undefined | false>): part is readonly Part[] =>
  Array.isArray(part) && !(part[0] && ['trusted', 'untrusted'].includes(part[0].kind))

export const fold = (title: string, ...parts: readonly Part[]): BlockOf<'details'> => ({
  kind: 'details',
  title,
  blocks: composeBlocks(parts),
})

function isEmptyBlock(block: Block) {
  switch (block.kind) {
    case 'table':
      return block.rows.length === 0
    case 'facts':
      return block.facts.length === 0
    case 'diagnostics':
      return block.diagnostics.length === 0
    case 'diff':
      return block.lines.length === 0
    case 'paragraph':
      return block.line.length === 0
    case 'list':
      return block.items.length === 0
    case 'message':
    case 'preformatted':
      return block.text === ''
    default:
      return false
  }
}

export const locationText = (location: Location): Untrusted => placed(formatLocation(location), location)

/** A whole address is wider than a cell. Any other address in the message can be text of a user. */
const withPage = (message: string, page = '') =>
  page !== '' && message.endsWith(page)
    ? say`${untrustedSentence(message.slice(0, -page.length))}${link(page.replace(/^.*\/|#.*$/g, ''), page)}`
    : untrustedSentence(message)

export const toTable = ({ diagnostics }: BlockOf<'diagnostics'>): BlockOf<'table'> => ({
  kind: 'table',
  columns: [{ title: 'Severity' }, { title: 'Message' }, { title: 'Location' }, { title: 'Rule' }],
  rows: diagnostics.map(({ severity, location, message, rule, page }) => [
    [trusted(`${severityStyles[severity].sign} ${severity}`)],
    withPage(message, page),
    [locationText(location)],
    [trusted(rule)],
  ]),
})
