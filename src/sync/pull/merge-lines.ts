import { diffArrays } from 'diff'

/** Three versions of a text: the YAML library formats a document as a whole, and people do not. */
interface LineVersions {
  /** The text as a person wrote it. */
  readonly original: string
  /** The original, formatted by the library. */
  readonly formatted: string
  /** The changed document, formatted by the library. */
  readonly changed: string
  /** With a number, a block of lines that are indented by more columns changes as a whole. */
  readonly blockIndent?: number
}

/** Replaces the lines `start` to `end`, without `end`. */
interface Hunk {
  readonly start: number
  readonly end: number
  readonly lines: readonly string[]
}

/** A diff of two very different texts takes long. */
const maxEditLength = 4000

/**
 * Merges the change from `formatted` to `changed` into the original: lines that did not change keep their formatting. Returns undefined
 * when the texts differ too much.
 */
export function mergeLines({ original, formatted, changed, blockIndent }: LineVersions): string | undefined {
  const base = formatted.split('\n')
  const [theirs, ours] = [diffLines(base, original.split('\n')), diffLines(base, changed.split('\n'))]
  if (theirs === undefined || ours === undefined) return undefined
  const affected = blockIndent === undefined ? ours : ours.map((hunk) => widenToBlock(hunk, base, blockIndent))
  const kept = theirs.filter((hunk) => !affected.some((other) => overlap(hunk, other)))
  const hunks = [...kept, ...ours].toSorted((a, b) => a.start - b.start || a.end - b.end)
  const merged: string[] = []
  let at = 0
  for (const { start, end, lines } of hunks) {
    merged.push(...base.slice(at, start), ...lines)
    at = Math.max(at, end)
  }
  return [...merged, ...base.slice(at)].join('\n')
}

const overlap = (a: Hunk, b: Hunk): boolean =>
  (a.start < b.end && b.start < a.end) || (a.start === b.start && (a.start === a.end || b.start === b.end))

function widenToBlock({ start, end, lines }: Hunk, base: readonly string[], indent: number): Hunk {
  const isInside = (line = ''): boolean => line.trim() === '' || line.search(/\S/) > indent
  let [first, last] = [start, end]
  while (first > 0 && isInside(base[first])) first -= 1
  while (last < base.length && isInside(base[last])) last += 1
  return { start: first, end: last, lines }
}

function diffLines(base: readonly string[], other: readonly string[]): readonly Hunk[] | undefined {
  const parts = diffArrays([...base], [...other], { maxEditLength })
  if (parts === undefined) return undefined
  const hunks: Hunk[] = []
  let at = 0
  for (const { added, removed, value } of parts) {
    const last = hunks.at(-1)
    if (removed) {
      hunks.push({ start: at, end: at + value.length, lines: [] })
      at += value.length
    } else if (added) {
      if (last !== undefined && last.end === at && last.lines.length === 0) hunks[hunks.length - 1] = { ...last, lines: value }
      else hunks.push({ start: at, end: at, lines: value })
    } else at += value.length
  }
  return hunks
}
