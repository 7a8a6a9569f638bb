import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { toEnvironmentName, toKebab } from '../../src/platform/core/names.ts'
import { metaOf } from '../../src/platform/documents/schema.ts'
import { settingsSchema } from '../../src/platform/operation/inputs.ts'
import { variableInputs } from '../../src/runtime/input-names.ts'
import { commandsIn, readOutputFile, withoutOwnFolds } from './runner-oracle.ts'
import { expectNoSecret } from './secret-scanner.ts'

// Runs what users run, as they run it: the bundle as a runner starts it, and the command line in a process of its own. Whatever
// leaves a process is searched for the secrets that it was given.

export { expectNoSecret } from './secret-scanner.ts'

const root = new URL('../..', import.meta.url).pathname

export interface Ran {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /** With `preload` alone. */
  readonly ending?: Ending | undefined
}

export interface RanAction extends Ran {
  readonly outputs: ReadonlyMap<string, string>
  readonly summary: string
  /** The parsed result file; undefined when none was written. */
  readonly result: Record<string, unknown> | undefined
  /** What was written into the workspace, by name. */
  readonly written: Readonly<Record<string, string>>
}

type Environment = Readonly<Record<string, string | undefined>>

type Child = ReturnType<typeof spawn>

interface ProcessOptions {
  /** Called with the process, for signals. */
  readonly onStart?: (child: Child) => void
  readonly preload?: Preload
  /** Arguments of Node itself. */
  readonly nodeArguments?: readonly string[]
}

export interface ActionOptions extends ProcessOptions {
  readonly inputs: Readonly<Record<string, string>>
  readonly env?: Environment
  /** Files of the workspace by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Must appear nowhere, beside the credentials that inputs and environment hold. */
  readonly secrets?: readonly string[]
}

/** Nothing of this machine's environment but what Node needs; the cache saves compiling the same bundle a hundred times. */
const bareEnvironment: Environment = { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(tmpdir(), 'watchkeeper-test-cache') }

/** The bundle in a process of its own, as a runner starts it. */
export const runAction = (options: ActionOptions): Promise<RanAction> =>
  runStep(options, ({ env, workspace, directory }) =>
    runNode([join(root, 'dist/index.js')], { ...options, env, cwd: workspace, reportTo: join(directory, 'ending') }),
  )

/** A step of a workflow: what the runner gives it. */
export interface Step {
  readonly env: Environment
  readonly workspace: string
  /** Removed after the step. */
  readonly directory: string
}

/** Starts a step as a runner does, and reads everything that it leaves. */
export async function runStep(
  { inputs, env = {}, files = {}, secrets = [] }: Pick<ActionOptions, 'inputs' | 'env' | 'files' | 'secrets'>,
  start: (step: Step) => Promise<Ran>,
): Promise<RanAction> {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-test-'))
  const workspace = join(directory, 'work')
  try {
    const [output, summary] = ['output', 'summary'].map((name) => join(directory, name)) as [string, string]
    await mkdir(workspace)
    await Promise.all([output, summary].map((file) => writeFile(file, '')))
    for (const [name, text] of Object.entries(files)) await writeInto(join(workspace, name), text)
    const runner = {
      GITHUB_ACTIONS: 'true',
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_WORKSPACE: workspace,
      RUNNER_TEMP: directory,
    }
    const ran = await start({ env: { ...bareEnvironment, ...runner, ...inputVariables(inputs), ...env }, workspace, directory })
    const outputText = await readFile(output, 'utf8')
    const outputs = readOutputFile(outputText)
    const resultText = await readFile(outputs.get('result-file') || join(directory, 'none'), 'utf8').catch(() => '')
    const summaryText = await readFile(summary, 'utf8')
    const written = await readAll(workspace, Object.keys(files))
    const everything = [ran.stdout, ran.stderr, ran.ending?.arguments, outputText, summaryText, resultText, ...Object.values(written)]
    expectNoSecret(everything.join('\n'), [...secrets, ...credentialsOf(inputs, env)])
    const result = resultText === '' ? undefined : (JSON.parse(resultText) as Record<string, unknown>)
    return { ...ran, outputs, summary: summaryText, result, written }
  } finally {
    await rm(directory, { recursive: true })
  }
}

const settingVariables: readonly string[] = [
  ...Object.entries(settingsSchema.shape).flatMap(([name, field]) => (metaOf(field).setting === 'variable' ? [toKebab(name)] : [])),
  ...variableInputs,
]

/** As the runner and a workflow set them: inputs of the action, and variables. */
const inputVariables = (inputs: Readonly<Record<string, string>>): Environment =>
  Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [
      settingVariables.includes(name) ? toEnvironmentName(name) : `INPUT_${name.toUpperCase()}`,
      value,
    ]),
  )

