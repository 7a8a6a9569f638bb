import { createHash } from 'node:crypto'
import { markdownUntrusted } from '../core/escape.ts'
import { renderMarkdown } from '../report/markdown.ts'
import type { SyncContext } from './content.ts'
import type { SyncTarget } from './forge.ts'

/** The hidden first line of every body. The label is encoded so that it cannot end the HTML comment. */
export const markerOf = (kind: SyncTarget, label: string): string =>
  `<!-- watchkeeper ${kind}: ${encodeURIComponent(label.toWellFormed()).replace(/[-!'()*]/g, toPercent)} -->`

const toPercent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

/** Anyone can copy a marker, so the author must match, too. A body that only quotes the marker does not start with it. */
export const isOwn = (
  kind: SyncTarget,
  { label, author }: Pick<SyncContext, 'label' | 'author'>,
  { body, authorId }: { readonly body: string; readonly authorId: number | undefined },
): boolean => authorId === author.id && body.startsWith(markerOf(kind, label))

/** A section of a body: its length in UTF-16 units, and a digest that reveals edits. */
interface Section {
  readonly length: number
  readonly digest: string
}

/** The hidden second line: facts about this run for the next one. */
interface Memory {
  readonly atMs: number
  /** Digest of the failure's reason without its figures. */
  readonly reason: string
  readonly report: Section
  readonly earlier: Section
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

const sectionOf = (text: string): Section => ({ length: text.length, digest: digest(text) })

/** The same failure has other figures on another day, so figures do not count. */
export const digestOfReason = (reason: string): string => digest(reason.replace(/\d+/g, '#'))

const writeMemory = ({ atMs, reason, report, earlier }: Memory): string =>
  `<!-- watchkeeper memory: ${new Date(atMs).toISOString()} ${reason} ${report.length}:${report.digest} ${earlier.length}:${earlier.digest} -->`

const memoryGrammar =
  /^<!-- watchkeeper memory: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f]{16}) (\d{1,6}):([0-9a-f]{16}) (\d{1,6}):([0-9a-f]{16}) -->$/

/** Reads the second line of a body. Undefined where it is not one that this tool wrote. */
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

/** GitHub rejects a longer body. GitLab accepts 1,000,000 characters: https://docs.gitlab.com/api/notes/. */
export const maxBodyCharacters = 65_536

/** Room for the memory and for the note about a section that is too long. */
const reservedCharacters = 500

const earlierStart = '<details><summary>Previous report</summary>\n\n'
const earlierEnd = '\n</details>\n\n'
const earlierTooLong = '*The previous report is too long to show here.*\n'

/** What the text of a comment or an issue depends on. */
export type BodyContext = Pick<SyncContext, 'content' | 'label' | 'run' | 'redact' | 'kind'>

/** The text of a comment or an issue, within the limit. The report of `old`, the current body, is folded under the new one. */
export function writeBody(kind: 'comment' | 'issue', context: BodyContext, old: string | undefined): string {
  const { content, label, redact } = context
  const marker = markerOf(kind, label)
  const source = sourceLine(context)
  const fixed = marker.length + source.length + reservedCharacters
  // A text has at least as many bytes as UTF-16 units, so the limit in bytes also holds in characters.
  const report = context.kind.escapeMarkdown(redact(renderMarkdown(content.blocks, maxBodyCharacters - fixed, context.kind.words.rest)))
  const previous = old === undefined ? '' : earlierReport(readBody(old, marker), report)
  const fits = fixed + report.length + earlierStart.length + previous.length + earlierEnd.length <= maxBodyCharacters
  const earlier = fits ? previous : earlierTooLong
  const memory = writeMemory({
    atMs: content.atMs,
    reason: digestOfReason(content.reason),
    report: sectionOf(report),
    earlier: sectionOf(earlier),
  })
  const fold = earlier === '' ? '' : `${earlierStart}${earlier}${earlierEnd}`
  return `${marker}\n${memory}\n\n${report}\n${fold}${source}\n`
}

interface ParsedBody {
  readonly memory: Memory | undefined
  /** Empty when it was edited since it was written. */
  readonly report: string
  readonly earlier: string
}

/** Anyone with write access may have edited a body. Edited sections are dropped. */
export function readBody(body: string, marker: string): ParsedBody {
  const [first, second = '', ...lines] = body.replaceAll('\r\n', '\n').split('\n')
  const memory = first === marker ? readMemory(second) : undefined
  if (memory === undefined) return { memory, report: '', earlier: '' }
  const rest = lines.slice(1).join('\n')
  const report = rest.slice(0, memory.report.length)
  const startOfEarlier = report.length + '\n'.length + earlierStart.length
  const earlier = rest.slice(startOfEarlier, startOfEarlier + memory.earlier.length)
  return { memory, report: unlessEdited(report, memory.report), earlier: unlessEdited(earlier, memory.earlier) }
}

const unlessEdited = (text: string, section: Section): string => (digest(text) === section.digest ? text : '')

/** A report that differs from the new one by its time only is not worth showing as the previous one. */
const earlierReport = ({ report, earlier }: ParsedBody, next: string): string =>
  withoutTime(report) === withoutTime(next) ? earlier : report

/** Without the time in the last line of the report, see `formatMoment`. */
const withoutTime = (report: string): string => report.replace(/\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC\n*$/, '')

/** Whether `next` differs from `old` only by the time of the run and the link to it, so that an update would not help readers. */
export function isSameExceptTime(old: string, next: string, marker: string): boolean {
  const [before, after] = [readBody(old, marker), readBody(next, marker)]
  return (
    before.report !== '' &&
    withoutTime(before.report) === withoutTime(after.report) &&
    before.earlier === after.earlier &&
    before.memory?.reason === after.memory?.reason &&
    withoutLink(old) === withoutLink(next)
  )
}

/** The last line of a body, without the link to the run. */
const withoutLink = (body: string): string =>
  body
    .trimEnd()
    .split('\n')
    .at(-1)
    ?.replace(/^From \[this run\]\([^)]*\)/, '') ?? ''

/** A short comment under an issue: a sentence and the verdict of the report. */
export function writeIssueComment(sentence: string, context: BodyContext): string {
  const { blocks } = context.content
  const end = blocks.findIndex(({ kind }) => kind !== 'verdict' && kind !== 'list' && kind !== 'message')
  const head = context.redact(renderMarkdown(end === -1 ? blocks : blocks.slice(0, end), maxHeadBytes, context.kind.words.rest))
  return `${sentence}\n\n${context.kind.escapeMarkdown(head)}\n${sourceLine(context)}\n`
}

const maxHeadBytes = 10_000

/** The last line of every comment and issue: the run that wrote it. */
function sourceLine({ run: { url, job, commit }, redact }: Pick<BodyContext, 'run' | 'redact'>): string {
  const from = url === undefined ? 'this run' : `[this run](${url})`
  const ofJob = job === '' ? '' : ` of job ${markdownUntrusted(redact(job))}`
  return `From ${from}${ofJob}${commit === '' ? '' : `, commit ${markdownUntrusted(redact(commit).slice(0, 7))}`}.`
}
