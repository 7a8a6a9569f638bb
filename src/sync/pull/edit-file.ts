// Owns a file that exists and is to say something else: its text before and after. What does not change stays byte for byte.
import { type Document, isCollection, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { readDocument } from '../../documents/document.ts'
import { ownValue } from '../../documents/schema-facts.ts'
import { canonicalText } from '../../resources/marker.ts'
import type { Body } from '../../resources/resource-type.ts'
import type { Section } from '../declarations.ts'
import { fieldsBeside, overridesFor } from './defaults.ts'
import { addObject, copyOf, type Editing, editMap, pairOf, releaseAnchor, settleStrays } from './edit-nodes.ts'
import { keepLines } from './keep-lines.ts'
import type { Sides } from './render.ts'
import { documentOptions, type Indentation, ourIndentation, textOptions } from './yaml-style.ts'

export interface FileEdit {
  readonly path: string
  readonly text: string
  /** What each object has unless it says otherwise, with its expressions replaced. */
  readonly defaults: unknown
  readonly updates: readonly Update[]
  readonly additions: readonly Addition[]
}

export interface Update extends Sides {
  readonly section: Section
  readonly key: string
}

export interface Addition {
  readonly section: Section
  readonly key: string
  readonly fields: Body
}

export interface Edited {
  readonly text: string
  /** Expressions that gave way to what they no longer stand for, by object. */
  readonly lost: ReadonlyMap<string, readonly string[]>
}

const byteOrderMark = '\ufeff'

export function editFile(edit: FileEdit): Edited {
  const { path, text } = edit
  const hasMark = text.startsWith(byteOrderMark)
  const bare = hasMark ? text.slice(byteOrderMark.length) : text
  const hasReturns = /\r\n/.test(bare) && !/(?:^|[^\r])\n/.test(bare)
  const written = hasReturns ? bare.replaceAll('\r\n', '\n') : bare
  const edited = path.endsWith('.json') && isJson(written) ? editJson(edit, written) : editYaml(edit, written)
  const lines = hasReturns ? edited.text.replaceAll('\n', '\r\n') : edited.text
  return { ...edited, text: hasMark ? `${byteOrderMark}${lines}` : lines }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function editJson(edit: FileEdit, written: string): Edited {
  const document = parseDocument(written, documentOptions)
  const lost = change(document, edit, 2)
  return { text: `${JSON.stringify(document.toJS(), null, 2)}\n`, lost }
}

function editYaml(edit: FileEdit, written: string): Edited {
  const document = parseDocument(written, documentOptions)
  const indentation = indentationOf(document, written)
  const options = textOptions(indentation)
  const spelt = document.toString(options)
  const lost = change(document, edit, indentation.indent)
  const changed = document.toString(options)
  // Lines that were put together may have become something else; a text that is wrong is never written.
  const spellings = { written, spelt, changed }
  const candidates = [() => keepLines(spellings), () => keepLines({ ...spellings, together: indentation.indent }), () => changed]
  for (const candidate of candidates) {
    const text = candidate()
    if (text !== undefined && saysTheSame(text, document, edit.path)) return { text, lost }
  }
  return { text: written, lost }
}

function saysTheSame(text: string, document: Document.Parsed, path: string): boolean {
  const reading = readDocument(text, path)
  return 'value' in reading && canonicalText(reading.value) === canonicalText(document.toJS({ maxAliasCount: -1 }))
}

function change(document: Document.Parsed, { defaults, updates, additions }: FileEdit, indent: number): Edited['lost'] {
  const lost = new Map<string, readonly string[]>()
  const root = document.contents
  if (!isMap(root)) throw new Error('what is read as declarations is a map')
  for (const { section, key, before, after } of updates) {
    const editing: Editing = {
      document,
      indent,
      lost: [],
      identityOf: (item) => before.identities.get(item) ?? after.identities.get(item),
    }
    const map = objectIn(root, section, key, document)
    const gone = Object.keys(before.fields).filter((field) => !Object.hasOwn(after.fields, field))
    const denied = gone.filter((field) => ownValue(ownValue(defaults, section), field) !== undefined)
    editMap(map, { before: before.fields, after: { ...after.fields, ...overridesFor(section, denied) } }, editing, indent * 2)
    if (editing.lost.length > 0) lost.set(`${section}.${key}`, editing.lost)
  }
  for (const { section, key, fields } of additions) {
    const editing: Editing = { document, indent, lost: [], identityOf: () => undefined }
    addObject(root, section, [key, fieldsBeside(ownValue(defaults, section), section, fields)], editing)
  }
  settleStrays(document)
  return lost
}

/** The map of one object, and of nothing else: an alias becomes a copy of its own. */
function objectIn(root: YAMLMap, section: string, key: string, document: Document.Parsed): YAMLMap {
  let node: unknown = root
  for (const name of [section, key]) {
    const pair = isMap(node) ? pairOf(node as YAMLMap, name) : undefined
    if (pair === undefined) throw new Error(`${section}.${key} is not where it was read`)
    const { value } = pair
    if (isCollection(value)) releaseAnchor(value, { document })
    else pair.value = copyOf((value as { resolve(document: Document): never }).resolve(document))
    node = pair.value
  }
  return node as YAMLMap
}

function indentationOf({ contents }: Document.Parsed, text: string): Indentation {
  const columnOf = (node: unknown): number | undefined => {
    const range = (node as { readonly range?: readonly number[] | null } | null)?.range?.[0]
    return range === undefined ? undefined : range - (text.lastIndexOf('\n', range - 1) + 1)
  }
  const pairs = isMap(contents) ? contents.items : []
  const indent =
    pairs.map(({ value }) => (isMap(value) && !value.flow ? columnOf(value.items[0]?.key) : undefined)).find((column) => !!column) ??
    ourIndentation.indent
  const list = pairs.flatMap(({ value }) => (isMap(value) ? value.items : [])).flatMap(({ value }) => (isMap(value) ? value.items : []))
  const seqs = list.flatMap(({ key, value }) => (isSeq(value) && !value.flow ? [[columnOf(key), columnOf(value)] as const] : []))
  // With other columns than two, the library puts lists between the two places where people put them.
  return { indent, indentSeq: indent !== ourIndentation.indent || !seqs.some(([key, seq]) => key === seq) }
}
