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

export type ValuePath = readonly PropertyKey[]

export interface ReadDocument {
  readonly value: unknown
  /** Falls back to the nearest existing value around it. */
  locationOf(path: ValuePath): Location
  locationOfKey(path: ValuePath): Location
}

interface UnreadDocument {
  readonly diagnostics: readonly Diagnostic[]
}

const maxFileBytes = 1024 * 1024

/** Values of the document. Those of an alias count wherever it is used. */
export const maxExpandedSize = 50_000

const maxFileDepth = 100

const maxErrors = 20

/**
 * Duplicate keys, several documents, YAML warnings and numbers that lose digits are errors, and so is a text that would take too much time
 * or memory. `name` is the input or the file.
 */
export function readDocument(text: string, name: string): ReadDocument | UnreadDocument {
  const refuse = (message: string): UnreadDocument => ({ diagnostics: [errorAt({ file: name }, message)] })
  if (Buffer.byteLength(text) > maxFileBytes) return refuse('is larger than 1 MiB')
  // YAML and JSON hold them only as escapes. Text in UTF-16 is full of them.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text)) return refuse('holds control characters; it must be text in UTF-8')
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
    if (
      document === undefined ||
      document.contents === null ||
      (isScalar(document.contents) && document.contents.value === null && !document.contents.source)
    )
      return refuse('is empty')
    const { value, scalars } = expandAliases(document.contents)
    const wrongNumbers = scalars.flatMap((node) => {
      const message = whyNoNumber(node)
      return message === undefined ? [] : [errorAt(at(startOfNode(node)), message)]
    })
    return wrongNumbers.length > 0 ? { diagnostics: wrongNumbers.slice(0, maxErrors) } : { value, ...locationsIn(document, at) }
  } catch (thrown) {
    if (!(thrown instanceof ReadError)) throw thrown
    return { diagnostics: [errorAt(at(thrown.offset), thrown.message)] }
  }
}

const implicitKeyAdvice = 'has a second ": " in one line, or is indented deeper than the line above; align it, or write the text in quotes'

const noColon = 'has no ": " after its key; write a colon and a space, as in "name: Errors"'

const tab = 'is indented with a tab; use spaces'

/** The texts of the parser are about its grammar. */
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
  const conflict = text.search(/^(?:[<|>]{7} |={7}$)/m)
  if (conflict !== -1) return [errorAt(at(conflict), 'is the marker of a conflict of Git; resolve the conflict, and remove its markers')]
  const lines = Map.groupBy(errors.slice(0, maxErrors), ({ pos }) => at(pos[0]).line)
  return [...lines.values()].flatMap(([first]) => {
    if (first === undefined) return []
    const { pos, code, message } = first
    const what = code === 'TAG_RESOLVE_FAILED' ? 'remove the tag, or write the text in quotes' : 'check the indentation and the quotes here'
    // The place is where the parser noticed, which may be many lines below.
    const closing = / end with a ([\]}])$/.exec(message)?.[1]
    const line = text.slice(text.lastIndexOf('\n', pos[0] - 1) + 1).split(/\r?\n/, 1)[0] ?? ''
    const ofLine =
      /implicit/i.test(message) && !/:(?:\s|$)/.test(line) ? noColon : /^Block/.test(message) && /^ *\t/.test(line) ? tab : undefined
    const advice = closing === undefined ? (ofLine ?? adviceByCode[code]) : `${closing} is missing here or above`
    return [errorAt(at(pos[0]), advice ?? `${printable(clip(message, 200))}; ${what}`)]
  })
}

type At = (offset: number) => Location

export const documentRules = {
  syntax: { severity: 'error', description: 'The file is not valid YAML or JSON.' },
} as const satisfies Rules

const errorAt = (location: Location, message: string) => diagnosticOf(documentRules, 'syntax', location, message)

