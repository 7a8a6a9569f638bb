// Streams that break, variables and clocks that are wrong, and what Node reads when it starts.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demo, type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { type CertificateOptions, createCertificate } from '../../support/certificates.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { runWithFailure, toHttp } from '../../support/faults.ts'
import { type Play, startRawServer } from '../../support/raw-server.ts'

const root = new URL('../../..', import.meta.url).pathname
const execute = promisify(execFile)

let directory: string
let emulator: Emulator
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-surroundings-'))
  emulator = await startEmulator()
})
afterAll(async () => {
  await emulator.close()
  await rm(directory, { recursive: true })
})

const environment = (file: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  WATCHKEEPER_API_URL: emulator.url,
  WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
  WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
  WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
  WATCHKEEPER_SERVICE_ID: demo.services.checkout,
  INPUT_REPORTS: `json=${file}`,
  INPUT_OPERATION: 'usage-cost',
  INPUT_PERIOD: 'last-30-days',
  INPUT_BUDGET: '0',
  GITHUB_OUTPUT: join(directory, 'output'),
  GITHUB_STEP_SUMMARY: join(directory, 'summary'),
})

/** Through a shell, whose last word is the exit code of the program and not of its reader. */
async function shell(line: string): Promise<{ readonly code: number; readonly status: unknown }> {
  const file = join(directory, `${Math.random()}.json`)
  for (const name of ['output', 'summary']) await writeFile(join(directory, name), '', { flag: 'a' })
  const script = line
    .replaceAll('ACTION', `"${process.execPath}" "${root}dist/index.js"`)
    .replaceAll('CLI usage-cost', `"${process.execPath}" "${root}npm/cli.js" usage-cost --reports json="${file}"`)
  const { stdout } = await execute('bash', ['-c', `set +e; ${script}; echo "code:$CODE"`], { env: environment(file) })
  const result = JSON.parse(await readFile(file, 'utf8')) as { status: unknown }
  return { code: Number(/code:(\d+)/.exec(stdout)?.[1]), status: result.status }
}

describe.concurrent('V4: a reader that goes away changes no verdict', () => {
  it.each<[string, string, number]>([
    ['after one line of the log', '(ACTION; echo $? >&3) 3>code | head -1 >/dev/null; sleep 0.1; CODE=$(cat code)', 1],
    ['before the first line of the log', '(ACTION; echo $? >&3) 3>code | true; sleep 0.1; CODE=$(cat code)', 1],
    [
      'after one line of the report',
      '(CLI usage-cost --period last-30-days --budget 0; echo $? >&3) 3>code | head -1 >/dev/null; sleep 0.1; CODE=$(cat code)',
      10,
    ],
    ['with a log that was closed', 'ACTION >&- 2>&-; CODE=$?', 1],
    ['with a log that is full', 'ACTION >/dev/full 2>/dev/full; CODE=$?', 1],
    ['with a report that is full', 'CLI usage-cost --period last-30-days --budget 0 >/dev/full 2>/dev/full; CODE=$?', 10],
    ['with a reader that is slow', '(ACTION; echo $? >&3) 3>code | (sleep 1; cat >/dev/null); sleep 0.1; CODE=$(cat code)', 1],
  ])('the verdict stays the same %s', async (name, line, code) => {
    const file = join(directory, `code-${name.replaceAll(' ', '-')}`)
    expect(await shell(line.replaceAll('3>code', `3>${file}`).replaceAll('cat code', `cat ${file}`))).toEqual({ code, status: 'fail' })
  })
})

describe.concurrent('a wrong environment is tolerated, or rejected with a reason', () => {
  it('gives the same verdict in unusual environments', () =>
    forEachEntry<[string, Readonly<Record<string, string>>]>(
      [
        ['a time zone that does not exist', { TZ: 'Mars/Olympus_Mons' }],
        ['a language of one byte for each letter', { LANG: 'C', LC_ALL: 'C' }],
        ['no home', { HOME: '' }],
        ['a home that does not exist', { HOME: '/nowhere' }],
        ['an empty proxy', { HTTPS_PROXY: '', HTTP_PROXY: ' ' }],
        ['debugging of the runner', { RUNNER_DEBUG: '1', ACTIONS_STEP_DEBUG: 'true' }],
      ],
      async (_, env) => {
        const { outcome } = await runWithFailure('read a cost', undefined, { env, preload: {} })
        expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET', added: 0, problems: [] })
      },
      { atOnce: 4 },
    ))

  it('a missing file of certificate authorities causes a warning of Node only', async () => {
    const { outcome, ran } = await runWithFailure('read', undefined, {
      preload: {},
      env: { NODE_EXTRA_CA_CERTS: '/nowhere.pem' },
      url: 'https://127.0.0.1:9',
      inputs: { 'max-attempts': '1' },
    })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'network' })
    expect(ran.stderr).toContain('/nowhere.pem')
  })

  it('S3: unchecked certificates are rejected before anything is sent', async () => {
    const { outcome, ran } = await runWithFailure('read', undefined, { preload: {}, env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'input', methods: '' })
    expect(ran.outputs.get('failure-reason')).toContain('NODE_TLS_REJECT_UNAUTHORIZED: is 0')
  })
})

