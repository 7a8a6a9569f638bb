// Owns what a YAML document stands for: its value with all its aliases, as long as that is neither too deep nor too large.
import { type Alias, isAlias, isCollection, isMap, isScalar, type Node, type YAMLMap } from 'yaml'
import { quote } from '../kernel/text.ts'
import { deepest } from './parse-yaml.ts'

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
