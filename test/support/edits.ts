// Edits a file as a pull does when fields of its objects change in the service.

import { diffLines } from 'diff'
import { parse } from 'yaml'
import { itemId } from '../../src/kinds/kind.ts'
import { kindNames, sections as kindSections } from '../../src/kinds/kind-names.ts'
import { isMapping } from '../../src/platform/core/keys.ts'
import { type Edit, type EditedFile, editFile } from '../../src/sync/pull/edit-yaml.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Fields that change, undefined for those that go; or all fields, made of those that the object had. */
type Change = Fields | ((before: Fields) => Fields)

interface EditOptions {
  readonly path?: string
  readonly additions?: readonly Edit[]
  /** By what items of lists are known beside their names. */
  readonly identityOf?: (item: Fields) => string | undefined
}

/** The objects by section and key, as in `alerts.errors`. */
export function editWith(text: string, turns: Readonly<Record<string, Change>>, options: EditOptions = {}): EditedFile {
  const { path = 'a.yml', additions = [], identityOf = () => undefined } = options
  const { defaults = {}, ...sections } = parsed(text) as Readonly<Record<string, Readonly<Record<string, Fields>>>>
  const updates = Object.entries(turns).map(([name, turn]) => {
    const [section = '', key = ''] = name.split('.')
    const kind = kindNames.find((one) => kindSections[one] === section)
    if (kind === undefined) throw new Error(`${section} is not a section`)
    const own = sections[section]?.[key]
    const before = { ...own, ...defaults[section], ...own }
    const after = typeof turn === 'function' ? turn(before) : { ...before, ...turn }
    return { kind, key, before: withIds(before, identityOf), after: withIds(withoutNothing(after), identityOf) }
  })
  return editFile(path, text, [...updates, ...additions], defaults)
}

export const edit = (...[text, turns, options]: Parameters<typeof editWith>): string => editWith(text, turns, options).text

export const parsed = (text: string): unknown => parse(text.replace(/^\ufeff/, ''), { maxAliasCount: -1 })

/** The lines that go and those that come. */
export const linesBetween = (before: string, after: string): readonly string[] =>
  diffLines(before, after).flatMap(({ added, removed, value }) =>
    added || removed
      ? value
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => `${added ? '+' : '-'}${line}`)
      : [],
  )

const withoutNothing = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** The fields with the ids of the items of their lists. */
const withIds = (fields: Fields, identityOf: (item: Fields) => string | undefined): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field,
      Array.isArray(value) ? value.map((item) => (isMapping(item) ? { ...item, [itemId]: identityOf(item) } : item)) : value,
    ]),
  )
