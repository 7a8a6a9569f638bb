import { expect, it } from 'vitest'
import { hostile } from '../../support/corpus.ts'
import { asOptions, inputsFor, secrets, serviceOf, useEmulator } from '../../support/emulator.ts'
import { problemsWithRun } from '../../support/output-oracle.ts'
import { commandsOf, runAction, runCli } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

/** With one megabyte, which is too long for an output. */
const names = hostile.filter(({ id }) => id !== 'size-lines' && id !== 'size-emoji').map(({ value }) => value.toWellFormed())

/** Characters that move the cursor, end a line or change its direction. */
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

/** Each name of the corpus belongs to an alert. */
function nameAlerts(): void {
  const service = serviceOf(emulator())
  const [alert] = service.alerts
  if (alert === undefined) throw new Error('the demo has no alert')
  service.alerts = names.map((name, i) => ({ ...alert, id: i.toString(16).padStart(24, '0'), name, message: name }))
}

it('S6: names from the API stay text in log, summary and outputs of the action', async () => {
  nameAlerts()
  const ran = await runAction({ inputs: { ...inputsFor(emulator()), operation: 'list-alerts' }, secrets })
  expect(ran.exitCode).toBe(0)
  expect(problemsWithRun(ran)).toEqual([])
  expect(ran.stdout).not.toMatch(control)
  expect(Buffer.byteLength(ran.summary)).toBeLessThan(1024 * 1024)
  // Only the file has the names, unchanged.
  expect(JSON.parse(ran.outputs.get('result') ?? '')).toMatchObject({ truncated: true, status: 'pass', count: names.length })
  const { items } = ran.result as { readonly items: readonly { readonly name: string }[] }
  expect(items.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
})

it('S6: names from the API and arguments start no command on the command line, which may run inside of a workflow', async () => {
  nameAlerts()
  const { flags, variables } = asOptions(inputsFor(emulator()))
  const report = await runCli(['list-alerts', ...flags], variables)
  expect([report.exitCode, commandsOf(report)]).toEqual([0, []])
  const json = await runCli(['list-alerts', ...flags, '--json'], variables)
  expect(commandsOf(json)).toEqual([])
  expect(JSON.parse(json.stdout).count).toBe(names.length)
  const wrong = await runCli(['list-alerts', ...names.filter((name) => !name.includes('\0') && name.length < 2000)])
  expect([wrong.exitCode, commandsOf(wrong)]).toEqual([2, []])
  expect(wrong.stderr).not.toMatch(control)
})
