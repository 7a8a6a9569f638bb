/** Only checked ids can be inserted, so that no value can leave its segment. */
export type ApiPath = string & { readonly __path: unique symbol }

/** Servers also use ids that RFC 9562 does not allow. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)

/**
 * The API documents ids of dashboards and alerts as opaque. RFC 3986's unreserved characters have no meaning in a path, and are never
 * encoded. A dot segment would change the path.
 */
export const isResourceId = (text: string): boolean => /^[A-Za-z0-9._~-]{1,128}$/.test(text) && text !== '.' && text !== '..'

/** Throws when a value is not an id. Encoding is not enough, because it keeps `..`. */
export function path(literals: TemplateStringsArray, ...ids: readonly string[]): ApiPath {
  for (const id of ids) if (!isResourceId(id)) throw new TypeError(`"${id.slice(0, 80)}" is not an id`)
  return String.raw({ raw: literals }, ...ids) as ApiPath // The ids were checked.
}

/** Accepts one lower-case word without slashes and dots. */
export const isSegment = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text)

export const root: ApiPath = path``

/** Throws when `name` is not a segment. */
export function under(base: ApiPath, name: string): ApiPath {
  if (!isSegment(name)) throw new TypeError(`"${name.slice(0, 80)}" is not a path segment`)
  return `${base}/${name}` as ApiPath // Its parts were checked.
}

/** Leaves out the organization, and most digits of ids. */
export const shortPath = (path: string): string =>
  path
    .replace(/\/v1\/organizations\/[^/?]+(?=\/)/, '…')
    .replace(/\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '$1…')

/** The ids are UUIDs in lower case. */
export interface Service {
  readonly organizationId: string
  readonly serviceId: string
}

/** It has no organizations and services, but the alerts and dashboards of one team. */
export interface Server {
  readonly serverUrl: string
}

export type Target = Service | Server

export const isServer = (target: Target): target is Server => 'serverUrl' in target

export const servicePath = ({ organizationId, serviceId }: Service): ApiPath =>
  path`/v1/organizations/${organizationId}/services/${serviceId}`
