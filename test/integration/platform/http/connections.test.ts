// The API is not reached, so that nothing can have been done, or is reached through a proxy that refuses.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { alertCollection } from '../../../../src/kinds/alert/alert.ts'
import type { ApiError } from '../../../../src/platform/api/api-error.ts'
import type { ApiConnection } from '../../../../src/platform/api/client.ts'
import { createCertificate } from '../../../support/certificates.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { type Play, startRawServer, type Wire } from '../../../support/raw-server.ts'
import { apiErrorOf, openSession, service } from '../../../support/session.ts'

/** Tries to create an alert twice. */
async function create(url: string, more: Partial<ApiConnection> = {}): Promise<{ error: ApiError; notes: readonly string[] }> {
  const session = openSession(url, { maxAttempts: 2, ...more })
  const error = await apiErrorOf(alertCollection.create(session.api, service, {}))
  await session.close()
  return { error, notes: session.notes }
}

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = await startRawServer(() => undefined)
  await server.close()
  return server.port
}

describe('a request that reaches no server', () => {
  it('a create that reaches no server is tried again, and the error names the address', async () => {
    const { error, notes } = await create(`http://127.0.0.1:${await closedPort()}`)
    expect(error).toMatchObject({ kind: 'network', outcomeUnknown: false, attempts: 2 })
    expect(error.message).toMatch(/nothing listens at this address \(ECONNREFUSED\)[\s\S]*Check api-url \(127\.0\.0\.1:\d+\)/)
    expect(notes).toEqual([expect.stringMatching(/^Trying again in 0\.3 s \(attempt 1 of 2\): .*ECONNREFUSED/)])
  })

  it('an error about a host without an address names the host', async () => {
    const { error } = await create('https://watchkeeper.invalid')
    expect(error).toMatchObject({ kind: 'network', outcomeUnknown: false, attempts: 2 })
    expect(error.message).toMatch(/watchkeeper\.invalid \((?:ENOTFOUND|EAI_AGAIN)\)/)
  })
})

describe('S3: a server whose certificate or TLS version cannot be trusted gets no request', () => {
  const aboutAuthorities = /not trusted|NODE_EXTRA_CA_CERTS|openssl/

  it('S3: nothing is sent and nothing is tried again without trust, and the advice fits the reason', () =>
    forEachEntry<[string, TlsOptions, readonly RegExp[]]>(
      [
        [
          'signed by itself',
          {},
          [/self-signed certificate.*\(DEPTH_ZERO_SELF_SIGNED_CERT\)/, /NODE_EXTRA_CA_CERTS/, /NODE_USE_SYSTEM_CA=1/],
        ],
        // Each side ends the handshake before any certificate counts.
        [
          'a version that is too old',
          { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' },
          [/^No answer: tlsv1 alert protocol version \(ERR_SSL_\w+\)$/m, /TLS 1\.2/],
        ],
        [
          'no common cipher',
          { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-SHA256' },
          [/alert handshake failure \(ERR_SSL_/, /ended the TLS handshake.*client certificate/],
        ],
      ],
      async (name, options, expected) => {
        const server = await startRawServer((wire) => wire.end(), { ...createCertificate({ addresses: ['127.0.0.1'] }), ...options })
        const { error } = await create(`https://127.0.0.1:${server.port}`)
        await server.close()
        expect(error).toMatchObject({ kind: 'tls', outcomeUnknown: false, attempts: 1 })
        expect(server.requests).toEqual([])
        for (const pattern of expected) expect(error.message).toMatch(pattern)
        expect(aboutAuthorities.test(error.message)).toBe(name === 'signed by itself')
      },
    ))

  it('sends no key to a port that does not speak TLS', async () => {
    let received = ''
    const server = createServer((socket) =>
      socket.setEncoding('latin1').once('data', (text: string) => {
        received = text
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
      }),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    // It listens on a port, not on a pipe.
    const { port } = server.address() as AddressInfo
    const { error } = await create(`https://127.0.0.1:${port}`)
    server.close()
    expect(error).toMatchObject({ kind: 'tls', outcomeUnknown: false, attempts: 1 })
    expect(received).not.toContain('Basic')
  })
})

describe('R4: a proxy that refuses or hangs ends a request in time, and is named in the error', () => {
  const answer = (head: string) => async (wire: Wire) => {
    await wire.write(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\n\r\n`)
    wire.end()
  }

  it('R4: an error names the proxy and what it did, and a tunnel that a proxy refuses for now is asked for again', () =>
    forEachEntry<[string, Play, number, string]>(
      [
        [
          'wants other credentials',
          answer('407 Proxy Authentication Required'),
          1,
          'The proxy PROXY refused the connection: the proxy answered 407\n',
        ],
        ['forbids the host', answer('403 Forbidden'), 2, 'The proxy PROXY refused the connection: the proxy answered 403\n'],
        ['cannot reach the host', answer('502 Bad Gateway'), 2, 'The proxy PROXY refused the connection: the proxy answered 502\n'],
        ['closes the connection', (wire) => wire.reset(), 1, 'No answer through the proxy PROXY: '],
        ['never answers', () => undefined, 1, ' s (REQUEST_TIMEOUT) through the proxy PROXY\n'],
      ],
      async (name, play, attempts, words) => {
        const proxy = await startRawServer(play)
        const host = `127.0.0.1:${proxy.port}`
        const limit = name === 'never answers' ? { deadlineMs: 100 } : {}
        const { error } = await create('https://api.example.com', { proxy: { httpsProxy: `http://user:proxy-password@${host}` }, ...limit })
        await proxy.close()
        expect(proxy.requests.map(({ method }) => method)).toEqual(Array(attempts).fill('CONNECT'))
        expect(error).toMatchObject({ attempts, outcomeUnknown: attempts === 1 && !name.startsWith('wants') })
        expect(error.message).toContain(words.replace('PROXY', host))
        expect(error.message).not.toContain('proxy-password')
      },
    ))

  it('an error names a proxy that does not listen, and one for plain http', async () => {
    const host = `127.0.0.1:${await closedPort()}`
    const { error } = await create('https://api.example.com', { proxy: { httpsProxy: `http://${host}` } })
    expect(error.message).toContain(`No answer through the proxy ${host}: nothing listens at this address (ECONNREFUSED)`)
    const proxy = await startRawServer(answer('407 Proxy Authentication Required'))
    const plain = await create('http://127.0.0.1:9', { proxy: { httpProxy: `http://127.0.0.1:${proxy.port}` } })
    await proxy.close()
    expect(plain.error.message).toContain(`The proxy 127.0.0.1:${proxy.port} refused the connection: the proxy answered 407`)
  })
})
