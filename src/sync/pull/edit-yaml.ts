import { isAlias, isMap, isNode, type Node, parseDocument, visit, type YAMLMap } from 'yaml'
import * as z from 'zod'
import type { Body } from '../../kinds/kind.ts'
import { addressOf, type KindName, sections } from '../../kinds/kind-names.ts'
import { fileSchemas } from '../../kinds/kinds.ts'
import { isEmpty, isMapping } from '../../platform/core/keys.ts'
import { defaultOf, ownValue, type Shape } from '../../platform/documents/schema.ts'
import { type BeforeAfter, findPair, isEqual, Splicer } from './splice-yaml.ts'
import { documentOptions, type NewFields } from './write-yaml.ts'

export interface Edit extends NewFields {
  /** Absent for a new object. */
  readonly before?: Body
}

export interface EditedFile {
  readonly text: string
  /** By object. */
  readonly replacedExpressions: ReadonlyMap<string, readonly string[]>
  /** They stay as they are, because an anchor or alias in them can also mean something elsewhere. */
  readonly shared: ReadonlySet<string>
}

const byteOrderMark = '\ufeff'

/** `defaults` have their expressions replaced. */
export function editFile(path: string, text: string, edits: readonly Edit[], defaults: unknown = {}): EditedFile {
  const file = openFile(path, text)
  const { root } = file
  const [shared = [], own = []] = [true, false].map((wanted) => edits.filter((edit) => isShared(root, edit) === wanted))
  const sharedKeys = new Set(shared.map(addressOf))
  if (own.length === 0) return { text, replacedExpressions: new Map(), shared: sharedKeys }
  return { ...file.splice(toSides(root, own, defaults)), shared: sharedKeys }
}

export interface Adoption {
  readonly kind: KindName
  readonly key: string
  readonly entry: string
}

/** Undefined where an anchor or alias shares some of `adopt`. */
export function editAdoptions(path: string, text: string, entries: readonly Adoption[]): string | undefined {
  const { root, splice } = openFile(path, text)
  const adopt = findPair(root, 'adopt')?.value
  if (isNode(adopt) && hasAnchor(adopt)) return undefined
  const bySection = Map.groupBy(entries, ({ kind }) => sections[kind])
  const after = [...bySection].map(([section, all]) => [section, Object.fromEntries(all.map(({ key, entry }) => [key, entry]))] as const)
  // What differs is written. What no side names stays.
  const before = after.map(([section, own]) => [section, Object.fromEntries(Object.keys(own).map((key) => [key, undefined]))] as const)
  return splice({ before: { adopt: Object.fromEntries(before) }, after: { adopt: Object.fromEntries(after) } }).text
}

function openFile(path: string, text: string) {
  const bare = text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text
  // Mixed line endings stay as they are.
  const usesCrLf = /\r\n/.test(bare) && !/(?:^|[^\r])\n/.test(bare)
  const original = usesCrLf ? bare.replaceAll('\r\n', '\n') : bare
  const document = parseDocument(original, documentOptions)
  const root = document.contents
  if (!isMap(root)) throw new Error('the file is a map')
  const splice = (sides: BeforeAfter) => {
    const splicer = new Splicer(original, document, path.endsWith('.json') && isJson(original))
    const edited = splicer.editRoot(sides)
    const lines = usesCrLf ? edited.replaceAll('\n', '\r\n') : edited
    return { text: `${bare === text ? '' : byteOrderMark}${lines}`, replacedExpressions: splicer.replacedExpressions }
  }
  return { root, splice }
}

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined
  } catch {
    return false
  }
}

function isShared(root: YAMLMap, { kind, key }: Edit): boolean {
  const section = findPair(root, sections[kind])?.value
  if (isAnchored(section)) return true
  const object = isMap(section) ? findPair(section, key)?.value : undefined
  return isNode(object) && hasAnchor(object)
}

function hasAnchor(node: Node): boolean {
  const nodes: unknown[] = []
  visit(node, { Node: (_, inner) => void nodes.push(inner) })
  return nodes.some(isAnchored)
}

const isAnchored = (node: unknown): boolean => isAlias(node) || ownValue(node, 'anchor') !== undefined

function toSides(root: YAMLMap, edits: readonly Edit[], defaults: unknown): BeforeAfter {
  const bySection = [...Map.groupBy(edits, ({ kind }) => kind)].map(([kind, all]) => {
    const inherited = ownValue(defaults, sections[kind])
    const objects = all.map((edit) => ({
      key: edit.key,
      before: edit.before,
      after: withDefaults(edit, isMapping(inherited) ? inherited : {}),
    }))
    const [before, after] = (['before', 'after'] as const).map((side) =>
      Object.fromEntries(objects.flatMap((one) => (one[side] === undefined ? [] : [[one.key, one[side]]]))),
    )
    const section = findPair(root, sections[kind])?.value
    const isLeftEmpty = isEmpty(after) && isMap(section) && section.items.length === Object.keys(before ?? {}).length
    return { name: sections[kind], before, after: isLeftEmpty ? undefined : after }
  })
  return {
    before: Object.fromEntries(bySection.map(({ name, before }) => [name, before])),
    after: Object.fromEntries(bySection.flatMap(({ name, after }) => (after === undefined ? [] : [[name, after]]))),
  }
}

/** Those that differ from the defaults, and values that override them. */
function withDefaults({ kind, before, after }: Edit, defaults: Body): Body | undefined {
  if (after === undefined) return undefined
  const given = before ?? defaults
  const removed = Object.keys(given).filter((field) => !Object.hasOwn(after, field) && Object.hasOwn(defaults, field))
  const fields = { ...after, ...overrideDefaults(kind, removed) }
  return before === undefined
    ? Object.fromEntries(Object.entries(fields).filter(([field, value]) => !isEqual(defaults[field], value)))
    : fields
}

/** Fields without such a value are left out. */
export function overrideDefaults(kind: KindName, names: readonly string[]): Body {
  const shape: Shape = fileSchemas[kind].shape
  const values = names.flatMap((name) => {
    const field = shape[name]
    if (field === undefined) return []
    const value = [defaultOf(field), null, []].find((one) => one !== undefined && z.safeParse(field, one).success)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(values)
}
