// Asks Mermaid's own parser, which is what GitHub draws with.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Why each diagram is refused; undefined for one that is accepted. */
export async function refusalsOf(diagrams: readonly string[]): Promise<readonly (string | undefined)[]> {
  const worker = new Worker(new URL('mermaid-worker.ts', import.meta.url), { workerData: diagrams, execArgv: [] })
  const [refusals] = (await once(worker, 'message')) as [readonly (string | undefined)[]]
  await worker.terminate()
  return refusals
}
