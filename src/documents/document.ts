import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  Parser,
  type YAMLMap,
} from 'yaml'
import { fromText } from '../core/decimal.ts'
import type { Diagnostic, Location } from '../core/diagnostics.ts'
import { clip, printable, quote } from '../core/text.ts'

// Owns parsing YAML text within bounds: what is too long or too deep is refused before anything is built of it.

/** How many levels a document may have. */
export const deepest = 100

/** Pieces of text: words, signs, line ends, escapes. Some five of them make a value. */
const mostPieces = 250_000

/** Nobody reads more mistakes than that, and each takes its time. */
const mostMistakes = 20

export interface Parsed {
  /** The first two documents; more do not matter. */
  readonly documents: readonly Document.Parsed<ParsedNode>[]
  readonly lines: LineCounter
}

/** What is too much, and where in the text. */
export interface TooMuch {
  readonly message: string
  readonly offset: number
  readonly lines: LineCounter
}

// Tags and merge keys beyond JSON's kinds of value are mistakes, whichever version of YAML the text asks for. The parser's own
// search for repeated keys compares each with each; extent.ts finds them in one pass.
const options = { schema: 'core', resolveKnownTags: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const

export function parseYaml(text: string): Parsed | TooMuch {
  const lines = new LineCounter()
  const stackTraceLimit = Error.stackTraceLimit
  // The parser makes an error object for every mistake; their stack traces would take seconds, and are shown to nobody.
  Error.stackTraceLimit = 0
  try {
    const documents: Document.Parsed<ParsedNode>[] = []
    for (const document of new Composer({ ...options, lineCounter: lines }).compose(tokensOf(text, lines))) {
      documents.push(document)
      if (documents.length > 1) break
    }
    return { documents, lines }
  } catch (thrown) {
    if (thrown instanceof TooMuchFound) return { message: thrown.message, offset: thrown.offset, lines }
    throw thrown
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

class TooMuchFound extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Around the collections there is the document, and inside them a scalar. */
const deepestStack = deepest + 2

function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let pieces = 0
  let mistakes = 0
  for (const piece of new Lexer().lex(text)) {
    pieces += 1 + marksIn(piece)
    if (pieces > mostPieces) throw new TooMuchFound(`is longer than ${mostPieces} words, signs and lines`, parser.offset)
    if (parser.stack.length > deepestStack) throw new TooMuchFound(`is nested deeper than ${deepest} levels`, parser.offset)
    for (const token of parser.next(piece)) {
      if (token.type === 'error') mistakes += 1
      yield token
    }
    if (mistakes > mostMistakes) break
  }
  yield* parser.end()
}

/** Line ends and escapes inside of one text, which is a single piece: each takes the composer as long as a word. */
function marksIn(piece: string): number {
  let marks = 0
  for (const mark of ['\n', '\\']) {
    for (let at = piece.indexOf(mark); at >= 0 && marks <= mostPieces; at = piece.indexOf(mark, at + 1)) marks += 1
  }
  return marks
}

// Owns what a YAML document stands for: its value with all its aliases, as long as that is neither too deep nor too large.

const mostNodes = 50_000

export interface Extent {
  /** Aliases of one thing share its value. */
  readonly value: unknown
  /** Every scalar that stands in the text. */
  readonly scalars: readonly Node[]
}

/** What is wrong with the document, and the node that it is about. */
export interface Excess {
  readonly node: unknown
  readonly message: string
}

/** Of a node, with all that it stands for. */
interface Content {
  readonly value: unknown
  readonly nodes: number
  readonly levels: number
}

interface Walk {
  readonly scalars: Node[]
  /** What bears an anchor; undefined while it is being looked at. */
  readonly anchors: Map<string, Content | undefined>
}

/** Aliases count as often as they stand there: a file of a few lines can stand for more than fits into memory. */
export function measure(root: Node): Extent | Excess {
  const scalars: Node[] = []
  try {
    const { value } = contentOf(root, 1, { scalars, anchors: new Map() })
    return { value, scalars }
  } catch (thrown) {
    if (thrown instanceof ExcessFound) return thrown.excess
    throw thrown
  }
}

/** Ends the walk where it is. */
class ExcessFound extends Error {
  readonly excess: Excess
  constructor(node: unknown, message: string) {
    super(message)
    this.excess = { node, message }
  }
}

function contentOf(node: unknown, depth: number, walk: Walk): Content {
  if (depth > deepest) throw new ExcessFound(node, `is nested deeper than ${deepest} levels`)
  if (isAlias(node)) return contentOfAlias(node, depth, walk)
  if (isScalar(node)) walk.scalars.push(node)
  const anchor = isScalar(node) || isCollection(node) ? node.anchor : undefined
  if (anchor !== undefined) walk.anchors.set(anchor, undefined)
  const content = isCollection(node) ? contentOfCollection(node, depth, walk) : { value: scalarValue(node), nodes: 1, levels: 1 }
  if (anchor !== undefined) walk.anchors.set(anchor, content)
  return content
}

/** Null for what is not there, as in `key:`. */
const scalarValue = (node: unknown): unknown => (isScalar(node) ? node.value : null)

function contentOfCollection(node: Node & { readonly items: readonly unknown[] }, depth: number, walk: Walk): Content {
  const keys = isMap(node) ? keysOf(node) : undefined
  const values: unknown[] = []
  let nodes = 1
  let levels = 1
  for (const item of isMap(node) ? node.items.map((pair) => pair.value) : node.items) {
    const inner = contentOf(item, depth + 1, walk)
    values.push(inner.value)
    nodes += keys === undefined ? inner.nodes : inner.nodes + 1
    levels = Math.max(levels, inner.levels + 1)
    if (nodes > mostNodes) throw new ExcessFound(node, `holds more than ${mostNodes} values`)
  }
  // As entries, so that a key such as __proto__ is one like any other.
  return { value: keys === undefined ? values : Object.fromEntries(keys.map((key, i) => [key, values[i]])), nodes, levels }
}

function contentOfAlias(node: Alias, depth: number, { anchors }: Walk): Content {
  const { source } = node
  const content = anchors.get(source)
  if (content === undefined) {
    const reason = anchors.has(source) ? 'stands inside what it stands for' : `stands for nothing: no &${quote(source, 60)} comes before it`
    throw new ExcessFound(node, `*${quote(source, 60)} ${reason}`)
  }
  if (depth + content.levels - 1 > deepest) throw new ExcessFound(node, `is nested deeper than ${deepest} levels`)
  return content
}

/** `1` and `"1"` are two keys of YAML and one of ours; a list is a key of YAML and none of ours. */
function keysOf(map: YAMLMap): readonly string[] {
  const seen = new Set<string>()
  for (const { key } of map.items) {
    if (!isScalar(key)) throw new ExcessFound(key ?? map, 'is no key: write a word')
    const name = String(key.value)
    if (name === '<<' && key.type === 'PLAIN') throw new ExcessFound(key, 'is a merge key, which is not known here: write the fields out')
    if (seen.has(name)) throw new ExcessFound(key, `Map keys must be unique: "${quote(name, 60)}" stands here already`)
    seen.add(name)
  }
  return [...seen]
}

// Owns reading one YAML or JSON document that a person wrote: strict, bounded, every diagnostic with its location.

/** As much as a file may have. What takes the parser time and memory is bounded in parse-yaml.ts, what the text may stand for in extent.ts. */
const largestBytes = 5 * 1024 * 1024

// Neither YAML nor JSON has them but as escapes; what is saved as UTF-16 is full of them.
const noText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/

/** Keys and indexes from the top of a document down to a value. */
export type ValuePath = readonly PropertyKey[]

export interface ReadDocument {
  readonly value: unknown
  /** Where a value stands, or the nearest one around it that is there. */
  locationOf(path: ValuePath): Location
  /** The same of the key that names the value. */
  locationOfKey(path: ValuePath): Location
}

export type Reading = ReadDocument | { readonly diagnostics: readonly Diagnostic[] }

/** `name` is what messages call the text: an input or a file. Duplicate keys, several documents and warnings are errors. */
export function readDocument(text: string, name: string): Reading {
  if (Buffer.byteLength(text) > largestBytes) return refuse(name, 'is larger than 5 MiB')
  if (noText.test(text)) return refuse(name, 'holds control characters: it is no text in UTF-8')
  const parsed = parseYaml(text.replace(/^\ufeff/, ''))
  const at = (offset: number): Location => {
    const { line, col } = parsed.lines.linePos(offset)
    return { file: name, line, column: col }
  }
  if ('message' in parsed) return { diagnostics: [toDiagnostic(at(parsed.offset), parsed.message)] }
  const [document, second] = parsed.documents
  const mistakes = document === undefined ? [] : [...document.errors, ...document.warnings]
  if (mistakes.length > 0)
    return {
      diagnostics: mistakes.slice(0, mostMistakes).map(({ pos, message }) => toDiagnostic(at(pos[0]), printable(clip(message, 200)))),
    }
  if (second !== undefined) return refuse(name, 'holds more than one document')
  if (document === undefined || document.contents === null || isNothing(document.contents)) return refuse(name, 'is empty')
  const extent = measure(document.contents)
  if ('message' in extent) return { diagnostics: [toDiagnostic(at(startOf(extent.node)), extent.message)] }
  const wrong = extent.scalars.flatMap((node) => {
    const message = whyNoNumber(node)
    return message === undefined ? [] : [toDiagnostic(at(startOf(node)), message)]
  })
  return wrong.length > 0 ? { diagnostics: wrong.slice(0, mostMistakes) } : { value: extent.value, ...locationsIn(document, at) }
}

/** Comments alone, or a bare `---`. An explicit `null` is a value, though never the one that is wanted. */
const isNothing = (node: Node): boolean => isScalar(node) && node.value === null && !node.source

const refuse = (file: string, message: string): Reading => ({ diagnostics: [toDiagnostic({ file }, message)] })

type At = (offset: number) => Location

const toDiagnostic = (location: Location, message: string): Diagnostic => ({ rule: 'syntax', severity: 'error', location, message })

/** A number that is not what stands in the text any more: nobody should be charged, or woken, by it. */
function whyNoNumber(node: Node): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'number') return undefined
  const source = node.source ?? ''
  if (/^[-+]?\.(?:inf|nan)$/i.test(source)) return 'is no finite number'
  return isExact(node.value, source) ? undefined : 'has more digits than a number can hold; write it in quotes'
}

