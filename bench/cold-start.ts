// Measures whole processes against Node that runs an empty file: what a user waits for is mostly the start.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { executablePath } from '../scripts/build-executable.ts'
import { demo } from '../src/emulator/index.ts'
import { type Line, say, trusted, untrusted } from '../src/platform/core/line.ts'
import { plural } from '../src/platform/core/text.ts'
import { type Benchmark, median, type OtherAction } from './benchmark.ts'
import { withOtherApi } from './other-api.ts'
import { type UsageApi, withUsageApi } from './usage-api.ts'

const pathOf = (name: string): string => new URL(`../${name}`, import.meta.url).pathname

type Environment = Readonly<Record<string, string>>

interface Program {
  readonly title: Line
  /** Default: Node. */
  readonly file?: string
  readonly args: readonly string[]
  readonly env: Environment
  /** Throws when the program did not do its work. */
  check?(): void
}

export const coldStart: Benchmark = ({ isShort, otherActions }) =>
  withUsageApi((usageApi) =>
    withOtherApi(async (otherApi) => {
      const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
      try {
        const bare: Program = { title: say`Node that runs an empty file`, args: [join(directory, 'nothing.mjs')], env: {} }
        writeFileSync(join(directory, 'nothing.mjs'), '')
        const runner = runnerEnvironment(directory)
        const others = otherActions.map((action) => otherProgram(action, { ...runner, ...otherApi.env }, otherApi.takeRequestCount))
        const programs = [bare, ...ownPrograms(runner, usageApi), ...others]
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

const serviceCounts = [1, 10, 40]

const files = ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'GITHUB_ENV', 'GITHUB_STATE', 'GITHUB_PATH']

const runnerEnvironment = (directory: string): Environment => ({
  ...Object.fromEntries(files.map((name) => [name, join(directory, name)])),
  GITHUB_WORKSPACE: directory,
  RUNNER_TEMP: directory,
})

function ownPrograms(runner: Environment, { urlOf, takeRequestCount }: UsageApi): readonly Program[] {
  const commandLine = pathOf('npm/cli.js')
  const settings = (services: number) =>
    Object.entries({
      PROFILE: 'clickhouse-cloud',
      'API-URL': urlOf(services),
      'API-KEY-ID': demo.apiKeyId,
      'API-KEY-SECRET': demo.apiKeySecret,
      'ORGANIZATION-ID': demo.organizationId,
    })
  const requiring =
    (least: number, most = least) =>
    () => {
      const count = takeRequestCount()
      if (count < least || count > most) throw new Error(`a run sent ${count} requests instead of ${least} to ${most}`)
    }
  const step = (period: string, services: number, check: () => void, inputs: Environment): Program => ({
    title: say`The action: ${trusted(period)}, ${trusted(plural(services, 'service'))}`,
    args: [pathOf('dist/index.js')],
    env: {
      ...runner,
      ...Object.fromEntries(settings(services).map(([name, value]) => [`INPUT_${name}`, value])),
      INPUT_OPERATION: 'usage-cost',
      INPUT_BUDGET: '100000',
      ...inputs,
    },
    check,
  })
  const month = { INPUT_PERIOD: '2026-01-01..2026-01-31' }
  const usageCost = ['usage-cost', '--period', '2026-01-01..2026-01-31', '--budget', '100000']
  const env = Object.fromEntries(settings(1).map(([name, value]) => [`WATCHKEEPER_${name.replaceAll('-', '_')}`, value]))
  return [
    ...serviceCounts.map((services) => step('a closed month and the four weeks before it', services, requiring(2), month)),
    // With the days that a forecast learns from, in requests of at most 31 days.
    ...serviceCounts.map((services) => step('the month to date', services, requiring(2, 4), { INPUT_PERIOD: 'month-to-date' })),
    { title: say`watchkeeper --version`, args: [commandLine, '--version'], env: {} },
    { title: say`watchkeeper --help`, args: [commandLine, '--help'], env: {} },
    { title: say`watchkeeper usage-cost: a closed month`, args: [commandLine, ...usageCost], env, check: requiring(2) },
    { title: say`the single executable: --version`, file: executablePath, args: ['--version'], env: {} },
    { title: say`the single executable: usage-cost`, file: executablePath, args: usageCost, env, check: requiring(2) },
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
function run({ file = process.execPath, args, env }: Program, cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const child = spawn(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const said: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk))
    child.on('close', (code) => {
      const elapsedMs = performance.now() - startedMs
      if (code === 0) resolve(elapsedMs)
      else reject(new Error(`${args.join(' ')} ended with ${code}:\n${Buffer.concat(said).toString()}`))
    })
  })
}
