import * as z from 'zod'
import { InputError, inputError } from '../core/errors.ts'
import * as fields from '../operation/fields.ts'
import { defineOperation, type Files, pass, type Report, type Verdict } from '../operation/operation.ts'
import { type Block, counted, data, join, type Line, ours, say, sentence } from '../report/blocks.ts'
import { fleetFile, labels, readFleet } from './fleet-file.ts'
import {
  type Merged,
  type MergedResult,
  type MergedStatus,
  merge,
  mergedDetails,
  mergedOutput,
  mergedStatuses,
  nameOf,
  type ToldFile,
} from './merge.ts'
import { readLegResult } from './result-file.ts'

// Owns the verdict over all results of a fleet: as bad as the worst of them, and never green where something is missing.

export function judgeMerged({ results, unreadable }: MergedResult): Verdict {
  const having = (status: MergedStatus): readonly string[] => results.filter((one) => one.status === status).map(nameOf)
  const failures = [
    told(having('fail'), 'failed'),
    told(having('error'), 'could not be done'),
    told(having('missing'), 'without a result'),
    told(
      unreadable.map(({ file }) => file),
      'unreadable',
    ),
  ].flat()
  const warnings = [
    told(having('warn'), 'with a warning'),
    told(results.filter(({ isStranger }) => isStranger).map(nameOf), 'not in the fleet'),
  ]
  if (failures.length > 0) return { status: 'fail', reasons: failures }
  const reasons = warnings.flat()
  return reasons.length > 0 ? { status: 'warn', reasons } : pass
}

/** More names than this are no sentence. */
const mostNames = 3

function told(names: readonly string[], words: string): readonly Line[] {
  if (names.length === 0) return []
  const rest = names.length - mostNames
  const named = join(
    names.slice(0, mostNames).map((name) => [data(name)]),
    ', ',
  )
  return [say`${names.length} ${ours(words)} (${named}${rest > 0 ? say` and ${rest} more` : []})`]
}

// Owns the report over all results of a fleet: what is not all right first, so that nothing of it is lost where room is short.

export function reportMerged(result: MergedResult): Report {
  const { resultCount, serviceCount, results, unreadable } = result
  const isWrong = ({ status, isStranger }: Merged): boolean => status !== 'pass' || isStranger
  const right = results.filter((one) => !isWrong(one))
  return {
    headline: say`${counted(serviceCount, 'service')}, ${counted(resultCount, 'result file')}`,
    blocks: [
      { kind: 'facts', facts: factsOf(result) },
      tableOf('Not all right', results.filter(isWrong)),
      {
        kind: 'table',
        title: 'Files that are no results',
        columns: [{ title: 'File' }, { title: 'What is wrong' }],
        rows: unreadable.map(({ file, reason }) => [[data(file)], [sentence(reason)]]),
      },
      organizationTable(results),
      {
        kind: 'details',
        title: `What passed (${right.length})`,
        blocks: [tableOf(undefined, right)],
      },
    ],
  }
}

const factsOf = ({ passCount, warnCount, failCount, errorCount, missingCount, unreadableCount }: MergedResult) =>
  (
    [
      ['Passed', passCount],
      ['Warning', warnCount],
      ['Failed', failCount],
      ['Not done', errorCount],
      ['Missing', missingCount],
      ['Unreadable', unreadableCount],
    ] as const
  ).map(([label, count]) => ({ label, value: say`${count}` }))

const words: Readonly<Record<MergedStatus, string>> = {
  fail: '❌ failed',
  error: '🛑 not done',
  missing: '❔ missing',
  warn: '⚠️ warning',
  pass: '✅ passed',
}

type Table = Extract<Block, { kind: 'table' }>

function tableOf(title: string | undefined, results: readonly Merged[]): Table {
  return {
    kind: 'table',
    ...(title !== undefined && { title }),
    columns: [
      { title: 'Status' },
      { title: 'Organization' },
      { title: 'Service' },
      { title: 'Operation' },
      { title: 'Told' },
      { title: 'File' },
    ],
    rows: results.map((one) => [
      [ours(words[one.status])],
      orNothing(one.organization ?? one.organizationId),
      orNothing(one.service ?? one.serviceId),
      orNothing(one.operation),
      whatIsTold(one),
      orNothing(one.file),
    ]),
  }
}

