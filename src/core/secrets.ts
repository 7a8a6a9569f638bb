import { isDecimal } from './decimal.ts'
import { cutMark } from './text.ts'

export type Redact = (text: string) => string

/** Replaces secrets by `***`: in every encoding, in usable pieces, and where `clip` cut one. */
export function createRedact(secrets: Iterable<string>): Redact {
  const forms = [...new Set([...secrets].flatMap(searchedForms))]
  if (forms.length === 0) return (text) => text
  const find = createFinder(forms)
  const overlap = Math.max(...forms.map(({ length }) => length)) * maxEscapeLength
  return (text) => {
    if (text.length < minBeginningLength) return text
    let found: readonly Range[] = []
    for (let from = 0; from < text.length; from += windowLength) {
      const ranges = findDecoded(text.slice(from, from + windowLength + overlap), find)
      if (ranges.length > 0) found = found.concat(ranges.map(({ start, end }) => ({ start: from + start, end: from + end })))
    }
    return found.length === 0 ? text : replaceRanges(text, merge(found))
  }
}

/** Redacts every string inside a JSON value, keys included. A part without secrets is not copied. */
export function redactDeep<T>(value: T, redact: Redact): T
export function redactDeep(value: unknown, redact: Redact): unknown {
  // One look at many strings is much faster than one at each.
  return joinStrings(value).some((text) => redact(text) !== text) ? redactEach(value, redact) : value
}

/** Decimals have no text of their own, and many methods that a loop over fields would visit. */
const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !JSON.isRawJSON(value) && !isDecimal(value)

/** All different strings inside a JSON value, in lines of long texts. */
function joinStrings(value: unknown): readonly string[] {
  const texts: string[] = []
  // Records have the same keys, names and days over and over.
  const seen = new Set<string>()
  let [lines, length]: [string[], number] = [[], 0]
  const add = (text: string): void => {
    if (seen.has(text)) return
    seen.add(text)
    lines.push(text)
    length += text.length
    if (length < windowLength) return
    texts.push(lines.join('\n'))
    lines = []
    length = 0
  }
  const visit = (part: unknown): void => {
    if (typeof part === 'string') add(part)
    else if (Array.isArray(part)) for (const item of part) visit(item)
    else if (isFields(part))
      // Takes a third of the time of Object.keys, which allocates a list for each record.
      for (const key in part) {
        add(key)
        visit(part[key])
      }
  }
  visit(value)
  return [...texts, lines.join('\n')]
}

function redactEach(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) {
    const safe = value.map((item: unknown) => redactEach(item, redact))
    return safe.every((item, i) => item === value[i]) ? value : safe
  }
  if (!isFields(value)) return value
  const entries = Object.entries(value)
  const safe = entries.map(([key, item]) => [redact(key), redactEach(item, redact)] as const)
  return safe.every(([key, item], i) => key === entries[i]?.[0] && item === entries[i]?.[1]) ? value : Object.fromEntries(safe)
}

/** The credentials of HTTP Basic. They are also a secret. */
export const basicPair = (keyId: string, keySecret: string): string => Buffer.from(`${keyId}:${keySecret}`).toString('base64')

/** Shorter secrets are rejected: masking them would hide ordinary words in the log. */
export const minSecretLength = 8

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
    encodeURIComponent(wellFormed).replace(/%../g, (byte) => byte.toLowerCase()),
    encodeURI(wellFormed),
    new URLSearchParams([['', wellFormed]]).toString().slice(1),
    toEntities(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(secret).toString('hex'),
  ]
  return [...new Set(forms)].filter((form) => form.length >= minSecretLength).sort((a, b) => b.length - a.length)
}

const toEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')

/** What is searched for, in folded and decoded text: the secret, and the encodings of its bytes. */
function searchedForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map((before) => base64Inside(bytes, before))
  // As characters and, as in URLs, as bytes. It can look like escapes itself. In the encoding of forms, a space is a plus sign.
  const texts = [secret, bytes.toString('latin1')].flatMap((text) => decodings(fold(text)))
  const forms = [
    ...texts.flatMap((text) => [text, text.replaceAll(' ', '+')]),
    bytes.toString('hex'),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]
  return forms.map(fold).filter((form) => form.length >= minSecretLength)
}

