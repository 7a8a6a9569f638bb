// Owns the control of a running emulator over its own port: `/_emulator/…`, without a key, and never in the log.
import { z } from 'zod'
import { type Answer, toError, toJson } from './answer.ts'
import { demo } from './demo.ts'
import type { FaultQueue } from './fault-queue.ts'
import { faultSchema } from './faults.ts'
import { type Incoming, objectOf, pathnameOf } from './incoming.ts'
import { demand } from './problems.ts'
import { notFound, Refusal } from './refusal.ts'
import type { RequestLog } from './request-log.ts'
import type { World } from './world.ts'

export interface Control {
  readonly world: World
  readonly log: RequestLog
  readonly faults: FaultQueue
  readonly reset: () => void
}

const root = '/_emulator'

export const isControl = (path: string): boolean => pathnameOf(path) === root || path.startsWith(`${root}/`)

export function answerControl(control: Control, incoming: Incoming): Answer {
  const { world } = control
  try {
    return toJson(200, handle(control, incoming))
  } catch (thrown) {
    if (thrown instanceof Refusal) return toError(world.ids, thrown)
    throw thrown
  }
}

const clockBody = z.strictObject({ offsetMs: z.number() })

function handle({ world, log, faults, reset }: Control, incoming: Incoming): unknown {
  const what = `${incoming.method} ${pathnameOf(incoming.path).replace(/\/$/, '')}`
  switch (what) {
    case `GET ${root}`:
      return describe(world)
    case `GET ${root}/requests`:
      return log.requests
    case `GET ${root}/store`:
      return world.store
    case `POST ${root}/faults`:
      faults.add(demand(faultSchema, objectOf(incoming)))
      return { faults: faults.size }
    case `DELETE ${root}/faults`:
      faults.clear()
      return { faults: 0 }
    case `POST ${root}/reset`:
      reset()
      return { reset: true }
    case `POST ${root}/clock`:
      world.clock.setOffset(demand(clockBody, objectOf(incoming)).offsetMs)
      return { now: new Date(world.clock.now()).toISOString() }
    default:
      throw notFound(`the emulator's control has no ${what}`)
  }
}

/** What a person or a script needs to begin: dialect, credentials, and the ids of everything by name. */
function describe({ settings, store, clock }: World): unknown {
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
