import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { Worker } from 'node:worker_threads'

// A server of bytes: whatever can arrive over TCP, this can send, also what no HTTP server would. It reads requests well enough to
// remember them; what it answers is up to the test.

export interface RawRequest {
  readonly method: string
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Which connection it came in on, counted from 1. */
  readonly connection: number
}

export interface Wire {
  /** Bytes as they are; resolves when the kernel has them. */
  write(data: string | Uint8Array): Promise<void>
  /** A clean end. */
  end(): void
  /** A TCP reset. */
  reset(): void
  /** False once the client has left. */
  isOpen(): boolean
  sleep(ms: number): Promise<void>
  readonly socket: Socket
}

/** Answers one request, or does not. */
export type Play = (wire: Wire, request: RawRequest) => Promise<void> | void

export interface RawServer {
  readonly port: number
  /** Requests whose head and body arrived, in order. */
  readonly requests: readonly RawRequest[]
  /** Everything that arrived on each connection, requests or not. */
  readonly received: readonly string[]
  /** How many connections are open. */
  open(): number
  close(): Promise<void>
}

export async function startRawServer(play: Play, tls?: TlsOptions): Promise<RawServer> {
  const requests: RawRequest[] = []
  const received: string[] = []
  const sockets = new Set<Socket>()
  const life = new AbortController()
  const onSocket = (socket: Socket): void => {
    sockets.add(socket)
    const connection = received.push('')
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    let buffer = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      received[connection - 1] += text
      buffer += text
      for (let cut = cutRequest(buffer); cut !== undefined; cut = cutRequest(buffer)) {
        buffer = cut.rest
        const request = { ...cut.request, connection }
        requests.push(request)
        void Promise.resolve(play(toWire(socket, life.signal), request)).catch(() => socket.destroy())
      }
    })
  }
  const server: Server = tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket)
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it has no port')
  return {
    port: address.port,
    requests,
    received,
    open: () => sockets.size,
    async close() {
      life.abort()
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

type Cut = { readonly request: Omit<RawRequest, 'connection'>; readonly rest: string }

/** The first whole request of what has arrived. */
function cutRequest(buffer: string): Cut | undefined {
  const headEnd = buffer.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [line = '', ...fields] = buffer.slice(0, headEnd).split('\r\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = Object.fromEntries(
    fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 1).trim()]),
  )
  const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0)
  if (buffer.length < bodyEnd) return undefined
  const body = Buffer.from(buffer.slice(headEnd + 4, bodyEnd), 'latin1').toString()
  return { request: { method, path, headers, body }, rest: buffer.slice(bodyEnd) }
}

function toWire(socket: Socket, signal: AbortSignal): Wire {
  const isOpen = (): boolean => !socket.destroyed && socket.writable && !signal.aborted
  return {
    socket,
    isOpen,
    async write(data) {
      if (isOpen() && !socket.write(data)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    },
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
  }
}

// A port where a handshake never ends: its queue of connections is full and nothing is accepted.

interface BlackHole {
  readonly port: number
  close(): Promise<void>
}

// Listens, says where, and never again does anything: an event loop that stands still accepts nothing.
const program = `
const { createServer } = require('node:net')
const { parentPort } = require('node:worker_threads')
const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 50)
})`

export async function openBlackHole(): Promise<BlackHole> {
  const worker = new Worker(program, { eval: true })
  const [port] = (await once(worker, 'message')) as [number]
  await wait(100)
  const fillers: Socket[] = Array.from({ length: 8 }, () => connect({ port, host: '127.0.0.1' }).on('error', () => undefined))
  await wait(100)
  return {
    port,
    async close() {
      for (const socket of fillers) socket.destroy()
      await worker.terminate()
    },
  }
}