async function writeInto(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

async function readAll(directory: string, except: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
  const texts = names.filter((name) => !except.includes(name)).map(async (name) => [name, await readFile(join(directory, name), 'utf8')])
  return Object.fromEntries(await Promise.all(texts)) as Record<string, string>
}

/**
 * The key's secret, what HTTP Basic makes of it, the key of a self-hosted server, the token of GitHub, a proxy's password, and what follows the
 * host of a webhook. Too short ones are refused, and may be quoted.
 */
function credentialsOf(inputs: Environment, env: Environment): readonly string[] {
  const id = inputs['api-key-id'] ?? env.WATCHKEEPER_API_KEY_ID ?? ''
  const secret = (inputs['api-key-secret'] ?? env.WATCHKEEPER_API_KEY_SECRET ?? '').trim()
  const passwords = Object.entries(env).flatMap(([name, value]) =>
    /_proxy$/i.test(name) && value !== undefined && URL.canParse(value) ? [decode(new URL(value).password)] : [],
  )
  const tokens = [inputs['github-token'], env.WATCHKEEPER_GITHUB_TOKEN, env.GITHUB_TOKEN, env.GH_TOKEN].map((token) => token?.trim() ?? '')
  const accessKey = (inputs['api-key'] ?? env.WATCHKEEPER_API_KEY ?? '').trim()
  const webhooks = [inputs['notify-url'], env.WATCHKEEPER_NOTIFY_URL].map((url) => url?.trim().replace(/^https?:\/\/[^/?]+/, '') ?? '')
  return [secret, accessKey, ...tokens, ...webhooks, Buffer.from(`${id.trim()}:${secret}`).toString('base64'), ...passwords].filter(
    ({ length }) => length >= 8,
  )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

interface CliOptions extends ProcessOptions {
  readonly directory?: string
}

export async function runCli(
  args: readonly string[],
  env: Environment = {},
  { directory = tmpdir(), ...options }: CliOptions = {},
): Promise<Ran> {
  const reportTo = join(tmpdir(), `watchkeeper-ending-${Math.random()}`)
  const ran = await runNode([join(root, 'npm/cli.js'), ...args], {
    ...options,
    env: { ...bareEnvironment, ...env },
    cwd: directory,
    reportTo,
  })
  const given = {
    'api-key': flagIn(args, '--api-key'),
    'api-key-secret': flagIn(args, '--api-key-secret'),
    'notify-url': flagIn(args, '--notify-url'),
  }
  expectNoSecret(`${ran.stdout}\n${ran.stderr}`, credentialsOf(given, env))
  return ran
}

const flagIn = (args: readonly string[], flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined

interface NodeOptions extends ProcessOptions {
  readonly env: Environment
  readonly cwd: string
  readonly reportTo: string
}

async function runNode(args: readonly string[], { env, cwd, onStart, preload, nodeArguments = [], reportTo }: NodeOptions): Promise<Ran> {
  const whole = [...nodeArguments, ...(preload === undefined ? [] : preloadArguments), ...args]
  const ended = await new Promise<Ran>((resolve, reject) => {
    const environment = { ...env, ...(preload !== undefined && preloadEnvironment(preload, reportTo)) }
    const child = spawn(process.execPath, whole, { env: environment as NodeJS.ProcessEnv, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, ...texts }))
    onStart?.(child)
  })
  const ending = preload === undefined ? undefined : await readEnding(reportTo)
  return { ...ended, ending }
}

async function readEnding(file: string): Promise<Ending | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  await rm(file, { force: true })
  return text === undefined ? undefined : (JSON.parse(text) as Ending)
}

/** Commands that the runner would obey, without masks and the action's own folds. */
export const commandsOf = ({ stdout, stderr }: Pick<Ran, 'stdout' | 'stderr'>): readonly string[] =>
  withoutOwnFolds(commandsIn(`${stdout}\n${stderr}`))
    .map(({ name }) => name)
    .filter((name) => name !== 'add-mask')

// What a test may change about the platform under a child process. preload.mjs is the child's side of it.

export interface Preload {
  /** What the wall clock shows when the child starts; it runs on from there. */
  readonly startAt?: string
  /** The wall clock stands still, so that no start of a process is too slow for a test of midnight. */
  readonly standsStill?: boolean
  /** An exception that nothing catches, when the signal comes. */
  readonly crash?: { readonly at: NodeJS.Signals; readonly message: string }
  /** What `Math.random` gives, default 0: retries then wait for nothing but what the server asks for. */
  readonly luck?: number
  /**
   * A builtin such as `JSON.stringify` throws once, at this call, counted from 1: of all calls, or of those after the program has
   * said its first word.
   */
  readonly breaks?: { readonly builtin: string; readonly atCall: number; readonly afterFirstWord?: boolean }
}

/** How a child ended, as it says itself. */
interface Ending {
  readonly code: number
  readonly peakMegabytes: number
  /** What still kept the event loop alive. */
  readonly resources: readonly string[]
  /** As anybody on the machine can read them. */
  readonly arguments: string
}

const preloadArguments: readonly string[] = ['--import', new URL('./preload.mjs', import.meta.url).href]

const preloadEnvironment = (preload: Preload, reportTo: string): Readonly<Record<string, string>> => ({
  TEST_PRELOAD: JSON.stringify({ ...preload, reportTo }),
})
