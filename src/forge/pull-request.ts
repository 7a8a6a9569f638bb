import { type Line, say, trusted } from '../core/line.ts'
import type { Redact } from '../core/secrets.ts'
import { clip, printable } from '../core/text.ts'
import type { Variables } from '../core/variables.ts'
import type { RetryDeps } from '../http/deadline.ts'
import type { PullRequestContent } from '../operation/operation.ts'
import type { Block } from '../report/blocks.ts'
import { renderMarkdown } from '../report/markdown.ts'
import { digest, isOwn, markerOf, maxBodyCharacters, sourceLine } from './body.ts'
import { classifyFailure, describeFailure } from './failure.ts'
import { type Author, defaultLimits, type Forge, type ForgeWords, type Limits, type Run } from './forge.ts'

// One pull request with the changes that were made in the service: found by its marker, updated, and closed when there are none left.

export interface Base {
  readonly branch: string
  readonly repositoryId: string
  /** Undefined for an empty repository. */
  readonly head: string | undefined
}

export interface WorkflowRun {
  readonly id: string
  readonly event: string
  /** Paths of its workflow, and of those that it calls. */
  readonly workflows: readonly string[]
}

export interface OwnPullRequest {
  readonly number: number
  readonly state: 'open' | 'closed' | 'merged'
  readonly title: string
  readonly body: string
  readonly authorId: number | undefined
}

export interface Branch {
  readonly head: string
  /** Commits that the default branch does not have, the newest last. */
  readonly commits: readonly {
    readonly message: string
    readonly authorId: number | undefined
    readonly committerId: number | undefined
  }[]
  /** False when there are more commits. */
  readonly isComplete: boolean
}

interface CommitContent {
  readonly parent: string
  readonly message: string
  readonly files: readonly Pick<PullRequestContent['files'][number], 'path' | 'content'>[]
}

/** The requests of a pull request. Methods throw what `classifyFailure` understands. */
export interface DriftForge extends Forge {
  base(): Promise<Base>
  /** Runs that are queued, waiting or running. */
  activeRuns(): Promise<readonly WorkflowRun[]>
  pullRequestsFrom(branch: string): Promise<readonly OwnPullRequest[]>
  /** Compares with the commit `base`. */
  readBranch(name: string, base: string): Promise<Branch | undefined>
  /** The id of a file's content; undefined when the commit does not have it. */
  blobAt(path: string, commit: string): Promise<string | undefined>
  createCommit(content: CommitContent): Promise<string>
  /** Fails unless the branch is at `from`. It is created without `from`, and deleted without `to`. */
  moveBranch(
    name: string,
    move: { readonly repositoryId: string; readonly from?: string | undefined; readonly to?: string | undefined },
  ): Promise<void>
  createPullRequest(content: {
    readonly title: string
    readonly body: string
    readonly from: string
    readonly into: string
  }): Promise<number>
  updatePullRequest(number: number, content: { readonly title: string; readonly body: string; readonly isClosed: boolean }): Promise<void>
}

type State = 'none' | 'opened' | 'updated' | 'unchanged' | 'closed' | 'declined' | 'kept' | 'skipped'

export type PullRequestOutcome =
  | {
      readonly state: State
      readonly number?: number
      /** A sentence about what was done, or why nothing was. */
      readonly sentence: Line
      /** The service may be wrong, so a person should look at it. */
      readonly isWarning?: boolean
    }
  | { readonly failure: string }

/** The run, as far as a pull request needs it. */
interface DriftRun extends Run {
  readonly ref: string
  readonly runId: string
}

export interface DriftKind<R extends DriftRun> {
  readonly words: ForgeWords
  readRun(env: Variables): Promise<{ readonly run: R } | { readonly problem: string }>
  open(run: R, token: string, deps: RetryDeps, limits: Limits): Promise<DriftForge>
}

interface DriftOptions {
  readonly content: PullRequestContent
  /** What the files are compared with: an environment, a service or a server. */
  readonly target: string
  readonly token: string | undefined
  readonly redact: Redact
}

/** Opens, updates or closes the pull request. Never throws. */
export async function syncPullRequest<R extends DriftRun>(
  { content, target, token, redact }: DriftOptions,
  { kind, env, deps, limits = defaultLimits }: { kind: DriftKind<R>; env: Variables; deps: RetryDeps; limits?: Limits },
): Promise<PullRequestOutcome> {
  const failure = (reason: string): PullRequestOutcome => ({ failure: redact(reason) })
  const found = await kind.readRun(env)
  if ('problem' in found) return failure(`${found.problem}.`)
  const { run } = found
  if (token === undefined) return failure(`${kind.words.tokenInput} is not set.`)
  const safeDeps = { ...deps, note: (line: string) => deps.note(redact(line)) }
  try {
    const forge = await kind.open(run, token, safeDeps, limits)
    try {
      return await sync({ content, targetDigest: digest(target), run, forge, redact })
    } finally {
      await forge.close()
    }
  } catch (thrown) {
    const failed = classifyFailure(thrown, deps.clock.now(), kind.words)
    return failure(describeFailure(failed, { target: 'pull request', isFromFork: run.isFromFork, words: kind.words }))
  }
}

