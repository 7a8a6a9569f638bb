// Owns the operation that merges what the legs of a fleet wrote into one verdict.
import * as z from 'zod'
import { InputError } from '../../kernel/errors.ts'
import * as fields from '../fields.ts'
import { defineOperation, type Files } from '../operation.ts'
import { readFleet } from './fleet-file.ts'
import { fleetFile, labels } from './inputs.ts'
import { readLegResult } from './leg-result.ts'
import { merge, type ToldFile } from './merge.ts'
import { reportMerged } from './merged-report.ts'
import { type MergedResult, type MergedStatus, mergedDetails, mergedOutput } from './merged-result.ts'
import { judgeMerged } from './merged-verdict.ts'

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
  if (paths.length === 0)
    throw new InputError([{ name: 'result-files', message: `no file matches ${globs.join(', ')}: the legs left no results` }])
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
    if (thrown instanceof InputError) return { complaint: thrown.problems.map(({ message }) => message).join('; ') }
    throw thrown
  }
}
