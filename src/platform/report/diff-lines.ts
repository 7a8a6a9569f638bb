import { clip, compareText, printable } from '../core/text.ts'
import type { DiffLine } from './blocks.ts'

/** A changed field of an object; undefined for a side on which it does not exist. */
interface FieldDifference {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  /** The differing lines, where both sides are long texts. */
  readonly lines?: readonly { readonly sign: DiffLine['sign']; readonly text: string }[] | undefined
}

/** With its sign, a line fits into a terminal of 80 columns and into the box of a comment. */
const maxLineLength = 78
const maxValueLength = 400

const indent = '    '

/** Characters of a broken line of a text. */
const room = maxLineLength - indent.length - 4

/** What the values before and after are, for a reader who cannot know it. */
export interface SideNames {
  readonly before: string
  readonly after: string
}

/** Shows both sides in one line where they are short, and line by line where they are long. */
export const toDiffLines = (fields: readonly FieldDifference[], sides?: SideNames): readonly DiffLine[] =>
  fields.flatMap((field) => (sides === undefined ? toFieldLines(field) : toNamedLines(field, sides)))

/** `threshold: file: 1.5, service: 9`, in this order in every report. */
function toNamedLines(field: FieldDifference, sides: SideNames): readonly DiffLine[] {
  const { path, before, after, lines } = field
  const name = `${indent}${shown(path)}`
  const both = [
    { sign: '−', side: sides.before, value: before },
    { sign: '+', side: sides.after, value: after },
  ].toSorted((a, b) => compareText(a.side, b.side))
  const text = `${name}: ${both.map(({ side, value }) => `${side}: ${value === undefined ? 'not set' : toText(value)}`).join(', ')}`
  if (lines === undefined && text.length <= maxLineLength) return [{ sign: '~', text }]
  return toBlock(`${name}: ${both.map(({ sign, side }) => `${sign} ${side}`).join(', ')}`, field)
}

function toFieldLines(field: FieldDifference): readonly DiffLine[] {
  const { path, before, after, lines } = field
  const name = `${indent}${shown(path)}`
  if (before === undefined) return oneSide('+', name, after)
  if (after === undefined) return oneSide('-', name, before)
  const text = `${name}: ${toText(before)} → ${toText(after)}`
  return lines === undefined && text.length <= maxLineLength ? [{ sign: '~', text }] : toBlock(`${name}:`, field)
}

/** The differing lines below a title. */
function toBlock(title: string, { before, after, lines }: FieldDifference): readonly DiffLine[] {
  const whole: readonly DiffLine[] = [
    ...(before === undefined ? [] : [{ sign: '-' as const, text: toText(before) }]),
    ...(after === undefined ? [] : [{ sign: '+' as const, text: toText(after) }]),
  ]
  const shortened = shortenPairs(lines === undefined ? whole : withoutFarContext(lines))
  return [{ sign: '~', text: title }, ...shortened.flatMap(({ sign, text }) => broken(sign, `${indent}  `, shown(text)))]
}

/** Shows what differs of two long lines in the same place, where as many lines were removed as were added after them. */
function shortenPairs(lines: readonly DiffLine[]): readonly DiffLine[] {
  const texts = lines.map(({ sign, text }) => (sign === ' ' && text.length > room ? `${text.slice(0, room - 1)}…` : text))
  for (let i = 0; i < lines.length; i++) {
    const count = runLength(lines, i, '-')
    if (count > 0 && count === runLength(lines, i + count, '+'))
      for (let at = i; at < i + count; at++) [texts[at], texts[at + count]] = aroundChange(texts[at] ?? '', texts[at + count] ?? '')
    i += count
  }
  return lines.map(({ sign }, i) => ({ sign, text: texts[i] ?? '' }))
}

function runLength(lines: readonly DiffLine[], from: number, sign: DiffLine['sign']): number {
  let end = from
  while (lines[end]?.sign === sign) end++
  return end - from
}

/** What stays is shown up to this far around a change. A narrow window shows the start of a line, so the change is near it. */
const contextLength = 16

/** The parts of two texts that differ, with a part of what is around them. */
function aroundChange(before: string, after: string): readonly [string, string] {
  if (before.length <= room && after.length <= room) return [before, after]
  const shorter = Math.min(before.length, after.length)
  let same = 0
  while (same < shorter && before[same] === after[same]) same++
  let sameEnd = 0
  while (sameEnd < shorter - same && before.at(-1 - sameEnd) === after.at(-1 - sameEnd)) sameEnd++
  const near = same > 2 * contextLength ? same - contextLength : 0
  const blank = before.indexOf(' ', near)
  const from = near > 0 && blank !== -1 && blank < same - contextLength / 2 ? blank + 1 : near
  const cut = (text: string): string => {
    const to = Math.max(from + room - 2, text.length - sameEnd + contextLength)
    const start = from === 0 ? text.slice(0, to) : `…${text.slice(from, to).replace(/^[\udc00-\udfff]/, '')}`
    return to >= text.length ? start : `${start.replace(/[\ud800-\udbff]$/, '')}…`
  }
  return [cut(before), cut(after)]
}

/** Breaks a line that is too long, between words where it has any. */
function broken(sign: DiffLine['sign'], start: string, text: string): readonly DiffLine[] {
  if (start.length + text.length <= maxLineLength) return [{ sign, text: `${start}${text}` }]
  const width = maxLineLength - start.length - 2
  const pieces = text.match(new RegExp(`.{1,${width}}(?: +|$)|.{1,${width}}`, 'gsu')) ?? []
  return pieces.map((piece, i) => ({ sign, text: `${start}${i === 0 ? '' : '  '}${piece.trimEnd()}` }))
}

/** Lines that stay are shown up to this far from a difference, as in `git diff`. */
const contextLines = 3

/** Puts one line in place of two or more that are far from every difference. */
function withoutFarContext(lines: readonly DiffLine[]): readonly DiffLine[] {
  const near = new Set(
    lines.flatMap(({ sign }, i) => (sign === ' ' ? [] : Array.from({ length: 2 * contextLines + 1 }, (_, j) => i - contextLines + j))),
  )
  const shortened: DiffLine[] = []
  let far: DiffLine[] = []
  const flush = (): void => {
    shortened.push(...(far.length < 2 ? far : [{ sign: ' ' as const, text: `… ${far.length} more lines` }]))
    far = []
  }
  for (const [i, line] of lines.entries())
    if (near.has(i)) {
      flush()
      shortened.push(line)
    } else far.push(line)
  flush()
  return shortened
}

function oneSide(sign: '+' | '-', name: string, value: unknown): readonly DiffLine[] {
  const lines = typeof value === 'string' ? value.trimEnd().split('\n') : []
  if (lines.length < 2) return broken(sign, indent, `${name.slice(indent.length)}: ${toText(value)}`)
  return [{ sign, text: `${name}: |` }, ...lines.flatMap((line) => broken(sign, `${indent}  `, shown(line)))]
}

/** Spells a value as YAML does: without quotes where the text is unambiguous. */
function toText(value: unknown): string {
  if (typeof value === 'string')
    return /^[\p{L}\p{N}_][^\n]*$/u.test(value) && value.trim() === value && Number.isNaN(Number(value))
      ? shown(value)
      : shown(JSON.stringify(value))
  return shown(JSON.stringify(value) ?? '')
}

const shown = (text: string): string => printable(clip(text, maxValueLength))
