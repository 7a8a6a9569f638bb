// Formats declarations in ways that people use: indentation, quotes, brackets, anchors, comments, JSON.
import fc from 'fast-check'
import { parse, stringify } from 'yaml'

export interface Spelling {
  readonly json: boolean
  readonly indent: number
  readonly indentSeq: boolean
  readonly flow: boolean
  readonly quotes: 'QUOTE_SINGLE' | 'QUOTE_DOUBLE' | 'PLAIN'
  readonly returns: boolean
  readonly isCommented: boolean
  /** Whether what stands twice is written once and referred to. */
  readonly hasAnchors: boolean
}

export const spelling: fc.Arbitrary<Spelling> = fc.record({
  json: fc.boolean(),
  indent: fc.constantFrom(2, 4, 3),
  indentSeq: fc.boolean(),
  flow: fc.boolean(),
  quotes: fc.constantFrom('QUOTE_SINGLE', 'QUOTE_DOUBLE', 'PLAIN'),
  returns: fc.boolean(),
  isCommented: fc.boolean(),
  hasAnchors: fc.boolean(),
})

type Sections = Record<string, Record<string, Record<string, unknown>>>

/** Objects are taken over by their ids, so that they can be renamed. */
export function respell(text: string, ids: ReadonlyMap<string, string>, how: Spelling): string {
  const { $schema: _, ...value } = parse(text) as Sections
  const { defaults: __, ...sections } = value
  for (const [section, objects] of Object.entries(sections))
    for (const [key, object] of Object.entries(objects)) giveId(object, ids.get(`${section}.${key}`))
  if (how.json) return JSON.stringify(value, null, how.indent)
  const spelt = stringify(how.hasAnchors ? shared(value, new Map()) : value, {
    indent: how.indent,
    indentSeq: how.indentSeq,
    defaultStringType: how.quotes,
    defaultKeyType: 'PLAIN',
    lineWidth: 60,
    collectionStyle: how.flow ? 'flow' : 'any',
  })
  const commented = how.flow ? `# first\n${spelt}# last\n` : how.isCommented ? withComments(spelt) : spelt
  return how.returns ? commented.replaceAll('\n', '\r\n') : commented
}

function giveId(object: Record<string, unknown>, id: string | undefined): void {
  if (object.adopt !== undefined || object.id !== undefined) object.id = id
  Reflect.deleteProperty(object, 'adopt')
}

/** Equal parts become the same part, which YAML then writes with anchors and aliases. */
function shared(value: unknown, known: Map<string, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copy = Array.isArray(value)
    ? value.map((item) => shared(item, known))
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shared(item, known)]))
  const text = JSON.stringify(copy)
  const twin = known.get(text)
  if (twin === undefined) known.set(text, copy)
  return twin ?? copy
}

/** A comment before and behind the key of every object. */
const withComments = (text: string): string =>
  text
    .split('\n')
    .flatMap((line, i, lines) => (isKey(line, lines[i - 1]) ? [`${/^ */.exec(line)?.[0]}# about ${i}`, `${line} # at ${i}`] : [line]))
    .join('\n')

const isKey = (line: string, before = ''): boolean =>
  /^ {2,4}[a-z0-9][a-z0-9._-]*:$/.test(line) && (/^\S/.test(before) || !/^ {4}/.test(line))

export const commentsIn = (text: string): readonly string[] => text.match(/# (?:about|at) \d+|# (?:first|last)/g) ?? []
