import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { styleText } from 'node:util'
import type { ProfileName } from '../../api/profiles.ts'
import { exitCodes, inputError } from '../../core/errors.ts'
import { demo, type Emulator, startEmulator } from '../../emulator/index.ts'
import { isExecutable, startCommand } from './installation.ts'

interface DemoStep {
  readonly title: string
  readonly operation: string
  /** Inputs by kebab-case name. */
  readonly inputs: Readonly<Record<string, string>>
  /** Files of the repository that it runs in, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** Whether the step is expected to fail. */
  readonly fails?: boolean
  /** The lines of the report that are shown after the verdict. All of it is shown with `--verbose`. */
  readonly highlights?: RegExp
  /** What happens in the web app before the step. */
  readonly before?: () => void
}

/** Settings that a job would set once, as environment variables. */
function demoEnvironment({ url }: Emulator, profile: ProfileName): Readonly<Record<string, string>> {
  const server = { WATCHKEEPER_API_URL: url, WATCHKEEPER_PROFILE: profile }
  if (profile === 'hyperdx') return { ...server, WATCHKEEPER_API_KEY: demo.apiKeySecret }
  return {
    ...server,
    WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
    WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
    WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
    WATCHKEEPER_SERVICE_ID: demo.services.checkout,
  }
}

/** The main operations against the emulator's shop. The last two are gates that fail. */
function demoSteps({ store }: Emulator): readonly DemoStep[] {
  const service = store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout)
  const dashboard = service?.dashboards.find(({ name }) => name === 'Checkout overview')
  const tile = dashboard?.tiles.find(({ name }) => name === 'Error rate')
  const webhook = service?.webhooks[0]
  if (dashboard === undefined || tile === undefined || webhook === undefined) throw new Error('the shop has no checkout overview')
  return [
    { title: 'List the dashboards with a tag', operation: 'list-dashboards', inputs: { select: 'tag=shop' }, highlights: / shop, / },
    { title: 'List the sources', operation: 'list-sources', inputs: {} },
    {
      title: 'Report the usage cost of 30 days, within the budget',
      operation: 'usage-cost',
      inputs: { period: 'last-30-days', budget: '500' },
      highlights: /^CHC per day/,
    },
    { title: 'Read the latest backup', operation: 'get-backup', inputs: { 'backup-id': 'latest' }, highlights: /^Size/ },
    {
      title: 'Create an alert on a tile, with a single request',
      operation: 'create-alert',
      inputs: {
        'dashboard-id': dashboard.id,
        'tile-id': tile.id,
        threshold: '0.05',
        interval: '1h',
        'webhook-id': webhook.id,
        name: 'Error rate in checkout',
        message: 'At least 5% of checkouts failed within an hour',
      },
      highlights: /^Condition/,
    },
    {
      title: 'Plan the changes of a file, without writing',
      operation: 'plan',
      inputs: { project: 'demo/shop' },
      highlights: /^\+ \w/,
      files: declared(webhook.id),
    },
    {
      title: 'Apply the file',
      operation: 'apply',
      inputs: { project: 'demo/shop' },
      highlights: /^created/,
      files: declared(webhook.id),
    },
    {
      title: 'Compare the cost with a smaller budget; the gate fails',
      operation: 'usage-cost',
      inputs: { period: 'last-30-days', budget: '300', compare: 'previous-period' },
      fails: true,
      highlights: /^(?:Budget exceeded on|Change from)/,
    },
    {
      title: 'Check the backups of three services; the gate fails',
      operation: 'check-backups',
      inputs: { services: Object.values(demo.services).join(', '), 'max-age-hours': '26' },
      fails: true,
      highlights: /[❌✅]/u,
    },
  ]
}

