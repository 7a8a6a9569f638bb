// Owns measuring a YAML document before it becomes a value: how deep and how large it is with all that its aliases stand for.
import { isAlias, isCollection, isMap, isPair, isScalar, type Node } from 'yaml'
import { printable } from '../kernel/text.ts'

const deepest = 100
const mostNodes = 50_000

export interface Extent {
  /** Every scalar that stands in the text. */
  readonly scalars: readonly Node[]
}

/** What is wrong with the document, and the node that it is about where there is one. */
export interface Excess {
  readonly node?: unknown
  readonly message: string
}

interface Size {
  readonly nodes: number
  readonly levels: number
}

interface Measuring {
  readonly scalars: Node[]
  /** Sizes of what bears an anchor; undefined while it is being measured. */
  readonly anchors: Map<string, Size | undefined>
}

/** Aliases count as often as they stand there: a file of a few lines can stand for more than fits into memory. */
export function measure(root: Node): Extent | Excess {
  const scalars: Node[] = []
  try {
    sizeOf(root, 1, { scalars, anchors: new Map() })
    return { scalars }
  } catch (thrown) {
    if (thrown instanceof ExcessFound) return thrown.excess
    throw thrown
  }
}

/** Ends the walk where it is. */
class ExcessFound extends Error {
  readonly excess: Excess
  constructor(excess: Excess) {
    super(excess.message)
    this.excess = excess
  }
}

function sizeOf(node: unknown, depth: number, measuring: Measuring): Size {
  if (isAlias(node)) return checked(sizeOfAlias(node.source, node, measuring), depth)
  if (isPair(node)) return sum([sizeOf(node.key, depth, measuring), sizeOf(node.value, depth, measuring)], 0)
  if (isScalar(node)) measuring.scalars.push(node)
  const anchor = isScalar(node) || isCollection(node) ? node.anchor : undefined
  if (anchor !== undefined) measuring.anchors.set(anchor, undefined)
  checked({ nodes: 1, levels: 1 }, depth)
  if (isMap(node)) checkKeys(node.items.map(({ key }) => key))
  let size: Size = { nodes: 1, levels: 1 }
  if (isCollection(node)) for (const item of node.items) size = checked(add(size, sizeOf(item, depth + 1, measuring)), depth)
  if (anchor !== undefined) measuring.anchors.set(anchor, size)
  return size
}

function sizeOfAlias(source: string, node: Node, { anchors }: Measuring): Size {
  const size = anchors.get(source)
  if (size === undefined) throw new ExcessFound({ node, message: `*${printable(source).slice(0, 60)} stands inside what it stands for` })
  return size
}

function checked(size: Size, depth: number): Size {
  if (size.nodes > mostNodes) throw new ExcessFound({ message: `holds more than ${mostNodes} values` })
  if (depth + size.levels - 1 > deepest) throw new ExcessFound({ message: `is nested deeper than ${deepest} levels` })
  return size
}

const add = (around: Size, inner: Size): Size => ({
  nodes: around.nodes + inner.nodes,
  levels: Math.max(around.levels, inner.levels + 1),
})

const sum = (sizes: readonly Size[], start: number): Size => ({
  nodes: sizes.reduce((total, { nodes }) => total + nodes, start),
  levels: Math.max(...sizes.map(({ levels }) => levels)),
})

/** `1` and `"1"` are two keys of YAML and one of ours; a list is a key of YAML and none of ours. */
function checkKeys(keys: readonly unknown[]): void {
  const seen = new Set<string>()
  for (const key of keys) {
    if (!isScalar(key)) throw new ExcessFound({ node: key, message: 'is no key: write a word' })
    const name = String(key.value)
    if (seen.has(name)) throw new ExcessFound({ node: key, message: 'Map keys must be unique' })
    seen.add(name)
  }
}