class ReadError extends Error {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

const tooDeep = `is nested deeper than ${maxFileDepth} levels`

const startOfNode = (node: unknown) => (isNode(node) ? node.range?.[0] : undefined) ?? 0

// Tags and merge keys are errors, whichever version of YAML the text asks for. The parser's own search for repeated keys compares each with
// each.
const yamlOptions = { schema: 'core', resolveKnownTags: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const

function parseYaml(text: string, lines: LineCounter): readonly (Document.Parsed<ParsedNode> | undefined)[] {
  const stackTraceLimit = Error.stackTraceLimit
  // Stack traces of all errors in a text would take seconds, and are never shown.
  Error.stackTraceLimit = 0
  try {
    const [document, second] = new Composer({ ...yamlOptions, lineCounter: lines }).compose(tokensOf(text, lines))
    return [document, second]
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** The parser has no limit of depth, and deep input ends the process. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    // The stack also has the document around the collections, and a scalar inside them.
    if (parser.stack.length > maxFileDepth + 2) throw new ReadError(parser.offset, tooDeep)
    yield* parser.next(lexeme)
  }
  yield* parser.end()
}

/** Aliases can make a file of a few lines larger than the memory. */
function expandAliases(root: Node) {
  const scalars: Node[] = []
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  const around = new Set<Node>()
  let size = 0
  let textLength = 0
  const count = (node: unknown, values: number, text: unknown): void => {
    size += values
    if (typeof text === 'string') textLength += text.length
    if (size > maxExpandedSize) throw new ReadError(startOfNode(node), `holds more than ${maxExpandedSize} values`)
    if (textLength > maxFileBytes) throw new ReadError(startOfNode(node), 'is larger than 1 MiB after aliases are expanded')
  }
  /** Below an alias, another node can have the same name. */
  const targetOf = (alias: Alias): Node => {
    const target = targets.get(alias) ?? anchors.get(alias.source)
    const name = quote(alias.source)
    if (target === undefined)
      throw new ReadError(startOfNode(alias), `*${name} has no anchor: add &${name} before it, or quote a text: "*${name}"`)
    if (around.has(target)) throw new ReadError(startOfNode(alias), `*${name} is inside its own anchor`)
    targets.set(alias, target)
    return target
  }
  const visitCollection = (node: YAMLMap | YAMLSeq, level: number, isCopy: boolean): unknown => {
    const keys = isMap(node) ? mapKeys(node) : []
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
    if (level > maxFileDepth) throw new ReadError(startOfNode(node), tooDeep)
    if (isAlias(node)) return visit(targetOf(node), level, true)
    if (isCollection(node) && !isCopy && node.anchor !== undefined) anchors.set(node.anchor, node)
    return isCollection(node) ? visitCollection(node, level, isCopy) : visitScalar(node, isCopy)
  }
  return { value: visit(root, 1, false), scalars }
}

/** `1` and `"1"` are two keys in YAML and one here; a list can be a key in YAML, and not here. */
function mapKeys(map: YAMLMap) {
  const seen = new Set<string>()
  for (const { key } of map.items) {
    if (!isScalar(key)) throw new ReadError(startOfNode(key ?? map), 'a key must be a plain word')
    const name = String(key.value)
    if (name === '<<' && key.type === 'PLAIN') throw new ReadError(startOfNode(key), 'merge keys are not supported; write the fields out')
    if (seen.has(name))
      throw new ReadError(startOfNode(key), `Map keys must be unique: "${quote(name)}" is already in this map; remove one of them`)
    seen.add(name)
  }
  return [...seen]
}

/** A number that lost digits must not decide about money or alerts. */
function whyNoNumber(node: Node) {
  if (!isScalar(node) || typeof node.value !== 'number') return undefined
  const source = node.source ?? ''
  if (/^[-+]?\.(?:inf|nan)$/i.test(source)) return 'is not a finite number'
  return isExact(node.value, source) ? undefined : 'has more digits than a number can hold; write it in quotes'
}

function isExact(value: number, source: string) {
  // A longer one cannot be exact, and takes long to compare.
  if (!Number.isFinite(value) || source.length > 400) return false
  if (/^0[ox]/.test(source)) return Number.isSafeInteger(value)
  // A number with a longer exponent became zero or infinite.
  const decimal = /^\+?(-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?)$/.exec(source)?.[1]
  return decimal !== undefined && fromText(decimal).eq(fromText(String(value)))
}

function locationsIn(document: Document.Parsed, at: At): Readonly<Record<'locationOf' | 'locationOfKey', (path: ValuePath) => Location>> {
  // A file may declare thousands of objects, and be wrong in each of them.
  const indexes = new Map<YAMLMap, ReadonlyMap<string, Pair>>()
  const pairOf = (map: unknown, key: PropertyKey | undefined): Pair | undefined => {
    if (!isMap(map)) return undefined
    const index =
      indexes.get(map) ?? new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])))
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
    locationOf: (path) => at(startOfNode(nodeAt(path))),
    locationOfKey: (path) => at(startOfNode(pairOf(nodeAt(path.slice(0, -1)), path.at(-1))?.key ?? nodeAt(path))),
  }
}
