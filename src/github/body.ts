import { createHash } from 'node:crypto'
import type { Redact } from '../core/secrets.ts'
import type { Block } from '../report/blocks.ts'
import { renderMarkdown } from '../report/markdown.ts'
import type { News } from './context.ts'

// Owns the hidden marks by which this project knows its own comments and issues again, and what they remember. A mark can be
// copied by anybody: it proves nothing without the author beside it.

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

// Owns the text of a comment and of an issue: mark, memory, report, what was said before, and where it comes from.

/** GitHub refuses a longer one. */
export const mostCharacters = 65_536

export interface BodyParts {
  /** See `markerOf`. */
  readonly marker: string
  readonly news: News
  /** What is there now, if anything is. */
  readonly old: string | undefined
  /** Markdown of ours: which run says so. */
  readonly source: string
  readonly redact: Redact
}

const foldStart = '<details><summary>Before</summary>\n\n'
const foldEnd = '\n</details>\n\n'
const tooLong = '*What stood here before is too long to be kept.*\n'

/** Room for the memory and for what says that something was too long. */
const spareCharacters = 500

/** Never longer than GitHub allows. What stood there before is folded under what is new. */
export function writeBody({ marker, news, old, source, redact }: BodyParts): string {
  const fixed = marker.length + source.length + spareCharacters
  // A byte is never less than a character, so that the limit in bytes keeps the one in characters.
  const report = redact(renderMarkdown(news.blocks, mostCharacters - fixed))
  const before = old === undefined ? '' : whatStoodBefore(readBody(old, marker), report)
  const mayKeep = fixed + report.length + foldStart.length + before.length + foldEnd.length <= mostCharacters
  const earlier = mayKeep ? before : tooLong
  const memory = { atMs: news.atMs, reason: digestOfReason(news.reason), report: partOf(report), earlier: partOf(earlier) }
  const fold = earlier === '' ? '' : `${foldStart}${earlier}${foldEnd}`
  return `${marker}\n${writeMemory(memory)}\n\n${report}\n${fold}${source}\n`
}

export interface ReadBody {
  readonly memory: Memory | undefined
  /** Empty when it is not, letter by letter, what was written. */
  readonly report: string
  readonly earlier: string
}

/** Anybody who may write may have edited it: what is not as it was written is not taken up again. */
export function readBody(body: string, marker: string): ReadBody {
  const [first, second = '', ...lines] = body.replaceAll('\r\n', '\n').split('\n')
  const memory = first === marker ? readMemory(second) : undefined
  if (memory === undefined) return { memory, report: '', earlier: '' }
  const rest = lines.slice(1).join('\n')
  const report = rest.slice(0, memory.report.length)
  const startOfEarlier = report.length + '\n'.length + foldStart.length
  const earlier = rest.slice(startOfEarlier, startOfEarlier + memory.earlier.length)
  return { memory, report: genuine(report, memory.report.digest), earlier: genuine(earlier, memory.earlier.digest) }
}

const genuine = (text: string, digest: string): string => (partOf(text).digest === digest ? text : '')

/** A report that says the same again leaves what came before it where it is. */
const whatStoodBefore = ({ report, earlier }: ReadBody, next: string): string => (report === next ? earlier : report)

/** A comment of a few lines under an issue: a sentence of ours, and what the report begins with. */
export function writeWord(sentence: string, blocks: readonly Block[], source: string, redact: Redact): string {
  const first = blocks.findIndex(({ kind }) => kind !== 'verdict' && kind !== 'list' && kind !== 'preformatted')
  const head = redact(renderMarkdown(first === -1 ? blocks : blocks.slice(0, first), mostWordBytes))
  return `${sentence}\n\n${head}\n${source}\n`
}

const mostWordBytes = 10_000
