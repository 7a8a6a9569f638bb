import { digestOfText } from '../../platform/core/digest.ts'
import { minuteMs } from '../../platform/core/durations.ts'
import { markdownUntrusted } from '../../platform/core/escape.ts'
import { join, type Line, say, toLine, trusted } from '../../platform/core/line.ts'
import type { Redact } from '../../platform/core/secrets.ts'
import { pluralOf } from '../../platform/core/text.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import { type Block, paragraph, type Status } from '../../platform/report/blocks.ts'
import { type LinkTo, renderMarkdown } from '../../platform/report/markdown.ts'
import { type Author, type GitHubClient, hasStatus, type SyncTarget } from './client.ts'
import type { GitHubRun } from './run.ts'

export function markerOf(kind: SyncTarget, label: string): string {
  const encoded = encodeURIComponent(label.toWellFormed())
  // An encoded label cannot end the HTML comment.
  const safe = encoded.replace(/[-!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  return `<!-- watchkeeper ${kind}: ${safe} -->`
}

/** Anyone can copy or quote a marker, so author and start must match. */
export const isOwn = (
  kind: SyncTarget,
  { label, author }: SyncContext,
  { body, authorId }: { readonly body: string; readonly authorId: number | undefined },
): boolean => authorId === author.id && body.startsWith(markerOf(kind, label))

export const withMarker = (kind: SyncTarget, label: string, body: string): string => body.replace(/^.*/, () => markerOf(kind, label))

const digest = (text: string) => digestOfText(text, 16)

/** A failure has other figures on another day. */
export const digestOfReason = (reason: string): string =>
  digest(reason.replace(/\d[\d.,]*(?: (?:d|h|min|s)\b(?: \d+ (?:h|min|s)\b)?)?/g, '#'))

/** The hidden second line, for the next run. */
interface Memory {
  readonly atMs: number
  readonly reason: string
  /** UTF-16 units at the start of the visible text. */
  readonly reportLength: number
  /** The digest reveals edits of the visible text. */
  readonly digest: string
  /** The outcome, where the report says it, and the commit that was checked out. */
  readonly outcome: Outcome | undefined
  readonly commit: string
}

/** Undefined where the second line is not one that this tool wrote. */
export function readMemory(line: string): Memory | undefined {
  const [, at = '', reason = '', reportLength, visible = '', word, commit = ''] =
    /^<!-- watchkeeper memory: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f]{16}) (\d{1,6}) ([0-9a-f]{16})(?: ([a-z-]+) ([0-9a-f]+))? -->$/.exec(
      line,
    ) ?? []
  const atMs = Date.parse(at)
  const outcome = outcomes.find((one) => one === word)
  return Number.isNaN(atMs) ? undefined : { atMs, reason, reportLength: Number(reportLength), digest: visible, outcome, commit }
}

/** GitHub rejects a longer body. */
const maxBodyCharacters = 65_536

const earlierStart = '<details><summary>Previous report</summary>\n\n'
const earlierEnd = '\n</details>\n\n'

/** Keeps within the limit, and folds the report of `old`, the current body, under the new one. */
export function writeBody(kind: SyncTarget, context: BodyContext, old: string | undefined): string {
  const { label } = context
  const content = withRerun(context)
  const marker = markerOf(kind, label)
  const source = sourceLine(context)
  // Room for the memory and for the note about a section that is too long.
  const fixed = marker.length + source.length + 500
  // A text has at least as many bytes as UTF-16 units, so the limit in bytes also holds in characters.
  const report = renderReport(
    context,
    content.blocks.filter((block) => block.kind !== 'chart' && !(block.kind === 'details' && block.isQuiet)),
    maxBodyCharacters - fixed,
  )
  const parsed = old === undefined ? undefined : readBody(old, marker)
  const previous = parsed === undefined ? '' : earlierReport(parsed, report)
  const fits = fixed + report.length + earlierStart.length + previous.length + earlierEnd.length <= maxBodyCharacters
  const fold = previous === '' ? '' : `${earlierStart}${fits ? previous : '*The previous report is too long to show here.*\n'}${earlierEnd}`
  const visible = `${report}\n${fold}${source}`
  const outcome = content.outcome === undefined ? '' : ` ${content.outcome} ${context.run.commit}`
  const memory = `${new Date(content.atMs).toISOString()} ${digestOfReason(content.reason)} ${report.length} ${digest(visible)}${outcome}`
  return `${marker}\n<!-- watchkeeper memory: ${memory} -->\n\n${visible}\n`
}

