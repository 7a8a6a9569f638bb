// Owns the proof of a pull: the files as they would be are read again and planned with, and every object for which something
// would remain to be done is named. Pure.

import { type Diagnostic, errorsIn, type Location } from '../../core/diagnostics.ts'
import type { Plan } from '../change.ts'
import type { Declarations } from '../declarations.ts'
import { type Draft, identityOf, type PulledObject } from './draft.ts'

export interface Proof {
  readonly declarations: Pick<Declarations, 'objects' | 'broken'>
  /** Of the files alone. */
  readonly diagnostics: readonly Diagnostic[]
  readonly plan: Pick<Plan, 'changes' | 'diagnostics'>
}

/** By identity, with the reason. What is in no file is none of them. */
export function findInexact({ objects }: Draft, { declarations, diagnostics, plan }: Proof): ReadonlyMap<string, string> {
  const complaints = byOwner([...errorsIn(diagnostics), ...errorsIn(plan.diagnostics)], declarations)
  const aboutFiles = new Map(errorsIn(diagnostics).map(({ location, message }) => [location.file, message]))
  const changes = new Map(plan.changes.map((change) => [nameOf(change), change]))
  const reasonFor = (object: PulledObject): string | undefined => {
    const change = changes.get(nameOf(object))
    const complaint = complaints.get(nameOf(object))
    if (change === undefined) return complaint ?? aboutFiles.get(object.path ?? '') ?? 'would not be found in the file'
    // What was wrong before the pull is not its to judge.
    if (complaint !== undefined && (object.what === 'added' || object.what === 'updated')) return complaint
    return change.action === 'unchanged' || change.action === 'adopt' ? undefined : whatRemains(change)
  }
  return new Map(
    objects.flatMap((object): (readonly [string, string])[] => {
      const { section, id, what, path } = object
      const reason = id === undefined || path === undefined || what === 'left-out' ? undefined : reasonFor(object)
      return reason === undefined ? [] : [[identityOf(section, id ?? ''), reason]]
    }),
  )
}

const nameOf = ({ section, key }: Pick<PulledObject, 'section' | 'key'>): string => `${section}.${key}`

function whatRemains({ action, fields, notes }: Plan['changes'][number]): string {
  const why = fields.map(({ path }) => path).join(', ') || notes.join('; ')
  return `no file can say exactly what the service has: plan would ${action} it${why === '' ? '' : ` (${why})`}`
}

/** A diagnostic is about the object whose key stands last before it. */
function byOwner(diagnostics: readonly Diagnostic[], { objects, broken }: Proof['declarations']): ReadonlyMap<string, string> {
  const all = [...objects, ...broken]
  return new Map(
    diagnostics.toReversed().flatMap(({ location, message }) => {
      const before = all.filter((one) => one.location.file === location.file && order(one.location, location) <= 0)
      const owner = before.toSorted((a, b) => order(a.location, b.location)).at(-1)
      return owner === undefined ? [] : [[nameOf(owner), message] as const]
    }),
  )
}

const order = (a: Location, b: Location): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
