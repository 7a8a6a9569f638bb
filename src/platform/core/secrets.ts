import { letEventsAct } from './clock.ts'
import { isDecimal } from './decimal.ts'

export type Redact = (text: string) => string

/** Shorter secrets are rejected: masking them would hide ordinary words in the log. */
export const minSecretLength = 8

/** Shorter pieces of a secret also occur in ordinary text. */
const minPieceLength = 12

/**
 * Replaces secrets by `***`: each in its common encodings, and every word with twelve characters of one, whatever encodings are inside each
 * other. A server may cut, wrap or escape what it repeats. `findOther` finds more.
 */
export function createRedact(secrets: Iterable<string>, findOther?: Search): Redact {
  // No word of a text has a secret with spaces, but each of its words can be secret, as in `Bearer …`.
  const given = [...new Set([...secrets].flatMap((secret) => [secret, ...secret.split(/\s+/)]))].filter(isLongEnough)
  if (given.length === 0 && findOther === undefined) return (text) => text
  const whole = new RegExp(formsOf(given).map(RegExp.escape).join('|') || '(?!)', 'gi')
  const findGiven = createSearch(given)
  const search: Search = (text) => findOther?.(text) ?? findGiven(text)
  return (text) => {
    if (!isLongEnough(text)) return text
    const rest = text.replace(whole, '***')
    return rest === text && find(text, search) === undefined ? text : rest.replace(/\S+/g, (word) => find(word, search) ?? word)
  }
}

const isLongEnough = ({ length }: string) => length >= minSecretLength

/** Decimals have no text of their own. */
const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !JSON.isRawJSON(value) && !isDecimal(value)

/** Includes keys. A part without secrets is not copied. */
export function redactDeep<T>(value: T, redact: Redact): T
export function redactDeep(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (!isFields(value)) return value
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.map((item) => redactDeep(item, redact))
    return items.every((item, i) => item === value[i]) ? value : items
  }
  const entries = Object.entries(value)
  const safe = entries.map(([key, item]) => [redact(key), redactDeep(item, redact)] as const)
  return safe.every(([key, item], i) => key === entries[i]?.[0] && item === entries[i]?.[1]) ? value : Object.fromEntries(safe)
}

/** Lists of a result repeat the same words in thousands of items. Signals act after each item with a new one. */
export async function redactResult<T extends object>(result: T, redact: Redact): Promise<T> {
  const known = new Map<string, string>()
  const redactOnce: Redact = (text) => {
    const safe = known.get(text) ?? redact(text)
    known.set(text, safe)
    return safe
  }
  const parts: readonly unknown[] = [...Object.keys(result), ...Object.values(result).flat()]
  let isSafe = true
  for (const part of parts) {
    const { size } = known
    if (redactDeep(part, redactOnce) !== part) isSafe = false
    if (known.size > size) await letEventsAct()
  }
  return isSafe ? result : redactDeep(result, redactOnce)
}

/** HTTP Basic sends it, so it is a secret, too. */
export const basicPair = (keyId: string, keySecret: string): string => Buffer.from(`${keyId}:${keySecret}`).toString('base64')

/** The longest first: what a runner masks. */
export const formsOf = (secrets: readonly string[]): readonly string[] =>
  [...new Set(secrets.flatMap(encodeForm))].filter(isLongEnough).sort((a, b) => b.length - a.length)

