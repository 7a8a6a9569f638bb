// Owns carrying a change of a text over to another spelling of it, line by line: what did not change stays as somebody wrote it.
import { diffArrays } from 'diff'

/** Lines from `start` up to, not with, `end`, and what stands there instead. */
interface Hunk {
  readonly start: number
  readonly end: number
  readonly lines: readonly string[]
}

export interface Spellings {
  /** As somebody wrote it. */
  readonly written: string
  /** The same, as a machine spells it. */
  readonly spelt: string
  /** That, changed. */
  readonly changed: string
  /** Columns by which the lines of one thing are indented at least; undefined where each line is a thing of its own. */
  readonly together?: number
}

/** Finding the way between two texts takes long where nothing of one is in the other. */
const mostDifferences = 4000

/** Undefined where the two spellings have too little in common. */
export function keepLines({ written, spelt, changed, together }: Spellings): string | undefined {
  const base = spelt.split('\n')
  const [theirs, ours] = [hunksBetween(base, written.split('\n')), hunksBetween(base, changed.split('\n'))]
  if (theirs === undefined || ours === undefined) return undefined
  // Lines that change are spelt by the machine, with those around them that are not spelt line by line.
  const reached = together === undefined ? ours : ours.map((hunk) => widened(hunk, base, together))
  const kept = theirs.filter((hunk) => !reached.some((other) => overlap(hunk, other)))
  const hunks = [...kept, ...ours].toSorted((a, b) => a.start - b.start || a.end - b.end)
  const lines: string[] = []
  let at = 0
  for (const { start, end, lines: instead } of hunks) {
    lines.push(...base.slice(at, start), ...instead)
    at = Math.max(at, end)
  }
  return [...lines, ...base.slice(at)].join('\n')
}

const overlap = (a: Hunk, b: Hunk): boolean =>
  (a.start < b.end && b.start < a.end) || (a.start === b.start && (a.start === a.end || b.start === b.end))

/** To the whole of each thing that the hunk touches. */
function widened({ start, end, lines }: Hunk, base: readonly string[], columns: number): Hunk {
  const isInside = (line = ''): boolean => line.trim() === '' || line.search(/\S/) > columns
  let [first, last] = [start, end]
  while (first > 0 && isInside(base[first])) first -= 1
  while (last < base.length && isInside(base[last])) last += 1
  return { start: first, end: last, lines }
}

function hunksBetween(base: readonly string[], other: readonly string[]): readonly Hunk[] | undefined {
  const parts = diffArrays([...base], [...other], { maxEditLength: mostDifferences })
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
