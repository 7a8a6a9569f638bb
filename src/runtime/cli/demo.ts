import { randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { styleText } from 'node:util'
import { demo, type Emulator, startEmulator } from '../../emulator/index.ts'
import type { OperationName } from '../../operations.ts'
import type { ProfileName } from '../../platform/api/profiles.ts'
import { exitCodes } from '../../platform/core/errors.ts'
import { operationCommand } from './operation-command.ts'
import { hasColors, type Terminal } from './terminal.ts'

interface DemoStep {
  readonly title: string
  readonly operation: OperationName
  readonly words?: readonly string[]
  readonly inputs: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  readonly fails?: boolean
  /** Lines of the report after the verdict. `--verbose` shows all of it. */
  readonly highlights?: RegExp
  readonly before?: () => void
}

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

/** The last two operations are gates that fail. */
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
    { title: 'Read the newest backup', operation: 'get-backup', inputs: {}, highlights: /^Size/ },
    {
      title: 'Create an alert on a tile, with a single request',
      operation: 'create-alert',
      inputs: {
        alert: JSON.stringify({
          ...{ name: 'Error rate in checkout', dashboard: dashboard.id, tile: tile.id, threshold: 0.05, interval: '1h' },
          channel: { type: 'webhook', webhookId: webhook.id },
          message: 'At least 5% of checkouts failed within an hour',
        }),
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

/** The drift fails. */
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
    {
      title: 'Import a dashboard that the web app exported, and see what is lost',
      operation: 'import',
      words: ['orders.json'],
      inputs: {},
      files: { 'orders.json': JSON.stringify(exported) },
      highlights: /^Orders/,
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
      files: Object.fromEntries(Object.entries(file.files).map(([path, text]) => [path, text.slice(0, text.indexOf('alerts:'))])),
      highlights: /^deleted/,
    },
  ]
}

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

/** A condition of a whole chart is lost beside those of its series, because the API has none. */
const exported = {
  version: '0.1.0',
  name: 'Orders',
  tiles: [
    {
      ...{ id: 'a', x: 0, y: 0, w: 12, h: 6 },
      config: {
        name: 'All',
        source: 'Logs',
        displayType: 'line',
        select: [{ aggFn: 'count', valueExpression: '', aggCondition: 'SeverityText:error', aggConditionLanguage: 'lucene' }],
        where: 'Body:order',
        whereLanguage: 'lucene',
      },
    },
  ],
}

interface DemoRun {
  readonly exitCode: number
  readonly log: string
}

/** Runs as this command line does, in a directory of its own. */
async function runStep(
  { operation, files = {}, words = [], ...step }: DemoStep,
  env: Terminal['env'],
  terminal: Terminal,
): Promise<DemoRun> {
  const directory = join(tmpdir(), `watchkeeper-demo-${randomUUID()}`)
  await mkdir(directory)
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    let log = ''
    const write = (text: string): void => {
      log += text
    }
    const command = await operationCommand(operation, { ...terminal, env, directory, stdout: { write }, stderr: { write } })
    const exitCode = await command.run({ options: { ...step.inputs, ...(operation === 'apply' && { yes: 'true' }) }, words: [...words] })
    return { exitCode, log }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface DemoOptions {
  readonly profile: ProfileName
  readonly isVerbose: boolean
}

/** Resolves to 0 when every step ended as expected. */
export async function runDemo({ profile, isVerbose }: DemoOptions, terminal: Terminal): Promise<number> {
  const color = hasColors(terminal)
  const paint: Paint = (format, text) => (color ? styleText(format, text, { validateStream: false }) : text)
  const line = (text = ''): void => void terminal.stdout.write(`${text}\n`)
  // All steps share one key in one process: with the limit of a real server, two of them would wait ten seconds each.
  const emulator = await startEmulator({ dialect: profile, rateLimit: { limit: 1000, windowMs: 10_000 } })
  try {
    const steps = profile === 'hyperdx' ? selfHostedSteps(emulator) : demoSteps(emulator)
    line(`The command line runs ${steps.length} operations. They need no account.`)
    line(`The emulator of the API listens on ${emulator.url}.`)
    let surprises = 0
    for (const [i, step] of steps.entries()) {
      step.before?.()
      const before = emulator.requests.length
      const run = await runStep(step, demoEnvironment(emulator, profile), terminal)
      const isAsExpected = (run.exitCode !== 0) === (step.fails === true)
      if (!isAsExpected) surprises += 1
      const methods = emulator.requests.slice(before).map(({ method }) => method)
      const end = paint('dim', `requests: ${methods.join(', ')} · exit code ${run.exitCode}`)
      const title = `━━ ${i + 1} of ${steps.length} · ${step.title} `
      const shown =
        isAsExpected && !isVerbose ? showBriefly(step, run) : [commandOf(step), run.log.trimEnd().replace(/^(?=.)/gm, '   '), end]
      for (const text of ['', paint('bold', title.padEnd(maxShownWidth, '━')), ...shown]) line(text)
    }
    line()
    for (const text of summarizeSteps(surprises, { profile, isVerbose }, paint)) line(text)
    return surprises === 0 ? exitCodes.ok : exitCodes.error
  } finally {
    await emulator.close()
  }
}

type Paint = (format: 'bold' | 'dim' | 'green' | 'red', text: string) => string

function summarizeSteps(surprises: number, { profile, isVerbose }: DemoOptions, paint: Paint) {
  if (surprises > 0) return [paint('red', `${surprises} operations did not end as expected.`)]
  return [
    paint('green', 'All operations ended as expected, including the gates that fail.'),
    'No data left this machine.',
    ...(isVerbose ? [] : [`For whole reports, run: watchkeeper demo${profile === 'hyperdx' ? ' --profile hyperdx' : ''} --verbose`]),
  ]
}

/** Fits a terminal of ordinary width. */
const maxShownWidth = 80

function showBriefly(step: DemoStep, { log }: DemoRun) {
  const report = log.split('\n')
  const verdict = report.filter((line) => /^[✔▲✖]/.test(line))
  const highlights = report.filter((line) => step.highlights?.test(line))
  return [commandOf(step), ...[...verdict, ...highlights].map((line) => `   ${line}`)].map((text) =>
    text.length <= maxShownWidth ? text : `${text.slice(0, maxShownWidth - 1)}…`,
  )
}

const commandOf = ({ operation, inputs, words = [] }: DemoStep) =>
  [
    '$ watchkeeper',
    operation,
    ...words,
    ...Object.entries(inputs).map(([name, value]) => `--${name} '${value}'`),
    ...(operation === 'apply' ? ['--yes'] : []),
  ].join(' ')
