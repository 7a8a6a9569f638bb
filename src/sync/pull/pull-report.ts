import { structuredPatch } from 'diff'
import * as z from 'zod'
import { type Diagnostic, diagnosticSchema } from '../../core/diagnostics.ts'
import { digestOfText, gitBlobId } from '../../core/digest.ts'
import { counted, join, type Line, say, sentence, trusted, untrusted } from '../../core/line.ts'
import { listFirst, plural } from '../../core/text.ts'
import { inEnvironment, ofEnvironment } from '../../declarations/environment.ts'
import type { PullRequestContent, Verdict } from '../../operation/operation.ts'
import type { Block, DiffLine } from '../../report/blocks.ts'
import { toDiffLines } from '../../report/diff-lines.ts'
import type { FieldChange } from '../../resources/compare.ts'
import { canonicalText } from '../../resources/marker.ts'
import { sectionNames, sectionNouns } from '../../resources/section.ts'
import { changedLine } from '../plan/plan-result.ts'
import { type Draft, type DraftedFile, pullOutcomes } from './draft.ts'

const pullRequestStates = ['none', 'opened', 'updated', 'unchanged', 'closed', 'declined', 'kept', 'skipped'] as const

export interface Pulled {
  readonly project: string
  readonly draft: Draft
  /** With an error, the draft is empty. */
  readonly diagnostics: readonly Diagnostic[]
}

export const pullOutput = z.object({
  changed: z.boolean().describe('Whether any file was written.'),
  filesWritten: z.int().describe('Number of files that were written, new ones included.'),
  added: z.int().describe('Objects that were added to the files.'),
  updated: z.int().describe('Objects whose declarations were updated.'),
  removed: z.int().describe('Objects whose declarations were removed, with `remove-deleted`.'),
  unchanged: z.int().describe('Objects that are equal in the files and in the service.'),
  missing: z.int().describe('Objects that the files declare and the service does not have. Their declarations are kept.'),
  otherOwners: z.int().describe('Objects of other projects, which are never pulled.'),
  leftOut: z.int().describe('Objects that a file cannot declare as they are, or whose key or owner is unknown.'),
  notExportable: z.int().describe('Unmanaged objects of a kind that no file can declare, or of which the API hides a part.'),
  pullRequestState: z
    .enum(pullRequestStates)
    .optional()
    .describe(
      'With `pull-request`: what was done. `declined`: a person closed it, and the changes are the same. `kept`: its branch has commits of others. `skipped`: an apply is queued or running, or this run cannot judge.',
    ),
  pullRequestNumber: z.int().optional().describe('With `pull-request`: its number. Empty without one.'),
})

const field = z.object({
  path: z.string(),
  file: z.unknown().optional().describe('The value in the file; absent where it has none.'),
  service: z.unknown().optional().describe('The value in the service; absent where it has none.'),
})

const object = z.object({
  section: z.enum(sectionNames).describe('`dashboards`, `savedSearches`, `alerts`, `webhooks` or `sources`.'),
  key: z.string().describe('The key in the files. Empty if the object is in no file.'),
  name: z.string(),
  outcome: z
    .enum(pullOutcomes)
    .describe(
      '`other-project`: the object has the ownership marker of another project. `not-exportable`: no file can declare it, or the API hides a part of it.',
    ),
  id: z.string().optional(),
  file: z.string().optional(),
  reason: z.string().optional().describe('Why the object was left out.'),
  fields: z.array(field).optional().describe('For an updated object: the fields that differed.'),
  digest: z.string().optional().describe('For an updated object: a digest of what the file declares now.'),
})

const writtenFile = z.object({
  path: z.string(),
  isNew: z.boolean(),
  size: z.int().describe('Size of the content in bytes.'),
  content: z.string(),
  previousBlob: z.string().optional().describe('The id that Git gives the previous content; absent for a new file.'),
  lines: z.array(changedLine).optional().describe('The changed lines with their context; absent for a new file.'),
})

