import * as z from 'zod'
import { onFailedEvaluation } from '../../kinds/alert/schedule.ts'
import { comparable, compareBodies } from '../../kinds/compare.ts'
import { addressOf, kindNames, sections } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { longDigestOf } from '../../kinds/marker.ts'
import type { Target } from '../../platform/api/path.ts'
import { filePath, grouped } from '../../platform/operation/inputs.ts'
import type { Context } from '../../platform/operation/operation.ts'
import { diagnosticReports } from '../../platform/report/sarif.ts'
import { type Action, actions, type Change, staysAsItIs } from '../../sync/decide/change.ts'
import type { Prune } from '../../sync/declarations/find-declarations.ts'
import { hasErrors, type PlanningResult } from '../../sync/plan/make-plan.ts'
import { planInput } from '../inputs.ts'
import { planRules } from '../rules.ts'
import { findEvaluationProblems } from './evaluations.ts'
import { planDetails, planOutput, toPlanResult } from './plan-result.ts'

// A plan file holds digests of what was reviewed. `apply` plans again, and writes only if the new plan is the same.

/** A name that programs take for stdout would be a file of that name. */
export const planFileInput = filePath(
  'Holds the plan: plan and drift save it, apply reads it. An apply makes exactly its changes, or none if the files or the service have changed since.',
  'a path; apply reads it inside the workspace',
)
  .refine((path) => path !== '-')
  .optional()

const planFileVersion = 1

const plannedChange = z.object({
  kind: z.enum(kindNames),
  key: z.string(),
  id: z.string().optional(),
  action: z.enum(actions),
  digest: z.string(),
})

export const planFileSchema = z.object({
  kind: z.literal('watchkeeper-plan'),
  version: z.literal(planFileVersion),
  project: z.string(),
  environment: z.string().optional(),
  organizationId: z.string().optional(),
  serviceId: z.string().optional(),
  serverUrl: z.string().optional(),
  prune: z.literal([true, false, 'forget']),
  digest: z.string(),
  seen: z.partialRecord(z.enum(kindNames), z.int()),
  changes: z.array(plannedChange),
})

export type PlanFile = z.output<typeof planFileSchema>

type PlannedChange = z.output<typeof plannedChange>

export function toPlanFile(
  { plan, kinds, environment }: Pick<PlanningResult, 'plan' | 'kinds' | 'environment'>,
  target: Target,
  prune: Prune,
): PlanFile {
  const changes = plan.changes.filter(({ action }) => action !== 'unchanged').map((change) => toPlannedChange(change, kinds))
  const content = { project: plan.project, ...(environment !== undefined && { environment }), ...target, prune, seen: plan.seen, changes }
  return { kind: 'watchkeeper-plan', version: planFileVersion, digest: longDigestOf(content), ...content }
}

/** Whether the file is unchanged since `plan` wrote it. The digest has no secret, so this finds mistakes, not attacks. */
export const isIntact = ({ kind: _, version: __, digest, ...content }: PlanFile): boolean => longDigestOf(content) === digest

function toPlannedChange(change: Change, kinds: Kinds): PlannedChange {
  const { key, id, action, desired, stored } = change
  const kind = kinds[change.kind]
  const sides =
    desired === undefined || stored === undefined
      ? { before: stored && comparable(kind, kind.toBody(stored)), after: desired && comparable(kind, desired) }
      : compareBodies(kind, desired, stored)
  return { kind: kind.name, key, ...(id !== undefined && { id }), action, digest: longDigestOf({ id, action, ...sides }) }
}

export function movedSince(agreed: PlanFile, now: PlanFile): readonly string[] {
  const others = (['project', 'organizationId', 'serviceId', 'serverUrl', 'prune'] as const).flatMap((field) =>
    agreed[field] === now[field]
      ? []
      : [`${field} was ${String(agreed[field] ?? 'not set')} and is now ${String(now[field] ?? 'not set')}`],
  )
  const fewer = kindNames.flatMap((name) => {
    const [count, left] = [agreed.seen[name] ?? 0, now.seen[name] ?? 0]
    return left < count ? [`there were ${count} objects under ${sections[name]}, and there are ${left}`] : []
  })
  return [...others, ...fewer, ...changesMoved(agreed.changes, now.changes)]
}

const addressOfPlanned = ({ kind, key, id = '' }: PlannedChange) => addressOf({ kind, key: key || id })

function changesMoved(agreed: PlanFile['changes'], now: PlanFile['changes']) {
  const left = Map.groupBy(now, addressOfPlanned)
  const moved = agreed.flatMap((change) => {
    const name = addressOfPlanned(change)
    const current = takeLike(change, left.get(name) ?? [])
    if (current?.digest === change.digest) return []
    const now = current && (current.action === change.action ? 'its fields differ' : `the plan is to ${actionWords[current.action]}`)
    return [`${name}: the plan was to ${actionWords[change.action]}; now ${now ?? 'no change is needed'}`]
  })
  return [
    ...moved,
    ...[...left].flatMap(([name, changes]) =>
      changes.map(({ action }) => `${name}: the plan did not contain it; now the plan is to ${actionWords[action]}`),
    ),
  ]
}

function takeLike({ digest }: PlannedChange, candidates: PlannedChange[]): PlannedChange | undefined {
  const same = candidates.findIndex((one) => one.digest === digest)
  return candidates.splice(Math.max(same, 0), 1)[0]
}

const actionWords: Readonly<Record<Action, string>> = {
  create: 'create it',
  update: 'update it',
  replace: 'replace it',
  delete: 'delete it',
  adopt: 'adopt it',
  mark: 'update its marker',
  release: 'release it',
  held: 'leave it as it is',
  unchanged: 'leave it',
}

export const planShape = {
  effect: 'read' as const,
  scope: 'service-or-server' as const,
  input: planInput.extend({
    ...grouped('Gates', { onFailedEvaluation: onFailedEvaluation.default('warn') }),
    ...grouped('Output', { planFile: planFileInput }),
  }),
  output: planOutput.extend({
    needsApply: z.boolean().describe('Whether `apply` would write anything, ownership markers included.'),
    planFile: z.string().describe('Path of the plan file. Empty if no plan was written.'),
  }),
  details: planDetails.extend({
    planContent: planFileSchema.optional().describe('The content of `plan-file`: digests of the files and the objects.'),
  }),
  example: { files: ['alerts.yml'], project: 'shop/observability' },
  reports: diagnosticReports(planRules),
  // The plan file is essential, because the output plan-file names it, and a later job applies it.
  files: ({ planFile: path, planContent }: { readonly planFile: string; readonly planContent?: PlanFile | undefined }) =>
    path === '' ? [] : [{ input: 'planFile', path, content: `${JSON.stringify(planContent, null, 2)}\n`, isEssential: true as const }],
}

export async function toPlanOrDriftResult(
  context: Context<'read', 'service-or-server'>,
  planned: PlanningResult,
  input: z.output<(typeof planShape)['input']>,
) {
  const alerts = planned.storedObjects?.alert ?? []
  const problems = findEvaluationProblems(planned.plan, alerts, { policy: input.onFailedEvaluation, nowMs: context.clock.now() })
  const result = {
    ...(await toPlanResult({ ...planned, diagnostics: [...planned.diagnostics, ...problems] })),
    needsApply: planned.plan.changes.some((change) => !staysAsItIs(change)),
  }
  if (input.planFile === undefined || hasErrors(planned.diagnostics)) return { ...result, planFile: '' }
  const planContent = toPlanFile(planned, context.service, input.prune)
  return { ...result, planFile: input.planFile, planContent }
}
