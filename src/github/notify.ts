import type { Redact } from '../core/secrets.ts'
import { type Author, defaultLimits, type GitHub, type GitHubDeps, type Limits, openGitHub } from './client.ts'
import { type CommentMode, syncComment } from './comment.ts'
import { classifyFailure, describeFailure, type SyncTarget } from './failure.ts'
import { type IssueTransition, syncIssue } from './issue.ts'
import type { Notification } from './notification.ts'
import { defaultLabel, isFromFork, pullRequestTarget, type Run, readEvent, readRun } from './run.ts'

export interface NotifyOptions {
  readonly notification: Notification
  readonly comment: 'off' | CommentMode
  readonly issue: 'off' | 'on-failure'
  /** As given by the user. */
  readonly label: string | undefined
  /** Environment, and service, organization or self-hosted server, for the default label. */
  readonly target: string | undefined
  readonly prNumber: number | undefined
  readonly token: string | undefined
  readonly redact: Redact
}

type Environment = Readonly<Record<string, string | undefined>>

interface NotifyOutcome {
  /** One line for each of comment and issue that could not be written, with the reason. */
  readonly failures: readonly string[]
  /** `unknown` when the issue could not be read or written. */
  readonly issueTransition: IssueTransition | 'unknown'
}

/** Brings comment and issue up to date. Never throws and changes no verdict. */
export async function notify(
  options: NotifyOptions,
  env: Environment,
  deps: GitHubDeps,
  limits: Limits = defaultLimits,
): Promise<NotifyOutcome> {
  const { comment, issue, token, redact } = options
  const targets = (['comment', 'issue'] as const).filter((target) => (target === 'comment' ? comment : issue) !== 'off')
  const failAll = (reason: string): NotifyOutcome => ({
    failures: targets.map((target) => `${target}: ${redact(reason)}`),
    issueTransition: 'unknown',
  })
  const found = readRun(env)
  if ('problem' in found) return failAll(`${found.problem}.`)
  if (token === undefined) return failAll('not written, because github-token is not set.')
  const safeDeps = { ...deps, note: (line: string) => deps.note(redact(line)) }
  try {
    const github = await openGitHub(found.run, token, safeDeps, limits)
    try {
      return await syncAll(targets, options, { run: found.run, github, deps: safeDeps })
    } finally {
      await github.close()
    }
  } catch (thrown) {
    return failAll(classifyFailure(thrown, deps.clock.now()).detail)
  }
}

interface Connected {
  readonly run: Run
  readonly github: GitHub
  readonly deps: GitHubDeps
}

async function syncAll(
  targets: readonly SyncTarget[],
  { notification, comment, label, target: subject, prNumber, redact }: NotifyOptions,
  { run, github, deps }: Connected,
): Promise<NotifyOutcome> {
  const event = await readEvent(run.eventFile)
  // Redacted before it is encoded for a marker, where redaction would not find a secret.
  const safeLabel = redact(label ?? defaultLabel(run, notification.operation, subject))
  let author: Promise<Author> | undefined
  let issueTransition: NotifyOutcome['issueTransition'] = 'unknown'
  const sync = async (target: SyncTarget): Promise<void> => {
    author ??= github.author()
    const context = { notification, run, event, label: safeLabel, github, author: await author, redact, deps }
    if (target === 'issue') issueTransition = await syncIssue(context)
    else if (comment !== 'off') await syncComment(context, comment, pullRequestTarget(run, event, prNumber))
  }
  const failures: string[] = []
  for (const target of targets) {
    try {
      await sync(target)
    } catch (thrown) {
      const failure = classifyFailure(thrown, deps.clock.now())
      failures.push(`${target}: ${redact(describeFailure(failure, { target, isFromFork: isFromFork(run, event) }))}`)
    }
  }
  return { failures, issueTransition }
}
