import {
  type Alias,
  Composer,
  type CST,
  type Document,
  type ErrorCode,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  Parser,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { fromText } from '../core/decimal.ts'
import { type Diagnostic, diagnosticOf, type Location, type Rules } from '../core/diagnostics.ts'
import { clip, printable, quote } from '../core/text.ts'

/** Keys and indexes from the top of a document down to a value. */
export type ValuePath = readonly PropertyKey[]

export interface ReadDocument {
  readonly value: unknown
  /** Location of a value, or of the nearest existing value around it. */
  locationOf(path: ValuePath): Location
  /** Location of the key that names the value. */
  locationOfKey(path: ValuePath): Location
}

interface UnreadDocument {
  readonly diagnostics: readonly Diagnostic[]
}

const maxBytes = 1024 * 1024

/** Values of the document. Those of an alias count wherever it is used. */
export const maxExpandedSize = 50_000

const maxDepth = 100

/** More errors would not be read. */
const maxErrors = 20

// YAML and JSON hold them only as escapes. Text in UTF-16 is full of them.
const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/

/**
 * Reads one YAML or JSON document that a person wrote. Duplicate keys, several documents, YAML warnings and numbers that lose digits
 * are errors, and so is a text that would take too much time or memory. `name` is the input or the file that diagnostics name.
 */
export function readDocument(text: string, name: string): ReadDocument | UnreadDocument {
  const refuse = (message: string): UnreadDocument => ({ diagnostics: [toDiagnostic({ file: name }, message)] })
  if (Buffer.byteLength(text) > maxBytes) return refuse('is larger than 1 MiB')
  if (controlCharacters.test(text)) return refuse('holds control characters; it must be text in UTF-8')
  const lines = new LineCounter()
  const at: At = (offset) => {
    const { line, col } = lines.linePos(offset)
    return { file: name, line, column: col }
  }
  try {
    const own = text.replace(/^\ufeff/, '')
    const [document, second] = parseYaml(own, lines)
    const errors = document === undefined ? [] : [...document.errors, ...document.warnings]
    if (errors.length > 0) return { diagnostics: describeErrors(errors, own, at) }
    if (second !== undefined) return refuse('holds more than one document')
    if (document === undefined || document.contents === null || isNothing(document.contents)) return refuse('is empty')
    const { value, scalars } = expand(document.contents)
    const wrongNumbers = scalars.flatMap((node) => {
      const message = whyNoNumber(node)
      return message === undefined ? [] : [toDiagnostic(at(startOf(node)), message)]
    })
    return wrongNumbers.length > 0 ? { diagnostics: wrongNumbers.slice(0, maxErrors) } : { value, ...locationsIn(document, at) }
  } catch (thrown) {
    if (!(thrown instanceof ReadError)) throw thrown
    return { diagnostics: [toDiagnostic(at(thrown.offset), thrown.message)] }
  }
}

const implicitKeyAdvice = 'has a second ": " in one line, or is indented deeper than the line above; align it, or write the text in quotes'

const noColon = 'has no ": " after its key; write a colon and a space, as in "name: Errors"'

const tab = 'is indented with a tab; use spaces'

/** What to do about errors of the parser, whose texts are about its grammar. */
const adviceByCode: Readonly<Partial<Record<ErrorCode, string>>> = {
  TAB_AS_INDENT: tab,
  BLOCK_AS_IMPLICIT_KEY: implicitKeyAdvice,
  MULTILINE_IMPLICIT_KEY: implicitKeyAdvice,
  BAD_INDENT: 'is not aligned with the lines around it; use the same number of spaces',
  BAD_DIRECTIVE: 'begins with %; write it in quotes',
  BAD_SCALAR_START: 'begins with a sign that has a meaning in YAML; write the text in quotes',
}

/** One error for each line: the others in it follow from the first one. */
function describeErrors(errors: readonly YAMLError[], text: string, at: At): readonly Diagnostic[] {
  const conflict = text.search(/^<{7} /m)
  if (conflict !== -1)
    return [toDiagnostic(at(conflict), 'is the marker of a conflict of Git; resolve the conflict, and remove its markers')]
  const lines = Map.groupBy(errors.slice(0, maxErrors), ({ pos }) => at(pos[0]).line)
  return [...lines.values()].flatMap(([first]) => {
    if (first === undefined) return []
    const { pos, code, message } = first
    const what = code === 'TAG_RESOLVE_FAILED' ? 'remove the tag' : 'check the indentation and the quotes here'
    // The place is where the parser noticed, which may be many lines below.
    const closing = / end with a ([\]}])$/.exec(message)?.[1]
    const line = text.slice(text.lastIndexOf('\n', pos[0] - 1) + 1).split(/\r?\n/, 1)[0] ?? ''
    const ofLine =
      /implicit/i.test(message) && !/:(?:\s|$)/.test(line) ? noColon : /^Block/.test(message) && /^ *\t/.test(line) ? tab : undefined
    const advice = closing === undefined ? (ofLine ?? adviceByCode[code]) : `${closing} is missing here or above`
    return [toDiagnostic(at(pos[0]), advice ?? `${printable(clip(message, 200))}; ${what}`)]
  })
}