function encodeForm(secret: string) {
  const text = secret.toWellFormed()
  const url = encodeURIComponent(text)
  const html = text.replace(/[&<>"']/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[mark] ?? '&#39;')
  const form = new URLSearchParams([['', text]]).toString().slice(1)
  const bytes = (['base64', 'base64url', 'hex'] as const).map((encoding) => Buffer.from(secret).toString(encoding))
  // Host names are lower case; some logs are upper case.
  const texts = [secret, secret.toLowerCase(), secret.toUpperCase(), JSON.stringify(secret).slice(1, -1), encodeURI(text), form, html]
  return [...texts, url, url.replace(/%../g, (byte) => byte.toLowerCase()), ...bytes]
}

/**
 * Names in the path of a URL, and in parameters that hold no key, such as `room=observability`. Objects have such names, and outputs such
 * words, so they are secret with the whole path only. The list of parameters is fixed, so that no file decides what is shown.
 */
const namesInUrl =
  /(?<=\/)[a-z]+\d{0,3}(?:[._-](?:[a-z]+\d{0,3}|\d{1,3}))*(?=[/?]|$)|(?<=[?&](?:channel|env|environment|group|room|service|space|stream|subject|team|topic)=(?:%23|#)?)(?:[A-Z](?=[a-z])|[a-z])+\d{0,3}(?:(?:[._+ -]|%20)(?:(?:[A-Z](?=[a-z])|[a-z])+\d{0,3}|\d{1,3}))*(?=[&#]|$)/

/** Returns what is shown in place of the text, or undefined. It decodes nothing. */
export type Search = (text: string) => string | undefined

/** Finds pieces of the secrets in decoded text, and whole ones that have no such pieces. */
function createSearch(secrets: readonly string[]): Search {
  // Escapes of URLs stand for bytes, and forms have a plus sign for a space. A secret can look like escapes itself.
  const spelled = secrets.flatMap((secret) => [
    secret,
    Buffer.from(secret).toString('latin1'),
    secret.replaceAll(' ', '+'),
    withoutEscapes(secret),
  ])
  const texts = [...new Set(spelled)]
  const parts = texts.flatMap((text) => (/^[/?]/.test(text) ? text.split(namesInUrl) : [text])).map((part) => part.toLowerCase())
  const slices = (length: number): ReadonlySet<string> =>
    new Set(parts.flatMap((part) => Array.from({ length: Math.max(0, part.length - length + 1) }, (_, i) => part.slice(i, i + length))))
  const [halves, pieces] = [slices(minPieceLength / 2), slices(minPieceLength)]
  // A piece covers one of these places with half of its characters.
  const hasPiece = (text: string): boolean => {
    for (let at = 0; at < text.length; at += minPieceLength / 2) {
      if (!halves.has(text.slice(at, at + minPieceLength / 2))) continue
      for (let start = Math.max(0, at - minPieceLength / 2); start <= at; start++)
        if (pieces.has(text.slice(start, start + minPieceLength))) return true
    }
    return false
  }
  const others = [...new Set(texts.map((text) => text.toLowerCase()))].filter((text) => !hasPiece(text))
  return (text) => {
    const folded = text.toLowerCase()
    return hasPiece(folded) || others.some((secret) => folded.includes(secret)) ? '***' : undefined
  }
}

// Encodings can be inside each other: JSON in a URL in an HTML page.
const find = (text: string, search: Search, encodings = 4): string | undefined =>
  search(text) ??
  (encodings === 0 ? [] : decodings(text))
    .values()
    .map((decoded) => find(decoded, search, encodings - 1))
    .find((found) => found !== undefined)

/** What was encoded twice in the same way is one escape. */
const escapes =
  /(?:%(?:25)*|\\+x)([\da-f]{2})|(?:%|\\+)u([\da-f]{4})|&(?:amp;)*(?:#x0*([\da-f]{1,6})[; ]?|#0*(\d{1,7})[; ]?|(amp|lt|gt|quot|apos|sol|plus|equals);)|\\+/gi

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', plus: '+', equals: '=' }

export const withoutEscapes = (text: string): string =>
  text.replace(escapes, (_, ...groups: readonly (string | undefined)[]) => {
    const [byte, unit, hex, decimal, entity = ''] = groups
    const code = Number.parseInt(byte ?? unit ?? hex ?? '', 16) || Number(decimal)
    return code <= 0x10_ffff ? String.fromCodePoint(code) : (entities[entity.toLowerCase()] ?? '')
  })

/** Parts in base64 or hex may be cut anywhere. */
function decodings(text: string) {
  const plain = withoutEscapes(text)
  const unpack = (parts: readonly string[], encoding: 'base64' | 'hex', width: number): readonly string[] =>
    parts.flatMap((part) => Array.from({ length: width }, (_, cut) => Buffer.from(part.slice(cut), encoding).toString('latin1')))
  // Twelve characters of any text have a capital in base64, and names have none.
  const base64 = (text.match(/[\w+/-]{16,}/g) ?? []).filter((part) => /[A-Z]/.test(part))
  const hex = text.match(/[\da-f]{24,}/gi) ?? []
  return [...(plain === text ? [] : [plain]), ...unpack(base64, 'base64', 4), ...unpack(hex, 'hex', 2)]
}