/** Alerts and dashboards as code on a self-hosted server. The drift fails. */
function selfHostedSteps({ store }: Emulator): readonly DemoStep[] {
  const service = store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout)
  const webhook = service?.webhooks[0]
  if (service === undefined || webhook === undefined) throw new Error('the shop has no webhook')
  // The demo's telemetry has no service of this name.
  const files = Object.fromEntries(Object.entries(declared(webhook.id)).map(([path, text]) => [path, text.replace(':orders', ':checkout')]))
  const file = { inputs: { project: 'demo/shop' }, files }
  const changeThreshold = (): void => {
    for (const alert of service.alerts) if (alert.name === 'Failed orders') alert.threshold = 1000
  }
  return [
    {
      title: 'Check the address, the version of the server and the key',
      operation: 'doctor',
      inputs: {},
      highlights: /^(?:server version|user)/,
    },
    {
      title: 'Backtest the alert of a file over the last 7 days',
      operation: 'backtest',
      ...file,
      highlights: /^(?:Fires|Notifications)/,
    },
    { title: 'Plan the changes of the file, without writing', operation: 'plan', ...file, highlights: /^\+ \w/ },
    { title: 'Apply the file', operation: 'apply', ...file, highlights: /^created/ },
    { title: 'Plan again; there is nothing to do', operation: 'plan', ...file },
    {
      title: 'A user changes the alert in the web app; drift fails',
      operation: 'drift',
      ...file,
      before: changeThreshold,
      fails: true,
      highlights: /^~/,
    },
    {
      title: 'Remove the alert from the file, and apply it with prune',
      operation: 'apply',
      inputs: { ...file.inputs, prune: 'true' },
      files: withoutAlerts(file.files),
      highlights: /^deleted/,
    },
  ]
}

const withoutAlerts = (files: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.slice(0, text.indexOf('alerts:'))]))

const declared = (webhookId: string) => ({
  'observability/orders.yml': `dashboards:
  orders:
    name: Orders
    tags: [shop]
    tiles:
      - name: Failed orders
        x: 0
        y: 0
        w: 24
        h: 6
        config:
          displayType: line
          sourceId: { source: Logs }
          select: [{ aggFn: count, where: 'ServiceName:orders SeverityText:error', whereLanguage: lucene }]
alerts:
  failed-orders:
    name: Failed orders
    dashboard: orders
    tile: Failed orders
    threshold: 10
    interval: 5m
    channel: { type: webhook, webhookId: ${webhookId} }
    message: More than 10 orders failed in 5 minutes
`,
})

interface DemoRun {
  readonly exitCode: number | null
  readonly log: string
  /** The text of the file that a runner reads outputs from. */
  readonly outputs: string
  readonly summary: string
}

/** Runs a step in a process of its own: the action's bundle as a runner does, or this command line. */
export async function runStep(
  step: DemoStep,
  command: Command,
  asAction: boolean,
  env: Readonly<Record<string, string>>,
): Promise<DemoRun> {
  const directory = join(tmpdir(), `watchkeeper-demo-${randomUUID()}`)
  await mkdir(directory)
  try {
    const [outputs, summary] = [join(directory, 'output'), join(directory, 'summary.md')]
    await Promise.all([outputs, summary].map((file) => writeFile(file, '')))
    for (const [name, text] of Object.entries(step.files ?? {})) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    const files = { GITHUB_OUTPUT: outputs, GITHUB_STEP_SUMMARY: summary, GITHUB_WORKSPACE: directory, RUNNER_TEMP: directory }
    const inputs = Object.fromEntries(
      Object.entries({ operation: step.operation, ...step.inputs }).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
    )
    const flags = [...Object.entries(step.inputs).flatMap(([name, value]) => [`--${name}`, value]), ...ownFlags(step)]
    const ran = asAction
      ? await run(command, { ...env, ...files, ...inputs }, directory)
      : await run([...command, step.operation, ...flags], { ...env, GITHUB_STEP_SUMMARY: summary }, directory)
    return { ...ran, outputs: await readFile(outputs, 'utf8'), summary: await readFile(summary, 'utf8') }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** A program and its first arguments. */
type Command = readonly [string, ...string[]]

function run([program, ...args]: Command, env: Readonly<Record<string, string>>, cwd: string): Promise<Pick<DemoRun, 'exitCode' | 'log'>> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let log = ''
    const add = (text: string): void => {
      log += text
    }
    child.stdout.setEncoding('utf8').on('data', add)
    child.stderr.setEncoding('utf8').on('data', add)
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, log }))
  })
}

