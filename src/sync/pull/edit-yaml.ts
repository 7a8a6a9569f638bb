import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  YAMLMap,
  type YAMLSeq,
} from 'yaml'
import * as z from 'zod'
import { isMapping } from '../../core/keys.ts'
import { readDocument } from '../../documents/document.ts'
import { escapeExpressions, hasVariable } from '../../documents/expressions.ts'
import { defaultOf, ownValue, type Shape } from '../../documents/schema.ts'
import { type Body, type DeclaredKey, itemId } from '../../kinds/kind.ts'
import { addressOf, type KindName, sections } from '../../kinds/kind-names.ts'
import { fileSchemas } from '../../kinds/kinds.ts'
import { canonicalText } from '../../kinds/marker.ts'
import { mergeLines } from './merge-lines.ts'
import {
  type Addition,
  appendPair,
  createNode,
  defaultIndentation,
  documentOptions,
  type Indentation,
  openLists,
  type Position,
  textOptions,
} from './write-yaml.ts'

interface FileEdit {
  readonly path: string
  readonly text: string
  /** The `defaults` of the file, with their expressions replaced. */
  readonly defaults: unknown
  readonly updates: readonly Update[]
  readonly additions: readonly Addition[]
  /** Objects whose declarations go away. */
  readonly removals: readonly Removal[]
}

export type Removal = Pick<DeclaredKey, 'kind' | 'key'>

/** The fields of an object in the file, and those that it gets. */
export interface Spelled {
  readonly before: Body
  readonly after: Body
}

export interface Update extends Spelled {
  readonly kind: KindName
  readonly key: string
}

export interface EditedFile {
  readonly text: string
  /** Expressions that a value of the service replaced, by object. */
  readonly replacedExpressions: ReadonlyMap<string, readonly string[]>
}

/** Equal in a file. A field that is null is not equal to a field that is absent. */
export const isEqual = (a: unknown, b: unknown): boolean => canonicalText(a) === canonicalText(b)

const byteOrderMark = '\ufeff'

/** Edits an existing file. Everything that does not change keeps its comments, order and formatting. */
export function editFile(edit: FileEdit): EditedFile {
  const { path, text } = edit
  const hasByteOrderMark = text.startsWith(byteOrderMark)
  const bare = hasByteOrderMark ? text.slice(byteOrderMark.length) : text
  // Mixed line endings stay as they are.
  const usesCrLf = /\r\n/.test(bare) && !/(?:^|[^\r])\n/.test(bare)
  const original = usesCrLf ? bare.replaceAll('\r\n', '\n') : bare
  const edited = path.endsWith('.json') && isJson(original) ? editJson(edit, original) : editYaml(edit, original)
  const lines = usesCrLf ? edited.text.replaceAll('\n', '\r\n') : edited.text
  return { ...edited, text: hasByteOrderMark ? `${byteOrderMark}${lines}` : lines }
}

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined
  } catch {
    return false
  }
}

function editJson(edit: FileEdit, original: string): EditedFile {
  const document = parseDocument(original, documentOptions)
  const replacedExpressions = applyEdit(document, edit, 2)
  return { text: `${JSON.stringify(document.toJS(), null, 2)}\n`, replacedExpressions }
}

function editYaml(edit: FileEdit, original: string): EditedFile {
  const document = parseDocument(original, documentOptions)
  const indentation = detectIndentation(document, original)
  const options = textOptions(indentation)
  const formatted = document.toString(options)
  const replacedExpressions = applyEdit(document, edit, indentation.indent)
  const changed = document.toString(options)
  // Merged lines can have another meaning, for example when indentations mix. Such a text is never written.
  const versions = { original, formatted, changed }
  const candidates = [() => mergeLines(versions), () => mergeLines({ ...versions, blockIndent: indentation.indent }), () => changed]
  for (const candidate of candidates) {
    const text = candidate()
    if (text !== undefined && hasSameContent(text, document, edit.path)) return { text, replacedExpressions }
  }
  return { text: original, replacedExpressions }
}

function hasSameContent(text: string, document: Document.Parsed, path: string): boolean {
  const reading = readDocument(text, path)
  return 'value' in reading && isEqual(reading.value, document.toJS({ maxAliasCount: -1 }))
}

