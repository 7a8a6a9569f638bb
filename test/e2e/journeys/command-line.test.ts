import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { expectNoSecret, runCli } from '../../support/run-process.ts'

const emulator = useEmulator()

/** As a shell would have it, once and for all. */
const environment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(inputsFor(emulator())).map(([name, value]) => [`WATCHKEEPER_${name.toUpperCase().replaceAll('-', '_')}`, value]),
  )

describe('the command line', () => {
  it('prints a report for people, without colors when the output is not a terminal', async () => {
    const ran = await runCli(['list-sources'], environment())
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toContain('✔ 4 sources\n\nName      Type     Id\nLogs      log      ')
    expect(ran.stdout).not.toContain('\u001b')
  })

  it('prints the result alone as JSON, and diagnostics beside it', async () => {
    emulator().addFault({ effect: { kind: 'status', status: 503, headers: { 'retry-after': '0' } } })
    const ran = await runCli(['list-sources', '--json'], environment())
    expect(JSON.parse(ran.stdout)).toMatchObject({ operation: 'list-sources', status: 'pass', count: 4 })
    expect(ran.stderr).toMatch(/^Trying again in 0\.0 s \(attempt 1 of 5\): GET \S+\/sources: status 503/)
  })

  it.each<[string, readonly string[], Record<string, string>, number]>([
    ['a gate that fails', ['usage-cost', '--period', 'last-7-days', '--budget', '1'], {}, 10],
    ['a gate that fails under warn-only', ['usage-cost', '--period', 'last-7-days', '--budget', '1', '--warn-only'], {}, 0],
    ['wrong input', ['usage-cost', '--period', 'never'], {}, 2],
    [
      'a key that is not accepted',
      ['list-sources'],
      { WATCHKEEPER_API_KEY_ID: demo.keys.disabled.id, WATCHKEEPER_API_KEY_SECRET: demo.keys.disabled.secret },
      3,
    ],
    [
      'a permission that is lacking',
      ['list-sources'],
      { WATCHKEEPER_API_KEY_ID: demo.keys.billing.id, WATCHKEEPER_API_KEY_SECRET: demo.keys.billing.secret },
      3,
    ],
    ['a thing that does not exist', ['get-alert', '--id', '0'.repeat(24)], {}, 1],
    ['no command at all', [], {}, 2],
  ])('exits after %s as documented', async (_, args, env, exitCode) => {
    const ran = await runCli(args, { ...environment(), ...env })
    expect(ran.exitCode).toBe(exitCode)
    expectNoSecret(`${ran.stdout}${ran.stderr}`, secrets)
  })

  it('the command line takes a flag several times where an input has several lines', async () => {
    await runCli(
      ['usage-cost', '--period', 'today', '--select', 'tag=team=a', '--select', 'tag=env', '--on-missing', 'ignore'],
      environment(),
    )
    expect(emulator().requests[0]?.path).toContain('filter=tag%3Ateam%3Da&filter=tag%3Aenv')
  })

  it('writes the job summary when it runs inside a workflow', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-cli-'))
    await writeFile(`${directory}/summary`, '')
    await runCli(['list-sources'], { ...environment(), GITHUB_STEP_SUMMARY: `${directory}/summary` })
    expect(await readFile(`${directory}/summary`, 'utf8')).toMatch(/^### ✅ 4 sources/)
    await rm(directory, { recursive: true })
  })
})

describe('watchkeeper emulator', () => {
  it('serves the API until it is stopped, and says how to use it', async () => {
    const port = await freePort()
    const child = spawn(process.execPath, [new URL('../../../npm/cli.js', import.meta.url).pathname, 'emulator', '--port', String(port)])
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    await expect.poll(() => printed, { timeout: 10_000 }).toContain('watchkeeper doctor')
    const variables = Object.fromEntries(
      [...printed.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, name, value]) => [name ?? '', value ?? '']),
    )
    expect(variables.WATCHKEEPER_API_URL).toBe(`http://127.0.0.1:${port}`)
    expect((await runCli(['doctor'], variables)).exitCode).toBe(0)
    const closed = new Promise((resolve) => child.on('close', resolve))
    child.kill('SIGINT')
    expect(await closed).toBe(0)
  })
})

it('the emulator answers more requests than the rate limit allows with --rate-limit off', async () => {
  const script = new URL('../../../npm/cli.js', import.meta.url).pathname
  const port = await freePort()
  const child = spawn(process.execPath, [
    script,
    'emulator',
    '--dialect',
    'clickhouse-cloud',
    '--rate-limit',
    'off',
    '--port',
    String(port),
  ])
  try {
    const key = Buffer.from(`${demo.apiKeyId}:${demo.apiKeySecret}`).toString('base64')
    const path = `/v1/organizations/${demo.organizationId}/services/${demo.services.checkout}/clickstack/sources`
    const ask = async (): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Basic ${key}` } }).catch(() => undefined)
      return answer?.status ?? 0
    }
    await expect.poll(ask, { timeout: 10_000 }).toBe(200)
    expect(new Set(await Promise.all(Array.from({ length: 30 }, ask)))).toEqual(new Set([200]))
  } finally {
    child.kill('SIGINT')
  }
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
