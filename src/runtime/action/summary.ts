// Owns the job summary, within what GitHub keeps.
import { stat } from 'node:fs/promises'
import { summary } from '@actions/core'
import type { Block } from '../../report/blocks.ts'
import { renderMarkdown } from '../../report/markdown.ts'

/** GitHub drops a longer summary as a whole, and counts what other commands of the step wrote before. */
const largestBytes = 1024 * 1024

/** `file` is where the runner wants it; throws when there is no such place. */
export async function writeSummary(blocks: readonly Block[], file: string | undefined): Promise<void> {
  if (!file) throw new Error('GITHUB_STEP_SUMMARY is not set')
  const { size } = await stat(file)
  await summary.addRaw(renderMarkdown(blocks, largestBytes - size)).write()
}
