// Row 23 of the fault matrix: a proxy in between that refuses, hangs or does not exist. Its password is in no message.

import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Certificate, createCertificate } from '../../support/certificates.ts'
import { type Doing, meet, toHttp } from '../../support/faults.ts'
import { pullRequestEvent, runnerEnvironment } from '../../support/notify.ts'
import { type Play, type RawServer, startRawServer } from '../../support/raw-server.ts'

const password = 'proxy-pass%word-0123456789'

let directory: string
let certificate: Certificate
let api: RawServer
let trust: { readonly NODE_EXTRA_CA_CERTS: string }

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-proxy-'))
  certificate = createCertificate({ addresses: ['127.0.0.1'], names: ['localhost'] })
  trust = { NODE_EXTRA_CA_CERTS: join(directory, 'ca.pem') }
  await writeFile(trust.NODE_EXTRA_CA_CERTS, certificate.cert)
  api = await startRawServer(
    (wire, { headers }) => wire.write(toHttp({ status: 200, body: `[{"id":"a1","name":"${headers['user-agent']}"}]` })),
    certificate,
  )
})
afterAll(async () => {
  await api.close()
  await rm(directory, { recursive: true })
})

/** Runs through a proxy that does that with each request for a tunnel. */
async function through(doing: Doing, play: Play, inputs: Readonly<Record<string, string>> = {}) {
  const proxy = await startRawServer(play)
  const env = { ...trust, HTTPS_PROXY: `http://user:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}` }
  const result = await meet(doing, undefined, {
    url: `https://127.0.0.1:${api.port}`,
    env,
    inputs: { 'max-attempts': '2', ...inputs },
    secrets: [password, Buffer.from(`user:${password}`).toString('base64')],
  })
  await proxy.close()
  return { ...result, proxy, reason: result.ran.outputs.get('failure-reason') ?? '' }
}

