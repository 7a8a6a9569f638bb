import { structuredPatch } from 'diff'
import * as z from 'zod'
import { kindLabels, kindNames } from '../../kinds/kind-names.ts'
import { type Diagnostic, diagnosticSchema, errorsIn } from '../../platform/core/diagnostics.ts'
import { withoutUndefined } from '../../platform/core/keys.ts'
import { counted, join, type Line, say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { listAtMost, plural } from '../../platform/core/text.ts'
import { listDetails } from '../../platform/operation/listing.ts'
import { type Block, composeBlocks, countFacts, type DiffLine, fold, type Part } from '../../platform/report/blocks.ts'
import { toDiffLines } from '../../platform/report/diff-lines.ts'
import { pass, type Verdict } from '../../platform/report/report.ts'
import { table } from '../../platform/report/table.ts'
import { forProject, inEnvironment } from '../../sync/declarations/environment.ts'
import { type Draft, pullOutcomes } from '../../sync/pull/draft.ts'
import { changedLine } from '../plan/plan-result.ts'

export interface Pulled {
  readonly project: string
  readonly draft: Draft
  /** Problems of the files and the service. The draft is empty where one of them is an error. */
  readonly diagnostics: readonly Diagnostic[]
}

export const pullOutput = z.object({
  changed: z.boolean().describe('Whether any file was written.'),
})

const field = z.object({
  path: z.string(),
  file: z.unknown().optional().describe('The value in the file; absent where it has none.'),
  service: z.unknown().optional().describe('The value in the service; absent where it has none.'),
})

const object = z.object({
  kind: z.enum(kindNames).describe('`dashboard`, `savedSearch`, `alert`, `webhook` or `source`.'),
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
})

const writtenFile = z.object({
  path: z.string(),
  isNew: z.boolean(),
  size: z.int().describe('Size of the content in bytes.'),
  content: z.string(),
  lines: z.array(changedLine).optional().describe('The changed lines with their context; absent for a new file.'),
})

export const pullDetails = z.object({
  filesWritten: z.int().describe('Number of files that were written, new ones included.'),
  added: z.int().describe('Objects that were added to the files.'),
  updated: z.int().describe('Objects whose declarations were updated.'),
  removed: z.int().describe('Objects whose declarations were removed, with `only: drifted-or-deleted`.'),
  unchanged: z.int().describe('Objects that are equal in the files and in the service.'),
  missing: z.int().describe('Objects that the files declare and the service does not have. Their declarations are kept.'),
  otherOwners: z.int().describe('Objects of other projects, which are never pulled.'),
  leftOut: z.int().describe('Objects that a file cannot declare as they are, or whose key or owner is unknown.'),
  notExportable: z.int().describe('Unmanaged objects of a kind that no file can declare, or of which the API hides a part.'),
  complete: z
    .boolean()
    .describe(
      'Whether the service was read completely. With `only: drifted` or `drifted-or-deleted` also whether it has a declared object of each declared kind.',
    ),
  project: z.string().describe('The project that owns the objects.'),
  environment: z.string().optional().describe('The environment, if `env` is set.'),
  unmet: listDetails.unmet,
  objects: z.array(object).describe('All objects of the service and of the files, or those that `select` selects.'),
  writtenFiles: z.array(writtenFile).describe('The files that were written.'),
  diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes.'),
})

export type PullResult = z.output<typeof pullOutput> & z.output<typeof pullDetails>

type ObjectResult = PullResult['objects'][number]

export function toPullResult(
  { project, draft: { files, objects, unmet = '' }, diagnostics }: Pulled,
  environment: string | undefined,
): PullResult {
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
    complete: diagnostics.every(({ rule }) => rule !== 'incomplete-pull'),
    project,
    ...(environment !== undefined && { environment }),
    unmet,
    objects: objects.map(({ kind, key, name, outcome, id, path: file, reason, fields: changed }) => {
      // A change of a plan leads from the service to the file.
      const fields = changed?.map(({ path, before, after }) => withoutUndefined({ path, file: after, service: before }))
      return withoutUndefined({ kind, key, name, outcome, id, file, reason, fields })
    }),
    writtenFiles: files.map(({ path, before, after }) => ({
      path,
      isNew: before === undefined,
      size: Buffer.byteLength(after),
      content: after,
      ...(before !== undefined && { lines: changedLines(before, after) }),
    })),
    diagnostics: [...diagnostics],
  }
}

function changedLines(before: string, after: string): z.output<typeof changedLine>[] {
  // A diff of two very different texts takes long, so the new text is shown as a whole.
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: 2000 })
  const lines =
    patch?.hunks.flatMap((hunk, i) => [...(i === 0 ? [] : [' …']), ...hunk.lines]) ?? after.split('\n').map((text) => `+${text}`)
  return lines
    .filter((text) => !text.startsWith('\\'))
    .map((text) => ({ sign: text.startsWith('+') ? '+' : text.startsWith('-') ? '-' : ' ', text: text.slice(1) }))
}

const isStopped = ({ diagnostics }: PullResult) => errorsIn(diagnostics).length > 0