export const pullDetails = z.object({
  project: z.string().describe('The project that owns the objects.'),
  environment: z.string().optional().describe('The environment, if `env` is set.'),
  objects: z.array(object).describe('All objects of the service and of the files.'),
  writtenFiles: z.array(writtenFile).describe('The files that were written.'),
  diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes.'),
  applyWorkflows: z.array(z.string()).optional().describe('With `pull-request`: the workflows that must not be running.'),
})

export type PullResult = z.output<typeof pullOutput> & z.output<typeof pullDetails>

type ObjectResult = PullResult['objects'][number]

type FileResult = PullResult['writtenFiles'][number]

export function toPullResult({ project, draft: { files, objects }, diagnostics }: Pulled, environment: string | undefined): PullResult {
  const numberOf = (outcome: ObjectResult['outcome']): number => objects.filter((one) => one.outcome === outcome).length
  return {
    changed: files.length > 0,
    filesWritten: files.length,
    added: numberOf('added'),
    updated: numberOf('updated'),
    removed: numberOf('removed'),
    unchanged: numberOf('unchanged'),
    missing: numberOf('missing'),
    otherOwners: numberOf('other-project'),
    leftOut: numberOf('left-out'),
    notExportable: numberOf('not-exportable'),
    project,
    ...(environment !== undefined && { environment }),
    objects: objects.map(({ section, key, name, outcome, id, path, reason, fields, after }) => ({
      section,
      key,
      name,
      outcome,
      ...(id !== undefined && { id }),
      ...(path !== undefined && { file: path }),
      ...(reason !== undefined && { reason }),
      ...(fields !== undefined && { fields: fields.map(toFieldResult) }),
      ...(after !== undefined && { digest: digestOfText(canonicalText(after), 16) }),
    })),
    writtenFiles: files.map(toFileResult),
    diagnostics: [...diagnostics],
  }
}

/** A change of a plan leads from the service to the file. */
const toFieldResult = ({ path, before, after }: FieldChange): z.output<typeof field> => ({
  path,
  ...(after !== undefined && { file: after }),
  ...(before !== undefined && { service: before }),
})

const toFileResult = ({ path, before, after }: DraftedFile): FileResult => ({
  path,
  isNew: before === undefined,
  size: Buffer.byteLength(after),
  content: after,
  ...(before !== undefined && { previousBlob: gitBlobId(before), lines: changedLines(before, after) }),
})

/** A diff of two very different texts takes long, so the new text is shown as a whole. */
const maxEditLength = 2000

function changedLines(before: string, after: string): z.output<typeof changedLine>[] {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength })
  const lines =
    patch?.hunks.flatMap((hunk, i) => [...(i === 0 ? [] : [' …']), ...hunk.lines]) ?? after.split('\n').map((text) => `+${text}`)
  return lines
    .filter((text) => !text.startsWith('\\'))
    .map((text) => ({ sign: text.startsWith('+') ? '+' : text.startsWith('-') ? '-' : ' ', text: text.slice(1) }))
}

export const isStopped = ({ diagnostics }: PullResult): boolean => diagnostics.some(({ severity }) => severity === 'error')

export function judgePull(result: PullResult): Verdict {
  const errors = result.diagnostics.filter(({ severity }) => severity === 'error').length
  if (errors > 0) return { status: 'fail', reasons: [say`${counted(errors, 'error')}`], exit: 'input' }
  const warnings = result.diagnostics.filter(({ severity }) => severity === 'warning').length
  // Where files have something, objects that can never be exported do not make every pull a warning.
  const hasExported = result.added + result.updated + result.unchanged > 0
  const reasons = [
    ...(result.notExportable > 0 && !hasExported ? [say`${counted(result.notExportable, 'object')} cannot be exported`] : []),
    ...(result.leftOut > 0 ? [say`${counted(result.leftOut, 'object')} left out`] : []),
    ...(warnings > 0 ? [say`${counted(warnings, 'warning')}`] : []),
  ]
  return reasons.length === 0 ? { status: 'pass', reasons } : { status: 'warn', reasons }
}

