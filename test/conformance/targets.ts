import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { demo, startEmulator, type WebAppDashboard } from '../../src/emulator/index.ts'
import type { Dialect } from './case.ts'
import { runConformanceSql } from './cases/mcp.ts'

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
  /** Absent without access to the web app. Cases that need it are then left out. */
  readonly webApp?: {
    readonly save: (dashboard: WebAppDashboard) => Promise<string>
    readonly read: (id: string) => Promise<unknown>
    /** Returns the status of the answer. */
    readonly saveAgain: (id: string) => Promise<number>
  }
  /** The id of a connection that sources can use. */
  findConnection(): Promise<string>
  /** Remembers the state and returns a function that restores it, which is faster than deleting the created objects. */
  readonly remember?: () => () => void
}

interface HttpTargetOptions {
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

/** Sends requests over HTTP. Keys that have reached their limit pause until their window ends. */
function createSender({ origin, root, authorizations }: HttpTargetOptions): Target['send'] {
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
      if (isOwnKey) pauseAtLimit(key, answer)
      if (!isOwnKey || answer.status !== 429) return answer
    }
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Not with `fetch`, which takes twice as long. Thousands of requests are sent. */
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

/** Keeps one request in reserve, because the counts of a server with several processes differ. */
function pauseAtLimit(key: Key, { status, headers }: Answer): void {
  const number = (name: string): number | undefined => {
    const value = headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`]
    return value === undefined ? undefined : Number(value)
  }
  const remaining = number('remaining') ?? 1
  if (status !== 429 && remaining > 0) return
  key.freeAtMs = performance.now() + ((number('reset') ?? 10) + 1) * 1000
}

const rootOf = (dialect: Dialect, organization: string, service: string): string =>
  dialect === 'hyperdx' ? '/api/v2' : `/v1/organizations/${organization}/services/${service}/clickstack`

const authorizationOf = (dialect: Dialect, key: string): string =>
  dialect === 'hyperdx' ? `Bearer ${key}` : `Basic ${Buffer.from(key.includes(':') ? key : `key:${key}`).toString('base64')}`

export interface ClosableTarget extends Target {
  close(): Promise<void>
}

/** The emulator without data, and with enough keys for all cases within a minute. */
export async function startEmulatorTarget(dialect: Dialect): Promise<ClosableTarget> {
  const emulator = await startEmulator({
    dialect,
    data: 'empty',
    runSql: runConformanceSql,
    ...(dialect === 'clickhouse-cloud' && { rateLimit: 'off' }),
  })
  const [admin] = emulator.store.keys
  if (admin === undefined) throw new Error('the demo has no keys')
  const keys = Array.from({ length: 60 }, (_, index) => ({ ...admin, id: `key-${index}`, secret: `conformance-${index}` }))
  emulator.store.keys.push(...keys)
  const service = emulator.store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout)
  return {
    dialect,
    isStrictGateway: dialect === 'clickhouse-cloud',
    send: createSender({
      dialect,
      origin: emulator.url,
      root: rootOf(dialect, demo.organizationId, demo.services.checkout),
      authorizations: keys.map(({ id, secret }) => authorizationOf(dialect, dialect === 'hyperdx' ? secret : `${id}:${secret}`)),
    }),
    webApp: {
      save: async (dashboard) => emulator.saveInWebApp(dashboard).id,
      read: async (id) => service?.dashboards.find((dashboard) => dashboard.id === id),
      saveAgain: async (id) => emulator.saveAgainInWebApp(id).status,
    },
    findConnection: async () => service?.connections[0]?.id ?? '',
    remember() {
      // Cases do not change earlier objects, so that the lists are enough.
      const lists = Object.entries(service ?? {}).flatMap(([name, value]) => (Array.isArray(value) ? [[name, [...value]]] : []))
      return () => void Object.assign(service ?? {}, Object.fromEntries(lists))
    },
    close: () => emulator.close(),
  }
}

export interface ServerOptions {
  readonly url: string
  readonly dialect: Dialect
  readonly keys: readonly string[]
  readonly isStrictGateway: boolean
  readonly organization: string
  readonly service: string
  /** Where the web app's own API is, and the cookie of a session. */
  readonly webApp?: WebAppAccess
}

export function createServerTarget({ url, dialect, keys, isStrictGateway, organization, service, webApp }: ServerOptions): Target {
  const send = createSender({
    dialect,
    origin: new URL(url).origin,
    root: `${new URL(url).pathname.replace(/\/$/, '')}${rootOf(dialect, organization, service)}`,
    authorizations: keys.map((key) => authorizationOf(dialect, key)),
  })
  return {
    dialect,
    isStrictGateway,
    send,
    ...(webApp !== undefined && { webApp: createWebApp(webApp) }),
    async findConnection() {
      const { text, status } = await send({ method: 'GET', path: 'sources', headers: {}, text: undefined })
      if (status !== 200) throw new Error(`GET sources answered ${status}`)
      const body = JSON.parse(text) as { readonly data?: Sources; readonly result?: Sources }
      const connection = (body.data ?? body.result)?.[0]?.connection
      if (connection === undefined) throw new Error('the server has no source, and so no connection that could be used')
      return connection
    },
  }
}

type Sources = readonly { readonly connection: string }[]

interface WebAppAccess {
  readonly url: string
  readonly cookie: string
}

function createWebApp({ url, cookie }: WebAppAccess): NonNullable<Target['webApp']> {
  const ask = async (method: string, body?: string): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', cookie }
    const response = await fetch(`${url}/dashboards`, { method, headers, ...(body !== undefined && { body }) })
    if (!response.ok) throw new Error(`the web app answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const find = async (id: string): Promise<Document> => {
    const document = ((await ask('GET')) as readonly Document[]).find(({ _id }) => _id === id)
    if (document === undefined) throw new Error(`the web app does not show the dashboard ${id}`)
    return document
  }
  return {
    async save(dashboard) {
      const { _id } = (await ask('POST', JSON.stringify(toWebAppDocument(dashboard)))) as Document
      return _id
    },
    async read(id) {
      const document = await find(id)
      return { ...document, tiles: document.tiles.map(({ config, ...tile }) => ({ ...tile, config: toStoredConfig(config) })) }
    },
    async saveAgain(id) {
      const body = JSON.stringify({ ...(await find(id)), id })
      const headers = { 'content-type': 'application/json', cookie }
      return (await fetch(`${url}/dashboards/${id}`, { method: 'PATCH', headers, body })).status
    },
  }
}

interface Document {
  readonly _id: string
  readonly tiles: readonly { readonly config: Json }[]
}

/** The conditions of a select under the names that the emulator stores. An empty condition of a tile is none. */
const toStoredConfig = ({ select, where, ...config }: Json): Json => ({
  ...config,
  ...(where !== '' && { where }),
  select: Array.isArray(select)
    ? select.map(({ aggCondition, aggConditionLanguage, ...item }: Json) => ({
        ...item,
        where: aggCondition,
        whereLanguage: aggConditionLanguage,
      }))
    : select,
})

type Json = Readonly<Record<string, unknown>>

/** The document that the web app of the product sends for a dashboard. */
function toWebAppDocument({ tiles, filters = [], ...dashboard }: WebAppDashboard): unknown {
  return {
    tags: [],
    ...dashboard,
    tiles: tiles.map(({ name = '', config, ...tile }, index) => ({
      x: 0,
      y: index * 6,
      w: 12,
      h: 6,
      ...tile,
      config: { ...toDocumentConfig(config), name },
    })),
    filters: filters.map(({ sourceId, ...filter }) => ({ ...filter, source: sourceId })),
  }
}

/** The web app has other names for sources, series and their conditions. */
function toDocumentConfig({ sourceId, connectionId, select, asRatio, limit, ...config }: Json): Json {
  return {
    where: '',
    ...config,
    ...((sourceId !== undefined || config.configType === undefined) && { source: sourceId ?? '' }),
    ...(connectionId !== undefined && { connection: connectionId }),
    ...(limit !== undefined && { seriesLimit: limit }),
    ...(asRatio === true && { seriesReturnType: 'ratio' }),
    ...(select !== undefined && { select: Array.isArray(select) ? select.map(toDocumentItem) : select }),
  }
}

const toDocumentItem = ({ where, whereLanguage, periodAggFn, valueExpression = '', ...item }: Json): Json => ({
  ...item,
  valueExpression,
  aggCondition: where ?? '',
  aggConditionLanguage: whereLanguage ?? 'lucene',
  ...(periodAggFn === 'delta' && { isDelta: true }),
})
