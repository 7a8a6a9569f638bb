import { type Kind, type KindIdentity, type StoredObject, storedLabelOf } from '../../kinds/kind.ts'
import { addressOf, type KindName } from '../../kinds/kind-names.ts'
import { keyGrammar, ownershipTest } from '../../kinds/marker.ts'
import { digestOfText } from '../../platform/core/digest.ts'
import { inputError } from '../../platform/core/errors.ts'
import { compareText } from '../../platform/core/text.ts'
import { isHeld, type Plan } from '../decide/change.ts'
import type { DeclaredObjects } from '../declarations/declarations.ts'
import { type IndexedObject, indexStored, type StoredObjects } from '../plan/stored-objects.ts'

/** An object with a marker needs neither field. */
type Adoption = { readonly adopt: true | string } | { readonly id: string } | Readonly<Record<string, never>>

export interface NewObject {
  readonly kind: KindName
  readonly key: string
  readonly stored: StoredObject
  readonly adoption: Adoption
}

interface SkippedObject {
  readonly kind: KindName
  readonly stored: StoredObject
  /** `not-exportable`: an unmanaged object that no file can declare, or that the API does not show completely. */
  readonly outcome: 'left-out' | 'other-project' | 'not-exportable'
  readonly reason: string
}

export type SelectedObject = NewObject | SkippedObject

/** Those that files can declare have keys. */
export function selectObjects(
  kind: Kind,
  storedObjects: StoredObjects,
  plan: Plan,
  declarations: DeclaredObjects,
): readonly SelectedObject[] {
  const { name } = kind
  const changes = plan.changes.filter((change) => change.kind === name)
  const declaredIds = new Set(changes.map(({ id }) => id))
  const takenKeys = new Set([...declarations.objects, ...declarations.broken].filter((one) => one.kind === name).map(({ key }) => key))
  const { all } = indexStored(storedObjects[name], kind)
  const undeclared = all.filter(({ stored }) => !declaredIds.has(stored.id)).toSorted(byName)
  const isOwned = ownershipTest(plan.project, kind.markerStyle)
  const skip = ({ stored }: IndexedObject, reason: string, outcome: SkippedObject['outcome'] = 'left-out'): SkippedObject => {
    return { kind: name, stored, outcome, reason }
  }
  const ours = undeclared.filter(({ marker }) => isOwned(marker))
  const oursByToken = Map.groupBy(ours, ({ token }) => token)
  const addOurs = (one: IndexedObject): SelectedObject => {
    const key = keyIn(one, kind, plan.project)
    if (oursByToken.get(one.token)?.length !== 1)
      return skip(one, 'has the same ownership marker as another object: two runs created them at the same time, or one is a copy')
    if (key === undefined) return skip(one, 'has an ownership marker that contains only a hash of its key; remove the marker')
    if (takenKeys.has(key))
      return skip(one, `has the ownership marker of ${addressOf({ kind: name, key })}, which is the key of another object`)
    takenKeys.add(key)
    const hidden = kind.explainHidden?.(one.stored)
    return hidden === undefined ? { kind: name, key, stored: one.stored, adoption: {} } : skip(one, hidden)
  }
  const byToken = Map.groupBy(all, ({ token }) => token)
  // It is not clear which of several objects these declarations are about.
  const unclear = new Map(changes.flatMap((change) => (isHeld(change) ? (change.candidates ?? []).map((id) => [id, change] as const) : [])))
  const addUnmanaged = (one: IndexedObject): SelectedObject => {
    const { stored, token, undeclarable = kind.explainHidden?.(stored) } = one
    if (undeclarable !== undefined) return skip(one, undeclarable, 'not-exportable')
    const declared = unclear.get(stored.id)
    if (declared !== undefined)
      return skip(one, `may be ${addressOf(declared)}; if it is, set adopt of that to ${stored.id}, otherwise to the id of another one`)
    const key = claimKey({ name: storedLabelOf(stored), id: stored.id, noun: kind.label }, takenKeys)
    if (kind.ownership === 'marker') return { kind: name, key, stored, adoption: { adopt: stored.id } }
    const isUnique = byToken.get(token)?.length === 1 && storedObjects.incompleteLists[name] === undefined
    return { kind: name, key, stored, adoption: isUnique ? { adopt: true } : { id: stored.id } }
  }
  return [
    // Keys in markers come first: an unmanaged object can have another key.
    ...ours.map(addOurs),
    ...undeclared.filter(({ marker }) => marker === undefined).map(addUnmanaged),
    ...undeclared
      .filter(({ marker }) => marker !== undefined && !isOwned(marker))
      .map((one) => skip(one, 'has the ownership marker of another project', 'other-project')),
  ]
}

