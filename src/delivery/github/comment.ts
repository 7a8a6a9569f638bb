import { type Line, link, say, trusted } from '../../platform/core/line.ts'
import { toEnvironmentName } from '../../platform/core/names.ts'
import { paragraph } from '../../platform/report/blocks.ts'
import { adviseRerun, isOwn, markerOf, readBody, update, withMarker, writeBody } from './body.ts'
import type { Comment, PullRequest } from './client.ts'
import { isFailure, isKept, type Outcome, type SyncContent, type SyncContext } from './content.ts'
import { describeAnswer, toGitHubError } from './failure.ts'
import type { GitHubRun } from './run.ts'

export type CommentMode = 'always' | 'changes' | 'on-failure'

/** A run that applies what is checked out reports to the pull request whose merge that is. Throws what the client throws. */
export async function syncComment(context: SyncContext, mode: CommentMode, wantedNumber: number | undefined): Promise<void> {
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
 * Pull requests whose merge is in the commit that was applied: those that say that they were not, and plans since the last commit that was
 * applied before, where a comment says so. All are among the last hundred comments of the repository, and commits.
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
    blocks: [{ ...first, status, line: outcomeHeadline(outcome, content, run) }, paragraph(first.line), ...next, ...rest],
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
