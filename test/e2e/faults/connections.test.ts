// The API is not reached at all, so that nothing can have been done.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { type Certificate, createCertificate } from '../../support/certificates.ts'
import { runWithFailure, type TestAction, toHttp } from '../../support/faults.ts'
import { startRawServer } from '../../support/raw-server.ts'

const unreached = { methods: '', added: 0, problems: [] }

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('it has no port')
  return address.port
}

describe.concurrent('requests to an address without a server are tried again, and the error names the address', () => {
  it.each<TestAction>(['read', 'create', 'update', 'delete'])(
    'tries to %s again where no server listens, and names the address in the error',
    async (action) => {
      const url = `http://127.0.0.1:${await closedPort()}`
      const { outcome, ran } = await runWithFailure(action, undefined, { url, inputs: { 'max-attempts': '3' } })
      expect(outcome).toEqual({ ...unreached, exitCode: 1, conclusion: 'network' })
      expect(ran.outputs.get('failure-reason')).toContain('ECONNREFUSED')
      expect(ran.outputs.get('failure-reason')).toContain(`Check api-url (${new URL(url).host})`)
      expect(ran.stdout.match(/Trying again in 0\.0 s \(attempt \d of 3\): .*ECONNREFUSED/g)).toHaveLength(2)
    },
  )
})

describe.concurrent('requests to a host without an address are tried once more, and the error names the host', () => {
  it.each<TestAction>(['read', 'create'])(
    'tries to %s once more where the host has no address, and names the host in the error',
    async (action) => {
      const { outcome, ran } = await runWithFailure(action, undefined, {
        url: 'https://watchkeeper.invalid',
        inputs: { 'max-attempts': '2' },
      })
      expect(outcome).toEqual({ ...unreached, exitCode: 1, conclusion: 'network' })
      expect(ran.outputs.get('failure-reason')).toMatch(/watchkeeper\.invalid \((?:ENOTFOUND|EAI_AGAIN)\)/)
      expect(ran.stdout.match(/Trying again/g)).toHaveLength(1)
    },
  )
})

describe.concurrent('S3: a server whose certificate or TLS version cannot be trusted gets no request', () => {
  const loopback = { addresses: ['127.0.0.1'] }
  /** Serves an empty list, to those who trust it. */
  const serve = (certificate: Certificate) => startRawServer((wire) => wire.write(toHttp({ status: 200, body: '[]' })), certificate)

  it.each<TestAction>(['read', 'create'])('signed by itself, to %s: nothing is sent, and nothing is tried again', async (action) => {
    const server = await serve(createCertificate(loopback))
    const { outcome, ran } = await runWithFailure(action, undefined, { url: `https://127.0.0.1:${server.port}` })
    await server.close()
    expect(outcome).toEqual({ ...unreached, exitCode: 1, conclusion: 'tls' })
    expect(server.requests).toEqual([])
    expect(server.received.length).toBeLessThanOrEqual(1)
    const reason = ran.outputs.get('failure-reason')
    expect(reason).toMatch(/self-signed certificate.*\(DEPTH_ZERO_SELF_SIGNED_CERT\)/)
    expect(reason).toContain('NODE_EXTRA_CA_CERTS')
    expect(reason).toContain('NODE_USE_SYSTEM_CA=1')
  })

  // Each side ends the handshake before any certificate counts.
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const
  const otherCiphers = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-SHA256' } as const
  it.each<[string, TestAction, TlsOptions, readonly [RegExp, RegExp]]>([
    ['a version that is too old', 'read', old, [/^No answer: tlsv1 alert protocol version \(ERR_SSL_\w+\)$/m, /TLS 1\.2/]],
    ['a version that is too old, for a create', 'create', old, [/alert protocol version/, /TLS 1\.2/]],
    ['no common cipher', 'read', otherCiphers, [/alert handshake failure \(ERR_SSL_/, /ended the TLS handshake.*client certificate/]],
  ])('%s: the advice is not about certificates of authorities, and nothing is tried again', async (_, action, options, expected) => {
    const server = await startRawServer((wire) => wire.end(), { ...createCertificate(loopback), ...options })
    const { outcome, ran } = await runWithFailure(action, undefined, { url: `https://127.0.0.1:${server.port}` })
    await server.close()
    expect(outcome).toEqual({ ...unreached, exitCode: 1, conclusion: 'tls' })
    expect(server.requests).toEqual([])
    const reason = ran.outputs.get('failure-reason')
    for (const pattern of expected) expect(reason).toMatch(pattern)
    expect(reason).not.toMatch(/not trusted|NODE_EXTRA_CA_CERTS|openssl/)
  })

  it('sends nothing to a port that does not speak TLS', async () => {
    const server = await startRawServer((wire) => wire.end())
    const { outcome } = await runWithFailure('create', undefined, {
      url: `https://127.0.0.1:${server.port}`,
      inputs: { 'timeout-seconds': '2' },
    })
    await server.close()
    // How a handshake ends that the other side breaks off does not show whether anything was sent.
    expect(outcome).toMatchObject({ exitCode: 4, added: 0, problems: [] })
    expect(server.received.join('')).not.toContain('Basic')
  })
})