const orNothing = (text: string | undefined): Line => (text ? [data(text)] : [ours('–')])

function whatIsTold({ reason, figure, isStranger }: Merged): Line {
  const parts = [
    ...(isStranger ? [say`not in the fleet`] : []),
    ...(reason === '' ? [] : [[sentence(reason)]]),
    ...(figure === undefined ? [] : [[data(figure)]]),
  ]
  return parts.length === 0 ? [ours('–')] : join(parts, ', ')
}

/** Says where it goes wrong; with one organization, the figures above say it already. */
function organizationTable(results: readonly Merged[]): Table {
  const byOrganization = Map.groupBy(results, ({ organization, organizationId }) => organization ?? organizationId ?? '')
  const columns = [{ title: 'Organization' }, ...mergedStatuses.map((status) => ({ title: words[status], align: 'right' as const }))]
  if (byOrganization.size < 2) return { kind: 'table', columns, rows: [] }
  const count = (ofOne: readonly Merged[], status: MergedStatus): Line => say`${ofOne.filter((one) => one.status === status).length}`
  return {
    kind: 'table',
    title: 'By organization',
    columns,
    rows: [...byOrganization].map(([name, ofOne]) => [orNothing(name), ...mergedStatuses.map((status) => count(ofOne, status))]),
  }
}

// Owns the operation that merges what the legs of a fleet wrote into one verdict.

export const report = defineOperation({
  summary: 'Merges the results of the legs of a fleet into one report and one verdict. What has no result fails.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({
    fleet: fleetFile,
    resultFiles: fields
      .lines('Result files of the legs, as globs, one a line.', 'globs inside the workspace, one a line', fields.glob)
      .default(['results/**/*.json']),
    operations: fields
      .lines(
        'Operations that there must be results of, one a line; those that any result is of must be complete in any case.',
        'names of operations, one a line',
        z.string().regex(/^[a-z][a-z-]{1,40}$/),
      )
      .optional(),
    labels,
  }),
  output: mergedOutput,
  details: mergedDetails,
  example: { fleet: 'examples/fleet.yml', resultFiles: ['examples/fleet-results/*.json'] },
  async run({ files }, { fleet: path, resultFiles, operations = [], labels: wanted }) {
    const fleet = readFleet(await files.read(path, 'fleet'), path, wanted)
    const { told, unreadable: refused } = await readResults(resultFiles, files)
    const results = merge(fleet, told, operations)
    const count = (status: MergedStatus): number => results.filter((one) => one.status === status).length
    return {
      resultCount: told.length,
      serviceCount: fleet.reduce((sum, { services }) => sum + services.length, 0),
      passCount: count('pass'),
      warnCount: count('warn'),
      failCount: count('fail'),
      errorCount: count('error'),
      missingCount: count('missing'),
      unreadableCount: refused.length,
      results: [...results],
      unreadable: refused,
    }
  },
  judge: judgeMerged,
  report: reportMerged,
})

/** Far more than a fleet has services, and no more than a report can hold. */
const mostResults = 50_000

const tooMany = { complaint: `is left out: the files before it hold more than ${mostResults} results` }

/** Throws an InputError when no file matches: nothing to merge is not nothing wrong. */
async function readResults(globs: readonly string[], files: Files) {
  const paths = await files.find(globs, 'result-files')
  if (paths.length === 0) throw inputError('result-files', `no file matches ${globs.join(', ')}: the legs left no results`)
  const told: ToldFile[] = []
  const refused: MergedResult['unreadable'] = []
  // One after another: each may have megabytes, and little of it is kept.
  let count = 0
  for (const file of paths) {
    const result = count > mostResults ? tooMany : await readOne(file, files)
    if ('complaint' in result) refused.push({ file, reason: result.complaint })
    else told.push({ file, told: result.told })
    count += 'told' in result ? result.told.length : 0
  }
  return { told, unreadable: refused }
}

/** One file that cannot be read must not hide what the others say. */
async function readOne(file: string, files: Files): Promise<ReturnType<typeof readLegResult>> {
  try {
    return readLegResult(await files.read(file, 'result-files'))
  } catch (thrown) {
    if (thrown instanceof InputError) return { complaint: thrown.diagnostics.map(({ message }) => message).join('; ') }
    throw thrown
  }
}
