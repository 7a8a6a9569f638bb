import { type KindName, kindLabels, sections } from '../../kinds/kind-names.ts'
import { type Diagnostic, errorsIn } from '../../platform/core/diagnostics.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { counted, join, joinAtMost, type Line, link, placed, say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { toKebab } from '../../platform/core/names.ts'
import { clip, namesAtMost, plural } from '../../platform/core/text.ts'
import type { NewerFiles } from '../../platform/operation/operation.ts'
import { type Block, countFacts, type DiffLine, fold, type Part } from '../../platform/report/blocks.ts'
import { type SideNames, toDiffLines } from '../../platform/report/diff-lines.ts'
import type { Annotation, Report, Verdict } from '../../platform/report/report.ts'
import { table } from '../../platform/report/table.ts'
import { wrap } from '../../platform/report/terminal.ts'
import { type Action, isDifference, spellOrigin } from '../../sync/decide/change.ts'
import { isAboutHeld } from '../../sync/decide/hold.ts'
import { forProject } from '../../sync/declarations/environment.ts'
import { type PlannedObject, type PlanResult, sinceWhen } from './plan-result.ts'

export function planFacts(result: PlanResult): Block {
  const { toCreate, toUpdate, toReplace, toDelete, toHold } = result
  return countFacts({
    Create: toCreate,
    Update: toUpdate,
    Replace: toReplace,
    Delete: toDelete,
    Held: toHold,
    ...unchangedFacts(result),
  })
}

const unchangedFacts = ({ toAdopt, tracked, unchanged }: PlanResult) => ({
  Adopt: toAdopt,
  Tracked: tracked,
  Unchanged: unchanged - toAdopt - tracked,
})

/** A wrong plan is not made, and what stays does not matter beside changes. */
export function factsBesideHeadline(result: PlanResult): Block {
  return countFacts(isPlanWrong(result.diagnostics) ? {} : { ...unchangedFacts(result), ...(result.changed && { Unchanged: 0 }) })
}

/** Problems before the details, notes after them. */
export const withDiagnostics = (diagnostics: readonly Diagnostic[], details: Part): readonly Part[] => [
  sharedDiagnostics(diagnostics.filter(({ severity }) => severity !== 'note')),
  details,
  sharedDiagnostics(diagnostics.filter(({ severity }) => severity === 'note')),
]

export const maxSharing = 20

const minSharing = 3

const keyOf = (subject: string): string => subject.replace(/^\w+\./, '')

const adoptEntry = /[\w-]+@[\w.]+\.files\b/g

/** An object's key, its value of `adopt`, and its name and id in the service are not part of a cause. */
export function sharedDiagnostics(diagnostics: readonly Diagnostic[]): Part {
  const groups = Map.groupBy(diagnostics, (one) => {
    const [subject, rest] = splitSubject(one)
    const [object, id = ''] = /"(?:[^"]|"(?! ))*" \(([0-9a-f]{24})\)/.exec(rest) ?? ['']
    const own = [object, adoptEntry, id, subject, `key=${keyOf(subject)}`]
    const cause = own.reduce<string>((text, part) => text.replaceAll(part, ''), rest)
    return subject === '' ? one : [one.rule, one.severity, cause].join()
  })
  const shared = [...groups.values()].filter(({ length }) => length >= minSharing)
  const toShared = (group: Diagnostic[]): readonly Diagnostic[] => {
    const [first, ...others] = group
    if (first === undefined || group.length < minSharing) return group
    const [subject, rest] = splitSubject(first)
    const names = others.map((other) => splitSubject(other)[0])
    const keys = [subject, ...names].map(keyOf).join(',')
    const shown = rest.replace(`key=${keyOf(subject)}`, `key=${keys}`)
    return [{ ...first, message: `${subject}, and ${names.length} more like it (${namesAtMost(maxSharing, names)})${shown}` }]
  }
  const entries = shared
    .flat()
    .flatMap((one) => one.message.match(adoptEntry)?.map((entry) => [splitSubject(one)[0], entry] as const) ?? [])
  return [
    { kind: 'diagnostics', diagnostics: [...groups.values()].flatMap(toShared) },
    table('Values of adopt', entries, { Object: ([object]) => object, adopt: ([, entry]) => entry }),
  ]
}

