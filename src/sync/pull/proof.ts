// Owns the proof of a pull: the files as they would be are read again and planned with, and every object for which something
// would remain to be done is named. Pure.

import { type Finding, failing, type Place } from '../../core/diagnostics.ts'
import type { Plan } from '../change.ts'
import type { Declarations } from '../declarations.ts'
import { type Draft, identityOf, type PulledObject } from './draft.ts'

export interface Proof {
  readonly declarations: Pick<Declarations, 'objects' | 'broken'>
  /** Of the files alone. */
  readonly findings: readonly Finding[]
  readonly plan: Pick<Plan, 'changes' | 'findings'>
}

/** By identity, with the reason. What is in no file is none of them. */
export function findInexact({ objects }: Draft, { declarations, findings, plan }: Proof): ReadonlyMap<string, string> {
  const complaints = byOwner([...failing(findings), ...failing(plan.findings)], declarations)
  const aboutFiles = new Map(failing(findings).map(({ place, message }) => [place.file, message]))
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

/** A finding is about the object whose key stands last before it. */
function byOwner(findings: readonly Finding[], { objects, broken }: Proof['declarations']): ReadonlyMap<string, string> {
  const all = [...objects, ...broken]
  return new Map(
    findings.toReversed().flatMap(({ place, message }) => {
      const before = all.filter((one) => one.place.file === place.file && order(one.place, place) <= 0)
      const owner = before.toSorted((a, b) => order(a.place, b.place)).at(-1)
      return owner === undefined ? [] : [[nameOf(owner), message] as const]
    }),
  )
}

const order = (a: Place, b: Place): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
