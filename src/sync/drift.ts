import { counted, type Line, say, trusted, untrusted } from '../core/line.ts'
import { defineOperation, type Verdict } from '../operation/operation.ts'
import type { Block } from '../report/blocks.ts'
import { sectionNouns } from '../resources/resource-type.ts'
import { planFiles, planShape, runPlan } from './plan.ts'
import { judgeDiagnostics, objectBlocks, type PlannedObject, type PlanResult, planFacts, planWords } from './plan-report.ts'

export const drift = defineOperation({
  ...planShape,
  summary: 'Fails when the service differs from the files, and says who must act. Sends no request that writes.',
  run: runPlan,
  judge: judgeDrift,
  report: (result) => ({
    headline: result.diagnostics.some(({ severity }) => severity === 'error')
      ? say`It is unknown whether there is drift`
      : result.changed || result.orphans.length > 0
        ? say`${result.project} has drifted`
        : say`No drift: the service is as the files say`,
    blocks: [planFacts(result), { kind: 'diagnostics', diagnostics: result.diagnostics }, actorTable(result), ...objectBlocks(result)],
    annotations: result.diagnostics,
  }),
  files: (result, input) => planFiles(result, input),
})

function judgeDrift(result: PlanResult): Verdict {
  const verdict = judgeDiagnostics(result)
  if (verdict.status === 'fail') return verdict
  const left = result.orphans.length
  if (!result.changed && left === 0) return verdict
  const reasons = [...(result.changed ? [planWords(result)] : []), ...(left > 0 ? [say`${counted(left, 'object')} in no file`] : [])]
  return { status: 'fail', reasons }
}

/** Which side changed, and therefore who must act. */
function whoActs({ action, origin }: PlannedObject): Line {
  if (action === 'create') return say`Only in the files: apply them. If it was deleted in the service, apply brings it back`
  if (action === 'delete') return say`Only in the service: apply with prune deletes it`
  if (origin === 'service') return say`Changed in the service: apply undoes it, pull keeps it`
  if (origin === 'files')
    return say`Changed in the files since the last apply, and perhaps in the service too: look at the plan, then apply`
  return say`Never applied: apply the files`
}

function actorTable({ objects, orphans }: PlanResult): Block {
  const drifted = objects.filter(({ action }) => action !== 'unchanged' && action !== 'adopt')
  const row = ({ section, key, name }: Pick<PlannedObject, 'section' | 'key' | 'name'>, who: Line): readonly Line[] => [
    [trusted(sectionNouns[section])],
    [untrusted(key || name)],
    who,
  ]
  return {
    kind: 'table',
    columns: [{ title: 'Kind' }, { title: 'Key' }, { title: 'What happened, and who acts' }],
    rows: [
      ...drifted.map((object) => row(object, whoActs(object))),
      ...orphans.map((one) => row(one, say`Only in the service: put it into the files with pull, or delete it with prune`)),
    ],
  }
}
