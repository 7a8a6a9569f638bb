import type { WebAppDashboard } from '../../src/emulator/index.ts'
import { type Case, constants, type Exchange, type Setup, type WebAppRead, type WebAppSaveAgain } from './case.ts'
import { fixtures } from './cases/fixtures.ts'
import { createIdNames, fillIn, fillInText, type Named, valueAt } from './placeholders.ts'
import { type RecordedAnswer, type Recording, toRecorded } from './recording.ts'
import type { Answer, Target } from './targets.ts'

type Json = Readonly<Record<string, unknown>>

/** The suite must not write to the server. */
export class UnsafeTargetError extends Error {
  override readonly name = 'UnsafeTargetError'
}

/** In the order in which objects can be deleted. */
const resources = ['alerts', 'saved-searches', 'dashboards', 'webhooks', 'sources', 'connections'] as const

type Resource = (typeof resources)[number]

interface Created {
  readonly resource: Resource
  readonly id: string
}

/**
 * Runs the cases one after the other. Rejects a server with dashboards, alerts or saved searches, because it may be in use. Deletes all
 * objects that it creates, also when it fails.
 */
export async function runCases(target: Target, cases: readonly Case[], onDone: (name: string) => void = () => {}): Promise<Recording> {
  for (const resource of ['dashboards', 'alerts', 'saved-searches'])
    if ((await listIds(target, resource)).length > 0)
      throw new UnsafeTargetError(`The server has ${resource} that this suite did not create. Run the suite against an empty server.`)
  const otherWebhooks = (await listIds(target, 'webhooks')).length
  const shared: Created[] = []
  const named = new Map<string, unknown>(Object.entries(constants))
  const recording: Record<string, readonly RecordedAnswer[]> = {}
  try {
    named.set('connection', await target.findConnection())
    for (const fixture of fixtures) await setUp(target, fixture, named, shared)
    for (const one of cases) {
      if (!canRun(target, one)) continue
      recording[one.name] = await runCase(target, one, { named, shared, otherWebhooks })
      onDone(one.name)
    }
  } finally {
    await deleteAll(target, shared)
  }
  return recording
}

export const canRun = ({ dialect, webApp }: Target, { dialects, given = [], after = [] }: Case): boolean =>
  dialects?.includes(dialect) !== false && (webApp !== undefined || ![...given, ...after].some(needsWebApp))

const needsWebApp = (step: object): boolean => ['webApp', 'inWebApp', 'savedAgainInWebApp'].some((field) => field in step)

interface Shared {
  readonly named: Named
  readonly shared: readonly Created[]
  readonly otherWebhooks: number
}

