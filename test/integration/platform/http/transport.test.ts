import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../../src/platform/core/clock.ts'
import { version } from '../../../../src/platform/core/version.ts'
import { type ExchangeFailure, failureOfExchange } from '../../../../src/platform/http/failure.ts'
import { createTransport, type Exchange } from '../../../../src/platform/http/transport.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { openBlackHole, type Play, startRawServer } from '../../../support/raw-server.ts'

const open: Server[] = []

afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections()
})

/** Answers every request with the port that it came from, and remembers its headers. */
async function listen() {
  const headers: NodeJS.Dict<string | string[]>[] = []
  const server = createServer((request, response) => {
    headers.push(request.headers)
    request.resume().on('end', () => response.end(String(request.socket.remotePort)))
  })
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`), headers }
}

const exchange = (url: URL, more: Partial<Exchange> = {}): Exchange => ({
  method: 'GET',
  url,
  body: undefined,
  authorization: 'Basic eDp5',
  timeoutMs: 5000,
  signal: new AbortController().signal,
  ...more,
})

describe('createTransport', () => {
  it('keeps a connection for reads, and opens a new one for every POST', async () => {
    const { url } = await listen()
    const transport = createTransport(url, {}, systemClock)
    const portOf = async (method: Exchange['method']): Promise<string> => {
      // A connection is free again a moment after its answer was read.
      await new Promise((resolve) => setTimeout(resolve, 20))
      return (await transport.exchange(exchange(url, { method, ...(method === 'POST' && { body: '{}' }) }))).text
    }
    const [first, second, third, fourth] = [await portOf('GET'), await portOf('GET'), await portOf('POST'), await portOf('POST')]
    const last = await portOf('PUT')
    await transport.close()
    expect([second, last]).toEqual([first, first])
    expect(new Set([first, third, fourth]).size).toBe(3)
  })

  it('sends the credentials, asks for JSON and gzip, and says what it is', async () => {
    const { url, headers } = await listen()
    const transport = createTransport(url, {}, systemClock)
    await transport.exchange(exchange(url, { method: 'POST', body: '{"a":1}' }))
    await transport.close()
    expect(headers[0]).toMatchObject({
      authorization: 'Basic eDp5',
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'content-type': 'application/json',
      'user-agent': `watchkeeper/${version}`,
    })
  })

  it('asks the proxy for a tunnel, unless the host is excepted, and reports its refusal as such', async () => {
    const asked: string[] = []
    const proxy = createServer()
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '')
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    })
    open.push(proxy)
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const httpsProxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const target = new URL('https://127.0.0.1:1/x')
    const through = createTransport(target, { httpsProxy }, systemClock)
    await expect(through.exchange(exchange(target))).rejects.toMatchObject({ code: 'PROXY_REFUSED', proxyStatus: 407 })
    await through.close()
    const around = createTransport(target, { httpsProxy, noProxy: '127.0.0.1' }, systemClock)
    await expect(around.exchange(exchange(target))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await around.close()
    expect(asked).toEqual(['127.0.0.1:1'])
  })

  it('does not send https through the proxy for http', async () => {
    const transport = createTransport(new URL('https://127.0.0.1:1/'), { httpProxy: 'http://127.0.0.1:2' }, systemClock)
    await expect(transport.exchange(exchange(new URL('https://127.0.0.1:1/x')))).rejects.toThrow('127.0.0.1:1')
    await transport.close()
  })
})

/** Sends a request to a server that does this with it. Resolves to the answer, or to the failure. */
async function exchangeWith(play: Play, more: Partial<Exchange> = {}) {
  const server = await startRawServer(play)
  const url = new URL(`http://127.0.0.1:${server.port}/x`)
  const transport = createTransport(url, {}, systemClock)
  const came = await transport.exchange(exchange(url, more)).catch((thrown: ExchangeFailure) => failureOfExchange(thrown, 5000, undefined))
  await transport.close()
  await server.close()
  return came
}

/** Sends that, and ends the connection. */
const sayAndEnd =
  (...pieces: readonly (string | Uint8Array)[]): Play =>
  async (wire) => {
    for (const piece of pieces) await wire.write(piece)
    wire.end()
  }

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n'

