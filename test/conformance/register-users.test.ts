import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { createPassword, registerUsers } from './register-users.ts'

interface Server {
  readonly target: string
  /** `METHOD path`, in order. */
  readonly requests: readonly string[]
}

interface Answer {
  readonly status: number
  readonly cookie?: string
  readonly body?: unknown
}

interface Received {
  readonly path: string
  readonly body: Readonly<Record<string, string>>
}

/** Success and failure are redirects. The session of a failed sign-in has no user. */
const signedIn = (email: string, isKnown = true): Answer => ({ status: 303, cookie: `connect.sid=${isKnown ? email : 'none'}` })

/** The routes of HyperDX 2.36.0 that need no session, with the answers that it was seen to give. */
const publicRoutes = (passwords: Map<string, string>): Readonly<Record<string, (received: Received) => Answer>> => ({
  'POST /register/password': ({ body: { email = '', password = '' } }) => {
    if (passwords.size > 0) return { status: 409, body: { error: 'teamAlreadyExists' } }
    passwords.set(email, password)
    return { ...signedIn(email), status: 200, body: { status: 'success' } }
  },
  'POST /login/password': ({ body: { email = '', password = '' } }) => signedIn(email, passwords.get(email) === password),
  'POST /team/setup': ({ path, body: { password = '' } }) => {
    const email = Buffer.from(path.split('/').at(-1) ?? '', 'hex').toString()
    passwords.set(email, password)
    return signedIn(email)
  },
})

interface Objects {
  readonly sources: unknown[]
  readonly webhooks: unknown[]
}

const userRoutes = (user: string, { sources, webhooks }: Objects): Readonly<Record<string, (received: Received) => Answer>> => ({
  'GET /me': () => ({ status: 200, body: { accessKey: `key-of-${user}`, email: user } }),
  'POST /team/invitation': ({ body: { email = '' } }) => ({
    status: 200,
    body: { url: `http://localhost:8080/join-team?token=${Buffer.from(email).toString('hex')}` },
  }),
  'GET /api/v2/webhooks': () => ({ status: 200, body: { data: webhooks } }),
  'POST /api/v2/webhooks': ({ body }) => ({ status: 200, body: { data: webhooks.push(body) } }),
  'GET /api/v2/sources': () => ({ status: 200, body: { data: sources } }),
  'POST /api/v2/connections': () => ({ status: 200, body: { data: { id: 'connection' } } }),
  'POST /api/v2/sources': ({ body }) => ({ status: 200, body: { data: sources.push(body) } }),
})

async function startHyperdx(): Promise<Server> {
  const passwords = new Map<string, string>()
  const objects: Objects = { sources: [], webhooks: [] }
  const requests: string[] = []

  function answer({ method, url: path = '', headers }: IncomingMessage, body: Received['body']): Answer {
    requests.push(`${method} ${path}`)
    const route = `${method} ${path.replace(/(?<=setup).*/, '')}`
    const open = publicRoutes(passwords)[route]
    if (open !== undefined) return open({ path, body })
    const user = headers.cookie?.split('=')[1] ?? headers.authorization?.replace('Bearer key-of-', '') ?? ''
    return (passwords.has(user) ? userRoutes(user, objects)[route]?.({ path, body }) : undefined) ?? { status: 401 }
  }

  const server = createServer(async (request, response) => {
    const body = request.method === 'POST' ? ((await json(request)) as Received['body']) : {}
    const { status, cookie, body: answered = '' } = answer(request, body)
    response.writeHead(status, { ...(cookie !== undefined && { 'set-cookie': `${cookie}; Path=/; HttpOnly` }) })
    response.end(JSON.stringify(answered))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { target: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const password = createPassword()
const options = { count: 3, password, clickHouse: 'http://localhost:8123' }
const keys = ['key-of-conformance-0@example.com', 'key-of-conformance-1@example.com', 'key-of-conformance-2@example.com']

it('registers the first user of an empty server, invites the others, and creates a webhook and a source', async () => {
  const { target, requests } = await startHyperdx()
  expect(await registerUsers({ ...options, target })).toEqual({ keys, cookie: 'connect.sid=conformance-0@example.com' })
  expect(requests.filter((route) => route.startsWith('POST /api/v2'))).toEqual([
    'POST /api/v2/webhooks',
    'POST /api/v2/connections',
    'POST /api/v2/sources',
  ])
})

it('signs in as the same users the second time, and creates nothing', async () => {
  const { target, requests } = await startHyperdx()
  await registerUsers({ ...options, target })
  const before = requests.length
  expect((await registerUsers({ ...options, target })).keys).toEqual(keys)
  expect(requests.slice(before).filter((route) => /invitation|setup|POST \/api/.test(route))).toEqual([])
})

it('says what to do on a server whose first user is another one', async () => {
  const { target } = await startHyperdx()
  await registerUsers({ ...options, target })
  await expect(registerUsers({ ...options, target, password: createPassword() })).rejects.toThrow(
    'The server has a user already, and conformance-0@example.com cannot sign in. Set REGISTER_PASSWORD, or start an empty server.',
  )
})

it('creates passwords that meet the rules of the product', () => {
  expect(password).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[!@#$%^&*(),.?":{}|<>;\-+=]).{12,72}$/)
  expect(createPassword()).not.toBe(password)
})
