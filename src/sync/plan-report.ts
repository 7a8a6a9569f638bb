import * as z from 'zod'
import { diagnosticSchema } from '../core/diagnostics.ts'
import { counted, join, type Line, say, trusted, untrusted } from '../core/line.ts'
import { clip, printable } from '../core/text.ts'
import type { Annotation, Verdict } from '../operation/operation.ts'
import type { Block, DiffLine } from '../report/blocks.ts'
import { renderSarif } from '../report/sarif.ts'
import type { FieldChange } from '../resources/compare.ts'
import { sectionNames, sectionNouns } from '../resources/resource-type.ts'
import { type Outcome, outcomeKinds } from './apply-state.ts'
import { type Action, actions, type Change, isDifference, type Plan } from './change.ts'
import type { PlanningResult } from './make-plan.ts'
import { unmanagedAdoption } from './match.ts'
import { planRules } from './rules.ts'

const count = (what: string) => z.int().describe(what)

export const planOutput = z.object({
  toCreate: count('Objects that do not exist yet.'),
  toUpdate: count('Objects that differ from the files.'),
  toReplace: count('Objects that apply deletes and creates again.'),
  toDelete: count('Objects that no file declares. Only with `prune`.'),
  unchanged: count('Objects that are as declared.'),
  changed: z.boolean().describe('Whether the service differs from the files. For `apply`: whether anything was written.'),
})

const line = z.object({ sign: z.enum(['+', '-', ' ']), text: z.string() })

const fieldChange = z.object({
  path: z.string().describe('Path of the field, such as `tiles["Error rate"].config.where`.'),
  before: z.unknown().optional().describe('Absent for an added field.'),
  after: z.unknown().optional().describe('Absent for a removed field.'),
  lines: z.array(line).optional().describe('For long texts: the differences, line by line.'),
})

const object = z.object({
  section: z.enum(sectionNames).describe('`dashboards`, `savedSearches` or `alerts`.'),
  key: z.string().describe('The key in the files. For a delete, the key in the ownership marker, if it can be read.'),
  name: z.string(),
  action: z.enum(actions),
  id: z.string().optional(),
  file: z.string().optional(),
  line: z.int().optional(),
  origin: z.enum(['files', 'service']).optional().describe('The side that changed since the last apply, if known.'),
  notes: z.array(z.string()).describe('Remarks for reviewers, such as the reason for a replacement.'),
  fields: z.array(fieldChange),
  outcome: z.enum(outcomeKinds).optional().describe('For `apply`: the outcome of the change.'),
  message: z.string().optional().describe('Why the change was not applied.'),
  serverChanged: z.array(fieldChange).optional().describe('Fields that the server stored with another value than the one sent.'),
})

export type PlannedObject = z.output<typeof object>

export const planDetails = z.object({
  project: z.string().describe('The project that owns the objects.'),
  environment: z.string().optional().describe('The environment, if `env` is set.'),
  files: z.array(z.string()).describe('The files that were read.'),
  objects: z.array(object).describe('All objects, including unchanged ones, in the order of apply.'),
  toAdopt: count('Objects that are as declared and only get the ownership marker.'),
  orphans: z
    .array(z.object({ section: z.enum(sectionNames), key: z.string(), id: z.string(), name: z.string() }))
    .describe("Objects with this project's marker that no file declares, and that are kept."),
  uncheckedCount: count('Number of changed dashboards that the server did not check.'),
  diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes.'),
})

export type PlanResult = z.output<typeof planOutput> & z.output<typeof planDetails>

/** The description of every change, without its outcome. */
type Described = ReadonlyMap<Change, PlannedObject>

export const describeChanges = async ({ changes }: Plan): Promise<Described> =>
  new Map(await Promise.all(changes.map(async (change) => [change, await describe(change)] as const)))

