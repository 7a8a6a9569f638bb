import type { Diagnostic } from '../core/diagnostics.ts'
import { type Line, say } from '../core/line.ts'
import { listFirst } from '../core/text.ts'
import type { Part, Status } from './blocks.ts'

export interface Verdict {
  /** `error`: the operation did not complete; `warn-only` does not apply to it. */
  readonly status: Status
  /** Empty for `pass`. */
  readonly reasons: readonly Line[]
  /**
   * One or more whole sentences for the first line of the report, the reason first. The reasons are then more sentences. Without it, the
   * first line consists of the headline and the reasons.
   */
  readonly sentence?: Line
  /**
   * Why it fails, in a few words without figures, for the title of an issue. Without it, the title has the first error of the files, or the
   * start of the sentence or the first reason.
   */
  readonly cause?: Line
  /** The exit code of the command line, where it is not that of a failed gate or an error. */
  readonly exit?: 'input' | 'partlyApplied' | 'denied' | 'canceled'
}

/** The verdict without a reason to warn or fail. */
export const pass: Verdict = { status: 'pass', reasons: [] }

/** Why a run warns or fails, in one or more whole sentences. */
export interface Reason {
  readonly level: 'warn' | 'fail'
  readonly line: Line
  /** For a title, where the line begins with figures. */
  readonly cause?: Line
}

/** Failures come first, so that no warning hides them. The first reason is the first line of the report. */
export function verdictOf(reasons: readonly Reason[]): Verdict {
  const [first, ...others] = reasons.toSorted((a, b) => Number(a.level === 'warn') - Number(b.level === 'warn'))
  if (first === undefined) return pass
  const lines = others.map(({ line }) => line)
  return {
    status: first.level,
    sentence: first.line,
    reasons: listFirst(lines, 10, (count) => say`… and ${count} more.`),
    ...(first.cause && { cause: first.cause }),
  }
}

/** A diagnostic beside the user's files. One about an object of the service or an input has no location. */
export type Annotation = Omit<Diagnostic, 'location'> & Partial<Pick<Diagnostic, 'location'>>

export interface Report {
  /** The result in one line that makes sense by itself. */
  readonly headline: Line
  readonly blocks: readonly Part[]
  /** The services of the report for its last line, where the names are known. Otherwise the last line has the service id. */
  readonly services?: Line
  /** Shown beside the lines of the user's files. */
  readonly annotations?: readonly Annotation[]
  /** Events that are worth a notification whatever the verdict is. */
  readonly milestones?: readonly Line[]
}
