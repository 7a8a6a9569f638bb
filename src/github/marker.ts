// Owns the hidden marks by which this project knows its own comments and issues again, and what they remember. A mark can be
// copied by anybody: it proves nothing without the author beside it.
import { createHash } from 'node:crypto'

export type Kind = 'comment' | 'issue'

/** The first line of every body. The label is spelled so that it cannot end the HTML comment. */
export const markerOf = (kind: Kind, label: string): string =>
  `<!-- watchkeeper ${kind}: ${encodeURIComponent(label.toWellFormed()).replace(/[-!'()*]/g, toPercent)} -->`

const toPercent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

/** A part of a body by its length in UTF-16 units, and by what it must be to be still ours. */
export interface Part {
  readonly length: number
  readonly digest: string
}

/** What the next run has to know of this one. */
export interface Memory {
  readonly atMs: number
  /** Stands for the reason of a failure, without its figures. */
  readonly reason: string
  readonly report: Part
  readonly earlier: Part
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

export const partOf = (text: string): Part => ({ length: text.length, digest: digest(text) })

/** The same failure on another day has other figures; they are no news. */
export const digestOfReason = (reason: string): string => digest(reason.replace(/\d+/g, '#'))

export const writeMemory = ({ atMs, reason, report, earlier }: Memory): string =>
  `<!-- watchkeeper memory: ${new Date(atMs).toISOString()} ${reason} ${writePart(report)} ${writePart(earlier)} -->`

const writePart = ({ length, digest: sum }: Part): string => `${length}:${sum}`

const memoryGrammar =
  /^<!-- watchkeeper memory: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f]{16}) (\d{1,6}):([0-9a-f]{16}) (\d{1,6}):([0-9a-f]{16}) -->$/

export function readMemory(line: string): Memory | undefined {
  const [, at = '', reason = '', reportLength, reportDigest = '', earlierLength, earlierDigest = ''] = memoryGrammar.exec(line) ?? []
  const atMs = Date.parse(at)
  if (Number.isNaN(atMs)) return undefined
  return {
    atMs,
    reason,
    report: { length: Number(reportLength), digest: reportDigest },
    earlier: { length: Number(earlierLength), digest: earlierDigest },
  }
}
