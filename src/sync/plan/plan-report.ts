import type { Diagnostic } from '../../core/diagnostics.ts'
import { counted, join, joinFirst, type Line, link, say, trusted, untrusted } from '../../core/line.ts'
import { toKebab } from '../../core/names.ts'
import { plural } from '../../core/text.ts'
import { kindLabels, sections } from '../../kinds/kind-names.ts'
import { type Block, countFacts } from '../../report/blocks.ts'
import type { SideNames } from '../../report/diff-lines.ts'
import type { Annotation, Verdict } from '../../report/report.ts'
import { table } from '../../report/table.ts'
import { isDifference } from './change.ts'
import { changeBlocks } from './change-lines.ts'
import { unmanagedAdoption } from './match.ts'
import type { PlannedObject, PlanResult } from './plan-result.ts'

/** The counts of the plan that are not zero. */
export function planFacts(result: PlanResult): Block {
  const { toCreate, toUpdate, toReplace, toDelete, toAdopt, unchanged } = result
  return countFacts({
    Create: toCreate,
    Update: toUpdate,
    Replace: toReplace,
    Delete: toDelete,
    Adopt: toAdopt,
    Unchanged: unchanged - toAdopt,
  })
}

/** The plan in one line: `1 to create, 2 to update`. */
export function planWords({ toCreate, toUpdate, toReplace, toDelete, toRelease, toAdopt }: PlanResult): Line {
  const parts = { create: toCreate, update: toUpdate, replace: toReplace, delete: toDelete, release: toRelease }
  const words = Object.entries(parts).filter(([, count]) => count > 0)
  // Objects of a renamed project or key.
  if (words.length === 0) return say`${toAdopt} to adopt`
  return join(
    words.map(([verb, count]) => say`${count} to ${trusted(verb)}`),
    ', ',
  )
}

/** The plan in detail. All objects share one diff, to keep the page short. */
export function objectBlocks(result: PlanResult, sides?: SideNames): readonly Block[] {
  const changed = result.objects.filter(isDifference)
  return [
    ...changeBlocks([...changed, ...result.objects.filter(isRenamed)], result, sides),
    ...silentSlos(result),
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

/** A diff is a code block, which has no links. */
function links(objects: readonly PlannedObject[]): readonly Block[] {
  const linked = objects.flatMap(({ kind, key, name, url }) =>
    url === undefined ? [] : [say`${trusted(kindLabels[kind])} ${link(key || name, url)}`],
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

function silentSlos({ slos = [], objects }: PlanResult): readonly Block[] {
  const written = new Set(objects.filter(({ action }) => action !== 'unchanged').map(({ madeFrom }) => madeFrom))
  const silent = slos.filter(({ key, noDataAlert }) => !noDataAlert && written.has(`slos.${key}`))
  if (silent.length === 0) return []
  const names = join(
    silent.map(({ key }) => say`${key}`),
    ', ',
  )
  return [
    {
      kind: 'paragraph',
      line: say`Without events, burn rates are 0 and no alert fires. noData adds an alert for that. Without it: ${names}`,
    },
  ]
}

/** Objects without a difference that belonged to another key or project. */
const isRenamed = ({ action, notes }: PlannedObject): boolean => action === 'adopt' && notes.some((note) => note !== unmanagedAdoption)

/** Other objects have a marker, by which a second project or repository is noticed. */
const unprotectedSources = ({ objects }: PlanResult): readonly Block[] => {
  const written = objects.filter(({ kind, action }) => kind === 'source' && (action === 'create' || action === 'update'))
  if (written.length === 0) return []
  const line = say`Sources have no marker, so nothing protects them from another project that declares them, too: ${namesOf(written)}`
  return [{ kind: 'paragraph', line }]
}

/** The most objects that one sentence names. */
const maxNamed = 5

type Named = Pick<PlannedObject, 'kind' | 'key' | 'name' | 'id'>

function namesOf(objects: readonly Named[]): Line {
  const names = objects.map(({ kind, key, name }) => say`${trusted(kindLabels[kind])} ${key || name}`)
  return joinFirst(names, maxNamed)
}

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
            table(undefined, objects, {
              Kind: ({ kind }) => trusted(kindLabels[kind]),
              Key: ({ key }) => untrusted(key),
              Name: ({ name }) => untrusted(name),
              Id: ({ id = '' }) => untrusted(id),
            }),
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
  const lists = unmanagedKinds.map((kind) => say`${trusted(`list-${toKebab(sections[kind])}`)}`)
  const line = say`To see them, run ${join(lists, ', ')} with unmanaged`
  const title = `Unmanaged, and not changed: ${plural(number, 'object')}`
  return [{ kind: 'details', title, blocks: [{ kind: 'paragraph', line }], isQuiet: true }]
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

/** An annotation has no location where it is about an object of the service or an input. */
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