export async function toPlanResult(planned: PlanningResult, outcomes: readonly Outcome[] = [], described?: Described): Promise<PlanResult> {
  const { environment, found, plan, diagnostics, uncheckedCount } = planned
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
    ...(environment !== undefined && { environment }),
    files: [...found.paths],
    objects: [...objects.values()],
    toAdopt: plan.changes.filter(({ action, isAdopted }) => isAdopted && action === 'adopt').length,
    orphans: plan.orphans.map((one) => ({ ...one })),
    uncheckedCount,
    diagnostics: [...diagnostics],
  }
}

async function describe(change: Change): Promise<PlannedObject> {
  const { section, key, name, action, id, location, origin, notes, fields } = change
  return {
    section,
    key,
    name,
    action,
    ...(id !== undefined && { id }),
    ...(location !== undefined && { file: location.file, ...(location.line !== undefined && { line: location.line }) }),
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

/** Longer texts are compared line by line. */
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

const signs: Readonly<Record<Action, DiffLine['sign']>> = {
  create: '+',
  update: '~',
  replace: '~',
  delete: '-',
  adopt: '~',
  unchanged: ' ',
}

const verbs: Readonly<Record<Action, string>> = {
  create: 'create',
  update: 'update',
  replace: 'replace',
  delete: 'delete',
  adopt: 'adopt',
  unchanged: 'leave',
}

const locationOf = ({ file, line }: PlannedObject): string => (file === undefined ? '' : line === undefined ? file : `${file}:${line}`)

/** The counts of the plan. Without a plan, the block is empty. */
export function planFacts(result: PlanResult): Block {
  const { toCreate, toUpdate, toReplace, toDelete, toAdopt, unchanged } = result
  const facts = { Create: toCreate, Update: toUpdate, Replace: toReplace, Delete: toDelete, Adopt: toAdopt, Unchanged: unchanged - toAdopt }
  const shown = Object.entries(facts).filter(([label, count]) => count > 0 || !['Replace', 'Adopt'].includes(label))
  if (result.objects.length === 0 && result.diagnostics.some(({ severity }) => severity === 'error')) return { kind: 'facts', facts: [] }
  return { kind: 'facts', facts: shown.map(([label, count]) => ({ label, value: [trusted(String(count))] })) }
}

/** The plan in one line: `1 to create, 2 to update`. */
export function planWords({ toCreate, toUpdate, toReplace, toDelete }: PlanResult): Line {
  const parts = { create: toCreate, update: toUpdate, replace: toReplace, delete: toDelete }
  const words = Object.entries(parts).filter(([, count]) => count > 0)
  return join(
    words.map(([verb, count]) => say`${count} to ${trusted(verb)}`),
    ', ',
  )
}

/** The plan in detail. All objects share one diff, to keep the page short. */
export function objectBlocks(result: PlanResult, sides?: SideNames): readonly Block[] {
  const changed = result.objects.filter(({ action }) => action !== 'unchanged' && action !== 'adopt')
  return [
    ...hiddenParts(result),
    { kind: 'diff', lines: [...changed, ...result.objects.filter(isRenamed)].flatMap((object, i) => toLines(object, i, sides)) },
    ...adoptions(result),
    ...orphans(result),
    ...unchecked(result),
  ]
}

/** Objects without a difference that belonged to another key or project. */
const isRenamed = ({ action, notes }: PlannedObject): boolean => action === 'adopt' && notes.some((note) => note !== unmanagedAdoption)

/** Parts of a dashboard that the API does not return, so that an update cannot keep them. */
const hiddenPartsText =
  'PromQL tiles, and in other tiles the filter (`where`), `granularity`, `alternateRowBackground` and `ratioMode` that were set in the web app'

const hiddenParts = ({ objects }: PlanResult): readonly Block[] => {
  const written = objects.filter(({ section, action }) => section === 'dashboards' && (action === 'update' || action === 'adopt'))
  if (written.length === 0) return []
  const line = say`Writing ${counted(written.length, 'existing dashboard')} deletes the parts that the API does not return: ${trusted(hiddenPartsText)}. Written: ${namesOf(written)}`
  return [{ kind: 'paragraph', line }, ...objectTable('Existing dashboards to write', written)]
}

/** The most objects that one sentence names. */
const mostNamed = 5

type Named = Pick<PlannedObject, 'section' | 'key' | 'name' | 'id'>

function namesOf(objects: readonly Named[]): Line {
  const named = objects.slice(0, mostNamed).map(({ section, key, name }) => say`${trusted(sectionNouns[section])} ${key || name}`)
  const more = objects.length > mostNamed ? [say`${objects.length - mostNamed} more`] : []
  return join([...named, ...more], ', ')
}

function toLines(object: PlannedObject, index: number, sides?: SideNames): readonly DiffLine[] {
  const { section, key, name, action, id, notes, fields, origin } = object
  const label = [sectionNouns[section], key, key === name ? '' : JSON.stringify(name)].filter(Boolean).join(' ')
  const where = locationOf(object) || id
  const why =
    action === 'update' && origin !== undefined ? [`${origin === 'files' ? 'the files' : 'the service'} changed since the last apply`] : []
  return [
    ...(index === 0 ? [] : [{ sign: ' ' as const, text: '' }]),
    { sign: signs[action], text: `${verbs[action]} ${label}${where ? `  (${where})` : ''}` },
    ...[...notes, ...why].map((note): DiffLine => ({ sign: ' ', text: `  # ${note}` })),
    ...toDiffLines(fields, action === 'update' || action === 'replace' ? sides : undefined),
  ]
}

const adoptions = ({ objects }: PlanResult): readonly Block[] => {
  const adopted = objects.filter(({ action }) => action === 'adopt')
  if (adopted.length === 0) return []
  const [are, them] = adopted.length === 1 ? ['object is', 'it'] : ['objects are', 'them']
  const line = say`${adopted.length} ${trusted(are)} as declared. apply adopts ${trusted(them)} by writing this project's marker: ${namesOf(adopted)}`
  return [{ kind: 'paragraph', line }, ...objectTable('Objects to adopt', adopted)]
}

/** A table, where there are more objects than a sentence names. */
const objectTable = (title: string, objects: readonly Named[]): readonly Block[] =>
  objects.length <= mostNamed
    ? []
    : [
        {
          kind: 'details',
          title: `${title} (${objects.length})`,
          blocks: [
            {
              kind: 'table',
              columns: [{ title: 'Kind' }, { title: 'Key' }, { title: 'Name' }, { title: 'Id' }],
              rows: objects.map(({ section, key, name, id = '' }) => [
                [trusted(sectionNouns[section])],
                [untrusted(key)],
                [untrusted(name)],
                [untrusted(id)],
              ]),
            },
          ],
        },
      ]

const orphans = ({ orphans: left }: PlanResult): readonly Block[] => {
  if (left.length === 0) return []
  const line = say`${left.length} ${trusted(left.length === 1 ? 'object has' : 'objects have')} this project's marker and ${trusted(left.length === 1 ? 'is' : 'are')} not declared in any file. prune deletes such objects: ${namesOf(left)}`
  return [{ kind: 'paragraph', line }, ...objectTable('Undeclared objects', left)]
}

const unchecked = ({ uncheckedCount }: PlanResult): readonly Block[] =>
  uncheckedCount === 0
    ? []
    : [
        {
          kind: 'paragraph',
          line: say`The server did not check ${counted(uncheckedCount, 'changed dashboard')}. A plan requests 20 checks at most, and older servers have no check.`,
        },
      ]

/** Without a location where it is not about a file, but about an object of the service or an input. */
export const toAnnotations = ({ diagnostics, files }: Pick<PlanResult, 'diagnostics' | 'files'>): readonly Annotation[] =>
  diagnostics.map(({ location, ...rest }) => (files.includes(location.file) ? { ...rest, location } : rest))

export const sarifFile = (path: string | undefined, diagnostics: PlanResult['diagnostics']) =>
  path === undefined ? [] : [{ input: 'sarifFile', path, content: renderSarif(planRules, diagnostics) }]

/** Errors in files fail the run as wrong input. Warnings give the verdict `warn`. */
export function judgeDiagnostics({ diagnostics }: Pick<PlanResult, 'diagnostics'>): Verdict {
  const count = (severity: string): number => diagnostics.filter((one) => one.severity === severity).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (errors > 0) return { status: 'fail', reasons: [say`${counted(errors, 'error')}`], exit: 'input' }
  return warnings > 0 ? { status: 'warn', reasons: [say`${counted(warnings, 'warning')}`] } : { status: 'pass', reasons: [] }
}

/** A changed field of an object; undefined for a side on which it does not exist. */
interface FieldDifference {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  /** The differing lines, where both sides are long texts. */
  readonly lines?: readonly { readonly sign: DiffLine['sign']; readonly text: string }[] | undefined
}

/** Maximum length of both sides together that fits on one line. */
const maxPairLength = 100
const maxValueLength = 400

const indent = '    '

/** What the values before and after are, for a reader who cannot know it. */
interface SideNames {
  readonly before: string
  readonly after: string
}

/** Both sides in one line where they are short, and line by line where they are long. */
export const toDiffLines = (fields: readonly FieldDifference[], sides?: SideNames): readonly DiffLine[] =>
  fields.flatMap((field) => (sides === undefined ? toFieldLines(field) : toNamedLines(field, sides)))

/** `threshold: service: 9, file: 1.5`. */
function toNamedLines(field: FieldDifference, sides: SideNames): readonly DiffLine[] {
  const { path, before, after, lines } = field
  const name = `${indent}${shown(path)}`
  if (lines !== undefined) {
    const [first, ...rest] = toFieldLines(field)
    return first === undefined ? [] : [{ ...first, text: `${name}: − ${sides.before}, + ${sides.after}` }, ...rest]
  }
  const [old, now] = [before, after].map((value) => (value === undefined ? 'not set' : toText(value)))
  const text = `${sides.before}: ${old}, ${sides.after}: ${now}`
  if (text.length <= maxPairLength) return [{ sign: '~', text: `${name}: ${text}` }]
  return [
    { sign: '-', text: `${name}: ${sides.before}: ${old}` },
    { sign: '+', text: `${name}: ${sides.after}: ${now}` },
  ]
}

function toFieldLines({ path, before, after, lines }: FieldDifference): readonly DiffLine[] {
  const name = `${indent}${shown(path)}`
  if (lines !== undefined)
    return [{ sign: '~', text: `${name}:` }, ...lines.map(({ sign, text }): DiffLine => ({ sign, text: `${indent}  ${shown(text)}` }))]
  if (before === undefined) return oneSide('+', name, after)
  if (after === undefined) return oneSide('-', name, before)
  const [old, now] = [toText(before), toText(after)]
  if (old.length + now.length <= maxPairLength) return [{ sign: '~', text: `${name}: ${old} → ${now}` }]
  return [
    { sign: '-', text: `${name}: ${old}` },
    { sign: '+', text: `${name}: ${now}` },
  ]
}

function oneSide(sign: '+' | '-', name: string, value: unknown): readonly DiffLine[] {
  const lines = typeof value === 'string' ? value.trimEnd().split('\n') : []
  if (lines.length < 2) return [{ sign, text: `${name}: ${toText(value)}` }]
  return [{ sign, text: `${name}: |` }, ...lines.map((line): DiffLine => ({ sign, text: `${indent}  ${shown(line)}` }))]
}

/** As in YAML: without quotes where the text is unambiguous. */
function toText(value: unknown): string {
  if (typeof value === 'string')
    return /^[\p{L}\p{N}_][^\n]*$/u.test(value) && value.trim() === value && Number.isNaN(Number(value))
      ? shown(value)
      : shown(JSON.stringify(value))
  return shown(JSON.stringify(value) ?? '')
}

const shown = (text: string): string => printable(clip(text, maxValueLength))
