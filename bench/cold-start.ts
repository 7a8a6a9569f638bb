// Measures a whole step of the bundle against Node that does nothing: what a user waits for is mostly the start.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { say, trusted } from '../src/core/line.ts'
import { demo } from '../src/emulator/index.ts'
import { type Benchmark, median } from './benchmark.ts'
import { withServer } from './server.ts'

const bundle = new URL('../dist/index.js', import.meta.url).pathname

type Environment = Readonly<Record<string, string>>

export const coldStart: Benchmark = ({ isShort }) =>
  withServer(async ({ url }) => {
    const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
    try {
      const nothing = join(directory, 'nothing.mjs')
      writeFileSync(nothing, '')
      const pairs: { readonly bareMs: number; readonly stepMs: number }[] = []
      // The first pair warms the disk's cache, and is not counted.
      for (let i = 0; i <= (isShort ? 10 : 40); i++) {
        const bareMs = await run(nothing, {})
        const stepMs = await run(bundle, stepEnvironment(directory, url))
        if (i > 0) pairs.push({ bareMs, stepMs })
      }
      const ratios = pairs.map(({ bareMs, stepMs }) => stepMs / bareMs).toSorted((a, b) => a - b)
      const at = (part: number): string => (ratios[Math.round((ratios.length - 1) * part)] ?? Number.NaN).toFixed(1)
      return [
        {
          kind: 'table',
          title: 'Start',
          columns: [{ title: 'What' }, { title: 'Median', align: 'right' }, { title: 'Times bare Node', align: 'right' }],
          rows: [
            [say`Node that runs an empty file`, milliseconds(pairs.map(({ bareMs }) => bareMs)), [trusted('1.0')]],
            [
              say`A whole usage-cost step: one request, gate, outputs, summary`,
              milliseconds(pairs.map(({ stepMs }) => stepMs)),
              [trusted(`${at(0.5)} (${at(0.1)} to ${at(0.9)})`)],
            ],
          ],
        },
      ]
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

const milliseconds = (values: readonly number[]) => [trusted(`${Math.round(median(values))} ms`)]

function stepEnvironment(directory: string, url: string): Environment {
  const [output, summary] = [join(directory, 'output'), join(directory, 'summary')]
  for (const file of [output, summary]) writeFileSync(file, '')
  return {
    GITHUB_OUTPUT: output,
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_WORKSPACE: directory,
    RUNNER_TEMP: directory,
    INPUT_OPERATION: 'usage-cost',
    INPUT_PROFILE: 'clickhouse-cloud',
    'INPUT_API-URL': url,
    'INPUT_API-KEY-ID': demo.apiKeyId,
    'INPUT_API-KEY-SECRET': demo.apiKeySecret,
    'INPUT_ORGANIZATION-ID': demo.organizationId,
    INPUT_PERIOD: 'last-30-days',
    INPUT_BUDGET: '100000',
  }
}

/** Resolves to the milliseconds from its start to its end. */
function run(file: string, env: Environment): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const said: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk))
    child.on('close', (code) => {
      const elapsedMs = performance.now() - startedMs
      if (code === 0) resolve(elapsedMs)
      else reject(new Error(`${file} ended with ${code}:\n${Buffer.concat(said).toString()}`))
    })
  })
}
