import type { Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'

// Time for the bytes to arrive: a reset overtakes what the client has not read.
const settleMs = 25

export async function resetInHeaders(exchange: Exchange): Promise<void> {
  await exchange.writeRaw('HTTP/1.1 200 OK\r\nContent-Type: applicat')
  await exchange.sleep(settleMs)
  exchange.reset()
}

export async function resetInBody(exchange: Exchange, answer: Answer, bytes: number | undefined): Promise<void> {
  const body = Buffer.from(answer.body)
  await writeHead(exchange, answer, { 'Content-Length': String(body.length) })
  await exchange.writeRaw(part(body, bytes))
  await exchange.sleep(settleMs)
  exchange.reset()
}

/** Without a length and without chunks: the client cannot tell that this is not all. */
export async function truncate(exchange: Exchange, answer: Answer, bytes: number | undefined): Promise<void> {
  await writeHead(exchange, answer, { Connection: 'close' })
  await exchange.writeRaw(part(Buffer.from(answer.body), bytes))
  exchange.end()
}

export async function shortenLength(exchange: Exchange, answer: Answer): Promise<void> {
  const body = Buffer.from(answer.body)
  await writeHead(exchange, answer, { 'Content-Length': String(body.length + 64) })
  await exchange.writeRaw(body)
  exchange.end()
}

export async function drip(exchange: Exchange, { status, headers, body }: Answer, bytesPerTick: number, everyMs: number): Promise<void> {
  const bytes = Buffer.from(body)
  const response = exchange.begin(status, { ...headers, 'content-length': String(bytes.length) })
  for (let at = 0; at < bytes.length && !response.destroyed; at += bytesPerTick) {
    response.write(bytes.subarray(at, at + bytesPerTick))
    await exchange.sleep(everyMs)
  }
  response.end()
}

const part = (body: Buffer, bytes: number | undefined): Buffer => body.subarray(0, bytes ?? Math.floor(body.length / 2))

async function writeHead(exchange: Exchange, { status, headers }: Answer, more: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries({ ...headers, ...more }).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
  exchange.logStatus(status)
  await exchange.writeRaw(`HTTP/1.1 ${status} Spoilt\r\n${lines.join('')}\r\n`)
}
