// The API is not reached at all, so that nothing can have been done.
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TlsOptions } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Certificate, type CertificateOptions, createCertificate } from '../../support/certificates.ts'
import { runWithFailure, type TestAction, toHttp } from '../../support/faults.ts'
import { openBlackHole, startRawServer } from '../../support/raw-server.ts'

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

it('creates nothing where no connection is made, and names the limit for connecting', { timeout: 30_000 }, async () => {
  const hole = await openBlackHole()
  try {
    const { outcome, ran } = await runWithFailure('create', undefined, {
      url: `http://127.0.0.1:${hole.port}`,
      inputs: { 'max-attempts': '1' },
    })
    expect(outcome).toEqual({ ...unreached, exitCode: 1, conclusion: 'timeout' })
    expect(ran.outputs.get('failure-reason')).toContain('No connection within 10 s')
    expect(ran.outputs.get('failure-reason')).not.toContain('30 s')
    expect(ran.ending?.activeMs).toBeLessThan(15_000)
  } finally {
    await hole.close()
  }
})

describe.concurrent('S3: a server whose certificate or TLS version cannot be trusted gets no request', () => {
  const loopback = { addresses: ['127.0.0.1'] }
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watchkeeper-tls-'))
  })
  afterAll(() => rm(directory, { recursive: true }))

  /** Serves an empty list, to those who trust it. */
  const serve = (certificate: Certificate) => startRawServer((wire) => wire.write(toHttp({ status: 200, body: '[]' })), certificate)

  async function authority({ cert }: Certificate): Promise<{ NODE_EXTRA_CA_CERTS: string }> {
    const file = join(directory, `${Math.random()}.pem`)
    await writeFile(file, cert)
    return { NODE_EXTRA_CA_CERTS: file }
  }

  const trusted = true
  it.each<[string, TestAction, CertificateOptions & { readonly trusted?: true }, RegExp]>([
    ['signed by itself', 'read', loopback, /self-signed certificate.*\(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
    ['signed by itself, for a create', 'create', loopback, /self-signed certificate.*\(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
    ['expired', 'read', { ...loopback, trusted, to: new Date(Date.now() - 1000) }, /certificate has expired \(CERT_HAS_EXPIRED\)/],
    ['for another name', 'read', { trusted, names: ['other.example'] }, /not in the cert's list.*\(ERR_TLS_CERT_ALTNAME_INVALID\)/],
  ])('%s: nothing is sent, and nothing is tried again', async (_, action, options, words) => {
    const certificate = createCertificate(options)
    const server = await serve(certificate)
    const env = options.trusted ? await authority(certificate) : {}
    const { outcome, ran } = await runWithFailure(action, undefined, { url: `https://127.0.0.1:${server.port}`, env })
    await server.close()
    expect(outcome).toEqual({ ...unreached, exitCode: 1, conclusion: 'tls' })
    expect(server.requests).toEqual([])
    expect(server.received.length).toBeLessThanOrEqual(1)
    const reason = ran.outputs.get('failure-reason')
    expect(reason).toMatch(words)
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

  it('trusts an own authority that NODE_EXTRA_CA_CERTS names', async () => {
    const certificate = createCertificate(loopback)
    const server = await serve(certificate)
    const { outcome } = await runWithFailure('read', undefined, {
      url: `https://127.0.0.1:${server.port}`,
      env: await authority(certificate),
    })
    await server.close()
    expect(outcome).toEqual({ ...unreached, exitCode: 0, conclusion: 'pass' })
    expect(server.requests.map(({ method }) => method)).toEqual(['GET'])
  })
})
