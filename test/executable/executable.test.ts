// The single executable on its own: no Node, no PATH and no variables but those of a test.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { executableNotices, executablePath } from '../../scripts/build-executable.ts'
import { demo } from '../../src/emulator/index.ts'
import { version } from '../../src/platform/core/version.ts'
import { kits } from '../../src/runtime/cli/init/kits.ts'
import { createCertificate } from '../support/certificates.ts'
import { useEmulator } from '../support/emulator.ts'
import { toHttp } from '../support/faults.ts'
import { startRawServer } from '../support/raw-server.ts'

const example = (path: string): string => readFileSync(new URL(`../../examples/${path}`, import.meta.url), 'utf8')

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watchkeeper-executable-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
})

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ readonly exitCode: unknown; readonly stdout: string; readonly stderr: string }>((resolve) => {
    execFile(executablePath, args, { cwd: directory, env: { PATH: '', ...env } }, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : error.code, stdout, stderr }),
    )
  })
}

describe('the single executable', () => {
  it('the single executable is the command line of this version, with its help', async () => {
    expect(await run(['--version'])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
    expect(await run(['plan', '--help'])).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('--prune'), stderr: '' })
    expect(await run(['plna'])).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('plan') })
  })

  it.each(['clickhouse-cloud', 'hyperdx'])('shows the demo of %s', async (profile) => {
    const ran = await run(['demo', '--profile', profile])
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toContain('All operations ended as expected, including the gates that fail.')
  })

  it('writes the files of init, which are inside of it', async () => {
    expect(await run(['init', ...kits.map(({ name }) => name)])).toMatchObject({ exitCode: 0, stderr: '' })
    for (const { example: source, target } of kits.flatMap(({ files }) => files))
      expect(readFileSync(join(directory, target), 'utf8')).toBe(example(source))
  })

  it.each(['bash', 'zsh', 'fish'])('prints the completion for %s', async (shell) => {
    const { exitCode, stdout } = await run(['completion', shell])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('check-backups')
    if (shell === 'bash') execFileSync('bash', ['-n'], { input: stdout })
  })

  it('prints the licenses of everything in it, Node included', async () => {
    const { stdout } = await run(['licenses'])
    expect(stdout).toContain('Apache License')
    expect(stdout).toContain(executableNotices())
    expect(stdout).toContain('\nundici\nMIT\n')
    for (const part of ['Node.js is licensed for use as follows', 'OpenSSL', 'libuv', 'V8']) expect(stdout).toContain(part)
  })

  it('ignores NODE_OPTIONS, which is for programs that are started with node', async () => {
    const env = { NODE_OPTIONS: `--require ${join(directory, 'missing.cjs')}` }
    expect(() => execFileSync(process.execPath, ['--print', '1'], { env, stdio: 'ignore' })).toThrow()
    expect(await run(['--version'], env)).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
    expect(await run(['--require', join(directory, 'missing.cjs')])).toMatchObject({ exitCode: 2 })
  })

  it('trusts the certificates of NODE_EXTRA_CA_CERTS, and sends requests through the proxy', async () => {
    const certificate = createCertificate({ addresses: ['127.0.0.1'] })
    const authorities = join(directory, 'ca.pem')
    writeFileSync(authorities, certificate.cert)
    const api = await startRawServer((wire) => wire.write(toHttp({ status: 200, body: '[]' })), certificate)
    const proxy = await startRawServer(async (wire, { path }) => {
      const [host = '', port = ''] = path.split(':')
      const target = connect({ host, port: Number(port) }).on('error', () => wire.socket.destroy())
      wire.socket.setEncoding('latin1').removeAllListeners('data')
      await wire.write('HTTP/1.1 200 Connection established\r\n\r\n')
      wire.socket.on('data', (text: string) => target.write(text, 'latin1')).on('close', () => target.destroy())
      target.on('data', (bytes) => wire.socket.write(bytes)).on('close', () => wire.socket.end())
    })
    const settings = {
      ...keyOf('clickhouse-cloud'),
      WATCHKEEPER_API_URL: `https://127.0.0.1:${api.port}`,
      WATCHKEEPER_OBSERVABILITY_PATH: 'clickstack',
    }
    const untrusted = await run(['list-dashboards', '--max-attempts', '1'], settings)
    expect(untrusted).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('The certificate is not trusted.') })
    const env = { ...settings, NODE_EXTRA_CA_CERTS: authorities, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    expect(await run(['list-dashboards'], env)).toMatchObject({ exitCode: 0 })
    expect(proxy.requests).toHaveLength(1)
    const ofSystem = { ...settings, NODE_USE_SYSTEM_CA: '1', SSL_CERT_FILE: authorities }
    if (process.platform === 'linux') expect(await run(['list-dashboards'], ofSystem)).toMatchObject({ exitCode: 0 })
    await Promise.all([api.close(), proxy.close()])
  })
})

const keyOf = (profile: string): Readonly<Record<string, string>> =>
  profile === 'hyperdx'
    ? { WATCHKEEPER_API_KEY: demo.apiKeySecret }
    : {
        WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
        WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
        WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
        WATCHKEEPER_SERVICE_ID: demo.services.checkout,
      }

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('the single executable with %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })

  it('validates, plans and applies the files of init, and then finds no drift', async () => {
    mkdirSync(join(directory, '.git'))
    await run(['init', 'plan-and-apply'])
    writeFileSync(join(directory, '.watchkeeper.yml'), 'project: shop/infra\n')
    const variables = {
      WATCHKEEPER_VAR_SERVICE: 'checkout',
      WATCHKEEPER_VAR_WEBHOOK: 'oncall',
      WATCHKEEPER_VAR_ERRORS_PER_FIVE_MINUTES: '20',
    }
    const env = { ...variables, ...keyOf(dialect), WATCHKEEPER_PROFILE: dialect, WATCHKEEPER_API_URL: emulator().url }
    expect(await run(['validate'], env)).toMatchObject({ exitCode: 0 })
    expect(await run(['plan'], env)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/Plan for shop\/infra \(\d+ to create\)/) })
    expect(await run(['drift'], env)).toMatchObject({ exitCode: 10 })
    expect(await run(['apply', '--yes'], env)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/Applied .* \(\d+ created\)/) })
    expect(await run(['plan'], env)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('No changes') })
    expect(await run(['drift'], env)).toMatchObject({ exitCode: 0 })
  })
})
