import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { toEnvironmentName } from '../../../src/platform/core/names.ts'
import { basicPair, inputsFor, useEmulator } from '../../support/emulator.ts'
import { useReceiver } from '../../support/receiver.ts'
import { runCli } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: 'off' })
const receiver = useReceiver()

const environment = (): Record<string, string> =>
  Object.fromEntries(Object.entries(inputsFor(emulator())).map(([name, value]) => [toEnvironmentName(name), value]))

it('the command line prints a report without colors where there is no terminal, and the job summary inside of a workflow', async () => {
  const summary = join(await mkdtemp(join(tmpdir(), 'watchkeeper-cli-')), 'summary')
  onTestFinished(() => rm(dirname(summary), { recursive: true }))
  await writeFile(summary, '')
  const ran = await runCli(['list-sources'], { ...environment(), GITHUB_STEP_SUMMARY: summary })
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
  expect(ran.stdout).toContain('✔ 4 sources\n\nName      Type     Id\nLogs      log      ')
  expect(ran.stdout).not.toContain('\u001b')
  expect(await readFile(summary, 'utf8')).toMatch(/^### ✅ 4 sources/)
})

it('the command line prints only the result as JSON, retries and messages to standard error, and exits with the code of the verdict', async () => {
  emulator().addFault({ effect: { kind: 'status', status: 503, headers: { 'retry-after': '0' } } })
  const ran = await runCli(['usage-cost', '--period', 'last-7-days', '--budget', '1', '--json'], {
    ...environment(),
    WATCHKEEPER_NOTIFY_URL: receiver().url,
  })
  expect(ran.exitCode).toBe(10)
  expect(JSON.parse(ran.stdout)).toMatchObject({ operation: 'usage-cost', status: 'fail' })
  const [retry, message, ...rest] = ran.stderr.split('\n')
  expect(retry).toMatch(/^Trying again in 0\.0 s \(attempt 1 of 5\): GET \S+: status 503/)
  expect([message, ...rest]).toEqual([`notification: sent to ${receiver().host}`, ''])
  expect(receiver().messages).toHaveLength(1)
  expect(receiver().messages[0]?.text).not.toContain('View the run')
})

it('watchkeeper emulator says how to use it, answers every request with --rate-limit off, and ends after a signal', async () => {
  const port = await freePort()
  const child = spawn(process.execPath, [
    new URL('../../../npm/cli.js', import.meta.url).pathname,
    ...['emulator', '--dialect', 'clickhouse-cloud', '--rate-limit', 'off', '--port', String(port)],
  ])
  const closed = new Promise((resolve) => child.on('close', resolve))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  try {
    await expect.poll(() => printed, { timeout: 10_000 }).toContain('watchkeeper doctor')
    const variables = Object.fromEntries(
      [...printed.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name ?? '', value ?? '']),
    )
    expect(variables.WATCHKEEPER_API_URL).toBe(`http://127.0.0.1:${port}`)
    expect((await runCli(['doctor'], variables)).exitCode).toBe(0)
    const url = `http://127.0.0.1:${port}/v1/organizations/${demo.organizationId}/services/${demo.services.checkout}/clickstack/sources`
    const ask = async (): Promise<number> => (await fetch(url, { headers: { authorization: `Basic ${basicPair}` } })).status
    expect(new Set(await Promise.all(Array.from({ length: 30 }, ask)))).toEqual(new Set([200]))
  } finally {
    child.kill('SIGINT')
  }
  expect(await closed).toBe(0)
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
