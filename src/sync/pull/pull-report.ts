import { structuredPatch } from 'diff'
import * as z from 'zod'
import { diagnosticSchema } from '../../core/diagnostics.ts'
import type { Verdict } from '../../operation/operation.ts'
import { type Block, counted, type DiffLine, data, join, type Line, ours, say, sentence } from '../../report/blocks.ts'
import { nouns } from '../plan-report.ts'
import { type DraftedFile, pullKinds } from './draft.ts'
import type { Pulled } from './pull.ts'

// Owns the result of pull: what became of each object, and the files that it writes.

const count = (what: string) => z.int().describe(what)

export const pullOutput = z.object({
  changed: z.boolean().describe('Whether any file was written.'),
  filesWritten: count('Number of files that were written, new ones included.'),
  added: count('Objects that came into the files.'),
  updated: count('Objects whose declarations changed.'),
  unchanged: count('Objects that the files had as the service has them.'),
  missing: count('Objects that the files declare and the service does not have; their declarations stay.'),
  leftOut: count('Objects that no file can hold, or that nobody can tell whose they are.'),
})

const line = z.object({ sign: z.enum(['+', '-', ' ']), text: z.string() })

const object = z.object({
  section: z.string().describe('`dashboards`, `savedSearches` or `alerts`.'),
  key: z.string().describe('The key in the files; empty for what is in none.'),
  name: z.string(),
  what: z.enum(pullKinds).describe('`foreign` bears the mark of another project.'),
  id: z.string().optional(),
  file: z.string().optional(),
  reason: z.string().optional().describe('Why it was left out.'),
})

const writtenFile = z.object({
  path: z.string(),
  isNew: z.boolean(),
  size: z.int().describe('Bytes of the content.'),
  content: z.string(),
  lines: z.array(line).optional().describe('What changed, with the lines around it; absent for a new file.'),
})

export const pullDetails = z.object({
  project: z.string().describe('Whose the objects are.'),
  objects: z.array(object).describe('Every object of the service and of the files.'),
  writtenFiles: z.array(writtenFile).describe('The files that were written.'),
  diagnostics: z.array(diagnosticSchema).describe('What is wrong, and what is worth knowing.'),
})

export type PullResult = z.output<typeof pullOutput> & z.output<typeof pullDetails>

export type PulledResultObject = PullResult['objects'][number]

export function toPullResult({ project, files, objects, diagnostics }: Pulled): PullResult {
  const numberOf = (what: PulledResultObject['what']): number => objects.filter((one) => one.what === what).length
  return {
    changed: files.length > 0,
    filesWritten: files.length,
    added: numberOf('added'),
    updated: numberOf('updated'),
    unchanged: numberOf('unchanged'),
    missing: numberOf('missing'),
    leftOut: numberOf('left-out'),
    project,
    objects: objects.map(({ section, key, name, what, id, path, reason }) => ({
      section,
      key,
      name,
      what,
      ...(id !== undefined && { id }),
      ...(path !== undefined && { file: path }),
      ...(reason !== undefined && { reason }),
    })),
    writtenFiles: files.map(toWrittenFile),
    diagnostics: [...diagnostics],
  }
}

function toWrittenFile({ path, before, after }: DraftedFile): PullResult['writtenFiles'][number] {
  return {
    path,
    isNew: before === undefined,
    size: Buffer.byteLength(after),
    content: after,
    ...(before !== undefined && { lines: changedLines(before, after) }),
  }
}

/** Texts that differ in more lines than this are shown as a whole. */
const mostDifferences = 2000

function changedLines(before: string, after: string): z.output<typeof line>[] {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: mostDifferences })
  const lines =
    patch?.hunks.flatMap((hunk, i) => [...(i === 0 ? [] : [' …']), ...hunk.lines]) ?? after.split('\n').map((text) => `+${text}`)
  return lines
    .filter((text) => !text.startsWith('\\'))
    .map((text) => ({ sign: text.startsWith('+') ? '+' : text.startsWith('-') ? '-' : ' ', text: text.slice(1) }))
}

// Owns how a pull is shown: what became of the objects, and what changed in the files.

