import { once } from '../../platform/core/concurrency.ts'
import { type Line, link, say, trusted } from '../../platform/core/line.ts'
import { toEnvironmentName } from '../../platform/core/names.ts'
import type { Redact } from '../../platform/core/secrets.ts'
import { capitalize, quote } from '../../platform/core/text.ts'
import type { Variables } from '../../platform/core/variables.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import { paragraph, verdictLine } from '../../platform/report/blocks.ts'
import type { LinkTo } from '../../platform/report/markdown.ts'
import type { StateChange } from '../notifications/message.ts'
import {
  adviseRerun,
  digestOfReason,
  isFailure,
  isKept,
  isOwn,
  isShared,
  markerOf,
  type Outcome,
  readBody,
  type SyncContent,
  type SyncContext,
  update,
  withMarker,
  writeBody,
  writeIssueComment,
} from './body.ts'
import {
  type Comment,
  defaultLimits,
  describeAnswer,
  explainGitHubError,
  type Issue,
  type Limits,
  openGitHub,
  type PullRequest,
  toGitHubError,
} from './client.ts'
import { type GitHubRun, readGitHubRun } from './run.ts'

export interface NotifyOptions {
  readonly content: SyncContent
  readonly comment: 'off' | CommentMode
  readonly issue: 'off' | 'on-failure'
  readonly label: string | undefined
  /** Environment, and service, organization or server, for the default label. */
  readonly target: string | undefined
  readonly checkedOut?: string | undefined
  readonly prNumber: number | undefined
  readonly token: string | undefined
  /** A token was given that cannot be one. */
  readonly isTokenRejected?: boolean
  readonly redact: Redact
  readonly linkTo?: LinkTo
}

interface NotifyOutcome {
  readonly failures: readonly string[]
  /** The issue is open while the state is failing. `unknown` when it could not be read or written. */
  readonly change: StateChange
  readonly issueNumber?: number | undefined
}

interface NotifyProcess {
  readonly env: Variables
  readonly deps: SendDeps
  readonly limits?: Limits
}

/** Brings comment and issue up to date. Never throws and changes no verdict. */
export async function notify(options: NotifyOptions, { env, deps, limits = defaultLimits }: NotifyProcess): Promise<NotifyOutcome> {
  const { content, comment, token, isTokenRejected = false, redact, linkTo } = options
  // A run that was refused says nothing about the state that the issue is about.
  const isRefused = content.outcome === 'refused'
  const targets = (['comment', 'issue'] as const).filter((target) => options[target] !== 'off' && !(target === 'issue' && isRefused))
  const failAll = (reason: string): NotifyOutcome => ({
    failures: targets.map((target) => `${target}: ${redact(reason)}`),
    change: 'unknown',
  })
  const found = await readGitHubRun(env, options.checkedOut)
  if ('problem' in found) return failAll(`${found.problem}.`)
  if (token === undefined) return failAll(`not written, because github-token is not ${isTokenRejected ? 'valid' : 'set'}.`)
  const { run } = found
  // Redacted before it is encoded for a marker, where redaction would not find a secret.
  const ofJob = redact(options.label ?? joinLabel([...run.labelParts, content.operation, options.target]))
  const labels =
    options.label === undefined && isShared(content.operation)
      ? { label: redact(joinLabel([content.project, options.target])), oldLabel: ofJob }
      : { label: ofJob }
  const name = redact(options.label ?? run.labelParts[0] ?? content.operation)
  const safeDeps = { ...deps, note: (line: string) => deps.note(redact(line)) }
  const open = once(() => openGitHub(run, token, safeDeps, limits))
  const readAuthor = once(async () => (await open()).author())
  const failures: string[] = []
  let issue: SyncedIssue = { change: isRefused ? 'none' : 'unknown' }
  for (const target of targets) {
    try {
      const [client, author] = [await open(), await readAuthor()]
      const context = { content, run, name, client, author, redact, linkTo, deps: safeDeps }
      if (target === 'issue') {
        issue = await syncIssue({ ...context, label: ofJob, content: { ...content, outcome: undefined } })
        await issue.announce?.()
      } else if (comment !== 'off') await syncComment({ ...context, ...labels }, comment, options.prNumber)
    } catch (thrown) {
      const failed = { target, isFromFork: run.isFromFork }
      failures.push(`${target}: ${redact(explainGitHubError(toGitHubError(thrown), failed))}`)
    }
  }
  await open().then(
    (client) => client.close(),
    () => undefined,
  )
  return { failures, change: issue.change, issueNumber: issue.number }
}

