// Owns reading one YAML or JSON document that a person wrote: strict, bounded, every complaint with its place.
import { type Document, isMap, isScalar, isSeq, type Node, type Pair, type YAMLError, type YAMLMap } from 'yaml'
import { fromText } from '../kernel/decimal.ts'
import { clip, printable } from '../kernel/text.ts'
import type { Complaint } from './complaints.ts'
import { measure } from './extent.ts'
import { parseYaml } from './parse-yaml.ts'
import type { Place } from './place.ts'

/** As much as a file may have. What takes the parser time and memory is bounded in parse-yaml.ts, what the text may stand for in extent.ts. */
const largestBytes = 5 * 1024 * 1024

// Neither YAML nor JSON has them but as escapes; what is saved as UTF-16 is full of them.
const noText = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/

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
  if (noText.test(text)) return refuse(name, 'holds control characters: it is no text in UTF-8')
  const parsed = parseYaml(text.replace(/^\ufeff/, ''))
  const at = (offset: number): Place => {
    const { line, col } = parsed.lines.linePos(offset)
    return { file: name, line, column: col }
  }
  if ('message' in parsed) return { complaints: [{ place: at(parsed.offset), message: parsed.message }] }
  const [document, second] = parsed.documents
  const mistakes = document === undefined ? [] : [...document.errors, ...document.warnings]
  if (mistakes.length > 0) return { complaints: mistakes.slice(0, mostMistakes).map((mistake) => toComplaint(mistake, at)) }
  if (second !== undefined) return refuse(name, 'holds more than one document')
  if (document === undefined || document.contents === null || isNothing(document.contents)) return refuse(name, 'is empty')
  const extent = measure(document.contents)
  if ('message' in extent) return { complaints: [{ place: at(startOf(extent.node)), message: extent.message }] }
  const wrong = extent.scalars.flatMap((node) => {
    const message = whyNoNumber(node)
    return message === undefined ? [] : [{ place: at(startOf(node)), message }]
  })
  return wrong.length > 0 ? { complaints: wrong.slice(0, mostMistakes) } : { value: extent.value, ...placesIn(document, at) }
}

const mostMistakes = 20

/** Comments alone, or a bare `---`. An explicit `null` is a value, though never the one that is wanted. */
const isNothing = (node: Node): boolean => isScalar(node) && node.value === null && !node.source

const refuse = (file: string, message: string): Reading => ({ complaints: [{ place: { file }, message }] })

type At = (offset: number) => Place

const toComplaint = (complaint: YAMLError, at: At): Complaint => ({
  place: at(complaint.pos[0]),
  message: printable(clip(complaint.message, 200)),
})

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

function placesIn(document: Document.Parsed, at: At): Pick<ReadDocument, 'placeOf' | 'placeOfKey'> {
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
    placeOf: (path) => at(startOf(nodeAt(path))),
    placeOfKey: (path) => at(startOf(pairOf(nodeAt(path.slice(0, -1)), path.at(-1))?.key ?? nodeAt(path))),
  }
}
