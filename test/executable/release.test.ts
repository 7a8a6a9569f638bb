// From a local copy of a release to the first applied alert, in a directory as root: no Node, and only the programs that the install
// script names. And the image: the files of the Dockerfile on what its base has.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { executablePath } from '../../scripts/build-executable.ts'
import { archiveName, currentPlatform, readChecksums, renderChecksums, writeArchive } from '../../scripts/release-files.ts'
import { demo } from '../../src/emulator/index.ts'
import { version } from '../../src/platform/core/version.ts'
import { useEmulator } from '../support/emulator.ts'
import { addFile, addLibraries, addProgram, runInRoot } from '../support/root-directory.ts'

const repository = new URL('../..', import.meta.url).pathname
const archive = archiveName(currentPlatform())

const releases = mkdtempSync(join(tmpdir(), 'watchkeeper-releases-'))
const release = join(releases, `download/v${version}`)
const server = createServer((request, response) => response.end(readFileSync(join(releases, request.url ?? ''))))
const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

beforeAll(async () => {
  mkdirSync(release, { recursive: true })
  await writeArchive(release)
  writeFileSync(join(release, 'SHA256SUMS'), renderChecksums(readChecksums(release)))
  writeFileSync(join(release, 'install.sh'), readFileSync(join(repository, 'scripts/install.sh')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  server.close()
  rmSync(releases, { recursive: true })
})

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'watchkeeper-root-'))
  // Other users may read it, as any root.
  chmodSync(root, 0o755)
  onTestFinished(() => rmSync(root, { recursive: true }))
})

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const settings = () => ({
  WATCHKEEPER_PROFILE: 'hyperdx',
  WATCHKEEPER_API_URL: emulator().url,
  WATCHKEEPER_API_KEY: demo.apiKeySecret,
})

it('the archive has at most 50 MB', ({ annotate }) => {
  const { size } = statSync(join(release, archive))
  annotate(`${(size / 1e6).toFixed(1)} MB`)
  expect(size).toBeLessThan(50e6)
})

describe('a root without Node', () => {
  it('a root without Node needs two commands and no other program for the first plan', async ({ annotate }) => {
    for (const program of ['sh', 'cat', 'chmod', 'curl', 'gzip', 'mkdir', 'mktemp', 'mv', 'rm', 'sha256sum', 'tar', 'uname'])
      addProgram(root, program)
    // curl brings neither of the two.
    addLibraries(root, process.execPath)
    for (const directory of ['tmp', 'root', 'work']) mkdirSync(join(root, directory))
    const env = { PATH: '/root/.local/bin:/usr/bin', HOME: '/root', ...settings() }
    const run = (...command: [string, ...string[]]) => runInRoot(root, command, { env, directory: '/work' })
    const startedAt = performance.now()

    const installed = await run(
      '/usr/bin/sh',
      '-c',
      `curl -fsSL ${address()}/download/v${version}/install.sh | sh -s -- --from ${address()}`,
    )
    expect(installed).toMatchObject({ exitCode: 0, stderr: '' })
    expect(installed.stdout).toContain(`Installed watchkeeper ${version} to /root/.local/bin/watchkeeper\n`)
    expect(installed.stdout).not.toContain('is not in PATH')

    const watchkeeper = '/root/.local/bin/watchkeeper'
    expect(await run(watchkeeper, 'init', 'self-hosted')).toMatchObject({ exitCode: 0 })
    const variables = {
      WATCHKEEPER_VAR_SERVICE: 'checkout',
      WATCHKEEPER_VAR_WEBHOOK: 'oncall',
      WATCHKEEPER_VAR_ERRORS_PER_FIVE_MINUTES: '20',
    }
    writeFileSync(join(root, 'work/.watchkeeper.yml'), 'project: shop/infra\n')
    Object.assign(env, variables)
    expect(await run(watchkeeper, 'plan')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/Plan for shop\/infra \(\d+ to create\)/),
    })
    expect(await run(watchkeeper, 'apply', '--yes')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Applied to shop/infra'),
    })
    annotate(`from the first download to the applied alert: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    expect(await run(watchkeeper, 'demo')).toMatchObject({ exitCode: 0 })
  })
})

describe('the image', () => {
  const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8')
  const instruction = (name: string): string => new RegExp(`^${name} (.+)$`, 'm').exec(dockerfile)?.[1] ?? ''
  const entryPoint = JSON.parse(instruction('ENTRYPOINT')) as [string, ...string[]]
  const user = instruction('USER').split(':').map(Number) as [number, number]
  const directory = instruction('WORKDIR')

  /** The libraries of the base, and what the Dockerfile copies. The base has no shell and no other program. */
  beforeEach(() => {
    addLibraries(root, process.execPath)
    const sources = {
      watchkeeper: executablePath,
      LICENSE: join(repository, 'LICENSE'),
      'licenses.txt': join(repository, 'dist/licenses.txt'),
    }
    for (const [, words = ''] of dockerfile.matchAll(/^COPY (?:--\S+ )*(.+)$/gm)) {
      const [target = '', ...names] = words.split(' ').toReversed()
      for (const name of names.map((path) => path.replace(/^\$\{TARGETARCH\}\//, '') as keyof typeof sources))
        addFile(root, target.endsWith('/') ? join(target, name) : target, readFileSync(sources[name]), 0o555)
    }
    mkdirSync(join(root, directory), { recursive: true })
  })

  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runInRoot(root, [...entryPoint, ...args], { env, directory, user, isReadOnly: true })

  it('shows its help without arguments, as a user who may write nowhere', async () => {
    expect(user.every((id) => id > 0)).toBe(true)
    const ran = await run(JSON.parse(instruction('CMD')) as string[])
    expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Usage: watchkeeper'), stderr: '' })
  })

  it('plans and applies files that are mounted, with a root that is read-only', async () => {
    const file = `dashboards:\n  orders:\n    name: Orders\n    tiles:\n      - name: Orders\n        config: { displayType: number, source: Logs, select: [{ aggFn: count }] }\n`
    addFile(root, join(directory, 'observability/orders.yml'), file)
    const flags = ['--project', 'shop/infra']
    expect(await run(['plan', ...flags], settings())).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('(1 to create)') })
    expect(await run(['apply', ...flags, '--yes'], settings())).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('(1 created)'),
    })
    expect(await run(['drift', ...flags], settings())).toMatchObject({ exitCode: 0 })
  })
})
