import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { createTransport, type Exchange } from '../../../src/http/transport.ts'
import { openBlackHole, startRawServer } from '../../support/raw-server.ts'

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
  userAgent: 'test',
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
      'user-agent': 'test',
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

describe('R4: an exchange ends at its limit, and leaves nothing behind,', () => {
  const timeOut = async (url: URL, proxy: Parameters<typeof createTransport>[1], method: Exchange['method']) => {
    const transport = createTransport(url, proxy, systemClock)
    const startedAt = performance.now()
    const thrown: unknown = await transport.exchange(exchange(url, { method, timeoutMs: 100 })).catch((error: unknown) => error)
    await transport.close()
    return { thrown, isInTime: performance.now() - startedAt < 3000 }
  }
  const ended = { thrown: { code: 'REQUEST_TIMEOUT' }, isInTime: true }

  it.each<Exchange['method']>(['GET', 'POST'])('ends an exchange at its limit while it connects, for a %s', async (method) => {
    const hole = await openBlackHole()
    expect(await timeOut(new URL(`http://127.0.0.1:${hole.port}/x`), {}, method)).toMatchObject(ended)
    await hole.close()
  })

  it.each<Exchange['method']>(['GET', 'POST'])(
    'ends an exchange at its limit while it waits for a TLS handshake, for a %s',
    async (method) => {
      const server = await startRawServer(() => undefined)
      expect(await timeOut(new URL(`https://127.0.0.1:${server.port}/x`), {}, method)).toMatchObject(ended)
      // The socket that was only being made is gone too: it would have kept the process alive.
      while (server.open() > 0) await new Promise((resolve) => setTimeout(resolve, 5))
      await server.close()
    },
  )

  it.each<Exchange['method']>(['GET', 'POST'])('ends an exchange at its limit while a proxy does not answer, for a %s', async (method) => {
    const proxy = await startRawServer(() => undefined)
    const httpsProxy = `http://127.0.0.1:${proxy.port}`
    expect(await timeOut(new URL('https://api.example.com/x'), { httpsProxy }, method)).toMatchObject(ended)
    while (proxy.open() > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await proxy.close()
  })
})
