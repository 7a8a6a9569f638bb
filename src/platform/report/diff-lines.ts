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

/** Maximum length of both sides together that fits on one line. */
const maxPairLength = 100
const maxValueLength = 400

const indent = '    '

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
    { sign: '-' as const, side: sides.before, value: before },
    { sign: '+' as const, side: sides.after, value: after },
  ].toSorted((a, b) => compareText(a.side, b.side))
  if (lines !== undefined) {
    const [first, ...rest] = toFieldLines(field)
    const legend = both.map(({ sign, side }) => `${sign === '-' ? '−' : sign} ${side}`).join(', ')
    return first === undefined ? [] : [{ ...first, text: `${name}: ${legend}` }, ...rest]
  }
  const words = both.map(({ sign, side, value }) => ({ sign, text: `${side}: ${value === undefined ? 'not set' : toText(value)}` }))
  const text = words.map((one) => one.text).join(', ')
  if (text.length <= maxPairLength) return [{ sign: '~', text: `${name}: ${text}` }]
  return words.map((one) => ({ ...one, text: `${name}: ${one.text}` }))
}

function toFieldLines({ path, before, after, lines }: FieldDifference): readonly DiffLine[] {
  const name = `${indent}${shown(path)}`
  if (lines !== undefined)
    return [
      { sign: '~', text: `${name}:` },
      ...withoutFarContext(lines).map(({ sign, text }): DiffLine => ({ sign, text: `${indent}  ${shown(text)}` })),
    ]
  if (before === undefined) return oneSide('+', name, after)
  if (after === undefined) return oneSide('-', name, before)
  const [old, now] = [toText(before), toText(after)]
  if (old.length + now.length <= maxPairLength) return [{ sign: '~', text: `${name}: ${old} → ${now}` }]
  return [
    { sign: '-', text: `${name}: ${old}` },
    { sign: '+', text: `${name}: ${now}` },
  ]
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
  if (lines.length < 2) return [{ sign, text: `${name}: ${toText(value)}` }]
  return [{ sign, text: `${name}: |` }, ...lines.map((line): DiffLine => ({ sign, text: `${indent}  ${shown(line)}` }))]
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
