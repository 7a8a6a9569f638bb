import { demo, startEmulator } from '../../src/emulator/index.ts'
import type { Dialect } from './case.ts'
import { createSender, type Target } from './target.ts'
import { toWebAppDocument } from './web-app.ts'

const rootOf = (dialect: Dialect, organization: string, service: string): string =>
  dialect === 'hyperdx' ? '/api/v2' : `/v1/organizations/${organization}/services/${service}/clickstack`

const authorizationOf = (dialect: Dialect, key: string): string =>
  dialect === 'hyperdx' ? `Bearer ${key}` : `Basic ${Buffer.from(key.includes(':') ? key : `key:${key}`).toString('base64')}`

export interface ClosableTarget extends Target {
  close(): Promise<void>
}

/** The emulator without any data, and with as many keys as the cases need within a minute. */
export async function startEmulatorTarget(dialect: Dialect): Promise<ClosableTarget> {
  const emulator = await startEmulator({ dialect, data: 'empty', ...(dialect === 'clickhouse-cloud' && { rateLimit: 'off' }) })
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
    },
    findConnection: async () => service?.connections[0]?.id ?? '',
    remember() {
      // Cases change no object that is there before them, so that the lists are enough.
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
  return {
    async save(dashboard) {
      const { _id } = (await ask('POST', JSON.stringify(toWebAppDocument(dashboard)))) as Document
      return _id
    },
    async read(id) {
      const dashboards = (await ask('GET')) as readonly Document[]
      return dashboards.find(({ _id }) => _id === id)
    },
  }
}

interface Document {
  readonly _id: string
}
