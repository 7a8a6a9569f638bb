import * as z from 'zod/v3'
import type { Connection, JsonObject } from '../store.ts'
import { plainNotFound } from './errors.ts'
import { findById, removeById } from './object-id.ts'
import { answerWhole } from './paging.ts'
import { deleted, nowOf, ok, type ProductRequest, type ProductResponse, validate } from './request.ts'

const prefix = z.string().regex(/^[a-z0-9_]+$/i)

const fields = {
  name: z.string(),
  host: z.string(),
  username: z.string(),
  password: z.string().optional(),
}

const newConnection = z.object({
  ...fields,
  hyperdxSettingPrefix: prefix.optional().nullable(),
  isPrometheusEndpoint: z.boolean().optional(),
})

/** An empty prefix clears it. */
const knownConnection = z.object({
  ...fields,
  hyperdxSettingPrefix: prefix.or(z.literal('')).optional().nullable(),
  isPrometheusEndpoint: z.boolean().optional(),
})

export const listConnections = (request: ProductRequest): ProductResponse =>
  answerWhole(request, request.service.connections.map(toConnectionView))

export function getConnection(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  return ok(toConnectionView(requireConnection(request)))
}

export function createConnection(request: ProductRequest): ProductResponse {
  const { hyperdxSettingPrefix, ...body } = validate(request, { body: newConnection })
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

/** The password is kept when none is given. */
export function updateConnection(request: ProductRequest): ProductResponse {
  const { hyperdxSettingPrefix, password, ...body } = validate(request, { body: knownConnection, hasId: true })
  const connection = requireConnection(request)
  Object.assign(connection, body, { updatedAt: nowOf(request) }, password && { password })
  if (hyperdxSettingPrefix) connection.hyperdxSettingPrefix = hyperdxSettingPrefix
  else if (hyperdxSettingPrefix !== undefined) Reflect.deleteProperty(connection, 'hyperdxSettingPrefix')
  return ok(toConnectionView(connection))
}

/** Sources that use it are not looked for. */
export function deleteConnection(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  if (removeById(request.service.connections, request.id) === undefined) throw plainNotFound()
  return deleted
}

function requireConnection({ service, id }: ProductRequest): Connection {
  const connection = findById(service.connections, id)
  if (connection === undefined) throw plainNotFound()
  return connection
}

export const toConnectionView = ({ password: _, ...shown }: Connection): JsonObject => ({ ...shown })
