// The programs in examples/library, compiled against the package's public types and run as a user runs them.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { demo } from '../../src/emulator/index.ts'
import { toEnvironmentName } from '../../src/platform/core/names.ts'
import { inputsFor, useEmulator } from '../support/emulator.ts'
import { expectNoSecret } from '../support/run-process.ts'

const root = new URL('../..', import.meta.url).pathname
const names = ['check-backups', 'check-budget', 'generate-files', 'plan-files']
const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const run = promisify(execFile)

/** `variables` replace those that `watchkeeper emulator` prints. */
async function runExample(
  name: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  cwd = root,
): Promise<Ran> {
  const printed = Object.entries(inputsFor(emulator(), 'clickhouse-cloud')).map(([input, value]) => [toEnvironmentName(input), value])
  const env = { PATH: process.env.PATH, ...Object.fromEntries(printed), ...variables }
  const ran = await run(process.execPath, [join(root, `examples/library/${name}.ts`), ...args], { cwd, env }).then(
    ({ stdout, stderr }) => ({ exitCode: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ exitCode: code, stdout, stderr }),
  )
  expectNoSecret(`${ran.stdout}${ran.stderr}`, [demo.apiKeySecret])
  return ran
}

it('the examples of the library compile against the public types of the package', async () => {
  const flags = '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --module nodenext --target esnext'
  const files = names.map((name) => `examples/library/${name}.ts`)
  const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), [...flags.split(' '), '--types', 'node', ...files], { cwd: root })
  expect(stdout).toBe('')
})

it('examples of the library that need an argument say how to call them', async () => {
  for (const [name, usage] of [
    ['check-backups', 'Usage: node check-backups.ts SERVICE_ID …\n'],
    ['plan-files', 'Usage: node plan-files.ts owner/repo\n'],
  ] as const)
    expect(await runExample(name, [])).toEqual({ exitCode: 2, stdout: '', stderr: usage })
})

it('check-budget.ts exits with 10 above the budget, with the reason', async () => {
  expect(await runExample('check-budget', ['100000'])).toMatchObject({ exitCode: 0, stderr: '' })
  const { exitCode, stdout, stderr } = await runExample('check-budget', ['1'])
  expect([exitCode, stdout, stderr]).toEqual([
    10,
    expect.stringMatching(/^[\d.]+ of 1 CHC used\n$/),
    expect.stringMatching(/^Budget exceeded: [\d,.]+ of 1\.00 CHC /),
  ])
})

it('check-budget.ts names a wrong input, and a key that is refused', async () => {
  const wrong = await runExample('check-budget', ['1,000'])
  expect(wrong).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/^budget: /) })
  const refused = await runExample('check-budget', ['1'], { WATCHKEEPER_API_KEY_SECRET: 'a-secret-that-is-wrong' })
  expect(refused).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('answered 401') })
})

it('check-backups.ts prints a line for each service, also for one that cannot be read', async () => {
  const { checkout, catalog } = demo.services
  expect(await runExample('check-backups', [checkout])).toMatchObject({ exitCode: 0, stderr: '' })
  const unknown = demo.organizationId
  const { exitCode, stdout, stderr } = await runExample('check-backups', [checkout, catalog, unknown])
  expect(exitCode).toBe(10)
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(`^${checkout}: fresh, [\\d.]+ hours old$`),
    expect.stringMatching(`^${catalog}: stale, [\\d.]+ hours old$`),
    `${unknown}: unknown`,
  ])
  expect(stderr).toContain('answered 404')
})

it('check-backups.ts exits with 1 and the kind of the error when a service is unknown', async () => {
  expect(await runExample('check-backups', ['chekout'])).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('input: services: no service has the id or name "chekout"; did you mean "checkout"?'),
  })
})

it('plan-files.ts prints the difference of each object, and changes nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-library-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  await cp(join(root, 'examples/observability'), join(directory, 'observability'), { recursive: true })
  const { exitCode, stdout } = await runExample('plan-files', ['shop/infra'], {}, directory)
  expect(exitCode).toBe(0)
  expect(stdout).toContain('create alert checkout-errors\n  name: (none) → "Checkout returns errors"\n')
  expect(stdout).toContain('\n3 to create, 0 to update, 0 to delete, 0 unchanged\n')
  expect(emulator().requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/dashboards/validate'))).toEqual([])
})

it('plan-files.ts exits with 1 when there are no files', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-library-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  expect(await runExample('plan-files', ['shop/infra'], {}, directory)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('observability/'),
  })
})

it('generate-files.ts writes files that plan accepts, with an object for each entry of its list', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-library-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  expect(await runExample('generate-files', [], {}, directory)).toEqual({
    exitCode: 0,
    stdout: '4 objects in observability/queues.json\n',
    stderr: '',
  })
  const { exitCode, stdout } = await runExample('plan-files', ['shop/infra'], {}, directory)
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('\n4 to create, 0 to update, 0 to delete, 0 unchanged\n')])
  expect(stdout).toContain('create alert queue-orders-failures\n')
})
