import {
  type CollectionTag,
  Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type ScalarTag,
  type Tags,
  visit,
  YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Body, KindFile } from '../../kinds/kind.ts'
import { type KindName, kindNames, sections } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { isSame } from '../../platform/core/equality.ts'
import { isEmpty, isMapping } from '../../platform/core/keys.ts'
import { version } from '../../platform/core/version.ts'
import { escapeExpressions } from '../../platform/documents/expressions.ts'

export interface NewFields {
  readonly kind: KindName
  readonly key: string
  /** Absent for an object that goes away. */
  readonly after?: Body
}

const schemaAddress = `https://raw.githubusercontent.com/watchkeeper/watchkeeper/v${version.split('.')[0]}/schemas/observability.schema.json`

export function writeNewFile(path: string, objects: readonly NewFields[], kinds: Kinds): string {
  const content = contentOf(objects, kinds)
  if (path.endsWith('.json')) return `${JSON.stringify({ $schema: schemaAddress, ...escapeExpressions(content) }, null, 2)}\n`
  const root = createRoot(new Document(undefined, documentOptions), content, defaultIndentation.indent)
  return `# yaml-language-server: $schema=${schemaAddress}\n${toText(root, defaultIndentation)}\n`
}

/** With an empty line between the sections. */
export const createRoot = (document: Document, content: Body, indent: number): YAMLMap =>
  createSpacedMap(document, content, (objects) => createSection(document, isMapping(objects) ? objects : {}, indent))

/** With an empty line between the objects. */
export const createSection = (document: Document, objects: Body, indent: number): YAMLMap =>
  createSpacedMap(document, objects, (fields, name) => createNode(document, fields, { name, column: indent * 2, indent, isOpen: true }))

function createSpacedMap(document: Document, values: Body, toNode: (value: unknown, name: string) => Node): YAMLMap {
  const map = new YAMLMap(document.schema)
  for (const [name, value] of Object.entries(values)) {
    const pair = document.createPair(name, toNode(value, name))
    if (map.items.length > 0 && isNode(pair.key)) pair.key.spaceBefore = true
    map.items.push(pair)
  }
  return map
}

export function toText(node: Node, { indent, indentSeq }: Indentation): string {
  const document = new Document(undefined, documentOptions)
  document.contents = node
  const text = document.toString({
    indent,
    indentSeq,
    lineWidth: 0,
    minContentWidth: 0,
    singleQuote: true,
    blockQuote: 'literal',
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  })
  return text.trimEnd()
}

/** In the order in which people read it. */
function contentOf(objects: readonly NewFields[], kinds: Kinds): Readonly<Record<string, Readonly<Record<string, Body>>>> {
  const parts = kindNames.flatMap((name) => {
    const own = objects.filter(({ kind }) => kind === name)
    const shared = sharedFields(kinds[name].file, own)
    const withoutShared = ({ after = {} }: NewFields): Body =>
      Object.fromEntries(Object.entries(after).filter(([field]) => !Object.hasOwn(shared, field)))
    const section = Object.fromEntries(own.map((one) => [one.key, withoutShared(one)]))
    return own.length === 0 ? [] : [{ name: sections[name], shared, section }]
  })
  const defaults = Object.fromEntries(parts.filter(({ shared }) => !isEmpty(shared)).map(({ name, shared }) => [name, shared]))
  return { ...(!isEmpty(defaults) && { defaults }), ...Object.fromEntries(parts.map(({ name, section }) => [name, section])) }
}

function sharedFields({ defaultFields = [] }: KindFile['file'], objects: readonly NewFields[]): Body {
  const [first, ...others] = objects.map(({ after = {} }) => after)
  // A file with fewer objects is easier to read without `defaults`.
  if (first === undefined || objects.length < 3) return {}
  const shared = defaultFields.filter((name) => first[name] !== undefined && others.every((one) => isSame(one[name], first[name])))
  return Object.fromEntries(shared.map((name) => [name, first[name]]))
}

/** Characters that are invisible, change the direction of text or end lines, and unpaired surrogates. */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{d800}-\u{dfff}]/u

