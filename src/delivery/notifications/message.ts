import { type Inline, type Line, say, strong, trusted, untrusted } from '../../platform/core/line.ts'
import { listFirst } from '../../platform/core/text.ts'
import type { Block, Status } from '../../platform/report/blocks.ts'

/** How the state differs from that of the last run. `unknown`: nothing keeps it, or it could not be read. */
export type StateChange = 'failing' | 'passing' | 'none' | 'unknown'

/** The content of a notification. */
export interface Message {
  /** Untrusted when it is unknown. */
  readonly operation: Inline
  readonly status: Status
  readonly change: StateChange
  /** The first line of the report. */
  readonly sentence: Line
  readonly milestones: readonly Line[]
  readonly details: readonly Line[]
  /** Organization, service and time of the run. */
  readonly footer: Line
  readonly organizationId: string | undefined
  readonly serviceId: string | undefined
  readonly serverUrl: string | undefined
  /** Page of the run. Trusted. */
  readonly runUrl: string | undefined
}

/** The parts of a finished run that a message needs. */
interface FinishedRun {
  readonly document: Pick<Message, 'status'> & Partial<Pick<Message, 'organizationId' | 'serviceId' | 'serverUrl'>>
  readonly blocks: readonly Block[]
  readonly keyLines: readonly Line[]
  readonly milestones: readonly Line[]
  /** Error of an operation that gave no result. */
  readonly error?: Error
}

/** Makes the message about a finished run. */
export function messageOf(run: FinishedRun, facts: Pick<Message, 'operation' | 'change' | 'runUrl'>): Message {
  const { document, blocks, keyLines, milestones, error } = run
  const lineOf = (kind: 'verdict' | 'footer'): Line => blocks.flatMap((block) => (block.kind === kind ? block.line : []))
  // The first line of an error says only that there was one.
  const [sentence = [], ...details] = error === undefined ? [lineOf('verdict'), ...otherReasons(blocks), ...keyLines] : keyLines
  const { status, organizationId, serviceId, serverUrl } = document
  return { ...facts, status, sentence, milestones, details, footer: lineOf('footer'), organizationId, serviceId, serverUrl }
}

const maxReasons = 5

/** The reasons that did not fit into the first line. They are a list below it. */
function otherReasons([, second]: readonly Block[]): readonly Line[] {
  const reasons = second?.kind === 'list' ? second.items : []
  return listFirst(reasons, maxReasons, (count) => say`… and ${count} more`)
}

/** Whether the run sends a message. A failed run whose last state is unknown sends one, so that no failure is lost. */
export function isDue(mode: 'change' | 'failure' | 'always', { status, change, milestones }: Message): boolean {
  if (mode === 'always' || milestones.length > 0) return true
  const isFailure = status === 'fail' || status === 'error'
  if (mode === 'failure') return isFailure
  return change === 'failing' || change === 'passing' || (change === 'unknown' && isFailure)
}

const outcomes: Readonly<Record<Status, string>> = { pass: 'passed', warn: 'has a warning', fail: 'failed', error: 'did not complete' }

/** `usage-cost failed`. */
export function titleOf({ operation, status, change }: Message): Line {
  const outcome = change === 'passing' ? 'passes again' : outcomes[status]
  return operation.kind === 'trusted' ? [strong(`${operation.text} ${outcome}`)] : [untrusted(operation.text), trusted(` ${outcome}`)]
}
