import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { demo, type Effect, type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { ids, serviceOf } from './emulator.ts'
import { problemsWithRun } from './output-oracle.ts'
import { type RawRequest, type RawServer, startRawServer, type Wire } from './raw-server.ts'
import { runAsAction } from './run-as-action.ts'
import type { ActionOptions, RanAction } from './run-process.ts'

// One API for one case of the faults: an emulator of its own and, where the fault lies below HTTP, a server of bytes before it.

/** What the API would have answered. */
export interface GoodAnswer {
  readonly status: number
  readonly body: string
}

/** Sends something else than the good answer. */
export type ReplaceAnswer = (wire: Wire, answer: GoodAnswer) => Promise<void> | void

export type Failure = { readonly effect: Effect } | { readonly replaceAnswer: ReplaceAnswer }

interface FailureTarget {
  /** Every request when absent. */
  readonly method?: string
  /** A part of the path. */
  readonly path?: string
  readonly times?: number
  /** `after`: the API does what it was asked, and then the failure comes. Default `before`. */
  readonly act?: 'before' | 'after'
}

export interface TestApi {
  readonly url: string
  readonly emulator: Emulator
  /** What arrived where the client sent it, as `METHOD /path`. */
  arrived(): readonly string[]
}

export async function withTestApi<T>(
  failure: Failure | undefined,
  target: FailureTarget,
  use: (testApi: TestApi) => Promise<T>,
  options: EmulatorOptions = {},
): Promise<T> {
  const emulator = await atNewPort(
    () => startEmulator(options),
    ({ url }) => new URL(url).port,
  )
  let front: RawServer | undefined
  try {
    if (failure !== undefined && 'replaceAnswer' in failure) {
      const { replaceAnswer } = failure
      front = await atNewPort(
        () => startFront(emulator, replaceAnswer, target),
        ({ port }) => String(port),
      )
    }
    if (failure !== undefined && 'effect' in failure) emulator.addFault(toFault(failure.effect, target))
    const url = front === undefined ? emulator.url : `http://127.0.0.1:${front.port}`
    const log = front?.requests ?? emulator.requests
    return await use({ url, emulator, arrived: () => log.map(({ method, path }) => `${method} ${path}`) })
  } finally {
    await front?.close()
    await emulator.close()
  }
}

const usedPorts = new Set<string>()

/** Starts a server at a port that no earlier one had: runs in this process share the known rate limit of an address. */
async function atNewPort<S extends { close(): Promise<void> }>(start: () => Promise<S>, portOf: (server: S) => string): Promise<S> {
  const server = await start()
  if (!usedPorts.has(portOf(server))) {
    usedPorts.add(portOf(server))
    return server
  }
  const other = await atNewPort(start, portOf)
  await server.close()
  return other
}

const toFault = (effect: Effect, { method, path, times = 1, act = 'before' }: FailureTarget) => ({
  match: { ...(method !== undefined && { method }), ...(path !== undefined && { path }) },
  times,
  act,
  effect,
})

function startFront(
  emulator: Emulator,
  replaceAnswer: ReplaceAnswer,
  { method, path, times = 1, act = 'before' }: FailureTarget,
): Promise<RawServer> {
  let matching = 0
  return startRawServer(async (wire, request) => {
    const isMatch = (method ?? request.method) === request.method && request.path.includes(path ?? '')
    if (isMatch) matching += 1
    const isHit = isMatch && matching <= times
    // A read changes nothing, so that it may as well be answered; a write that was not done gets what looks like success.
    const answer = isHit && act === 'before' && request.method !== 'GET' ? undone : await forward(emulator, request)
    await (isHit ? replaceAnswer(wire, answer) : wire.write(toHttp(answer)))
  })
}

const undone: GoodAnswer = { status: 200, body: '{"id":"ffffffffffffffffffffffff","name":"never stored"}' }

function forward({ url }: Emulator, { method, path, headers, body }: RawRequest): Promise<GoodAnswer> {
  const { 'accept-encoding': _, ...others } = headers
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, { method, headers: others }, (response) => {
      text(response).then((whole) => resolve({ status: response.statusCode ?? 0, body: whole }), reject)
    })
    request.on('error', reject).end(body)
  })
}

/** An answer as HTTP/1.1 has it, whole and right. */
export function toHttp({ status, body }: GoodAnswer, headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status} OK`, 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`, ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

// Runs one operation of the action against an API that fails in a chosen way, and returns the outcome.