const answer =
  (head: string): Play =>
  async (wire) => {
    await wire.write(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\n\r\n`)
    wire.end()
  }

/** What a proxy is for: bytes forth and back. */
const tunnel: Play = async (wire, { path }) => {
  const [host = '', port = ''] = path.split(':')
  const target = connect({ host, port: Number(port) }).on('error', () => wire.socket.destroy())
  wire.socket.setEncoding('latin1').removeAllListeners('data')
  await wire.write('HTTP/1.1 200 Connection established\r\n\r\n')
  wire.socket.on('data', (text: string) => target.write(text, 'latin1')).on('close', () => target.destroy())
  target.on('data', (bytes) => wire.socket.write(bytes)).on('close', () => wire.socket.end())
}

describe.concurrent('row 23: a proxy', () => {
  it('that works is worked through, with its password and nothing else of ours in clear', async () => {
    const { met, proxy } = await through('read', tunnel)
    expect(met).toMatchObject({ exitCode: 0, said: 'pass', complaints: [] })
    expect(proxy.requests[0]).toMatchObject({ method: 'CONNECT', path: `127.0.0.1:${api.port}` })
    expect(proxy.requests[0]?.headers['proxy-authorization']).toBe(`Basic ${Buffer.from(`user:${password}`).toString('base64')}`)
    expect(proxy.requests[0]?.headers).not.toHaveProperty('authorization')
  })

  it.each<[string, string, Doing, number, RegExp]>([
    ['wants other credentials', '407 Proxy Authentication Required', 'create', 1, /the proxy answered 407\n/],
    ['forbids the host', '403 Forbidden', 'read', 2, /the proxy answered 403\n/],
    ['cannot reach the host', '502 Bad Gateway', 'create', 2, /the proxy answered 502\n/],
    // biome-ignore lint/complexity/useMaxParams: one column of the table each
  ])('that %s is named as what refused', async (_, head, doing, attempts, words) => {
    const { met, proxy, reason } = await through(doing, answer(head))
    expect(met).toMatchObject({ exitCode: 1, said: 'network', complaints: [] })
    expect(proxy.requests.filter(({ method }) => method === 'CONNECT')).toHaveLength(attempts)
    expect(reason).toMatch(words)
    expect(reason).toContain(`No way through the proxy 127.0.0.1:${proxy.port}: `)
  })

  it.each<[string, Doing, Play, string]>([
    ['never answers', 'read', () => undefined, 'deadline'],
    ['never answers', 'create', () => undefined, 'may-exist'],
    ['answers without an end', 'read', (wire) => wire.write('HTTP/1.1 200 OK\r\nx'), 'deadline'],
  ])('that %s is given up in time', async (_, doing, play, said) => {
    const { met, ran, proxy, reason } = await through(doing, play, { 'timeout-seconds': '1' })
    expect(met).toMatchObject({ exitCode: 1, said, complaints: [] })
    expect(reason).toMatch(
      new RegExp(`^No answer within [\\d.]+ s \\(REQUEST_TIMEOUT\\) through the proxy 127\\.0\\.0\\.1:${proxy.port}\n`),
    )
    expect(ran.ending?.activeMs).toBeLessThan(9000)
  })

  it('that closes the connection midway gives no answer', async () => {
    const { met, proxy, reason } = await through('read', (wire) => wire.reset())
    expect(met).toMatchObject({ exitCode: 1, said: 'network', complaints: [] })
    expect(reason).toContain(`No answer through the proxy 127.0.0.1:${proxy.port}: `)
  })

  it('that does not listen is named by its host', async () => {
    const env = { HTTPS_PROXY: `http://user:${encodeURIComponent(password)}@127.0.0.1:9` }
    const { met, ran } = await meet('create', undefined, {
      url: 'https://127.0.0.1:1',
      env,
      inputs: { 'max-attempts': '2' },
      secrets: [password],
    })
    expect(met).toMatchObject({ exitCode: 1, said: 'network', complaints: [] })
    expect(ran.outputs.get('failure-reason')).toContain('No answer through the proxy 127.0.0.1:9: connect ECONNREFUSED')
  })

  it('with an invalid address is named by its variable, and nothing is sent', async () => {
    const env = { HTTPS_PROXY: `http://user:${password}@:port` }
    const { met, ran } = await meet('read', undefined, { env, secrets: [password] })
    expect(met).toMatchObject({ exitCode: 1, said: 'input', methods: '', complaints: [] })
    expect(ran.outputs.get('failure-reason')).toContain('HTTPS_PROXY: is no proxy url')
  })

  it('for plain http that refuses is named as well', async () => {
    const proxy = await startRawServer(answer('407 Proxy Authentication Required'))
    const { met, ran } = await meet('create', undefined, {
      url: 'http://127.0.0.1:9',
      env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` },
    })
    await proxy.close()
    expect(met).toMatchObject({ exitCode: 1, said: 'network', complaints: [] })
    expect(ran.outputs.get('failure-reason')).toContain(`No way through the proxy 127.0.0.1:${proxy.port}: the proxy answered 407`)
  })

  it('that does not listen prevents the comment on GitHub, but not the verdict', async () => {
    const token = 'ghs_abcdefghijklmnop0123456789'
    const event = join(directory, 'event.json')
    await writeFile(event, JSON.stringify(pullRequestEvent(12)))
    const { met, ran } = await meet('read', undefined, {
      env: {
        ...runnerEnvironment('https://127.0.0.1:1'),
        GITHUB_EVENT_NAME: 'pull_request',
        GITHUB_EVENT_PATH: event,
        HTTPS_PROXY: `http://user:${encodeURIComponent(password)}@127.0.0.1:9`,
      },
      inputs: { comment: 'always', 'github-token': token },
      secrets: [password, token],
    })
    expect(met).toMatchObject({ exitCode: 0, said: 'pass', complaints: ['its commands are notice'] })
    expect(ran.stdout).toMatch(/^::notice title=Watchkeeper::comment: connect ECONNREFUSED 127\.0\.0\.1:9/m)
  })

  it('that is spoken to over TLS is not asked for HTTP/2', async () => {
    const chosen: (string | false | null)[] = []
    const proxy = createTlsServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      chosen.push(socket.alpnProtocol)
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { met, ran } = await meet('create', undefined, {
      url: `https://127.0.0.1:${api.port}`,
      env: { ...trust, HTTPS_PROXY: `https://localhost:${(proxy.address() as AddressInfo).port}` },
      inputs: { 'max-attempts': '1' },
    })
    proxy.close()
    expect(chosen.filter((protocol) => protocol === 'h2')).toEqual([])
    expect(chosen).not.toEqual([])
    expect(met).toMatchObject({ exitCode: 1, said: 'network', complaints: [] })
    expect(ran.outputs.get('failure-reason')).toContain('the proxy answered 403')
  })
})