const byName = ({ stored: a }: IndexedObject, { stored: b }: IndexedObject): number =>
  compareText(storedLabelOf(a), storedLabelOf(b)) || compareText(a.id, b.id)

/** A long key is only a hash there. Most keys are derived from names. */
function keyIn({ stored, marker }: IndexedObject, { markerStyle }: KindIdentity, project: string): string | undefined {
  const guess = toSlug(stored.name ?? '')
  return marker?.key ?? (markerStyle.token(project, guess) === marker?.token ? guess : undefined)
}

/** Lowercase letters, digits and dashes, with room for a number at the end; empty when the name has no ASCII letters or digits. */
export const toSlug = (name: string): string =>
  name
    .slice(0, 500)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 55)
    .replace(/^-+|-+$/g, '')

/** Adds the key to the taken ones. Without a slug of the name, it is the noun and a part of the id, or of a digest of the name. */
export function claimKey(
  { name, id, noun }: Readonly<Record<'name' | 'noun', string>> & { readonly id?: string },
  taken: Set<string>,
): string {
  // Ids that were created together differ in their last characters.
  const slug = toSlug(name) || toSlug(`${noun} ${(id || digestOfText(name, 6)).slice(-6)}`)
  let key = slug
  for (let i = 2; taken.has(key) || !keyGrammar.test(key); i++) key = `${slug}-${i}`
  taken.add(key)
  return key
}

/** Throws an InputError when the globs do not say where new files belong. */
export function fileFor(globs: readonly string[], paths: readonly string[], closed: ReadonlySet<string>): (key: string) => string {
  const toPath = pathsIn(globs[0] ?? '')
  if (toPath === undefined)
    throw inputError(
      'files',
      `the first glob does not define where new files go; start with a glob such as observability/**/*.yml, or with one file`,
    )
  // Some file systems ignore case.
  const existing = new Map(paths.map((path) => [path.toLowerCase(), path]))
  const pathFor = (name: string): string => existing.get(toPath(name).toLowerCase()) ?? toPath(name)
  return (key) => {
    const name = toFileName(key)
    let path = pathFor(name)
    for (let i = 2; closed.has(path); i++) {
      const next = pathFor(`${name}-${i}`)
      if (next === path)
        throw inputError(
          'files',
          `pull adds no objects to ${path}, because it has instances; start with a glob such as observability/**/*.yml`,
        )
      path = next
    }
    return path
  }
}

/** Without an extension. */
export const toFileName = (key: string): string => {
  const name = key.replace(/\.+/g, '-')
  // Windows reserves these names, whatever the extension.
  return /^(?:con|prn|aux|nul|com\d|lpt\d)$/.test(name) ? `${name}-` : name
}

/** A directory, then any file with one of the given extensions. */
const directoryGlob = /^((?:[^*?[\]{}()!+@\\]*\/)?)(?:\*\*\/)*\*(?:\*|\.(?:\{(\w+)(?:,\w+)*\}|(\w+)))?$/

function pathsIn(glob: string): ((baseName: string) => string) | undefined {
  if (glob === '') return undefined
  if (!/[*?[\]{}()!+@\\]/.test(glob)) {
    // A directory that does not exist yet looks like a file without an extension.
    const isFile = /[^/]\.(?:ya?ml|json)$/.test(glob)
    return isFile ? () => normalizePath(glob) : (baseName) => normalizePath(`${glob}/${baseName}.yml`)
  }
  const [found, directory = '', firstOfSeveral, only] = directoryGlob.exec(glob) ?? []
  const extension = firstOfSeveral ?? only ?? 'yml'
  if (found === undefined || !['yml', 'yaml', 'json'].includes(extension)) return undefined
  return (baseName) => `${normalizePath(directory)}${baseName}.${extension}`
}

/** Paths must be equal to those that a file search returns. */
const normalizePath = (path: string): string =>
  path
    .replace(/\/+/g, '/')
    .replace(/^(?:\.\/)+/, '')
    .replaceAll('/./', '/')
