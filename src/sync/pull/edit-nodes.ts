import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  visit,
  YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { isMap as isFields } from '../../resources/compare.ts'
import { canonicalText } from '../../resources/marker.ts'
import type { Body } from '../../resources/resource-type.ts'
import { isWritable } from './select.ts'
import { createNode, type Position } from './yaml-style.ts'

// Owns parting with a node of a document: what others refer to lives on where they refer to it, and no expression goes unnoticed.

interface Surroundings {
  readonly document: Document.Parsed
  readonly lost: string[]
}

/** For a node that is about to be replaced, or changed as a whole. */
export function giveUp(node: unknown, { document, lost }: Surroundings): void {
  if (!isScalar(node) && !isCollection(node)) return
  visit(node, {
    Node(_, inner) {
      if (isAlias(inner)) return
      releaseAnchor(inner as Node, { document })
      if (isScalar(inner) && typeof inner.value === 'string' && !isWritable(inner.value)) lost.push(inner.value)
    },
  })
}

/** Before a node changes: the first of its aliases takes its place for all the others. */
export function releaseAnchor(node: Node, { document }: Pick<Surroundings, 'document'>): void {
  if (isAlias(node) || !('anchor' in node) || typeof node.anchor !== 'string') return
  const { anchor } = node
  let heir: Node | undefined
  // Names of anchors can be used again, so what an alias stands for is asked before anything moves.
  const isMeant = (alias: { source: string; resolve(document: Document.Parsed): unknown }): boolean =>
    alias.source === anchor && alias.resolve(document) === node
  visit(document, {
    Alias(_, alias) {
      if (!isMeant(alias)) return undefined
      heir = Object.assign(copyOf(node), { anchor })
      return visit.BREAK
    },
  })
  if (heir === undefined) return
  let isDone = false
  const copy = heir
  visit(document, {
    Alias(_, alias) {
      if (isDone || !isMeant(alias)) return undefined
      isDone = true
      return copy
    },
  })
  Reflect.deleteProperty(node, 'anchor')
}

/** An alias that has come to stand before its anchor says by itself what it stood for. */
export function settleStrays(document: Document.Parsed): void {
  visit(document, {
    Alias(_, alias) {
      const target = alias.resolve(document) === undefined ? firstWith(alias.source, document) : undefined
      return target === undefined ? undefined : copyOf(target)
    },
  })
}

function firstWith(anchor: string, document: Document.Parsed): Node | undefined {
  let found: Node | undefined
  visit(document, {
    Node(_, node) {
      if (isAlias(node) || !('anchor' in node) || node.anchor !== anchor) return undefined
      found = node as Node
      return visit.BREAK
    },
  })
  return found
}

/** Without anchors and without the comments that stand beside the original. */
export function copyOf(node: Node): Node {
  const copy = node.clone() as Node
  visit(copy, { Node: (_, inner) => void Reflect.deleteProperty(inner as Node, 'anchor') })
  for (const name of ['comment', 'commentBefore', 'spaceBefore']) Reflect.deleteProperty(copy, name)
  return copy
}

// Owns making a parsed document say something else in places, so that everything around them stays as it was written: comments,
// order, quotes, anchors.

export interface Editing {
  readonly document: Document.Parsed
  readonly indent: number
  /** Expressions that gave way to what they no longer stand for. */
  readonly lost: string[]
  /** By what an item of a list is known; undefined where its place or name must do. */
  identityOf(item: unknown): string | undefined
}

export interface Turn {
  readonly before: unknown
  readonly after: unknown
}

type Place = Pick<Position, 'name' | 'column' | 'isOpen'>

const isSame = (a: unknown, b: unknown): boolean => canonicalText(a) === canonicalText(b)

const nameOfKey = (key: unknown): string => String(isScalar(key) ? key.value : key)

const indexOf = (map: YAMLMap, name: string): number => map.items.findIndex(({ key }) => nameOfKey(key) === name)

export const pairOf = (map: YAMLMap, name: string): Pair | undefined => map.items[indexOf(map, name)]

/** Both sides are as pull writes them; the map may spell the first one in its own way. */
export function editMap(
  map: YAMLMap,
  { before, after }: { readonly before: Body; readonly after: Body },
  editing: Editing,
  column: number,
): void {
  const names = Object.keys(after)
  for (const [i, name] of names.entries()) {
    if (isSame(before[name], after[name])) continue
    const turn = { before: before[name], after: after[name] }
    const pair = pairOf(map, name)
    if (pair !== undefined) pair.value = editNode(pair.value, turn, { name, column }, editing)
    else insert(map, editing.document.createPair(name, anew(turn.after, { name, column }, editing)), names.slice(0, i))
  }
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) remove(map, name, editing)
  if (map.items.length === 0) map.flow = true
}

/** Behind the last of those that come before it. */
function insert(map: YAMLMap, pair: Pair, predecessors: readonly string[]): void {
  const place = Math.max(-1, ...predecessors.map((name) => indexOf(map, name)))
  map.items.splice(place + 1, 0, pair)
}

function remove(map: YAMLMap, name: string, editing: Editing): void {
  const index = indexOf(map, name)
  if (index < 0) return
  giveUp(map.items[index]?.value, editing)
  map.items.splice(index, 1)
}