/** `alerts.slow`, `: 2 alerts have this marker`. */
function splitSubject({ message }: Diagnostic): readonly [string, string] {
  const end = Math.max(0, message.indexOf(': '))
  return [message.slice(0, end), message.slice(end)]
}

export function planWords({ toCreate, toUpdate, toReplace, toDelete, toRelease, toAdopt, toHold }: PlanResult): Line {
  const parts = { create: toCreate, update: toUpdate, replace: toReplace, delete: toDelete, release: toRelease }
  const words = Object.entries(parts).filter(([, count]) => count > 0)
  const held = toHold === 0 ? [] : [say`${toHold} held`]
  if (words.length + held.length === 0) return say`${toAdopt} to adopt`
  return join([...words.map(([verb, count]) => say`${count} to ${trusted(verb)}`), ...held], ', ')
}

export function planHeadline(result: PlanResult): Line {
  if (isPlanWrong(result.diagnostics)) return say`The plan${forProject(result)} failed`
  if (result.changed) return say`Plan${forProject(result)} (${planWords(result)})`
  const { length } = result.orphans
  const orphans = length === 0 ? [] : say`, except for ${counted(length, 'undeclared object')}, which prune deletes`
  return say`No changes${forProject(result)}: everything matches the files${markerWords(result)}${orphans}`
}

/** Adopting is not a difference, but apply writes a marker, and prune may delete the object later. */
function markerWords({ toAdopt, toMark }: PlanResult) {
  const writes = [
    ...(toAdopt > 0 ? [say`adopts ${counted(toAdopt, 'object')}`] : []),
    ...(toMark > 0 ? [say`updates the markers of ${counted(toMark, 'object')}`] : []),
  ]
  return writes.length === 0 ? [] : say`, and apply ${join(writes, ' and ')}`
}

const oneOr = (count: number, one: string, several: string) => trusted(count === 1 ? one : several)

interface NamedObject {
  readonly kind: KindName
  readonly key: string
  readonly name: string
  readonly id?: string | undefined
}

export const objectWords = ({ kind, key, name }: NamedObject): Line => say`${trusted(kindLabels[kind])} ${key || name}`

export function refusal({ newerFiles }: { readonly newerFiles?: NewerFiles | undefined }) {
  if (newerFiles === undefined) return undefined
  const { branch, commit } = newerFiles
  const sentence = say`Not applied: ${branch} (${commit.slice(0, 7)}) has newer files. Start the workflow on ${branch} if no run of it follows. To go back, revert.`
  return { headline: sentence, blocks: [], verdict: { status: 'warn', sentence, reasons: [] } } satisfies Report & { verdict: Verdict }
}

