// Owns what there is to tell of one run, and when it is worth telling. Pure.
import type { Block, Status } from '../report/blocks.ts'

export interface News {
  readonly operation: string
  readonly status: Status
  /** A gate failed, or nothing could be judged; also where that is only a warning. */
  readonly hasFailed: boolean
  /** The operation says that it changed something, or would. */
  readonly hasChanges: boolean
  /** Why it is no pass; empty for one. */
  readonly reason: string
  readonly blocks: readonly Block[]
  /** When the run began to look, milliseconds since the epoch. */
  readonly atMs: number
}

export const isFailure = ({ status }: News): boolean => status === 'fail' || status === 'error'

export const isNoteworthy = ({ status, hasChanges }: News): boolean => status !== 'pass' || hasChanges

/** The clocks of two runners may differ by this much; a note from further ahead has a wrong date, and counts for nothing. */
const mostAheadMs = 5 * 60_000

/** A slow run must not speak over one that looked later. */
export const isOutdated = ({ atMs }: News, toldAtMs: number | undefined, nowMs: number): boolean =>
  toldAtMs !== undefined && toldAtMs > atMs && toldAtMs <= nowMs + mostAheadMs
