// Owns what a report is made of. Blocks are values: markdown.ts and terminal.ts render the same ones.
import type { Line } from './line.ts'

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

export interface FindingLine {
  readonly severity: 'error' | 'warning' | 'note'
  /** `file:line:column`. */
  readonly place: string
  readonly message: string
  /** Ours. */
  readonly rule: string
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
  | { readonly kind: 'findings'; readonly findings: readonly FindingLine[] }
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
    case 'findings':
      return block.findings.length === 0
    case 'diff':
      return block.lines.length === 0
    case 'details':
      return block.blocks.every(isEmpty)
    default:
      return false
  }
}