/** Jobs of a matrix differ in their target only. */
const joinLabel = (parts: readonly (string | undefined)[]) => parts.filter(Boolean).join(' / ')

type CommentMode = 'always' | 'changes' | 'on-failure'

/** A run that applies what is checked out reports to the pull request whose merge that is. Throws what the client throws. */
async function syncComment(context: SyncContext, mode: CommentMode, wantedNumber: number | undefined): Promise<void> {
  const { content, run } = context
  const { outcome } = content
  const onOpen = { ...context, content: { ...content, outcome: undefined } }
  const known = wantedNumber ?? run.pullRequest
  if (known !== undefined) return syncOn(known, onOpen, mode)
  const { open, merged } = await findPullRequests(context)
  const afterMerge = { ...context, oldLabel: undefined, content: sayOutcome(context) }
  for (const number of merged) await syncOn(number, afterMerge, mode)
  if (merged.length === 0 && open !== undefined) await syncOn(open, onOpen, mode)
  if (outcome === 'applied') await syncIncluded(context, merged)
}

async function syncOn(number: number, context: SyncContext, mode: CommentMode) {
  const { content, client, deps } = context
  const found = await findComment(context, number)
  if (found === undefined ? !isWanted(mode, content) : await updateComment(context, number, found)) return
  await client.createComment(number, writeBody('comment', context, undefined))
  deps.note(`comment: created on #${number}`)
}

async function updateComment(context: SyncContext, number: number, { id, body: current }: Comment): Promise<boolean> {
  const { label, client, deps } = context
  const place = `on #${number}`
  const write = (body: string): Promise<void> => client.updateComment(id, body)
  const outcome = await update(context, { target: 'comment', place, old: withMarker('comment', label, current), write })
  if (outcome === 'updated') deps.note(`comment: updated ${place}`)
  return outcome !== 'gone'
}

async function findComment(context: SyncContext, number: number): Promise<Comment | undefined> {
  const { oldLabel } = context
  let old: Comment | undefined
  for await (const comment of context.client.comments(number)) {
    if (isOwn('comment', context, comment)) return comment
    if (oldLabel !== undefined && isOwn('comment', { ...context, label: oldLabel }, comment)) old ??= comment
  }
  return old
}

/**
 * Those that say that they were not applied, and plans since the last commit that was, where a comment says so. All are among the last
 * hundred comments of the repository, and commits.
 */
async function syncIncluded(context: SyncContext, done: readonly number[]) {
  const { content, run, client, deps, label } = context
  const verdict = { kind: 'verdict', status: 'pass', line: outcomeHeadline('included', content, run) } as const
  const blocks = [verdict, ...content.blocks.filter(({ kind }) => kind === 'footer')]
  const included: SyncContent = { ...content, outcome: 'included', hasWritten: false, blocks }
  try {
    const said = (await client.latestComments())
      .filter((comment) => isOwn('comment', context, comment))
      .map((comment) => ({ comment, ...readBody(comment.body, markerOf('comment', label)).memory }))
    const waiting = said.filter(({ comment, outcome }) => !done.includes(comment.on) && !isKept(outcome, included))
    const closed = waiting.length === 0 ? [] : await client.latestClosed()
    const merges = new Map(closed.filter(({ isMerged }) => isMerged).map((one) => [one.number, one.mergeCommit]))
    if (!waiting.some(({ comment }) => merges.has(comment.on))) return
    const parents = await client.commitsIn(run.commit)
    const applied = said.filter(({ outcome }) => outcome === 'applied' || outcome === 'included').map(({ commit = '' }) => commit)
    const before = new Set(applied.filter((commit) => commit !== run.commit && parents.has(commit)))
    const isKnown = before.size > 0
    // Parents are added while the loop runs.
    for (const commit of before) for (const parent of parents.get(commit) ?? []) before.add(parent)
    for (const { comment, outcome } of waiting) {
      const merge = merges.get(comment.on) ?? ''
      const isDue = outcome !== undefined || (isKnown && !before.has(merge))
      if (isDue && parents.has(merge)) await updateComment({ ...context, content: included }, comment.on, comment)
    }
  } catch (thrown) {
    deps.note(`comment: earlier pull requests are not updated: ${describeAnswer(toGitHubError(thrown).failure)}`)
  }
}

