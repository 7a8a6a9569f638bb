// Owns parting with a node of a document: what others refer to lives on where they refer to it, and no expression goes unnoticed.
import { type Document, isAlias, isCollection, isScalar, type Node, visit } from 'yaml'
import { isWritable } from './writable.ts'

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