describe('an answer that is unusual', () => {
  it('W1: a request whose answer breaks off may have been carried out', () =>
    forEachEntry<[string, string, RegExp?]>(
      [
        ['an end before any byte', '', /^the connection was closed before an answer \(UND_ERR_SOCKET\)$/],
        ['half a status line', 'HTTP/1.1 20'],
        ['the greeting of something else', 'SSH-2.0-OpenSSH_9.9\r\n', /^Response does not match the HTTP\/1\.1 protocol/],
        ['a status of four digits', 'HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\n[]'],
        ['a header with a null byte', 'HTTP/1.1 200 OK\r\nx-a: \0\r\ncontent-length: 2\r\n\r\n[]'],
        ['two lengths that differ', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n[]'],
        ['headers of 100 kB', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}\r\n\r\n`, /^Headers Overflow Error/],
        ['an upgrade that was not requested', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
        ['chunks without the last one', `${chunked}\r\n2\r\n[]\r\n`, /^the connection was closed after 2 bytes of the answer/],
        ['a chunk that is cut', `${chunked}\r\nffff\r\n[]`],
      ],
      async (_, text, detail = /./) => {
        for (const method of ['GET', 'POST'] as const) {
          const came = await exchangeWith(sayAndEnd(text), { method })
          expect(came).toMatchObject({ cause: 'connection', writeOutcome: 'unknown', detail: expect.stringMatching(detail) })
        }
      },
    ))

  it('reads an answer that is valid HTTP', () =>
    forEachEntry<[string, string]>(
      [
        ['early hints', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]'],
        ['signs of life', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]`],
        ['trailers', `${chunked}trailer: x-sum\r\n\r\n2\r\n[]\r\n0\r\nx-sum: 1\r\n\r\n`],
        ['a connection that ends', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n[]'],
        ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\n[]'],
        ['more bytes than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n'],
      ],
      async (_, text) => {
        expect(await exchangeWith(sayAndEnd(text))).toMatchObject({ status: 200, text: '[]' })
      },
    ))

  it('R5: rejects an answer above 16 MiB, and every encoding but one gzip', { tags: 'slow' }, () => {
    const encoded = (encoding: string, body: Uint8Array) => [
      `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`,
      body,
    ]
    const large = Buffer.alloc(16 * 1024 * 1024 + 1, ' ')
    return forEachEntry<[string, readonly (string | Uint8Array)[], string]>(
      [
        ['too large', ['HTTP/1.1 200 OK\r\n\r\n', large], 'the answer is larger than the limit of 16 MiB'],
        ['too large when inflated', encoded('gzip', gzipSync(large)), 'the answer is larger than the limit of 16 MiB'],
        ['gzip twice', encoded('gzip, gzip', gzipSync(gzipSync('[]'))), 'the answer came in the encoding "gzip, gzip", which'],
        ['brotli', encoded('br', brotliCompressSync('[]')), 'the answer came in the encoding "br", which was not asked for'],
        ['no gzip', encoded('gzip', Buffer.from('[]')), "the answer's gzip is broken after 2 bytes"],
      ],
      async (_, pieces, detail) => {
        const came = await exchangeWith(sayAndEnd(...pieces))
        // Not the whole answer, whose difference would take minutes to print.
        expect('detail' in came ? came.detail : 'an answer').toContain(detail)
      },
    )
  })
})

describe('R4: an exchange ends at its limit, and leaves nothing behind,', () => {
  const timeOut = async (url: URL, proxy: Parameters<typeof createTransport>[1], method: Exchange['method']) => {
    const transport = createTransport(url, proxy, systemClock)
    const thrown: unknown = await transport.exchange(exchange(url, { method, timeoutMs: 100 })).catch((error: unknown) => error)
    await transport.close()
    return thrown
  }
  // Undici's own limit for connecting would end it, too, with another cause.
  const ended = { code: 'REQUEST_TIMEOUT', cause: { name: 'TimeoutError' } }

  /** The server is in this thread: it sees the end of a connection a few turns later, and undici's limit long after that. */
  const isLeft = async ({ open }: { open(): number }): Promise<boolean> => {
    for (let turn = 0; turn < 1000 && open() > 0; turn++) await new Promise((resolve) => setImmediate(resolve))
    return open() === 0
  }

  it.each<Exchange['method']>(['GET', 'POST'])(
    'ends an exchange at its limit while it connects, for a %s',
    { tags: 'slow' },
    async (method) => {
      const hole = await openBlackHole()
      expect(await timeOut(new URL(`http://127.0.0.1:${hole.port}/x`), {}, method)).toMatchObject(ended)
      await hole.close()
    },
  )

  it.each<Exchange['method']>(['GET', 'POST'])(
    'ends an exchange at its limit while it waits for a TLS handshake, for a %s',
    async (method) => {
      const server = await startRawServer(() => undefined)
      expect(await timeOut(new URL(`https://127.0.0.1:${server.port}/x`), {}, method)).toMatchObject(ended)
      // The socket that was only being made is gone too: it would have kept the process alive.
      expect(await isLeft(server)).toBe(true)
      await server.close()
    },
  )

  it.each<Exchange['method']>(['GET', 'POST'])('ends an exchange at its limit while a proxy does not answer, for a %s', async (method) => {
    const proxy = await startRawServer(() => undefined)
    const httpsProxy = `http://127.0.0.1:${proxy.port}`
    expect(await timeOut(new URL('https://api.example.com/x'), { httpsProxy }, method)).toMatchObject(ended)
    expect(await isLeft(proxy)).toBe(true)
    await proxy.close()
  })

  it('W10: an answer that comes too slowly or never ends is abandoned at the limit', () => {
    const forEver =
      (head: string, piece: string): Play =>
      async (wire) => {
        await wire.write(head)
        while (wire.isOpen()) {
          await wire.write(piece)
          await wire.sleep(10)
        }
      }
    return forEachEntry<[string, Play, RegExp]>(
      [
        ['nothing', () => undefined, /^no answer within/i],
        ['half of the headers', (wire) => wire.write('HTTP/1.1 200 OK\r\ncontent-type: appl'), /^no answer within/i],
        ['headers without an end', forEver('HTTP/1.1 200 OK\r\n', 'x: y\r\n'), /^no answer within/i],
        ['signs of life', forEver('', 'HTTP/1.1 102 Processing\r\n\r\n'), /^no answer within/i],
        ['chunks without an end', forEver(`${chunked}\r\n`, '1\r\n \r\n'), /^only \d+ bytes of the answer within/],
      ],
      async (_, play, detail) => {
        const came = await exchangeWith(play, { timeoutMs: 100 })
        expect(came).toMatchObject({ cause: 'timeout', writeOutcome: 'unknown', detail: expect.stringMatching(detail) })
      },
      { atOnce: 5 },
    )
  })
})
