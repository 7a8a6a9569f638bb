import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'

// A forge with one repository, as a real HTTP server: pages, ETags, permissions, and faults that a test asks for.

export interface ForgeFault<Store> {
  /** Start of `METHOD /path`. */
  readonly on: string
  /** How many times; once unless said otherwise. */
  readonly times?: number
  /** Whether the request is still carried out before the fault shows. */
  readonly afterwards?: boolean
  readonly effect:
    | { readonly kind: 'answer'; readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
    | { readonly kind: 'hang' }
    | { readonly kind: 'reset' }
    /** Something happens in the remote before the request is carried out. */
    | { readonly kind: 'meanwhile'; readonly change: (store: Store) => void }
}

interface ReceivedRequest {
  readonly call: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}

export interface ForgeServer<Store> {
  readonly url: string
  store: Store
  readonly received: ReceivedRequest[]
  /** `METHOD /path`, in order, without the question who the token belongs to. */
  calls(): readonly string[]
  addFault(fault: ForgeFault<Store>): void
}

export interface Answer {
  readonly status: number
  readonly body: unknown
  /** The server pages its lists. */
  readonly isList?: boolean
}

export interface RouteContext<Store> {
  readonly store: Store
  readonly query: URLSearchParams
  readonly body: Record<string, unknown>
  readonly path: readonly string[]
}

/** What differs between forges. */
interface ForgeRules<Store> {
  emptyStore(): Store
  /** Where the API begins, as on a server of one's own. */
  readonly prefix: string
  readonly authorization: string
  readonly unauthorized: Answer
  readonly defaultPerPage: number
  readonly notFound: Answer
  readonly routes: readonly (readonly [string, RegExp, (context: RouteContext<Store>) => Answer])[]
  /** Whether a call is the question who the token belongs to. */
  asksForAuthor(call: string): boolean
}

export function useForgeServer<Store>(rules: ForgeRules<Store>): () => ForgeServer<Store> {
  const received: ReceivedRequest[] = []
  let faults: { fault: ForgeFault<Store>; left: number }[] = []
  const forge: ForgeServer<Store> = {
    url: '',
    store: rules.emptyStore(),
    received,
    calls: () => received.map(({ call }) => call).filter((call) => !rules.asksForAuthor(call)),
    addFault: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
  }
  const takeFault = (call: string): ForgeFault<Store> | undefined => {
    const found = faults.find(({ fault, left }) => left > 0 && call.startsWith(fault.on))
    if (found !== undefined) found.left -= 1
    return found?.fault
  }
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const url = new URL(request.url ?? '', forge.url)
      const path = url.pathname.replace(new RegExp(`^${rules.prefix}`), '').replace('/api/graphql', '/graphql')
      const call = `${request.method} ${path}`
      received.push({ call: `${call}${url.search}`, headers: request.headers, body })
      url.pathname = path
      const exchange = { request, response, url, body, store: forge.store }
      const fault = takeFault(call)
      if (fault?.afterwards) carryOut(exchange, rules)
      if (fault === undefined || !play(fault, exchange)) send(exchange, carryOut(exchange, rules), rules.defaultPerPage)
    })
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    Object.assign(forge, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${rules.prefix}` })
  })
  beforeEach(() => {
    received.length = 0
    faults = []
    forge.store = rules.emptyStore()
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return () => forge
}

interface Exchange<Store> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly body: Record<string, unknown>
  readonly store: Store
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>)
}

function carryOut<Store>({ request, url, body, store }: Exchange<Store>, rules: ForgeRules<Store>): Answer {
  if (request.headers.authorization !== rules.authorization) return rules.unauthorized
  for (const [wanted, pattern, handle] of rules.routes) {
    const match = wanted === request.method ? pattern.exec(url.pathname) : null
    if (match) return handle({ store, query: url.searchParams, body, path: match.slice(1) })
  }
  return rules.notFound
}

/** Whether the fault is the whole answer. */
function play<Store>({ effect }: ForgeFault<Store>, { response, store }: Exchange<Store>): boolean {
  if (effect.kind === 'meanwhile') effect.change(store)
  if (effect.kind === 'reset') response.socket?.destroy()
  if (effect.kind === 'answer') {
    const text = typeof effect.body === 'string' ? effect.body : JSON.stringify(effect.body ?? { message: 'It broke' })
    response.writeHead(effect.status, { 'content-type': 'application/json', ...effect.headers }).end(text)
  }
  return effect.kind !== 'meanwhile'
}

function send<Store>({ request, response, url }: Exchange<Store>, { status, body, isList }: Answer, defaultPerPage: number): void {
  const perPage = Math.min(100, Number(url.searchParams.get('per_page') ?? defaultPerPage))
  const page = Number(url.searchParams.get('page') ?? 1)
  const shown = isList ? (body as unknown[]).slice((page - 1) * perPage, page * perPage) : body
  const text = JSON.stringify(shown)
  const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`
  const isLast = !isList || page * perPage >= (body as unknown[]).length
  const linkTo = (number: number, word: string): string => {
    const target = new URL(url)
    target.searchParams.set('page', String(number))
    return `<${target.href}>; rel="${word}"`
  }
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'private, max-age=60, s-maxage=60',
    etag,
    // As both forges do: only where there is more than one page.
    ...(isLast ? page > 1 && { link: linkTo(page - 1, 'prev') } : { link: linkTo(page + 1, 'next') }),
  }
  const isKnown = request.method === 'GET' && request.headers['if-none-match'] === etag
  response.writeHead(isKnown ? 304 : status, headers).end(isKnown ? undefined : text)
}
