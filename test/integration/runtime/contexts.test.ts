import { lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { useEmulator } from '../../support/emulator.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

const emulator = useEmulator({ dialect: 'hyperdx' })

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'watchkeeper-contexts-'))
})
afterEach(() => rm(home, { recursive: true }))

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCliInside(args, { env: { XDG_CONFIG_HOME: home, ...env } })

const add = (name: string, ...more: readonly string[]) =>
  run(['context', 'add', name, '--profile', 'hyperdx', '--api-url', emulator().url, ...more])

describe('a context', () => {
  it('a context gives a command its address and its key from a variable', async () => {
    expect((await add('staging', '--key-env', 'MY_KEY')).stdout).toContain('Added context staging')
    const ran = await run(['list-sources', '--context', 'staging'], { MY_KEY: demo.apiKeySecret })
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toContain(`Server ${emulator().url}/api/v2`)
  })

  it('a context takes the key from a command', async () => {
    await add('staging', '--key-command', `echo ${demo.apiKeySecret}`)
    expect((await run(['list-sources', '--context', 'staging'])).exitCode).toBe(0)
  })

  it('a context does not mix with the variables of another service', async () => {
    await add('staging', '--key-env', 'MY_KEY')
    const other = { MY_KEY: demo.apiKeySecret, WATCHKEEPER_API_URL: 'http://127.0.0.1:9', WATCHKEEPER_SERVICE_ID: demo.services.search }
    expect((await run(['list-sources', '--context', 'staging'], other)).exitCode).toBe(0)
  })

  it('a context is stored for its owner only, without a key', async () => {
    await add('staging', '--key-env', 'MY_KEY')
    const path = join(home, 'watchkeeper', 'contexts.yml')
    expect((await stat(path)).mode & 0o077).toBe(0)
    expect(await readFile(path, 'utf8')).toBe(`staging:\n  profile: hyperdx\n  api-url: ${emulator().url}\n  key-env: MY_KEY\n`)
  })

  it('a context is not stored through a link', async () => {
    const path = join(home, 'watchkeeper', 'contexts.yml')
    await mkdir(join(home, 'watchkeeper'))
    await writeFile(join(home, 'other.yml'), '')
    await symlink(join(home, 'other.yml'), path)
    expect(await add('staging', '--key-env', 'MY_KEY')).toMatchObject({
      exitCode: 2,
      stderr: `context: ${path} could not be written: it is a link, not a regular file\n`,
    })
    expect((await lstat(path)).isSymbolicLink()).toBe(true)
  })

  // A repository could otherwise bring contexts along, whose key-command runs in a shell.
  it.each(['XDG_CONFIG_HOME', 'APPDATA'])('a context is not stored below a relative %s', async (variable) => {
    const env = { XDG_CONFIG_HOME: '', [variable]: 'config', HOME: home }
    const ran = await run(['context', 'add', 'staging', '--profile', 'hyperdx', '--key-env', 'MY_KEY'], env)
    expect(ran.stdout).toContain(`Added context staging to ${join(home, '.config', 'watchkeeper', 'contexts.yml')}.`)
  })

  it('a context needs an absolute directory', async () => {
    const ran = await run(['context', 'list'], { XDG_CONFIG_HOME: 'config', HOME: '.' })
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('set HOME or XDG_CONFIG_HOME to an absolute path') })
  })

  it('a context is listed and removed', async () => {
    await add('staging', '--key-env', 'MY_KEY')
    expect((await run(['context', 'list'])).stdout).toContain('staging\n  profile: hyperdx\n')
    await run(['context', 'remove', 'staging'])
    expect((await run(['context', 'list'])).stdout).toMatch(/^No contexts/)
  })

  it.each([
    [['--key-env', 'A', '--key-command', 'b'], 'set either key-env or key-command'],
    [[], 'set either key-env or key-command'],
    [['--api-key', 'a-secret-key'], 'Unknown option --api-key'],
    [['--allow-http'], 'Unknown option --allow-http'],
  ])('a context cannot be added with %j', async (more, message) => {
    const ran = await add('x', ...more)
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain(message)
  })

  // A key in the place of its name, or in the address.
  it.each([
    ['--api-url', 'https://user:hunter2hunter2@example.com', 'api-url: the value is not a base URL'],
    ['--api-url', 'https://example.com?token=hunter2hunter2', 'api-url: the value is not a base URL'],
    ['--key-env', '4b1dhunter2hunter2', 'key-env: the value is not accepted'],
    ['--key-env', 'hunter2hunter2', 'key-env: the value is not accepted'],
    ['--key-env', 'HUNTER2HUNTER2HUNTER2HUNTER2', 'key-env: the value is not accepted'],
  ])('a context neither quotes nor stores the secret in %s %s', async (flag, value, message) => {
    const ran = await run(['context', 'add', 'x', ...(flag === '--key-env' ? [] : ['--key-env', 'MY_KEY']), flag, value])
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) })
    expect(ran.stderr).not.toMatch(/hunter2/i)
    expect((await run(['context', 'list'])).stdout).toMatch(/^No contexts/)
  })

  it('a context with a secret in the place of a name is rejected without it, also when its file was edited', async () => {
    await mkdir(join(home, 'watchkeeper'))
    const path = join(home, 'watchkeeper', 'contexts.yml')
    await writeFile(path, 'staging: { profile: hyperdx, api-url: "https://example.com?token=hunter2hunter2", key-env: hunter2hunter2 }\n')
    const ran = await run(['list-sources', '--context', 'staging'])
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('key-env: the value is not accepted') })
    expect(ran.stderr).not.toContain('hunter2')
  })

  it('a context that holds more than its settings is rejected', async () => {
    await add('staging', '--key-env', 'MY_KEY')
    await writeFile(join(home, 'watchkeeper', 'contexts.yml'), 'staging: { profile: hyperdx, key-env: A, allow-http: true }\n')
    expect((await run(['list-sources', '--context', 'staging'])).stderr).toMatch(/allow-http.*unknown field/)
  })

  it.each([
    [['--context', 'stagin'], {}, 'did you mean "staging"?'],
    [['--context', 'staging'], {}, 'the environment variable MY_KEY is not set'],
  ])('a context is explained when %j cannot be used', async (flags, env, message) => {
    await add('staging', '--key-env', 'MY_KEY')
    const ran = await run(['list-sources', ...flags], env)
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain(message)
  })

  it('a context whose command for the key fails says so', async () => {
    await add('staging', '--key-command', 'exit 3')
    expect((await run(['list-sources', '--context', 'staging'])).stderr).toContain('the command for the key ended with exit code 3: exit 3')
  })
})

it('rejects an empty context, which would run a command against another service', async () => {
  const ran = await run(['list-sources', '--context', ''], { WATCHKEEPER_API_URL: emulator().url })
  expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
  expect(ran.stderr).toContain('--context: is empty')
})
