// Measures whole processes against Node that runs an empty file: what a user waits for is mostly the start.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Line, say, trusted, untrusted } from '../src/core/line.ts'
import { demo } from '../src/emulator/index.ts'
import { type Benchmark, median, type OtherAction } from './benchmark.ts'
import { withOtherApi } from './other-api.ts'
import { withServer } from './server.ts'

const pathOf = (name: string): string => new URL(`../${name}`, import.meta.url).pathname

type Environment = Readonly<Record<string, string>>

interface Program {
  readonly title: Line
  /** Arguments of Node. */
  readonly args: readonly string[]
  readonly env: Environment
  /** Throws when the program did not do its work. */
  check?(): void
}

export const coldStart: Benchmark = ({ isShort, otherActions }) =>
  withServer(({ url }) =>
    withOtherApi(async (otherApi) => {
      const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
      try {
        const bare: Program = { title: say`Node that runs an empty file`, args: [join(directory, 'nothing.mjs')], env: {} }
        writeFileSync(join(directory, 'nothing.mjs'), '')
        const runner = runnerEnvironment(directory)
        const others = otherActions.map((action) => otherProgram(action, { ...runner, ...otherApi.env }, otherApi.takeRequestCount))
        const programs = [bare, ...ownPrograms(runner, url), ...others]
        const times = await measure(programs, directory, isShort ? 10 : 40)
        return [
          {
            kind: 'table',
            title: 'Start',
            columns: [{ title: 'What' }, { title: 'Median', align: 'right' }, { title: 'Times bare Node', align: 'right' }],
            rows: programs.map((program) => [program.title, ...cells(times.get(program) ?? [], times.get(bare) ?? [])]),
          },
        ]
      } finally {
        rmSync(directory, { recursive: true })
      }
    }),
  )

function cells(times: readonly number[], bareTimes: readonly number[]): readonly Line[] {
  const ratios = times.map((ms, i) => ms / (bareTimes[i] ?? Number.NaN)).toSorted((a, b) => a - b)
  const at = (part: number): string => (ratios[Math.round((ratios.length - 1) * part)] ?? Number.NaN).toFixed(1)
  const spread = at(0.1) === at(0.9) ? '' : ` (${at(0.1)} to ${at(0.9)})`
  return [[trusted(`${Math.round(median(times))} ms`)], [trusted(`${at(0.5)}${spread}`)]]
}

const files = ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'GITHUB_ENV', 'GITHUB_STATE', 'GITHUB_PATH']

const runnerEnvironment = (directory: string): Environment => ({
  ...Object.fromEntries(files.map((name) => [name, join(directory, name)])),
  GITHUB_WORKSPACE: directory,
  RUNNER_TEMP: directory,
})

function ownPrograms(runner: Environment, url: string): readonly Program[] {
  const commandLine = pathOf('npm/cli.js')
  const settings = {
    PROFILE: 'clickhouse-cloud',
    'API-URL': url,
    'API-KEY-ID': demo.apiKeyId,
    'API-KEY-SECRET': demo.apiKeySecret,
    'ORGANIZATION-ID': demo.organizationId,
  }
  const inputs = Object.entries(settings).map(([name, value]) => [`INPUT_${name}`, value])
  const variables = Object.entries(settings).map(([name, value]) => [`WATCHKEEPER_${name.replaceAll('-', '_')}`, value])
  return [
    {
      title: say`The action: a usage-cost step with one request, gate, outputs, summary`,
      args: [pathOf('dist/index.js')],
      env: {
        ...runner,
        ...Object.fromEntries(inputs),
        INPUT_OPERATION: 'usage-cost',
        INPUT_PERIOD: 'yesterday',
        INPUT_BUDGET: '100000',
      },
    },
    { title: say`watchkeeper --version`, args: [commandLine, '--version'], env: {} },
    { title: say`watchkeeper --help`, args: [commandLine, '--help'], env: {} },
    {
      title: say`watchkeeper usage-cost: one request, gate, report`,
      args: [commandLine, 'usage-cost', '--period', 'yesterday', '--budget', '100000'],
      env: Object.fromEntries(variables),
    },
  ]
}

const otherProgram = ({ name, file }: OtherAction, env: Environment, takeRequestCount: () => number): Program => ({
  title: say`For comparison: ${untrusted(name)} with one request`,
  args: [file],
  env,
  check() {
    const count = takeRequestCount()
    if (count !== 1) throw new Error(`${name} sent ${count} requests instead of one`)
  },
})

/** Every program in turn, round after round. The first round warms the disk's cache, and is not counted. */
async function measure(programs: readonly Program[], directory: string, rounds: number): Promise<ReadonlyMap<Program, readonly number[]>> {
  const times = new Map<Program, number[]>(programs.map((program) => [program, []]))
  for (let i = 0; i <= rounds; i++) {
    for (const program of programs) {
      for (const name of files) writeFileSync(join(directory, name), '')
      const ms = await run(program, directory)
      program.check?.()
      if (i > 0) times.get(program)?.push(ms)
    }
  }
  return times
}

/** Resolves to the milliseconds from its start to its end. */
function run({ args, env }: Program, cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const child = spawn(process.execPath, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const said: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk))
    child.on('close', (code) => {
      const elapsedMs = performance.now() - startedMs
      if (code === 0) resolve(elapsedMs)
      else reject(new Error(`${args.join(' ')} ended with ${code}:\n${Buffer.concat(said).toString()}`))
    })
  })
}
