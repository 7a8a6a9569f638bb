import { counted, type Line, say, trusted, untrusted } from '../core/line.ts'
import { inEnvironment } from '../declarations/environment.ts'
import { defineOperation, type Verdict } from '../operation/operation.ts'
import type { Block } from '../report/blocks.ts'
import { sectionNouns } from '../resources/section.ts'
import { isDifference } from './plan/change.ts'
import { isChangedTwice, isPlanWrong, judgeDiagnostics, objectBlocks, planFacts, planWords, toAnnotations } from './plan/plan-report.ts'
import type { PlannedObject, PlanResult } from './plan/plan-result.ts'
import { planFiles, planShape, runPlan } from './plan.ts'

export const drift = defineOperation({
  ...planShape,
  summary: 'Fails when the service differs from the files, and shows which side changed, without writing.',
  run: runPlan,
  judge: judgeDrift,
  report: (result) => ({
    headline: isPlanWrong(result)
      ? say`The drift check${inEnvironment(result)} failed`
      : result.changed || result.orphans.length > 0
        ? say`${result.project} has drifted${inEnvironment(result)}`
        : say`No drift${inEnvironment(result)}: the service matches the files`,
    blocks: [
      planFacts(result),
      { kind: 'diagnostics', diagnostics: result.diagnostics },
      actorTable(result),
      ...objectBlocks(result, { before: 'service', after: 'file' }),
    ],
    annotations: toAnnotations(result),
  }),
  files: (result, input, blocks) => planFiles(result, input, blocks),
})

function judgeDrift(result: PlanResult): Verdict {
  const verdict = judgeDiagnostics(result)
  const left = result.orphans.length
  if (isPlanWrong(result) || (!result.changed && left === 0)) return verdict
  const reasons = [...(result.changed ? [planWords(result)] : []), ...(left > 0 ? [say`${counted(left, 'undeclared object')}`] : [])]
  return { status: 'fail', reasons: [...reasons, ...(verdict.status === 'fail' ? verdict.reasons : [])] }
}

/** Which side changed, and therefore who must act. */
function whoActs(object: PlannedObject, isWrong: boolean): Line {
  const { action, origin } = object
  if (isWrong) return say`Apply changes nothing until the errors are corrected`
  if (action === 'create') return say`Only in the files. Apply creates it, even if it was deleted in the service`
  if (action === 'delete') return say`Only in the service. Apply with prune deletes it`
  if (origin === 'service') return say`Changed in the service. Apply reverts the change, pull with drifted-only keeps it`
  if (origin === 'files' && isChangedTwice(object))
    return say`Changed in the files since the last apply, and the UI changed it, too. Apply reverts the change of the UI`
  if (origin === 'files') return say`Changed in the files since the last apply. Review the plan, then apply`
  return say`Never applied, or changed in the files or the service. Review the plan, then apply`
}

function actorTable(result: PlanResult): Block {
  const { objects, orphans } = result
  const drifted = objects.filter(isDifference)
  const row = ({ section, key, name }: Pick<PlannedObject, 'section' | 'key' | 'name'>, who: Line): readonly Line[] => [
    [trusted(sectionNouns[section])],
    [untrusted(key || name)],
    who,
  ]
  return {
    kind: 'table',
    columns: [{ title: 'Kind' }, { title: 'Key' }, { title: 'Cause and next step' }],
    rows: [
      ...drifted.map((object) => row(object, whoActs(object, isPlanWrong(result)))),
      ...orphans.map((one) => row(one, say`Only in the service. Add it to the files with pull, or delete it with prune`)),
    ],
  }
}
