// Names that changed before the first release are errors that say the new one.
import { expect, it } from 'vitest'
import { describeOperations, settings } from '../../../scripts/reference/describe.ts'
import { operationNames } from '../../../src/operations.ts'
import { newNames } from '../../../src/runtime/new-names.ts'
import { invokeText } from '../../support/invoke.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

it('no name that is in use is among those that changed', async () => {
  const inputs = (await describeOperations()).flatMap((operation) => operation.inputs)
  const inUse = new Set([...operationNames, ...[...settings, ...inputs].map(({ name }) => name)])
  expect(Object.keys(newNames).filter((name) => inUse.has(name))).toEqual([])
})

it('an old name of an operation is an error with the new name, in the action and on the command line', async () => {
  const { reason } = await invokeText({ inputs: { operation: 'check-slo' } })
  expect(reason).toBe('operation: unknown operation "check-slo"; use check-slos')
  const cli = await runCliInside(['check-slo', '--json'])
  expect(cli).toMatchObject({ exitCode: 2, stderr: 'Unknown command check-slo. Use check-slos.\n' })
  expect((await runCliInside(['schema', 'check-slo'])).stderr).toBe('operation: unknown operation "check-slo"; use check-slos\n')
})

it('an old name of an input is an error with the new name, as input, option and variable', async () => {
  const advice = 'for: a silence as long as the interval of an alert includes it'
  const { reason } = await invokeText({ inputs: { operation: 'silence-alerts', profile: 'hyperdx', 'include-long-intervals': 'true' } })
  expect(reason).toContain(`include-long-intervals: unknown input of silence-alerts; use ${advice}`)
  expect((await runCliInside(['silence-alerts', '--include-long-intervals'])).stderr).toBe(
    'Unknown option --include-long-intervals. Use --for a silence as long as the interval of an alert includes it.\n',
  )
  const ofVariable = await invokeText({ inputs: { operation: 'validate' }, env: { WATCHKEEPER_INCLUDE_LONG_INTERVALS: 'true' } })
  expect(ofVariable.reason).toContain(`WATCHKEEPER_INCLUDE_LONG_INTERVALS: is not read; use ${advice}`)
})

it('a new name is advised only where the operation has it', async () => {
  const reasonOf = async (inputs: Readonly<Record<string, string>>) =>
    (await invokeText({ inputs: { profile: 'hyperdx', ...inputs } })).reason
  expect(await reasonOf({ operation: 'plan', report: 'html' })).toContain('report: unknown input of plan; use reports: html=FILE')
  expect(await reasonOf({ operation: 'plan', 'name-contains': 'x' })).toMatch(/name-contains: unknown input of plan(?!; use)/)
  expect((await runCliInside(['list-alerts', '--name', 'x'])).stderr).toBe('Unknown option --name. Use --select name=NAME.\n')
  expect((await runCliInside(['plan', '--filter', 'x'])).stderr).toBe('Unknown option --filter. Did you mean --files?\n')
})
