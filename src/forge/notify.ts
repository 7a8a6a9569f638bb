import type { Redact } from '../core/secrets.ts'
import type { Variables } from '../core/variables.ts'
import type { SendDeps } from '../http/send.ts'
import { type CommentMode, syncComment } from './comment.ts'
import type { ForgeContent } from './content.ts'
import { describeFailure, toForgeError } from './failure.ts'
import { type Author, defaultLimits, type Forge, type ForgeKind, type Limits, type Run, type SyncTarget } from './forge.ts'
import { type IssueTransition, syncIssue } from './issue.ts'

/** What a run writes, where, and as whom. */
export interface NotifyOptions {
  readonly content: ForgeContent
  readonly comment: 'off' | CommentMode
  readonly issue: 'off' | 'on-failure'
  /** As given by the user. */
  readonly label: string | undefined
  /** Environment, and service, organization or self-hosted server, for the default label. */
  readonly target: string | undefined
  readonly prNumber: number | undefined
  readonly token: string | undefined
  /** There is no token, because the given one cannot be one. */
  readonly isTokenRejected?: boolean
  readonly redact: Redact
}

interface NotifyOutcome {
  /** One line for each of comment and issue that could not be written, with the reason. */
  readonly failures: readonly string[]
  /** `unknown` when the issue could not be read or written. */
  readonly issueTransition: IssueTransition | 'unknown'
}

/** The forge, and the process that writes to it. */
export interface NotifyContext<R extends Run> {
  readonly kind: ForgeKind<R>
  readonly env: Variables
  readonly deps: SendDeps
  readonly limits?: Limits
}

/** Brings comment and issue up to date. Never throws and changes no verdict. */
export async function notify<R extends Run>(
  options: NotifyOptions,
  { kind, env, deps, limits = defaultLimits }: NotifyContext<R>,
): Promise<NotifyOutcome> {
  const { comment, issue, token, isTokenRejected = false, redact } = options
  const targets = (['comment', 'issue'] as const).filter((target) => (target === 'comment' ? comment : issue) !== 'off')
  const failAll = (reason: string): NotifyOutcome => ({
    failures: targets.map((target) => `${target}: ${redact(reason)}`),
    issueTransition: 'unknown',
  })
  const found = await kind.readRun(env)
  if ('problem' in found) return failAll(`${found.problem}.`)
  if (token === undefined) return failAll(`not written, because ${kind.words.tokenInput} is not ${isTokenRejected ? 'valid' : 'set'}.`)
  const safeDeps = { ...deps, note: (line: string) => deps.note(redact(line)) }
  try {
    const forge = await kind.open(found.run, token, safeDeps, limits)
    try {
      return await syncAll(targets, options, { kind, run: found.run, forge, deps: safeDeps })
    } finally {
      await forge.close()
    }
  } catch (thrown) {
    return failAll(toForgeError(thrown).message)
  }
}

interface Connected {
  readonly kind: Pick<ForgeKind, 'words' | 'escapeMarkdown' | 'escapeTitle'>
  readonly run: Run
  readonly forge: Forge
  readonly deps: SendDeps
}

async function syncAll(
  targets: readonly SyncTarget[],
  { content, comment, label, target: subject, prNumber, redact }: NotifyOptions,
  { kind, run, forge, deps }: Connected,
): Promise<NotifyOutcome> {
  // Redacted before it is encoded for a marker, where redaction would not find a secret.
  const safeLabel = redact(label ?? defaultLabel(run, content.operation, subject))
  const name = redact(label ?? run.labelParts[0] ?? content.operation)
  let author: Promise<Author> | undefined
  let issueTransition: NotifyOutcome['issueTransition'] = 'unknown'
  const sync = async (target: SyncTarget): Promise<void> => {
    author ??= forge.author()
    const context = { content, kind, run, label: safeLabel, name, forge, author: await author, redact, deps }
    if (target === 'issue') issueTransition = await syncIssue(context)
    else if (comment !== 'off') await syncComment(context, comment, prNumber)
  }
  const failures: string[] = []
  for (const target of targets) {
    try {
      await sync(target)
    } catch (thrown) {
      const { isFromFork } = run
      failures.push(`${target}: ${redact(describeFailure(toForgeError(thrown), { target, isFromFork, words: kind.words }))}`)
    }
  }
  return { failures, issueTransition }
}

/** The default label of comment and issue. Jobs of a matrix differ in their target only. */
const defaultLabel = ({ labelParts }: Run, operation: string, target: string | undefined): string =>
  [...labelParts, operation, target].filter((part) => part !== undefined && part !== '').join(' / ')
