// What becomes of a declared object. The first row that fits decides. `npm run generate` writes the table into docs/files.md.

import { keysOf } from '../../platform/core/keys.ts'
import type { Origin } from './change.ts'

export interface State {
  /** What was found: an object with the marker of this key, of a former owner that the files name, or without one. */
  readonly object: 'none' | 'several' | 'ours' | 'of a former owner' | 'unmarked'
  /** Where it differs from the declaration. The text or the tags around a marker are what a person edits to remove it. */
  readonly differs: 'nowhere' | 'in the marked text' | 'yes'
  /** `unknown`: there is no base, or it is of another version. */
  readonly changed: Origin
  /** Then no file can decide about it. */
  readonly isMade: boolean
  /** A write of the whole object can lose parts, unless the server can patch it or the file accepts that. */
  readonly canMark: boolean
  /** The marker names this repository, too. */
  readonly isMarkerLatest: boolean
  readonly isWrittenAgain: boolean
}

export interface Decision {
  readonly action: 'create' | 'update' | 'adopt' | 'mark' | 'unchanged' | 'hold'
  readonly with?: 'no marker' | 'a warning'
}

export type Row = Partial<State> & Decision

export const ownership: readonly Row[] = [
  { object: 'none', action: 'create' },
  { object: 'several', action: 'hold' },
  { object: 'ours', differs: 'nowhere', isWrittenAgain: true, action: 'update' },
  { object: 'ours', differs: 'nowhere', isMarkerLatest: true, action: 'unchanged' },
  { object: 'ours', differs: 'nowhere', action: 'mark' },
  { object: 'ours', changed: 'both', isMade: false, action: 'hold' },
  { object: 'ours', action: 'update' },
  { object: 'of a former owner', differs: 'nowhere', action: 'adopt' },
  { object: 'of a former owner', changed: 'both', isMade: false, action: 'hold' },
  { object: 'of a former owner', action: 'update' },
  { object: 'unmarked', differs: 'nowhere', canMark: true, action: 'adopt' },
  { object: 'unmarked', differs: 'nowhere', action: 'unchanged', with: 'no marker' },
  { object: 'unmarked', differs: 'in the marked text', action: 'hold', with: 'a warning' },
  { object: 'unmarked', changed: 'files', action: 'update' },
  { object: 'unmarked', changed: 'references', action: 'update' },
  { object: 'unmarked', changed: 'service', action: 'hold', with: 'a warning' },
  { object: 'unmarked', action: 'hold' },
]

export function decideOn(state: Pick<State, 'object'> & Partial<State>): Decision {
  const fits = ({ action: _, with: __, ...wanted }: Row): boolean =>
    keysOf<keyof State>(wanted).every((name) => wanted[name] === state[name])
  const row = ownership.find(fits)
  if (row === undefined) throw new Error(`no row of the table decides on ${JSON.stringify(state)}`)
  return row
}