/** Without a terminal, the command line writes changes only with `--yes`. */
const ownFlags = ({ operation }: Pick<DemoStep, 'operation'>): readonly string[] => (operation === 'apply' ? ['--yes'] : [])

interface DemoOptions {
  /** The entry of this command line. */
  readonly script: string
  /** The action's bundle, to be started as a runner starts it; without it, this command line is used. */
  readonly bundle: string | undefined
  readonly profile: ProfileName
  readonly write: (text: string) => void
  readonly color: boolean
  /** Shows whole logs, outputs and job summaries. */
  readonly isVerbose: boolean
}

/** Runs every step against an emulator of its own. Resolves to 0 when every step ended as expected. */
export async function runDemo({ script, bundle, profile, write, color, isVerbose }: DemoOptions): Promise<number> {
  if (bundle !== undefined && isExecutable()) throw inputError('--bundle', 'needs Node; run npm run demo in a clone of Watchkeeper')
  const paint: Paint = (format, text) => (color ? styleText(format, text, { validateStream: false }) : text)
  const line = (text = ''): void => write(`${text}\n`)
  const program = bundle === undefined ? 'The command line' : `The action's bundle ${bundle}`
  const emulator = await startEmulator({ dialect: profile, rateLimit: 'off' })
  try {
    const steps = profile === 'hyperdx' ? selfHostedSteps(emulator) : demoSteps(emulator)
    line(`${program} runs ${steps.length} operations. They need no account.`)
    line(`The emulator of the API listens on ${emulator.url}.`)
    let surprises = 0
    for (const [i, step] of steps.entries()) {
      const title = `━━ ${i + 1} of ${steps.length} · ${step.title} `
      const { lines, isAsExpected } = await showStep(step, { emulator, command: startCommand(script), bundle, profile, isVerbose, paint })
      for (const text of ['', paint('bold', title.padEnd(maxLineLength, '━')), ...lines]) line(text)
      if (!isAsExpected) surprises += 1
    }
    line()
    const command = `${bundle === undefined ? 'watchkeeper demo' : 'npm run demo --'}${profile === 'hyperdx' ? ' --profile hyperdx' : ''}`
    for (const text of summarize(surprises, command, isVerbose, paint)) line(text)
    return surprises === 0 ? exitCodes.ok : exitCodes.error
  } finally {
    await emulator.close()
  }
}

type Paint = (format: 'bold' | 'dim' | 'green' | 'red', text: string) => string

interface StepContext extends Pick<DemoOptions, 'bundle' | 'profile' | 'isVerbose'> {
  /** Starts this command line. */
  readonly command: Command
  readonly emulator: Emulator
  readonly paint: Paint
}

async function showStep(step: DemoStep, { emulator, command, bundle, profile, isVerbose, paint }: StepContext) {
  const asAction = bundle !== undefined
  step.before?.()
  const before = emulator.requests.length
  const run = await runStep(step, asAction ? [process.execPath, resolve(bundle)] : command, asAction, demoEnvironment(emulator, profile))
  const isAsExpected = (run.exitCode !== 0) === (step.fails === true)
  if (isAsExpected && !isVerbose) return { isAsExpected, lines: showBriefly(step, run, asAction) }
  const requests = emulator.requests.slice(before).map(({ method }) => method)
  const end = paint('dim', `requests: ${requests.join(', ')} · exit code ${run.exitCode}`)
  return { isAsExpected, lines: [...showAll(step, run, asAction), end] }
}

