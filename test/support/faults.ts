import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { demo, type Effect, type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { ids } from './emulator.ts'
import { complaintsAbout } from './outcome-oracle.ts'
import { type RawRequest, type RawServer, startRawServer, type Wire } from './raw-server.ts'
import { type ActionOptions, type RanAction, runAction } from './run-process.ts'

// One API for one case of the fault matrix: an emulator of its own and, where the fault lies below HTTP, a server of bytes before it.

/** What the API would have answered. */
export interface GoodAnswer {
  readonly status: number
  readonly body: string
}

/** Sends something else than the good answer. */
export type Spoil = (wire: Wire, answer: GoodAnswer) => Promise<void> | void

export type Trouble = { readonly effect: Effect } | { readonly spoil: Spoil }

export interface Meeting {
  /** Every request when absent. */
  readonly method?: string
  /** A part of the path. */
  readonly path?: string
  readonly times?: number
  /** `after`: the API does what it was asked, and then the trouble comes. Default `before`. */
  readonly act?: 'before' | 'after'
}

export interface Stage {
  readonly url: string
  readonly emulator: Emulator
  /** What arrived where the client sent it, as `METHOD /path`. */
  arrived(): readonly string[]
}

export async function onStage<T>(
  trouble: Trouble | undefined,
  meeting: Meeting,
  use: (stage: Stage) => Promise<T>,
  options: EmulatorOptions = {},
): Promise<T> {
  const emulator = await startEmulator(options)
  let front: RawServer | undefined
  try {
    if (trouble !== undefined && 'spoil' in trouble) front = await startFront(emulator, trouble.spoil, meeting)
    if (trouble !== undefined && 'effect' in trouble) emulator.addFault(toFault(trouble.effect, meeting))
    const url = front === undefined ? emulator.url : `http://127.0.0.1:${front.port}`
    const log = front?.requests ?? emulator.requests
    return await use({ url, emulator, arrived: () => log.map(({ method, path }) => `${method} ${path}`) })
  } finally {
    await front?.close()
    await emulator.close()
  }
}

const toFault = (effect: Effect, { method, path, times = 1, act = 'before' }: Meeting) => ({
  match: { ...(method !== undefined && { method }), ...(path !== undefined && { path }) },
  times,
  act,
  effect,
})

function startFront(emulator: Emulator, spoil: Spoil, { method, path, times = 1, act = 'before' }: Meeting): Promise<RawServer> {
  let met = 0
  return startRawServer(async (wire, request) => {
    const isMeant = (method ?? request.method) === request.method && request.path.includes(path ?? '')
    if (isMeant) met += 1
    const isHit = isMeant && met <= times
    // A read changes nothing, so that it may as well be answered; a write that was not done gets what looks like success.
    const answer = isHit && act === 'before' && request.method !== 'GET' ? undone : await forward(emulator, request)
    await (isHit ? spoil(wire, answer) : wire.write(toHttp(answer)))
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

// Runs one operation against an API that is in trouble, and tells what came of it: the bundle as a runner starts it.

type Inputs = Readonly<Record<string, string>>

const dashboard = '{ name: Meet, tiles: [{ name: Notes, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: Call Ada } }] }'

/** What is read, created, changed and deleted, and the request that does it. */
const doings = {
  read: { method: 'GET', inputs: { operation: 'list-sources' } },
  'read a cost': { method: 'GET', inputs: { operation: 'usage-cost', period: 'last-7-days', budget: '100000' } },
  'read a backup': { method: 'GET', inputs: { operation: 'get-backup', 'backup-id': 'latest' } },
  create: {
    method: 'POST',
    inputs: {
      operation: 'create-alert',
      'dashboard-id': ids.dashboard,
      'tile-id': ids.tile,
      threshold: '5',
      interval: '1h',
      'webhook-id': ids.webhook,
      name: 'Meet',
    },
  },
  'create a dashboard': { method: 'POST', inputs: { operation: 'create-dashboard', dashboard } },
  update: { method: 'PUT', inputs: { operation: 'update-alert', 'alert-id': ids.alert, threshold: '4711' } },
  'update a dashboard': { method: 'PUT', inputs: { operation: 'update-dashboard', 'dashboard-id': ids.dashboard, dashboard } },
  delete: { method: 'DELETE', inputs: { operation: 'delete-alert', 'alert-id': ids.alert } },
} as const satisfies Readonly<Record<string, { readonly method: string; readonly inputs: Inputs }>>

export type Doing = keyof typeof doings

export interface MeetOptions extends Meeting, Omit<ActionOptions, 'inputs' | 'onStart'> {
  readonly inputs?: Inputs
  readonly api?: EmulatorOptions
  /** Where the request goes instead of the stage. */
  readonly url?: string
  /** Changes what the API has before the run. */
  readonly prepare?: (stage: Stage) => void
  /** Called with the process, for signals. */
  readonly onStart?: (child: Parameters<NonNullable<ActionOptions['onStart']>>[0], stage: Stage) => void
  /** How long the API goes on after the run before it is looked at. */
  readonly settleMs?: number
}

export interface Met {
  readonly exitCode: number | null
  /** `pass` and its like; for an error its kind. */
  readonly said: string
  /** Methods of the requests that arrived. */
  readonly methods: string
  /** How many alerts and dashboards there are more than before. */
  readonly more: number
  /** What is wrong with how it ended, whatever came of it. */
  readonly complaints: readonly string[]
}

/** The trouble meets the request that does it, unless `method` says which. Returns the essence, and the rest beside it. */
export async function meet(
  doing: Doing,
  trouble: Trouble | undefined,
  options: MeetOptions = {},
): Promise<{ met: Met; ran: RanAction; stage: Stage }> {
  const { method, path, times, act, api, inputs, url, prepare, settleMs = 0, onStart, ...running } = options
  const { method: itsMethod, inputs: itsInputs } = doings[doing]
  const meeting = { method: method ?? itsMethod, ...(path && { path }), ...(times && { times }), ...(act && { act }) }
  return onStage(
    trouble,
    meeting,
    async (stage) => {
      prepare?.(stage)
      const before = countThings(stage)
      const ran = await runAction({
        preload: {},
        ...running,
        onStart: (child) => onStart?.(child, stage),
        inputs: { ...connection, ...itsInputs, 'api-url': url ?? stage.url, ...inputs },
      })
      await wait(settleMs)
      const methods = stage.arrived().map((line) => line.split(' ')[0])
      const met = {
        exitCode: ran.exitCode,
        said: saidBy(ran),
        methods: methods.join(' '),
        more: countThings(stage) - before,
        complaints: complaintsAbout(ran),
      }
      return { met, ran, stage }
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

export const serviceOf = ({ emulator }: Stage) => {
  const service = emulator.store.organizations[0]?.services[0]
  if (service === undefined) throw new Error('the shop has changed')
  return service
}

function countThings(stage: Stage): number {
  const { alerts, dashboards } = serviceOf(stage)
  return alerts.length + dashboards.length
}

function saidBy({ outputs, result }: RanAction): string {
  const error = result?.error as { readonly kind: string } | undefined
  return error?.kind ?? outputs.get('status') ?? 'nothing'
}
