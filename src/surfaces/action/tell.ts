// Owns whether GitHub is told of a run in a comment or an issue. What could not be told is a notice, and the verdict stands.
import * as core from '@actions/core'
import type { Cancellation } from '../../api/requester.ts'
import { systemClock } from '../../kernel/clock.ts'
import { InputError } from '../../kernel/errors.ts'
import { createRedact } from '../../kernel/secrets.ts'
import { logLine } from '../../report/escape.ts'
import type { Invoked } from '../invoke.ts'
import type { Environment } from '../setting-sources.ts'

export interface Circumstances {
  readonly env: Environment
  /** Must not be told to anybody. */
  readonly secrets: readonly string[]
  /** When the run began. */
  readonly atMs: number
  readonly cancellation: Cancellation
  readonly note: (line: string) => void
}

/** Resolves to what could not be told, and why. */
export async function tell(invoked: Invoked, { env, secrets, atMs, cancellation, note }: Circumstances): Promise<readonly string[]> {
  const { comment = 'off', issue = 'off', commentLabel, prNumber, githubToken, serviceId, organizationId } = invoked.keeping
  if ((comment === 'off' && issue === 'off') || cancellation.stop.aborted) return []
  if (commentLabel === undefined && isNameless(invoked))
    return ['comment and issue: not written, for nobody knows yet what they are about. Give comment-label to have them all the same.']
  const { document, blocks, hasFailed } = invoked
  const { operation, status, failureReason: reason } = document
  const wish = {
    news: { operation, status, hasFailed, hasChanges: hasChanges(document), reason, blocks, atMs },
    comment,
    issue,
    label: commentLabel,
    target: serviceId ?? organizationId,
    prNumber,
    token: githubToken,
    redact: createRedact(secrets),
  }
  const { tellGitHub } = await import('../../github/tell.ts')
  const lost = await tellGitHub(wish, env, { clock: systemClock, random: Math.random, note, cancellation })
  // Somebody who cancels a run knows that it did not come to its end.
  return cancellation.stop.aborted ? [] : lost
}

/** What apply would take over is no difference, and still news to whoever reviews it. */
const hasChanges = ({ changed, toAdopt }: Invoked['document']): boolean => changed === true || Number(toAdopt ?? 0) > 0

/** What the default label is made of was wrong itself: under another label, what is written now would never be updated. */
function isNameless({ error }: Invoked): boolean {
  const names = error instanceof InputError ? error.problems.map(({ name }) => name) : []
  return names.some((name) => name === 'operation' || name === 'service-id' || name === 'organization-id')
}

/** One for all: a step shows ten of them. */
export function noticeLost(lines: readonly string[]): void {
  if (lines.length > 0) core.notice(lines.map(logLine).join('\n'), { title: 'Watchkeeper' })
}
