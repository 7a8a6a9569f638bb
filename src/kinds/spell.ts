// How `pull` spells stored values in a file: without the server's defaults, with names in place of ids, and in the order of the schema.

import { isExactNumber } from '../platform/core/json.ts'
import { mapItems } from '../platform/core/keys.ts'
import { type FormWalk, isRequired, isUnused, mapForms, metaOf, ownValue, type Schema } from '../platform/documents/schema.ts'
import type { Directory, ReferableKind } from './directory.ts'
import { shortSourceNames } from './fields.ts'
import type { Body, FileContext } from './kind.ts'
import { spellConnection } from './reference-resolver.ts'

interface Spelling {
  readonly value: unknown
  /** The value without the server's defaults and empty fields. */
  readonly normalized: unknown
  /** The value in the file; undefined where the file does not have it. */
  readonly spelled: unknown
}

/** Read last, so written last. */
const lastFields: readonly string[] = ['numberFormat', 'raw']

/** The fields that the schema knows and that are not defaults of the server. */
export const spellFields = ({ value, ...others }: Spelling & { readonly value: Body }, schema: Schema, context: FileContext): Body =>
  mapForms(value, schema, spelling(context), others)

const spelling = (context: FileContext): FormWalk<Omit<Spelling, 'value'>> => ({
  into: ({ normalized, spelled }, key) => ({ normalized: ownValue(normalized, key), spelled: ownValue(spelled, key) }),
  leaf: withPlainNumbers,
  map({ map, form, beside: { normalized, spelled }, inner }) {
    if (form === undefined) return withPlainNumbers(map)
    const spellField = (name: string): readonly [string, unknown] => {
      const short = shortSourceNames.get(name)
      if (short !== undefined) return spellSources(name, short, { value: map, normalized, spelled }, context.directory)
      if (name === 'connectionId' && ownValue(spelled, name) === undefined)
        return ['connection', spellConnection(map[name], { ...context, spelled })]
      const field = form.shape[name]
      // The source that a click opens.
      const opened = name === 'id' && field && metaOf(field).ref ? uniqueNameOf(context.directory, 'source', map[name]) : undefined
      if (opened !== undefined && ownValue(spelled, name) !== map[name]) return [name, { source: opened }]
      return [name, inner(name)]
    }
    // Comparisons ignore it. A new object has it in its file, and another one only if the file has it already.
    const isKept = (name: string, { serverDefault } = metaOf(form.shape[name])): boolean =>
      isUnused(form, name, map) && map[name] !== serverDefault && (spelled === undefined || ownValue(spelled, name) !== undefined)
    return Object.fromEntries(
      Object.keys(form.shape)
        .toSorted((a, b) => lastFields.indexOf(a) - lastFields.indexOf(b))
        .filter((name) => ownValue(normalized, name) !== undefined || (map[name] != null && (isRequired(form.shape[name]) || isKept(name))))
        .map(spellField)
        .filter(([, field]) => field !== undefined),
    )
  },
})

/** The field with sources, in its short form unless the file has the long one or a source has no unique name. */
function spellSources(field: string, short: string, { value, spelled }: Spelling, directory: Directory): readonly [string, unknown] {
  const ids = ownValue(value, field)
  const list: readonly unknown[] = [ids].flat()
  const names = list.map((id) => uniqueNameOf(directory, 'source', id))
  const isShort = ownValue(spelled, field) === undefined && !names.includes(undefined)
  const sources = isShort ? names : list.map((id, i) => (names[i] === undefined ? id : { source: names[i] }))
  return [isShort ? short : field, Array.isArray(ids) ? sources : sources[0]]
}

/** The name of the object with this id, if no other one has it. */
export function uniqueNameOf(directory: Directory, kind: ReferableKind, id: unknown): string | undefined {
  const name = directory.nameOf(id)
  if (name === undefined) return undefined
  const found = directory.byName(kind, name)
  return 'id' in found && found.id === id ? name : undefined
}

/** Files cannot hold more digits than a JavaScript number, so exact numbers are rounded. */
export function withPlainNumbers(value: Body): Body
export function withPlainNumbers(value: unknown): unknown
export function withPlainNumbers(value: unknown): unknown {
  return isExactNumber(value) ? Number(value.rawJSON) : mapItems(value, withPlainNumbers)
}