interface SyncContext {
  readonly content: PullRequestContent
  readonly targetDigest: string
  readonly run: DriftRun
  readonly forge: DriftForge
  readonly redact: Redact
}

async function sync(context: SyncContext): Promise<PullRequestOutcome> {
  const { content, targetDigest, run, forge } = context
  if (content.incompleteReason !== undefined) return skip(say`the service was not read completely: ${content.incompleteReason}`)
  const base = await forge.base()
  if (run.ref !== `refs/heads/${base.branch}`)
    return { failure: `The pull request is made on the default branch. Start the workflow on ${base.branch}.` }
  if (base.head !== run.commit) return skip(say`${base.branch} has a newer commit than this run. The next run on ${base.branch} decides`)
  const applying = (await forge.activeRuns()).find((one) => isApply(one, context))
  if (applying !== undefined)
    return skip(say`run ${applying.id} of ${nameOf(applying.workflows[0] ?? '')} may apply, and is queued, waiting or running`)
  const author = await forge.author()
  const own = (await forge.pullRequestsFrom(content.branch)).filter((one) => isOwn('pull request', { label: content.branch, author }, one))
  const open = own.find(({ state }) => state === 'open')
  const memory = open && readMemory(open.body)
  if (open !== undefined && memory !== undefined && memory.targetDigest !== targetDigest)
    return {
      failure: `#${open.number} on ${content.branch} is about another service. Give each service an environment, and pass it as env.`,
    }
  if (open !== undefined && content.emptied.length > 0)
    return {
      ...skip(
        say`the service has none of the declared ${trusted(content.emptied.join(', '))}, so their changes may not be over. If they were deleted on purpose, remove their declarations, or run apply to create them again`,
      ),
      isWarning: true,
    }
  const branch = await forge.readBranch(content.branch, run.commit)
  const synced = { ...context, base, author, open, branch }
  if (content.files.length === 0) return close(synced)
  if (open === undefined && own.some((one) => isDeclined(one, context)))
    return { state: 'declined', sentence: say`A person closed the pull request for the same changes, so it is not opened again.` }
  return update(synced)
}

const skip = (reason: Line) => ({ state: 'skipped' as const, sentence: say`The pull request was not looked at: ${reason}.` })

