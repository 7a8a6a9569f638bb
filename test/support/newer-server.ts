// The API as a server speaks it that is newer than the emulator: it accepts and keeps fields of which the emulator has never heard,
// those whose names begin with `novel`. Everything else it hands to the emulator.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Emulator } from '../../src/emulator/index.ts'

export interface NewerServer {
  readonly url: string
  close(): Promise<void>
}

type Fields = Record<string, unknown>

export async function startNewerServer(emulator: Emulator): Promise<NewerServer> {
  const server = createServer((request, response) => void answer(emulator, request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answer(emulator: Emulator, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks = await request.toArray()
  const text = Buffer.concat(chunks as Buffer[]).toString()
  const sent = text === '' ? undefined : (JSON.parse(text) as Fields)
  const answered = await fetch(`${emulator.url}${request.url}`, {
    method: request.method ?? 'GET',
    headers: { authorization: String(request.headers.authorization), 'content-type': 'application/json' },
    ...(sent !== undefined && { body: JSON.stringify(withoutNovel(sent)) }),
  })
  const body = (await answered.json()) as { result?: Fields } & Fields
  if (answered.ok && request.method === 'PUT' && sent !== undefined)
    keepNovel(sent, findStored(emulator, String(request.url).split('/').at(-1)))
  response.writeHead(answered.status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const isNovel = (key: string): boolean => key.startsWith('novel')

function withoutNovel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNovel)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => (isNovel(key) ? [] : [[key, withoutNovel(item)]])))
}

function findStored({ store }: Emulator, id: string | undefined): unknown {
  const services = store.organizations.flatMap((organization) => organization.services)
  const all = services.flatMap(({ dashboards, alerts, savedSearches }) => [...dashboards, ...alerts, ...savedSearches])
  return all.find((one) => one.id === id)
}

/** A replacement, as the API's: what was not sent again is gone. */
function keepNovel(sent: unknown, stored: unknown): void {
  if (typeof sent !== 'object' || sent === null || typeof stored !== 'object' || stored === null) return
  const [from, to] = [sent as Fields, stored as Fields]
  for (const key of Object.keys(to)) if (isNovel(key)) Reflect.deleteProperty(to, key)
  for (const [key, value] of Object.entries(from))
    if (isNovel(key)) to[key] = value
    else keepNovel(value, to[key])
}
