import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { demo, type Emulator, type Service } from '../../../src/emulator/index.ts'
import { type EmulatorVariant, startVariant, type VariantOptions } from '../../support/server-variants.ts'

/** A Saturday, so that demo data is the same on every day that the tests run. */
export const now = Date.parse('2026-03-21T09:30:00Z')

export async function start(options: VariantOptions = {}): Promise<EmulatorVariant> {
  const emulator = await startVariant({ now: () => now, ...options })
  onTestFinished(() => emulator.close())
  return emulator
}

export const startCloud = (options: VariantOptions = {}): Promise<EmulatorVariant> =>
  start({ dialect: 'clickhouse-cloud', rateLimit: 'off', ...options })

export const startHyperdx = (options: VariantOptions = {}): Promise<EmulatorVariant> => start({ dialect: 'hyperdx', ...options })

export interface Key {
  readonly id: string
  readonly secret: string
}

export const admin: Key = { id: demo.apiKeyId, secret: demo.apiKeySecret }

export const basic = ({ id, secret }: Key): string => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

export interface Json {
  readonly [name: string]: unknown
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered, and fails where it is not there
  readonly json: any
}

export interface Sent {
  readonly body?: unknown
  readonly key?: Key | undefined
  readonly headers?: Readonly<Record<string, string>>
}

export async function call(emulator: Emulator, method: string, path: string, { body, key = admin, headers }: Sent = {}): Promise<Reply> {
  const response = await fetch(`${emulator.url}${path}`, {
    method,
    headers: { authorization: basic(key), ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    redirect: 'manual',
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parse(text) }
}

/** Of the self-hosted dialect; the path is one below the root of its API. */
export const callHyperdx = (
  emulator: Emulator,
  method: string,
  path: string,
  { key = admin, headers, ...sent }: Sent = {},
): Promise<Reply> => call(emulator, method, `/api/v2/${path}`, { ...sent, headers: { authorization: `Bearer ${key.secret}`, ...headers } })

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const organization = `/v1/organizations/${demo.organizationId}`

export const servicePath = (name: keyof typeof demo.services): string => `${organization}/services/${demo.services[name]}`

/** The observability resources of the checkout service. */
export const clickstack = `${servicePath('checkout')}/clickstack`

export function checkoutOf(emulator: Emulator): Service {
  const service = emulator.store.organizations[0]?.services.find(({ id }) => id === demo.services.checkout)
  if (service === undefined) throw new Error('the store has no checkout service')
  return service
}

/** What came over a plain socket, and how it ended. */
export interface RawReply {
  readonly text: string
  readonly end: 'end' | 'reset'
}

/** One request, byte for byte, without an HTTP client that could hide anything. */
export function callRaw(emulator: Emulator, path: string, method = 'GET', body = ''): Promise<RawReply> {
  const { hostname, port } = new URL(emulator.url)
  const head = [
    `${method} ${path} HTTP/1.1`,
    `host: ${hostname}`,
    `authorization: ${basic(admin)}`,
    'content-type: application/json',
    'connection: close',
  ]
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    )
    const finish = (end: RawReply['end']): void => resolve({ text: Buffer.concat(chunks).toString(), end })
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', () => finish('end'))
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? finish('reset') : reject(error)))
  })
}

/** The ids that a valid alert needs, from the checkout overview. */
export function alertFacts(emulator: Emulator): { dashboardId: string; tileId: string; markdownTileId: string; webhookId: string } {
  const { dashboards, webhooks } = checkoutOf(emulator)
  const dashboard = dashboards.find(({ name }) => name === 'Checkout overview')
  const tile = (name: string): string => dashboard?.tiles.find((one) => one.name === name)?.id ?? ''
  return {
    dashboardId: dashboard?.id ?? '',
    tileId: tile('Error rate'),
    markdownTileId: tile('How to read this'),
    webhookId: webhooks[0]?.id ?? '',
  }
}

/** A body that both dialects accept. */
export function alertBody(emulator: Emulator): Json {
  const { dashboardId, tileId, webhookId } = alertFacts(emulator)
  return {
    dashboardId,
    tileId,
    threshold: 5,
    interval: '1h',
    source: 'tile',
    thresholdType: 'above',
    channel: { type: 'webhook', webhookId },
    name: 'Errors',
    message: 'Too many',
  }
}

export const logsId = (emulator: Emulator): string => checkoutOf(emulator).sources.find(({ name }) => name === 'Logs')?.id ?? ''

export const lineConfig = (emulator: Emulator): Json => ({
  displayType: 'line',
  sourceId: logsId(emulator),
  select: [{ aggFn: 'count', where: 'level:error' }],
})

export const tile = (config: Json, more: Json = {}): Json => ({ name: 'A tile', x: 0, y: 0, w: 12, h: 6, config, ...more })

export const dashboardBody = (emulator: Emulator, more: Json = {}): Json => ({
  name: 'A dashboard',
  tiles: [tile(lineConfig(emulator))],
  ...more,
})
