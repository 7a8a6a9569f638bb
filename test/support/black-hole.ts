// A port where a handshake never ends: its queue of connections is full and nobody takes one out of it.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

export interface BlackHole {
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
