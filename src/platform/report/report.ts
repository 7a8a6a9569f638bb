import type { Location, Severity } from '../core/diagnostics.ts'
import { type Line, say } from '../core/line.ts'
import { listAtMost } from '../core/text.ts'
import type { Part, Status } from './blocks.ts'

export interface Verdict {
  /** `error`: the operation did not complete; `warn-only` does not apply to it. */
  readonly status: Status
  /** Empty for `pass`. */
  readonly reasons: readonly Line[]
  /**
   * Whole sentences for the first line of the report, the reason first. The reasons are then more sentences. Without it, the first line has
   * the headline and the reasons.
   */
  readonly sentence?: Line
  /**
   * Words without figures for the title of an issue. Default: the first error of the files, or the start of the sentence or the first
   * reason.
   */
  readonly cause?: Line
  /** Default: that of a failed gate or an error. */
  readonly exit?: 'input' | 'partlyApplied' | 'denied' | 'canceled'
}

export const pass: Verdict = { status: 'pass', reasons: [] }

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
    reasons: listAtMost(lines, 10, (count) => say`… and ${count} more.`),
    ...(first.cause && { cause: first.cause }),
  }
}

/** One about an object of the service or an input has no location. */
export interface Annotation {
  readonly rule: string
  readonly severity: Severity
  readonly message: string
  readonly location?: Location | undefined
}

export interface Report {
  readonly headline: Line
  readonly blocks: readonly Part[]
  /** Default: the service id. */
  readonly services?: Line
  readonly annotations?: readonly Annotation[]
  /** Events that are worth a notification whatever the verdict is. */
  readonly milestones?: readonly Line[]
}
