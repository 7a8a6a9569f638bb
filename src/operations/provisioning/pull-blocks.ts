// Owns how a pull is shown: what became of the objects, and what changed in the files.
import type { Block, DiffLine } from '../../report/blocks.ts'
import { counted, data, join, type Line, ours, say, sentence } from '../../report/line.ts'
import { findingsBlock } from '../findings.ts'
import type { Verdict } from '../operation.ts'
import { nouns } from './plan-blocks.ts'
import type { PulledResultObject, PullResult } from './pull-result.ts'

/** In the order in which people want to know; what did not change they do not. */
const order = ['left-out', 'added', 'updated', 'missing', 'foreign'] as const

const words: Readonly<Record<(typeof order)[number], string>> = {
  'left-out': 'left out',
  added: 'added',
  updated: 'updated',
  missing: 'not in the service',
  foreign: "another project's",
}

export const isStopped = ({ findings }: PullResult): boolean => findings.some(({ severity }) => severity === 'error')

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
  const errors = result.findings.filter(({ severity }) => severity === 'error').length
  if (errors > 0) return { status: 'fail', reasons: [say`${counted(errors, 'error')}`], exit: 'input' }
  const warnings = result.findings.filter(({ severity }) => severity === 'warning').length
  const reasons = [
    ...(result.leftOut > 0 ? [say`${counted(result.leftOut, 'object')} left out`] : []),
    ...(warnings > 0 ? [say`${counted(warnings, 'warning')}`] : []),
  ]
  return reasons.length === 0 ? { status: 'pass', reasons } : { status: 'warn', reasons }
}

export function pullBlocks(result: PullResult): readonly Block[] {
  const { added, updated, unchanged, missing, leftOut, findings } = result
  if (isStopped(result)) return [findingsBlock(findings)]
  const facts = { Added: added, Updated: updated, Unchanged: unchanged, 'Not in the service': missing, 'Left out': leftOut }
  const shown = order.flatMap((what) => result.objects.filter((one) => one.what === what))
  return [
    { kind: 'facts', facts: Object.entries(facts).map(([label, count]) => ({ label, value: [ours(String(count))] })) },
    ...(findings.length === 0 ? [] : [findingsBlock(findings)]),
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