export function pullHeadline(result: PullResult): Line {
  const { added, updated, removed, filesWritten, notExportable, objects } = result
  if (isStopped(result)) return say`Nothing was pulled${inEnvironment(result)}`
  if (filesWritten > 0) {
    const parts = Object.entries({ added, updated, removed }).filter(([, count]) => count > 0)
    const counts = join(
      parts.map(([outcome, count]) => say`${count} ${trusted(outcome)}`),
      ', ',
    )
    const others = notExportable > 0 ? say`; ${counted(notExportable, 'object')} cannot be exported` : []
    return say`Pulled into ${counted(filesWritten, 'file')}${ofEnvironment(result)}: ${counts}${others}`
  }
  if (objects.length === 0) return say`Nothing to pull${inEnvironment(result)}: the service has no objects of these kinds`
  return say`Nothing to pull${inEnvironment(result)}: no file changes`
}

/** The most important outcome first. Unchanged objects, and those of other projects, are only counted. */
const listedOutcomes = {
  'left-out': 'left out',
  'not-exportable': 'cannot be exported',
  added: 'added',
  updated: 'updated',
  removed: 'removed',
  'changed-in-files': 'changed in the files',
  missing: 'not in the service',
} as const

export function pullBlocks(result: PullResult): readonly Block[] {
  const { added, updated, removed, unchanged, missing, otherOwners, leftOut, notExportable, diagnostics } = result
  if (isStopped(result)) return [{ kind: 'diagnostics', diagnostics }]
  const facts = {
    Added: added,
    Updated: updated,
    ...(removed > 0 && { Removed: removed }),
    Unchanged: unchanged,
    'Not in the service': missing,
    'Of other projects': otherOwners,
    'Cannot be exported': notExportable,
    'Left out': leftOut,
  }
  return [
    { kind: 'facts', facts: Object.entries(facts).map(([label, count]) => ({ label, value: [trusted(String(count))] })) },
    { kind: 'diagnostics', diagnostics },
    {
      kind: 'table',
      columns: [{ title: 'Outcome' }, { title: 'Kind' }, { title: 'Key' }, { title: 'Name' }, { title: 'File' }, { title: 'Remark' }],
      rows: Object.entries(listedOutcomes).flatMap(([outcome, label]) =>
        result.objects.filter((one) => one.outcome === outcome).map((one) => [[trusted(label)], ...objectCells(one)]),
      ),
    },
    ...fileBlocks(result),
  ]
}

const objectCells = ({ section, key, name, file, reason, id = '' }: ObjectResult): readonly Line[] => [
  [trusted(sectionNouns[section])],
  key === '' ? [] : [untrusted(key)],
  [untrusted(name)],
  file === undefined ? [] : [untrusted(file)],
  reason === undefined ? [] : [sentence(`${id}: ${reason}`)],
]

/** What a person sees in the pull request of a drift. Removals count for the digest as objects do. */
export function driftPullRequest(result: PullResult): PullRequestContent {
  const { environment, objects, writtenFiles, applyWorkflows = [], diagnostics } = result
  const changed = objects.filter(({ outcome }) => outcome === 'updated' || outcome === 'removed')
  const identities = changed.map(({ section, key, digest = 'removed' }) => `${section}.${key} ${digest}`).toSorted()
  const where = environment === undefined ? '' : ` in ${environment}`
  return {
    branch: `watchkeeper/drift${environment === undefined ? '' : `-${environment}`}`,
    title: `Keep ${plural(changed.length, 'change')} made in the service${where}`,
    digest: digestOfText(identities.join('\n'), 16),
    files: writtenFiles.flatMap(({ path, content, previousBlob }) => (previousBlob === undefined ? [] : [{ path, content, previousBlob }])),
    blocks: pullRequestBlocks(result, changeBlocks(result, changed)),
    changes: changeBlocks(result, changed),
    applyWorkflows,
    incompleteReason: diagnostics.find(({ rule }) => rule === 'incomplete-pull')?.message,
    emptied: emptiedKinds(objects),
  }
}

