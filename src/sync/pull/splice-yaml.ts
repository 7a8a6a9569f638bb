// Edits YAML by splicing: a collection that changes is put together of the texts of its items, and only what differs is written again. All
// else keeps every byte, with its comments, quotes, expressions and empty lines.
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { type Body, itemId } from '../../kinds/kind.ts'
import { canonicalText } from '../../kinds/marker.ts'
import { isEmpty, isMapping } from '../../platform/core/keys.ts'
import { escapeExpressions, hasVariable } from '../../platform/documents/expressions.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { createNode, createRoot, createSection, defaultIndentation, type Indentation, openLists, toText } from './write-yaml.ts'

/** Fields that are in neither stay as they are. */
export interface BeforeAfter<Value = Body> {
  readonly before: Value
  readonly after: Value
}

type Path = readonly string[]

type Collection = YAMLMap | YAMLSeq

interface Extent {
  readonly start: number
  readonly end: number
}

interface Splice extends Extent {
  readonly text: string
}

/** With the comments that belong to it. */
interface Part extends Extent {
  readonly item: Pair | Node
}

interface Place {
  readonly isFlow: boolean
  readonly column: number
  readonly path: Path
  /** Where items start, and whether a new collection has a line for each of its items. For JSON. */
  readonly start?: number
  readonly isOpen?: boolean
  /** Its quotes stay. */
  readonly old?: Node
}

interface Chunk {
  readonly name?: string
  /** Undefined for a new one. */
  readonly index?: number
  readonly text: string
}

/** None of the objects has an anchor or alias. What is written into JSON is JSON. */
export class Splicer {
  readonly replacedExpressions = new Map<string, readonly string[]>()
  readonly #text: string
  readonly #document: Document.Parsed
  readonly #indentation: Indentation
  readonly #json: JsonStyle | undefined

  constructor(text: string, document: Document.Parsed, isJson: boolean) {
    this.#text = text
    this.#json = isJson ? detectJsonStyle(text) : undefined
    this.#document = document
    this.#indentation = detectIndentation(document, text)
  }

  editRoot(sides: BeforeAfter): string {
    const { contents: root } = this.#document
    if (!isMap(root)) throw new Error('declarations are a map')
    const { start, end, text } = this.#splice(root, sides.before, sides.after, []) ?? this.#replaceRoot(root, sides.after)
    return this.#text.slice(0, start) + text + this.#text.slice(end)
  }

  #replaceRoot(root: YAMLMap, after: Body): Splice {
    const [start] = rangeOf(root)
    if (this.#json) return { start, end: this.#endOf(root), text: this.#toJson(after, start, this.#text.includes('\n', start)) }
    const end = root.flow ? this.#endOf(root) : (this.#partsOf(root).at(-1)?.end ?? start)
    const text = isEmpty(after) ? '{}' : toText(createRoot(this.#document, after, this.#indentation.indent), this.#indentation)
    return { start, end, text }
  }

  /** Undefined where nothing of the node stays, or what stays would contradict the rest. */
  #splice(node: unknown, before: unknown, after: unknown, path: Path): Splice | undefined {
    // The sides of the root and of a section have only what changes.
    const isLeftEmpty = path.length > 1 && isEmpty(after)
    if (!(isMap(node) || isSeq(node)) || isLeftEmpty) return undefined
    const parts = this.#partsOf(node)
    const chunks = this.#chunksOf(node, parts, { before, after }, path)
    const [first, last] = [parts.at(0), parts.at(-1)]
    if (first === undefined || last === undefined || chunks.every(({ index }) => index === undefined)) return undefined
    const gap = (index: number): string => this.#text.slice(parts[index - 1]?.end, parts[index]?.start)
    const newLine = `${isSpaced(path) ? '\n' : ''}\n${' '.repeat(this.#columnOf(rangeOf(node)[0]))}`
    const inside = this.#text.slice(rangeOf(node)[0] + 1, first.start)
    const comma = /^\s+$/.test(inside) ? `,${inside}` : this.#json?.isCompact ? ',' : ', '
    const newGap = node.flow ? (parts.length > 1 ? gap(1) : comma) : newLine
    const gapBefore = ({ index }: Chunk): string => (index ? gap(index) : newGap)
    const text = chunks.map((chunk, i) => (i === 0 ? '' : gapBefore(chunk)) + chunk.text).join('')
    return { start: first.start, end: last.end, text }
  }

  #chunksOf(node: Collection, parts: readonly Part[], { before, after }: BeforeAfter<unknown>, path: Path): readonly Chunk[] {
    if (isMap(node) && isMapping(before) && isMapping(after)) return this.#editMap(node, parts, { before, after }, path)
    if (isSeq(node) && Array.isArray(before) && Array.isArray(after) && before.length === parts.length)
      return this.#editSeq(node, parts, { before, after }, path)
    return []
  }

