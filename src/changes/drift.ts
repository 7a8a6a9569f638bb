import * as z from 'zod'
import { onFailedEvaluation } from '../kinds/alert/schedule.ts'
import type { Target } from '../platform/api/path.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { counted, join, joinAtMost, say, toPlainText, trusted, uncut, untrustedSentence } from '../platform/core/line.ts'
import { capitalize } from '../platform/core/text.ts'
import { defineOperation } from '../platform/operation/operation.ts'
import type { Verdict } from '../platform/report/report.ts'
import { table } from '../platform/report/table.ts'
import { isDifference, spellOrigin } from '../sync/decide/change.ts'
import { forProject, inEnvironment } from '../sync/declarations/environment.ts'
import { commandFor, makePlan, type PlanningResult } from '../sync/plan/make-plan.ts'
import { defaultMaxDeletes } from './inputs.ts'
import { planShape, toPlanOrDriftResult } from './plan/plan-file.ts'
import {
  factsBesideHeadline,
  isPlanWrong,
  judgeDiagnostics,
  objectBlocks,
  objectWords,
  planWords,
  toAnnotations,
  withDiagnostics,
} from './plan/plan-report.ts'
import { type PlannedObject, type PlanResult, sinceWhen } from './plan/plan-result.ts'

export const drift = defineOperation({
  ...planShape,
  // A pull request must not fail because of an alert that it may repair. A check of what runs must.
  details: planShape.details.extend({
    applyCommand: z.string().optional().describe('The command that makes the service match the files, where they differ.'),
    pullCommand: z
      .string()
      .optional()
      .describe('The command that writes what changed in the service into the files, where that is possible.'),
  }),
  input: planShape.input.extend({ onFailedEvaluation: onFailedEvaluation.default('fail') }),
  summary: 'Fails when the service differs from the files, and shows which side changed, without writing.',
  async run(context, input) {
    const planned = await makePlan(context, { ...input, effect: 'read' })
    const result = await toPlanOrDriftResult(context, planned, input)
    return { ...result, ...commandsFor(result, planned, context.service) }
  },
  judge: judgeDrift,
  report: (result) => ({
    headline: isPlanWrong(result.diagnostics)
      ? say`The drift check${forProject(result)} failed`
      : result.changed || result.orphans.length > 0
        ? say`${result.project} has drifted${inEnvironment(result)}`
        : say`No drift${forProject(result)}: everything matches the files`,
    blocks: [
      factsBesideHeadline(result),
      withDiagnostics(result.diagnostics, [
        table(undefined, causes(result), {
          Objects: ({ names }) => joinAtMost(10, names),
          'Cause and next step': ({ who, isHeld }) => (isHeld ? say`Held, for the reason above` : who),
        }),
        {
          kind: 'list',
          items: [
            ...(result.applyCommand === undefined ? [] : [say`To make the service match the files: ${uncut(result.applyCommand)}`]),
            ...(result.pullCommand === undefined ? [] : [say`To keep what changed in the service: ${uncut(result.pullCommand)}`]),
          ],
        },
        objectBlocks(result, { before: 'service', after: 'file' }),
      ]),
    ],
    annotations: toAnnotations(result),
  }),
  keyLines: (result) => causes(result).map(({ names, who }) => say`${joinAtMost(3, names)}: ${who}`),
})

function judgeDrift(result: PlanResult): Verdict {
  const verdict = judgeDiagnostics(result.diagnostics)
  const left = result.orphans.length
  if (isPlanWrong(result.diagnostics) || (!result.changed && left === 0)) return verdict
  const reasons = [...(result.changed ? [planWords(result)] : []), ...(left > 0 ? [say`${counted(left, 'undeclared object')}`] : [])]
  const cause = say`the service differs from the files`
  return { status: 'fail', cause, reasons: [...reasons, ...(verdict.status === 'fail' ? verdict.reasons : [])] }
}

