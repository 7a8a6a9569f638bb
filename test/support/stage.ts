// One API for one case of the fault matrix: an emulator of its own and, where the fault lies below HTTP, a server of bytes before it.
import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Effect, type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { type RawRequest, type RawServer, startRawServer, type Wire } from './raw-server.ts'

/** What the API would have answered. */
export interface GoodAnswer {
  readonly status: number
  readonly body: string
}

/** Sends something else than the good answer. */
export type Spoil = (wire: Wire, answer: GoodAnswer) => Promise<void> | void

export type Trouble = { readonly effect: Effect } | { readonly spoil: Spoil }

export interface Meeting {
  /** Every request when absent. */
  readonly method?: string
  /** A part of the path. */
  readonly path?: string
  readonly times?: number
  /** `after`: the API does what it was asked, and then the trouble comes. Default `before`. */
  readonly act?: 'before' | 'after'
}

export interface Stage {
  readonly url: string
  readonly emulator: Emulator
  /** What arrived where the client sent it, as `METHOD /path`. */
  arrived(): readonly string[]
}

export async function onStage<T>(
  trouble: Trouble | undefined,
  meeting: Meeting,
  use: (stage: Stage) => Promise<T>,
  options: EmulatorOptions = {},
): Promise<T> {
  const emulator = await startEmulator(options)
  let front: RawServer | undefined
  try {
    if (trouble !== undefined && 'spoil' in trouble) front = await startFront(emulator, trouble.spoil, meeting)
    if (trouble !== undefined && 'effect' in trouble) emulator.addFault(toFault(trouble.effect, meeting))
    const url = front === undefined ? emulator.url : `http://127.0.0.1:${front.port}`
    const log = front?.requests ?? emulator.requests
    return await use({ url, emulator, arrived: () => log.map(({ method, path }) => `${method} ${path}`) })
  } finally {
    await front?.close()
    await emulator.close()
  }
}

const toFault = (effect: Effect, { method, path, times = 1, act = 'before' }: Meeting) => ({
  match: { ...(method !== undefined && { method }), ...(path !== undefined && { path }) },
  times,
  act,
  effect,
})

function startFront(emulator: Emulator, spoil: Spoil, { method, path, times = 1, act = 'before' }: Meeting): Promise<RawServer> {
  let met = 0
  return startRawServer(async (wire, request) => {
    const isMeant = (method ?? request.method) === request.method && request.path.includes(path ?? '')
    if (isMeant) met += 1
    const isHit = isMeant && met <= times
    // A read changes nothing, so that it may as well be answered; a write that was not done gets what looks like success.
    const answer = isHit && act === 'before' && request.method !== 'GET' ? undone : await forward(emulator, request)
    await (isHit ? spoil(wire, answer) : wire.write(toHttp(answer)))
  })
}

const undone: GoodAnswer = { status: 200, body: '{"id":"ffffffffffffffffffffffff","name":"never stored"}' }

function forward({ url }: Emulator, { method, path, headers, body }: RawRequest): Promise<GoodAnswer> {
  const { 'accept-encoding': _, ...others } = headers
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, { method, headers: others }, (response) => {
      text(response).then((whole) => resolve({ status: response.statusCode ?? 0, body: whole }), reject)
    })
    request.on('error', reject).end(body)
  })
}

/** An answer as HTTP/1.1 has it, whole and right. */
export function toHttp({ status, body }: GoodAnswer, headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status} OK`, 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`, ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
