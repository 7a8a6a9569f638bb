import { clip, printable } from '../core/text.ts'
import type { DiffLine } from './blocks.ts'

/** A changed field of an object; undefined for a side on which it does not exist. */
export interface FieldDifference {
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