export function objectBlocks(result: PlanResult, sides?: SideNames): Part {
  const { objects, orphans, slos = [], uncheckedCount } = result
  const changed = objects.filter((one) => isDifference(one) && one.action !== 'held')
  // The diagnostics above say why they are held.
  const held = objects.filter(({ action, fields }) => action === 'held' && fields.length > 0).map((one) => ({ ...one, notes: [] }))
  const madeFrom = new Set(objects.filter(({ action }) => action !== 'unchanged').map((one) => one.madeFrom))
  const silent = slos.filter(({ key, noDataAlert }) => !noDataAlert && madeFrom.has(`slos.${key}`)).map(({ key }) => key)
  // Other objects have a marker, by which a second project or repository is noticed.
  const sources = changed.filter(({ kind, action }) => kind === 'source' && (action === 'create' || action === 'update'))
  return [
    // With objects without a difference that belonged to another key or project.
    changeBlocks(
      [...changed, ...objects.filter((one) => one.action === 'adopt' && one.takeover !== 'unmanaged')],
      newSlosIn(result),
      sides,
    ),
    held.length > 0 && say`Differences of held objects:`,
    changeBlocks(held, [], { before: 'service', after: 'file' }),
    silent.length > 0 &&
      say`Without events, burn rates are 0 and no alert fires. noData adds an alert for that. Without it: ${join(silent, ', ')}`,
    links(changed),
    layouts(changed),
    aboutObjects(
      'Objects to adopt',
      objects.filter(({ action }) => action === 'adopt'),
      (length, names) =>
        say`${length} ${oneOr(length, 'object is', 'objects are')} as declared. apply adopts ${oneOr(length, 'it', 'them')} by writing this project's marker: ${names}`,
    ),
    aboutObjects(
      'Tracked objects',
      objects.filter(({ isTracked }) => isTracked),
      (length, names) => say`${counted(length, 'object')} tracked: as declared, so nothing is written, and no marker is added: ${names}`,
    ),
    aboutObjects(
      'Objects to mark',
      objects.filter(({ action }) => action === 'mark'),
      (length, names) => say`apply updates the markers of ${counted(length, 'object')} without a difference: ${names}`,
    ),
    sources.length > 0 &&
      say`Sources have no marker, so nothing protects them from another project that declares them, too: ${namesOf(sources)}`,
    aboutObjects(
      'Undeclared objects',
      orphans,
      (length, names) =>
        say`${length} ${oneOr(length, 'object has', 'objects have')} this project's marker and ${oneOr(length, 'is', 'are')} not declared in any file. prune deletes such objects: ${names}`,
    ),
    unmanaged(result),
    uncheckedCount > 0 &&
      say`The server did not check ${counted(uncheckedCount, 'changed dashboard')}. A plan requests 20 checks at most, and older servers have no check.`,
  ]
}

function links(objects: readonly PlannedObject[]): Part {
  const linked = objects.flatMap(({ kind, key, name, url }) => (url ? [say`${trusted(kindLabels[kind])} ${link(key || name, url)}`] : []))
  return linked.length > 0 && say`In the web app: ${joinAtMost(20, linked)}`
}

const maxOpenLayouts = 3

function layouts(objects: readonly PlannedObject[]): Part {
  const drawn = objects.flatMap(({ key, name, url, layout }): readonly Part[] =>
    layout === undefined
      ? []
      : [[say`Layout of dashboard ${url === undefined ? key || name : link(key || name, url)}:`, { kind: 'layout', layout }]],
  )
  const rest = drawn.slice(maxOpenLayouts)
  return [drawn.slice(0, maxOpenLayouts), fold(`Layouts of ${plural(rest.length, 'more dashboard')}`, rest)]
}

const maxNamed = 5

const namesOf = (objects: readonly NamedObject[]) => joinAtMost(maxNamed, objects.map(objectWords))

/** With a table where a sentence cannot name all. */
const aboutObjects = (title: string, objects: readonly NamedObject[], toLine: (length: number, names: Line) => Line): Part =>
  objects.length > 0 && [
    toLine(objects.length, namesOf(objects)),
    objects.length > maxNamed &&
      fold(
        `${title} (${objects.length})`,
        table(undefined, objects, {
          Kind: ({ kind }) => trusted(kindLabels[kind]),
          Key: ({ key }) => key,
          Name: ({ name }) => name,
          Id: ({ id }) => id,
        }),
      ),
  ]

function unmanaged({ unmanaged: number, unmanagedKinds }: PlanResult): Part {
  const lists = unmanagedKinds.map((kind) => `list-${toKebab(sections[kind])}`)
  const line = say`To see them, run ${trusted(lists.join(', '))} with ${trusted(spellInput('select', 'unmanaged'))}`
  return number > 0 && { ...fold(`Unmanaged, and not changed: ${plural(number, 'object')}`, line), isQuiet: true }
}

/** Only what is about a file has a location. */
export const toAnnotations = ({ diagnostics, files }: PlanResult): readonly Annotation[] =>
  diagnostics.map(({ location, ...rest }) => (files.includes(location.file) ? { ...rest, location } : rest))

