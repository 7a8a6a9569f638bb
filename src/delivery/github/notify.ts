import { once } from '../../platform/core/concurrency.ts'
import type { Redact } from '../../platform/core/secrets.ts'
import type { Variables } from '../../platform/core/variables.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { LinkTo } from '../../platform/report/markdown.ts'
import type { StateChange } from '../notifications/message.ts'
import { openGitHub } from './client.ts'
import { type CommentMode, syncComment } from './comment.ts'
import { isShared, type SyncContent } from './content.ts'
import { explainGitHubError, toGitHubError } from './failure.ts'
import { type SyncedIssue, syncIssue } from './issue.ts'
import { defaultLimits, type Limits } from './requests.ts'
import { readGitHubRun } from './run.ts'

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
    options.label === undefined && isShared(content)
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
      if (target === 'issue') issue = await syncIssue({ ...context, label: ofJob, content: { ...content, outcome: undefined } })
      else if (comment !== 'off') await syncComment({ ...context, ...labels }, comment, options.prNumber)
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
