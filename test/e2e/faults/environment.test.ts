// Streams that break, variables that are wrong, and what Node reads when it starts.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demo, type Emulator, startEmulator } from '../../../src/emulator/index.ts'
import { type Certificate, createCertificate } from '../../support/certificates.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { runWithFailure, toHttp } from '../../support/faults.ts'
import { pullRequestEvent, runnerEnvironment } from '../../support/notify.ts'
import { type Play, startRawServer } from '../../support/raw-server.ts'

const root = new URL('../../..', import.meta.url).pathname
const execute = promisify(execFile)

let directory: string
let emulator: Emulator
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-surroundings-'))
  emulator = await startEmulator({ rateLimit: 'off' })
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

it('V4: a reader that goes away, and a log that is closed or full, change no verdict', () => {
  const cli = 'CLI usage-cost --period last-30-days --budget 0'
  return forEachEntry<[string, string, number]>(
    [
      ['one line of the log is read', '(ACTION; echo $? >&3) 3>code | head -1 >/dev/null; sleep 0.1; CODE=$(cat code)', 1],
      ['one line of the report is read', `(${cli}; echo $? >&3) 3>code | head -1 >/dev/null; sleep 0.1; CODE=$(cat code)`, 10],
      ['the log is closed', 'ACTION >&- 2>&-; CODE=$?', 1],
      ['the log is full', 'ACTION >/dev/full 2>/dev/full; CODE=$?', 1],
      ['the report is full', `${cli} >/dev/full 2>/dev/full; CODE=$?`, 10],
    ],
    async (name, line, code) => {
      const file = join(directory, `code-${name.replaceAll(' ', '-')}`)
      expect(await shell(line.replaceAll('3>code', `3>${file}`).replaceAll('cat code', `cat ${file}`))).toEqual({ code, status: 'fail' })
    },
    { atOnce: 3 },
  )
})

it('gives the same verdict in an unusual environment', async () => {
  const unusual = { TZ: 'Mars/Olympus_Mons', LANG: 'C', LC_ALL: 'C', HOME: '/nowhere', HTTPS_PROXY: '', HTTP_PROXY: ' ', RUNNER_DEBUG: '1' }
  const { outcome } = await runWithFailure('read a cost', undefined, { env: unusual, preload: {} })
  expect(outcome).toEqual({ exitCode: 0, conclusion: 'pass', methods: 'GET', added: 0, problems: [] })
})

// Node reads certificate authorities when it starts.

const trusted = createCertificate({ addresses: ['127.0.0.1'], names: ['localhost'] })

/** The variable that names a file with the certificate. */
async function trust({ cert }: Certificate) {
  const authority = join(directory, `${Math.random()}.pem`)
  await writeFile(authority, cert)
  return { NODE_EXTRA_CA_CERTS: authority }
}

it('S3: a certificate counts only if NODE_EXTRA_CA_CERTS names its authority and it is for the host', () =>
  forEachEntry<[string, Certificate, string, RegExp]>(
    [
      ['of an own authority', trusted, '0 pass', /^$/],
      [
        'for another name',
        createCertificate({ names: ['other.example'] }),
        '1 tls',
        /not in the cert's list.*\(ERR_TLS_CERT_ALTNAME_INVALID\)/,
      ],
    ],
    async (_, certificate, ending, reason) => {
      const server = await startRawServer((wire) => wire.write(toHttp({ status: 200, body: '[]' })), certificate)
      const url = `https://127.0.0.1:${server.port}`
      const { outcome, ran } = await runWithFailure('read', undefined, { preload: {}, url, env: await trust(certificate) })
      await server.close()
      expect(`${outcome.exitCode} ${outcome.conclusion}`).toBe(ending)
      expect(server.requests).toHaveLength(outcome.exitCode === 0 ? 1 : 0)
      expect(ran.outputs.get('failure-reason')).toMatch(reason)
    },
    { atOnce: 2 },
  ))

describe('requests through a proxy', () => {
  const user = 'proxy-user-of-the-shop'
  const password = 'proxy-pass%word-0123456789'
  const pair = Buffer.from(`${user}:${password}`).toString('base64')
  const token = 'ghs_abcdefghijklmnop0123456789'

  it('S2: a proxy over TLS gets its password and nothing else readable, no HTTP/2, and is in errors without its user and password', async () => {
    const body = JSON.stringify({ error: `${user} may not do that with Basic ${pair}` })
    const server = await startRawServer((wire) => wire.write(toHttp({ status: 403, body })), trusted)
    const chosen: unknown[] = []
    /** What a proxy is for: bytes forth and back. It refuses GitHub. */
    const tunnel: Play = async (wire, { path }) => {
      chosen.push((wire.socket as TLSSocket).alpnProtocol) // The server speaks TLS.
      if (path.startsWith('github.example')) return wire.write('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
      const target = connect({ host: '127.0.0.1', port: server.port }).on('error', () => wire.socket.destroy())
      wire.socket.setEncoding('latin1').removeAllListeners('data')
      await wire.write('HTTP/1.1 200 Connection established\r\n\r\n')
      wire.socket.on('data', (text: string) => target.write(text, 'latin1')).on('close', () => target.destroy())
      target.on('data', (bytes) => wire.socket.write(bytes)).on('close', () => wire.socket.end())
    }
    const proxy = await startRawServer(tunnel, { ...trusted, ALPNProtocols: ['h2', 'http/1.1'] })
    const event = join(directory, 'event.json')
    await writeFile(event, JSON.stringify(pullRequestEvent(12)))
    const { outcome, ran } = await runWithFailure('read', undefined, {
      preload: {},
      url: `https://127.0.0.1:${server.port}`,
      env: {
        ...runnerEnvironment('https://github.example'),
        ...(await trust(trusted)),
        GITHUB_EVENT_NAME: 'pull_request',
        GITHUB_EVENT_PATH: event,
        HTTPS_PROXY: `https://${user}:${encodeURIComponent(password)}@localhost:${proxy.port}`,
      },
      inputs: { comment: 'always', 'github-token': token, 'max-attempts': '1' },
      secrets: [password, pair, token],
    })
    await Promise.all([server.close(), proxy.close()])
    const [first] = proxy.requests
    expect(first).toMatchObject({ method: 'CONNECT', path: `127.0.0.1:${server.port}` })
    expect(first?.headers['proxy-authorization']).toBe(`Basic ${pair}`)
    expect(first?.headers).not.toHaveProperty('authorization')
    expect(chosen).not.toContain('h2')
    // A comment that cannot be written changes no verdict.
    expect(outcome).toMatchObject({ exitCode: 1, conclusion: 'permission', problems: ['its commands are error, notice'] })
    expect(ran.outputs.get('failure-reason')).toContain('The API answered 403: *** may not do that with Basic ***')
    expect(ran.stdout).toContain(`::add-mask::${pair}\n`)
    expect(ran.stdout).not.toContain(user)
    expect(ran.stdout).toMatch(/^::notice title=Watchkeeper::comment: GitHub .*proxy/m)
  })
})
