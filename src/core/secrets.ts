import { cutMark } from './text.ts'

export type Redact = (text: string) => string

/** Replaces secrets by `***`: in every encoding, in usable pieces, and where `clip` cut one. */
export function createRedact(secrets: Iterable<string>): Redact {
  const forms = [...new Set([...secrets].flatMap((secret) => [...formsOf(secret), ...rareFormsOf(secret)]))].sort(
    (a, b) => b.length - a.length,
  )
  if (forms.length === 0) return (text) => text
  // One pass for all forms, because a result can hold a million strings. The longest form goes first.
  const any = new RegExp(forms.map((form) => RegExp.escape(form)).join('|'), 'g')
  const withoutPieces = createPieceRemover(forms)
  return (text) => (text.length < shortestBeginning ? text : redactCuts(withoutPieces(text.replace(any, '***')), forms))
}

/** Redacts every string inside a JSON value, keys included. A part without secrets is not copied. */
export function redactDeep<T>(value: T, redact: Redact): T
export function redactDeep(value: unknown, redact: Redact): unknown {
  // One look at the whole text is much faster than one at each string.
  const json = JSON.stringify(value) ?? ''
  // A secret that is escaped in a string has its backslashes doubled in the JSON text.
  const isSuspect = [json, json.replaceAll('\\\\', '\\')].some((text) => redact(text) !== text) || json.includes(cutMark)
  return isSuspect ? redactEach(value, redact) : value
}

function redactEach(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) {
    const safe = value.map((item: unknown) => redactEach(item, redact))
    return safe.every((item, i) => item === value[i]) ? value : safe
  }
  if (value === null || typeof value !== 'object' || JSON.isRawJSON(value)) return value
  const entries = Object.entries(value)
  const safe = entries.map(([key, item]) => [redact(key), redactEach(item, redact)] as const)
  return safe.every(([key, item], i) => key === entries[i]?.[0] && item === entries[i]?.[1]) ? value : Object.fromEntries(safe)
}

/** The credentials of HTTP Basic. They are also a secret. */
export const basicPair = (keyId: string, keySecret: string): string => Buffer.from(`${keyId}:${keySecret}`).toString('base64')

/** Shorter secrets are rejected: masking them would hide ordinary words in the log. */
export const shortestSecret = 8

/** The secret in its common encodings, longest first, without duplicates. */
export function formsOf(secret: string): readonly string[] {
  const wellFormed = secret.toWellFormed()
  const forms = [
    secret,
    // Host names are lower case; some logs are upper case.
    secret.toLowerCase(),
    secret.toUpperCase(),
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(wellFormed),
    encodeURI(wellFormed),
    new URLSearchParams([['', wellFormed]]).toString().slice(1),
    toEntities(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(secret).toString('hex'),
  ]
  return [...new Set(forms)].filter((form) => form.length >= shortestSecret).sort((a, b) => b.length - a.length)
}

/** Other encodings that servers and proxies may use: twice, mark by mark, byte by byte, or inside something longer. */
function rareFormsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const json = JSON.stringify(secret).slice(1, -1)
  const url = encodeURIComponent(secret.toWellFormed())
  const hex = bytes.toString('hex')
  const base64 = [0, 1, 2].map((before) => base64Inside(bytes, before))
  const forms = [
    json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    JSON.stringify(json).slice(1, -1),
    url.toLowerCase(),
    encodeURIComponent(url),
    secret.replace(/[!-/:-@[-`{-~]/g, (mark) => `&#${mark.charCodeAt(0)};`),
    hex.replace(/../g, '%$&'),
    hex.toUpperCase().replace(/../g, '%$&'),
    hex.toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]
  return forms.filter((form) => form.length >= shortestSecret)
}

/** The base64 characters that encode only these bytes, with `before` other bytes in front. */
const base64Inside = (bytes: Buffer, before: number): string =>
  Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '')
    .slice(Math.ceil((before * 8) / 6), -1)

const toEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')

/** Shorter pieces also occur in ordinary text. */
const shortestPiece = 12

/** Every piece covers at least one whole block of the text, wherever it begins, so it is enough to look up the blocks. */
const blockLength = shortestPiece / 2

interface Spot {
  readonly form: string
  readonly index: number
}

/** Replaces the longest pieces of the forms by `***`: a server may cut, wrap or split a secret, and half of it is still one. */
function createPieceRemover(forms: readonly string[]): (text: string) => string {
  const spots = spotsIn(forms.filter((form) => form.length >= shortestPiece))
  if (spots.size === 0) return (text) => text
  return (text) => {
    let safe = ''
    let done = 0
    for (let at = 0; at + blockLength <= text.length; at += blockLength) {
      if (at < done) continue
      const found = longestAround(text, at, done, spots.get(text.slice(at, at + blockLength)) ?? [])
      if (found === undefined) continue
      safe += `${text.slice(done, found.start)}***`
      done = found.end
    }
    return done === 0 ? text : safe + text.slice(done)
  }
}

function spotsIn(forms: readonly string[]): ReadonlyMap<string, readonly Spot[]> {
  const spots = new Map<string, Spot[]>()
  for (const form of forms) {
    for (let index = 0; index + blockLength <= form.length; index++) {
      const block = form.slice(index, index + blockLength)
      const known = spots.get(block)
      if (known === undefined) spots.set(block, [{ form, index }])
      else known.push({ form, index })
    }
  }
  return spots
}

interface Range {
  readonly start: number
  readonly end: number
}

function longestAround(text: string, at: number, from: number, spots: readonly Spot[]): Range | undefined {
  let longest: Range | undefined
  for (const { form, index } of spots) {
    let [start, end] = [at, at + blockLength]
    while (start > from && text[start - 1] === form[index - (at - start) - 1]) start -= 1
    while (end < text.length && text[end] === form[index + (end - at)]) end += 1
    if (end - start >= Math.max(shortestPiece, longest === undefined ? 0 : longest.end - longest.start + 1)) longest = { start, end }
  }
  return longest
}

/** Shorter beginnings of a secret need no hiding. */
const shortestBeginning = 4

// A text that was cut inside a secret ends with the beginning of it.
function redactCuts(text: string, forms: readonly string[]): string {
  if (!text.includes(cutMark)) return text
  const [first = '', ...rest] = text.split(cutMark)
  return [withoutBeginning(first, forms), ...rest.map((part, i) => (i === rest.length - 1 ? part : withoutBeginning(part, forms)))].join(
    cutMark,
  )
}

function withoutBeginning(text: string, forms: readonly string[]): string {
  for (const form of forms) {
    for (let length = Math.min(form.length, text.length); length >= shortestBeginning; length--) {
      if (text.endsWith(form.slice(0, length))) return `${text.slice(0, -length)}***`
    }
  }
  return text
}