/** In the order in which people want to know; what did not change they do not. */
const order = ['left-out', 'added', 'updated', 'missing', 'foreign'] as const

const words: Readonly<Record<(typeof order)[number], string>> = {
  'left-out': 'left out',
  added: 'added',
  updated: 'updated',
  missing: 'not in the service',
  foreign: "another project's",
}

export const isStopped = ({ diagnostics }: PullResult): boolean => diagnostics.some(({ severity }) => severity === 'error')

export function pullHeadline(result: PullResult): Line {
  const { added, updated, filesWritten, objects } = result
  if (isStopped(result)) return say`Nothing was pulled`
  if (filesWritten > 0) {
    const parts = Object.entries({ added, updated }).filter(([, count]) => count > 0)
    const done = join(
      parts.map(([word, count]) => say`${count} ${ours(word)}`),
      ', ',
    )
    return say`Pulled into ${counted(filesWritten, 'file')}: ${done}`
  }
  if (objects.length === 0) return say`Nothing to pull: the service has no alerts, dashboards or saved searches`
  return say`Nothing to pull: no file changes`
}

export function judgePull(result: PullResult): Verdict {
  const errors = result.diagnostics.filter(({ severity }) => severity === 'error').length
  if (errors > 0) return { status: 'fail', reasons: [say`${counted(errors, 'error')}`], exit: 'input' }
  const warnings = result.diagnostics.filter(({ severity }) => severity === 'warning').length
  const reasons = [
    ...(result.leftOut > 0 ? [say`${counted(result.leftOut, 'object')} left out`] : []),
    ...(warnings > 0 ? [say`${counted(warnings, 'warning')}`] : []),
  ]
  return reasons.length === 0 ? { status: 'pass', reasons } : { status: 'warn', reasons }
}

export function pullBlocks(result: PullResult): readonly Block[] {
  const { added, updated, unchanged, missing, leftOut, diagnostics } = result
  if (isStopped(result)) return [{ kind: 'diagnostics', diagnostics }]
  const facts = { Added: added, Updated: updated, Unchanged: unchanged, 'Not in the service': missing, 'Left out': leftOut }
  const shown = order.flatMap((what) => result.objects.filter((one) => one.what === what))
  return [
    { kind: 'facts', facts: Object.entries(facts).map(([label, count]) => ({ label, value: [ours(String(count))] })) },
    { kind: 'diagnostics', diagnostics },
    {
      kind: 'table',
      columns: [{ title: 'What' }, { title: 'Kind' }, { title: 'Key' }, { title: 'Name' }, { title: 'File' }, { title: 'Remark' }],
      rows: shown.map(toRow),
    },
    ...fileBlocks(result),
  ]
}

const toRow = ({ section, key, name, what, file, reason, id = '' }: PulledResultObject): readonly Line[] => [
  [ours(what === 'unchanged' ? what : words[what])],
  [ours(nouns[section] ?? '')],
  key === '' ? [] : [data(key)],
  [data(name)],
  file === undefined ? [] : [data(file)],
  reason === undefined ? [] : [sentence(`${id}: ${reason}`)],
]

/** Lines of one file that a page shows; the file has them all. */
const mostLines = 300

/** One fold for all of them: whoever wants to know will look at the files. */
const fileBlocks = ({ writtenFiles }: PullResult): readonly Block[] =>
  writtenFiles.length === 0
    ? []
    : [
        {
          kind: 'details',
          title: `Changes in ${writtenFiles.length} file${writtenFiles.length === 1 ? '' : 's'}`,
          blocks: writtenFiles.flatMap((file): readonly Block[] => [
            { kind: 'paragraph', line: file.isNew ? say`${file.path} is new:` : say`${file.path}:` },
            { kind: 'diff', lines: linesOf(file) },
          ]),
        },
      ]

function linesOf({ content, lines }: PullResult['writtenFiles'][number]): readonly DiffLine[] {
  const all: readonly DiffLine[] =
    lines ??
    content
      .trimEnd()
      .split('\n')
      .map((text) => ({ sign: '+', text }))
  const rest = all.length - mostLines
  return rest > 0 ? [...all.slice(0, mostLines), { sign: ' ', text: `… ${rest} more lines` }] : all
}