/** An existing comment is always kept up to date. */
function isWanted(mode: CommentMode, content: SyncContent) {
  if (mode === 'on-failure') return isFailure(content)
  return mode === 'always' || content.status !== 'pass' || content.hasChanges
}

async function findPullRequests({ content, run, client, deps }: SyncContext) {
  const { commit } = run
  const isHere = ({ repository }: PullRequest): boolean => repository.toLowerCase() === `${run.owner}/${run.repository}`.toLowerCase()
  const all = commit === '' ? [] : await Array.fromAsync(client.pullRequestsWith(commit))
  const found = all.filter(isHere).sort((a, b) => a.number - b.number)
  // A pull request that only contains the commit has its own run for its head.
  const open = found.find(({ isOpen, headCommit }) => isOpen && headCommit === commit)?.number
  const isApply = content.outcome !== undefined
  const isMerge = (one: PullRequest): boolean => isApply && one.isMerged && [one.mergeCommit, one.headCommit].includes(commit)
  const merged = found.filter(isMerge).map(({ number }) => number)
  if (open === undefined && merged.length === 0) {
    const andMerged = isApply ? ', and it is the merge of none' : ''
    deps.note(
      `comment: not created, because no open pull request has this commit as its head${andMerged}. To select a pull request, set ${toEnvironmentName('pr-number')}`,
    )
  }
  return { open, merged }
}

function sayOutcome({ content, run }: SyncContext): SyncContent {
  const { outcome, hasFailed, advice, blocks } = content
  const [first, ...rest] = blocks
  // A refusal says all that there is to say.
  if (first?.kind !== 'verdict' || outcome === undefined || outcome === 'refused') return content
  const status = outcome === 'planned' ? 'warn' : first.status
  const again = advice && adviseRerun(advice, run, 'To try again before')
  const next = hasFailed ? [paragraph(say`The next merge applies these changes, too. ${again ?? []}`)] : []
  return {
    ...content,
    blocks: [{ kind: 'verdict', status, line: outcomeHeadline(outcome, content, run) }, paragraph(verdictLine(first)), ...next, ...rest],
  }
}

function outcomeHeadline(outcome: Exclude<Outcome, 'refused'>, { operation }: SyncContent, { url, refName, commit }: GitHubRun) {
  const isPlan = operation === 'plan'
  const inCommit = (words: string): Line => say`${trusted(words)} in ${commit.slice(0, 7)}`
  return {
    planned: say`Not applied yet: planned in ${url === undefined ? trusted('this run') : link('this run', url)}`,
    failed: isPlan ? say`Not applied: the plan failed` : inCommit('Not applied'),
    'in-part': inCommit('Applied in part'),
    included: say`${inCommit('Included')}: ${refName} was applied with this merge`,
    applied: inCommit(isPlan ? 'Nothing to do' : 'Applied'),
  }[outcome]
}

/** Label of every issue of this action. Removing it releases the issue. */
const issueLabel = 'watchkeeper'