  #partsOf(collection: Collection): readonly Part[] {
    const items: readonly (Pair | Node)[] = collection.items.map((item) => (isPair(item) ? item : nodeOf(item)))
    if (collection.flow)
      return items.map((item) => ({ item, start: rangeOf(isPair(item) ? item.key : item)[0], end: this.#endOf(nodeOf(item)) }))
    const [first] = rangeOf(collection)
    // Comments in deeper columns belong to the item before them.
    const comments = new RegExp(`(?:\\s*\\n {${this.#columnOf(first) + 1},}#.*)*`, 'y')
    const parts: Part[] = []
    for (const item of items) {
      const previous = parts.at(-1)?.end
      const start = previous === undefined ? first : previous + this.#text.slice(previous).search(/\S/)
      comments.lastIndex = this.#lineEnd(this.#endOf(nodeOf(item)))
      comments.test(this.#text)
      parts.push({ item, start, end: comments.lastIndex })
    }
    return parts
  }

  #editMap(map: YAMLMap, parts: readonly Part[], sides: BeforeAfter, path: Path): readonly Chunk[] {
    const { before, after } = sides
    if (path.length > 2 && hasConflictingFields(map, sides)) return []
    const kept = parts.flatMap((part, index): Chunk[] => {
      const name = keyText(ownValue(part.item, 'key'))
      const inPath = [...path, name]
      const isGiven = Object.hasOwn(after, name)
      if (isGiven || !Object.hasOwn(before, name))
        return [{ name, index, text: this.#editItem(part, map, isGiven ? [before[name], after[name]] : [], inPath) }]
      this.#release(nodeOf(part.item), inPath)
      return []
    })
    return this.#insertFields(kept, map, sides, path)
  }

  /** Each new field comes behind those that come before it in a new file. */
  #insertFields(kept: readonly Chunk[], map: YAMLMap, { before, after }: BeforeAfter, path: Path): readonly Chunk[] {
    const chunks = [...kept]
    const names = Object.keys(after)
    for (const [i, name] of names.entries()) {
      if (findPair(map, name) !== undefined || isEqual(before[name], after[name])) continue
      const inPath = [...path, name]
      // A default that does not apply any more.
      if (path.length === 2) this.#release(this.#document.getIn(['defaults', path[0], name], true), inPath)
      const predecessors = names.slice(0, i)
      const position = isSpaced(path) ? chunks.length : chunks.findLastIndex((one) => predecessors.includes(one.name ?? '')) + 1
      chunks.splice(position, 0, { name, text: this.#write(name, after[name], this.#placeIn(map, inPath)) })
    }
    return chunks
  }

  #editSeq(seq: YAMLSeq, parts: readonly Part[], { before, after }: BeforeAfter<readonly unknown[]>, path: Path): readonly Chunk[] {
    const left = new Map(identifyItems(before).map((identity, index) => [identity, index]))
    const identities = identifyItems(after)
    const inPath = [...path, '']
    const chunks = after.map((value, i): Chunk => {
      const index = left.get(identities[i])
      left.delete(identities[i])
      const part = index === undefined ? undefined : parts[index]
      if (index === undefined || part === undefined) return { text: this.#write(undefined, value, this.#placeIn(seq, inPath)) }
      return { index, text: this.#editItem(part, seq, [before[index], value], inPath) }
    })
    for (const index of left.values()) this.#release(seq.items[index], inPath)
    return chunks
  }

  /** The comment beside the value stays. */
  #editItem({ item, start, end }: Part, { flow: isFlow = false }: Collection, [before, after]: readonly unknown[], path: Path): string {
    const text = this.#text
    if (isEqual(before, after)) return text.slice(start, end)
    const value = nodeOf(item)
    const spliced = this.#splice(value, before, after, path)
    if (spliced !== undefined) return text.slice(start, spliced.start) + spliced.text + text.slice(spliced.end, end)
    this.#release(value, path)
    const isBlock = isCollection(value) && !value.flow && value.items.length > 0
    const [valueStart] = rangeOf(value)
    if (this.#json) {
      const isOpen = isFilled(value) ? this.#hasLines(value) : this.#startsLine(start)
      return text.slice(start, valueStart) + this.#toJson(after, start, isOpen) + text.slice(this.#endOf(value), end)
    }
    if (!isPair(item)) {
      const written = this.#write(undefined, after, { isFlow, column: this.#columnOf(valueStart) - dash.length, path, old: value })
      const rest = isBlock ? '' : text.slice(this.#endOf(value), end)
      return text.slice(start, valueStart) + withRest(isFlow ? written : written.slice(dash.length), rest)
    }
    const [keyStart, keyEnd] = rangeOf(item.key)
    const written = this.#write('k', after, { isFlow, column: this.#columnOf(keyStart), path, old: value })
    const colon = text.indexOf(':', keyEnd) + 1
    const rest = isBlock ? text.slice(colon, this.#lineEnd(colon)) : text.slice(this.#endOf(value), end)
    return text.slice(start, keyEnd) + withRest(written.slice('k'.length), rest)
  }

  /** At this column, or in brackets. */
  #write(key: string | undefined, value: unknown, { isFlow, column, path, old, start = 0, isOpen = false }: Place): string {
    if (this.#json)
      return (key === undefined ? '' : JSON.stringify(key) + (this.#json.isCompact ? ':' : ': ')) + this.#toJson(value, start, isOpen)
    const node = this.#createNode(value, column, path)
    // Quotes are for one line.
    if (isScalar(old) && isScalar(node) && old.type?.startsWith('QUOTE') && typeof value === 'string' && !value.includes('\n'))
      node.type = old.type
    const around = this.#document.createNode(key === undefined ? [node] : { [key]: node })
    around.flow = isFlow
    const written = toText(around, this.#indentation)
    return isFlow ? written.slice(1, -1).trim() : written.replaceAll(/\n(?=.)/g, `\n${' '.repeat(column)}`)
  }

  /** With a line for each item, or on the line of the offset. */
  #toJson(value: unknown, offset: number, isOpen: boolean): string {
    const { indent, padding, isCompact } = this.#json ?? detectJsonStyle(this.#text)
    const content = escapeExpressions(value)
    if (isCompact && !isOpen) return JSON.stringify(content)
    const lines = JSON.stringify(content, null, isOpen ? indent : ' ')
    if (isOpen) return lines.replaceAll('\n', `\n${/^[ \t]*/.exec(this.#lineBefore(offset, this.#text.length))?.[0]}`)
    return lines.replace(/([{[,]?)\n *(\}?)/g, (_, before: string, after: string) => {
      if (before === ',') return ', '
      return before === '{' || after !== '' ? before + padding + after : before
    })
  }

  #createNode(value: unknown, column: number, path: Path): Node {
    const { indent } = this.#indentation
    if (path.length === 1 && isMapping(value)) return createSection(this.#document, value, indent)
    const isOpen = path.length === 2 || (path.at(-1) === '' && openLists.includes(path.at(-2) ?? ''))
    return createNode(this.#document, value, { name: path.at(-1) ?? '', column, indent, ...(isOpen && { isOpen }) })
  }

  #release(node: unknown, [section, key, ...fields]: Path): void {
    const found = fields.length === 0 ? [] : expressionsIn(node, this.#document)
    if (found.length === 0) return
    const address = `${section}.${key}`
    this.replacedExpressions.set(address, [...new Set([...(this.replacedExpressions.get(address) ?? []), ...found])])
  }

  #placeIn(collection: Collection, path: Path): Place {
    const place = { isFlow: collection.flow === true, column: this.#columnOf(rangeOf(collection)[0]), path }
    const [first] = this.#json ? this.#partsOf(collection) : []
    if (first === undefined) return place
    const siblings = collection.items.map(nodeOf).filter(isFilled)
    const isOpen = siblings.length > 0 ? siblings.some((one) => this.#hasLines(one)) : this.#startsLine(first.start)
    return { ...place, start: first.start, isOpen }
  }

  #hasLines(node: Node): boolean {
    return this.#text.slice(...rangeOf(node)).includes('\n')
  }

  #startsLine(offset: number): boolean {
    return this.#lineBefore(offset, offset).trim() === ''
  }

  #lineBefore(offset: number, end: number): string {
    return this.#text.slice(offset - this.#columnOf(offset), end)
  }

  #columnOf(offset: number): number {
    return columnIn(this.#text, offset)
  }

  #lineEnd(offset: number): number {
    const end = this.#text.indexOf('\n', offset)
    return end < 0 ? this.#text.length : end
  }

  /** Without the comment behind it. */
  #endOf(node: Node): number {
    const last = isCollection(node) && !node.flow ? node.items.at(-1) : undefined
    return last === undefined ? this.#text.slice(0, rangeOf(node)[1]).trimEnd().length : this.#endOf(nodeOf(last))
  }
}

const dash = '- '

function withRest(written: string, rest: string): string {
  const [first = '', ...lines] = written.split('\n')
  return [first + rest, ...lines].join('\n')
}

/** A field that is null is not equal to a field that is absent. */
export const isEqual = (a: unknown, b: unknown): boolean => canonicalText(a) === canonicalText(b)

/** Sections and objects come last in their map, after an empty line. */
const isSpaced = (path: Path): boolean => path.length < 2

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key)

export const findPair = (map: YAMLMap, name: string): Pair | undefined => map.items.find(({ key }) => keyText(key) === name)

/** A pair in brackets can have no value. */
function nodeOf(item: unknown): Node {
  const node = isPair(item) ? (item.value ?? item.key) : item
  if (!isNode(node)) throw new Error('the document was not parsed from a text')
  return node
}

function rangeOf(node: unknown): readonly [number, number] {
  const range = isNode(node) ? node.range : undefined
  if (range == null) throw new Error('the document was not parsed from a text')
  return [range[0], range[1]]
}

const isFilled = (node: Node): node is Collection & Node => isCollection(node) && node.items.length > 0

const columnIn = (text: string, offset: number): number => offset - (text.lastIndexOf('\n', offset - 1) + 1)

/** The columns by which the first section is indented, and whether lists are. */
function detectIndentation({ contents }: Document.Parsed, text: string): Indentation {
  const pairsIn = (value: unknown): readonly Pair[] => (isMap(value) && !value.flow ? value.items : [])
  const columnOf = (node: unknown): number => columnIn(text, rangeOf(node)[0])
  const objects = pairsIn(contents).flatMap(({ value }) => pairsIn(value))
  const indent = objects.map(({ key }) => columnOf(key)).find((column) => column > 0) ?? defaultIndentation.indent
  const fields = objects.flatMap(({ value }) => pairsIn(value))
  const hasUnindentedList = fields.some(({ key, value }) => isSeq(value) && !value.flow && columnOf(key) === columnOf(value))
  // Unless the indent is 2, the library puts unindented lists into unusual columns.
  return { indent, indentSeq: indent !== defaultIndentation.indent || !hasUnindentedList }
}

interface JsonStyle {
  readonly indent: string
  /** Between a brace and a field on the same line. */
  readonly padding: string
  readonly isCompact: boolean
}

const detectJsonStyle = (text: string): JsonStyle => ({
  indent: /\n([ \t]+)/.exec(text)?.[1] ?? '  ',
  padding: /\{ "/.test(text) ? ' ' : '',
  isCompact: /[^\\]":\S/.test(text),
})

/** Fields of the API that decide which other fields a map can have. */
const kindFields: readonly string[] = ['displayType', 'configType', 'type', 'mode', 'operator', 'kind']

/** For example, an id that only the file has would contradict a new name. */
function hasConflictingFields(map: YAMLMap, { before, after }: BeforeAfter): boolean {
  const hasOwnFields = map.items.some(({ key }) => !Object.hasOwn(before, keyText(key)))
  return (
    hasOwnFields &&
    (Object.keys(before).some((name) => findPair(map, name) === undefined) ||
      kindFields.some((name) => !isEqual(before[name], after[name])))
  )
}

/** Unique for each item: its id, its name or its value. */
function identifyItems(items: readonly unknown[]): readonly unknown[] {
  const counts = new Map<unknown, number>()
  return items.map((item, i) => {
    const identity = ownValue(item, itemId) ?? nameOrValue(item) ?? i
    const count = counts.get(identity) ?? 0
    counts.set(identity, count + 1)
    return count === 0 ? identity : `${String(identity)} ${count}`
  })
}

function nameOrValue(item: unknown): string | undefined {
  if (!isMapping(item)) return Array.isArray(item) ? undefined : `=${canonicalText(item)}`
  return typeof item.name === 'string' ? `name ${item.name}` : undefined
}

/** Also behind an alias. */
function expressionsIn(node: unknown, document: Document.Parsed): readonly string[] {
  const target = isAlias(node) ? node.resolve(document) : node
  if (!isScalar(target) && !isCollection(target)) return []
  const found: string[] = []
  visit(target, {
    Alias: (_, alias) => void found.push(...expressionsIn(alias, document)),
    Scalar: (_, { value }) => void (typeof value === 'string' && hasVariable(value) && found.push(value)),
  })
  return found
}