type At = (offset: number) => Location

export const documentRules = {
  syntax: { severity: 'error', description: 'The file is not valid YAML or JSON.' },
} as const satisfies Rules

const toDiagnostic = (location: Location, message: string): Diagnostic => diagnosticOf(documentRules, 'syntax', location, message)

/** Ends reading where the text exceeds a limit, or has no meaning. */
class ReadError extends Error {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

const limitExceeded = {
  expandedSize: `holds more than ${maxExpandedSize} values`,
  expandedText: 'is larger than 1 MiB after aliases are expanded',
  depth: `is nested deeper than ${maxDepth} levels`,
} as const

/** Comments only, or a bare `---`. An explicit `null` is a value, though never a valid one. */
const isNothing = (node: Node): boolean => isScalar(node) && node.value === null && !node.source

const startOf = (node: unknown): number => (isNode(node) ? node.range?.[0] : undefined) ?? 0

// Tags and merge keys beyond JSON's kinds of value are errors, whichever version of YAML the text asks for. The parser's own search
// for repeated keys compares each with each; keysOf finds them in one pass.
const yamlOptions = { schema: 'core', resolveKnownTags: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const

/** The first two documents; more do not matter. */
function parseYaml(text: string, lines: LineCounter): readonly (Document.Parsed<ParsedNode> | undefined)[] {
  const stackTraceLimit = Error.stackTraceLimit
  // The parser makes an error object for every error in the text; their stack traces would take seconds, and are never shown.
  Error.stackTraceLimit = 0
  try {
    const [document, second] = new Composer({ ...yamlOptions, lineCounter: lines }).compose(tokensOf(text, lines))
    return [document, second]
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Limits the depth. The parser's own function has no limit, and deep input ends the process. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    // The stack also has the document around the collections, and a scalar inside them.
    if (parser.stack.length > maxDepth + 2) throw new ReadError(parser.offset, limitExceeded.depth)
    yield* parser.next(lexeme)
  }
  yield* parser.end()
}

interface Expanded {
  readonly value: unknown
  /** Every scalar in the text. */
  readonly scalars: readonly Node[]
}

type Collection = YAMLMap | YAMLSeq

/** The value of the document with all its aliases expanded. Aliases can make a file of a few lines larger than the memory. */
function expand(root: Node): Expanded {
  const scalars: Node[] = []
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  /** The collections around a node. */
  const around = new Set<Node>()
  let size = 0
  let textLength = 0
  const count = (node: unknown, values: number, text: unknown): void => {
    size += values
    if (typeof text === 'string') textLength += text.length
    if (size > maxExpandedSize) throw new ReadError(startOf(node), limitExceeded.expandedSize)
    if (textLength > maxBytes) throw new ReadError(startOf(node), limitExceeded.expandedText)
  }
  /** The node that an alias means. Below it, another node can have the same name. */
  const targetOf = (alias: Alias): Node => {
    const target = targets.get(alias) ?? anchors.get(alias.source)
    const name = quote(alias.source, 60)
    if (target === undefined) throw new ReadError(startOf(alias), `*${name} has no anchor: add &${name} before it`)
    if (around.has(target)) throw new ReadError(startOf(alias), `*${name} is inside its own anchor`)
    targets.set(alias, target)
    return target
  }
  const visitCollection = (node: Collection, level: number, isCopy: boolean): unknown => {
    const keys = isMap(node) ? keysOf(node) : []
    count(node, 1 + keys.length, keys.join(''))
    around.add(node)
    const values = node.items.map((item) => visit(isPair(item) ? item.value : item, level + 1, isCopy))
    around.delete(node)
    // Entries keep a key such as __proto__ from having a special meaning.
    return isMap(node) ? Object.fromEntries(keys.map((key, i) => [key, values[i]])) : values
  }
  const visitScalar = (node: unknown, isCopy: boolean): unknown => {
    // A value that is left out, as in `key:`, is null.
    const value = isScalar(node) ? node.value : null
    count(node, 1, value)
    if (isScalar(node) && !isCopy) {
      scalars.push(node)
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    }
    return value
  }
  const visit = (node: unknown, level: number, isCopy: boolean): unknown => {
    if (level > maxDepth) throw new ReadError(startOf(node), limitExceeded.depth)
    if (isAlias(node)) return visit(targetOf(node), level, true)
    if (isCollection(node) && !isCopy && node.anchor !== undefined) anchors.set(node.anchor, node)
    return isCollection(node) ? visitCollection(node, level, isCopy) : visitScalar(node, isCopy)
  }
  return { value: visit(root, 1, false), scalars }
}

/** `1` and `"1"` are two keys in YAML and one here; a list can be a key in YAML, and not here. */
function keysOf(map: YAMLMap): readonly string[] {
  const seen = new Set<string>()
  for (const { key } of map.items) {
    if (!isScalar(key)) throw new ReadError(startOf(key ?? map), 'a key must be a plain word')
    const name = String(key.value)
    if (name === '<<' && key.type === 'PLAIN') throw new ReadError(startOf(key), 'merge keys are not supported; write the fields out')
    if (seen.has(name))
      throw new ReadError(startOf(key), `Map keys must be unique: "${quote(name, 60)}" is already in this map; remove one of them`)
    seen.add(name)
  }
  return [...seen]
}

/** A number that lost digits differs from the written one. It must not decide about money or alerts. */
function whyNoNumber(node: Node): string | undefined {
  if (!isScalar(node) || typeof node.value !== 'number') return undefined
  const source = node.source ?? ''
  if (/^[-+]?\.(?:inf|nan)$/i.test(source)) return 'is not a finite number'
  return isExact(node.value, source) ? undefined : 'has more digits than a number can hold; write it in quotes'
}

/** A longer one cannot be exact, and takes long to compare. */
const maxNumberLength = 400

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value) || source.length > maxNumberLength) return false
  if (/^0[ox]/.test(source)) return Number.isSafeInteger(value)
  // The exponent is bounded before anything is computed from it; a number with a longer one became zero or infinite.
  const decimal = /^\+?(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?)$/.exec(source)?.[1]
  return decimal !== undefined && fromText(decimal).eq(fromText(String(value)))
}

/** Keys are compared as the text that they become: a file may say `404:`. */
type PairsByKey = ReadonlyMap<string, Pair>

const pairsByKey = (map: YAMLMap): PairsByKey =>
  new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])))

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
