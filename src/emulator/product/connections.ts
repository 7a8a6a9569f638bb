import * as z from 'zod/v3'
import type { Connection, JsonObject } from '../store.ts'
import { nowOf, plainNotFound, validate } from './request.ts'
import { routesOf } from './resource.ts'

const prefix = z.string().regex(/^[a-z0-9_]+$/i)

const connectionFields = {
  name: z.string(),
  host: z.string(),
  username: z.string(),
  password: z.string().optional(),
}

const newConnection = z.object({
  ...connectionFields,
  hyperdxSettingPrefix: prefix.optional().nullable(),
  isPrometheusEndpoint: z.boolean().optional(),
})

/** An empty prefix clears the stored one. */
const changedConnection = z.object({
  ...connectionFields,
  hyperdxSettingPrefix: prefix.or(z.literal('')).optional().nullable(),
  isPrometheusEndpoint: z.boolean().optional(),
})

/** An update keeps the password when the body has none. A delete succeeds also when sources use the connection. */
export const connections = routesOf<Connection>({
  name: 'connections',
  itemsOf: (service) => service.connections,
  toView: toConnectionView,
  list: (items) => items.map(toConnectionView),
  missing: plainNotFound,
  create(request) {
    const { hyperdxSettingPrefix, ...body } = validate(request, { body: newConnection })
    const at = nowOf(request)
    return { id: request.ids.objectId(), ...body, ...(hyperdxSettingPrefix && { hyperdxSettingPrefix }), createdAt: at, updatedAt: at }
  },
  update(request, find) {
    const { hyperdxSettingPrefix: prefix, password, ...body } = validate(request, { body: changedConnection, hasId: true })
    const { hyperdxSettingPrefix, ...kept } = find()
    const shown = prefix === undefined ? hyperdxSettingPrefix : prefix
    return {
      ...kept,
      ...body,
      ...(password && { password }),
      ...(shown && { hyperdxSettingPrefix: shown }),
      updatedAt: nowOf(request),
    }
  },
})

function toConnectionView({ password: _, ...shown }: Connection): JsonObject {
  return shown
}
