// Owns how YAML of ours looks: as a person would write it by hand.
import {
  type CollectionTag,
  type Document,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type ScalarTag,
  type Tags,
  type ToStringOptions,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'

/** What hides from a reader, moves other text about or ends lines, and the lone halves of characters. */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{d800}-\u{dfff}]/u

/** Lines whose ends or beginnings a block of text would not show. */
const raggedLines = /^[\t\n ][\s\S]*\n|\n[\t ]*\n$|\n[\t ]+$/

/** Texts for us, and true or false for readers of YAML 1.1. */
const oldBoolean = /^(?:y|n|yes|no|on|off)$/i

/** Texts that need quotes which the library would not give them: spelt out where a reviewer would not see what is there. */
const quotedText: ScalarTag = {
  identify: (value) => typeof value === 'string' && [hidden, raggedLines, oldBoolean].some((one) => one.test(value)),
  default: true,
  tag: 'tag:yaml.org,2002:str',
  resolve: (text) => text,
  stringify({ value }, { implicitKey }) {
    const text = String(value)
    if (!oldBoolean.test(text)) return escaped(text)
    // The height of a tile on its grid is called y.
    return implicitKey ? text : `'${text}'`
  },
}

const escaped = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })

/** `[a, b]` and `{ a: 1 }`, as the examples have it. */
function withPadding(tag: CollectionTag, padding: string): CollectionTag {
  const stringify = (node: YAMLMap | YAMLSeq, ...[context, ...hooks]: Parameters<YAMLMap['toString']>): string =>
    node.toString(context && { ...context, flowCollectionPadding: padding }, ...hooks)
  // The types know no such function of collections; the code asks every tag for it.
  return { ...tag, stringify } as CollectionTag
}

function customTags(tags: Tags): Tags {
  const others = tags.map((tag) => {
    if (typeof tag === 'string' || !('collection' in tag)) return tag
    if (tag.collection === 'seq') return withPadding(tag as CollectionTag, '')
    return tag.collection === 'map' ? withPadding(tag as CollectionTag, ' ') : tag
  })
  return [quotedText, ...others]
}

/** For every document that is written. */
export const documentOptions = { schema: 'core', customTags, prettyErrors: false, logLevel: 'silent' } as const

/** How a file indents. */
export interface Indentation {
  readonly indent: number
  readonly indentSeq: boolean
}

export const ourIndentation: Indentation = { indent: 2, indentSeq: true }

export const textOptions = ({ indent, indentSeq }: Indentation): ToStringOptions => ({
  indent,
  indentSeq,
  lineWidth: 0,
  minContentWidth: 0,
  singleQuote: true,
  blockQuote: 'literal',
  doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
})

/** Columns that a map or list on one line may take. */
const widest = 120

/** Fields whose maps stand on lines of their own even where they would fit on one: they are what people read and change. */
const alwaysOpen: readonly string[] = ['tiles', 'config', 'raw']

export interface Position {
  /** The field that the value is of. */
  readonly name: string
  readonly column: number
  readonly indent: number
  /** Whether its fields stand on lines of their own in any case. */
  readonly isOpen?: boolean
}

/** A node for the value, with short maps and lists on one line. */
export function createNode(document: Document, value: unknown, position: Position): Node {
  const node = document.createNode(value) as Node
  layOut(node, value, { isOpen: alwaysOpen.includes(position.name), ...position })
  return node
}

function layOut(node: unknown, value: unknown, { name, column, indent, isOpen = false }: Position): void {
  if (!isCollection(node) || node.items.length === 0) return
  // Items of lists begin on lines of their own, so that a review shows which one changed.
  const mayClose = !isOpen && !(isSeq(node) && node.items.some(isCollection))
  if (mayClose && column + name.length + 2 + lengthOnOneLine(value) <= widest) {
    node.flow = true
    return
  }
  if (isSeq(node)) {
    node.items.forEach((item, i) => {
      layOut(item, (value as readonly unknown[])[i], { name: '', column: column + indent, indent, isOpen: name === 'tiles' })
    })
  } else if (isMap(node)) {
    for (const { key, value: inner } of node.items) {
      const field = String(isScalar(key) ? key.value : key)
      const innerValue = (value as Readonly<Record<string, unknown>>)[field]
      layOut(inner, innerValue, { name: field, column: column + indent, indent, isOpen: alwaysOpen.includes(field) })
    }
  }
}

/** As good as exact; nobody minds two columns. */
function lengthOnOneLine(value: unknown): number {
  if (typeof value === 'string')
    return value.includes('\n') ? Number.POSITIVE_INFINITY : value.length + (/[,[\]{}#&*!|>'"%@`]|: /.test(value) ? 2 : 0)
  if (typeof value !== 'object' || value === null) return String(value).length
  const items = Array.isArray(value)
    ? value.map(lengthOnOneLine)
    : Object.entries(value).map(([key, item]) => key.length + 2 + lengthOnOneLine(item))
  return items.reduce((sum, length) => sum + length + 2, 2)
}
