// Owns reading one YAML or JSON document that a person wrote: strict, bounded, every complaint with its place.
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { fromText } from '../kernel/decimal.ts'
import { clip, printable } from '../kernel/text.ts'
import type { Complaint } from './complaints.ts'
import { measure } from './extent.ts'
import type { Place } from './place.ts'

/** The parser takes seconds for more than that; what the text may stand for is bounded in extent.ts. */
const largestBytes = 1024 * 1024

/** Keys and indexes from the top of a document down to a value. */
export type ValuePath = readonly PropertyKey[]

export interface ReadDocument {
  readonly value: unknown
  /** Where a value stands, or the nearest one around it that is there. */
  placeOf(path: ValuePath): Place
  /** The same of the key that names the value. */
  placeOfKey(path: ValuePath): Place
}

export type Reading = ReadDocument | { readonly complaints: readonly Complaint[] }

/** `name` is what messages call the text: an input or a file. Duplicate keys, several documents and warnings are errors. */
export function readDocument(text: string, name: string): Reading {
  if (Buffer.byteLength(text) > largestBytes) return refuse(name, 'is larger than 1 MiB')
  const lines = new LineCounter()
  const [document, second] = parseAllDocuments(text.replace(/^\ufeff/, ''), {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
    // Compares every key with every other one: ten minutes for a megabyte of keys. extent.ts looks for them in one pass.
    uniqueKeys: false,
  })
  if (document === undefined || !('contents' in document) || document.contents === null) return refuse(name, 'is empty')
  if (second !== undefined) return refuse(name, 'holds more than one document')
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file: name, line, column: col }
  }
  const complaints = [...document.errors, ...document.warnings]
  // The parser gives up at about 800 levels, with one complaint for each.
  if (complaints.some(({ message }) => message.includes('call stack'))) return refuse(name, 'is nested deeper than 100 levels')
  if (complaints.length > 0) return { complaints: complaints.slice(0, 20).map((complaint) => toComplaint(complaint, at)) }
  const extent = measure(document.contents)
  if ('message' in extent) {
    const place = extent.node === undefined ? { file: name } : at(startOf(extent.node))
    return { complaints: [{ place, message: extent.message }] }
  }
  const inexact = extent.scalars.filter(isInexact)
  if (inexact.length > 0) return { complaints: inexact.map((node) => ({ place: at(startOf(node)), message: tooPrecise })) }
  try {
    // Aliases were counted already, and better: a hundred alerts may share one channel.
    return { value: document.toJS({ maxAliasCount: -1 }) as unknown, ...placesIn(document, at) }
  } catch (thrown) {
    return refuse(name, thrown instanceof Error ? printable(thrown.message) : 'cannot be read')
  }
}

const refuse = (file: string, message: string): Reading => ({ complaints: [{ place: { file }, message }] })

type At = (offset: number) => Place

const toComplaint = (complaint: YAMLError, at: At): Complaint => ({
  place: at(complaint.pos[0]),
  message: printable(clip(complaint.message, 200)),
})

const tooPrecise = 'has more digits than a number can hold; write it in quotes'

/** A number that is not what stands in the text any more: nobody should be charged by it. */
function isInexact(node: Node): boolean {
  if (!isScalar(node) || typeof node.value !== 'number' || node.source === undefined) return false
  if (!/^-?\d{1,400}(?:\.\d{1,400})?$/.test(node.source)) return false
  return !Number.isFinite(node.value) || !fromText(node.source).eq(fromText(String(node.value)))
}

function childOf(node: unknown, key: PropertyKey): unknown {
  if (isSeq(node) && typeof key === 'number') return node.items[key]
  return isMap(node) ? pairOf(node, key)?.value : undefined
}

type Pairs = ReadonlyMap<string, Pair>

/** Each map is gone through once, however many places in it are asked for. */
const pairsOfMaps = new WeakMap<YAMLMap, Pairs>()

/** Keys are compared as the text that they become: a file may say `404:`. */
function pairOf(map: YAMLMap, key: PropertyKey | undefined): Pair | undefined {
  const known = pairsOfMaps.get(map)
  const pairs = known ?? new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])))
  if (known === undefined) pairsOfMaps.set(map, pairs)
  return pairs.get(String(key))
}

const startOf = (node: unknown): number => (node as Partial<Node> | undefined)?.range?.[0] ?? 0

function placesIn(document: Document.Parsed, at: At): Pick<ReadDocument, 'placeOf' | 'placeOfKey'> {
  const nodeAt = (path: ValuePath): unknown => {
    let node: unknown = document.contents
    for (const key of path) {
      const inner = childOf(node, key)
      if (inner === undefined || inner === null) break
      node = inner
    }
    return node
  }
  return {
    placeOf: (path) => at(startOf(nodeAt(path))),
    placeOfKey(path) {
      const parent = nodeAt(path.slice(0, -1))
      const pair = isMap(parent) ? pairOf(parent, path.at(-1)) : undefined
      return at(startOf(pair?.key ?? nodeAt(path)))
    },
  }
}
