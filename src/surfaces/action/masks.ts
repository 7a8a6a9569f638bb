// Owns telling the runner what to hide. It comes before every other line: what is printed first is never masked afterwards.
import { setSecret } from '@actions/core'
import { proxySecrets, readProxySettings } from '../../api/proxy.ts'
import { basicPair, formsOf, shortestSecret } from '../../kernel/secrets.ts'
import type { Environment } from '../setting-sources.ts'

type Inputs = Readonly<Record<string, string | undefined>>

/** The key secret, what HTTP Basic makes of it, and the password of a proxy, wherever they were given. */
export function credentialsIn(inputs: Inputs, env: Environment): readonly string[] {
  const keyId = inputs.apiKeyId ?? env.WATCHKEEPER_API_KEY_ID?.trim()
  const keySecret = inputs.apiKeySecret ?? env.WATCHKEEPER_API_KEY_SECRET?.trim()
  const pair = keyId && keySecret ? [basicPair(keyId, keySecret)] : []
  return [keySecret, ...pair, ...proxySecrets(readProxySettings(env).settings)].filter(
    (secret) => secret !== undefined && secret.length >= shortestSecret,
  ) as string[]
}

/** The key's id is half of a credential: the log does not need it. Messages name the key by its first and last letters. */
export function keyIdIn(inputs: Inputs, env: Environment): readonly string[] {
  const keyId = inputs.apiKeyId ?? env.WATCHKEEPER_API_KEY_ID?.trim()
  return keyId !== undefined && keyId.length >= shortestSecret ? [keyId] : []
}

/** Every form by itself: the runner replaces texts, it does not know what they encode. */
export function mask(secrets: readonly string[], keyId: readonly string[]): void {
  for (const form of new Set([...secrets.flatMap(formsOf), ...keyId])) setSecret(form)
}