const isFailedEvaluation = ({ rule }: Diagnostic) => rule === 'failed-evaluation'

/** A failed evaluation of an alert is a matter of the service, and apply may repair it. */
export const isPlanWrong = (diagnostics: readonly Diagnostic[]): boolean =>
  errorsIn(diagnostics).some((one) => !isFailedEvaluation(one) && !isAboutHeld(one))

function errorWords([first, ...others]: readonly Diagnostic[]) {
  if (first === undefined || others.length > 0) return say`${counted(others.length + 1, 'error')}`
  const [line = ''] = first.message.split('\n', 1)
  return untrustedSentence(clip(line.replace(/\.$/, ''), 300))
}

export function judgeDiagnostics(diagnostics: readonly Diagnostic[]): Verdict {
  const count = (severity: string): number => diagnostics.filter((one) => one.severity === severity).length
  const [errors, warnings] = [count('error'), count('warning')]
  if (isPlanWrong(diagnostics)) return { status: 'fail', reasons: [errorWords(errorsIn(diagnostics))], exit: 'input' }
  const failed = errorsIn(diagnostics).filter(isFailedEvaluation).length
  const reasons = [
    // The headline counts them: a diagnostic can be about several.
    ...(errors > failed ? [say`held objects need attention`] : []),
    ...(failed > 0 ? [say`the last evaluation of ${counted(failed, 'alert')} failed`] : []),
  ]
  if (errors > 0) return { status: 'fail', reasons }
  return warnings > 0 ? { status: 'warn', reasons: [say`${counted(warnings, 'warning')}`] } : { status: 'pass', reasons: [] }
}

const leads: Readonly<Record<Action, readonly [DiffLine['sign'], string]>> = {
  create: ['+', ''],
  update: ['~', ''],
  delete: ['-', ''],
  replace: ['~', 'replace '],
  adopt: ['~', 'adopt '],
  mark: ['~', 'mark '],
  release: ['~', 'release '],
  held: [' ', ''],
  unchanged: [' ', ''],
}

interface Entry {
  readonly lines: readonly DiffLine[]
  readonly isShort: boolean
  readonly place?: Line
}

function newSlosIn({ slos = [], objects }: PlanResult): readonly NewSlo[] {
  return slos.flatMap((slo) => {
    const made = objects.filter(({ madeFrom }) => madeFrom === `slos.${slo.key}`)
    return made.length > 0 && made.every(({ action }) => action === 'create') ? [{ ...slo, made }] : []
  })
}

/** One diff keeps the page short. It sums up new objects, whose fields are below it. */
function changeBlocks(objects: readonly PlannedObject[], newSlos: readonly NewSlo[], sides?: SideNames): readonly Block[] {
  const created = objects.filter(({ action }) => action === 'create')
  const ofSlos = new Set(newSlos.flatMap(({ made }) => made))
  const others = objects.filter((object) => !ofSlos.has(object))
  const alike = [...Map.groupBy(others, (object) => (object.instance === undefined ? object : templateOf(object))).values()]
  const entries = [...alike.map((group) => toEntry(group, sides)), ...newSlos.map(toSloEntry)]
  const [first, second] = created
  const diff: Block = { kind: 'diff', lines: joinEntries(entries), places: entries.flatMap(({ place }) => (place ? [place] : [])) }
  const withSql = sides === undefined ? others.filter((object) => sqlOfSlo(object).length > 0) : []
  return [
    diff,
    ...foldEntries(
      `All fields of ${first && second === undefined ? `${kindLabels[first.kind]} ${first.key}` : `${created.length} new objects`}`,
      created.map(({ summary: _, ...object }) => object),
    ),
    ...foldEntries(
      `SQL of ${plural(withSql.length, 'dashboard')}`,
      withSql.map((object) => ({ ...object, fields: sqlOfSlo(object), madeFrom: undefined })),
    ),
  ]
}

const foldEntries = (title: string, objects: readonly PlannedObject[]): readonly Block[] =>
  objects.length === 0
    ? []
    : [{ kind: 'details', title, blocks: [{ kind: 'diff', lines: joinEntries(objects.map((object) => toEntry([object]))) }] }]

