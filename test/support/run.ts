// Runs what users run, as they run it: the bundle as a runner starts it, and the command line in a process of its own.
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { formsOf } from '../../src/kernel/secrets.ts'
import { commandsIn, readOutputFile, withoutOwnFolds } from './runner-oracle.ts'

const root = new URL('../..', import.meta.url).pathname

export interface Ran {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RanAction extends Ran {
  readonly outputs: ReadonlyMap<string, string>
  readonly summary: string
  /** The parsed result file; undefined when none was written. */
  readonly result: Record<string, unknown> | undefined
  /** Everything that left the process, for the search after secrets. */
  readonly everything: string
}

type Environment = Readonly<Record<string, string | undefined>>

export interface ActionOptions {
  readonly inputs: Readonly<Record<string, string>>
  readonly env?: Environment
  /** Files of the workspace by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Must not appear anywhere but in the masks. */
  readonly secrets?: readonly string[]
  /** Called with the process, for signals. */
  readonly onStart?: (child: ReturnType<typeof spawn>) => void
}

/** Nothing of this machine's environment but what Node needs; the cache saves compiling the same bundle a hundred times. */
const bareEnvironment: Environment = { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(tmpdir(), 'watchkeeper-test-cache') }

export async function runAction({ inputs, env = {}, files = {}, secrets = [], onStart }: ActionOptions): Promise<RanAction> {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-test-'))
  try {
    const [output, summary] = ['output', 'summary'].map((name) => join(directory, name)) as [string, string]
    await Promise.all([output, summary].map((file) => writeFile(file, '')))
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    const inputVariables = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]))
    const runner = {
      GITHUB_ACTIONS: 'true',
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_WORKSPACE: directory,
      RUNNER_TEMP: directory,
    }
    const ran = await runNode(
      [join(root, 'dist/index.js')],
      { ...bareEnvironment, ...runner, ...inputVariables, ...env },
      directory,
      onStart,
    )
    const outputs = readOutputFile(await readFile(output, 'utf8'))
    const resultText = await readFile(outputs.get('result-file') || join(directory, 'none'), 'utf8').catch(() => '')
    const written = {
      outputs,
      summary: await readFile(summary, 'utf8'),
      result: resultText === '' ? undefined : (JSON.parse(resultText) as Record<string, unknown>),
    }
    const everything = [ran.stdout, ran.stderr, ...outputs.values(), written.summary, resultText].join('\n')
    expectNoSecret(everything, secrets)
    return { ...ran, ...written, everything }
  } finally {
    await rm(directory, { recursive: true })
  }
}

export interface CliOptions {
  readonly directory?: string
  readonly onStart?: (child: ReturnType<typeof spawn>) => void
}

export const runCli = (args: readonly string[], env: Environment = {}, { directory = tmpdir(), onStart }: CliOptions = {}): Promise<Ran> =>
  runNode([join(root, 'lib/cli.js'), ...args], { ...bareEnvironment, ...env }, directory, onStart)

function runNode(args: readonly string[], env: Environment, cwd: string, onStart?: ActionOptions['onStart']): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env: env as NodeJS.ProcessEnv, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text))
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, ...texts }))
    onStart?.(child)
  })
}

/** Throws when a secret is there in any of its forms, or a piece of 12 characters of one; the masks themselves are what hides it. */
export function expectNoSecret(text: string, secrets: readonly string[]): void {
  const withoutMasks = text
    .split('\n')
    .filter((line) => !line.startsWith('::add-mask::'))
    .join('\n')
  for (const form of secrets.flatMap(formsOf)) {
    for (let i = 0; i + 12 <= form.length; i++) {
      if (withoutMasks.includes(form.slice(i, i + 12))) throw new Error(`a secret got out, as ${form.slice(i, i + 12)}`)
    }
  }
}

/** Commands that the runner would obey, without masks and the action's own folds. */
export const commandsOf = ({ stdout, stderr }: Ran): readonly string[] =>
  withoutOwnFolds(commandsIn(`${stdout}\n${stderr}`))
    .map(({ name }) => name)
    .filter((name) => name !== 'add-mask')
