// Owns reading one YAML or JSON document that a person wrote: strict, bounded, every complaint with its place.
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
  type YAMLError,
} from 'yaml'
import { fromText } from '../kernel/decimal.ts'
import { clip, printable } from '../kernel/text.ts'
import type { Complaint } from './complaints.ts'
import type { Place } from './place.ts'

/** Limits of one document, so that a small file cannot become a large value. */
const largestBytes = 5 * 1024 * 1024
const deepest = 100
const mostNodes = 10_000

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
  if (Buffer.byteLength(text) > largestBytes) return refuse(name, 'is larger than 5 MiB')
  const lines = new LineCounter()
  const [document, second] = parseAllDocuments(text.replace(/^\ufeff/, ''), { lineCounter: lines, prettyErrors: false, logLevel: 'silent' })
  if (document === undefined || !('contents' in document) || document.contents === null) return refuse(name, 'is empty')
  if (second !== undefined) return refuse(name, 'holds more than one document')
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file: name, line, column: col }
  }
  const complaints = [...document.errors, ...document.warnings]
  // The parser gives up at about 800 levels, with one complaint for each.
  if (complaints.some(({ message }) => message.includes('call stack'))) return refuse(name, `is nested deeper than ${deepest} levels`)
  if (complaints.length > 0) return { complaints: complaints.slice(0, 20).map((complaint) => toComplaint(complaint, at)) }
  const nodes = walk(document.contents)
  if (typeof nodes === 'string') return refuse(name, nodes)
  const inexact = nodes.filter(isInexact)
  if (inexact.length > 0) return { complaints: inexact.map((node) => ({ place: at(startOf(node)), message: tooPrecise })) }
  try {
    return { value: document.toJS({ maxAliasCount: 100 }) as unknown, ...placesIn(document, at) }
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

interface Visit {
  readonly node: unknown
  readonly depth: number
}

/** Every scalar, or why there are too many nodes. */
function walk(root: Node): readonly Node[] | string {
  const open: Visit[] = [{ node: root, depth: 1 }]
  const scalars: Node[] = []
  for (let seen = 1; open.length > 0; seen++) {
    const visit = open.pop() ?? { node: undefined, depth: 0 }
    if (seen > mostNodes) return `holds more than ${mostNodes} values`
    if (visit.depth > deepest) return `is nested deeper than ${deepest} levels`
    if (isScalar(visit.node)) scalars.push(visit.node)
    open.push(...childrenOf(visit))
  }
  return scalars
}

/** An alias counts where it stands; `toJS` bounds what it stands for. */
function childrenOf({ node, depth }: Visit): readonly Visit[] {
  if (isAlias(node)) return []
  if (isPair(node)) return [node.key, node.value].map((one) => ({ node: one, depth }))
  return isCollection(node) ? node.items.map((item) => ({ node: item, depth: depth + 1 })) : []
}

const tooPrecise = 'has more digits than a number can hold; write it in quotes'

/** A number that is not what stands in the text any more: nobody should be charged by it. */
function isInexact(node: Node): boolean {
  if (!isScalar(node) || typeof node.value !== 'number' || node.source === undefined) return false
  if (!/^-?\d{1,400}(?:\.\d{1,400})?$/.test(node.source)) return false
  return !Number.isFinite(node.value) || !fromText(node.source).eq(fromText(String(node.value)))
}

const startOf = (node: unknown): number => (node as Partial<Node> | undefined)?.range?.[0] ?? 0

function placesIn(document: Document.Parsed, at: At): Pick<ReadDocument, 'placeOf' | 'placeOfKey'> {
  const nodeAt = (path: ValuePath): unknown => {
    if (path.length === 0) return document.contents
    return document.getIn(path, true) ?? nodeAt(path.slice(0, -1))
  }
  return {
    placeOf: (path) => at(startOf(nodeAt(path))),
    placeOfKey(path) {
      const parent = nodeAt(path.slice(0, -1))
      const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined
      return at(startOf(pair?.key ?? nodeAt(path)))
    },
  }
}
