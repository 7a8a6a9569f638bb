import { expect, it } from 'vitest'
import { toEnvironmentName } from '../../src/core/names.ts'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { runAction, runCli } from '../support/run-process.ts'

const emulator = useEmulator()

/** Code of zod's compiler is made by `new Function`. */
const reporter = `
const report = (target, args) => {
  console.error('compiled a schema')
  return Reflect.construct(target, args)
}
globalThis.Function = new Proxy(Function, { construct: report, apply: (target, _, args) => report(target, args) })
`
const nodeArguments = ['--import', `data:text/javascript,${encodeURIComponent(reporter)}`]
const period = 'last-7-days'

it('the action compiles no schema', async () => {
  const { exitCode, stderr } = await runAction({ inputs: { ...inputsFor(emulator()), operation: 'usage-cost', period }, nodeArguments })
  expect([exitCode, stderr]).toEqual([0, ''])
})

it('the command line compiles no schema', async () => {
  const variables = Object.entries(inputsFor(emulator())).map(([name, value]) => [toEnvironmentName(name), value])
  const { exitCode, stderr } = await runCli(['usage-cost', '--period', period], Object.fromEntries(variables), { nodeArguments })
  expect([exitCode, stderr]).toEqual([0, ''])
})
