import * as z from 'zod/v3'
import type { Connection, JsonObject } from '../store.ts'
import {
  deleted,
  listAll,
  nowOf,
  ok,
  type ProductRequest,
  type ProductResponse,
  plainNotFound,
  removeById,
  requireById,
  validate,
} from './request.ts'

const prefix = z.string().regex(/^[a-z0-9_]+$/i)

const fields = {
  name: z.string(),
  host: z.string(),
  username: z.string(),
  password: z.string().optional(),
}

const createBody = z.object({
  ...fields,
  hyperdxSettingPrefix: prefix.optional().nullable(),
  isPrometheusEndpoint: z.boolean().optional(),
})

/** An empty prefix clears the stored one. */
const updateBody = z.object({
  ...fields,
  hyperdxSettingPrefix: prefix.or(z.literal('')).optional().nullable(),
  isPrometheusEndpoint: z.boolean().optional(),
})

export const listConnections = (request: ProductRequest): ProductResponse =>
  listAll(request, request.service.connections.map(toConnectionView))

export function getConnection(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  return ok(toConnectionView(requireConnection(request)))
}

export function createConnection(request: ProductRequest): ProductResponse {
  const { hyperdxSettingPrefix, ...body } = validate(request, { body: createBody })
  const at = nowOf(request)
  const connection: Connection = {
    id: request.ids.objectId(),
    ...body,
    ...(hyperdxSettingPrefix && { hyperdxSettingPrefix }),
    createdAt: at,
    updatedAt: at,
  }
  request.service.connections.push(connection)
  return ok(toConnectionView(connection))
}

/** The password is kept when the body has none. */
export function updateConnection(request: ProductRequest): ProductResponse {
  const { hyperdxSettingPrefix, password, ...body } = validate(request, { body: updateBody, hasId: true })
  const connection = requireConnection(request)
  Object.assign(connection, body, { updatedAt: nowOf(request) }, password && { password })
  if (hyperdxSettingPrefix) connection.hyperdxSettingPrefix = hyperdxSettingPrefix
  else if (hyperdxSettingPrefix !== undefined) Reflect.deleteProperty(connection, 'hyperdxSettingPrefix')
  return ok(toConnectionView(connection))
}

/** Deletes a connection even when sources use it. */
export function deleteConnection(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  if (removeById(request.service.connections, request.id) === undefined) throw plainNotFound()
  return deleted
}

const requireConnection = ({ service, id }: ProductRequest): Connection => requireById(service.connections, id, plainNotFound)

const toConnectionView = ({ password: _, ...shown }: Connection): JsonObject => ({ ...shown })
