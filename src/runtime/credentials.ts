import { InputError, InternalError, toWatchkeeperError, type WatchkeeperError } from '../platform/core/errors.ts'
import { secretPrefix, toEnvironmentName, toKebab } from '../platform/core/names.ts'
import { basicPair, createRedact, minSecretLength, type Redact, redactDeep } from '../platform/core/secrets.ts'
import type { Variables } from '../platform/core/variables.ts'
import { metaOf } from '../platform/documents/schema.ts'
import { proxySecrets, readProxySettings } from '../platform/http/proxy.ts'
import { webhookSecrets } from '../platform/http/webhook-url.ts'
import { type Settings, settingsSchema } from '../platform/operation/inputs.ts'
import type { Values } from './settings.ts'

/** Includes values that another source overrides, HTTP Basic, passwords of proxies, and paths and queries of webhooks. */
export function credentialsIn(inputs: Values, env: Variables): readonly string[] {
  const textsOf = givenSettings(inputs, env)
  const [keySecrets, sqlKeySecrets] = [textsOf('apiKeySecret'), textsOf('sqlKeySecret')]
  const all = [
    ...keySecrets,
    ...sqlKeySecrets,
    ...pairsOf(textsOf('apiKeyId'), keySecrets),
    ...pairsOf(textsOf('sqlKeyId'), sqlKeySecrets),
    ...textsOf('apiKey'),
    ...textsOf('githubToken'),
    ...givenTexts(env.GITHUB_TOKEN, env.GH_TOKEN),
    ...[...textsOf('notifyUrl'), ...secretsOfWebhooks(env)].flatMap(webhookSecrets),
    ...proxySecrets(readProxySettings(env).settings),
  ]
  return all.filter((secret) => secret.length >= minSecretLength)
}

const pairsOf = (keyIds: readonly string[], secrets: readonly string[]) =>
  keyIds.flatMap((keyId) => secrets.map((secret) => basicPair(keyId, secret)))

/** The log masks what messages show in part: key ids are half of a credential, and the host of a webhook is public. */
export const partlyShownIn = (inputs: Values, env: Variables): readonly string[] =>
  [...(['apiKeyId', 'sqlKeyId', 'notifyUrl'] as const).flatMap(givenSettings(inputs, env)), ...secretsOfWebhooks(env)].filter(
    (text) => text.length >= minSecretLength,
  )

/** Secrets that files name with `urlFrom`, `headersFrom` and `queryParamsFrom`. */
const secretsOfWebhooks = (env: Variables) =>
  givenTexts(...Object.entries(env).map(([name, value]) => (name.startsWith(secretPrefix) ? value : undefined)))

const givenSettings =
  (inputs: Values, env: Variables) =>
  (name: keyof Settings): readonly string[] =>
    givenTexts(inputs[name], env[toEnvironmentName(toKebab(name))])

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

/** An exception can quote any value of the run. Where secrets cannot be found, its text is not shown. */
export function toSafeError(thrown: unknown, listSecrets: () => readonly string[]): WatchkeeperError {
  try {
    return redactError(toWatchkeeperError(thrown), createRedact(listSecrets()))
  } catch {
    return new InternalError('its description is not shown, because it could not be searched for secrets')
  }
}
