// Owns starting an operation of the demo in a process of its own: the action's bundle as a runner would, or this command line.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DemoStep } from './demo-steps.ts'

export interface DemoRun {
  readonly exitCode: number | null
  readonly log: string
  /** The text of the file that a runner reads outputs from. */
  readonly outputs: string
  readonly summary: string
}

/** `node [script, ...args]` with the variables of a step. */
export async function runStep(step: DemoStep, script: string, asAction: boolean, env: Readonly<Record<string, string>>): Promise<DemoRun> {
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
    const flags = Object.entries(step.inputs).flatMap(([name, value]) => [`--${name}`, value])
    const ran = asAction
      ? await run([script], { ...env, ...files, ...inputs }, directory)
      : await run([script, step.operation, ...flags], { ...env, GITHUB_STEP_SUMMARY: summary }, directory)
    return { ...ran, outputs: await readFile(outputs, 'utf8'), summary: await readFile(summary, 'utf8') }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function run(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string): Promise<Pick<DemoRun, 'exitCode' | 'log'>> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
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