/** Puts the command below the first lines. The outcome of a merge has the command already. */
function withRerun({ content, run }: BodyContext): SyncContent {
  const { advice, outcome, blocks } = content
  const line = advice && outcome === undefined ? adviseRerun(advice, run, 'To run it again') : undefined
  if (line === undefined) return content
  const end = headLength(blocks)
  return { ...content, blocks: [...blocks.slice(0, end), paragraph(line), ...blocks.slice(end)] }
}

const joinAnd = (texts: readonly string[]) => join(texts.map(toLine), ' and ')

/** Says what to do before, too. Undefined when the command is unknown. */
export function adviseRerun({ empty }: Advice, { rerunCommand, ghRepository }: GitHubRun, words: string): Line | undefined {
  if (rerunCommand === undefined) return undefined
  if (empty.length === 0) return say`${trusted(words)}: ${rerunCommand}`
  // The names in the workflow are unknown, and whether an environment or Dependabot has the values.
  const nouns = empty.every(({ isSecret }) => isSecret) ? ['secret'] : ['secret', 'variable']
  const isOne = empty.length === 1
  const values = trusted(nouns.map((noun) => (isOne ? noun : pluralOf(noun))).join(' or '))
  const variables = joinAnd(empty.map(({ variable }) => variable))
  const lists = joinAnd(nouns.map((noun) => `gh ${noun} list --repo ${ghRepository}`))
  return say`The ${values} that the workflow gives ${variables} ${trusted(isOne ? 'is' : 'are')} not set for this run. To see those of the repository: ${lists}. Set what is missing, then run this again: ${rerunCommand}`
}

function headLength(blocks: readonly Block[]) {
  const end = blocks.findIndex(({ kind }) => kind !== 'verdict' && kind !== 'list' && kind !== 'message')
  return end === -1 ? blocks.length : end
}

const renderReport = ({ redact, linkTo }: BodyContext, blocks: BodyContext['content']['blocks'], maxBytes: number) =>
  redact(renderMarkdown(blocks, maxBytes, 'the summary of the run', linkTo))

interface ParsedBody {
  readonly memory: Memory | undefined
  readonly report: string
  readonly earlier: string
}

/** Anyone with write access may have edited a body. Its reports are then dropped. */
export function readBody(body: string, marker: string): ParsedBody {
  const [first, second = '', , ...lines] = body.replaceAll('\r\n', '\n').split('\n')
  const memory = first === marker ? readMemory(second) : undefined
  const visible = lines.join('\n').trimEnd()
  if (memory === undefined || digest(visible) !== memory.digest) return { memory, report: '', earlier: '' }
  const rest = visible.slice(memory.reportLength + '\n'.length)
  const earlier = rest.startsWith(earlierStart) ? rest.slice(earlierStart.length, rest.lastIndexOf(earlierEnd)) : ''
  return { memory, report: visible.slice(0, memory.reportLength), earlier }
}

/** The plan stays below the report of a run that wrote nothing, or that differs by run and commit only. */
function earlierReport({ memory, report, earlier }: ParsedBody, next: string) {
  const isSame = withoutRun(withoutCommits(report)) === withoutRun(withoutCommits(next))
  return isSame || (memory?.outcome !== undefined && memory.outcome !== 'applied' && memory.outcome !== 'in-part') ? earlier : report
}