function detectIndentation({ contents }: Document.Parsed, text: string): Indentation {
  const columnOf = (node: unknown): number | undefined => {
    const start = isNode(node) ? node.range?.[0] : undefined
    return start === undefined ? undefined : start - (text.lastIndexOf('\n', start - 1) + 1)
  }
  const pairsIn = (value: unknown): readonly Pair[] => (isMap(value) ? value.items : [])
  const sectionPairs = pairsIn(contents)
  const columns = sectionPairs.map(({ value }) => (isMap(value) && !value.flow ? columnOf(value.items[0]?.key) : undefined))
  const indent = columns.find((column) => !!column) ?? defaultIndentation.indent
  const fields = sectionPairs.flatMap(({ value }) => pairsIn(value)).flatMap(({ value }) => pairsIn(value))
  const hasUnindentedList = fields.some(({ key, value }) => isSeq(value) && !value.flow && columnOf(key) === columnOf(value))
  // Unless the indent is 2, the library puts unindented lists into unusual columns.
  return { indent, indentSeq: indent !== defaultIndentation.indent || !hasUnindentedList }
}

interface EditContext {
  readonly document: Document.Parsed
  readonly indent: number
  /** Expressions that were replaced so far. */
  readonly replacedExpressions: string[]
}

function applyEdit(document: Document.Parsed, { defaults, updates, additions, removals }: FileEdit, indent: number) {
  const root = document.contents
  if (!isMap(root)) throw new Error('declarations are a map')
  const replacedExpressions = new Map<string, readonly string[]>()
  for (const { kind, key, before, after } of updates) {
    const context: EditContext = {
      document,
      indent,
      replacedExpressions: [],
    }
    const map = findObject(root, sections[kind], key, document)
    const removed = Object.keys(before).filter((field) => !Object.hasOwn(after, field))
    const inherited = removed.filter((field) => ownValue(ownValue(defaults, sections[kind]), field) !== undefined)
    const fields = { ...after, ...overrideDefaults(kind, inherited) }
    const changed = Object.keys(fields).filter((field) => !isEqual(before[field], fields[field]))
    for (const field of changed.filter((one) => findPair(map, one) === undefined))
      context.replacedExpressions.push(...expressionsIn(nodeAt(document, ['defaults', sections[kind], field]), document))
    editMap(map, { before, after: fields }, context, indent * 2)
    if (context.replacedExpressions.length > 0) replacedExpressions.set(addressOf({ kind, key }), context.replacedExpressions)
  }
  for (const { kind, key, fields } of additions) {
    addObject(root, { kind, key, fields: withoutDefaults(ownValue(defaults, sections[kind]), kind, fields) }, document, indent)
  }
  for (const removal of removals) removeObject(root, removal, document)
  expandUnresolvedAliases(document)
  return replacedExpressions
}

/** The fields that a new object needs in a file with these defaults. */
export function withoutDefaults(defaults: unknown, kind: KindName, fields: Body): Body {
  if (!isMapping(defaults)) return fields
  const own = Object.entries(fields).filter(([name, value]) => !Object.hasOwn(defaults, name) || !isEqual(defaults[name], value))
  const inherited = Object.keys(defaults).filter((name) => !Object.hasOwn(fields, name))
  const overrides = Object.entries(overrideDefaults(kind, inherited)).filter(([name, value]) => !isEqual(defaults[name], value))
  return Object.fromEntries([...own, ...overrides])
}