/** Both leave objects that are held as they are. */
function commandsFor(result: PlanResult, { request, project }: PlanningResult, service: Target) {
  if (isPlanWrong(result.diagnostics)) return {}
  const drifted = result.objects.filter(isDifference).filter(({ action }) => action !== 'held')
  const aim = { ...request, project, service }
  return {
    ...(drifted.length > 0 && { applyCommand: applyCommand(aim) }),
    ...(result.objects.some((one) => isDifference(one) && one.origin === 'service' && isInFile(one)) && {
      pullCommand: `${commandFor('pull', aim)} --only drifted`,
    }),
  }
}

function applyCommand(aim: PlanningResult['request'] & Parameters<typeof commandFor>[1]) {
  const { prune, maxDeletes, allowEmpty, repair = [] } = aim
  return [
    commandFor('apply', aim),
    ...(prune === false ? [] : [prune === true ? '--prune' : `--prune ${prune}`]),
    ...(maxDeletes === defaultMaxDeletes ? [] : [`--max-deletes ${maxDeletes}`]),
    ...(allowEmpty ? ['--allow-empty'] : []),
    ...repair.map((what) => `--repair ${what}`),
  ].join(' ')
}

/** pull edits no template, and nothing that files make of other objects. */
const isInFile = ({ instance, madeFrom }: PlannedObject) => instance === undefined && madeFrom === undefined

/** `listed`: the kinds of which the service has a declared object. */
function whoActs(object: PlannedObject, result: PlanResult, listed: ReadonlySet<PlannedObject['kind']>) {
  const { action, origin, instance, madeFrom, notes } = object
  if (isPlanWrong(result.diagnostics)) return say`Apply changes nothing until the errors are corrected`
  if (action === 'held') return say`Held: ${join(notes.map(untrustedSentence), '; ')}`
  if (action === 'create') {
    const only = say`Only in the files. Apply creates it`
    const isRemovable = isInFile(object) && object.kind !== 'source' && result.environment === undefined
    if (!isRemovable) return only
    // Otherwise the list may be wrong, and pull removes nothing because of it.
    return listed.has(object.kind)
      ? say`${only}. If someone deleted it, pull with ${trusted(spellInput('only', 'drifted-or-deleted'))} deletes it in the files, too`
      : say`${only}. If someone deleted it on purpose, remove its declaration: pull does not, because the service has no declared object of its kind`
  }
  if (action === 'delete') return say`In no file. Apply with ${trusted(spellInput('prune'))} deletes it`
  if (action === 'release') return say`In no file. Apply removes its marker, and keeps it`
  const place = instance === undefined ? madeFrom : `instances.${instance}`
  const changed = origin === undefined ? undefined : capitalize(spellOrigin(origin, sinceWhen(object)))
  if (origin === 'service' && place !== undefined)
    return say`Changed in the service. Apply reverts the change. To keep it, change the file, or ${place} in it`
  if (origin === 'service')
    return say`Changed in the service. Apply reverts the change, pull with ${trusted(spellInput('only', 'drifted'))} keeps it`
  return say`${trusted(changed ?? 'Never applied, or changed since')}. Review the plan, then apply`
}

/** Objects that need the same step are one cause. */
function causes(result: PlanResult) {
  const { objects, orphans } = result
  const listed = new Set(objects.flatMap(({ kind, file, id }) => (file !== undefined && id !== undefined ? [kind] : [])))
  const all = [
    ...objects.filter(isDifference).map((object) => ({ object, who: whoActs(object, result, listed), isHeld: object.action === 'held' })),
    ...orphans.map((object) => ({
      object,
      isHeld: false,
      who: say`In no file. Pull with ${trusted(spellInput('select', 'key=KEY'))} adds it, apply with ${trusted(spellInput('prune'))} deletes it`,
    })),
  ]
  return [...Map.groupBy(all, ({ who }) => toPlainText(who)).values()].map((same) => ({
    who: same[0]?.who ?? [],
    isHeld: same[0]?.isHeld === true,
    names: same.map(({ object }) => objectWords(object)),
  }))
}