/** The time is in the last line (see `formatMoment`), the id of the run in the command that runs it again. */
const withoutRun = (report: string) =>
  report.replace(/\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d UTC\n*$/, '').replace(/`gh run rerun \d+ /, '`gh run rerun ')

const withoutCommits = (report: string) => report.replaceAll(/\/blob\/[0-9a-f]{40,64}\//g, '/blob/')

/** An update of only the time of the run and the link to it would not help readers. */
function isSameExceptTime(old: string, next: string, marker: string) {
  const [before, after] = [old, next].map((body) => {
    const { memory, report, earlier } = readBody(body, marker)
    return [
      memory?.reason,
      withoutRun(report),
      earlier,
      (body.trimEnd().split('\n').at(-1) ?? '').replace(/^From \[this run\]\([^)]*\)/, ''),
    ].join('\n')
  })
  return before === after
}

export function writeIssueComment(sentence: string, context: BodyContext): string {
  const { blocks } = context.content
  const head = renderReport(context, blocks.slice(0, headLength(blocks)), 10_000)
  return `${sentence}\n\n${head}\n${sourceLine(context)}\n`
}

function sourceLine({ content: { project, environment }, run: { url, job, commit }, redact }: BodyContext) {
  const facts = { commit: redact(commit).slice(0, 7), project, environment }
  const parts = Object.entries(facts).flatMap(([name, value]) => (value ? [`, ${name} ${markdownUntrusted(redact(value))}`] : []))
  const from = url === undefined ? 'this run' : `[this run](${url})`
  return `From ${from}${job === '' ? '' : ` of job ${markdownUntrusted(redact(job))}`}${parts.join('')}.`
}

interface Upkeep {
  readonly target: SyncTarget
  /** `on #12` */
  readonly place: string
  readonly old: string
  /** Writes also a text that differs by its time only. */
  readonly isDue?: boolean
  write(body: string): Promise<void>
}

/**
 * A slow run does not overwrite the report of a run that started later. `gone` when the comment or issue was deleted, or the issue moved to
 * another repository, since it was found.
 */
export async function update(context: SyncContext, { target, place, old, isDue, write }: Upkeep): Promise<'kept' | 'updated' | 'gone'> {
  const { content, label, deps } = context
  const marker = markerOf(target, label)
  const { atMs = 0, outcome } = readBody(old, marker).memory ?? {}
  // The clocks of two runners may differ by this much. A date further ahead is wrong and is ignored.
  if (atMs > content.atMs && atMs <= deps.clock.now() + 5 * minuteMs) {
    deps.note(`${target}: not updated ${place}, because a run that started later wrote it`)
    return 'kept'
  }
  if (isKept(outcome, content)) {
    deps.note(`${target}: not updated ${place}, because it says what became of the merge`)
    return 'kept'
  }
  const body = writeBody(target, context, old)
  if (!isDue && isSameExceptTime(old, body, marker)) {
    deps.note(`${target}: unchanged ${place}`)
    return 'kept'
  }
  try {
    await write(body)
    return 'updated'
  } catch (thrown) {
    if (hasStatus(thrown, 404, 410)) return 'gone'
    throw thrown
  }
}

export interface SyncContent {
  readonly operation: string
  readonly project?: string | undefined
  readonly environment?: string | undefined
  readonly status: Status
  readonly hasFailed: boolean
  readonly hasChanges: boolean
  /** Absent for a run that applies nothing. */
  readonly outcome?: Outcome | undefined
  readonly hasWritten?: boolean
  /** Empty for a run that passed. */
  readonly reason: string
  /** Only where the run may complete if it is run again. */
  readonly advice?: Advice | undefined
  /** A few words without figures, with text of servers and files. */
  readonly cause: string
  readonly blocks: readonly Block[]
  readonly atMs: number
}

export interface Advice {
  readonly empty: readonly { readonly variable: string; readonly isSecret: boolean }[]
}

/**
 * The least first. `refused`: the branch has newer files. `planned`: another job applies the plan. `included`: a later commit was applied.
 */
export const outcomes = ['refused', 'planned', 'failed', 'in-part', 'included', 'applied'] as const

export type Outcome = (typeof outcomes)[number]

/** A run that wrote nothing replaces a comment only by more, and a plan of the pull request never does. */
export function isKept(before: Outcome | undefined, { outcome, hasWritten = false }: SyncContent): boolean {
  if (before === undefined || outcome === undefined) return before !== undefined
  const [old, next] = [outcomes.indexOf(before), outcomes.indexOf(outcome)]
  return !hasWritten && old >= outcomes.indexOf('in-part') && next <= old
}

/** Plan and apply are often different jobs, and say one thing about a project, an environment and a service. */
export const isShared = (operation: string): boolean => operation === 'plan' || operation === 'apply'

export interface BodyContext {
  readonly content: SyncContent
  readonly run: GitHubRun
  readonly label: string
  readonly redact: Redact
  readonly linkTo?: LinkTo | undefined
}

export interface SyncContext extends BodyContext {
  /** The label that the comment had in an earlier version. */
  readonly oldLabel?: string | undefined
  /** The workflow, or the label that the user gave. */
  readonly name: string
  readonly client: GitHubClient
  /** Comments and issues of other accounts are never touched. */
  readonly author: Author
  readonly deps: SendDeps
}

export const isFailure = ({ status }: SyncContent): boolean => status === 'fail' || status === 'error'
