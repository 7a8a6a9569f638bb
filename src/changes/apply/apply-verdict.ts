import { kindLabels } from '../../kinds/kind-names.ts'
import { errorsIn } from '../../platform/core/diagnostics.ts'
import { counted, type Line, say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { listFirst } from '../../platform/core/text.ts'
import type { Verdict } from '../../platform/report/report.ts'
import type { StopReason } from '../../sync/apply/apply-state.ts'
import { type OutcomeKind, undone } from '../../sync/decide/change.ts'
import { isAboutHeld } from '../../sync/decide/hold.ts'
import { judgeDiagnostics } from '../plan/plan-report.ts'
import type { PlannedObject, PlanResult } from '../plan/plan-result.ts'

export type Applied = PlanResult & {
  readonly stopped?: StopReason | undefined
  readonly notEvaluated?: readonly { readonly key: string; readonly dueAt?: string | undefined }[] | undefined
}

export const withOutcome = ({ objects }: Applied, kind: OutcomeKind): readonly PlannedObject[] =>
  objects.filter(({ outcome }) => outcome === kind)

export function judgeApply(result: Applied): Verdict {
  const [unknown = [], failed = [], skipped = []] = undone.map((kind) => withOutcome(result, kind))
  const isWhole = unknown.length + failed.length + skipped.length === 0
  if (isWhole && result.stopped === undefined) return judgeWhole(result)
  const reasons = [
    ...(unknown.length > 0
      ? [say`${counted(unknown.length, 'object')} may have been written, because the server did not answer. Run apply again`]
      : []),
    ...failed
      .slice(0, 1)
      .map((first) => say`${failedWords(failed.length)}${wordsFor(first)}: ${untrustedSentence(firstLine(first.message))}`),
    ...(result.stopped === undefined
      ? []
      : [say`stopped ${trusted(isWhole ? 'before the writes were verified, ' : '')}because ${trusted(result.stopped.message)}`]),
  ]
  const [first] = [...failed, ...unknown]
  const became = failed.length > 0 ? 'was not written' : 'may have been written'
  return {
    status: 'error',
    ...(first !== undefined && { cause: say`${wordsFor(first)} ${trusted(became)}` }),
    reasons: reasons.length > 0 ? reasons : [say`${counted(skipped.length, 'object')} skipped`],
    ...exitFor(result),
  }
}

/** Everything was written; the errors that are left are not in the files. */
function judgeWhole(result: Applied): Verdict {
  const verdict = judgeDiagnostics(result)
  // A run that only leaves objects as they are is one for a person, as in a plan.
  if (verdict.status !== 'fail' || (!result.changed && errorsIn(result.diagnostics).every(isAboutHeld))) return verdict
  const errors = errorsIn(result.diagnostics).map(({ message }) => untrustedSentence(message))
  return { status: 'error', reasons: listFirst(errors, 1, (count) => say`${count} more`), ...exitFor(result) }
}

const failedWords = (count: number): Line => (count === 1 ? [] : say`${count} objects failed, the first of them `)

export const wordsFor = ({ kind, key, name }: PlannedObject): Line => say`${trusted(kindLabels[kind])} ${key || name}`

export const firstLine = (text = ''): string => text.split('\n', 1)[0] ?? ''

function exitFor(result: Applied): Pick<Verdict, 'exit'> {
  if (result.changed || withOutcome(result, 'unknown').length > 0) return { exit: 'partlyApplied' }
  if (result.stopped?.kind === 'canceled') return { exit: 'canceled' }
  return result.stopped?.kind === 'denied' ? { exit: 'denied' } : {}
}