type Inputs = Readonly<Record<string, string>>

const dashboard = '{ name: Meet, tiles: [{ name: Notes, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: Call Ada } }] }'

/** What is read, created, changed and deleted, and the request that does it. */
const actions = {
  read: { method: 'GET', inputs: { operation: 'list-sources' } },
  'read a cost': { method: 'GET', inputs: { operation: 'usage-cost', period: 'today', budget: '100000' } },
  'read a backup': { method: 'GET', inputs: { operation: 'get-backup' } },
  create: {
    method: 'POST',
    inputs: {
      operation: 'create-alert',
      alert: JSON.stringify({
        name: 'Meet',
        dashboard: ids.dashboard,
        tile: ids.tile,
        threshold: 5,
        interval: '1h',
        channel: { type: 'webhook', webhookId: ids.webhook },
      }),
    },
  },
  'create a dashboard': { method: 'POST', inputs: { operation: 'create-dashboard', dashboard } },
  update: { method: 'PUT', inputs: { operation: 'update-alert', id: ids.alert, alert: '{ threshold: 4711 }' } },
  'update a dashboard': { method: 'PUT', inputs: { operation: 'update-dashboard', id: ids.dashboard, dashboard } },
  delete: { method: 'DELETE', inputs: { operation: 'delete-alert', id: ids.alert } },
} as const satisfies Readonly<Record<string, { readonly method: string; readonly inputs: Inputs }>>

export type TestAction = keyof typeof actions

/** See `runAsAction` for the process of a run. */
export interface FailureRunOptions extends FailureTarget, Omit<ActionOptions, 'inputs' | 'onStart'> {
  readonly inputs?: Inputs
  /** What `Math.random` gives in this process, default 0. */
  readonly luck?: number
  readonly api?: EmulatorOptions
  /** Where the request goes instead of the testApi. */
  readonly url?: string
  /** Changes what the API has before the run. */
  readonly prepare?: (testApi: TestApi) => void
  /** Called with the process, for signals. */
  readonly onStart?: (child: Parameters<NonNullable<ActionOptions['onStart']>>[0], testApi: TestApi) => void
  /** How long the API goes on after the run before it is looked at. */
  readonly settleMs?: number
}

interface Outcome {
  readonly exitCode: number | null
  /** `pass` and its like; for an error its kind. */
  readonly conclusion: string
  /** Methods of the requests that arrived. */
  readonly methods: string
  /** How many alerts and dashboards there are more than before. */
  readonly added: number
  /** What is wrong with how it ended, whatever came of it. */
  readonly problems: readonly string[]
}

/** The failure meets the request that does it, unless `method` says which. Returns the essence, and the rest beside it. */
export async function runWithFailure(
  action: TestAction,
  failure: Failure | undefined,
  options: FailureRunOptions = {},
): Promise<{ outcome: Outcome; ran: RanAction; testApi: TestApi }> {
  const { method, path, times, act, api, inputs, url, prepare, settleMs = 0, onStart, ...running } = options
  const { method: itsMethod, inputs: itsInputs } = actions[action]
  const target = { method: method ?? itsMethod, ...(path && { path }), ...(times && { times }), ...(act && { act }) }
  return withTestApi(
    failure,
    target,
    async (testApi) => {
      prepare?.(testApi)
      const before = countThings(testApi)
      const ran = await runAsAction({
        ...running,
        ...(onStart !== undefined && { onStart: (child) => onStart(child, testApi) }),
        inputs: { ...connection, ...itsInputs, 'api-url': url ?? testApi.url, ...inputs },
      })
      await wait(settleMs)
      const methods = testApi.arrived().map((line) => line.split(' ')[0])
      const outcome = {
        exitCode: ran.exitCode,
        conclusion: conclusionOf(ran),
        methods: methods.join(' '),
        added: countThings(testApi) - before,
        problems: problemsWithRun(ran),
      }
      return { outcome, ran, testApi }
    },
    api,
  )
}

const connection = {
  'api-key-id': demo.apiKeyId,
  'api-key-secret': demo.apiKeySecret,
  'organization-id': demo.organizationId,
  'service-id': demo.services.checkout,
}

function countThings(testApi: TestApi): number {
  const { alerts, dashboards } = serviceOf(testApi.emulator)
  return alerts.length + dashboards.length
}

function conclusionOf({ outputs, result }: RanAction): string {
  const error = result?.error as { readonly kind: string } | undefined
  return error?.kind ?? outputs.get('status') ?? 'nothing'
}