/** The base64 characters that encode only these bytes, with `before` other bytes in front. */
const base64Inside = (bytes: Buffer, before: number): string =>
  Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '')
    .slice(Math.ceil((before * 8) / 6), -1)

/** In lower case, with as many characters. Host names are in lower case, and some logs in upper case. */
const fold = (text: string): string => text.replaceAll('İ', 'i').toLowerCase().replaceAll('ς', 'σ')

interface Range {
  readonly start: number
  readonly end: number
}

/** A long text is searched in parts, because decoding needs memory. */
const windowLength = 2 ** 18

/** For one character, in practice. */
const maxEscapeLength = 16

/** A text can be encoded in several ways, one inside the other: JSON in a URL in an HTML page. */
const maxEncodings = 4

/** The text, the text without its escapes, the text without theirs, and so on. */
function decodings(text: string): readonly string[] {
  const levels: string[] = []
  for (let level = text; ; ) {
    levels.push(level)
    const decoded = level.replace(escapes, decodeEscape)
    if (decoded === level || levels.length > maxEncodings) return levels
    level = fold(decoded)
  }
}

/** Finds the forms in any encoding of the text. */
function findDecoded(text: string, find: Find): readonly Range[] {
  let found: readonly Range[] = []
  const levels = decodings(fold(text))
  for (const [depth, level] of levels.entries()) {
    const ranges = find(level)
    if (ranges.length > 0) found = found.concat(levels.slice(0, depth).reduceRight(locate, ranges))
  }
  return found
}

/**
 * Escapes of URLs, JSON, HTML and programming languages, in folded text. What was encoded twice in the same way, such as `%252f`, is one
 * escape. Any other backslash only marks the next character, unless the text was cut inside of an escape.
 */
const escapes = new RegExp(
  [
    String.raw`(?:%(?:25)*|\\+x)([\da-f]{2})`,
    String.raw`(?:%|\\+)u([\da-f]{4})`,
    String.raw`&(?:amp;)*(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos|sol|plus|equals));`,
    String.raw`\\+(?![ux]?[\da-f]{0,3}${RegExp.escape(cutMark)})`,
  ].join('|'),
  'g',
)

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', plus: '+', equals: '=' }

/** `groups` are those of `escapes`. */
function decodeEscape(_: string, ...groups: readonly (string | undefined)[]): string {
  const [byte, unit, hex, decimal, entity = ''] = groups
  const digits = byte ?? unit ?? hex
  const code = digits !== undefined ? Number.parseInt(digits, 16) : Number(decimal)
  if (code <= 0x10_ffff) return String.fromCodePoint(code)
  return entities[entity] ?? ''
}

/** Where ranges of a decoded text are in its source. */
function locate(ranges: readonly Range[], source: string): readonly Range[] {
  const matches = source.matchAll(escapes)
  let next = matches.next()
  let shift = 0
  const toSource = (position: number): number => {
    for (; !next.done; next = matches.next()) {
      const [whole, ...groups] = next.value
      const { length } = decodeEscape(whole, ...groups)
      if (next.value.index - shift >= position) break
      shift += whole.length - length
    }
    return position + shift
  }
  return ranges.map(({ start, end }) => ({ start: toSource(start), end: toSource(end) }))
}

/** Sorted, and without overlaps. */
function merge(ranges: readonly Range[]): readonly Range[] {
  const merged: Range[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    if (range.start === range.end) continue
    const last = merged.at(-1)
    if (last === undefined || range.start >= last.end) merged.push(range)
    else if (range.end > last.end) merged[merged.length - 1] = { start: last.start, end: range.end }
  }
  return merged
}

function replaceRanges(text: string, ranges: readonly Range[]): string {
  let safe = ''
  let done = 0
  for (const { start, end } of ranges) {
    safe += `${text.slice(done, start)}***`
    done = end
  }
  return safe + text.slice(done)
}

/** Finds all places of the forms in a text. */
type Find = (text: string) => readonly Range[]

/** Shorter pieces also occur in ordinary text. */
const minPieceLength = 12

/** Every piece covers at least one whole block of the text, wherever it begins, so it is enough to look up the blocks. */
const blockLength = minPieceLength / 2

interface Spot {
  readonly form: string
  readonly index: number
}

