import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { demo } from '../../src/emulator/index.ts'
import { toEnvironmentName } from '../../src/platform/core/names.ts'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { runAction, runCli } from '../support/run-process.ts'

const emulator = useEmulator({ rateLimit: 'off' })

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

/** Reports the flags instead of setting them. */
const flagReporter = `process.getBuiltinModule('node:v8').setFlagsFromString = (flag) => console.error(flag)`
const withFlagReporter = ['--import', `data:text/javascript,${encodeURIComponent(flagReporter)}`]

it('the action keeps its heap small', async () => {
  const inputs = { ...inputsFor(emulator()), operation: 'usage-cost', period }
  const { exitCode, stderr } = await runAction({ inputs, nodeArguments: withFlagReporter })
  expect([exitCode, stderr]).toEqual([0, '--semi-space-growth-factor=1\n--heap-growing-percent=50\n'])
})

it('the library, which a long process may use, sets no flag', async () => {
  const { apiKeyId, apiKeySecret, organizationId } = demo
  const options = JSON.stringify({ apiUrl: emulator().url, apiKeyId, apiKeySecret, organizationId })
  const library = new URL('../../npm/index.js', import.meta.url).href
  const script = `import { createClient } from '${library}'\nawait createClient(${options}).usageCost({ period: '${period}' })\nconsole.log('done')`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...withFlagReporter, '--input-type=module', '--eval', script])
  expect([stdout, stderr]).toEqual(['done\n', ''])
})
