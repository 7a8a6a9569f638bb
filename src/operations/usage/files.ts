// Owns the files that a report can be written to. Each format is loaded only when it is asked for.
import type { Block } from '../../report/blocks.ts'
import type { OutputFile } from '../operation.ts'
import type { UsageInput } from './inputs.ts'
import type { UsageResult } from './result.ts'

type Render = (result: UsageResult, blocks: readonly Block[], input: UsageInput) => Promise<string>

const formats: Readonly<Record<'csvFile' | 'focusFile' | 'metricsFile' | 'htmlFile', Render>> = {
  csvFile: async (result) => (await import('./export-csv.ts')).exportCsv(result),
  focusFile: async (result, _, { billingCycleDay }) => (await import('./export-focus.ts')).exportFocus(result, billingCycleDay),
  metricsFile: async (result, blocks) => (await import('./export-metrics.ts')).exportMetrics(result, blocks),
  htmlFile: async (_, blocks) => (await import('../../report/page.ts')).renderPage('Usage cost', blocks),
}

export async function renderFiles(result: UsageResult, input: UsageInput, blocks: readonly Block[]): Promise<readonly OutputFile[]> {
  const wanted = Object.entries(formats).flatMap(([name, render]) => {
    const path = input[name as keyof typeof formats]
    return path === undefined ? [] : [{ input: name, path, render }]
  })
  return Promise.all(
    wanted.map(async ({ input: name, path, render }) => ({ input: name, path, content: await render(result, blocks, input) })),
  )
}