// Node reads them when it starts.
describe.concurrent('S3: a certificate counts only if NODE_EXTRA_CA_CERTS names its authority and it is for the host', () => {
  async function serve(options: CertificateOptions, play: Play = (wire) => wire.write(toHttp({ status: 200, body: '[]' }))) {
    const certificate = createCertificate(options)
    const authority = join(directory, `${Math.random()}.pem`)
    await writeFile(authority, certificate.cert)
    const server = await startRawServer(play, certificate)
    return { server, certificate, url: `https://127.0.0.1:${server.port}`, env: { NODE_EXTRA_CA_CERTS: authority } }
  }
  const loopback = { addresses: ['127.0.0.1'], names: ['localhost'] }

  it.each<[string, CertificateOptions, string, RegExp]>([
    ['of an own authority', loopback, '0 pass', /^/],
    ['that expired', { ...loopback, to: new Date(Date.now() - 1000) }, '1 tls', /certificate has expired \(CERT_HAS_EXPIRED\)/],
    ['for another name', { names: ['other.example'] }, '1 tls', /not in the cert's list.*\(ERR_TLS_CERT_ALTNAME_INVALID\)/],
  ])('decides on a certificate %s', async (_, options, ending, reason) => {
    const { server, url, env } = await serve(options)
    const { outcome, ran } = await runWithFailure('read', undefined, { preload: {}, url, env })
    await server.close()
    expect(`${outcome.exitCode} ${outcome.conclusion}`).toBe(ending)
    expect(server.requests).toHaveLength(outcome.exitCode === 0 ? 1 : 0)
    expect(ran.outputs.get('failure-reason')).toMatch(reason)
  })

  /** What a proxy is for: bytes forth and back. */
  const tunnel: Play = async (wire, { path }) => {
    const [host = '', port = ''] = path.split(':')
    const target = connect({ host, port: Number(port) }).on('error', () => wire.socket.destroy())
    wire.socket.setEncoding('latin1').removeAllListeners('data')
    await wire.write('HTTP/1.1 200 Connection established\r\n\r\n')
    wire.socket.on('data', (text: string) => target.write(text, 'latin1')).on('close', () => target.destroy())
    target.on('data', (bytes) => wire.socket.write(bytes)).on('close', () => wire.socket.end())
  }

  it('sends requests through a proxy, with its password and nothing else readable', async () => {
    const { server, url, env } = await serve(loopback)
    const proxy = await startRawServer(tunnel)
    const password = 'proxy-pass%word-0123456789'
    const address = `http://user:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}`
    const run = { preload: {}, url, env: { ...env, HTTPS_PROXY: address }, secrets: [password] }
    const { outcome } = await runWithFailure('read', undefined, run)
    await Promise.all([server.close(), proxy.close()])
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', problems: [] })
    expect(proxy.requests[0]).toMatchObject({ method: 'CONNECT', path: new URL(url).host })
    expect(proxy.requests[0]?.headers['proxy-authorization']).toBe(`Basic ${Buffer.from(`user:${password}`).toString('base64')}`)
    expect(proxy.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it('does not ask a proxy that is reached over TLS for HTTP/2', async () => {
    const { server, certificate, url, env } = await serve(loopback)
    const chosen: (string | false | null)[] = []
    const proxy = createTlsServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      chosen.push(socket.alpnProtocol)
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    // It listens on a port, not on a pipe.
    const { port } = proxy.address() as AddressInfo
    const run = { preload: {}, url, env: { ...env, HTTPS_PROXY: `https://localhost:${port}` }, inputs: { 'max-attempts': '1' } }
    const { ran } = await runWithFailure('create', undefined, run)
    await server.close()
    proxy.close()
    expect(chosen).not.toEqual([])
    expect(chosen).not.toContain('h2')
    expect(ran.outputs.get('failure-reason')).toContain('the proxy answered 403')
  })
})

describe.concurrent('R2: a wrong clock of the runner does not change how long a wait takes', () => {
  const aDay = 86_400_000
  const limited = (seconds: string) => ({ effect: { kind: 'rate-limited', headers: { 'retry-after': seconds } } }) as const

  it.each([-aDay, aDay])('counts a wait until a date from the date of the answer, with a clock that is %i ms off', async (offsetMs) => {
    const until = new Date(Date.now() + 5000).toUTCString()
    const startAt = new Date(Date.now() + offsetMs).toISOString()
    const { outcome, ran } = await runWithFailure('read', limited(until), { preload: { startAt } })
    expect(outcome).toMatchObject({ exitCode: 0, conclusion: 'pass', methods: 'GET GET', problems: [] })
    expect(ran.stdout).toMatch(/Trying again in [1-5]\.0 s/)
  })

  it.each([-aDay, aDay])('waits as long when the clock jumps by %i ms during the wait', async (byMs) => {
    const { outcome, activeMs } = await runWithFailure('create', limited('2'), { preload: { jump: { afterMs: 800, byMs } } })
    expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'POST POST', added: 1, problems: [] })
    expect(activeMs).toBeLessThan(9000)
  })
})
