/** A path whose variable parts were checked: only ids can be put into one, so that no value can leave its segment. */
export type ApiPath = string & { readonly __path: unique symbol }

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

// RFC 3986's unreserved characters: none of them has a meaning in a path, and none is ever encoded.
const unreserved = /^[A-Za-z0-9._~-]{1,128}$/

/** Any 8-4-4-4-12 lower-case hex: servers hand out ids that are no RFC 9562 variant. */
export const isUuid = (text: string): boolean => uuid.test(text)

/** What may stand in a path as an id. The API calls ids of dashboards and alerts opaque; a dot segment would leave its place. */
export const isResourceId = (text: string): boolean => unreserved.test(text) && text !== '.' && text !== '..'

/** Builds a path from literals and ids. Throws when a value is no id: encoding alone would let `..` through. */
export function path(literals: TemplateStringsArray, ...ids: readonly string[]): ApiPath {
  for (const id of ids) if (!isResourceId(id)) throw new TypeError(`"${id.slice(0, 80)}" is not an id`)
  return String.raw({ raw: literals }, ...ids) as ApiPath
}

const segment = /^[a-z0-9][a-z0-9-]{0,62}$/

/** A configured path segment such as `observability`: one lower-case word, so neither a slash nor a dot segment. */
export const isSegment = (text: string): boolean => segment.test(text)

export function under(base: ApiPath, name: string, rest: ApiPath = '' as ApiPath): ApiPath {
  if (!isSegment(name)) throw new TypeError(`"${name.slice(0, 80)}" is not a path segment`)
  return `${base}/${name}${rest}` as ApiPath
}

export interface Service {
  readonly organizationId: string
  readonly serviceId: string
}

export const servicePath = ({ organizationId, serviceId }: Service): ApiPath =>
  path`/v1/organizations/${organizationId}/services/${serviceId}`
