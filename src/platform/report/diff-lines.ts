// Not all of the package, which every run with a plan would load.
import { diffArrays } from 'diff/lib/diff/array.js'
import { clip, compareText, plural, printable } from '../core/text.ts'
import type { DiffLine } from './blocks.ts'

/** Undefined for a side on which the field does not exist. */
interface FieldDifference {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  readonly lines?: readonly { readonly sign: DiffLine['sign']; readonly text: string }[] | undefined
}

/** With its sign, a line fits into a terminal of 80 columns and into the box of a comment. */
const maxWidth = 78
const indent = '    '

const room = maxWidth - indent.length - 4

/** What the values before and after are, for a reader who cannot know it. */
export interface SideNames {
  readonly before: string
  readonly after: string
}

/** One line where both sides are short, and otherwise line by line. */
export const toDiffLines = (fields: readonly FieldDifference[], sides?: SideNames): readonly DiffLine[] =>
  fields.flatMap((field) => (sides === undefined ? toFieldLines(field) : toNamedLines(field, sides)))

/** `threshold: file: 1.5, service: 9`, in this order in every report. */
function toNamedLines(field: FieldDifference, sides: SideNames): readonly DiffLine[] {
  const { path, before, after, lines } = field
  const name = `${indent}${shownValue(path)}`
  const both = [
    { sign: '−', side: sides.before, value: before },
    { sign: '+', side: sides.after, value: after },
  ].toSorted((a, b) => compareText(a.side, b.side))
  const text = `${name}: ${both.map(({ side, value }) => `${side}: ${value === undefined ? 'not set' : printable(asYaml(value))}`).join(', ')}`
  if (lines === undefined && text.length <= maxWidth) return [{ sign: '~', text }]
  return toBlock(`${name}: ${both.map(({ sign, side }) => `${sign} ${side}`).join(', ')}`, field)
}

function toFieldLines(field: FieldDifference): readonly DiffLine[] {
  const { path, before, after, lines } = field
  const name = `${indent}${shownValue(path)}`
  if (before === undefined) return oneSide('+', name, after)
  if (after === undefined) return oneSide('-', name, before)
  const text = `${name}: ${printable(asYaml(before))} → ${printable(asYaml(after))}`
  return lines === undefined && text.length <= maxWidth ? [{ sign: '~', text }] : toBlock(`${name}:`, field)
}

function toBlock(title: string, { before, after, lines }: FieldDifference): readonly DiffLine[] {
  const whole: readonly DiffLine[] = [
    ...(before === undefined ? [] : [{ sign: '-' as const, text: asYaml(before) }]),
    ...(after === undefined ? [] : [{ sign: '+' as const, text: asYaml(after) }]),
  ]
  const shortened = shortenPairs(lines === undefined ? whole : withoutFarContext(lines))
  return [{ sign: '~', text: title }, ...shortened.flatMap(({ sign, text }) => broken(sign, `${indent}  `, printable(text)))]
}

