import { once } from '../core/concurrency.ts'
import type { Redact } from '../core/secrets.ts'
import type { Variables } from '../core/variables.ts'
import type { SendDeps } from '../http/send.ts'
import { type CommentMode, syncComment } from './comment.ts'
import type { ForgeContent } from './content.ts'
import { explainForgeError, toForgeError } from './failure.ts'
import { defaultLimits, type ForgeKind, type Limits, type Run } from './forge.ts'
import { type IssueTransition, syncIssue } from './issue.ts'

/** What a run writes, where, and as whom. */
export interface NotifyOptions {
  readonly content: ForgeContent
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
  const { content, comment, issue, token, isTokenRejected = false, redact } = options
  const targets = (['comment', 'issue'] as const).filter((target) => (target === 'comment' ? comment : issue) !== 'off')
  const failAll = (reason: string): NotifyOutcome => ({
    failures: targets.map((target) => `${target}: ${redact(reason)}`),
    issueTransition: 'unknown',
  })
  const found = await kind.readRun(env)
  if ('problem' in found) return failAll(`${found.problem}.`)
  if (token === undefined) return failAll(`not written, because ${kind.words.tokenInput} is not ${isTokenRejected ? 'valid' : 'set'}.`)
  const { run } = found
  // Redacted before it is encoded for a marker, where redaction would not find a secret.
  const label = redact(options.label ?? defaultLabel(run, content.operation, options.target))
  const name = redact(options.label ?? run.labelParts[0] ?? content.operation)
  const safeDeps = { ...deps, note: (line: string) => deps.note(redact(line)) }
  const open = once(() => kind.open(run, token, safeDeps, limits))
  const readAuthor = once(async () => (await open()).author())
  const failures: string[] = []
  let issueTransition: NotifyOutcome['issueTransition'] = 'unknown'
  for (const target of targets) {
    try {
      const context = { content, kind, run, label, name, forge: await open(), author: await readAuthor(), redact, deps: safeDeps }
      if (target === 'issue') issueTransition = await syncIssue(context)
      else if (comment !== 'off') await syncComment(context, comment, options.prNumber)
    } catch (thrown) {
      const failed = { target, isFromFork: run.isFromFork, words: kind.words }
      failures.push(`${target}: ${redact(explainForgeError(toForgeError(thrown), failed))}`)
    }
  }
  await open().then(
    (forge) => forge.close(),
    () => undefined,
  )
  return { failures, issueTransition }
}

/** The default label of comment and issue. Jobs of a matrix differ in their target only. */
const defaultLabel = ({ labelParts }: Run, operation: string, target: string | undefined): string =>
  [...labelParts, operation, target].filter((part) => part !== undefined && part !== '').join(' / ')
