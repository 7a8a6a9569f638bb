import * as z from 'zod'
import type { FieldChange } from '../../kinds/compare.ts'
import { kindNames } from '../../kinds/kind-names.ts'
import { diagnosticSchema } from '../../platform/core/diagnostics.ts'
import { withoutUndefined } from '../../platform/core/keys.ts'
import { tileMarks } from '../../platform/report/blocks.ts'
import {
  actions,
  type Change,
  isDifference,
  isHeld,
  isSuccess,
  type Outcome,
  origins,
  outcomeKinds,
  takeovers,
} from '../../sync/decide/change.ts'
import type { PlanningResult } from '../../sync/plan/make-plan.ts'
import { changesInFiles } from '../../sync/query-alerts/query-changes.ts'

export const planOutput = z.object({
  toDelete: z.int().describe('Objects that no file declares. Only with `prune`.'),
  changed: z.boolean().describe('Whether the service differs from the files. For `apply`: whether anything was written.'),
})

export const changedLine = z.object({ sign: z.enum(['+', '-', ' ']), text: z.string() })

const fieldChange = z.object({
  path: z.string().describe('Path of the field, such as `tiles["Error rate"].config.where`.'),
  before: z.unknown().optional().describe('Absent for an added field.'),
  after: z.unknown().optional().describe('Absent for a removed field.'),
  lines: z.array(changedLine).optional().describe('For long texts: the differences, line by line.'),
})

const tile = z.object({
  name: z.string(),
  x: z.number(),
  y: z.number(),
  w: z.number(),
  h: z.number(),
  marks: z.array(z.enum(tileMarks)).describe('Empty for a tile that stays as it is.'),
})

const layout = z.object({
  grids: z
    .array(z.object({ title: z.string().describe('The container and its tab.'), before: z.array(tile), after: z.array(tile) }))
    .describe('Each container and tab with a difference.'),
  undrawn: z.int().describe('Unchanged tiles that are left out, because the dashboard has more than 30 tiles.'),
  lines: z.array(z.string()).describe('The layout, drawn in text of at most 60 columns.'),
})

export const newerFiles = z
  .object({ branch: z.string(), commit: z.string() })
  .optional()
  .describe('The head of the branch, where nothing was applied because files differ there from those that are checked out.')

const object = z.object({
  kind: z.enum(kindNames).describe('`dashboard`, `savedSearch`, `alert`, `webhook` or `source`.'),
  key: z.string().describe('The key in the files. For a delete, the key in the ownership marker, if it can be read.'),
  name: z.string(),
  action: z.enum(actions),
  id: z.string().optional(),
  file: z.string().optional(),
  line: z.int().optional(),
  instance: z.string().optional().describe('Of a file with `instances`: the key of the instance.'),
  origin: z
    .enum(origins)
    .optional()
    .describe(
      'What changed since the last apply, or since `pull` for an object that was never applied: the files, the service, both, or only what the object refers to or a secret (`references`). `decided`: `adopt` of the file says that the file counts. `unknown`: the marker does not tell.',
    ),
  takeover: z
    .enum(takeovers)
    .optional()
    .describe('What the files take the object over from: no owner, another key or name in this project, or the previous project.'),
  isTracked: z
    .literal(true)
    .optional()
    .describe('Present for an object without a marker that is as declared, and to which nothing is written.'),
  madeFrom: z.string().optional().describe('The SLO that makes it: `slos.KEY`.'),
  notes: z.array(z.string()).describe('Remarks for reviewers, such as the reason for a replacement.'),
  summary: z.string().optional().describe('Of an object to create: what it is, in one line.'),
  fields: z.array(fieldChange),
  rewrites: z
    .array(z.string())
    .optional()
    .describe('Names of the tiles that apply stores again, and that may lose the parts that the API does not return.'),
  url: z
    .string()
    .optional()
    .describe('Page of the dashboard, or of what the alert watches. Only where the address of the web app is known.'),
  layout: layout.optional().describe('For a dashboard whose tiles differ: their places before and after.'),
  outcome: z.enum(outcomeKinds).optional().describe('For `apply`: the outcome of the change.'),
  message: z.string().optional().describe('Why the change was not applied.'),
  serverChanged: z.array(fieldChange).optional().describe('Fields that the server stored with another value than the one sent.'),
})

