import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedact } from '../../../../src/platform/core/secrets.ts'
import { quote } from '../../../../src/platform/core/text.ts'
import { createCopiedUrls } from '../../../../src/platform/http/webhook-url.ts'

const urls = [
  'https://hooks.slack.com/services/T024BE7LD/B0DDC1ZZ2/xkQpWrTzLmNvB',
  'https://hooks.slack.com/services/T024BE7LD/B0DDC1ZZ2',
  'https://prod-12.westeurope.logic.azure.com:443/workflows/0a1b/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Frun&sig=x_Y-z',
  'https://discord.com/api/webhooks/112233/Ab-Cd_Ef',
  'http://relay.internal.example:8080/hooks/0123456789abcdef#top',
  'https://my_relay.example?token=0123456789',
  'https://Bücher.example/hooks/Straße-0123',
  'http://[2001:db8::1]:8080/hooks/0123456789',
  `https://long.example/${'0123456789abcdef'.repeat(4).slice(1)}`,
  'https://relay.example/team',
  'https://relay.example/hooks//./0123456789',
]

const hide = (() => {
  const copies = createCopiedUrls()
  for (const url of urls) copies.add([url])
  return createRedact([], copies.search)
})()

/** What browsers make of a text, as host without a port, and path and query without repeated slashes and escapes. */
function readAddress(text: string) {
  const url = URL.parse(/^https?:/i.test(text) ? text : `https://${text}`)
  const decoded = url && decodeAll(`${url.pathname}${url.search}`)
  return url && { host: url.hostname, path: decoded?.toLowerCase().replaceAll(/[\\/]+/g, '/') ?? '' }
}

function decodeAll(text: string): string {
  try {
    const decoded = decodeURIComponent(text)
    return decoded === text ? text : decodeAll(decoded)
  } catch {
    return text
  }
}

/** A longer path is found by its beginning. */
const secretPaths = urls
  .flatMap((url) => readAddress(url) ?? [])
  .flatMap(({ host, path }) => (path.length < 8 ? [] : [{ host, path: path.slice(0, 64) }]))

/** Whether a word has a copy, wherever a host can begin, and in any of the encodings that the test uses. */
function hasCopy(word: string): boolean {
  const texts = [
    word,
    decodeAll(word),
    decodeAll(word)
      .replaceAll('\\/', '/')
      .replaceAll(/&(?:amp;)+/gi, '&'),
  ]
  return texts.some((text) =>
    Array.from(text.matchAll(/(?<![a-z\d][\w.-]*)./gi)).some(({ index }) => {
      const address = readAddress(text.slice(index))
      return secretPaths.some(({ host, path }) => address?.host === host && address.path.startsWith(path))
    }),
  )
}

type Spell = (url: string) => string

const inPath =
  (spell: (path: string) => string): Spell =>
  (url) =>
    url.replace(/^((?:\w+:\/\/)?[^/?]+)(.*)$/s, (_, origin: string, path: string) => `${origin}${spell(path)}`)

const spellings: readonly Spell[] = [
  (url) => url,
  (url) => url.toUpperCase(),
  (url) => url.replace(/^https?:\/\//, ''),
  (url) => url.replace(/^http:/, 'https:'),
  (url) => url.replace(/^(\w+:\/\/[^/?:]+)(?=[/?])/, '$1:443'),
  (url) => url.replace(/^(\w+:\/\/[^/?]+?)(?::\d+)?(?=\/)/, '$1:80'),
  inPath((path) => path.replaceAll('/', '//')),
  inPath((path) => path.replace(/^\//, '/./')),
  inPath((path) => path.replaceAll(/(?<!%.?)[eo1]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)),
  inPath((path) => path.replaceAll('/', '%2F').replace(/^%2F/, '/')),
  inPath((path) => encodeURI(path)),
  (url) => url.replaceAll('/', '\\/'),
  (url) => url.replaceAll('&', '&amp;'),
  encodeURIComponent,
  (url) => URL.parse(url)?.href ?? url,
]

const near: readonly Spell[] = [
  (url) => url.replace(/.$/, ''),
  (url) => url.replace(/\/(\w)(?=[^/]*$)/, '/x$1'),
  (url) => url.replace(/\/\/(?=[a-z])/, '//x'),
  (url) => url.replace(/[?/][^?/]*$/, ''),
  (url) => url.replace(/^\w+:\/\/[^/?]+/, 'https://elsewhere.example'),
]

describe('createCopiedUrls', () => {
  it('S1: hides a word if and only if it has a URL of a webhook, by the parser of the platform, in any spelling', () => {
    const around = fc.constantFrom('', '(', '"', '<', '**', 'url=', '[hook](', 'to:', '@', '_', 'x/', '宛先は')
    const after = fc.constantFrom('', ')', '"', '/more', '?a=b', '#top', ',', '**', '&x')
    let copies = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...urls),
        fc.array(fc.constantFrom(...near), { maxLength: 1 }),
        fc.array(fc.constantFrom(...spellings), { maxLength: 3 }),
        fc.tuple(around, after),
        (url, changes, spelled, [before, behind]) => {
          const word = `${before}${[...changes, ...spelled].reduce((text, spell) => spell(text), url)}${behind}`
          const isCopy = hasCopy(word)
          if (isCopy) copies += 1
          expect(hide(word) !== word, word).toBe(isCopy)
        },
      ),
      { numRuns: 1500 },
    )
    expect(copies).toBeGreaterThan(500)
  })

  it('S1: hides a copy that a message has cut, wherever it was cut', () => {
    const url = 'https://hooks.example/v1/k3J9xQ2mZ7pL5vR8tY1wB4nC6dF0gH3sAeUiOpQ'
    const copies = createCopiedUrls()
    copies.add([url])
    const redact = createRedact([], copies.search)
    const shown = Array.from({ length: url.length }, (_, length) =>
      redact(`the alert "${quote(`${url} and ${'more'.repeat(20)}`, length)}"`),
    )
    for (const text of shown) expect(text).not.toContain('k3J9xQ2mZ')
    const long = `https://long.example/${'0123456789'.repeat(9)}`
    copies.add([long])
    expect([63, 64].map((length) => redact(long.slice(0, 'https://long.example'.length + length)).endsWith('***'))).toEqual([false, true])
    expect(redact('see https://hooks.example/v1/docs… and https://hooks.example/v2/k3J9xQ2mZ7pL5vR8…')).toContain(
      'v1/docs… and https://hooks.example/v2/k3',
    )
  })

  it('S1: hides the user of a URL, and copies in base64, and shows the host of what it hides', () => {
    const copies = createCopiedUrls()
    copies.add(['https://bob:pa55@hooks.example/x', 'https://Hooks.slack.com:443/services/T1/B2/x3'])
    const redact = createRedact([], copies.search)
    expect(redact('at https://bob:pa55@hooks.example/y, or ops@other.example')).toBe('at hooks.example*** or ops@other.example')
    expect(redact('see hooks.example/x')).toBe('see hooks.example/x')
    const text = Buffer.from('{"url":"https://hooks.slack.com/services/T1/B2/x3"}').toString('base64')
    expect(redact(`config ${text}, https://hooks.slack.com/help`)).toBe('config hooks.slack.com*** https://hooks.slack.com/help')
  })
})
