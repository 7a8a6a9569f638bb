import type { Block } from '../report/blocks.ts'
import { outputPath } from './inputs.ts'
import type { OutputFile } from './operation.ts'

export const htmlFileInput = outputPath('Writes the report as one self-contained HTML page to this file.').optional()

/** The page of a report, where the input `html-file` is set. Few runs need its code. */
export async function htmlFiles(path: string | undefined, title: string, blocks: readonly Block[]): Promise<readonly OutputFile[]> {
  if (path === undefined) return []
  const { renderPage } = await import('../report/page.ts')
  return [{ input: 'htmlFile', path, content: renderPage(title, blocks) }]
}