interface SyncedIssue {
  readonly change: StateChange
  readonly number?: number
  /** Comments on the issue. Its change is known before that. */
  readonly announce?: () => Promise<void>
}

async function syncIssue(context: SyncContext): Promise<SyncedIssue> {
  const { deps, content } = context
  const found = await openIssues(context)
  const [oldest] = found.filter(isLabeled)
  if (oldest !== undefined) {
    const synced = await updateOrClose(context, oldest)
    await closeDuplicates(context, found)
    return synced
  }
  if (!isFailure(content)) return { change: 'none' }
  const [released] = found
  if (released === undefined) return open(context)
  deps.note(
    `issue: not opened, because #${released.number} is still open without the label ${issueLabel}. Close that issue to get a new one`,
  )
  return { change: 'none', number: released.number }
}

async function openIssues(context: SyncContext): Promise<readonly Issue[]> {
  const issues = await Array.fromAsync(context.client.openIssuesOf(context.author))
  return issues.filter((issue) => isOwn('issue', context, issue)).toSorted((a, b) => a.number - b.number)
}

const isLabeled = ({ labels }: Issue) => labels.some((name) => name.toLowerCase() === issueLabel)

async function updateOrClose(context: SyncContext, { number, body: old }: Issue): Promise<SyncedIssue> {
  const { content, label, client, deps } = context
  // A failure that `warn-only` makes a warning has not recovered.
  const isOver = !content.hasFailed
  const outcome = await update(context, {
    target: 'issue',
    place: `#${number}`,
    old,
    isDue: isOver,
    // Closed before the comment: if closing failed after it, every later run would comment again.
    write: (body) => client.updateIssue(number, { body, ...(isOver ? { close: 'completed' } : { title: issueTitle(context) }) }),
  })
  if (outcome === 'gone' && isFailure(content)) return open(context)
  if (outcome !== 'updated') return { change: 'none', ...(outcome !== 'gone' && { number }) }
  const reason = readBody(old, markerOf('issue', label)).memory?.reason
  const isOther = reason !== undefined && reason !== digestOfReason(content.reason)
  const sentence = isOver ? 'The check passes again.' : isOther ? 'The reason for the failure has changed.' : undefined
  deps.note(`issue: ${isOver ? 'closed' : 'updated'} #${number}`)
  return {
    change: isOver ? 'passing' : 'none',
    number,
    ...(sentence && { announce: () => client.createComment(number, writeIssueComment(sentence, context)) }),
  }
}

async function open(context: SyncContext): Promise<SyncedIssue> {
  const { client, deps } = context
  const issue = await client.createIssue({
    title: issueTitle(context),
    body: writeBody('issue', context, undefined),
    label: issueLabel,
  })
  deps.note(`issue: opened #${issue.number}`)
  if (!isLabeled(issue))
    deps.note(
      `issue: #${issue.number} has no label ${issueLabel}, because the token cannot set labels. Later runs will not update or close it`,
    )
  // Another run may have opened one at the same moment. Both runs see both issues, and keep the older one.
  const all = await openIssues(context)
  await closeDuplicates(context, all)
  return { change: 'failing', number: all.find(isLabeled)?.number ?? issue.number }
}

/** `Cost gate: budget exceeded`, and `Apply, environment staging: the API is down`. */
function issueTitle({ name, content: { cause, environment }, redact }: SyncContext) {
  const where = environment === undefined ? '' : `, environment ${redact(environment)}`
  return `${quote(redact(capitalize(name)), maxNameCharacters)}${where}: ${quote(redact(cause), maxCauseCharacters)}`
}

// GitHub accepts 256 characters. A cut adds up to 30, and an environment up to 77.
const [maxNameCharacters, maxCauseCharacters] = [60, 120]

async function closeDuplicates({ client, deps }: SyncContext, found: readonly Issue[]) {
  for (const { number } of found.filter(isLabeled).slice(1)) {
    await client.updateIssue(number, { close: 'not_planned' })
    deps.note(`issue: closed #${number} as a duplicate`)
  }
}
