// Owns how a difference is written: old and new, side by side where they are short, line by line where they are long.
import { clip, printable } from '../core/text.ts'
import type { DiffLine } from './blocks.ts'

/** One field of an object, before and after; undefined for a side that is not there. */
export interface FieldDifference {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  /** Where both sides are long texts: what of them differs. */
  readonly lines?: readonly { readonly sign: DiffLine['sign']; readonly text: string }[] | undefined
}

/** Both sides together that still read as one line. */
const longestPair = 100
const longestValue = 400

const indent = '    '

export function toDiffLines(fields: readonly FieldDifference[]): readonly DiffLine[] {
  return fields.flatMap(toLines)
}

function toLines({ path, before, after, lines }: FieldDifference): readonly DiffLine[] {
  const name = `${indent}${shown(path)}`
  if (lines !== undefined)
    return [{ sign: '~', text: `${name}:` }, ...lines.map(({ sign, text }): DiffLine => ({ sign, text: `${indent}  ${shown(text)}` }))]
  if (before === undefined) return oneSide('+', name, after)
  if (after === undefined) return oneSide('-', name, before)
  const [old, now] = [toText(before), toText(after)]
  if (old.length + now.length <= longestPair) return [{ sign: '~', text: `${name}: ${old} → ${now}` }]
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

/** As YAML would have it: texts bare where nobody could mistake them. */
function toText(value: unknown): string {
  if (typeof value === 'string')
    return /^[\p{L}\p{N}_][^\n]*$/u.test(value) && value.trim() === value && Number.isNaN(Number(value))
      ? shown(value)
      : shown(JSON.stringify(value))
  return shown(JSON.stringify(value) ?? '')
}

const shown = (text: string): string => printable(clip(text, longestValue))
