// Owns the result of plan, apply and drift: what is to be done, or was done, about each object.
import * as z from 'zod'
import { actions, type Change, type FieldChange, isDifference, type Plan } from '../../provision/change.ts'
import { type Outcome, outcomeKinds } from '../../provision/outcome.ts'
import { finding, findingToResult } from '../findings.ts'
import type { Planned } from './planning.ts'

const count = (what: string) => z.int().describe(what)

export const planOutput = z.object({
  toCreate: count('Objects that do not exist yet.'),
  toUpdate: count('Objects that differ.'),
  toReplace: count('Objects that must be deleted and created anew.'),
  toDelete: count('Objects that no file declares, with `prune`.'),
  unchanged: count('Objects that are as declared.'),
  changed: z.boolean().describe('Whether the service differs from the files; of `apply`, whether anything was written.'),
})

const line = z.object({ sign: z.enum(['+', '-', ' ']), text: z.string() })

const fieldChange = z.object({
  path: z.string().describe('Such as `tiles["Error rate"].config.where`.'),
  before: z.unknown().optional().describe('Absent where nothing was.'),
  after: z.unknown().optional().describe('Absent where nothing will be.'),
  lines: z.array(line).optional().describe('Of long texts: what of them differs, line by line.'),
})

const object = z.object({
  section: z.string().describe('`dashboards`, `savedSearches` or `alerts`.'),
  key: z.string().describe('The key in the files; of a delete the one in the mark, where it can be read.'),
  name: z.string(),
  action: z.enum(actions),
  id: z.string().optional(),
  file: z.string().optional(),
  line: z.int().optional(),
  origin: z.enum(['files', 'service']).optional().describe('Which side moved since the last apply, where that can be told.'),
  notes: z.array(z.string()).describe('Why it is replaced, and what goes with it.'),
  fields: z.array(fieldChange),
  outcome: z.enum(outcomeKinds).optional().describe('Of `apply`: what became of it.'),
  message: z.string().optional().describe('Why it was not done.'),
  serverChanged: z.array(fieldChange).optional().describe('What the server made of what was sent, where that is something else.'),
})

export type PlannedObject = z.output<typeof object>

export const planDetails = z.object({
  project: z.string().describe('Whose the objects are.'),
  files: z.array(z.string()).describe('The files that were read.'),
  objects: z.array(object).describe('Every object, unchanged ones included, in the order in which they are applied.'),
  toAdopt: count('Objects that are as declared, and that apply will mark as this project’s.'),
  leftovers: z
    .array(z.object({ section: z.string(), key: z.string(), id: z.string(), name: z.string() }))
    .describe("Objects with this project's mark that no file declares, and that stay."),
  uncheckedCount: count('Changed dashboards that the server was not asked about.'),
  findings: z.array(finding).describe('What is wrong, and what is worth knowing.'),
})

export type PlanResult = z.output<typeof planOutput> & z.output<typeof planDetails>

/** Every change as it is shown, without what became of it. */
export type Described = ReadonlyMap<Change, PlannedObject>

export const describeChanges = async ({ changes }: Plan): Promise<Described> =>
  new Map(await Promise.all(changes.map(async (change) => [change, await describe(change)] as const)))

export async function toPlanResult(planned: Planned, outcomes: readonly Outcome[] = [], described?: Described): Promise<PlanResult> {
  const { found, plan, findings, uncheckedCount } = planned
  const numberOf = (action: Change['action']): number => plan.changes.filter((change) => change.action === action).length
  const objects = new Map(described ?? (await describeChanges(plan)))
  for (const outcome of outcomes) {
    const object = objects.get(outcome.change)
    if (object !== undefined) objects.set(outcome.change, await withOutcome(object, outcome))
  }
  return {
    toCreate: numberOf('create'),
    toUpdate: numberOf('update'),
    toReplace: numberOf('replace'),
    toDelete: numberOf('delete'),
    unchanged: numberOf('unchanged') + numberOf('adopt'),
    changed: plan.changes.some(isDifference),
    project: plan.project,
    files: [...found.paths],
    objects: [...objects.values()],
    toAdopt: plan.changes.filter(({ action, isAdopted }) => isAdopted && action === 'adopt').length,
    leftovers: plan.leftovers.map((one) => ({ ...one })),
    uncheckedCount,
    findings: findings.map(findingToResult),
  }
}

async function describe(change: Change): Promise<PlannedObject> {
  const { section, key, name, action, id, place, origin, notes, fields } = change
  return {
    section,
    key,
    name,
    action,
    ...(id !== undefined && { id }),
    ...(place !== undefined && { file: place.file, ...(place.line !== undefined && { line: place.line }) }),
    ...(origin !== undefined && { origin }),
    notes: [...notes],
    fields: await Promise.all(fields.map(withLines)),
  }
}

const withOutcome = async (object: PlannedObject, { id, kind, message, serverChanged }: Outcome): Promise<PlannedObject> => ({
  ...object,
  ...(id !== undefined && { id }),
  outcome: kind,
  ...(message !== undefined && { message }),
  ...(serverChanged !== undefined && { serverChanged: await Promise.all(serverChanged.map(withLines)) }),
})

/** Texts from here on are compared line by line. */
const longText = 120

async function withLines(field: FieldChange): Promise<z.output<typeof fieldChange>> {
  const { before, after } = field
  const isLong =
    typeof before === 'string' && typeof after === 'string' && (/\n/.test(before + after) || before.length + after.length > 2 * longText)
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