/** Line breaks and spaces that are hard to see in a block of text. */
const hiddenWhitespace = /^\n$|^[\t\n ][\s\S]*\n|\n[\t ]*\n$|\n[\t ]+$/

/** YAML 1.2 reads these as text, YAML 1.1 as booleans. */
const yaml11Boolean = /^(?:y|n|yes|no|on|off)$/i

/** Quotes texts that the library leaves plain, and escapes what a reviewer could not see. */
const quotedText: ScalarTag = {
  identify: (value) => typeof value === 'string' && [hidden, hiddenWhitespace, yaml11Boolean].some((one) => one.test(value)),
  default: true,
  tag: 'tag:yaml.org,2002:str',
  resolve: (text) => text,
  stringify({ value }, { implicitKey }) {
    const text = String(value)
    if (!yaml11Boolean.test(text))
      return JSON.stringify(text).replace(
        /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
    // A key stays plain, because every tile has a `y`.
    return implicitKey ? text : `'${text}'`
  },
}

/** `[a, b]` and `{ a: 1 }`, as in the examples. */
function withPadding(tag: CollectionTag, padding: string): CollectionTag {
  const stringify = (node: YAMLMap | YAMLSeq, ...[context, ...hooks]: Parameters<YAMLMap['toString']>): string =>
    node.toString(context && { ...context, flowCollectionPadding: padding }, ...hooks)
  // The library calls `stringify` of collection tags, although its types do not have it.
  return { ...tag, stringify } as CollectionTag
}

function customTags(tags: Tags): Tags {
  const others = tags.map((tag) => {
    if (typeof tag === 'string' || !('collection' in tag)) return tag
    if (tag.collection === 'seq') return withPadding(tag, '')
    return tag.collection === 'map' ? withPadding(tag, ' ') : tag
  })
  return [quotedText, ...others]
}

export const documentOptions = { schema: 'core', customTags, prettyErrors: false, logLevel: 'silent' } as const

export interface Indentation {
  readonly indent: number
  readonly indentSeq: boolean
}

export const defaultIndentation: Indentation = { indent: 2, indentSeq: true }

/** Maps that people read and change often have a line for each field, even if they are short. */
const alwaysOpen: readonly string[] = ['tiles', 'rows', 'config', 'raw']

/** Lists whose items have a line for each field. */
export const openLists: readonly string[] = ['tiles', 'rows']

interface Position {
  readonly name: string
  readonly column: number
  readonly indent: number
  /** Even if all fields fit on one line. */
  readonly isOpen?: boolean
}

export function createNode(document: Document, content: unknown, position: Position): Node {
  const node = document.createNode(escapeExpressions(content))
  layOut(node, { isOpen: alwaysOpen.includes(position.name), ...position })
  return node
}

function layOut(node: unknown, { name, column, indent, isOpen = false }: Position): void {
  if (!isCollection(node) || node.items.length === 0) return
  // Each of several maps in a list starts a line, so that a diff shows which one changed.
  const canBeFlow = !isOpen && !(isSeq(node) && node.items.length > 1 && node.items.some(isCollection))
  node.flow = canBeFlow
  if (canBeFlow && column + name.length + 2 + lengthOf(node) <= 120) return
  node.flow = false
  const inside = { column: column + indent, indent }
  if (isSeq(node)) for (const item of node.items) layOut(item, { ...inside, name: '', isOpen: openLists.includes(name) })
  else if (isMap(node))
    for (const { key, value } of node.items) {
      const field = String(isScalar(key) ? key.value : key)
      layOut(value, { ...inside, name: field, isOpen: alwaysOpen.includes(field) })
    }
}

/** A text with several lines does not fit on one. */
function lengthOf(node: Node): number {
  const lines: unknown[] = []
  visit(node, { Scalar: (_, { value }) => void (typeof value === 'string' && value.includes('\n') && lines.push(value)) })
  return lines.length > 0 ? Number.POSITIVE_INFINITY : toText(node, defaultIndentation).length
}
