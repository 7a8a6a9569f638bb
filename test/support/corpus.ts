import { readFileSync } from 'node:fs'
import fc from 'fast-check'

// The strings that an API, a file or a user could hand us with bad intent, and those that are too large for a file.

interface Hostile {
  readonly id: string
  readonly value: string
  readonly why: string
}

export const hostile: readonly Hostile[] = [
  ...(JSON.parse(readFileSync(new URL('../corpus/hostile.json', import.meta.url), 'utf8')) as Hostile[]),
  { id: 'size-megabyte', value: 'a'.repeat(1_000_000), why: 'is a megabyte' },
  { id: 'size-emoji', value: '😀'.repeat(250_000), why: 'has more bytes than characters' },
  { id: 'size-lines', value: 'x\n'.repeat(100_000), why: 'has 100,000 lines' },
]

const surrogates = { first: 0xd800, count: 0x800 }

/** Any code point except halves of surrogate pairs: the unit `binary` of fast-check, which takes a second to list them all. */
export const anyCodePoint = fc
  .integer({ min: 0, max: 0x10ffff - surrogates.count })
  .map((n) => String.fromCodePoint(n < surrogates.first ? n : n + surrogates.count))

interface EntryOptions {
  /** Called before each entry, for example to reset an emulator. */
  readonly before?: () => void
  /** How many entries are checked at the same time, default 1. */
  readonly atOnce?: number
}

