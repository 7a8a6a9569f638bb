// Owns reading one YAML or JSON document that a person wrote: strict, bounded, every complaint with its place.
import { isAlias, isCollection, isPair, LineCounter, type Node, parseAllDocuments, type YAMLError } from 'yaml'
import type { Problem } from '../kernel/errors.ts'
import { clip, printable } from '../kernel/text.ts'

/** Limits of one document, so that a small file cannot become a large value. */
const largestBytes = 5 * 1024 * 1024
const deepest = 100
const mostNodes = 10_000

export type Reading = { readonly value: unknown } | { readonly problems: readonly Problem[] }

/** `name` is what messages call the text: an input or a file. Duplicate keys, several documents and warnings are errors. */
export function readDocument(text: string, name: string): Reading {
  if (Buffer.byteLength(text) > largestBytes) return refuse(name, 'is larger than 5 MiB')
  const lines = new LineCounter()
  const [document, second] = parseAllDocuments(text.replace(/^\ufeff/, ''), { lineCounter: lines, prettyErrors: false, logLevel: 'silent' })
  if (document === undefined || !('contents' in document) || document.contents === null) return refuse(name, 'is empty')
  if (second !== undefined) return refuse(name, 'holds more than one document')
  const complaints = [...document.errors, ...document.warnings]
  // The parser gives up at about 800 levels, with one complaint for each.
  if (complaints.some(({ message }) => message.includes('call stack'))) return refuse(name, `is nested deeper than ${deepest} levels`)
  if (complaints.length > 0) return { problems: complaints.slice(0, 20).map((complaint) => toProblem(complaint, name, lines)) }
  const size = measure(document.contents)
  if (size === 'too-deep') return refuse(name, `is nested deeper than ${deepest} levels`)
  if (size === 'too-many') return refuse(name, `holds more than ${mostNodes} values`)
  try {
    return { value: document.toJS({ maxAliasCount: 100 }) as unknown }
  } catch (thrown) {
    return refuse(name, thrown instanceof Error ? printable(thrown.message) : 'cannot be read')
  }
}

const refuse = (name: string, message: string): Reading => ({ problems: [{ name, message }] })

function toProblem(complaint: YAMLError, name: string, lines: LineCounter): Problem {
  const { line, col } = lines.linePos(complaint.pos[0])
  return { name: `${name}:${line}:${col}`, message: printable(clip(complaint.message, 200)) }
}

// Aliases count by the node they stand for only when they are followed; `toJS` bounds those.
function measure(root: Node): 'fits' | 'too-deep' | 'too-many' {
  const open: { readonly node: unknown; readonly depth: number }[] = [{ node: root, depth: 1 }]
  for (let seen = 1; open.length > 0; seen++) {
    const { node, depth } = open.pop() ?? { node: undefined, depth: 0 }
    if (seen > mostNodes) return 'too-many'
    if (depth > deepest) return 'too-deep'
    if (isAlias(node)) continue
    if (isPair(node)) open.push({ node: node.key, depth }, { node: node.value, depth })
    else if (isCollection(node)) for (const item of node.items) open.push({ node: item, depth: depth + 1 })
  }
  return 'fits'
}
