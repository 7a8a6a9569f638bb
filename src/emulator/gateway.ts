// Owns the way of one request through the API: route, key, permission, handler, wrapping. Knows nothing of sockets and faults.
import { type Answer, toEnvelope, toError, toNotServed, toObservability } from './answer.ts'
import { type Incoming, pathnameOf } from './incoming.ts'
import { demandKey, demandPermission, identify } from './keys.ts'
import { Refusal } from './refusal.ts'
import { findRoute, type Match, type Route, toCall } from './route.ts'
import type { World } from './world.ts'

/** Acts on the store where the request asks for it. */
export function answerRequest(world: World, routes: readonly Route[], incoming: Incoming): Answer {
  const match = findRoute(routes, incoming)
  if (match === undefined) return toNotServed(incoming.method, pathnameOf(incoming.path))
  try {
    return toAnswer(world, match.route, handle(world, match, incoming))
  } catch (thrown) {
    return toError(world.ids, thrown instanceof Refusal ? thrown : toBug(thrown))
  }
}

function handle(world: World, match: Match, incoming: Incoming): unknown {
  const key = demandKey(identify(world.store, incoming.headers.authorization, world.clock.now()))
  demandPermission(key, match.route.permission)
  const call = toCall(world, match, incoming)
  if (key.organizationId !== call.organization.id) throw new Refusal(403, 'FORBIDDEN', 'the API key belongs to another organization')
  return match.route.handle(call)
}

// A list that is too long is cut without a word: the specification declares no paging, and a server-side default of 1000 is likely.
function toAnswer({ settings, ids }: World, route: Route, result: unknown): Answer {
  const page: unknown = Array.isArray(result) ? result.slice(0, settings.pageLimit) : result
  return route.wrap === 'envelope' ? toEnvelope(ids, page) : toObservability(settings, ids, page)
}

function toBug(thrown: unknown): Refusal {
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return new Refusal(500, 'INTERNAL_ERROR', `this is a bug in the emulator, please report it: ${reason}`)
}
