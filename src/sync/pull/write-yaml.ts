import {
  type CollectionTag,
  Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type ScalarTag,
  type Tags,
  type ToStringOptions,
  YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { version } from '../../core/version.ts'
import { escapeExpressions } from '../../documents/expressions.ts'
import { ownValue } from '../../documents/schema.ts'
import type { Body } from '../../kinds/kind.ts'
import { type KindName, kindNames, sections } from '../../kinds/kind-names.ts'
import { canonicalText } from '../../kinds/marker.ts'

/** An object that a file does not declare yet. */
export interface Addition {
  readonly kind: KindName
  readonly key: string
  readonly fields: Body
}

const schemaAddress = `https://raw.githubusercontent.com/watchkeeper/watchkeeper/v${version.split('.')[0]}/schemas/observability.schema.json`

/** The text of a new file, formatted as a person would write it. */
export function writeNewFile(path: string, additions: readonly Addition[]): string {
  const content = contentOf(additions)
  if (path.endsWith('.json')) return `${JSON.stringify({ $schema: schemaAddress, ...escapeExpressions(content) }, null, 2)}\n`
  const { indent } = defaultIndentation
  const document = new Document(undefined, documentOptions)
  const root = new YAMLMap(document.schema)
  for (const [section, objects] of Object.entries(content)) {
    const map = new YAMLMap(document.schema)
    for (const [key, fields] of Object.entries(objects)) {
      appendPair(map, document.createPair(key, createNode(document, fields, { name: key, column: indent * 2, indent, isOpen: true })))
    }
    appendPair(root, document.createPair(section, map))
  }
  document.contents = root
  return `# yaml-language-server: $schema=${schemaAddress}\n${document.toString(textOptions(defaultIndentation))}`
}

/** In the order in which people read it. */
function contentOf(additions: readonly Addition[]): Readonly<Record<string, Readonly<Record<string, Body>>>> {
  const inSection = (kind: KindName) => additions.filter((addition) => addition.kind === kind)
  const { defaults, alerts } = extractDefaults(inSection('alert').map(({ fields }) => fields))
  const objectsIn = (kind: KindName): readonly (readonly [string, Body])[] =>
    inSection(kind).map(({ key, fields }, i) => [key, kind === 'alert' ? (alerts[i] ?? fields) : fields])
  const filled = kindNames.map((kind) => [sections[kind], Object.fromEntries(objectsIn(kind))] as const)
  return {
    ...(Object.keys(defaults).length > 0 && { defaults: { alerts: defaults } }),
    ...Object.fromEntries(filled.filter(([, objects]) => Object.keys(objects).length > 0)),
  }
}

/** A file with fewer alerts is easier to read without `defaults`. */
const minAlertsForDefaults = 3

const extractedFields = ['dashboard', 'interval', 'channel'] as const

/** Moves these fields to `defaults` if all alerts have the same. */
function extractDefaults(alerts: readonly Body[]): { readonly defaults: Body; readonly alerts: readonly Body[] } {
  const [first, ...others] = alerts
  if (first === undefined || alerts.length < minAlertsForDefaults) return { defaults: {}, alerts }
  const shared = extractedFields.filter(
    (name) => first[name] !== undefined && others.every((alert) => canonicalText(alert[name]) === canonicalText(first[name])),
  )
  const rest = alerts.map((alert) => Object.fromEntries(Object.entries(alert).filter(([name]) => !shared.some((one) => one === name))))
  return { defaults: Object.fromEntries(shared.map((name) => [name, first[name]])), alerts: rest }
}

/** Adds a pair at the end of a map, after an empty line if it is not the first one. */
export function appendPair(map: YAMLMap, pair: Pair): void {
  if (map.items.length > 0 && isNode(pair.key)) pair.key.spaceBefore = true
  map.items.push(pair)
}

/** Characters that are invisible, change the direction of text or end lines, and unpaired surrogates. */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{d800}-\u{dfff}]/u

/** Line breaks and spaces that are hard to see in a block of text. */
const hiddenWhitespace = /^[\t\n ][\s\S]*\n|\n[\t ]*\n$|\n[\t ]+$/

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
    if (!yaml11Boolean.test(text)) return quoteWithEscapes(text)
    // As a key it stays plain: every tile has a `y`.
    return implicitKey ? text : `'${text}'`
  },
}

const quoteWithEscapes = (text: string): string =>
  JSON.stringify(text).replace(/[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })

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

export const textOptions = ({ indent, indentSeq }: Indentation): ToStringOptions => ({
  indent,
  indentSeq,
  lineWidth: 0,
  minContentWidth: 0,
  singleQuote: true,
  blockQuote: 'literal',
  doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
})

/** A map or list on one line has at most this many columns. */
const maxLineWidth = 120

/** Maps that people read and change often have a line for each field, even if they are short. */
const alwaysOpen: readonly string[] = ['tiles', 'rows', 'config', 'raw']

/** Lists whose items have a line for each field. */
export const openLists: readonly string[] = ['tiles', 'rows']

export interface Position {
  /** The field that holds the value. */
  readonly name: string
  readonly column: number
  readonly indent: number
  /** Whether each field has a line of its own, even if all of them fit on one. */
  readonly isOpen?: boolean
}

/** Creates a node for the value, with short maps and lists on one line. */
export function createNode(document: Document, content: unknown, position: Position): Node {
  const value = escapeExpressions(content)
  const node = document.createNode(value)
  layOut(node, value, { isOpen: alwaysOpen.includes(position.name), ...position })
  return node
}

function layOut(node: unknown, value: unknown, { name, column, indent, isOpen = false }: Position): void {
  if (!isCollection(node) || node.items.length === 0) return
  // Each of several maps in a list starts a line, so that a diff shows which one changed.
  const canBeFlow = !isOpen && !(isSeq(node) && node.items.length > 1 && node.items.some(isCollection))
  if (canBeFlow && column + name.length + 2 + estimateLength(value) <= maxLineWidth) {
    node.flow = true
    return
  }
  if (isSeq(node)) {
    node.items.forEach((item, i) => {
      layOut(item, ownValue(value, i), { name: '', column: column + indent, indent, isOpen: openLists.includes(name) })
    })
  } else if (isMap(node)) {
    for (const { key, value: inner } of node.items) {
      const field = String(isScalar(key) ? key.value : key)
      layOut(inner, ownValue(value, field), { name: field, column: column + indent, indent, isOpen: alwaysOpen.includes(field) })
    }
  }
}

/** An estimate: quotes and escapes can add some columns. */
function estimateLength(value: unknown): number {
  if (typeof value === 'string')
    return value.includes('\n') ? Number.POSITIVE_INFINITY : value.length + (/[,[\]{}#&*!|>'"%@`]|: /.test(value) ? 2 : 0)
  if (typeof value !== 'object' || value === null) return String(value).length
  const items = Array.isArray(value)
    ? value.map(estimateLength)
    : Object.entries(value).map(([key, item]) => key.length + 2 + estimateLength(item))
  return items.reduce((sum, length) => sum + length + 2, 2)
}
