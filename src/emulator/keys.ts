// Owns who asks: the key behind HTTP Basic credentials, and what a key may do.
import { Refusal } from './refusal.ts'
import type { ApiKey, Permission, Store } from './store.ts'

export type Credentials = 'valid' | 'absent' | 'wrong'

export interface Identity {
  readonly credentials: Credentials
  /** The key id as it was sent: each has its own rate limit, known or not. */
  readonly keyId: string
  readonly key?: ApiKey
}

export function identify(store: Store, authorization: string | undefined, nowMs: number): Identity {
  if (authorization === undefined) return { credentials: 'absent', keyId: '' }
  const pair = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  const text = pair === undefined ? '' : Buffer.from(pair, 'base64').toString()
  const colon = text.indexOf(':')
  const keyId = colon === -1 ? '' : text.slice(0, colon)
  const key = store.keys.find(({ id, secret }) => id === keyId && secret === text.slice(colon + 1))
  if (colon === -1 || key === undefined || !isUsable(key, nowMs)) return { credentials: 'wrong', keyId }
  return { credentials: 'valid', keyId, key }
}

const isUsable = (key: ApiKey, nowMs: number): boolean =>
  key.state === 'enabled' && (key.expireAt === null || Date.parse(key.expireAt) > nowMs)

// The shape of a 401 is documented nowhere; it is taken to be that of every other error.
export function demandKey({ key, credentials }: Identity): ApiKey {
  if (key !== undefined) return key
  const reason =
    credentials === 'absent' ? 'credentials are missing' : 'the API key is unknown, disabled or expired, or its secret is wrong'
  throw new Refusal(401, 'UNAUTHORIZED', reason)
}

export function demandPermission(key: ApiKey, permission: Permission): void {
  if (key.permissions.includes(permission)) return
  throw new Refusal(403, 'FORBIDDEN', `the API key is missing permission ${permission}`)
}
