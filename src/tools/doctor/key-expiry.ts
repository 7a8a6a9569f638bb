import * as z from 'zod'
import type { ReadApi } from '../../platform/api/client.ts'
import { path } from '../../platform/api/path.ts'
import { readList, readOne } from '../../platform/api/wire.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { toFailure } from '../../platform/core/errors.ts'

/** When the key expires. `never` for a key without an end. */
type KeyExpiry = 'never' | { readonly expiresMs: number }

/** A key that expires sooner is a warning. */
export const warnWithinMs = 30 * dayMs

// The document: "If not present, `null` or is empty the key never expires."
const expiry = z
  .string()
  .nullish()
  .transform((text, context): KeyExpiry => {
    if (text === undefined || text === null || text === '') return 'never'
    const expiresMs = Date.parse(text)
    if (!Number.isNaN(expiresMs)) return { expiresMs }
    context.addIssue({ code: 'custom', message: 'is not a date and time' })
    return z.NEVER
  })

/**
 * When the key of the run expires: by `whoami` where the API has it, otherwise by the only key of the organization with the same last four
 * characters of the id. Undefined where the key is not allowed to read that, or where it is not clear which key it is. Sends one request, or two.
 */
export async function findKeyExpiry(api: ReadApi, organizationId: string): Promise<KeyExpiry | undefined> {
  const own = await readOrNothing(() =>
    api.read({
      request: { method: 'GET', path: path`/v1/whoami` },
      read: readOne(z.looseObject({ expireAt: expiry.optional() })),
      about: { noun: 'key' },
      rules: { isOptional: true },
    }),
  )
  if (own !== undefined && 'expireAt' in own && own.expireAt !== undefined) return own.expireAt
  const { keySuffix } = api
  if (keySuffix === undefined) return undefined
  const keys = await readOrNothing(() =>
    api.read({
      request: { method: 'GET', path: path`/v1/organizations/${organizationId}/keys` },
      read: readList(z.looseObject({ keySuffix: z.string().nullish(), expireAt: expiry })),
      about: { noun: 'organization', permission: 'keys' },
      rules: { isOptional: true },
    }),
  )
  const [key, ...others] = keys?.items.filter((one) => one.keySuffix === keySuffix) ?? []
  return key === undefined || others.length > 0 ? undefined : key.expireAt
}

/** The check is an extra: that it is not possible is not a failure of the connection. */
async function readOrNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (thrown) {
    toFailure(thrown)
    return undefined
  }
}
