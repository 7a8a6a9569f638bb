// A GitHub of one repository, acme/shop, as a real HTTP server: pages, ETags, permissions, and faults that a test asks for.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type Answer, answer } from './github-routes.ts'
import { emptyStore, type Store } from './github-store.ts'

export const token = 'ghs_c4n4ryQwErTyUiOpAsDfGhJkLzXcVbNmQaZw'

export interface GitHubFault {
  /** Start of `METHOD /path`. */
  readonly on: string
  /** How many times; once unless said otherwise. */
  readonly times?: number
  /** Whether the request is carried out all the same, before the fault shows. */
  readonly afterwards?: boolean
  readonly effect:
    | { readonly kind: 'answer'; readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
    | { readonly kind: 'hang' }
    | { readonly kind: 'reset' }
    /** Something happens in the world before the request is carried out. */
    | { readonly kind: 'meanwhile'; readonly change: (store: Store) => void }
}

export interface Arrived {
  readonly call: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}

export interface GitHubServer {
  readonly url: string
  store: Store
  readonly arrived: Arrived[]
  /** `METHOD /path`, in order, without the question who the token belongs to. */
  calls(): readonly string[]
  addFault(fault: GitHubFault): void
}

/** `prefix` is where the API begins, as on a server of one's own. */
export function useGitHub(prefix = ''): () => GitHubServer {
  const arrived: Arrived[] = []
  let faults: { fault: GitHubFault; left: number }[] = []
  const github: GitHubServer = {
    url: '',
    store: emptyStore(),
    arrived,
    calls: () => arrived.map(({ call }) => call).filter((call) => !call.endsWith('/graphql')),
    addFault: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
  }
  const takeFault = (call: string): GitHubFault | undefined => {
    const found = faults.find(({ fault, left }) => left > 0 && call.startsWith(fault.on))
    if (found !== undefined) found.left -= 1
    return found?.fault
  }
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const url = new URL(request.url ?? '', github.url)
      const path = url.pathname.replace(new RegExp(`^${prefix}`), '').replace('/api/graphql', '/graphql')
      const call = `${request.method} ${path}`
      arrived.push({ call: `${call}${url.search}`, headers: request.headers, body })
      url.pathname = path
      const exchange = { request, response, url, body, store: github.store }
      const fault = takeFault(call)
      if (fault?.afterwards) carryOut(exchange)
      if (fault === undefined || !play(fault, exchange)) send(exchange, carryOut(exchange))
    })
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    Object.assign(github, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}` })
  })
  beforeEach(() => {
    arrived.length = 0
    faults = []
    github.store = emptyStore()
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return () => github
}

interface Exchange {
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

const carryOut = ({ request, url, body, store }: Exchange): Answer =>
  request.headers.authorization === `token ${token}`
    ? answer(store, request.method ?? '', url, body)
    : { status: 401, body: { message: 'Bad credentials' } }

/** Whether the fault is the whole answer. */
function play({ effect }: GitHubFault, { response, store }: Exchange): boolean {
  if (effect.kind === 'meanwhile') effect.change(store)
  if (effect.kind === 'reset') response.socket?.destroy()
  if (effect.kind === 'answer') {
    const text = typeof effect.body === 'string' ? effect.body : JSON.stringify(effect.body ?? { message: 'It broke' })
    response.writeHead(effect.status, { 'content-type': 'application/json', ...effect.headers }).end(text)
  }
  return effect.kind !== 'meanwhile'
}

function send({ request, response, url }: Exchange, { status, body, isList }: Answer): void {
  const perPage = Math.min(100, Number(url.searchParams.get('per_page') ?? 30))
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
    // As GitHub does: only where there is more than one page.
    ...(isLast ? page > 1 && { link: linkTo(page - 1, 'prev') } : { link: linkTo(page + 1, 'next') }),
  }
  const isKnown = request.method === 'GET' && request.headers['if-none-match'] === etag
  response.writeHead(isKnown ? 304 : status, headers).end(isKnown ? undefined : text)
}
