// Measures how long it takes to create alerts, in whole processes: the action, and OpenTofu with the vendor's provider where they are at
// hand.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { demo } from '../src/emulator/index.ts'
import { say, trusted } from '../src/platform/core/line.ts'
import type { BlockOf } from '../src/platform/report/blocks.ts'
import { type Benchmark, median } from './benchmark.ts'
import { withServer } from './server.ts'

const bundle = new URL('../dist/index.js', import.meta.url).pathname

interface Measured {
  readonly ms: number
  /** The most memory of all processes together. */
  readonly peakBytes: number
}

interface Tool {
  readonly name: string
  /** Creates `count` alerts in a new service. Resolves when the process has ended. */
  run(url: string, directory: string, count: number): Promise<Measured>
  /** Plans the same files again, which is without a change. */
  plan(url: string, directory: string): Promise<Measured>
}

export const applies: Benchmark = async ({ isShort, tofu }) => {
  const tools = [watchkeeper, ...(tofu === undefined ? [] : [openTofu(resolve(tofu))])]
  const rows: BlockOf<'table'>['rows'][number][] = []
  for (const latencyMs of [0, 100]) {
    for (const count of isShort ? [10, 100] : [10, 100, 300]) {
      const measured = await measureInTurn(tools, { latencyMs, count, rounds: isShort ? 1 : 5 })
      for (const tool of tools) {
        const runs = measured.get(tool) ?? []
        rows.push([
          [trusted(String(count))],
          [trusted(`${latencyMs} ms`)],
          [trusted(tool.name)],
          [trusted(`${(median(runs.map(({ ms }) => ms)) / 1000).toFixed(2)} s`)],
          [trusted(`${Math.round(median(runs.map(({ peakBytes }) => peakBytes)) / 1e6)} MB`)],
        ])
      }
    }
  }
  return [
    {
      kind: 'table',
      title: 'Create alerts without an effective limit',
      columns: [
        { title: 'Alerts', align: 'right' },
        { title: 'Latency', align: 'right' },
        { title: 'Tool' },
        { title: 'Median', align: 'right' },
        { title: 'Most memory', align: 'right' },
      ],
      rows,
    },
    { kind: 'paragraph', line: say`Every run starts with a new service and ends when the process does.` },
    {
      kind: 'table',
      title: 'Requests of a plan without a change',
      columns: [{ title: 'Alerts', align: 'right' }, { title: 'Tool' }, { title: 'Requests', align: 'right' }],
      rows: await Promise.all(
        tools.map(async (tool) => [[trusted(String(plannedCount))], [trusted(tool.name)], [trusted(String(await countRequests(tool)))]]),
      ),
    },
  ]
}

const plannedCount = 300

const countRequests = (tool: Tool): Promise<number> =>
  withServer(({ url, takeRequestCount }) =>
    withDirectory(async (directory) => {
      await tool.run(url, directory, plannedCount)
      await takeRequestCount()
      await tool.plan(url, directory)
      return takeRequestCount()
    }),
  )

