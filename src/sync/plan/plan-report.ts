import * as z from 'zod'
import { type Diagnostic, diagnosticSchema } from '../../core/diagnostics.ts'
import { counted, join, type Line, link, say, trusted, untrusted } from '../../core/line.ts'
import { toKebab } from '../../core/names.ts'
import { listFirst, plural } from '../../core/text.ts'
import type { Annotation, Verdict } from '../../operation/operation.ts'
import { type Block, type DiffLine, type Layout, tileMarks } from '../../report/blocks.ts'
import { type SideNames, toDiffLines } from '../../report/diff-lines.ts'
import type { FieldChange } from '../../resources/compare.ts'
import type { Body } from '../../resources/resource-type.ts'
import { sectionNames, sectionNouns } from '../../resources/section.ts'
import { type Outcome, outcomeKinds } from '../apply/apply-state.ts'
import { type Action, actions, type Change, isDifference, type Plan } from './change.ts'
import type { PlanningResult } from './make-plan.ts'
import { unmanagedAdoption } from './match.ts'

const count = (what: string) => z.int().describe(what)

export const planOutput = z.object({
  toCreate: count('Objects that do not exist yet.'),
  toUpdate: count('Objects that differ from the files.'),
  toReplace: count('Objects that apply deletes and creates again.'),
  toDelete: count('Objects that no file declares. Only with `prune`.'),
  unchanged: count('Objects that are as declared.'),
  unmanaged: count('Objects of the service without an ownership marker that no file declares.'),
  changed: z.boolean().describe('Whether the service differs from the files. For `apply`: whether anything was written.'),
})

const line = z.object({ sign: z.enum(['+', '-', ' ']), text: z.string() })

const fieldChange = z.object({
  path: z.string().describe('Path of the field, such as `tiles["Error rate"].config.where`.'),
  before: z.unknown().optional().describe('Absent for an added field.'),
  after: z.unknown().optional().describe('Absent for a removed field.'),
  lines: z.array(line).optional().describe('For long texts: the differences, line by line.'),
  changedIn: z
    .literal('service')
    .optional()
    .describe(
      'The service changed this field since the last apply, and the files changed others. Absent where the marker does not prove it.',
    ),
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
  undrawn: count('Unchanged tiles that are left out, because the dashboard has more than 30 tiles.'),
  lines: z.array(z.string()).describe('The layout, drawn in text of at most 60 columns.'),
})