/** Queries of a dashboard that follow what the file says about the SLO, which its other fields show. */
function sqlOfSlo({ madeFrom, origin, fields }: PlannedObject) {
  const sql =
    madeFrom !== undefined && (origin === 'files' || origin === 'decided') ? fields.filter(({ path }) => path.endsWith('.sqlTemplate')) : []
  return sql.length < fields.length ? sql : []
}

const joinEntries = (entries: readonly Entry[]): readonly DiffLine[] =>
  entries.flatMap(({ lines, isShort }, i) => {
    const previous = entries[i - 1]
    const isSeparate = previous !== undefined && !(isShort && previous.isShort)
    return isSeparate ? [{ sign: ' ' as const, text: '' }, ...lines] : lines
  })

/** A text that is equal for equal changes of several instances, without their keys. Tags are sorted, so a key can be anywhere in them. */
function templateOf({ instance = '', id: _, url: __, layout: ___, ...object }: PlannedObject) {
  const key = new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(instance)}(?![\\p{L}\\p{N}])`, 'gu')
  const withoutKey = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll(key, '\u0000') : value)
  return JSON.stringify(object, (_field, value: unknown) => (Array.isArray(value) ? value.map(withoutKey).toSorted() : withoutKey(value)))
}

function toEntry([object, ...others]: readonly PlannedObject[], sides?: SideNames): Entry {
  if (object === undefined) return { lines: [], isShort: true }
  const { kind, key, name, action, id, file, line, notes, summary, fields, origin } = object
  const where = file === undefined ? id : line === undefined ? file : `${file}:${line}`
  // With names for both sides, a table says who changed what.
  const why = action === 'update' && origin !== undefined && sides === undefined ? [spellOrigin(origin, sinceWhen(object))] : []
  const instances = others.flatMap(({ instance }) => instance ?? [])
  const same = instances.length === 0 ? [] : [`the same for ${plural(instances.length, 'more instance')}: ${namesAtMost(10, instances)}`]
  const isFolded = new Set<unknown>(sides === undefined ? sqlOfSlo(object) : [])
  const shown = summary === undefined ? fields.filter((field) => !isFolded.has(field)) : []
  return {
    lines: [
      toHead(action, [kindLabels[kind], key, key === name ? '' : JSON.stringify(name)], where),
      ...[...notes, ...why].map((note) => below(`# ${note}`)),
      ...(summary === undefined ? [] : toParagraph(summary)),
      ...toDiffLines(shown, action === 'update' || action === 'replace' ? sides : undefined),
      ...same.flatMap(toParagraph),
    ],
    isShort: shown.length === 0,
    ...(file !== undefined && { place: say`${trusted(kindLabels[kind])} ${placed(key || name, { file, line })}` }),
  }
}

type NewSlo = NonNullable<PlanResult['slos']>[number] & { readonly made: readonly PlannedObject[] }

function toSloEntry({ key, name, summary, made: [first, ...others] }: NewSlo): Entry {
  const { file, line } = first ?? {}
  return {
    lines: [
      toHead('create', ['SLO', key, key === name ? '' : JSON.stringify(name)], `${file}:${line}`),
      ...toParagraph(`${summary}. Makes dashboard ${key}.slo and ${plural(others.length, 'alert')}.`),
    ],
    isShort: true,
    ...(file !== undefined && { place: say`SLO ${placed(key, { file, line })}` }),
  }
}

function toHead(action: Action, label: readonly string[], where: string | undefined): DiffLine {
  const [sign, verb] = leads[action]
  return { sign, text: `${verb}${label.filter(Boolean).join(' ')}${where ? `  (${where})` : ''}`, isHead: true }
}

const below = (text: string): DiffLine => ({ sign: ' ', text: `  ${text}` })

const toParagraph = (text: string): readonly DiffLine[] => wrap(clip(text.replaceAll(/\s+/g, ' '), 600), 76).map(below)
