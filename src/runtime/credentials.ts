import { InputError, InternalError, toWatchkeeperError, type WatchkeeperError } from '../platform/core/errors.ts'
import { secretPrefix, toEnvironmentName, toKebab } from '../platform/core/names.ts'
import { basicPair, createRedact, minSecretLength, type Redact, redactDeep } from '../platform/core/secrets.ts'
import type { Variables } from '../platform/core/variables.ts'
import { metaOf } from '../platform/documents/schema.ts'
import { proxySecrets, readProxySettings } from '../platform/http/proxy.ts'
import { webhookSecrets } from '../platform/http/webhook-url.ts'
import { settingsSchema } from '../platform/operation/inputs.ts'
import type { Values } from './decode.ts'

/**
 * Every secret in the given values, before any check: keys, their form in HTTP Basic, tokens, passwords of proxies, and paths and queries
 * of webhooks. Includes values that another source overrides.
 */
export function credentialsIn(inputs: Values, env: Variables): readonly string[] {
  const keyIds = givenTexts(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID)
  const keySecrets = givenTexts(inputs.apiKeySecret, env.WATCHKEEPER_API_KEY_SECRET)
  const accessKeys = givenTexts(inputs.apiKey, env.WATCHKEEPER_API_KEY)
  const sqlKeyIds = givenTexts(inputs.sqlKeyId, env.WATCHKEEPER_SQL_KEY_ID)
  const sqlKeySecrets = givenTexts(inputs.sqlKeySecret, env.WATCHKEEPER_SQL_KEY_SECRET)
  const pairs = [...pairsOf(keyIds, keySecrets), ...pairsOf(sqlKeyIds, sqlKeySecrets)]
  const tokens = givenTexts(inputs.githubToken, env.WATCHKEEPER_GITHUB_TOKEN, env.GITHUB_TOKEN, env.GH_TOKEN)
  const webhooks = [...webhookUrlsIn(inputs, env), ...secretsOfWebhooks(env)].flatMap(webhookSecrets)
  const all = [
    ...keySecrets,
    ...sqlKeySecrets,
    ...pairs,
    ...accessKeys,
    ...tokens,
    ...webhooks,
    ...proxySecrets(readProxySettings(env).settings),
  ]
  return all.filter((secret) => secret.length >= minSecretLength)
}

const pairsOf = (keyIds: readonly string[], secrets: readonly string[]) =>
  keyIds.flatMap((keyId) => secrets.map((secret) => basicPair(keyId, secret)))

/** Values that the log masks, and of which messages show a part: key ids are half of a credential, and the host of a webhook is public. */
export const partlyShownIn = (inputs: Values, env: Variables): readonly string[] =>
  [
    ...givenTexts(inputs.apiKeyId, env.WATCHKEEPER_API_KEY_ID, inputs.sqlKeyId, env.WATCHKEEPER_SQL_KEY_ID),
    ...webhookUrlsIn(inputs, env),
    ...secretsOfWebhooks(env),
  ].filter((text) => text.length >= minSecretLength)

/** Secrets that files name with `urlFrom`, `headersFrom` and `queryParamsFrom`. */
const secretsOfWebhooks = (env: Variables) =>
  givenTexts(...Object.entries(env).map(([name, value]) => (name.startsWith(secretPrefix) ? value : undefined)))

const webhookUrlsIn = (inputs: Values, env: Variables) => givenTexts(inputs.notifyUrl, env.WATCHKEEPER_NOTIFY_URL)

/** White space around a credential, such as a newline at the end of a stored secret. */
export const paddedCredentials = (env: Variables): readonly string[] =>
  credentialNames.filter((name) =>
    [`INPUT_${name.toUpperCase()}`, toEnvironmentName(name)].some((variable) => env[variable]?.trim() !== env[variable]),
  )

/** Includes the key ids, which are half of a credential. */
export const credentialNames: readonly string[] = Object.entries(settingsSchema.shape)
  .filter(([name, schema]) => metaOf(schema).secret || name.endsWith('KeyId'))
  .map(([name]) => toKebab(name))

const givenTexts = (...values: readonly unknown[]) =>
  values.flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value.trim()] : []))

export function redactError(error: WatchkeeperError, redact: Redact): WatchkeeperError {
  if (error instanceof InputError) {
    const diagnostics = redactDeep(error.diagnostics, redact)
    return diagnostics === error.diagnostics ? error : new InputError(diagnostics)
  }
  const safe = redact(error.message)
  if (safe !== error.message) error.message = safe
  return error
}

/** An exception can quote any value of the run. It is shown without secrets, and where they cannot be found, without its text. */
export function toSafeError(thrown: unknown, listSecrets: () => readonly string[]): WatchkeeperError {
  try {
    return redactError(toWatchkeeperError(thrown), createRedact(listSecrets()))
  } catch {
    return new InternalError('its description is not shown, because it could not be searched for secrets')
  }
}
