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
  const text = `${name}: ${both.map(({ side, value }) => `${side}: ${value === undefined ? 'not set' : printable(toText(value))}`).join(', ')}`
  if (lines === undefined && text.length <= maxLineLength) return [{ sign: '~', text }]
  return toBlock(`${name}: ${both.map(({ sign, side }) => `${sign} ${side}`).join(', ')}`, field)
}

function toFieldLines(field: FieldDifference): readonly DiffLine[] {
  const { path, before, after, lines } = field
  const name = `${indent}${shown(path)}`
  if (before === undefined) return oneSide('+', name, after)
  if (after === undefined) return oneSide('-', name, before)
  const text = `${name}: ${printable(toText(before))} → ${printable(toText(after))}`
  return lines === undefined && text.length <= maxLineLength ? [{ sign: '~', text }] : toBlock(`${name}:`, field)
}

/** The differing lines below a title. */
function toBlock(title: string, { before, after, lines }: FieldDifference): readonly DiffLine[] {
  const whole: readonly DiffLine[] = [
    ...(before === undefined ? [] : [{ sign: '-' as const, text: toText(before) }]),
    ...(after === undefined ? [] : [{ sign: '+' as const, text: toText(after) }]),
  ]
  const shortened = shortenPairs(lines === undefined ? whole : withoutFarContext(lines))
  return [{ sign: '~', text: title }, ...shortened.flatMap(({ sign, text }) => broken(sign, `${indent}  `, printable(text)))]
}

/** Shows what differs of two long lines, of which one was removed and the other one added in its place. */
function shortenPairs(lines: readonly DiffLine[]): readonly DiffLine[] {
  const texts = lines.map(({ sign, text }) =>
    sign === ' ' && text.length > room ? `${text.slice(0, toStart(text, room - 1))}…` : clipped(text),
  )
  for (let i = 0; i < lines.length; i++) {
    const removed = runLength(lines, i, '-')
    const added = runLength(lines, i + removed, '+')
    for (const [from, to] of pairLines(lines, { from: i, removed, added }))
      [texts[from], texts[to]] = aroundChanges(lines[from]?.text ?? '', lines[to]?.text ?? '')
    i += removed
  }
  return lines.map(({ sign }, i) => ({ sign, text: texts[i] ?? '' }))
}

function runLength(lines: readonly DiffLine[], from: number, sign: DiffLine['sign']): number {
  let end = from
  while (lines[end]?.sign === sign) end++
  return end - from
}

/** By place where as many lines were added as removed, and otherwise those that begin alike. */
function pairLines(
  lines: readonly DiffLine[],
  { from, removed, added }: { readonly from: number; readonly removed: number; readonly added: number },
): readonly (readonly [number, number])[] {
  const first = from + removed
  const startOf = (i: number): string => lines[i]?.text.slice(0, contextLength) ?? ''
  const free = new Set(Array.from({ length: added }, (_, i) => first + i))
  return Array.from({ length: removed }, (_, i) => from + i).flatMap((i) => {
    const pair = removed === added ? i + removed : [...free].find((other) => startOf(other) === startOf(i))
    if (pair === undefined) return []
    free.delete(pair)
    return [[i, pair] as const]
  })
}

/** What stays is shown up to this far around a change. A narrow window shows the start of a line, so the change is near it. */
const contextLength = 16

/** The parts of two texts that differ, with a part of what is around them. Cuts what is long only after the search. */
function aroundChanges(before: string, after: string): readonly [string, string] {
  if (before.length <= room && after.length <= room) return [before, after]
  const changes = findChanges(before, after)
  if (changes.length === 0) return [clipped(before), clipped(after)]
  return [
    showRanges(
      before,
      changes.map((change) => change.before),
    ),
    showRanges(
      after,
      changes.map((change) => change.after),
    ),
  ]
}

/** Start and end in a text. */
type Range = readonly [number, number]

function showRanges(text: string, ranges: readonly Range[]): string {
  let [shownText, shownTo] = ['', 0]
  for (const [i, [start, end]] of ranges.entries()) {
    const near = start > 2 * contextLength ? start - contextLength : 0
    const blank = text.indexOf(' ', near)
    const from = toStart(text, Math.max(shownTo, near > 0 && blank !== -1 && blank < start - contextLength / 2 ? blank + 1 : near))
    const to = toStart(
      text,
      Math.min(ranges[i + 1]?.[0] ?? text.length, Math.max(end + contextLength, ranges.length === 1 ? from + room - 2 : 0)),
    )
    shownText += `${from > shownTo ? '…' : ''}${text.slice(from, start)}${clipped(text.slice(start, end))}${text.slice(end, to)}`
    shownTo = to
  }
  return shownTo < text.length ? `${shownText}…` : shownText
}

/** Texts that agree in twice as much agree again after a change. */
const blockLength = 16

/** The parts that differ, in both texts. They are not always the shortest possible, but nothing differs outside of them. */
function findChanges(before: string, after: string): readonly { readonly before: Range; readonly after: Range }[] {
  const shorter = Math.min(before.length, after.length)
  let same = 0
  while (same < shorter && before[same] === after[same]) same++
  let sameEnd = 0
  while (sameEnd < shorter - same && before.at(-1 - sameEnd) === after.at(-1 - sameEnd)) sameEnd++
  const [end, endAfter] = [before.length - sameEnd, after.length - sameEnd]
  const blocks = Map.groupBy(
    Array.from({ length: Math.floor((end - same) / blockLength) }, (_, i) => same + i * blockLength),
    (at) => before.slice(at, at + blockLength),
  )
  const changes: { readonly before: Range; readonly after: Range }[] = []
  let [i, j] = [same, same]
  while (i < end || j < endAfter) {
    let [p, q] = [end, endAfter]
    for (let at = j; at + blockLength <= endAfter && p === end; at++) {
      const known = blocks.get(after.slice(at, at + blockLength))?.find((one) => one >= i)
      if (known !== undefined) [p, q] = [known, at]
    }
    while (p > i && q > j && before[p - 1] === after[q - 1]) {
      p--
      q--
    }
    changes.push({ before: [toStart(before, i), toEnd(before, p)], after: [toStart(after, j), toEnd(after, q)] })
    while (p < end && q < endAfter && before[p] === after[q]) {
      p++
      q++
    }
    i = p
    j = q
  }
  return changes
}

const isInsidePair = (text: string, at: number): boolean => /^[\udc00-\udfff]/.test(text.charAt(at))

/** Never inside a surrogate pair. */
const toStart = (text: string, at: number): number => (isInsidePair(text, at) ? at - 1 : at)

const toEnd = (text: string, at: number): number => (isInsidePair(text, at) ? at + 1 : at)

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
  if (lines.length < 2) return broken(sign, indent, `${name.slice(indent.length)}: ${shown(toText(value))}`)
  return [{ sign, text: `${name}: |` }, ...lines.flatMap((line) => broken(sign, `${indent}  `, shown(line)))]
}

/** Spells a value as YAML does: without quotes where the text is unambiguous. */
function toText(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[\p{L}\p{N}_][^\n]*$/u.test(value) && value.trim() === value && Number.isNaN(Number(value))
  return isPlain ? value : (JSON.stringify(value) ?? '')
}

const clipped = (text: string): string => clip(text, maxValueLength)

const shown = (text: string): string => printable(clipped(text))
