import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import * as z from 'zod'

const help = `Usage: node test/conformance/register-users.ts --target URL --output FILE [options]

Registers the first user of a self-hosted server that has none, invites more users, because each access key has a rate limit of its own, and
creates a connection, a source and the webhook oncall if there is no source or no webhook. A second run signs in as the same users.
Writes the lines key=KEY, keys=KEY,KEY,… and cookie=COOKIE to a file that only you should be able to read. Exits with 1 when the server
refuses.

  --target URL     address of the API server, without /api/v2
  --output FILE    file for the keys and the cookie; default: GITHUB_OUTPUT
  --users COUNT    number of users, and of keys; default: 40
  --clickhouse URL address of ClickHouse, as the server sees it, for a server without a source; default: http://localhost:8123

Set REGISTER_PASSWORD to sign in again later. Without it, the password is random and is not stored.
`

interface User {
  readonly email: string
  readonly password: string
}

interface SignedIn {
  readonly accessKey: string
  readonly cookie: string
}

interface RegisterOptions {
  /** Address of the API server, without a path at its end. */
  readonly target: string
  readonly count: number
  readonly password: string
  readonly clickHouse: string
}

interface Registered {
  readonly keys: readonly string[]
  /** Of the first user's session. */
  readonly cookie: string
}

/** The password of a server that is thrown away. It has each kind of character that the product requires. */
export const createPassword = (): string => `aA1!${randomBytes(24).toString('base64url')}`

/** Throws an Error without secrets when the server refuses a step. */
export async function registerUsers({ target, count, password, clickHouse }: RegisterOptions): Promise<Registered> {
  const users = Array.from({ length: count }, (_, index): User => ({ email: `conformance-${index}@example.com`, password }))
  const [first, ...others] = users
  if (first === undefined) throw new Error('At least one user is needed.')
  const owner = await signInOwner(target, first)
  const members: SignedIn[] = []
  for (const user of others) members.push((await signIn(target, user)) ?? (await invite(target, owner, user)))
  await requireObjects(target, owner.accessKey, clickHouse)
  return { keys: [owner, ...members].map(({ accessKey }) => accessKey), cookie: owner.cookie }
}

async function signInOwner(target: string, { email, password }: User): Promise<SignedIn> {
  const response = await send(target, 'POST', '/register/password', { body: { email, password, confirmPassword: password } })
  const isTaken = response.status === 409
  if (!response.ok && !isTaken) throw new Error(`POST /register/password answered ${response.status}: ${await response.text()}`)
  const owner = isTaken ? await signIn(target, { email, password }) : await readUser(target, response)
  if (owner !== undefined) return owner
  if (!isTaken) throw new Error('The server registered the first user, but started no session.')
  throw new Error(`The server has a user already, and ${email} cannot sign in. Set REGISTER_PASSWORD, or start an empty server.`)
}

/** undefined when the user does not exist or has another password: the server answers both with the same redirect. */
const signIn = async (target: string, user: User): Promise<SignedIn | undefined> =>
  readUser(target, await send(target, 'POST', '/login/password', { body: user }))

async function invite(target: string, owner: SignedIn, user: User): Promise<SignedIn> {
  const invited = await send(target, 'POST', '/team/invitation', { cookie: owner.cookie, body: { email: user.email } })
  if (!invited.ok) throw new Error(`POST /team/invitation answered ${invited.status}: ${await invited.text()}`)
  const { url } = z.object({ url: z.string() }).parse(await invited.json())
  const token = /[?&]token=(\w+)/.exec(url)?.[1] ?? ''
  const member = await readUser(target, await send(target, 'POST', `/team/setup/${token}`, { body: { password: user.password } }))
  if (member === undefined) throw new Error(`The server did not accept the invited user ${user.email}.`)
  return member
}

/** The user of the session that an answer started. */
async function readUser(target: string, answer: Response): Promise<SignedIn | undefined> {
  await answer.body?.cancel()
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0]
  if (cookie === undefined) return undefined
  const response = await send(target, 'GET', '/me', { cookie })
  if (!response.ok) return undefined
  const { accessKey } = z.object({ accessKey: z.string().min(8) }).parse(await response.json())
  return { accessKey, cookie }
}

/** The official all-in-one image creates sources for the first user. The image of the server creates none. Neither creates webhooks. */
async function requireObjects(target: string, accessKey: string, clickHouse: string): Promise<void> {
  const request = async (route: string, body?: unknown): Promise<unknown> => {
    const [method = '', path = ''] = route.split(' ')
    const authorization = `Bearer ${accessKey}`
    const response = await send(target, method, `/api/v2/${path}`, { authorization, ...(body !== undefined && { body }) })
    if (!response.ok) throw new Error(`${route} answered ${response.status}: ${await response.text()}`)
    return z.object({ data: z.unknown() }).parse(await response.json()).data
  }
  const has = async (kind: string): Promise<boolean> => z.array(z.unknown()).parse(await request(`GET ${kind}`)).length > 0
  if (!(await has('webhooks')))
    await request('POST webhooks', { name: 'oncall', service: 'generic', url: 'https://hooks.example.com/oncall' })
  if (await has('sources')) return
  const connection = await request('POST connections', { name: 'ClickHouse', host: clickHouse, username: 'default', password: '' })
  await request('POST sources', {
    name: 'Logs',
    kind: 'log',
    connection: z.object({ id: z.string() }).parse(connection).id,
    from: { databaseName: 'default', tableName: 'otel_logs' },
    timestampValueExpression: 'Timestamp',
    defaultTableSelectExpression: 'Timestamp, ServiceName, SeverityText, Body',
  })
}

interface Sent {
  readonly body?: unknown
  readonly cookie?: string
  readonly authorization?: string
}

const send = (target: string, method: string, path: string, { body, ...headers }: Sent): Promise<Response> =>
  fetch(`${target}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    // The redirect leads to the web app, which may not run.
    redirect: 'manual',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      target: { type: 'string' },
      output: { type: 'string', default: process.env.GITHUB_OUTPUT ?? '' },
      users: { type: 'string', default: '40' },
      clickhouse: { type: 'string', default: 'http://localhost:8123' },
      help: { type: 'boolean', default: false },
    },
  })
  const print = (text: string): void => void process.stdout.write(`${text}\n`)
  const { target, output, users, clickhouse } = values
  if (values.help || target === undefined || output === '' || !/^[1-9]\d?$/.test(users)) {
    print(help)
    return values.help ? 0 : 2
  }
  const isAction = process.env.GITHUB_ACTIONS === 'true'
  // The runner hides masked texts in every later line.
  const mask = (secret: string): void => void (isAction && print(`::add-mask::${secret}`))
  const password = process.env.REGISTER_PASSWORD ?? createPassword()
  mask(password)
  const { keys, cookie } = await registerUsers({
    target: target.replace(/\/+$/, ''),
    count: Number(users),
    password,
    clickHouse: clickhouse,
  })
  for (const secret of [...keys, cookie]) mask(secret)
  appendFileSync(output, `key=${keys[0]}\nkeys=${keys.join(',')}\ncookie=${cookie}\n`, { mode: 0o600 })
  print(`${keys.length} keys are in ${output}.`)
  return 0
}

if (import.meta.main) process.exitCode = await main()
