import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { WebAppDashboard } from '../../src/emulator/index.ts'
import type { Dialect } from './case.ts'

export interface Request {
  readonly method: string
  /** Relative to the resource root, or with a slash at its beginning. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | null>>
  readonly text: string | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A server that the cases run against. */
export interface Target {
  readonly dialect: Dialect
  /** Whether bodies are validated before the product sees them. */
  readonly isStrictGateway: boolean
  send(request: Request): Promise<Answer>
  /** Absent where there is no way into the web app: cases that need it are left out. */
  readonly webApp?: {
    readonly save: (dashboard: WebAppDashboard) => Promise<string>
    readonly read: (id: string) => Promise<unknown>
  }
  /** The id of a connection that sources can have. */
  findConnection(): Promise<string>
  /** Remembers the state, and returns what restores it: faster than deleting what was created. */
  readonly remember?: () => () => void
}

export interface HttpTargetOptions {
  readonly dialect: Dialect
  /** `http://127.0.0.1:8000`, without a path. */
  readonly origin: string
  /** Path below which the resources are. */
  readonly root: string
  /** Values of the `authorization` header, used in turn: each key has a limit of its own. */
  readonly authorizations: readonly string[]
}

interface Key {
  readonly authorization: string
  /** Not before this time, by `performance.now()`. */
  freeAtMs: number
}

/** Sends requests over HTTP. Keys that have reached their limit rest until their window ends. */
export function createSender({ origin, root, authorizations }: HttpTargetOptions): Target['send'] {
  const keys = authorizations.map((authorization): Key => ({ authorization, freeAtMs: 0 }))
  let turn = 0

  async function takeKey(): Promise<Key> {
    for (let tried = 0; tried < keys.length; tried++) {
      const key = keys[turn++ % keys.length]
      if (key !== undefined && key.freeAtMs <= performance.now()) return key
    }
    const first = keys.reduce((best, key) => (key.freeAtMs < best.freeAtMs ? key : best))
    await wait(Math.max(0, first.freeAtMs - performance.now()))
    return first
  }

  return async ({ method, path, headers, text }) => {
    for (;;) {
      const key = await takeKey()
      const given = {
        authorization: key.authorization,
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      }
      const sent = Object.fromEntries(Object.entries(given).filter((header): header is [string, string] => header[1] !== null))
      const answer = await exchange(path.startsWith('/') ? `${origin}${path}` : `${origin}${root}/${path}`, method, sent, text)
      const isOwnKey = headers.authorization === undefined
      if (isOwnKey) rest(key, answer)
      if (!isOwnKey || answer.status !== 429) return answer
    }
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Not `fetch`: it takes twice as long, and thousands of requests are sent. */
function exchange(url: string, method: string, headers: Readonly<Record<string, string>>, text: string | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = text === undefined ? undefined : Buffer.from(text)
    const length = body === undefined ? {} : { 'content-length': String(body.length) }
    const options = { method, headers: { ...headers, ...length } }
    const isSecure = url.startsWith('https:')
    const request = isSecure ? httpsRequest(url, options) : httpRequest(url, { ...options, agent })
    request.on('error', reject)
    request.on('response', (response) => {
      readText(response).then(
        (answered) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: answered }),
        reject,
      )
    })
    request.end(body)
  })
}

/** One request is kept in reserve: the counts of a server with several processes differ. */
function rest(key: Key, { status, headers }: Answer): void {
  const number = (name: string): number | undefined => {
    const value = headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`]
    return value === undefined ? undefined : Number(value)
  }
  const remaining = number('remaining') ?? 1
  if (status !== 429 && remaining > 0) return
  key.freeAtMs = performance.now() + ((number('reset') ?? 10) + 1) * 1000
}