export type PlannedObject = z.output<typeof object>

/** When both sides were the same. `pull` wrote down an object that was never applied. */
export const sinceWhen = ({ takeover }: PlannedObject): string => (takeover === 'unmanaged' ? 'pull' : 'the last apply')

export const planDetails = z.object({
  toCreate: z.int().describe('Objects that do not exist yet.'),
  toUpdate: z.int().describe('Objects that differ from the files.'),
  toReplace: z.int().describe('Objects that apply deletes and creates again.'),
  unchanged: z.int().describe('Objects that are as declared.'),
  unmanaged: z.int().describe('Objects of the service without an ownership marker that no file declares.'),
  project: z.string().describe('The project that owns the objects.'),
  environment: z.string().optional().describe('The environment, if `env` is set.'),
  serviceName: z.string().optional().describe('The name of the service, where a comment, an issue or a message shows it.'),
  files: z.array(z.string()).describe('The files that were read.'),
  objects: z.array(object).describe('All objects, including unchanged ones, in the order of apply.'),
  unmanagedKinds: z.array(z.enum(kindNames)).describe('The kinds of the unmanaged objects.'),
  toAdopt: z.int().describe('Objects that are as declared and only get the ownership marker.'),
  toHold: z.int().describe('Objects that differ from the files and stay as they are, because a person may have made the difference.'),
  tracked: z
    .int()
    .describe('Objects without a marker that are as declared. Nothing is written to them, because that could lose hidden parts.'),
  toRelease: z.int().describe('Objects that lose their marker and become unmanaged, with `prune: forget` or `repair: duplicates`.'),
  toMark: z
    .int()
    .describe('Objects that are as declared and only get the repository, or the digest of a changed declaration, in their marker.'),
  orphans: z
    .array(z.object({ kind: z.enum(kindNames), key: z.string(), id: z.string(), name: z.string() }))
    .describe("Objects with this project's marker that no file declares, and that are kept."),
  slos: z
    .array(
      z.object({
        key: z.string(),
        name: z.string(),
        summary: z.string().describe('The objective, and who is notified when, in one line.'),
        objective: z.number().describe('Percentage of good events.'),
        window: z.string(),
        minEvents: z.int(),
        noDataAlert: z.boolean().describe('Whether an alert notices that there are no events.'),
        alerts: z.array(
          z.object({
            key: z.string(),
            recipient: z.enum(['page', 'ticket']),
            burnRate: z.number().describe('Threshold of both windows.'),
            longWindow: z.string(),
            shortWindow: z.string(),
            interval: z.string(),
            budgetShare: z.number().describe('Percentage of the error budget that is spent when the alert fires first.'),
          }),
        ),
      }),
    )
    .optional()
    .describe('The SLOs of the files. Their dashboards and alerts are among `objects`.'),
  uncheckedCount: z.int().describe('Number of changed dashboards that the server did not check.'),
  diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes.'),
})

export type PlanResult = z.output<typeof planOutput> & z.output<typeof planDetails>

type Described = ReadonlyMap<Change, PlannedObject>

export const describeChanges = async ({ plan, found }: PlanningResult): Promise<Described> =>
  new Map(
    await Promise.all(
      [...changesInFiles(plan.changes, found.objects)].map(async ([change, shown]) => [change, await describe(shown)] as const),
    ),
  )

