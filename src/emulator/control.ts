import * as z from 'zod'
import { type Answer, toJson } from './answer.ts'
import type { EmulatorContext } from './context.ts'
import { demo } from './demo.ts'
import type { FaultQueue } from './fault-queue.ts'
import { faultSchema } from './faults.ts'
import { type Incoming, isJsonType, pathnameOf } from './incoming.ts'
import { parseOrUndefined } from './json.ts'
import type { RequestLog } from './request-log.ts'
import { saveInWebApp } from './web-app.ts'

/** What can be controlled over the emulator's own port: `/_emulator/…`, without a key, and never in the log. */
export interface Control {
  readonly context: EmulatorContext
  readonly log: RequestLog
  readonly faults: FaultQueue
  readonly reset: () => void
}

const root = '/_emulator'

export const isControl = (path: string): boolean => pathnameOf(path) === root || path.startsWith(`${root}/`)

class ControlError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export function answerControl(control: Control, incoming: Incoming): Answer {
  const name = `${incoming.method} ${pathnameOf(incoming.path).replace(/\/$/, '')}`
  try {
    const handle = handlers[name]
    if (handle === undefined) throw new ControlError(404, `NOT_FOUND: the emulator's control has no ${name}`)
    return toJson(200, handle(control, incoming))
  } catch (thrown) {
    if (!(thrown instanceof ControlError)) throw thrown
    return toJson(thrown.status, { status: thrown.status, error: thrown.message })
  }
}

const handlers: Readonly<Record<string, (control: Control, incoming: Incoming) => unknown>> = {
  [`GET ${root}`]: ({ context }) => describe(context),
  [`GET ${root}/requests`]: ({ log }) => log.requests,
  [`GET ${root}/store`]: ({ context }) => context.store,
  [`POST ${root}/store/dashboards`]: ({ context }, incoming) => saveInWebApp(context, readBody(webAppDashboard, incoming)),
  [`POST ${root}/faults`]: ({ faults }, incoming) => {
    faults.add(readBody(faultSchema, incoming))
    return { faults: faults.size }
  },
  [`DELETE ${root}/faults`]: ({ faults }) => {
    faults.clear()
    return { faults: 0 }
  },
  [`POST ${root}/reset`]: ({ reset }) => {
    reset()
    return { reset: true }
  },
  [`POST ${root}/clock`]: ({ context: { clock } }, incoming) => {
    clock.setOffset(readBody(clockOffset, incoming).offsetMs)
    return { now: new Date(clock.now()).toISOString() }
  },
  [`POST ${root}/unknown-defaults`]: ({ context }, incoming) => {
    context.unknownDefaults = readBody(unknownDefaults, incoming).seed
    return { unknownDefaults: context.unknownDefaults }
  },
  [`DELETE ${root}/unknown-defaults`]: ({ context }) => {
    context.unknownDefaults = undefined
    return { unknownDefaults: null }
  },
}

const clockOffset = z.strictObject({ offsetMs: z.number() })
const unknownDefaults = z.strictObject({ seed: z.int() })
const webAppDashboard = z.looseObject({ name: z.string(), tiles: z.array(z.looseObject({ config: z.looseObject({}) })) })

function readBody<S extends z.ZodType>(schema: S, incoming: Incoming): z.output<S> {
  if (!isJsonType(incoming)) throw new ControlError(400, 'BAD_REQUEST: request body must be sent as application/json')
  const value = parseOrUndefined(incoming.text)
  if (value === undefined) throw new ControlError(400, 'BAD_REQUEST: request body is not valid JSON')
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new ControlError(400, `BAD_REQUEST: ${z.prettifyError(parsed.error)}`)
}

/** What a person or a script needs to begin: dialect, credentials, and the ids of everything by name. */
function describe({ settings, store, clock }: EmulatorContext): unknown {
  const { dialect, segment, unit } = settings
  return {
    dialect,
    segment,
    unit,
    now: new Date(clock.now()).toISOString(),
    demo,
    organizations: store.organizations.map(({ id, name, services }) => ({
      id,
      name,
      services: services.map((service) => ({
        id: service.id,
        name: service.name,
        sources: idsByName(service.sources),
        webhooks: idsByName(service.webhooks),
        alerts: service.alerts.map(({ id, name: alertName }) => ({ id, name: alertName })),
        dashboards: service.dashboards.map((dashboard) => ({ id: dashboard.id, name: dashboard.name, tiles: idsByName(dashboard.tiles) })),
      })),
    })),
  }
}

const idsByName = (items: readonly { readonly id: string; readonly name: string }[]) => items.map(({ id, name }) => ({ id, name }))