/** Checks every entry of a corpus in one test; a failure names its entry. Arrays are spread, as by `it.each`. */
export async function forEachEntry<T extends readonly [unknown, ...unknown[]]>(
  entries: readonly T[],
  check: (...entry: T) => unknown,
  options?: EntryOptions,
): Promise<void>
export async function forEachEntry<T>(entries: readonly T[], check: (entry: T) => unknown, options?: EntryOptions): Promise<void>
export async function forEachEntry(
  entries: readonly unknown[],
  check: (...entry: unknown[]) => unknown,
  { before, atOnce = 1 }: EntryOptions = {},
): Promise<void> {
  const queue = entries.values()
  const work = async (): Promise<void> => {
    for (const entry of queue) {
      before?.()
      try {
        await check(...(Array.isArray(entry) ? entry : [entry]))
      } catch (cause) {
        throw new Error(`${nameOf(entry)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

function nameOf(entry: unknown): string {
  if (typeof entry === 'object' && entry !== null && 'id' in entry) return String(entry.id)
  const strings = Array.isArray(entry) ? entry.filter((item) => ['string', 'number'].includes(typeof item)) : []
  return (strings.length > 0 ? strings.join(', ') : JSON.stringify(entry)).slice(0, 200)
}

// Documents that somebody could hand us with bad intent, or by mistake: for whatever reads YAML.

interface HostileYaml {
  readonly id: string
  readonly text: string
  /** What is said of it; undefined where it is a document like any other. */
  readonly message?: RegExp
}

const megabyte = 1024 * 1024
const upTo = (size: number, part: string): string => part.repeat(Math.ceil(size / part.length)).slice(0, size)

const letters = [...'abcdefghi']
const bomb = letters.map((name, i) => `${name}: &${name} [${Array(9).fill(i === 0 ? 'x' : `*${letters[i - 1]}`)}]`).join('\n')

export const hostileYaml: readonly HostileYaml[] = [
  { id: 'alias bomb', text: bomb, message: /holds more than 50000 values/ },
  {
    id: 'quadratic aliases',
    text: `a: &a [${upTo(20_000, 'x,')}]\nb: [${upTo(30_000, '*a,')}]`,
    message: /holds more than 50000 values/,
  },
  { id: 'many aliases of a word', text: `a: &a x\nb: [${upTo(90_000, '*a,')}]` },
  { id: 'alias of itself', text: 'a: &a [*a]', message: /\*a is inside its own anchor/ },
  { id: 'alias of nothing', text: 'a: *b', message: /\*b has no anchor: add &b before it/ },
  { id: 'alias before its anchor', text: 'a: *b\nb: &b 1', message: /\*b has no anchor/ },
  { id: 'merge key', text: 'a: &a { x: 1 }\nb: { <<: *a, y: 2 }', message: /merge key/ },
  { id: 'merge key of YAML 1.1', text: '%YAML 1.1\n---\nb: { <<: { x: 1 } }', message: /merge key/ },
  { id: 'merge key in quotes', text: '{ "<<": 1 }' },
  { id: 'key twice', text: 'a: 1\nb: 2\na: 3', message: /Map keys must be unique: "a"/ },
  { id: 'key twice, as number and text', text: '1: a\n"1": b', message: /Map keys must be unique: "1"/ },
  { id: 'key that is a list', text: '[a]: 1', message: /a key must be a plain word/ },
  { id: 'key that is an alias', text: '- &a x\n- *a : 1', message: /a key must be a plain word/ },
  { id: 'tabs', text: 'a:\n\tb: 1', message: /is indented with a tab; use spaces/ },
  { id: 'words that were booleans once', text: '[on, yes, no, off, y, n, ~, 017, 0o17, 1:30, 2001-01-01]' },
  { id: 'infinite', text: 'a: .inf', message: /is not a finite number/ },
  { id: 'no number', text: 'a: .NaN', message: /is not a finite number/ },
  { id: 'binary', text: 'a: !!binary aGk=', message: /Unresolved tag/ },
  { id: 'function', text: 'a: !!js/function "x"', message: /Unresolved tag/ },
  { id: 'verbatim tag', text: 'a: !<tag:x> b', message: /Unresolved tag/ },
  { id: 'timestamp', text: 'a: !!timestamp 2001-01-01', message: /Unresolved tag/ },
  { id: 'set', text: 'a: !!set { x, y }', message: /Unresolved tag/ },
  { id: 'kinds of YAML 1.1', text: '%YAML 1.1\n---\na: [yes, 2001-01-01, 1:30]' },
  { id: 'two documents', text: 'a: 1\n---\nb: 2', message: /holds more than one document/ },
  { id: 'many documents', text: upTo(megabyte, '---\n'), message: /holds more than one document/ },
  { id: 'byte order mark', text: '\ufeffa: 1' },
  { id: 'carriage returns', text: 'a: 1\r\nb:\r\n  - 2\r\n' },
  { id: '100 levels', text: `${'['.repeat(100)}${']'.repeat(100)}` },
  { id: '101 levels', text: `${'['.repeat(101)}${']'.repeat(101)}`, message: /is nested deeper than 100 levels/ },
  { id: '20,000 levels', text: `${'['.repeat(20_000)}${']'.repeat(20_000)}`, message: /is nested deeper than 100 levels/ },
  { id: 'levels without end', text: upTo(megabyte, '{a: '), message: /is nested deeper than 100 levels/ },
  { id: 'levels of lists', text: upTo(megabyte, '- '), message: /is nested deeper than 100 levels/ },
  {
    id: 'levels through aliases',
    text: Array.from({ length: 120 }, (_, i) => `a${i}: &a${i} ${i === 0 ? 'x' : `[*a${i - 1}]`}`).join('\n'),
    message: /is nested deeper than 100 levels/,
  },
  { id: 'empty', text: '', message: /is empty/ },
  { id: 'space alone', text: ' \n\n', message: /is empty/ },
  { id: 'comment alone', text: '# nothing\n', message: /is empty/ },
  { id: 'start of a document alone', text: '---\n', message: /is empty/ },
  { id: 'list at the top', text: '- a' },
  { id: 'scalar at the top', text: 'a' },
  { id: 'null at the top', text: 'null' },
  { id: 'NUL', text: 'a: "\0"', message: /holds control characters/ },
  { id: 'UTF-16', text: [...'a: 1'].join('\0'), message: /holds control characters/ },
  { id: 'escape of a terminal', text: 'a: "\u001b[2J"', message: /holds control characters/ },
  { id: 'just 1 MiB', text: `a: ${upTo(megabyte - 3, 'x')}` },
  { id: 'more than 1 MiB', text: `a: ${upTo(megabyte - 2, 'x')}`, message: /is larger than 1 MiB/ },
  { id: 'more than 1 MiB of wide characters', text: `a: ${upTo(megabyte / 2, 'ß')}`, message: /is larger than 1 MiB/ },
  { id: 'JSON with comments', text: '{ "a": 1, // x\n "b": 2 }' },
  { id: 'keys that objects inherit', text: '{ __proto__: { x: 1 }, constructor: 1, toString: 2, hasOwnProperty: 3, then: 4, length: 0 }' },
  { id: 'number of 400 nines', text: `a: ${'9'.repeat(400)}`, message: /more digits than a number can hold/ },
  { id: 'number of 400 decimals', text: `a: 0.${'1'.repeat(500)}`, message: /more digits than a number can hold/ },
  { id: 'number beyond all', text: 'a: 1e400', message: /more digits than a number can hold/ },
  { id: 'number below all', text: 'a: 1e-400', message: /more digits than a number can hold/ },
  { id: 'exponent of a million', text: 'a: 1e999999', message: /more digits than a number can hold/ },
  { id: 'hex beyond exactness', text: 'a: 0x20000000000001', message: /more digits than a number can hold/ },
  { id: 'brackets closed and never opened', text: upTo(100_000, ']'), message: /Unexpected/ },
  { id: 'escapes that are none', text: `"${upTo(400_000, '\\x')}"`, message: /Invalid escape/ },
]
