import { expect, it } from 'vitest'
import { logLine } from '../../../src/core/escape.ts'
import { renderMarkdown } from '../../../src/report/markdown.ts'
import { renderTerminal } from '../../../src/report/terminal.ts'
import { hostile } from '../../support/corpus.ts'
import { asOptions, inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { kindsIn, unexpectedHtml } from '../../support/output-oracle.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { commandsOf, runCli } from '../../support/run-process.ts'
import { commandsIn } from '../../support/runner-oracle.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

/** Puts every hostile string into the names that operations show. */
function poison(): void {
  const service = emulator().store.organizations[0]?.services[0]
  const [dashboard] = service?.dashboards ?? []
  const [alert] = service?.alerts ?? []
  if (service === undefined || dashboard === undefined || alert === undefined) throw new Error('the shop has changed')
  const values = hostile.filter(({ id }) => id !== 'size-lines').map(({ value }) => value.toWellFormed())
  service.dashboards = values.map((name, i) => ({ ...dashboard, id: i.toString(16).padStart(24, '0'), name, tags: [name, 'shop'] }))
  service.alerts = values.map((name, i) => ({ ...alert, id: i.toString(16).padStart(24, 'a'), name, message: name }))
}

it.each(['list-dashboards', 'list-alerts'])('names from the API stay data in log, summary and outputs of %s', async (operation) => {
  poison()
  const ran = await runAsAction({ inputs: { ...inputsFor(emulator()), operation }, secrets })
  expect(ran.exitCode).toBe(0)
  expect(commandsOf(ran)).toEqual([])
  expect(unexpectedHtml(ran.summary)).toEqual([])
  const kinds = ['root', 'heading', 'paragraph', 'text', 'inlineCode', 'table', 'tableRow', 'tableCell', 'html', 'emphasis']
  expect([...kindsIn(ran.summary)].filter((kind) => !kinds.includes(kind))).toEqual([])
  expect(ran.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  expect(Buffer.byteLength(ran.summary)).toBeLessThan(1024 * 1024)
  // Too long for an output, so that the file alone has the names; unchanged.
  expect(JSON.parse(ran.outputs.get('result') ?? '')).toMatchObject({
    truncated: true,
    operation,
    status: 'pass',
    count: expect.any(Number),
  })
  const [things] = Object.values(ran.result ?? {}).filter((value) => Array.isArray(value) && typeof value[0] === 'object')
  const names = new Set((things as { name: string }[]).map(({ name }) => name))
  for (const { id, value } of hostile.filter(({ id: one }) => one !== 'size-lines')) expect(names.has(value.toWellFormed()), id).toBe(true)
})

it.each(['list-backups', 'check-backups'])('words about backups stay data in log, summary and outputs of %s', async (operation) => {
  const service = emulator().store.organizations[0]?.services[0]
  const [backup] = service?.backups ?? []
  if (service === undefined || backup === undefined) throw new Error('the shop has changed')
  for (const { id, value } of hostile.filter(({ value: text }) => text.length < 500)) {
    const word = value.toWellFormed()
    service.backups = [
      { ...backup, backupName: word, type: word as 'full', bucket: { bucketPath: word } },
      { ...backup, status: word as 'done' },
    ]
    const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation } })
    expect(ran.exitCode, id).toBe(0)
    const summary = renderMarkdown(ran.blocks)
    expect(unexpectedHtml(summary), id).toEqual([])
    const log = renderTerminal(ran.blocks, { color: false }).map(logLine).join('\n')
    expect(commandsIn(log), id).toEqual([])
    expect(log).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  }
})

it('names from the API stay data on the command line, which may run inside a workflow', async () => {
  poison()
  const { flags, variables } = asOptions(inputsFor(emulator()))
  const shown = await runCli(['list-alerts', ...flags], variables)
  expect(commandsOf(shown)).toEqual([])
  const json = await runCli(['list-alerts', ...flags, '--json'], variables)
  expect(commandsOf(json)).toEqual([])
  expect(JSON.parse(json.stdout).count).toBe(hostile.length - 1)
})

it('the text of an error stays data', async () => {
  for (const value of ['::error::x', 'cpu ##[error]x', 'a\n::set-output name=x::y', '<b>x</b>', '| a |', '`', '\u202egnp.exe']) {
    emulator().addFault({ effect: { kind: 'status', status: 400, body: JSON.stringify({ status: 400, error: value }) } })
    const ran = await runAsAction({ inputs: { ...inputsFor(emulator()), operation: 'list-sources' } })
    expect(ran.exitCode).toBe(1)
    expect(commandsOf(ran)).toEqual(['error'])
    expect(unexpectedHtml(ran.summary)).toEqual([])
    expect([...ran.outputs.keys()].sort()).toEqual(['failure-reason', 'result', 'result-file', 'status'])
  }
})
