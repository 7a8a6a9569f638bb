// The action in this process: as much of a step as needs no process of its own, in a twentieth of the time.
import { AsyncLocalStorage } from 'node:async_hooks'
import { runAction } from '../../src/runtime/action/run-action.ts'
import { type ActionOptions, type Ran, type RanAction, runStep } from './run-process.ts'

type InsideOptions = Pick<ActionOptions, 'inputs' | 'env' | 'files' | 'secrets'> & {
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

export function runActionInside({ luck = 0, ...options }: InsideOptions): Promise<RanAction> {
  return runStep(options, async ({ env }): Promise<Ran> => {
    const run = { stdout: '', luck }
    const exitCode = await running.run(run, () => runAction(env, signals))
    return { exitCode, stdout: run.stdout, stderr: '' }
  })
}
