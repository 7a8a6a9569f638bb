import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { systemClock } from '../core/clock.ts'
import type { Answer, Headers } from './answer.ts'

export interface Exchange {
  /** An answer as HTTP has it. */
  send(answer: Answer): void
  /** Status line and headers; the body is up to the caller. */
  begin(status: number, headers: Headers): ServerResponse
  /** Bytes past the HTTP server, given to the kernel before this resolves. */
  writeRaw(data: string | Uint8Array): Promise<void>
  /** A TCP reset: what the client has not read yet may be lost. */
  reset(): void
  /** A clean end of the connection, whatever was promised. */
  end(): void
  sleep(ms: number): Promise<void>
  /** For a status that went out past the HTTP server. */
  logStatus(status: number): void
}

export interface ExchangeParts {
  readonly response: ServerResponse
  readonly acceptsGzip: boolean
  readonly now: () => number
  readonly logStatus: (status: number) => void
  /** Aborted when the emulator is reset or closed. */
  readonly signal: AbortSignal
}

const shortestZipped = 1024

export function createExchange({ response, acceptsGzip, now, logStatus, signal }: ExchangeParts): Exchange {
  const socket = response.socket
  const begin = (status: number, headers: Headers): ServerResponse => {
    logStatus(status)
    response.sendDate = false
    response.setHeader('date', new Date(now()).toUTCString())
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    return response.writeHead(status)
  }
  return {
    begin,
    send({ status, headers, body }) {
      const plain = Buffer.from(body)
      const zipped = acceptsGzip && plain.length > shortestZipped && headers['content-encoding'] === undefined
      const bytes = zipped ? gzipSync(plain) : plain
      const length = { 'content-length': String(bytes.length) }
      begin(status, { ...headers, ...(zipped && { 'content-encoding': 'gzip' }), ...length }).end(bytes)
    },
    writeRaw: (data) => writeTo(socket, data),
    reset: () => void socket?.resetAndDestroy(),
    end: () => void socket?.end(),
    sleep: (ms) => systemClock.sleep(ms, signal),
    logStatus,
  }
}

async function writeTo(socket: Socket | null, data: string | Uint8Array): Promise<void> {
  if (socket === null || socket.destroyed) return
  if (!socket.write(data)) await once(socket, 'drain')
}
