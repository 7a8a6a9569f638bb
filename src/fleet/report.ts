// Merges the results of the legs of a fleet into one verdict, which fails when a result is missing.

import * as z from 'zod'
import { InputError, inputError } from '../core/errors.ts'
import { counted, join, joinFirst, type Line, say, sentence, trusted, untrusted } from '../core/line.ts'
import { listFirst } from '../core/text.ts'
import type { Files } from '../operation/files.ts'
import * as fields from '../operation/inputs.ts'
import { defineOperation, noFields } from '../operation/operation.ts'
import { type Block, countFacts } from '../report/blocks.ts'
import { pass, type Report, type Verdict } from '../report/report.ts'
import { table } from '../report/table.ts'
import { fleetFile, operationsInput, readFleet, selectServices } from './fleet-file.ts'
import {
  type FleetResult,
  type FleetStatus,
  fleetResultSchema,
  fleetStatuses,
  mergeResults,
  type ResultFile,
  targetName,
} from './merge-results.ts'
import { type ParsedResultFile, parseResultFile } from './result-file.ts'

const details = z.object({
  resultCount: z.int().describe('Number of result files that were read.'),
  serviceCount: z.int().describe('Number of services of the fleet that are selected.'),
  passCount: z.int().describe('Number of results that passed.'),
  warnCount: z.int().describe('Number of results with a warning.'),
  failCount: z.int().describe('Number of results that failed.'),
  errorCount: z.int().describe('Number of results with an error: the operation failed and gave no result.'),
  missingCount: z.int().describe('Number of expected results that are missing.'),
  unreadableCount: z.int().describe('Number of files that are not valid results.'),
  results: z.array(fleetResultSchema).describe('Every result and every missing result, worst first.'),
  unreadable: z.array(z.object({ file: z.string(), reason: z.string() })).describe('Files that are not valid results, and why.'),
})

type ReportResult = z.output<typeof details>

export const fleetReport = defineOperation({
  summary: 'Merges the results of the jobs of a fleet into one report. Fails when a job failed or its result is missing.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({
    fleet: fleetFile,
    files: fields
      .lines('Result files of the legs. One glob per line.', 'globs inside the workspace, one per line', fields.glob)
      .default(['results/**/*.json']),
    operations: operationsInput(
      'Operations that must have results, one per line. Any other operation must be complete once it has a result.',
    ).optional(),
    select: selectServices,
  }),
  output: noFields,
  details,
  example: { fleet: 'fleet.yml', files: ['fleet-results/*.json'] },
  async run({ files }, { fleet: path, files: globs, operations = [], select }) {
    const text = await files.read(path, 'fleet')
    const fleet = readFleet(text, path, select)
    const { read, unreadable } = await readResultFiles(globs, files)
    const results = mergeResults({ selected: fleet, all: readFleet(text, path) }, read, operations)
    const count = (status: FleetStatus): number => results.filter((one) => one.status === status).length
    return {
      resultCount: read.length,
      serviceCount: fleet.reduce((sum, { services }) => sum + services.length, 0),
      passCount: count('pass'),
      warnCount: count('warn'),
      failCount: count('fail'),
      errorCount: count('error'),
      missingCount: count('missing'),
      unreadableCount: unreadable.length,
      results: [...results],
      unreadable,
    }
  },
  judge: judgeFleet,
  report: reportFleet,
})

/** More than any fleet has, and as many as a report can show. */
const maxResults = 50_000

const tooManyResults = { diagnostic: `is left out, because the files before it have more than ${maxResults} results` }

/** Throws an InputError when no file matches, because an empty report must not pass. */
async function readResultFiles(globs: readonly string[], files: Files) {
  const { paths, skipped } = await files.find(globs, 'files')
  if (paths.length === 0) throw inputError('files', `no file matches ${globs.join(', ')}. The legs left no results`)
  const read: ResultFile[] = []
  const unreadable: ReportResult['unreadable'] = skipped.map(({ path, reason }) => ({ file: path, reason }))
  let count = 0
  // One after another to limit memory: a file may have megabytes, and only a small part is kept.
  for (const file of paths) {
    const parsed = count > maxResults ? tooManyResults : await readResultFile(file, files)
    if ('diagnostic' in parsed) {
      unreadable.push({ file, reason: parsed.diagnostic })
    } else {
      read.push({ file, results: parsed.results })
      count += parsed.results.length
    }
  }
  return { read, unreadable }
}

/** An unreadable file must not hide the results of the others. */
async function readResultFile(file: string, files: Files): Promise<ParsedResultFile> {
  try {
    return parseResultFile(await files.read(file, 'files'))
  } catch (thrown) {
    if (thrown instanceof InputError) return { diagnostic: thrown.diagnostics.map(({ message }) => message).join('; ') }
    throw thrown
  }
}