export function judgePull(result: PullResult): Verdict {
  const errors = errorsIn(result.diagnostics).length
  if (errors > 0) return { status: 'fail', reasons: [say`${counted(errors, 'error')}`], exit: 'input' }
  const warnings = result.diagnostics.filter(({ severity }) => severity === 'warning').length
  // Objects that can never be exported do not make every pull a warning where files have other objects.
  const hasExported = result.added + result.updated + result.unchanged > 0
  const reasons = [
    ...(result.notExportable > 0 && !hasExported ? [say`${counted(result.notExportable, 'object')} cannot be exported`] : []),
    ...(result.leftOut > 0 ? [say`${counted(result.leftOut, 'object')} left out`] : []),
    ...(warnings > 0 ? [say`${counted(warnings, 'warning')}`] : []),
  ]
  return reasons.length === 0 ? pass : { status: 'warn', reasons: [], sentence: say`${join([pullHeadline(result), ...reasons], ', ')}.` }
}

export function pullHeadline(result: PullResult): Line {
  const { added, updated, removed, filesWritten, notExportable, unmet, objects, complete } = result
  if (isStopped(result)) return say`Nothing was pulled${forProject(result)}`
  if (filesWritten > 0) {
    const parts = Object.entries({ added, updated, removed }).filter(([, count]) => count > 0)
    const counts = join(
      parts.map(([outcome, count]) => say`${count} ${trusted(outcome)}`),
      ', ',
    )
    const others = notExportable > 0 ? say`, ${counted(notExportable, 'object')} cannot be exported` : []
    return say`Pulled into ${counted(filesWritten, 'file')}${forProject(result)}: ${counts}${others}`
  }
  if (objects.length === 0)
    return say`Nothing to pull${forProject(result)}: ${unmet === '' ? trusted('the service has no objects of these kinds') : `no object has ${unmet}`}`
  return say`Nothing to pull${forProject(result)}: ${trusted(complete ? 'no file changes' : 'a list of the service may be incomplete')}`
}

/** Unchanged objects, and those of other projects, are only counted. */
const listedOutcomes = {
  'left-out': 'left out',
  'not-exportable': 'cannot be exported',
  added: 'added',
  updated: 'updated',
  removed: 'removed',
  'changed-in-files': 'changed in the files',
  missing: 'missing',
} as const

export function pullBlocks(result: PullResult): Part {
  const { added, updated, removed, unchanged, missing, otherOwners, leftOut, notExportable, diagnostics, objects, writtenFiles } = result
  if (isStopped(result)) return { kind: 'diagnostics', diagnostics }
  const listed = Object.entries(listedOutcomes).flatMap(([outcome, label]) =>
    objects.filter((one) => one.outcome === outcome).map((one) => ({ ...one, label })),
  )
  return [
    countFacts({
      Added: added,
      Updated: updated,
      Removed: removed,
      Unchanged: unchanged,
      Missing: missing,
      'Of other projects': otherOwners,
      'Cannot be exported': notExportable,
      'Left out': leftOut,
    }),
    { kind: 'diagnostics', diagnostics },
    table(undefined, listed, {
      Outcome: ({ label }) => trusted(label),
      Kind: ({ kind }) => trusted(kindLabels[kind]),
      Key: ({ key }) => key,
      Name: ({ name }) => name,
      File: ({ file }) => file,
      Remark: ({ id = '', reason }) => reason && untrustedSentence(`${id}: ${reason}`),
    }),
    fold(
      `Changes in ${plural(writtenFiles.length, 'file')}`,
      writtenFiles.map(
        (file): Part => [file.isNew ? say`${file.path} is new:` : say`${file.path}:`, { kind: 'diff', lines: shownLines(file) }],
      ),
    ),
  ]
}

export function pullRequestBlocks(result: PullResult): readonly Block[] {
  const of = (wanted: ObjectResult['outcome']): readonly ObjectResult[] => result.objects.filter(({ outcome }) => outcome === wanted)
  const removals = of('removed').map(({ kind, key, file = '' }) => say`${trusted(kindLabels[kind])} ${key} in ${file}`)
  const others = of('left-out').map(({ kind, key, reason = '' }) => say`${trusted(kindLabels[kind])} ${key}: ${untrustedSentence(reason)}`)
  return composeBlocks([
    say`These objects were changed in the service${inEnvironment(result)}, while their declarations are as last applied. This pull request updates the declarations.`,
    { kind: 'diff', lines: [...of('updated'), ...of('removed')].flatMap(objectLines) },
    listAfter(say`The service does not have these objects. They were deleted there, or were never applied:`, removals),
    listAfter(say`Not part of this pull request:`, others),
    listAfter(say`What to do:`, [
      say`To keep the changes, merge this pull request.`,
      say`To revert them, run apply on the default branch. The next run then closes this pull request.`,
    ]),
    say`GitHub starts no checks for a pull request that was made with GITHUB_TOKEN. To start them, close and reopen it.`,
  ])
}

const listAfter = (line: Line, items: readonly Line[]): Part => items.length > 0 && [line, { kind: 'list', items }]

function objectLines({ kind, key, name, outcome, fields = [] }: ObjectResult, index: number) {
  const title: DiffLine = { sign: outcome === 'removed' ? '-' : '~', text: `${kindLabels[kind]} ${key} (${name})` }
  const sides = fields.map(({ path, file, service }) => ({ path, before: file, after: service }))
  const blank: readonly DiffLine[] = index === 0 ? [] : [{ sign: ' ', text: '' }]
  return [...blank, title, ...toDiffLines(sides, { before: 'file', after: 'service' })]
}

function shownLines({ content, lines }: PullResult['writtenFiles'][number]): readonly DiffLine[] {
  const all: readonly DiffLine[] =
    lines ??
    content
      .trimEnd()
      .split('\n')
      .map((text) => ({ sign: '+', text }))
  return listAtMost(all, 300, (count) => ({ sign: ' ', text: `… ${count} more lines` }))
}
