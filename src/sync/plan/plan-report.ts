import type { Diagnostic } from '../../core/diagnostics.ts'
import { counted, join, joinFirst, type Line, link, say, trusted, untrusted } from '../../core/line.ts'
import { toKebab } from '../../core/names.ts'
import { plural } from '../../core/text.ts'
import type { Annotation, Verdict } from '../../operation/operation.ts'
import type { Block, DiffLine } from '../../report/blocks.ts'
import { type SideNames, toDiffLines } from '../../report/diff-lines.ts'
import { sectionNouns } from '../../resources/section.ts'
import { type Action, isDifference } from './change.ts'
import { unmanagedAdoption } from './match.ts'
import type { PlannedObject, PlanResult } from './plan-result.ts'

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
  return [{ kind: 'paragraph', line: say`In the web app: ${joinFirst(linked, maxLinks)}` }]
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
  'PromQL tiles, and in other tiles the filter (where), granularity, alternateRowBackground and ratioMode that were set in the web app'

const hiddenParts = ({ objects }: PlanResult): readonly Block[] => {
  const written = objects.filter((one) => one.section === 'dashboards' && mayHaveHiddenParts(one))
  if (written.length === 0) return []
  const line = say`⚠️ Apply writes ${counted(written.length, 'existing dashboard')}, and this deletes the parts that the API does not return: ${trusted(hiddenPartsText)}. Written: ${namesOf(written)}`
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
  return joinFirst(names, maxNamed)
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
  const line = say`Unmanaged, and not changed: ${counted(number, 'object')}. To see them, run ${join(lists, ', ')} with unmanaged`
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