export async function toPlanResult(planned: PlanningResult, outcomes: readonly Outcome[] = [], described?: Described): Promise<PlanResult> {
  const { environment, serviceName, found, plan, diagnostics, uncheckedCount } = planned
  const slos = found.slos.length === 0 ? undefined : (await import('../../signals/slos/expand-slos.ts')).describeSlos(found.slos)
  const objects = new Map(described ?? (await describeChanges(planned)))
  const numberOf = (action: Change['action']): number => [...objects.values()].filter((object) => object.action === action).length
  for (const outcome of outcomes) {
    const object = objects.get(outcome.change) ?? (isSuccess(outcome.became) ? undefined : await describe(outcome.change))
    if (object !== undefined) objects.set(outcome.change, await withOutcome(object, outcomeInFile(object, outcome, outcomes)))
  }
  return {
    toCreate: numberOf('create'),
    toUpdate: numberOf('update'),
    toReplace: numberOf('replace'),
    toDelete: numberOf('delete'),
    unchanged: numberOf('unchanged') + numberOf('adopt') + numberOf('mark'),
    unmanaged: Object.values(plan.unmanaged ?? {}).reduce((sum, one) => sum + one, 0),
    changed: plan.changes.some(isDifference),
    project: plan.project,
    ...withoutUndefined({ environment, serviceName, slos }),
    files: [...found.paths],
    objects: [...objects].map(([change, one]) => {
      const url = isDifference(one) ? pageOf(change, planned) : undefined
      return url === undefined ? one : { ...one, url }
    }),
    unmanagedKinds: kindNames.filter((kind) => (plan.unmanaged?.[kind] ?? 0) > 0),
    toAdopt: numberOf('adopt'),
    toHold: numberOf('held'),
    tracked: [...objects.values()].filter(({ isTracked }) => isTracked).length,
    toMark: numberOf('mark'),
    toRelease: numberOf('release'),
    orphans: plan.orphans.map((one) => ({ ...one })),
    uncheckedCount,
    diagnostics: [...diagnostics],
  }
}

function pageOf({ kind, id, stored, desired, action }: Change, { kinds, uiUrl }: PlanningResult) {
  if (action === 'delete' || uiUrl === undefined) return undefined
  const page = kinds[kind].page?.({ ...(desired ?? stored), id })
  return page && `${uiUrl.replace(/(?<!\/)\/+$/, '')}/${page}`
}

async function describe(change: Change): Promise<PlannedObject> {
  const { kind, key, name, action, id, location: { file, line, instance } = {}, fields } = change
  // Not every change has these fields.
  const absent = {
    origin: undefined,
    takeover: undefined,
    madeFrom: undefined,
    summary: undefined,
    rewrites: undefined,
    isTracked: undefined,
  }
  const { origin, takeover, madeFrom, summary, rewrites, isTracked } = { ...absent, ...change }
  const mayDiffer = (action === 'update' || action === 'replace') && fields.some(({ path }) => path.startsWith('tiles'))
  const layout = mayDiffer ? (await import('./layouts.ts')).layoutOf(change) : undefined
  return {
    kind,
    key,
    name,
    action,
    ...withoutUndefined({ id, file, line, instance, origin, takeover, isTracked, madeFrom, summary }),
    // What to do about a held object is in its diagnostic.
    notes: isHeld(change) ? [change.reason, ...change.notes] : [...change.notes],
    fields: await Promise.all(fields.map(withLines)),
    ...(rewrites !== undefined && { rewrites: [...rewrites] }),
    ...withoutUndefined({ layout }),
  }
}

/** The outcome of what differs: of an alert that is as declared, the tile with its query. */
function outcomeInFile({ action }: PlannedObject, outcome: Outcome, outcomes: readonly Outcome[]): Outcome {
  if (action === 'unchanged' && isSuccess(outcome.became)) return { ...outcome, became: 'unchanged' }
  if (action !== 'update' || !['unchanged', 'marked', 'adopted'].includes(outcome.became)) return outcome
  const { became, message } = outcomes.find(({ change }) => change.id === outcome.change.desired?.dashboardId) ?? outcome
  return { ...outcome, became, message }
}

const withOutcome = async (object: PlannedObject, { id, became, message, serverChanged }: Outcome): Promise<PlannedObject> => ({
  ...object,
  ...(id !== undefined && { id }),
  outcome: became,
  ...(message !== undefined && { message }),
  ...(serverChanged !== undefined && { serverChanged: await Promise.all(serverChanged.map(withLines)) }),
})

async function withLines(field: FieldChange): Promise<z.output<typeof fieldChange>> {
  const { before, after } = field
  const isLong =
    typeof before === 'string' && typeof after === 'string' && (/\n/.test(before + after) || before.length + after.length > 240)
  if (!isLong) return { ...field }
  const { diffLines } = await import('diff')
  const lines = diffLines(before, after, { maxEditLength: 2000 })?.flatMap(({ added, removed, value }) => {
    const sign = added ? ('+' as const) : removed ? ('-' as const) : (' ' as const)
    return value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => ({ sign, text }))
  })
  return { ...field, ...(lines !== undefined && { lines }) }
}
