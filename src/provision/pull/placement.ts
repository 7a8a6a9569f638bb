// Owns which file a newcomer is written into: one for each dashboard with its alerts, and one for each kind of the rest.
import { InputError } from '../../kernel/errors.ts'
import type { Section } from '../declarations-schema.ts'
import { fileNameFor } from './keys.ts'

export interface Placing {
  readonly globs: readonly string[]
  /** The files that there are. */
  readonly paths: readonly string[]
}

export interface Placed {
  readonly section: Section
  readonly key: string
  /** Of an alert: the key of the dashboard that it is on, where these files hold it. */
  readonly dashboard?: string | undefined
}

/** Throws an InputError when the globs leave no place for a new file. */
export function createPlacement({ globs, paths }: Placing): (placed: Placed) => string {
  const [first = ''] = globs
  const find = placesOf(first)
  if (find === undefined)
    throw new InputError([
      {
        name: 'files',
        message: `nobody can tell where new files belong: begin with a glob such as observability/**/*.yml, or name one file`,
      },
    ])
  // What some file systems take for the same file is the same file.
  const existing = new Map(paths.map((path) => [path.toLowerCase(), path]))
  return ({ section, key, dashboard }) => {
    const path = find(fileNameOf(section, section === 'dashboards' ? key : dashboard))
    return existing.get(path.toLowerCase()) ?? path
  }
}

const fileNameOf = (section: Section, dashboard: string | undefined): string =>
  section === 'savedSearches' ? 'saved-searches' : dashboard === undefined ? 'alerts' : fileNameFor(dashboard)

/** A directory, and then any file of some ending in it. */
const anyFile = /^((?:[^*?[\]{}()!+@\\]*\/)?)(?:\*\*\/)*\*(?:\*|\.(?:\{(\w+)(?:,\w+)*\}|(\w+)))?$/

const magic = /[*?[\]{}()!+@\\]/

const isEnding = (word: string): boolean => ['yml', 'yaml', 'json'].includes(word)

function placesOf(glob: string): ((name: string) => string) | undefined {
  if (!magic.test(glob)) return glob === '' || glob.endsWith('/') ? undefined : () => plainPath(glob)
  const [found, directory = '', one, other] = anyFile.exec(glob) ?? []
  const ending = one ?? other ?? 'yml'
  return found === undefined || !isEnding(ending) ? undefined : (name) => `${plainPath(directory)}${name}.${ending}`
}

/** As a search for files spells it. */
const plainPath = (path: string): string =>
  path
    .replace(/\/+/g, '/')
    .replace(/^(?:\.\/)+/, '')
    .replaceAll('/./', '/')
