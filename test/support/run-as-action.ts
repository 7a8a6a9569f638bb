// The action in this process: as much of a step as needs no process of its own, in a twentieth of the time.
import { AsyncLocalStorage } from 'node:async_hooks'
import { runAction as runActionWith } from '../../src/runtime/action/run-action.ts'
import { type ActionOptions, type Ran, type RanAction, runAction, runStep } from './run-process.ts'

type InsideOptions = ActionOptions & {
  /** What `Math.random` gives, default 0: retries then wait for nothing but what the server asks for. */
  readonly luck?: number
}

/** Of the run that is under way: several may be at once. */
const running = new AsyncLocalStorage<{ stdout: string; readonly luck: number }>()

const random = Math.random
Math.random = () => running.getStore()?.luck ?? random()

const write = process.stdout.write.bind(process.stdout)
process.stdout.write = ((...given: Parameters<typeof write>) => {
  const run = running.getStore()
  if (run === undefined) return write(...given)
  run.stdout += String(given[0])
  return true
}) as typeof process.stdout.write // It has overloads.

const signals = { on: () => undefined, off: () => undefined, exit: () => undefined }

/** Runs the action in this process, unless an option is about a process. `preload: {}` asks for one. */
export function runAsAction({ luck = 0, ...options }: InsideOptions): Promise<RanAction> {
  const { onStart, preload, nodeArguments } = options
  if (onStart !== undefined || preload !== undefined || nodeArguments !== undefined) return runAction({ preload: {}, ...options })
  return runStep(options, async ({ env }): Promise<Ran> => {
    const run = { stdout: '', luck }
    const exitCode = await running.run(run, () => runActionWith(env, signals))
    return { exitCode, stdout: run.stdout, stderr: '' }
  })
}