function createFinder(forms: readonly string[]): Find {
  const findPieces = createPieceFinder(forms.filter((form) => form.length >= minPieceLength))
  const short = forms.filter((form) => form.length < minPieceLength)
  const findCuts = createCutFinder(forms)
  return (text) => {
    const whole = short.flatMap((form) => placesOf(form, text).map((start) => ({ start, end: start + form.length })))
    const found = findPieces(text).concat(whole, text.includes(cutMark) ? findCuts(text) : [])
    return found.length === 0 ? found : merge(found)
  }
}

/** Where the word is in the text. */
function placesOf(word: string, text: string): readonly number[] {
  const places: number[] = []
  for (let place = text.indexOf(word); place !== -1; place = text.indexOf(word, place + 1)) places.push(place)
  return places
}

const slicesOf = (text: string, length: number): readonly string[] =>
  Array.from({ length: Math.max(0, text.length - length + 1) }, (_, i) => text.slice(i, i + length))

function spotsIn(forms: readonly string[]): ReadonlyMap<string, readonly Spot[]> {
  const spots = new Map<string, Spot[]>()
  for (const form of forms) {
    for (const [index, block] of slicesOf(form, blockLength).entries()) {
      const known = spots.get(block)
      if (known === undefined) spots.set(block, [{ form, index }])
      else known.push({ form, index })
    }
  }
  return spots
}

/** Finds the longest pieces of the forms: a server may cut, wrap or split a secret, and half of it is still one. */
function createPieceFinder(forms: readonly string[]): Find {
  const spots = spotsIn(forms)
  // Most blocks of a text differ from all blocks of the forms in the first two characters, and need no look-up.
  const beginnings = new Uint8Array(2 ** 16)
  for (const block of spots.keys()) beginnings[beginningAt(block, 0)] = 1
  return (text) => {
    const found: Range[] = []
    let done = 0
    for (let at = 0; at + blockLength <= text.length; at += blockLength) {
      if (beginnings[beginningAt(text, at)] === 0 || at + blockLength <= done) continue
      const range = longestAround(text, at, spots.get(text.slice(at, at + blockLength)) ?? [])
      if (range === undefined) continue
      found.push(range)
      done = range.end
    }
    return found
  }
}

/** Two characters as 16 bits. Different characters can have the same ones. */
const beginningAt = (text: string, at: number): number => ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff)

function longestAround(text: string, at: number, spots: readonly Spot[]): Range | undefined {
  let longest: Range | undefined
  for (const { form, index } of spots) {
    let [start, end] = [at, at + blockLength]
    while (start > 0 && text[start - 1] === form[index - (at - start) - 1]) start -= 1
    while (end < text.length && text[end] === form[index + (end - at)]) end += 1
    if (end - start >= Math.max(minPieceLength, longest === undefined ? 0 : longest.end - longest.start + 1)) longest = { start, end }
  }
  return longest
}

/** Shorter beginnings of a secret need no hiding. */
const minBeginningLength = 4

/** A text that was cut inside of a secret ends with the beginning of it, and maybe inside of an escape. */
function createCutFinder(forms: readonly string[]): Find {
  let parts: ReadonlySet<string> | undefined
  return (text) => {
    // With these, most cuts need one look. Most runs have no cuts.
    parts ??= new Set(forms.flatMap((form) => slicesOf(form, minBeginningLength)))
    const known = parts
    return placesOf(cutMark, text).flatMap((cut) => {
      const from = Math.max(0, cut - maxEscapeLength)
      const opened = [...text.slice(from, cut).matchAll(/[%\\&]/g)].map(({ index }) => from + index)
      return [cut, ...opened]
        .filter((end) => known.has(text.slice(Math.max(0, end - minBeginningLength), end)))
        .map((end) => ({ start: end - beginningBefore(text, end, forms), end: cut }))
    })
  }
}

/** The length of the longest beginning of a form that the text has before `end`; 0 when there is none. */
function beginningBefore(text: string, end: number, forms: readonly string[]): number {
  let longest = 0
  for (const form of forms) {
    for (let length = Math.min(form.length, end); length >= minBeginningLength && length > longest; length--) {
      if (text.startsWith(form.slice(0, length), end - length)) longest = length
    }
  }
  return longest
}