async function runCase(target: Target, one: Case, shared: Shared): Promise<readonly RecordedAnswer[]> {
  const named = new Map(shared.named)
  const created: Created[] = []
  const restore = target.remember?.()
  try {
    for (const step of one.given ?? []) await setUp(target, step, named, created)
    return await record(target, one, { ...shared, named }, created)
  } catch (cause) {
    throw new Error(`${one.name}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  } finally {
    if (restore === undefined) await deleteAll(target, created)
    else restore()
  }
}

interface Running extends Shared {
  readonly named: Map<string, unknown>
}

async function record(target: Target, one: Case, { named, shared, otherWebhooks }: Running, created: Created[]) {
  const nameIds = createIdNames(named)
  const recorded: RecordedAnswer[] = []
  for (const exchange of [one, ...(one.after ?? [])]) {
    if ('inWebApp' in exchange || 'savedAgainInWebApp' in exchange) {
      recorded.push(await ('inWebApp' in exchange ? readInWebApp(target, exchange, named) : saveAgainInWebApp(target, exchange, named)))
      continue
    }
    const answer = await send(target, exchange, named, created)
    const own = new Set([...shared, ...created].map(({ id }) => id))
    const otherCount = exchange.request.startsWith('GET webhooks') ? otherWebhooks : 0
    const isUnordered = !exchange.request.startsWith('GET dashboards')
    const shown = exchange === one ? one : {}
    recorded.push(toRecorded(answer, shown, { nameIds, own, otherCount, isUnordered }))
  }
  return recorded
}

async function readInWebApp({ webApp }: Target, { inWebApp, show }: WebAppRead, named: Named): Promise<RecordedAnswer> {
  const document = await webApp?.read(fillInText(inWebApp, named))
  const body = Object.fromEntries(show.map((path) => [path, valueAt(document, path.split('.')) ?? null]))
  return { status: 200, type: 'web-app', body }
}

async function saveAgainInWebApp({ webApp }: Target, { savedAgainInWebApp }: WebAppSaveAgain, named: Named): Promise<RecordedAnswer> {
  return { status: (await webApp?.saveAgain(fillInText(savedAgainInWebApp, named))) ?? 0, type: 'web-app', body: null }
}

async function setUp(target: Target, step: Setup, named: Map<string, unknown>, created: Created[]): Promise<void> {
  if (!('webApp' in step)) {
    const { status, text } = await send(target, step, named, created)
    if (status >= 300) throw new Error(`${step.request} answered ${status}: ${text}`)
    return
  }
  const saved = withIds(fillIn(step.webApp, named) as WebAppDashboard)
  const id = (await target.webApp?.save(saved)) ?? ''
  created.push({ resource: 'dashboards', id })
  await send(target, { request: `GET dashboards/${id}`, as: step.as }, named, created)
}

/** Ids that the web app would generate. */
const withIds = ({ tiles, filters = [], ...dashboard }: WebAppDashboard): WebAppDashboard => ({
  ...dashboard,
  tiles: tiles.map((tile, index) => ({ id: `tile-${index}`, ...tile })),
  filters: filters.map((filter, index) => ({ id: `filter-${index}`, ...filter })),
})

async function send(target: Target, exchange: Exchange, named: Map<string, unknown>, created: Created[]): Promise<Answer> {
  const { request, body, text, headers = {}, times = 1, as } = exchange
  const [method = '', path = ''] = fillInText(request, named).split(/ (.*)/)
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(fillIn(body, named)))
  let answer = await target.send({ method, path, headers, text: sent })
  for (let count = 1; count < times; count++) answer = await target.send({ method, path, headers, text: sent })
  const data = dataOf(answer)
  if (as !== undefined) named.set(as, data)
  const resource = resources.find((name) => name === path)
  if (method === 'POST' && resource !== undefined && typeof data?.id === 'string') created.push({ resource, id: data.id })
  return answer
}

function dataOf({ status, headers, text }: Answer): Json | undefined {
  if (status >= 300 || !headers['content-type']?.startsWith('application/json') || text === '') return undefined
  const body = JSON.parse(text) as { readonly data?: Json; readonly result?: Json }
  return body.data ?? body.result
}

async function listIds(target: Target, resource: string): Promise<readonly string[]> {
  const answer = await target.send({ method: 'GET', path: resource, headers: {}, text: undefined })
  const data: unknown = dataOf(answer)
  if (!Array.isArray(data)) throw new Error(`GET ${resource} answered ${answer.status}: ${answer.text.slice(0, 200)}`)
  return (data as readonly { readonly id: string }[]).map(({ id }) => id)
}

async function deleteAll(target: Target, created: readonly Created[]): Promise<void> {
  const ordered = created.toSorted((a, b) => resources.indexOf(a.resource) - resources.indexOf(b.resource))
  for (const { resource, id } of ordered) {
    const { status, text } = await target.send({ method: 'DELETE', path: `${resource}/${id}`, headers: {}, text: undefined })
    // Cases delete objects themselves.
    if (status >= 300 && status !== 404) throw new Error(`DELETE ${resource}/${id} answered ${status}: ${text}`)
  }
}