/** Longer ones are no exact number of any kind, and take long to compare. */
const longestNumber = 400

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value) || source.length > longestNumber) return false
  if (/^0[ox]/.test(source)) return Number.isSafeInteger(value)
  // An exponent is bounded before anything is made of it; a number with a longer one became zero or infinite.
  const decimal = /^\+?(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?)$/.exec(source)?.[1]
  return decimal !== undefined && fromText(decimal).eq(fromText(String(value)))
}

/** Keys are compared as the text that they become: a file may say `404:`. */
type PairsByKey = ReadonlyMap<string, Pair>

const pairsByKey = (map: YAMLMap): PairsByKey =>
  new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])))

const startOf = (node: unknown): number => (node as Partial<Node> | undefined)?.range?.[0] ?? 0

function locationsIn(document: Document.Parsed, at: At): Pick<ReadDocument, 'locationOf' | 'locationOfKey'> {
  // Each map is indexed once: a file may declare thousands of objects, and be wrong in each of them.
  const indexes = new Map<YAMLMap, PairsByKey>()
  const pairOf = (map: unknown, key: PropertyKey | undefined): Pair | undefined => {
    if (!isMap(map)) return undefined
    const index = indexes.get(map) ?? pairsByKey(map)
    indexes.set(map, index)
    return index.get(String(key))
  }
  const nodeAt = (path: ValuePath): unknown => {
    let node: unknown = document.contents
    for (const key of path) {
      const inner = isSeq(node) && typeof key === 'number' ? node.items[key] : pairOf(node, key)?.value
      if (inner === undefined || inner === null) break
      node = inner
    }
    return node
  }
  return {
    locationOf: (path) => at(startOf(nodeAt(path))),
    locationOfKey: (path) => at(startOf(pairOf(nodeAt(path.slice(0, -1)), path.at(-1))?.key ?? nodeAt(path))),
  }
}
