// What becomes of a declared object. The first row that fits decides. `npm run generate` writes the table into docs/files.md.

import { keysOf } from '../../platform/core/keys.ts'

/** All that the decision about one object depends on. */
export interface State {
  /** What was found: an object with the marker of this key, of a former owner that the files name, or without one. */
  readonly object: 'none' | 'several' | 'ours' | 'of a former owner' | 'unmarked'
  /** Where it differs from the declaration. The text or the tags around a marker are what a person edits to remove it. */
  readonly differs: 'nowhere' | 'in the marked text' | 'yes'
  /** What the file says about an object without a marker: that the file decides, what the object was like at the last pull, or nothing. */
  readonly file: 'decides' | 'is older' | 'says nothing'
  /** Whether the declaration is as it was at the last pull, so that only the service changed. */
  readonly isFileAsPulled: boolean
  /** Whether a marker costs nothing: a write of the whole object can lose parts, unless the server can patch it or the file accepts that. */
  readonly canMark: boolean
  /** Whether the marker has the digest of this declaration, and this repository. */
  readonly isMarkerLatest: boolean
  /** Whether the project owns another object, so that this one can have lost its marker. */
  readonly mayHaveLostMarker: boolean
  /** Whether the run writes it without a difference. */
  readonly isWrittenAgain: boolean
}

export type Decision =
  | 'create'
  | 'update'
  | 'adopt'
  | 'adopt with its text'
  | 'track'
  | 'mark'
  | 'unchanged'
  | 'hold'
  | 'hold with a warning'

export type Row = Partial<State> & { readonly decision: Decision }

export const ownership: readonly Row[] = [
  { object: 'none', decision: 'create' },
  { object: 'several', decision: 'hold' },
  { object: 'ours', differs: 'nowhere', isWrittenAgain: true, decision: 'update' },
  { object: 'ours', differs: 'nowhere', isMarkerLatest: true, decision: 'unchanged' },
  { object: 'ours', differs: 'nowhere', decision: 'mark' },
  { object: 'ours', decision: 'update' },
  { object: 'of a former owner', differs: 'nowhere', decision: 'adopt' },
  { object: 'of a former owner', decision: 'update' },
  { object: 'unmarked', differs: 'nowhere', canMark: true, decision: 'adopt' },
  { object: 'unmarked', differs: 'nowhere', decision: 'track' },
  { object: 'unmarked', file: 'decides', decision: 'update' },
  {
    object: 'unmarked',
    differs: 'in the marked text',
    file: 'says nothing',
    canMark: true,
    mayHaveLostMarker: true,
    decision: 'adopt with its text',
  },
  { object: 'unmarked', isFileAsPulled: true, decision: 'hold with a warning' },
  { object: 'unmarked', decision: 'hold' },
]

export function decideOn(state: State): Decision {
  const row = ownership.find((one) => keysOf<keyof Row>(one).every((name) => name === 'decision' || one[name] === state[name]))
  if (row === undefined) throw new Error(`no row of the table decides on ${JSON.stringify(state)}`)
  return row.decision
}
