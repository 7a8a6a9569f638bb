// Owns the operation that writes what exists as files.
import * as z from 'zod'
import { WatchkeeperError } from '../../kernel/errors.ts'
import { quote } from '../../kernel/text.ts'
import { filesInput } from '../declaration-files.ts'
import { defineOperation, type OutputFile } from '../operation.ts'
import { planInput } from './inputs.ts'
import { judgePull, pullBlocks, pullHeadline } from './pull-blocks.ts'
import { type PullResult, pullDetails, pullOutput, toPullResult } from './pull-result.ts'
import { makePull } from './pulling.ts'

export const pull = defineOperation({
  summary: 'Writes the alerts, dashboards and saved searches of a service into files, so that plan has nothing to do.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({ files: filesInput, project: planInput.shape.project }),
  output: pullOutput,
  details: pullDetails,
  example: { files: ['observability/**/*.yml'], project: 'shop/observability' },
  run: async (context, input) => toPullResult(await makePull(context, input)),
  judge: judgePull,
  report: (result) => ({ headline: pullHeadline(result), blocks: pullBlocks(result), annotations: result.findings }),
  files: async ({ writtenFiles }) => writtenFiles.map(toOutputFile),
})

function toOutputFile({ path, content, size }: PullResult['writtenFiles'][number]): OutputFile {
  // A secret was taken out of it on its way here. Applied, such a file would put the stars into the service.
  if (Buffer.byteLength(content) !== size)
    throw new WatchkeeperError(
      'refused',
      `Nothing was written: "${quote(path)}" would hold a secret of this run. Take it out of what the service has.`,
    )
  return { input: 'files', path, content, isEssential: true }
}