/** One of two long lines was removed and the other added in its place. */
function shortenPairs(lines: readonly DiffLine[]): readonly DiffLine[] {
  const texts = lines.map(({ sign, text }) =>
    sign === ' ' && text.length > room ? `${text.slice(0, toBoundary(text, room - 1))}…` : clipped(text),
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

function runLength(lines: readonly DiffLine[], from: number, sign: DiffLine['sign']) {
  let end = from
  while (lines[end]?.sign === sign) end++
  return end - from
}

/** By place where as many lines were added as removed, and otherwise the most alike first. */
function pairLines(
  lines: readonly DiffLine[],
  { from, removed, added }: { readonly from: number; readonly removed: number; readonly added: number },
): readonly (readonly [number, number])[] {
  const before = Array.from({ length: removed }, (_, i) => from + i)
  if (removed === added) return before.map((i) => [i, i + removed])
  if (removed * added > 10_000) return []
  const after = Array.from({ length: added }, (_, i) => from + removed + i)
  const all = before.flatMap((i) =>
    after.map((j) => {
      const text = lines[i]?.text ?? ''
      const [start, end] = trimSame(text, lines[j]?.text ?? '').before
      return { i, j, same: text.length - (end - start) }
    }),
  )
  const paired = new Set<number>()
  return all
    .filter(({ same }) => same >= contextLength)
    .toSorted((a, b) => b.same - a.same)
    .flatMap(({ i, j }) => {
      if (paired.has(i) || paired.has(j)) return []
      paired.add(i).add(j)
      return [[i, j] as const]
    })
}

/** Context around a change. A narrow window shows the start of a line, so the change is near it. */
const contextLength = 16

/** Cuts what is long only after the search. */
function aroundChanges(before: string, after: string): readonly [string, string] {
  if (before.length <= room && after.length <= room) return [before, after]
  const changes = changedParts(before, after)
  const first = changes.slice(0, maxChanges)
  const more = changes.length > maxChanges ? ` and ${plural(changes.length - maxChanges, 'more change')}` : ''
  const show = (text: string, side: keyof LineChange): string =>
    `${showRanges(
      text,
      first.map((change) => change[side]),
    )}${more}`
  return changes.length === 0 ? [clipped(before), clipped(after)] : [show(before, 'before'), show(after, 'after')]
}

const maxChanges = 5

type TextRange = readonly [number, number]

interface LineChange {
  readonly before: TextRange
  readonly after: TextRange
}

function showRanges(text: string, ranges: readonly TextRange[]) {
  let [shownText, shownTo] = ['', 0]
  for (const [i, [start, end]] of ranges.entries()) {
    const near = start > 2 * contextLength ? start - contextLength : 0
    const blank = text.indexOf(' ', near)
    const from = toBoundary(text, Math.max(shownTo, near > 0 && blank !== -1 && blank < start - contextLength / 2 ? blank + 1 : near))
    const to = toBoundary(
      text,
      Math.min(ranges[i + 1]?.[0] ?? text.length, Math.max(end + contextLength, ranges.length === 1 ? from + room - 2 : 0)),
    )
    shownText += `${from > shownTo ? '…' : ''}${text.slice(from, start)}${clipped(text.slice(start, end))}${text.slice(end, to)}`
    shownTo = to
  }
  return shownTo < text.length ? `${shownText}…` : shownText
}

/** Changes with little between them are one. */
function changedParts(before: string, after: string): readonly LineChange[] {
  // The cost of a comparison grows with its square. Texts with more differences are one change.
  const edits = diffArrays(toWords(before), toWords(after), { maxEditLength: 400 })
  if (edits === undefined) return [trimSame(before, after)]
  const changes: LineChange[] = []
  let [i, j] = [0, 0]
  for (const { added, removed, value } of edits) {
    const length = value.join('').length
    const [start, startAfter] = [i, j]
    if (!added) i += length
    if (!removed) j += length
    if (!added && !removed) continue
    const last = changes.at(-1)
    const isNear = last !== undefined && start - last.before[1] <= 2 * contextLength
    if (isNear) changes.pop()
    changes.push({ before: [isNear ? last.before[0] : start, i], after: [isNear ? last.after[0] : startAfter, j] })
  }
  // A word can be as long as a text, such as a key.
  return changes.map((change) => trimSame(before, after, change))
}

const toWords = (text: string) => text.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? []

function trimSame(
  before: string,
  after: string,
  { before: [i, end], after: [j, endAfter] }: LineChange = { before: [0, before.length], after: [0, after.length] },
): LineChange {
  const shorter = Math.min(end - i, endAfter - j)
  let start = 0
  while (start < shorter && before[i + start] === after[j + start]) start++
  let rest = 0
  while (rest < shorter - start && before[end - 1 - rest] === after[endAfter - 1 - rest]) rest++
  return {
    before: [toBoundary(before, i + start), toEnd(before, end - rest)],
    after: [toBoundary(after, j + start), toEnd(after, endAfter - rest)],
  }
}

const isInsidePair = (text: string, at: number) => /^[\udc00-\udfff]/.test(text.charAt(at))

/** Never inside a surrogate pair. */
const toBoundary = (text: string, at: number) => (isInsidePair(text, at) ? at - 1 : at)

const toEnd = (text: string, at: number) => (isInsidePair(text, at) ? at + 1 : at)

/** Breaks between words where it can. */
function broken(sign: DiffLine['sign'], start: string, text: string): readonly DiffLine[] {
  if (start.length + text.length <= maxWidth) return [{ sign, text: `${start}${text}` }]
  const width = maxWidth - start.length - 2
  const pieces = text.match(new RegExp(`.{1,${width}}(?: +|$)|.{1,${width}}`, 'gsu')) ?? []
  return pieces.map((piece, i) => ({ sign, text: `${start}${i === 0 ? '' : '  '}${piece.trimEnd()}` }))
}

/** As in `git diff`. */
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
  if (lines.length < 2) return broken(sign, indent, `${name.slice(indent.length)}: ${shownValue(asYaml(value))}`)
  return [{ sign, text: `${name}: |` }, ...lines.flatMap((line) => broken(sign, `${indent}  `, shownValue(line)))]
}

function asYaml(value: unknown) {
  const isPlain = typeof value === 'string' && /^[\p{L}\p{N}_][^\n]*$/u.test(value) && value.trim() === value && Number.isNaN(Number(value))
  return isPlain ? value : (JSON.stringify(value) ?? '')
}

const clipped = (text: string) => clip(text, 400)

const shownValue = (text: string) => printable(clipped(text))
