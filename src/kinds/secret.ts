// Values that a body holds and that nothing may show. Each class keeps its text in a private field, so that it appears in no comparison,
// digest, log or file: only `revealSecrets` writes it, into the body of a request.

import { slowDigestOfText } from '../platform/core/digest.ts'
import { isMapping, mapItems } from '../platform/core/keys.ts'
import { secretPrefix } from '../platform/core/names.ts'
import { webhookSecrets } from '../platform/http/webhook-url.ts'
import { canonicalText } from './marker.ts'

type Body = Readonly<Record<string, unknown>>

/** The form of a variable with a secret. No other variable of the process can be sent to a service. */
export const secretVariable = new RegExp(`^${secretPrefix}[A-Z0-9_]{1,100}$`)

/** Reads a variable of the process; undefined when it is not set. */
export type ReadSecret = (variable: string) => string | undefined

export class SecretValue {
  readonly #variable: string
  readonly #text: string | undefined

  constructor(variable: string, text: string | undefined) {
    this.#variable = variable
    this.#text = text
  }

  get variable(): string {
    return this.#variable
  }

  get isSet(): boolean {
    return this.#text !== undefined
  }

  reveal(): string {
    if (this.#text === undefined) throw new TypeError(`the variable ${this.#variable} was checked before`)
    return this.#text
  }

  /** Names the variable in comparisons, reports and digests. */
  toJSON(): string {
    return `value of ${this.#variable}`
  }
}

/** A secret that the service answers. It can be compared and sent back. */
export class StoredSecret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  equals(text: string): boolean {
    return this.#text === text
  }

  reveal(): string {
    return this.#text
  }

  toJSON(): string {
    return 'stored value'
  }
}

/** A value that the service never answers. Its digest in the marker shows whether it is the one that was sent last. */
export class HiddenValue {
  readonly salt: string
  readonly digest: string

  constructor(salt: string, digest: string) {
    this.salt = salt
    this.digest = digest
  }

  equals(value: unknown): boolean {
    if (value instanceof HiddenValue) return value.salt === this.salt && value.digest === this.digest
    return digestOfSecret(plainText(value), this.salt) === this.digest
  }

  toJSON(): string {
    return 'hidden value'
  }
}

/** Digests take time on purpose, and the same ones are needed several times in a run. */
const digests = new Map<string, string>()

/**
 * 10 hex digits of scrypt: enough to notice another value, and too few to confirm a guess: of 2^40 guesses, one is right by chance.
 */
export function digestOfSecret(text: string, salt: string): string {
  const digest = digests.get(`${salt} ${text}`) ?? slowDigestOfText(text, salt, 10)
  digests.set(`${salt} ${text}`, digest)
  return digest
}

/** The text of a value with its secrets, in which the order of fields does not count. */
export const plainText = (value: unknown): string => canonicalText(revealSecrets(value))

export function secretsIn(value: unknown): readonly SecretValue[] {
  if (value instanceof SecretValue) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : []
}

/** The texts of the secrets in a value, at any depth. The origin of a URL is none. */
export function secretTextsIn(value: unknown): readonly string[] {
  if (value instanceof StoredSecret || (value instanceof SecretValue && value.isSet)) return webhookSecrets(value.reveal())
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretTextsIn) : []
}

/** The URLs of stored webhooks. */
export const storedUrlsOf = (webhooks: readonly Body[]): readonly string[] =>
  webhooks.flatMap(({ url }) => (url instanceof StoredSecret ? [url.reveal()] : []))

/** The body of a request: with the text of every secret, and without values that the service has and this run does not know. */
export function revealSecrets(value: unknown): unknown {
  if (value instanceof SecretValue || value instanceof StoredSecret) return value.reveal()
  const isKnown = ([, item]: [string, unknown]) => !(item instanceof HiddenValue)
  return mapItems(isMapping(value) ? Object.fromEntries(Object.entries(value).filter(isKnown)) : value, revealSecrets)
}

/** The value with words in place of its secrets, for comparisons and reports. */
export function describeSecrets(value: Body): Body
export function describeSecrets(value: unknown): unknown
export function describeSecrets(value: unknown): unknown {
  const isSecret = value instanceof SecretValue || value instanceof StoredSecret || value instanceof HiddenValue
  return isSecret ? value.toJSON() : mapItems(value, describeSecrets)
}
