// Owns what a route is, how a request finds its route, and what a handler gets to work with.
import { isObjectId } from './ids.ts'
import { type Incoming, objectOf, pathnameOf, queryOf } from './incoming.ts'
import { badRequest, notFound } from './refusal.ts'
import type { JsonObject, Organization, Permission, Service } from './store.ts'
import type { World } from './world.ts'

export interface Call {
  readonly world: World
  readonly organization: Organization
  readonly query: URLSearchParams
  param(name: string): string
  /** Throws a 400 unless the body is a JSON object. */
  body(): JsonObject
}

export interface ServiceCall extends Call {
  readonly service: Service
}

export interface Route {
  readonly method: string
  readonly pattern: URLPattern
  readonly permission: Permission
  readonly wrap: 'envelope' | 'observability'
  /** The result; undefined where the answer has none. */
  handle(call: Call): unknown
}

export interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string | undefined>>
}

export function findRoute(routes: readonly Route[], { method, path }: Incoming): Match | undefined {
  const pathname = pathnameOf(path)
  if (isRewritten(pathname)) return undefined
  for (const route of routes) {
    if (route.method !== method) continue
    const match = route.pattern.exec({ pathname })
    if (match !== null) return { route, params: match.pathname.groups }
  }
  return undefined
}

// URLPattern resolves dot segments as a browser does. The API's server does not: such a path must not reach a handler.
const isRewritten = (pathname: string): boolean => !pathname.startsWith('/') || /(^|\/)(\.|%2e){1,2}(\/|$)|\\/i.test(pathname)

export function toCall(world: World, match: Match, incoming: Incoming): Call {
  const param = (name: string): string => match.params[name] ?? ''
  return {
    world,
    organization: demandOrganization(world, param('organizationId')),
    query: queryOf(incoming.path),
    param,
    body: () => objectOf(incoming),
  }
}

function demandOrganization(world: World, id: string): Organization {
  const organization = world.store.organizations.find((one) => one.id === id)
  if (organization === undefined) throw notFound(`organization ${id} does not exist`)
  return organization
}

/** For routes below `/services/{serviceId}`. */
export function withService(handle: (call: ServiceCall) => unknown): (call: Call) => unknown {
  return (call) => {
    const id = call.param('serviceId')
    const service = call.organization.services.find((one) => one.id === id)
    if (service === undefined) throw notFound(`service ${id} does not exist`)
    return handle({ ...call, service })
  }
}

/** The id of an observability resource: a 400 of its own when it cannot be one (HyperDX server code). */
export function objectIdOf(call: Call): string {
  const id = call.param('id')
  if (!isObjectId(id)) throw badRequest('Invalid ObjectId')
  return id
}

/** The element with the path's id, or a 404. */
export function demandById<T extends { id: string }>(items: readonly T[], id: string, noun: string): T {
  const item = items.find((one) => one.id === id)
  if (item === undefined) throw notFound(`${noun} ${id} does not exist`)
  return item
}

export function removeById<T extends { id: string }>(items: T[], id: string): void {
  const index = items.findIndex((one) => one.id === id)
  if (index !== -1) items.splice(index, 1)
}
