import { formatLocation } from '../../platform/core/diagnostics.ts'
import { type Inline, join, type Line, say, strong, toPlainText, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { isRepositoryName, issuePageOf, runPageOf } from '../../platform/core/run-page.ts'
import { listAtMost } from '../../platform/core/text.ts'
import type { Variables } from '../../platform/core/variables.ts'
import type { RunSubject } from '../../platform/operation/result.ts'
import { type Block, type Status, verdictLine } from '../../platform/report/blocks.ts'

/** `unknown`: nothing keeps the last state, or it could not be read. */
export type StateChange = 'failing' | 'passing' | 'none' | 'unknown'

interface Origin {
  /** `owner/name`. */
  readonly repository: string | undefined
  readonly workflow: string | undefined
  readonly runUrl: string | undefined
  readonly issueUrl: string | undefined
  readonly project?: string | undefined
  readonly environment?: string | undefined
}

export interface Message extends Origin {
  readonly operation: string
  /** Untrusted when the operation is unknown. */
  readonly title: Inline
  readonly status: Status
  readonly change: StateChange
  readonly sentence: Line
  readonly milestones: readonly Line[]
  readonly details: readonly Line[]
  readonly footer: Line
  readonly organizationId: string | undefined
  readonly serviceId: string | undefined
  readonly serverUrl: string | undefined
}

interface FinishedRun {
  readonly document: RunSubject & { readonly operation: string; readonly status: Status }
  readonly blocks: readonly Block[]
  keyLines(): readonly Line[]
  readonly milestones: readonly Line[]
  readonly error?: Error
}

export const originOf = (env: Variables, issueNumber: number | undefined): Origin => ({
  repository: isRepositoryName(env.GITHUB_REPOSITORY ?? '') ? env.GITHUB_REPOSITORY : undefined,
  workflow: env.GITHUB_WORKFLOW || undefined,
  runUrl: runPageOf(env),
  issueUrl: issueNumber === undefined ? undefined : issuePageOf(env, issueNumber),
})

export function messageOf(run: FinishedRun, facts: Origin & { readonly title: Inline; readonly change: StateChange }): Message {
  const { document, blocks, milestones, error } = run
  const lineOf = (kind: 'verdict' | 'footer'): Line =>
    blocks.flatMap((block) => (block.kind !== kind ? [] : block.kind === 'verdict' ? verdictLine(block) : block.line))
  // Reasons that did not fit into the first line.
  const reasons = blocks[1]?.kind === 'list' ? blocks[1].items : []
  // The first line of an error says only that there was one.
  const [first = [], ...more] =
    error === undefined
      ? [
          lineOf('verdict'),
          ...listAtMost(reasons, maxLines, andOthers),
          ...diagnosticLines(run),
          ...listAtMost(run.keyLines(), maxLines, andOthers),
        ]
      : run.keyLines()
  const { operation, status, organizationId, serviceId, serverUrl } = document
  return {
    ...facts,
    operation: operation || 'watchkeeper',
    status,
    sentence: first,
    milestones: listAtMost(milestones, maxLines, andOthers),
    // The result in one line is the verdict of a run that passes.
    details: more.filter((line) => toPlainText(line) !== toPlainText(first)),
    footer: lineOf('footer'),
    organizationId,
    serviceId,
    serverUrl,
  }
}

const maxLines = 5

const andOthers = (count: number) => say`… and ${count} more`

/** A verdict about files has only the number of their errors or warnings. */
function diagnosticLines({ blocks, document: { status } }: FinishedRun) {
  const severity = status === 'warn' ? 'warning' : 'error'
  const diagnostics = blocks.flatMap((block) => (block.kind === 'diagnostics' ? block.diagnostics : []))
  const decisive = diagnostics.filter((one) => one.severity === severity)
  const lines = decisive.map(
    ({ location, message }) => say`${formatLocation(location)}: ${untrustedSentence(message.split('\n', 1)[0] ?? '')}`,
  )
  return listAtMost(lines, maxLines, andOthers)
}

/** A failed run whose last state is unknown sends one, so that no failure is lost. */
export function isDue(mode: 'change' | 'failure' | 'always', { status, change, milestones }: Message): boolean {
  if (mode === 'always' || milestones.length > 0) return true
  const isFailure = status === 'fail' || status === 'error'
  if (mode === 'failure') return isFailure
  return change === 'failing' || change === 'passing' || (change === 'unknown' && isFailure)
}

/** `Cost gate: Budget exceeded: 363.67 of 100.00 CHC (364%).` A receiver may show no more in a list of messages. */
export function firstLineOf({ title, status, change, sentence }: Message): Line {
  const state = change === 'passing' ? 'passes again. ' : status === 'error' ? 'did not complete. ' : ''
  const name = title.kind === 'trusted' ? [strong(`${title.text}:`)] : [title, trusted(':')]
  return [...name, trusted(` ${state}`), ...sentence]
}

/** Empty where nothing is known. */
export function originLineOf({ repository, workflow, project, environment }: Origin): Line {
  const parts = [
    repository && say`${repository}`,
    workflow && say`${workflow}`,
    project && project !== repository && say`project ${project}`,
    environment && say`environment ${environment}`,
  ]
  return join(
    parts.filter((part) => typeof part === 'object'),
    ' · ',
  )
}