const object = z.object({
  section: z.enum(sectionNames).describe('`dashboards`, `savedSearches`, `alerts`, `webhooks` or `sources`.'),
  key: z.string().describe('The key in the files. For a delete, the key in the ownership marker, if it can be read.'),
  name: z.string(),
  action: z.enum(actions),
  id: z.string().optional(),
  file: z.string().optional(),
  line: z.int().optional(),
  origin: z.enum(['files', 'service']).optional().describe('The side that changed since the last apply, if known.'),
  notes: z.array(z.string()).describe('Remarks for reviewers, such as the reason for a replacement.'),
  fields: z.array(fieldChange),
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

export const planDetails = z.object({
  project: z.string().describe('The project that owns the objects.'),
  environment: z.string().optional().describe('The environment, if `env` is set.'),
  files: z.array(z.string()).describe('The files that were read.'),
  objects: z.array(object).describe('All objects, including unchanged ones, in the order of apply.'),
  unmanagedKinds: z.array(z.enum(sectionNames)).describe('The kinds of the unmanaged objects.'),
  toAdopt: count('Objects that are as declared and only get the ownership marker.'),
  toRelease: count('Duplicates that lose their marker and become unmanaged. Only with `repair-duplicates`.'),
  toMark: count('Objects that are as declared and only get the repository, or the digest of a changed declaration, in their marker.'),
  orphans: z
    .array(z.object({ section: z.enum(sectionNames), key: z.string(), id: z.string(), name: z.string() }))
    .describe("Objects with this project's marker that no file declares, and that are kept."),
  slos: z
    .array(
      z.object({
        key: z.string(),
        name: z.string(),
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
  uncheckedCount: count('Number of changed dashboards that the server did not check.'),
  diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes.'),
})

export type PlanResult = z.output<typeof planOutput> & z.output<typeof planDetails>

/** The description of every change, without its outcome. */
type Described = ReadonlyMap<Change, PlannedObject>

export const describeChanges = async ({ changes }: Plan): Promise<Described> =>
  new Map(await Promise.all(changes.map(async (change) => [change, await describe(change)] as const)))

export async function toPlanResult(planned: PlanningResult, outcomes: readonly Outcome[] = [], described?: Described): Promise<PlanResult> {
  const { environment, uiUrl, found, plan, diagnostics, uncheckedCount } = planned
  const slos = found.slos.length === 0 ? undefined : (await import('../../slos/expand-slos.ts')).describeSlos(found.slos)
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
    unchanged: numberOf('unchanged') + numberOf('adopt') + numberOf('mark'),
    unmanaged: Object.values(plan.unmanaged ?? {}).reduce((sum, one) => sum + one, 0),
    changed: plan.changes.some(isDifference),
    project: plan.project,
    ...(environment !== undefined && { environment }),
    files: [...found.paths],
    objects: [...objects].map(([change, one]) => {
      const url = uiUrl === undefined || !isDifference(change) ? undefined : pageOf(change, uiUrl)
      return url === undefined ? one : { ...one, url }
    }),
    unmanagedKinds: sectionNames.filter((section) => (plan.unmanaged?.[section] ?? 0) > 0),
    toAdopt: plan.changes.filter(({ action, isAdopted }) => isAdopted && action === 'adopt').length,
    toMark: numberOf('mark'),
    toRelease: numberOf('release'),
    orphans: plan.orphans.map((one) => ({ ...one })),
    ...(slos !== undefined && { slos }),
    uncheckedCount,
    diagnostics: [...diagnostics],
  }
}

/** An alert has no page of its own: https://github.com/hyperdxio/hyperdx, `packages/app/pages`. */
function pageOf({ section, id, actual, desired, action }: Change, uiUrl: string): string | undefined {
  const body: Body = desired ?? actual ?? {}
  const page = (name: string, target: unknown): string | undefined =>
    typeof target === 'string' ? `${uiUrl.replace(/\/+$/, '')}/${name}/${encodeURIComponent(target)}` : undefined
  if (action === 'delete') return undefined
  if (section === 'dashboards') return page('dashboards', id)
  if (section === 'savedSearches') return page('search', id)
  if (section === 'alerts') return page('dashboards', body.dashboardId) ?? page('search', body.savedSearchId)
  return undefined
}

async function describe(change: Change): Promise<PlannedObject> {
  const { section, key, name, action, id, location, origin, notes, fields, changedInService = [] } = change
  return {
    section,
    key,
    name,
    action,
    ...(id !== undefined && { id }),
    ...(location !== undefined && { file: location.file, ...(location.line !== undefined && { line: location.line }) }),
    ...(origin !== undefined && { origin }),
    notes: [...notes],
    fields: (await Promise.all(fields.map(withLines))).map((field) =>
      changedInService.includes(field.path) ? { ...field, changedIn: 'service' as const } : field,
    ),
    ...(await withLayout(change)),
  }
}

async function withLayout(change: Change): Promise<Pick<PlannedObject, 'layout'>> {
  const { section, action, fields } = change
  const mayDiffer =
    section === 'dashboards' && (action === 'update' || action === 'replace') && fields.some(({ path }) => path.startsWith('tiles'))
  if (!mayDiffer) return {}
  const found = (await import('./layouts.ts')).layoutOf(change)
  return found === undefined ? {} : { layout: toLayoutResult(found) }
}

const toLayoutResult = ({ grids, undrawn, lines }: Layout): NonNullable<PlannedObject['layout']> => ({
  grids: grids.map(({ title, before, after }) => ({ title, before: before.map(toTileResult), after: after.map(toTileResult) })),
  undrawn,
  lines: [...lines],
})

const toTileResult = ({ marks, ...rest }: Layout['grids'][number]['before'][number]) => ({ ...rest, marks: [...marks] })

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
  mark: '~',
  release: '~',
  unchanged: ' ',
}

const verbs: Readonly<Record<Action, string>> = {
  create: 'create',
  update: 'update',
  replace: 'replace',
  delete: 'delete',
  adopt: 'adopt',
  mark: 'mark',
  release: 'release',
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
export function planWords({ toCreate, toUpdate, toReplace, toDelete, toRelease }: PlanResult): Line {
  const parts = { create: toCreate, update: toUpdate, replace: toReplace, delete: toDelete, release: toRelease }
  const words = Object.entries(parts).filter(([, count]) => count > 0)
  return join(
    words.map(([verb, count]) => say`${count} to ${trusted(verb)}`),
    ', ',
  )
}

/** The plan in detail. All objects share one diff, to keep the page short. */
export function objectBlocks(result: PlanResult, sides?: SideNames): readonly Block[] {
  const changed = result.objects.filter(isDifference)
  const folded = changed.filter((object) => isGenerated(object, result))
  const shown = changed.map((object) =>
    folded.includes(object) ? { ...object, notes: [...object.notes, generatedNote], fields: [] } : object,
  )
  return [
    ...hiddenParts(result),
    ...sloBlocks(result),
    { kind: 'diff', lines: [...shown, ...result.objects.filter(isRenamed)].flatMap((object, i) => toLines(object, i, sides)) },
    ...foldedFields(folded),
    ...links(changed),
    ...layouts(changed),
    ...adoptions(result),
    ...marks(result),
    ...unprotectedSources(result),
    ...orphans(result),
    ...unmanaged(result),
    ...unchecked(result),
  ]
}

/** Whether it is the new dashboard of an SLO, whose queries in SQL follow from a few lines of the file. */
const isGenerated = ({ section, key, action }: PlannedObject, { slos = [] }: PlanResult): boolean =>
  section === 'dashboards' && action === 'create' && slos.some((slo) => key === `${slo.key}.slo`)

const generatedNote = 'its tiles and queries follow from the SLO'

const foldedFields = (folded: readonly PlannedObject[]): readonly Block[] =>
  folded.length === 0
    ? []
    : [
        {
          kind: 'details',
          title: `All fields of ${folded.length === 1 ? `dashboard ${folded[0]?.key}` : plural(folded.length, 'dashboard')}`,
          blocks: [{ kind: 'diff', lines: folded.flatMap((object, i) => toLines(object, i)) }],
        },
      ]

/** A diff is a code block, which has no links. */
function links(objects: readonly PlannedObject[]): readonly Block[] {
  const linked = objects.flatMap(({ section, key, name, url }) =>
    url === undefined ? [] : [say`${trusted(sectionNouns[section])} ${link(key || name, url)}`],
  )
  if (linked.length === 0) return []
  const shown = listFirst(linked, maxLinks, (rest) => say`${rest} more`)
  return [{ kind: 'paragraph', line: say`In the web app: ${join(shown, ', ')}` }]
}

const maxLinks = 20

/** More drawings would hide the rest of the report. */
const maxOpenLayouts = 3

function layouts(objects: readonly PlannedObject[]): readonly Block[] {
  const drawn = objects.flatMap(({ key, name, url, layout: found }) =>
    found === undefined
      ? []
      : [
          [
            { kind: 'paragraph', line: say`Layout of dashboard ${url === undefined ? untrusted(key || name) : link(key || name, url)}:` },
            { kind: 'layout', layout: found },
          ] as const,
        ],
  )
  const rest = drawn.slice(maxOpenLayouts)
  return [
    ...drawn.slice(0, maxOpenLayouts).flat(),
    ...(rest.length === 0
      ? []
      : [{ kind: 'details' as const, title: `Layouts of ${plural(rest.length, 'more dashboard')}`, blocks: rest.flat() }]),
  ]
}

/** For reviewers: what each alert guards. */
function sloBlocks({ slos = [], objects }: PlanResult): readonly Block[] {
  const isWritten = new Set(objects.filter(({ action }) => action !== 'unchanged').map(({ key }) => key))
  const changed = slos.filter(({ key, alerts }) => [`${key}.slo`, ...alerts.map((alert) => alert.key)].some((one) => isWritten.has(one)))
  if (changed.length === 0) return []
  const silent = changed.filter(({ noDataAlert }) => !noDataAlert)
  const rows = changed.flatMap(({ key, name, objective, window, alerts }) =>
    alerts.map(({ recipient, burnRate, longWindow, shortWindow, interval, budgetShare }) => [
      [untrusted(name || key)],
      [trusted(`${objective}% in ${window}`)],
      [trusted(recipient)],
      [trusted(`${burnRate} over ${longWindow} and ${shortWindow}`)],
      [trusted(interval)],
      [trusted(`${budgetShare}%`)],
    ]),
  )
  const columns = ['SLO', 'Objective', 'Alert', 'Burn rate', 'Evaluated every', 'Budget spent'].map((title) => ({ title }))
  return [
    ...(rows.length === 0 ? [] : [{ kind: 'table' as const, columns, rows }]),
    ...(silent.length === 0
      ? []
      : [
          {
            kind: 'paragraph' as const,
            line: say`Without events, burn rates are 0 and no alert fires. noData adds an alert for that. Without it: ${join(
              silent.map(({ key }) => say`${key}`),
              ', ',
            )}`,
          },
        ]),
  ]
}

/** Objects without a difference that belonged to another key or project. */
const isRenamed = ({ action, notes }: PlannedObject): boolean => action === 'adopt' && notes.some((note) => note !== unmanagedAdoption)

/** Parts of a dashboard that the API does not return, so that an update cannot keep them. */
const hiddenPartsText =
  'PromQL tiles, and in other tiles the filter (`where`), `granularity`, `alternateRowBackground` and `ratioMode` that were set in the web app'

const hiddenParts = ({ objects }: PlanResult): readonly Block[] => {
  const written = objects.filter((one) => one.section === 'dashboards' && mayHaveHiddenParts(one))
  if (written.length === 0) return []
  const line = say`Writing ${counted(written.length, 'existing dashboard')} deletes the parts that the API does not return: ${trusted(hiddenPartsText)}. Written: ${namesOf(written)}`
  return [{ kind: 'paragraph', line }, ...objectTable('Existing dashboards to write', written)]
}

/** Any other dashboard is as it was written before, from files that have all of its parts. One without a difference may have changed, too. */
const mayHaveHiddenParts = (object: PlannedObject): boolean =>
  object.action === 'mark' ||
  object.notes.includes(unmanagedAdoption) ||
  (object.action === 'update' && (object.origin === 'service' || isChangedTwice(object)))

/** Other objects have a marker, by which a second project or repository is noticed. */
const unprotectedSources = ({ objects }: PlanResult): readonly Block[] => {
  const written = objects.filter(({ section, action }) => section === 'sources' && (action === 'create' || action === 'update'))
  if (written.length === 0) return []
  const line = say`Sources have no marker, so nothing protects them from another project that declares them, too: ${namesOf(written)}`
  return [{ kind: 'paragraph', line }]
}

/** The most objects that one sentence names. */
const maxNamed = 5

type Named = Pick<PlannedObject, 'section' | 'key' | 'name' | 'id'>

function namesOf(objects: readonly Named[]): Line {
  const names = objects.map(({ section, key, name }) => say`${trusted(sectionNouns[section])} ${key || name}`)
  return join(
    listFirst(names, maxNamed, (count) => say`${count} more`),
    ', ',
  )
}

function toLines(object: PlannedObject, index: number, sides?: SideNames): readonly DiffLine[] {
  const { section, key, name, action, id, notes, fields, origin } = object
  const label = [sectionNouns[section], key, key === name ? '' : JSON.stringify(name)].filter(Boolean).join(' ')
  const where = locationOf(object) || id
  const why =
    action === 'update' && origin !== undefined
      ? [
          `${origin === 'files' ? 'the files' : 'the service'} changed since the last apply${isChangedTwice(object) ? '; the UI changed it, too' : ''}`,
        ]
      : []
  // What a reviewer does not expect needs the names of both sides.
  const sidesOf = ({ changedIn }: PlannedObject['fields'][number]): SideNames | undefined =>
    action !== 'update' && action !== 'replace' ? undefined : changedIn === undefined ? sides : { before: 'service', after: 'file' }
  return [
    ...(index === 0 ? [] : [{ sign: ' ' as const, text: '' }]),
    { sign: signs[action], text: `${verbs[action]} ${label}${where ? `  (${where})` : ''}` },
    ...[...notes, ...why].map((note): DiffLine => ({ sign: ' ', text: `  # ${note}` })),
    ...fields.flatMap((field) => toDiffLines([field], sidesOf(field))),
  ]
}

/** Whether the files and the service both changed the object since the last apply. False where it is not proven. */
export const isChangedTwice = ({ fields }: Pick<PlannedObject, 'fields'>): boolean =>
  fields.some(({ changedIn }) => changedIn === 'service')

const adoptions = ({ objects }: PlanResult): readonly Block[] => {
  const adopted = objects.filter(({ action }) => action === 'adopt')
  if (adopted.length === 0) return []
  const [are, them] = adopted.length === 1 ? ['object is', 'it'] : ['objects are', 'them']
  const line = say`${adopted.length} ${trusted(are)} as declared. apply adopts ${trusted(them)} by writing this project's marker: ${namesOf(adopted)}`
  return [{ kind: 'paragraph', line }, ...objectTable('Objects to adopt', adopted)]
}

const marks = ({ objects }: PlanResult): readonly Block[] => {
  const marked = objects.filter(({ action }) => action === 'mark')
  if (marked.length === 0) return []
  const line = say`apply updates the markers of ${counted(marked.length, 'object')} without a difference: ${namesOf(marked)}`
  return [{ kind: 'paragraph', line }, ...objectTable('Objects to mark', marked)]
}

/** A table, where there are more objects than a sentence names. */
const objectTable = (title: string, objects: readonly Named[]): readonly Block[] =>
  objects.length <= maxNamed
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

function unmanaged({ unmanaged: number, unmanagedKinds }: PlanResult): readonly Block[] {
  if (number === 0) return []
  const lists = unmanagedKinds.map((section) => say`${trusted(`list-${toKebab(section)}`)}`)
  const line = say`Unmanaged, and not changed: ${counted(number, 'object')}. To see them, use --unmanaged with ${join(lists, ', ')}`
  return [{ kind: 'paragraph', line }]
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

const isFailedEvaluation = ({ rule }: Pick<Diagnostic, 'rule'>): boolean => rule === 'failed-evaluation'

/** Whether the files or the plan have errors. A failed evaluation of an alert is a matter of the service, and apply may repair it. */
export const isPlanWrong = ({ diagnostics }: Pick<PlanResult, 'diagnostics'>): boolean =>
  diagnostics.some((one) => one.severity === 'error' && !isFailedEvaluation(one))

/** Errors in files fail the run as wrong input. Warnings give the verdict `warn`. */
export function judgeDiagnostics({ diagnostics }: Pick<PlanResult, 'diagnostics'>): Verdict {
  const count = (severity: string): number => diagnostics.filter((one) => one.severity === severity).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (isPlanWrong({ diagnostics })) return { status: 'fail', reasons: [say`${counted(errors, 'error')}`], exit: 'input' }
  if (errors > 0) return { status: 'fail', reasons: [say`the last evaluation of ${counted(errors, 'alert')} failed`] }
  return warnings > 0 ? { status: 'warn', reasons: [say`${counted(warnings, 'warning')}`] } : { status: 'pass', reasons: [] }
}