function summarize(surprises: number, command: string, isVerbose: boolean, paint: Paint): readonly string[] {
  if (surprises > 0) return [paint('red', `${surprises} operations did not end as expected.`)]
  return [
    paint('green', 'All operations ended as expected, including the gates that fail.'),
    'No data left this machine.',
    ...(isVerbose ? [] : [`For logs, outputs and job summaries, run: ${command} --verbose`]),
  ]
}

const indent = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `   ${line}`.trimEnd())

/** Fits a terminal of ordinary width. */
const maxLineLength = 80

const cut = (text: string): string => (text.length <= maxLineLength ? text : `${text.slice(0, maxLineLength - 1)}…`)

/** The call, the verdict, and the lines of the report that matter most. */
function showBriefly(step: DemoStep, { log }: DemoRun, asAction: boolean): readonly string[] {
  const given = Object.entries(step.inputs)
  const call = asAction
    ? `with: { ${[`operation: ${step.operation}`, ...given.map(([name, value]) => `${name}: ${value}`)].join(', ')} }`
    : commandOf(step)
  const report = log.split('\n')
  const verdict = report.filter((line) => /^[✔▲✖]/.test(line))
  const highlights = report.filter((line) => step.highlights?.test(line))
  return [cut(call), ...[...verdict, ...highlights].map((line) => cut(`   ${line}`))]
}

const commandOf = ({ operation, inputs }: DemoStep): string =>
  `$ watchkeeper ${[operation, ...Object.entries(inputs).map(([name, value]) => `--${name} '${value}'`), ...ownFlags({ operation })].join(' ')}`

function showAll(step: DemoStep, { log, outputs, summary }: DemoRun, asAction: boolean): readonly string[] {
  const given = Object.entries(step.inputs)
  const call = asAction
    ? ['with:', `   operation: ${step.operation}`, ...given.map(([name, value]) => `   ${name}: ${value}`)]
    : [commandOf(step)]
  return [
    ...call,
    'log:',
    ...indent(asRunnerShows(log)),
    ...(outputs === '' ? [] : ['outputs:', ...readOutputs(outputs).map((text) => `   ${text}`)]),
    'job summary (Markdown):',
    ...indent(shorten(summary)),
  ]
}

/** The runner swallows masks, shows an annotation as its level and text, and a group as its title. */
function asRunnerShows(log: string): string {
  const lines = log.split('\n')
  const masks = lines.filter((line) => line.startsWith('::add-mask::')).length
  const shown = lines
    .filter((line) => !line.startsWith('::add-mask::'))
    .filter((line) => line !== '::endgroup::')
    .map((line) => line.replace(/^::group::/, '▾ '))
    .map((line) =>
      line.replace(
        /^::(error|warning)[^:]*::(.*)/,
        (_, level: string, text: string) => `${level === 'error' ? 'Error' : 'Warning'}: ${unescapeCommand(text)}`,
      ),
    )
  return [...(masks === 0 ? [] : [`(${masks} values masked)`]), ...shown].join('\n').trim()
}

/** The text of a workflow command, as @actions/core escapes it. */
const unescapeCommand = (text: string): string => text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%')

const maxShownLength = 100

function readOutputs(text: string): readonly string[] {
  return [...text.matchAll(/^(.+?)<<(ghadelimiter_.+)\n([\s\S]*?)\n?\2$/gm)].map(
    ([, name, , value = '']) =>
      `${name} = ${value.length > maxShownLength ? `${value.slice(0, maxShownLength)}…` : value.replaceAll('\n', ' ')}`,
  )
}

/** Replaces folded parts and drawings by one line each. */
const shorten = (summary: string): string =>
  summary
    .replace(/<details><summary>(.*?)<\/summary>[\s\S]*?<\/details>/g, (_, title: string) => `▸ ${unescapeHtml(title)}`)
    .replace(/```mermaid\n[\s\S]*?\n```/g, '▸ bar chart (Mermaid)')

/** The title of a folded part, as a browser shows it. */
const unescapeHtml = (text: string): string => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
