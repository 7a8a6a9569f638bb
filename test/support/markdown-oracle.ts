// Reads Markdown as GitHub does and tells what a reader would see and what would happen: the judge of everything we escape.
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'

interface Node {
  readonly type: string
  readonly value?: string
  readonly children?: readonly Node[]
}

let last: { readonly markdown: string; readonly root: Node } | undefined

/** One text is asked about several times in a row, and parsing it takes the longest. */
export function parseMarkdown(markdown: string): Node {
  if (last?.markdown !== markdown)
    last = { markdown, root: fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }) as Node }
  return last.root
}

export function* nodesOf(node: Node): Generator<Node> {
  yield node
  for (const child of node.children ?? []) yield* nodesOf(child)
}

export const kindsIn = (markdown: string): ReadonlySet<string> => new Set([...nodesOf(parseMarkdown(markdown))].map(({ type }) => type))

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }

const decode = (html: string): string =>
  html.replace(/&(?:#(\d+)|(\w+));/g, (_, code?: string, name?: string) =>
    code ? String.fromCodePoint(Number(code)) : (entities[name ?? ''] ?? ''),
  )

/** The text of all cells, code spans and words, in order; our own tags read as nothing. */
export const visibleText = (markdown: string): string =>
  [...nodesOf(parseMarkdown(markdown))]
    .filter(({ type }) => type === 'text' || type === 'inlineCode' || type === 'code')
    .map(({ value = '' }) => value)
    .join('')

/** Only these tags are ours, and none with an attribute. */
export function foreignHtml(markdown: string): readonly string[] {
  return [...nodesOf(parseMarkdown(markdown))]
    .filter(({ type }) => type === 'html')
    .map(({ value = '' }) => value)
    .filter((html) => !/^(?:<\/?(?:code|details|summary)>|<details><summary>[^<>]*<\/summary>)$/.test(html.trim()))
}

export const decodeEntities = decode