/** An empty list is valid, and may still be a mistake of the server. With remove-deleted, it would remove every declaration of the kind. */
const emptiedKinds = (objects: readonly ObjectResult[]): readonly string[] =>
  sectionNames
    .filter((section) => {
      const declared = objects.filter((one) => one.section === section && one.key !== '' && one.outcome !== 'added')
      return declared.length > 0 && declared.every(({ outcome }) => outcome === 'missing' || outcome === 'removed')
    })
    .map((section) => `${sectionNouns[section]}s`)

const pullRequestBlocks = (result: PullResult, changes: readonly Block[]): readonly Block[] => [
  {
    kind: 'paragraph',
    line: say`These objects were changed in the service${inEnvironment(result)}, while their declarations are as last applied. This pull request updates the declarations.`,
  },
  ...changes,
  // Also keeps the list apart from the one before.
  { kind: 'paragraph', line: say`What to do:` },
  {
    kind: 'list',
    items: [
      say`To keep the changes, merge this pull request.`,
      say`To revert them, run apply on the default branch. The next run then closes this pull request.`,
      say`To leave both as they are, close this pull request. It is not opened again for the same changes.`,
    ],
  },
]

function changeBlocks(result: PullResult, changed: readonly ObjectResult[]): readonly Block[] {
  const leftOut = result.objects.filter(({ outcome }) => outcome === 'left-out')
  const removed = changed.filter(({ outcome }) => outcome === 'removed')
  const others = leftOut.map(({ section, key, reason = '' }) => say`${trusted(sectionNouns[section])} ${key}: ${sentence(reason)}`)
  const removals = removed.map(({ section, key, file = '' }) => say`${trusted(sectionNouns[section])} ${key} in ${file}`)
  return [
    { kind: 'diff', lines: changed.flatMap((one, i) => objectLines(one, i)) },
    ...(removals.length === 0
      ? []
      : ([
          { kind: 'paragraph', line: say`The service does not have these objects. They were deleted there, or were never applied:` },
          { kind: 'list', items: removals },
        ] as const)),
    ...(others.length === 0
      ? []
      : ([
          { kind: 'paragraph', line: say`Not part of this pull request, because a file cannot have the value of the service:` },
          { kind: 'list', items: others },
        ] as const)),
  ]
}

function objectLines({ section, key, name, outcome, fields = [] }: ObjectResult, index: number): readonly DiffLine[] {
  const title: DiffLine = { sign: outcome === 'removed' ? '-' : '~', text: `${sectionNouns[section]} ${key} (${name})` }
  const sides = fields.map(({ path, file, service }) => ({ path, before: file, after: service }))
  const blank: readonly DiffLine[] = index === 0 ? [] : [{ sign: ' ', text: '' }]
  return [...blank, title, ...toDiffLines(sides, { before: 'file', after: 'service' })]
}

const fileBlocks = ({ writtenFiles }: PullResult): readonly Block[] =>
  writtenFiles.length === 0
    ? []
    : [
        {
          kind: 'details',
          title: `Changes in ${plural(writtenFiles.length, 'file')}`,
          blocks: writtenFiles.flatMap((file): readonly Block[] => [
            { kind: 'paragraph', line: file.isNew ? say`${file.path} is new:` : say`${file.path}:` },
            { kind: 'diff', lines: shownLines(file) },
          ]),
        },
      ]

/** A report shows the first lines of a long file. */
const maxShownLines = 300

function shownLines({ content, lines }: FileResult): readonly DiffLine[] {
  const all: readonly DiffLine[] =
    lines ??
    content
      .trimEnd()
      .split('\n')
      .map((text) => ({ sign: '+', text }))
  return listFirst(all, maxShownLines, (count) => ({ sign: ' ', text: `… ${count} more lines` }))
}