const anew = (value: unknown, place: Place, { document, indent }: Editing): Node => createNode(document, value, { ...place, indent })

function editNode(node: unknown, { before, after }: Turn, place: Place, editing: Editing): unknown {
  // What an alias stands for stays as it is for the others.
  if (isAlias(node)) return anew(after, place, editing)
  const column = place.column + editing.indent
  if (isMap(node) && isFields(before) && isFields(after) && !wouldContradict(node, before, after)) {
    releaseAnchor(node, editing)
    editMap(node, { before, after }, editing, column)
    return node
  }
  if (isSeq(node) && Array.isArray(before) && Array.isArray(after) && node.items.length === before.length) {
    releaseAnchor(node, editing)
    editSeq(node, { before, after }, { ...place, column }, editing)
    return node
  }
  giveUp(node, editing)
  if (isScalar(node) && (typeof after !== 'object' || after === null)) return setScalar(node, after)
  const { comment, commentBefore } = (node ?? {}) as Partial<Node>
  return Object.assign(anew(after, place, editing), comment && { comment }, commentBefore && { commentBefore })
}

/** Words by which the API tells what kind of thing a map is. */
const kindWords: readonly string[] = ['displayType', 'configType', 'type', 'mode', 'operator', 'kind']

/** Whether what a map says in words of its own, such as an id for a name, would be wrong beside what it is to say. */
function wouldContradict(map: YAMLMap, before: Body, after: Body): boolean {
  const hasOwnWords = map.items.some(({ key }) => !Object.hasOwn(before, nameOfKey(key)))
  return (
    hasOwnWords &&
    (Object.keys(before).some((name) => pairOf(map, name) === undefined) || kindWords.some((word) => !isSame(before[word], after[word])))
  )
}

/** Keeps comment and quotes; not how the old value was spelt. */
function setScalar(node: Scalar, value: unknown): Scalar {
  // Quotes are for one line, and blocks for several.
  const isOtherKind = node.type?.startsWith('BLOCK') || (typeof value === 'string' && value.includes('\n'))
  for (const name of ['format', 'minFractionDigits', 'source', 'tag', ...(isOtherKind ? ['type'] : [])]) Reflect.deleteProperty(node, name)
  node.value = value
  return node
}

interface Lists {
  readonly before: readonly unknown[]
  readonly after: readonly unknown[]
}

function editSeq(seq: YAMLSeq, { before, after }: Lists, { name, column }: Place, editing: Editing): void {
  const place = { name: '', column, isOpen: name === 'tiles' }
  const left = new Map(identitiesOf(before, editing).map((identity, i) => [identity, i]))
  const sources = identitiesOf(after, editing).map((identity) => {
    const index = left.get(identity)
    left.delete(identity)
    return index
  })
  // What goes or changes may leave its place to an alias in this very list: so every item is fetched when all of that is over.
  for (const index of left.values()) {
    giveUp(seq.items[index], editing)
    seq.items[index] = null
  }
  for (const [i, index] of sources.entries()) {
    if (index === undefined || isSame(before[index], after[i])) continue
    seq.items[index] = editNode(seq.items[index], { before: before[index], after: after[i] }, place, editing)
  }
  const items = sources.map((index, i) => (index === undefined ? anew(after[i], place, editing) : seq.items[index]))
  // What is empty can only be written in brackets, which says nothing of how anything else should be.
  if (seq.items.length === 0 || items.length === 0) seq.flow = !items.some(isMap)
  seq.items = items
}

/** Different for each item. */
function identitiesOf(items: readonly unknown[], { identityOf }: Editing): readonly string[] {
  const seen = new Map<string, number>()
  return items.map((item, i) => {
    const identity = identityOf(item) ?? nameOf(item) ?? `#${i}`
    const count = seen.get(identity) ?? 0
    seen.set(identity, count + 1)
    return count === 0 ? identity : `${identity} ${count}`
  })
}

function nameOf(item: unknown): string | undefined {
  if (!isFields(item)) return Array.isArray(item) ? undefined : `=${canonicalText(item)}`
  return typeof item.name === 'string' ? `name ${item.name}` : undefined
}

/** Puts a new object under its section. */
export function addObject(root: YAMLMap, section: string, [key, value]: readonly [string, Body], editing: Editing): void {
  const { document, indent } = editing
  const held = pairOf(root, section)
  if (held !== undefined && isAlias(held.value)) held.value = copyOf(held.value.resolve(document) as Node)
  const map = isMap(held?.value) ? held.value : new YAMLMap(document.schema)
  releaseAnchor(map, editing)
  for (const empty of [root, map]) if (empty.items.length === 0) empty.flow = false
  if (held === undefined) root.items.push(spaced(document.createPair(section, map), root.items.length > 0))
  const node = anew(value, { name: key, column: indent * 2, isOpen: true }, editing)
  map.items.push(spaced(document.createPair(key, node), map.items.length > 0))
}

/** With an empty line before it. */
function spaced(pair: Pair, isSpaced: boolean): Pair {
  if (isSpaced) (pair.key as Scalar).spaceBefore = true
  return pair
}