const nameOf = (path: string): string => path.replace(/@.*$/, '').replace(/^.*\//, '')

/** A plan on a pull request writes nothing. */
const readOnlyEvents: readonly string[] = ['pull_request', 'merge_group']

const isApply = ({ id, event, workflows }: WorkflowRun, { run, content }: SyncContext): boolean =>
  id !== run.runId && !readOnlyEvents.includes(event) && workflows.some((path) => content.applyWorkflows.includes(nameOf(path)))

/** Closed by a person: our own close says so in the body. */
const isDeclined = ({ state, body }: OwnPullRequest, { content, targetDigest }: SyncContext): boolean => {
  const memory = readMemory(body)
  return state === 'closed' && memory?.isEnded === false && memory.digest === content.digest && memory.targetDigest === targetDigest
}

interface Synced extends SyncContext {
  readonly base: Base
  readonly author: Author
  readonly open: OwnPullRequest | undefined
  readonly branch: Branch | undefined
}

async function close({ content, targetDigest, forge, run, redact, base, author, open, branch }: Synced): Promise<PullRequestOutcome> {
  if (open === undefined) return { state: 'none', sentence: say`No pull request is needed.` }
  const body = open.body.replace(memoryGrammar, writeMemory({ digest: content.digest, isEnded: true, targetDigest }))
  await forge.updatePullRequest(open.number, { title: open.title, body, isClosed: true })
  await forge.createComment(open.number, `The files and the service have no such differences any more.\n\n${sourceLine({ run, redact })}\n`)
  if (branch !== undefined && isOurs(branch, author))
    await forge.moveBranch(content.branch, { repositoryId: base.repositoryId, from: branch.head })
  return { state: 'closed', number: open.number, sentence: say`Closed #${open.number}, because nothing is left to keep.` }
}

/** GitHub's account for commits that it signs: https://api.github.com/users/web-flow. */
const webFlowId = 19_864_447

const contentTrailer = 'Watchkeeper-Content'

const contentOf = (message: string): string | undefined => new RegExp(`^${contentTrailer}: ([0-9a-f]{16})$`, 'm').exec(message)?.[1]

/** A token of a person makes commits as that person, so that the author does not decide. */
const isOurs = ({ commits, isComplete }: Branch, { id }: Author): boolean =>
  isComplete &&
  commits.every(
    ({ message, authorId, committerId }) =>
      authorId === id && (committerId === id || committerId === webFlowId) && contentOf(message) !== undefined,
  )

async function update(context: Synced): Promise<PullRequestOutcome> {
  const { content, forge, run, base, author, open, branch } = context
  if (branch !== undefined && !isOurs(branch, author)) return keep(context)
  const contentDigest = digest(JSON.stringify(content.files.map(({ path, content: text }) => [path, text])))
  const isPushed = branch !== undefined && contentOf(branch.commits.at(-1)?.message ?? '') === contentDigest
  if (!isPushed) {
    for (const { path, previousBlob } of content.files)
      if ((await forge.blobAt(path, run.commit)) !== previousBlob)
        return {
          failure: `${quoted(path)} differs from commit ${run.commit.slice(0, 7)}. Check out the repository into the workspace, and change no file before this step.`,
        }
    const message = `${content.title}\n\n${contentTrailer}: ${contentDigest}\n`
    const commit = await forge.createCommit({ parent: run.commit, message, files: content.files })
    await forge.moveBranch(content.branch, { repositoryId: base.repositoryId, from: branch?.head, to: commit })
  }
  const body = writeBody(context)
  if (open === undefined) {
    const number = await forge.createPullRequest({ title: content.title, body, from: content.branch, into: base.branch })
    return { state: 'opened', number, sentence: say`Opened #${number}.` }
  }
  const { number } = open
  const isSame = open.title === content.title && withoutSource(open.body) === withoutSource(body)
  if (isSame && isPushed) return { state: 'unchanged', number, sentence: say`#${number} has these changes already.` }
  if (!isSame) await forge.updatePullRequest(number, { title: content.title, body, isClosed: false })
  return { state: 'updated', number, sentence: say`Updated #${number}.` }
}

const quoted = (path: string): string => `"${printable(clip(path, 200))}"`

/** Leaves a branch with commits of others as it is, and says once for the same changes what they are. */
async function keep(context: Synced): Promise<PullRequestOutcome> {
  const { content, forge, author, open } = context
  const reason = say`${content.branch} has commits of others, so it was not changed`
  if (open === undefined)
    return { state: 'kept', sentence: say`${reason}. Delete the branch, or open a pull request from it, and the next run goes on.` }
  const { number } = open
  if (readMemory(open.body)?.digest === content.digest) return { state: 'kept', number, sentence: say`#${number}: ${reason}.` }
  const label = `changes of ${content.branch}`
  const marker = markerOf('comment', label)
  const body = [
    marker,
    `<!-- watchkeeper changes: ${content.digest} -->`,
    '',
    'The service has other changes now. This branch has commits of others, so it was not changed. To get the changes as a commit, merge or close this pull request and delete its branch.',
    '',
    renderText(context, content.changes, maxBodyCharacters - 1000),
    sourceLine(context),
  ].join('\n')
  const found = await forge.findComment(number, (comment) => isOwn('comment', { label, author }, comment))
  if (found?.body.split('\n')[1] === body.split('\n')[1]) return { state: 'kept', number, sentence: say`#${number}: ${reason}.` }
  if (found === undefined) await forge.createComment(number, body)
  else await forge.updateComment(number, found.id, body)
  return { state: 'kept', number, sentence: say`#${number}: ${reason}. A comment has the changes.` }
}

interface Memory {
  readonly digest: string
  /** Whether it was closed because there was nothing left, and not by a person. */
  readonly isEnded: boolean
  readonly targetDigest: string
}

const memoryGrammar = /<!-- watchkeeper changes: ([0-9a-f]{16}) (open|ended) ([0-9a-f]{16}) -->/

const writeMemory = ({ digest: changes, isEnded, targetDigest }: Memory): string =>
  `<!-- watchkeeper changes: ${changes} ${isEnded ? 'ended' : 'open'} ${targetDigest} -->`

/** Of the second line, because anyone can write another one. */
function readMemory(body: string): Memory | undefined {
  const [, changes, state, targetDigest] = memoryGrammar.exec(body.split(/\r?\n/, 2)[1] ?? '') ?? []
  return changes === undefined || targetDigest === undefined ? undefined : { digest: changes, isEnded: state === 'ended', targetDigest }
}

/** The account of `GITHUB_TOKEN`. See https://docs.github.com/en/actions/concepts/security/github_token. */
const defaultTokenLogin = 'github-actions[bot]'

const checksNote =
  'This pull request was made with `GITHUB_TOKEN`. GitHub starts no workflows for such a pull request, so required checks may be missing. To start them, close and reopen it, or pass another token as `github-token`.\n'

function writeBody(context: Synced): string {
  const { content, targetDigest, author } = context
  const source = sourceLine(context)
  const note = author.login === defaultTokenLogin ? `\n${checksNote}` : ''
  const head = `${markerOf('pull request', content.branch)}\n${writeMemory({ digest: content.digest, isEnded: false, targetDigest })}\n`
  const room = maxBodyCharacters - head.length - source.length - note.length - 10
  return `${head}\n${renderText(context, context.content.blocks, room)}${note}\n${source}\n`
}

const renderText = ({ redact }: SyncContext, blocks: readonly Block[], maxBytes: number): string => redact(renderMarkdown(blocks, maxBytes))

/** Every run has another link in the last line. */
const withoutSource = (body: string): string => body.replaceAll('\r\n', '\n').trimEnd().split('\n').slice(0, -1).join('\n')
