// Owns finding every credential in what was given, before anything of it was checked: none may be shown, not even in a complaint.
import { proxySecrets, readProxySettings } from '../api/proxy.ts'
import { toEnvironmentName } from '../kernel/names.ts'
import { basicPair, shortestSecret } from '../kernel/secrets.ts'
import type { Environment, Values } from './setting-sources.ts'

/** The key secret, what HTTP Basic makes of it, GitHub's token, and the password of a proxy, wherever they were given. */
export function credentialsIn(inputs: Values, env: Environment): readonly string[] {
  const keyId = given(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID)
  const keySecret = given(inputs.apiKeySecret, env.WATCHKEEPER_API_KEY_SECRET)
  const pair = keyId && keySecret ? [basicPair(keyId, keySecret)] : []
  const tokens = [
    given(inputs.githubToken, env.WATCHKEEPER_GITHUB_TOKEN),
    given(undefined, env.GITHUB_TOKEN),
    given(undefined, env.GH_TOKEN),
  ]
  return [keySecret, ...pair, ...tokens, ...proxySecrets(readProxySettings(env).settings)].filter(
    (secret) => secret !== undefined && secret.length >= shortestSecret,
  ) as string[]
}

/** The key's id is half of a credential: the log does not need it. Messages name the key by its first and last letters. */
export function keyIdIn(inputs: Values, env: Environment): readonly string[] {
  const keyId = given(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID)
  return keyId !== undefined && keyId.length >= shortestSecret ? [keyId] : []
}

/** A newline at the end of a secret makes another credential of it: whoever stored it should know. */
export const spacedCredentials = (env: Environment): readonly string[] =>
  ['api-key-id', 'api-key-secret'].filter((name) =>
    [`INPUT_${name.toUpperCase()}`, toEnvironmentName(name)].some((variable) => env[variable]?.trim() !== env[variable]),
  )

const given = (input: unknown, variable: string | undefined): string | undefined =>
  (typeof input === 'string' ? input : variable)?.trim() || undefined