/** For each field, the value that has the same meaning as no value. Fields without such a value are left out. */
export function overrideDefaults(kind: KindName, names: readonly string[]): Body {
  const shape: Shape = fileSchemas[kind].shape
  const values = names.flatMap((name) => {
    const field = shape[name]
    if (field === undefined) return []
    const value = [defaultOf(field), null, []].find((one) => one !== undefined && z.safeParse(field, one).success)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(values)
}

/** Finds the map of an object. An alias becomes a copy first, so that only this object changes. */
function findObject(root: YAMLMap, section: string, key: string, document: Document.Parsed): YAMLMap {
  let node: unknown = root
  for (const name of [section, key]) {
    const pair = isMap(node) ? findPair(node, name) : undefined
    if (pair === undefined) throw new Error(`${section}.${key} is missing`)
    const { value } = pair
    if (isCollection(value)) moveAnchor(value, document)
    else if (isAlias(value)) pair.value = copyTarget(value, document)
    node = pair.value
  }
  if (!isMap(node)) throw new Error(`${section}.${key} is not a map`)
  return node
}

function addObject(root: YAMLMap, { kind, key, fields }: Addition, document: Document.Parsed, indent: number): void {
  const pair = findPair(root, sections[kind])
  if (pair !== undefined && isAlias(pair.value)) pair.value = copyTarget(pair.value, document)
  const map = isMap(pair?.value) ? pair.value : new YAMLMap(document.schema)
  moveAnchor(map, document)
  for (const empty of [root, map]) if (empty.items.length === 0) empty.flow = false
  if (pair === undefined) appendPair(root, document.createPair(sections[kind], map))
  appendPair(map, document.createPair(key, createNode(document, fields, { name: key, column: indent * 2, indent, isOpen: true })))
}

/** A section without objects goes away, too. */
function removeObject(root: YAMLMap, { kind, key }: Removal, document: Document.Parsed): void {
  const pair = findPair(root, sections[kind])
  if (pair !== undefined && isAlias(pair.value)) pair.value = copyTarget(pair.value, document)
  if (!isMap(pair?.value)) return
  const context: EditContext = { document, indent: 0, replacedExpressions: [] }
  moveAnchor(pair.value, document)
  removePair(pair.value, key, context)
  if (pair.value.items.length === 0) removePair(root, sections[kind], context)
}

const keyText = (key: unknown): string => String(isScalar(key) ? key.value : key)

const indexOfPair = (map: YAMLMap, name: string): number => map.items.findIndex(({ key }) => keyText(key) === name)

const findPair = (map: YAMLMap, name: string): Pair | undefined => map.items[indexOfPair(map, name)]

/** Undefined where the document has nothing. */
function nodeAt(document: Document.Parsed, path: readonly string[]): unknown {
  let node: unknown = document.contents
  for (const name of path) {
    const map = isAlias(node) ? node.resolve(document) : node
    node = isMap(map) ? findPair(map, name)?.value : undefined
  }
  return node
}

interface ValueChange {
  readonly before: unknown
  readonly after: unknown
}

type NodePlace = Pick<Position, 'name' | 'column' | 'isOpen'>

/** Both sides are rendered. The map can have the first one in other words, such as an id in place of a name. */
function editMap(
  map: YAMLMap,
  { before, after }: { readonly before: Body; readonly after: Body },
  context: EditContext,
  column: number,
): void {
  const names = Object.keys(after)
  for (const [i, name] of names.entries()) {
    if (isEqual(before[name], after[name])) continue
    const pair = findPair(map, name)
    if (pair !== undefined) pair.value = editNode(pair.value, { before: before[name], after: after[name] }, { name, column }, context)
    else insertPair(map, context.document.createPair(name, buildNode(after[name], { name, column }, context)), names.slice(0, i))
  }
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) removePair(map, name, context)
  if (map.items.length === 0) map.flow = true
}

/** Inserts a pair after the last of its predecessors. */
function insertPair(map: YAMLMap, pair: Pair, predecessors: readonly string[]): void {
  const index = Math.max(-1, ...predecessors.map((name) => indexOfPair(map, name)))
  map.items.splice(index + 1, 0, pair)
}

function removePair(map: YAMLMap, name: string, context: EditContext): void {
  const index = indexOfPair(map, name)
  if (index < 0) return
  releaseNode(map.items[index]?.value, context)
  map.items.splice(index, 1)
}

const buildNode = (value: unknown, place: NodePlace, { document, indent }: EditContext): Node =>
  createNode(document, value, { ...place, indent })

function editNode(node: unknown, { before, after }: ValueChange, place: NodePlace, context: EditContext): unknown {
  // The node that an alias refers to stays as it is for the others.
  if (isAlias(node)) {
    context.replacedExpressions.push(...expressionsIn(node, context.document))
    return buildNode(after, place, context)
  }
  const column = place.column + context.indent
  if (isMap(node) && isMapping(before) && isMapping(after) && !hasConflictingFields(node, before, after)) {
    moveAnchor(node, context.document)
    editMap(node, { before, after }, context, column)
    return node
  }
  if (isSeq(node) && Array.isArray(before) && Array.isArray(after) && node.items.length === before.length) {
    moveAnchor(node, context.document)
    editSeq(node, { before, after }, { ...place, column }, context)
    return node
  }
  releaseNode(node, context)
  if (isScalar(node) && (typeof after !== 'object' || after === null)) return setScalar(node, after)
  const { comment, commentBefore }: Partial<Node> = isNode(node) ? node : {}
  return Object.assign(buildNode(after, place, context), comment && { comment }, commentBefore && { commentBefore })
}

/** Fields of the API that decide which other fields a map can have. */
const kindFields: readonly string[] = ['displayType', 'configType', 'type', 'mode', 'operator', 'kind']

/** Whether fields that only the file has, such as an id in place of a name, would contradict the new values. */
function hasConflictingFields(map: YAMLMap, before: Body, after: Body): boolean {
  const hasOwnFields = map.items.some(({ key }) => !Object.hasOwn(before, keyText(key)))
  return (
    hasOwnFields &&
    (Object.keys(before).some((name) => findPair(map, name) === undefined) ||
      kindFields.some((name) => !isEqual(before[name], after[name])))
  )
}

/** Keeps the comment and the quotes, but not the notation of a number. */
function setScalar(node: Scalar, value: unknown): Scalar {
  // Quotes are for one line, and blocks for several.
  const needsOtherStyle = node.type?.startsWith('BLOCK') || (typeof value === 'string' && value.includes('\n'))
  for (const name of ['format', 'minFractionDigits', 'source', 'tag', ...(needsOtherStyle ? ['type'] : [])])
    Reflect.deleteProperty(node, name)
  node.value = escapeExpressions(value)
  return node
}

interface ListChange {
  readonly before: readonly unknown[]
  readonly after: readonly unknown[]
}

function editSeq(seq: YAMLSeq, { before, after }: ListChange, { name, column }: NodePlace, context: EditContext): void {
  const place = { name: '', column, isOpen: openLists.includes(name) }
  const removed = new Map(identifyItems(before).map((identity, i) => [identity, i]))
  const sources = identifyItems(after).map((identity) => {
    const index = removed.get(identity)
    removed.delete(identity)
    return index
  })
  for (const index of removed.values()) {
    releaseNode(seq.items[index], context)
    seq.items[index] = null
  }
  for (const [i, index] of sources.entries()) {
    if (index === undefined || isEqual(before[index], after[i])) continue
    seq.items[index] = editNode(seq.items[index], { before: before[index], after: after[i] }, place, context)
  }
  // The items are read from the list only now: an edit can replace an alias in this list by the node that it refers to.
  const items = sources.map((index, i) => (index === undefined ? buildNode(after[i], place, context) : seq.items[index]))
  // An empty list is always in brackets. A list of maps that is no longer empty gets a line for each.
  if (seq.items.length === 0 || items.length === 0) seq.flow = !items.some(isMap)
  seq.items = items
}

/** Unique for each item. */
function identifyItems(items: readonly unknown[]): readonly unknown[] {
  const counts = new Map<unknown, number>()
  return items.map((item, i) => {
    const identity = ownValue(item, itemId) ?? nameOrValue(item) ?? `#${i}`
    const count = counts.get(identity) ?? 0
    counts.set(identity, count + 1)
    return count === 0 ? identity : `${String(identity)} ${count}`
  })
}

function nameOrValue(item: unknown): string | undefined {
  if (!isMapping(item)) return Array.isArray(item) ? undefined : `=${canonicalText(item)}`
  return typeof item.name === 'string' ? `name ${item.name}` : undefined
}

/** Prepares a node that is about to be replaced: records its expressions, and moves its anchors to their first aliases. */
function releaseNode(node: unknown, { document, replacedExpressions }: EditContext): void {
  if (!isScalar(node) && !isCollection(node)) return
  replacedExpressions.push(...expressionsIn(node, document))
  visit(node, {
    Node(_, inner) {
      if (!isAlias(inner)) moveAnchor(inner, document)
    },
  })
}

/** The expressions of a value in the file, also behind an alias. */
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

/** Before a node with an anchor changes: its first alias becomes a copy with the anchor, so that the other aliases keep their value. */
function moveAnchor(node: Node, document: Document.Parsed): void {
  if (isAlias(node) || !('anchor' in node) || typeof node.anchor !== 'string') return
  const { anchor } = node
  // A document can use the name of an anchor again, so the name does not identify the node.
  const refersToNode = (alias: { source: string; resolve(document: Document.Parsed): unknown }): boolean =>
    alias.source === anchor && alias.resolve(document) === node
  let copy: Node | undefined
  visit(document, {
    Alias(_, alias) {
      if (copy !== undefined || !refersToNode(alias)) return undefined
      copy = Object.assign(copyNode(node), { anchor })
      return copy
    },
  })
  if (copy !== undefined) Reflect.deleteProperty(node, 'anchor')
}

/** Replaces aliases that now come before their anchor. */
function expandUnresolvedAliases(document: Document.Parsed): void {
  visit(document, {
    Alias(_, alias) {
      const target = alias.resolve(document) === undefined ? findAnchor(alias.source, document) : undefined
      return target === undefined ? undefined : copyNode(target)
    },
  })
}

function findAnchor(anchor: string, document: Document.Parsed): Node | undefined {
  let found: Node | undefined
  visit(document, {
    Node(_, node) {
      if (isAlias(node) || !('anchor' in node) || node.anchor !== anchor) return undefined
      found = node
      return visit.BREAK
    },
  })
  return found
}

/** Throws when the alias has no anchor, which a document that was read cannot have. */
function copyTarget(alias: Alias, document: Document.Parsed): Node {
  const target = alias.resolve(document)
  if (target === undefined) throw new Error(`the alias ${alias.source} has no anchor`)
  return copyNode(target)
}

/** Copies a node without anchors, and without the comments around it. */
function copyNode(node: Node): Node {
  const copy = node.clone() as Node // A clone has the class of its original, which the library's types do not state.
  visit(copy, { Node: (_, inner) => void Reflect.deleteProperty(inner, 'anchor') })
  for (const name of ['comment', 'commentBefore', 'spaceBefore']) Reflect.deleteProperty(copy, name)
  return copy
}
