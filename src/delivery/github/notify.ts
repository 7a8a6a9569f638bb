import { once } from '../../platform/core/concurrency.ts'
import type { Redact } from '../../platform/core/secrets.ts'
import type { Variables } from '../../platform/core/variables.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { LinkTo } from '../../platform/report/markdown.ts'
import { openGitHub } from './client.ts'
import { type CommentMode, syncComment } from './comment.ts'
import type { LabelPattern, SyncContent } from './content.ts'
import { explainGitHubError, toGitHubError } from './failure.ts'
import { type IssueTransition, type SyncedIssue, syncIssue } from './issue.ts'
import { defaultLimits, type Limits } from './requests.ts'
import { type GitHubRun, readGitHubRun } from './run.ts'

/** What a run writes, where, and as whom. */
export interface NotifyOptions {
  readonly content: SyncContent
  readonly comment: 'off' | CommentMode
  readonly issue: 'off' | 'on-failure'
  /** Label as given by the user. */
  readonly label: string | undefined
  /** Environment, and service, organization or self-hosted server, for the default label. */
  readonly target: string | undefined
  readonly prNumber: number | undefined
  readonly token: string | undefined
  /** Whether a token was given that cannot be one, so that there is none. */
  readonly isTokenRejected?: boolean
  readonly redact: Redact
  readonly linkTo?: LinkTo
}

interface NotifyOutcome {
  /** One line for each of comment and issue that could not be written, with the reason. */
  readonly failures: readonly string[]
  /** `unknown` when the issue could not be read or written. */
  readonly issueTransition: IssueTransition | 'unknown'
  /** Undefined without an issue about the state. */
  readonly issueNumber: number | undefined
}

/** The process that writes to GitHub. */
export interface NotifyProcess {
  readonly env: Variables
  readonly deps: SendDeps
  readonly limits?: Limits
}

/** Brings comment and issue up to date. Never throws and changes no verdict. */
export async function notify(options: NotifyOptions, { env, deps, limits = defaultLimits }: NotifyProcess): Promise<NotifyOutcome> {
  const { content, comment, token, isTokenRejected = false, redact, linkTo } = options
  const targets = (['comment', 'issue'] as const).filter((target) => options[target] !== 'off')
  const failAll = (reason: string): NotifyOutcome => ({
    failures: targets.map((target) => `${target}: ${redact(reason)}`),
    issueTransition: 'unknown',
    issueNumber: undefined,
  })
  const found = await readGitHubRun(env)
  if ('problem' in found) return failAll(`${found.problem}.`)
  if (token === undefined) return failAll(`not written, because github-token is not ${isTokenRejected ? 'valid' : 'set'}.`)
  const { run } = found
  // Redacted before it is encoded for a marker, where redaction would not find a secret.
  const label = redact(options.label ?? defaultLabel(run, content.operation, options.target))
  const isDefaultApply = options.label === undefined && content.operation === 'apply'
  const planLabels = isDefaultApply ? planLabelsOf(run, options.target, redact) : []
  const name = redact(options.label ?? run.labelParts[0] ?? content.operation)
  const safeDeps = { ...deps, note: (line: string) => deps.note(redact(line)) }
  const client = openGitHub(run, token, safeDeps, limits)
  const readAuthor = once(client.author)
  const failures: string[] = []
  let issue: Omit<SyncedIssue, 'transition'> & { readonly transition: NotifyOutcome['issueTransition'] } = { transition: 'unknown' }
  for (const target of targets) {
    try {
      const author = await readAuthor()
      const context = { content, run, label, planLabels, name, client, author, redact, linkTo, deps: safeDeps }
      if (target === 'issue') issue = await syncIssue(context)
      else if (comment !== 'off') await syncComment(context, comment, options.prNumber)
    } catch (thrown) {
      const failed = { target, isFromFork: run.isFromFork }
      failures.push(`${target}: ${redact(explainGitHubError(toGitHubError(thrown), failed))}`)
    }
  }
  await client.close()
  return { failures, issueTransition: issue.transition, issueNumber: issue.number }
}

/** The default label of comment and issue. Jobs of a matrix differ in their target only. */
const defaultLabel = ({ labelParts }: GitHubRun, operation: string, target: string | undefined): string =>
  joinLabel([...labelParts, operation, target])

const separator = ' / '

const joinLabel = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join(separator)

/** The plan is often made by another job, and sometimes by another workflow: of this step, of this workflow, or of any. */
function planLabelsOf({ labelParts }: GitHubRun, target: string | undefined, redact: Redact): readonly LabelPattern[] {
  const end = redact(`${separator}${joinLabel(['plan', target])}`)
  return [
    { start: redact(joinLabel(labelParts)), end },
    { start: redact(`${joinLabel(labelParts.slice(0, 1))}${separator}`), end },
    { start: '', end },
  ]
}
