import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { runCli } from '../../../src/runtime/cli/run-cli.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { asOptions, inputsFor, useEmulator } from '../../support/emulator.ts'
import { useReceiver } from '../../support/receiver.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })
const receiver = useReceiver()

/** Options and variables of the emulator. */
const connection = () => asOptions(inputsFor(emulator()))

const secret = 'Canary0123456789'

/** The command line in this process. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, terminal: object = {}) {
  const printed = { stdout: '', stderr: '' }
  const streamTo = (name: keyof typeof printed) => ({
    write: (text: string) => {
      printed[name] += text
    },
  })
  const exitCode = await runCli(args, {
    script: '',
    env,
    directory: import.meta.dirname,
    signals: { on: () => undefined, off: () => undefined, exit: () => undefined },
    stdin: process.stdin,
    stdout: { ...streamTo('stdout'), ...terminal },
    stderr: streamTo('stderr'),
  })
  return { exitCode, ...printed }
}

it('names a config file of a directory above, which is not read, where something is missing', async () => {
  const root = await mkdtemp(join(tmpdir(), 'watchkeeper-above-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const directory = join(root, 'team/service')
  await mkdir(directory, { recursive: true })
  const adviceAt = async () => (await runCliInside(['plan', '--project', 'a/b'], { directory })).stderr
  expect(await adviceAt()).not.toContain('config:')
  await writeFile(join(root, '.watchkeeper.yml'), 'project: a/b\n')
  expect(await adviceAt()).toContain('config: ../../.watchkeeper.yml is not read; run the command in its directory')
  await mkdir(join(root, 'team/.git'))
  expect(await adviceAt()).not.toContain('config:')
})

describe('an unknown name', () => {
  it.each([
    [['usage-cost', '--bugdet', '100'], 'Unknown option --bugdet. Did you mean --budget?\n'],
    [['usage-cost', '--bugdet=100'], 'Unknown option --bugdet. Did you mean --budget?\n'],
    [['list-dashbords'], 'Unknown command list-dashbords. Did you mean list-dashboards?\n'],
    [['costs'], 'Unknown command costs. See watchkeeper --help.\n'],
    [['help', 'foo'], 'Unknown command foo. See watchkeeper --help.\n'],
    [['help', 'plna'], 'Unknown command plna. Did you mean plan?\n'],
    [['plan', '--name', 'x'], 'Unknown option --name. See watchkeeper plan --help.\n'],
    [['--profile', 'hyperdx', 'plan'], 'Unknown option --profile. Options come after the command. See watchkeeper --help.\n'],
    [['list-alerts', '--rules', 'x'], 'Unknown option --rules. It is a key of .watchkeeper.yml.\n'],
    [['completion'], 'The shell is missing. Use bash, zsh, fish.\n'],
    [['completion', 'bsh'], 'The command completion does not accept "bsh". Use bash, zsh, fish.\n'],
    [
      ['list-sources', 'x'],
      'The command list-sources accepts only options, but got 1 other argument. Put a value with spaces in quotes.\n',
    ],
    [['emulator', '--dialect', 'neutral'], 'Option --dialect does not accept "neutral". Use clickhouse-cloud, hyperdx.\n'],
    [['emulator', '--rate-limit', 'of'], 'Option --rate-limit does not accept "of". Use on, off.\n'],
    [['emulator', '--port', '99999'], 'Option --port does not accept this text. Use a number from 0 to 65535.\n'],
  ])('an unknown name in %j is rejected with exit code 2', async (args, stderr) => {
    expect(await run(args)).toEqual({ exitCode: 2, stdout: '', stderr })
    expect(emulator().requests).toHaveLength(0)
  })

  it.each([
    [['list-sources', `--api-key-secrte=${secret}`]],
    [['list-sources', `-api-key-secret=${secret}`]],
    [['list-sources', '-api-key-secret', secret]],
    [['list-sources', secret]],
    [['list-sources', '--api-key-secret', secret, secret]],
    [['list-sources', '--api-key-secret', secret, '--api-key-secret', `${secret}2`]],
    [[secret, '--api-key-secret', secret]],
  ])('an unknown name in %j is rejected without a secret', async (args) => {
    const ran = await run(args)
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toMatch(/^(?:Unknown|Option|The command) /)
    expect(ran.stderr).not.toContain(secret)
  })
})

it.each(['api-key', 'api-key-secret', 'sql-key-secret', 'notify-url', 'github-token'])(
  'the secret %s is no option, and the error names its variable',
  async (name) => {
    const variable = `WATCHKEEPER_${name.replaceAll('-', '_').toUpperCase()}`
    for (const args of [[`--${name}`, secret], [`--${name}=${secret}`]]) {
      const { exitCode, stderr } = await run(['list-sources', ...args])
      expect([exitCode, stderr]).toEqual([
        2,
        `Unknown option --${name}. A secret is not an option, because others can see it in the list of processes. Set ${variable}.\n`,
      ])
    }
  },
)

it('fits a report to the width of the terminal, and to none elsewhere', async () => {
  const { flags, variables } = connection()
  const usage = ['usage-cost', '--period', 'last-30-days', ...flags]
  const longest = async (terminal?: object): Promise<number> => {
    const { stdout } = await run(usage, { ...variables, NO_COLOR: '1' }, terminal)
    return Math.max(...stdout.split('\n').map(({ length }) => length))
  }
  expect(await longest()).toBeGreaterThan(60)
  expect(await longest({ isTTY: true })).toBeLessThanOrEqual(80)
  expect(await longest({ isTTY: true, columns: 60 })).toBeLessThanOrEqual(60)
})

it('reports all wrong values at once', async () => {
  const ran = await run(['usage-cost', '--budget', 'lots', '--warn-only=maybe', '--api-url', emulator().url, '--max-attempts='])
  expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
  for (const line of [
    'budget: "lots" is not accepted',
    'warn-only: "maybe" is not accepted',
    'max-attempts: is empty; give --max-attempts a value, or leave it out',
    'api-key-secret: is missing; set the input or WATCHKEEPER_API_KEY_SECRET',
  ])
    expect(ran.stderr).toContain(line)
})

it('V6: rejects empty options', () =>
  forEachEntry<[string, ...string[]]>(
    [
      ['budget', '--budget', ''],
      ['budget', '--budget='],
      ['budget', '--budget', '  '],
      ['select', '--select', ''],
      ['warn-only', '--warn-only', ''],
      ['reports', '--reports', ''],
    ],
    async (name, ...args) => {
      const { flags, variables } = connection()
      const ran = await run(['usage-cost', '--period', 'today', ...flags, ...args], variables)
      expect(ran.exitCode).toBe(2)
      expect(ran.stderr).toContain(`${name}: is empty; give --${name} a value, or leave it out\n`)
      expect(emulator().requests).toHaveLength(0)
    },
  ))

it('warns of an unknown variable on stderr', async () => {
  const { flags, variables } = connection()
  const ran = await run(['list-sources', '--json', ...flags], { ...variables, WATCHKEEPER_XYZZY: '1' })
  expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\{/) })
  expect(ran.stderr).toMatch(/^warning: Unknown variables with the prefix WATCHKEEPER_ are ignored: WATCHKEEPER_XYZZY\./)
})

it.each([
  [['list-sources', '--json', '--bugdet', '100'], /Unknown option --bugdet/],
  [['list-sources', 'x', '--json'], /accepts only options/],
])('prints JSON for programs when %j is rejected', async (args, reason) => {
  const ran = await run(args)
  expect(ran.exitCode).toBe(2)
  expect(JSON.parse(ran.stdout)).toMatchObject({ operation: 'list-sources', status: 'error', error: { kind: 'input' } })
  expect(JSON.parse(ran.stdout).failureReason).toMatch(reason)
})

it('prints the result as JSON after a wrong value, too', async () => {
  const ran = await run(['usage-cost', '--json', '--period', 'never'])
  expect(JSON.parse(ran.stdout)).toMatchObject({ operation: 'usage-cost', status: 'error', error: { kind: 'input' } })
})

describe('WATCHKEEPER_DEBUG=1', () => {
  it('prints every request to stderr, and nothing more to stdout', async () => {
    const { flags, variables } = connection()
    const [on, off] = [
      await run(['list-sources', ...flags], { ...variables, WATCHKEEPER_DEBUG: '1' }),
      await run(['list-sources', ...flags], variables),
    ]
    expect(on.stderr).toMatch(/^debug: list-sources \(read\), .*\ndebug: GET \/v1\/\S+ answered 200 in \d+ ms.*\n$/)
    expect([off.stderr, on.stdout]).toEqual(['', off.stdout])
  })
})

it('the exit code says what kind of end it was', async () => {
  const exitCodeOf = async (args: readonly string[], key?: { readonly id: string; readonly secret: string }): Promise<number> => {
    const { flags, variables } = asOptions({
      ...inputsFor(emulator()),
      ...(key !== undefined && { 'api-key-id': key.id, 'api-key-secret': key.secret }),
    })
    return (await run([...args, ...flags], variables)).exitCode
  }
  // A gate of one request: the file has ten in ten seconds.
  const gate = ['check-backups', '--max-age-hours', '1']
  expect([
    await exitCodeOf(gate),
    await exitCodeOf([...gate, '--warn-only']),
    await exitCodeOf(['list-sources'], demo.keys.disabled),
    await exitCodeOf(['list-sources'], demo.keys.billing),
    await exitCodeOf(['get-alert', '0'.repeat(24)]),
    (await run([])).exitCode,
  ]).toEqual([10, 0, 3, 3, 1, 2])
})

it('a message that is not delivered, and a comment, are warnings on stderr, and the exit code stays', async () => {
  receiver().answer({ status: 500 })
  const { flags, variables } = connection()
  const env = { ...variables, WATCHKEEPER_NOTIFY_URL: receiver().url, WATCHKEEPER_NOTIFY_FORMAT: 'json', WATCHKEEPER_ISSUE: 'on-failure' }
  const ran = await run(['list-sources', ...flags, '--comment', 'always', '--notify-on', 'always'], env)
  expect(ran.exitCode).toBe(0)
  expect(ran.stderr).toBe(
    `warning: comment and issue: ignored, because only the GitHub Action writes comments and issues\nwarning: notification: not delivered: ${receiver().host} answered 500. The message may have been delivered.\n`,
  )
  expect(receiver().messages[0]?.json).toMatchObject({ operation: 'list-sources', status: 'pass' })
  const change = await run(['list-sources', ...flags, '--notify-on', 'change', '--issue', 'on-failure'], variables)
  expect([change.exitCode, change.stderr]).toEqual([2, expect.stringContaining('notify-on: `change` works only in the GitHub Action')])
})

it('an option that is given twice is wrong use', async () => {
  const { exitCode, stderr } = await runCliInside(['usage-cost', '--period', 'today', '--budget', '1', '--budget', '100000'])
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Option --budget was given twice.')])
})