async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
  try {
    return await use(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

interface Setting {
  readonly latencyMs: number
  readonly count: number
  readonly rounds: number
}

async function measureInTurn(
  tools: readonly Tool[],
  { latencyMs, count, rounds }: Setting,
): Promise<ReadonlyMap<Tool, readonly Measured[]>> {
  const measured = new Map<Tool, Measured[]>(tools.map((tool) => [tool, []]))
  for (let i = 0; i < rounds; i++) {
    for (const tool of tools) {
      const one = await withDirectory((directory) => withServer(({ url }) => tool.run(url, directory, count), { latencyMs }))
      measured.get(tool)?.push(one)
    }
  }
  return measured
}

/** Objects of the demo's service, whose ids never change. */
const savedSearchId = '65f5e4a35eedc0de0000001e'
const webhookId = '65f5e4a35eedc0de00000009'

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i + 1)

const watchkeeper: Tool = {
  name: 'watchkeeper',
  run(url, directory, count) {
    const alerts = numbers(count).map((i) => {
      const target = { savedSearch: { id: savedSearchId }, channel: { type: 'webhook', webhookId } }
      return [`alert-${i}`, { name: `Alert ${i}`, ...target, threshold: i, interval: '5m' }]
    })
    writeFileSync(join(directory, 'alerts.json'), JSON.stringify({ alerts: Object.fromEntries(alerts) }))
    return runAction('apply', url, directory)
  },
  plan: (url, directory) => runAction('plan', url, directory),
}

function runAction(operation: string, url: string, directory: string): Promise<Measured> {
  for (const name of ['output', 'summary']) writeFileSync(join(directory, name), '')
  return measure(process.execPath, [bundle], directory, {
    GITHUB_OUTPUT: join(directory, 'output'),
    GITHUB_STEP_SUMMARY: join(directory, 'summary'),
    GITHUB_WORKSPACE: directory,
    RUNNER_TEMP: directory,
    INPUT_OPERATION: operation,
    INPUT_PROFILE: 'clickhouse-cloud',
    INPUT_PROJECT: 'watchkeeper/bench',
    INPUT_FILES: 'alerts.json',
    'INPUT_API-URL': url,
    'INPUT_API-KEY-ID': demo.apiKeyId,
    'INPUT_API-KEY-SECRET': demo.apiKeySecret,
    'INPUT_ORGANIZATION-ID': demo.organizationId,
    'INPUT_SERVICE-ID': demo.services.checkout,
  })
}

/** `directory` holds the binaries `tofu` and `terraform-provider-clickhouse`. */
const openTofu = (directory: string): Tool => ({
  name: 'OpenTofu with the ClickHouse provider',
  run(url, workspace, count) {
    const alerts = numbers(count).map(
      (i) => `resource "clickhouse_clickstack_alert" "alert_${i}" {
  name            = "Alert ${i}"
  saved_search_id = "${savedSearchId}"
  channel         = { type = "webhook", webhook_id = "${webhookId}" }
  threshold       = ${i}
  threshold_type  = "above"
  interval        = "5m"
}`,
    )
    const provider = 'terraform {\n  required_providers {\n    clickhouse = { source = "ClickHouse/clickhouse" }\n  }\n}'
    writeFileSync(join(workspace, 'main.tf'), [provider, ...alerts].join('\n\n'))
    writeFileSync(
      join(workspace, 'tofurc'),
      `provider_installation {\n  dev_overrides { "ClickHouse/clickhouse" = "${directory}" }\n  direct {}\n}\n`,
    )
    return runTofu(directory, ['apply', '-auto-approve'], url, workspace)
  },
  plan: (url, workspace) => runTofu(directory, ['plan'], url, workspace),
})

const runTofu = (directory: string, args: readonly string[], url: string, workspace: string): Promise<Measured> =>
  measure(join(directory, 'tofu'), [...args, '-input=false', '-no-color'], workspace, {
    HOME: workspace,
    TF_CLI_CONFIG_FILE: join(workspace, 'tofurc'),
    CHECKPOINT_DISABLE: '1',
    CLICKHOUSE_API_URL: `${url}/v1`,
    CLICKHOUSE_ORG_ID: demo.organizationId,
    CLICKHOUSE_CLOUD_API_KEY: demo.apiKeyId,
    CLICKHOUSE_CLOUD_API_SECRET: demo.apiKeySecret,
    CLICKSTACK_SERVICE_ID: demo.services.checkout,
  })

function measure(file: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<Measured> {
  return new Promise((done, reject) => {
    const startedMs = performance.now()
    const child = spawn(file, args, { cwd, env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    const peaks = new Map<number, number>()
    const look = (): void => {
      for (const pid of withDescendants(child.pid)) peaks.set(pid, Math.max(peaks.get(pid) ?? 0, peakBytes(pid)))
    }
    const timer = setInterval(look, 20)
    const printed: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(timer)
      const ms = performance.now() - startedMs
      if (code === 0) done({ ms, peakBytes: [...peaks.values()].reduce((sum, bytes) => sum + bytes, 0) })
      else reject(new Error(`${file} ended with ${code}:\n${Buffer.concat(printed).toString()}`))
    })
  })
}

/** On Linux only; elsewhere the memory is 0. */
function withDescendants(pid: number | undefined): readonly number[] {
  if (pid === undefined) return []
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(withDescendants)]
}

const peakBytes = (pid: number): number => Number(/^VmHWM:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) * 1024

/** Empty for a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