/** Returns a verdict as bad as the worst result. */
function judgeFleet(result: ReportResult): Verdict {
  const { results, unreadable } = result
  const namesBy = (status: FleetStatus): readonly string[] => results.filter((one) => one.status === status).map(targetName)
  const failures = [
    ...countNames(namesBy('fail'), ['result failed', 'results failed']),
    ...countNames(namesBy('error'), ['result is an error', 'results are errors']),
    ...countNames(namesBy('missing'), ['result is missing', 'results are missing']),
    ...countNames(
      unreadable.map(({ file }) => file),
      ['result file is unreadable', 'result files are unreadable'],
    ),
  ]
  const outside = results.filter(({ isOutsideFleet }) => isOutsideFleet).map(targetName)
  const warnings = [
    ...countNames(namesBy('warn'), ['result has a warning', 'results have a warning']),
    ...countNames(outside, ['result is not in the fleet', 'results are not in the fleet']),
  ]
  const reasons = failures.length > 0 ? failures : warnings
  if (reasons.length === 0) return pass
  return { status: failures.length > 0 ? 'fail' : 'warn', reasons: [], sentence: join([...reasons, say`Read ${sizeOf(result)}.`], ' ') }
}

const sizeOf = ({ serviceCount, resultCount }: ReportResult): Line =>
  say`${counted(resultCount, 'result file')} for ${counted(serviceCount, 'service')}`

/** Number of names that a sentence lists. */
const maxNames = 3

/** `4 results failed: a, b, c and 1 more.` Nothing without names. */
function countNames(names: readonly string[], [singular, several]: readonly [string, string]): readonly Line[] {
  if (names.length === 0) return []
  const named = names.map((name): Line => [untrusted(name)])
  return [say`${names.length} ${trusted(names.length === 1 ? singular : several)}: ${joinFirst(named, maxNames)}.`]
}

/** The rows that need attention come first, because a long report is cut at the end. */
function reportFleet(result: ReportResult): Report {
  const { results, unreadable } = result
  const [passed, problems] = [results.filter(isFine), results.filter((one) => !isFine(one))]
  return {
    headline: say`All results passed: ${sizeOf(result)}`,
    keyLines: [
      join(
        factsOf(result).facts.map(({ label, value }) => say`${trusted(label)} ${value}`),
        ' · ',
      ),
      ...failingLines(problems),
    ],
    blocks: [
      factsOf(result),
      resultTable(problems, 'Needs attention'),
      table('Unreadable files', unreadable, { File: ({ file }) => file, Reason: ({ reason }) => sentence(reason) }),
      ...organizationTables(results),
      { kind: 'details', title: `Passed (${passed.length})`, blocks: [resultTable(passed)] },
    ],
  }
}

/** Results that a notification names. */
const maxFailing = 10

/** The results that fail the report, worst first. */
function failingLines(problems: readonly FleetResult[]): readonly Line[] {
  const failing = problems.filter(({ status }) => status !== 'pass' && status !== 'warn')
  const lines = failing.map(
    (one) => say`${trusted(statusWords[one.status])}: ${targetName(one)}${one.operation === undefined ? [] : say` (${one.operation})`}`,
  )
  return listFirst(lines, maxFailing, (count) => say`… and ${count} more`)
}

const isFine = ({ status, isOutsideFleet }: FleetResult): boolean => status === 'pass' && !isOutsideFleet

const factsOf = ({ passCount, warnCount, failCount, errorCount, missingCount, unreadableCount }: ReportResult) =>
  countFacts({
    Passed: passCount,
    Warnings: warnCount,
    Failed: failCount,
    Errors: errorCount,
    Missing: missingCount,
    Unreadable: unreadableCount,
  })

const statusWords: Readonly<Record<FleetStatus, string>> = {
  fail: '❌ failed',
  error: '🛑 error',
  missing: '❔ missing',
  warn: '⚠️ warning',
  pass: '✅ passed',
}

const resultTable = (results: readonly FleetResult[], title?: string): Block =>
  table(title, results, {
    Status: ({ status }) => trusted(statusWords[status]),
    Organization: organizationOf,
    Service: ({ service, serviceId }) => service ?? serviceId,
    Operation: ({ operation }) => operation,
    Details: detailsOf,
    File: ({ file }) => file,
  })

const organizationOf = ({ organization, organizationId }: FleetResult): string => organization ?? organizationId ?? ''

function detailsOf({ reason, figure, isOutsideFleet }: FleetResult): Line | undefined {
  const parts = [
    ...(isOutsideFleet ? [say`not in the fleet`] : []),
    ...(reason === '' ? [] : [sentence(reason)]),
    ...(figure === undefined ? [] : [sentence(figure)]),
  ]
  return parts.length === 0 ? undefined : join(parts, ', ')
}

/** Counts by organization. For a single organization, the facts show them. */
function organizationTables(results: readonly FleetResult[]): readonly Block[] {
  const byOrganization = [...Map.groupBy(results, organizationOf)]
  if (byOrganization.length < 2) return []
  const present = fleetStatuses.filter((status) => results.some((one) => one.status === status))
  const counts = present.map((status) => {
    const count = ([, own]: (typeof byOrganization)[number]): number => own.filter((one) => one.status === status).length
    return [`>${statusWords[status]}`, count] as const
  })
  return [table('By organization', byOrganization, { Organization: ([name]) => name, ...Object.fromEntries(counts) })]
}
