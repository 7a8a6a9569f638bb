// Finds a secret in whatever form it may have got out: whole, or a piece of it. Its list of forms is not the product's own, so that
// what one of the two forgets the other may know.

/** Shortest piece that counts; shorter ones stand in innocent text. */
const pieceLength = 12

const escapeAscii = (text: string): string =>
  text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const named = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
/** Every ASCII mark spelled out, as encoders do that trust letters and digits only. */
const eachMark =
  (spell: (hex: string, code: number) => string) =>
  (text: string): string =>
    text.replace(/[!-/:-@[-`{-~]/g, (mark) => spell(mark.charCodeAt(0).toString(16).padStart(2, '0'), mark.charCodeAt(0)))
const numbered = eachMark((_, code) => `&#${code};`)
const lowerEscapes = (url: string): string => url.replace(/%../g, (byte) => byte.toLowerCase())
const percented = (text: string): string => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** Inside a longer text, the same bytes have three forms in base64; the characters at its ends belong to its neighbours too. */
const base64Inside = (text: string): readonly string[] =>
  [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
      .toString('base64')
      .replace(/=+$/, '')
    return encoded.slice(Math.ceil((before * 8) / 6), -1)
  })

/** Encodings in which each character stands for itself, so that a piece of the secret is a piece of the form. */
function spelledForms(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1)
  const url = encodeURIComponent(text.toWellFormed())
  return [
    text,
    text.toLowerCase(),
    json,
    escapeAscii(json),
    JSON.stringify(json).slice(1, -1),
    url,
    url.toLowerCase(),
    lowerEscapes(url),
    encodeURIComponent(url),
    encodeURIComponent(lowerEscapes(url)),
    json.replaceAll('/', '\\/'),
    eachMark((hex) => `\\u00${hex}`)(text),
    eachMark((hex) => `\\x${hex}`)(text),
    new URLSearchParams({ '': text }).toString().slice(1),
    encodeURI(text.toWellFormed()),
    named(text),
    numbered(text),
    eachMark((hex) => `&#x${hex.toUpperCase()};`)(text),
    eachMark((hex) => `&#x${hex};`)(text),
    percented(text),
  ]
}

/** Encodings in which a character stands for a part of one. */
function packedForms(secret: string): readonly string[] {
  const hex = Buffer.from(secret).toString('hex')
  const base64 = base64Inside(secret)
  return [...base64, ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')), hex, hex.toUpperCase()]
}

export const formsOfSecret = (secret: string): readonly string[] => [...new Set([...spelledForms(secret), ...packedForms(secret)])]

const piecesOf = (text: string): readonly string[] =>
  Array.from({ length: Math.max(0, text.length - pieceLength + 1) }, (_, i) => text.slice(i, i + pieceLength))

interface Search {
  readonly secrets: string
  readonly short: readonly string[]
  readonly prefixLength: number
  /** The other forms and pieces, by how they begin. */
  readonly pieces: ReadonlyMap<string, ReadonlySet<string>>
}

/** Of the last secrets, because a test looks for the same ones in many texts. */
let lastSearch: Search | undefined

function searchFor(given: readonly string[]): Search {
  const secrets = JSON.stringify(given)
  if (lastSearch?.secrets === secrets) return lastSearch
  const spelled = given.flatMap((secret) => piecesOf(secret).flatMap(spelledForms))
  const all = [...spelled, ...given.flatMap(packedForms).flatMap(piecesOf)]
  const prefixLength = Math.min(pieceLength, ...all.map(({ length }) => length))
  const pieces = new Map<string, Set<string>>()
  for (const piece of all) {
    const prefix = piece.slice(0, prefixLength)
    pieces.set(prefix, (pieces.get(prefix) ?? new Set()).add(piece))
  }
  const short = given.flatMap(formsOfSecret).filter((form) => form.length < pieceLength)
  lastSearch = { secrets, short, prefixLength, pieces }
  return lastSearch
}

/** The piece of a secret that stands in the text, or undefined. */
export function findSecret(text: string, secrets: readonly string[]): string | undefined {
  const { short, prefixLength, pieces } = searchFor(secrets.filter((secret) => secret !== ''))
  const found = short.find((form) => text.includes(form))
  if (found !== undefined) return found
  for (let i = 0; i + prefixLength <= text.length; i++) {
    for (const piece of pieces.get(text.slice(i, i + prefixLength)) ?? []) if (text.startsWith(piece, i)) return piece
  }
  return undefined
}

/** Throws when a secret is there in any of its forms, or a piece of one; the masks themselves are what hides it. */
export function expectNoSecret(text: string, secrets: readonly string[]): void {
  const withoutMasks = text
    .split('\n')
    .filter((line) => !line.startsWith('::add-mask::'))
    .join('\n')
  const found = findSecret(withoutMasks, secrets)
  if (found !== undefined) throw new Error(`a secret got out, as ${found}`)
}
