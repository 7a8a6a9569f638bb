import { say, trusted } from '../../platform/core/line.ts'
import { type Block, paragraph } from '../../platform/report/blocks.ts'
import { hasLabelLike, isOwn, update, withMarker, writeBody } from './body.ts'
import type { Comment, PullRequest } from './client.ts'
import { isFailure, type SyncContent, type SyncContext } from './content.ts'
import type { GitHubRun } from './run.ts'

/** Condition for the first comment. */
export type CommentMode = 'always' | 'changes' | 'on-failure'

/** Creates or updates the one comment of the label. Throws what the client throws. */
export async function syncComment(context: SyncContext, mode: CommentMode, wantedNumber: number | undefined): Promise<void> {
  const known = wantedNumber ?? context.run.pullRequest
  if (known !== undefined) return syncOn(known, context, mode)
  const { open, merged } = await findPullRequests(context)
  const [number] = open
  if (number !== undefined) return syncOn(number, context, mode)
  const applied = { ...context, content: afterMerge(context) }
  for (const one of merged) await syncOn(one, applied, mode, findPlan)
}

type FindOther = (context: SyncContext, comments: readonly Comment[]) => Comment | undefined

/** Without a comment of the label, updates the other one. */
async function syncOn(number: number, context: SyncContext, mode: CommentMode, findOther?: FindOther): Promise<void> {
  const { content, label, client, deps } = context
  const place = `on #${number}`
  const found = await findComment(context, number, findOther)
  if (found !== undefined) {
    const write = (body: string): Promise<void> => client.updateComment(found.id, body)
    const outcome = await update(context, { target: 'comment', place, old: withMarker('comment', label, found.body), write })
    if (outcome === 'updated') deps.note(`comment: updated ${place}`)
    if (outcome !== 'gone') return
  } else if (!isWanted(mode, content)) return
  await client.createComment(number, writeBody('comment', context, undefined))
  deps.note(`comment: created ${place}`)
}

async function findComment(context: SyncContext, number: number, findOther?: FindOther): Promise<Comment | undefined> {
  const others: Comment[] = []
  for await (const comment of context.client.comments(number)) {
    if (isOwn('comment', context, comment)) return comment
    if (comment.authorId === context.author.id) others.push(comment)
  }
  return findOther?.(context, others)
}

/** The plan that this run applied. Undefined when two plans are equally close. */
function findPlan({ planLabels }: SyncContext, comments: readonly Comment[]): Comment | undefined {
  const [plans = []] = planLabels
    .map((pattern) => comments.filter(({ body }) => hasLabelLike('comment', pattern, body)))
    .filter((matching) => matching.length > 0)
  return plans.length === 1 ? plans[0] : undefined
}

/** Whether a first comment is wanted. An existing comment is always kept up to date. */
function isWanted(mode: CommentMode, content: SyncContent): boolean {
  if (mode === 'on-failure') return isFailure(content)
  return mode === 'always' || content.status !== 'pass' || content.hasChanges
}

interface PullRequests {
  /** Numbers of the open ones whose head is the commit of the run, the oldest first. */
  readonly open: readonly number[]
  /** Numbers of those that brought the commit to the branch that was pushed. Empty for a run that applied nothing. */
  readonly merged: readonly number[]
}

async function findPullRequests({ content, run, client, deps }: SyncContext): Promise<PullRequests> {
  const { commit, branch } = run
  const isHere = ({ base }: PullRequest): boolean => base.repository.toLowerCase() === `${run.owner}/${run.repository}`.toLowerCase()
  const found = commit === '' ? [] : (await Array.fromAsync(client.pullRequestsWith(commit))).filter(isHere)
  const numbersOf = (wanted: (one: PullRequest) => boolean): readonly number[] =>
    found
      .filter(wanted)
      .map(({ number }) => number)
      .sort((a, b) => a - b)
  // A pull request that only contains the commit has its own run for its head.
  const open = numbersOf(({ isOpen, headCommit }) => isOpen && headCommit === commit)
  const isApply = content.operation === 'apply' && branch !== ''
  const merged = isApply ? numbersOf(({ isMerged, base }) => isMerged && base.branch === branch) : []
  if (open.length + merged.length === 0) {
    const andMerged = isApply ? `, and none that was merged into ${branch} has it` : ''
    deps.note(
      `comment: not created, because no open pull request has this commit as its head${andMerged}. To select a pull request, set pr-number`,
    )
  }
  return { open, merged }
}

/** The report of a run that applied what was merged: it begins with the outcome and the commit. */
function afterMerge({ content, run }: Pick<SyncContext, 'content' | 'run'>): SyncContent {
  const [first, ...rest] = content.blocks
  if (first?.kind !== 'verdict') return content
  const word = !content.hasFailed ? 'Applied' : content.hasWritten ? 'Applied in part' : 'Not applied'
  const line = say`${trusted(word)} in ${run.commit.slice(0, 7)}`
  return { ...content, blocks: [{ ...first, line }, paragraph(first.line), ...(content.hasFailed ? nextStep(run) : []), ...rest] }
}

const nextStep = ({ rerunCommand }: GitHubRun): readonly Block[] =>
  rerunCommand === undefined ? [] : [paragraph(say`The next merge applies these changes, too. To try again before: ${rerunCommand}`)]
