// Owns finding every credential in what was given, before anything of it was checked: none may be shown, not even in a complaint.
import { proxySecrets, readProxySettings } from '../api/proxy.ts'
import { toEnvironmentName } from '../kernel/names.ts'
import { basicPair, shortestSecret } from '../kernel/secrets.ts'
import type { Environment, Values } from './setting-sources.ts'

/** The key secret, what HTTP Basic makes of it, GitHub's token, and the password of a proxy, wherever they were given. */
export function credentialsIn(inputs: Values, env: Environment): readonly string[] {
  // What does not count, because something else wins over it, is a secret all the same.
  const keyIds = given(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID)
  const keySecrets = given(inputs.apiKeySecret, env.WATCHKEEPER_API_KEY_SECRET)
  const pairs = keyIds.flatMap((keyId) => keySecrets.map((keySecret) => basicPair(keyId, keySecret)))
  const tokens = given(inputs.githubToken, env.WATCHKEEPER_GITHUB_TOKEN, env.GITHUB_TOKEN, env.GH_TOKEN)
  const all = [...keySecrets, ...pairs, ...tokens, ...proxySecrets(readProxySettings(env).settings)]
  return all.filter((secret) => secret.length >= shortestSecret)
}

/** The key's id is half of a credential: the log does not need it. Messages name the key by its first and last letters. */
export const keyIdsIn = (inputs: Values, env: Environment): readonly string[] =>
  given(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID).filter((keyId) => keyId.length >= shortestSecret)

/** A newline at the end of a secret makes another credential of it: whoever stored it should know. */
export const spacedCredentials = (env: Environment): readonly string[] =>
  ['api-key-id', 'api-key-secret'].filter((name) =>
    [`INPUT_${name.toUpperCase()}`, toEnvironmentName(name)].some((variable) => env[variable]?.trim() !== env[variable]),
  )

const given = (...values: readonly unknown[]): readonly string[] =>
  values.flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value.trim()] : []))
