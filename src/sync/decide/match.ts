import { adoptedIds } from '../../kinds/adopt.ts'
import { describeStored, type StoredObject } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { type Declared, labelOf } from '../../kinds/kinds.ts'
import type { Diagnostic, Rules } from '../../platform/core/diagnostics.ts'
import { quote } from '../../platform/core/text.ts'
import type { MarkedObject, StoredIndex } from '../plan/stored-objects.ts'
import {
  diagnose,
  type Finder,
  type Finding,
  type Identified,
  identityRules,
  type Pair,
  sourceIdOf,
  tokensOf,
  trimmedName,
} from './identify.ts'
import { findAlike } from './likeness.ts'

export const matchRules = {
  recreated: {
    severity: 'warning',
    description:
      'The service does not have the object that `adopt` names. `apply` creates it from the file, without the parts that the API does not return.',
  },
  'adopt-done': { severity: 'note', description: 'The object is managed, so `adopt: true` can be removed.' },
  'unknown-kind': {
    severity: 'error',
    description: 'The object that the files refer to has a form that this version does not know. It is not written.',
  },
} as const satisfies Rules

export interface MatchResult<D extends Declared = Declared> {
  readonly pairs: readonly Pair<D>[]
  /** Objects with this project's marker that no file declares. */
  readonly orphans: readonly MarkedObject[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The stored object of each declared one: the identified one, or one without a marker that is like it. */
export function matchObjects<D extends Declared>(
  { finder: known, findings: identified }: Identified<D>,
  bodies: Pick<Finder<D>, 'resolve'> = {},
): MatchResult<D> {
  const { kind, declared, orphans } = known
  const finder = { ...known, ...bodies }
  const taken = new Map<StoredObject, D>()
  for (const [one, { found }] of identified) if (found !== undefined && !taken.has(found.stored)) taken.set(found.stored, one)
  const unidentified = declared.filter((one) => isNothing(identified.get(one)))
  const alike = findAlike(unidentified, finder, new Set(taken.keys()))
  const diagnostics = [...reportEqualIdentities(finder)]
  const pairs = declared.flatMap((one): readonly Pair<D>[] => {
    const { diagnostic, ...match } = demandKnownForm(one, alike.get(one) ?? identified.get(one) ?? {}, finder)
    if (diagnostic !== undefined) diagnostics.push(diagnostic)
    if (diagnostic?.rule === 'unknown-kind') return []
    const stored = match.found?.stored
    const other = stored && taken.get(stored)
    if (other !== undefined && other !== one)
      diagnostics.push(diagnose(identityRules, 'owned-elsewhere', one, `${addressOf(other)} refers to ${stored?.id}, too`))
    if (finder.hasMarkers && one.value.adopt === true && match.found !== undefined && match.takeover === undefined) {
      const message = `this project manages the ${kind.label} ${match.found.stored.id}; remove adopt: true`
      diagnostics.push(diagnose(matchRules, 'adopt-done', one, message))
    }
    const ids = adoptedIds(one.value.adopt).map(({ id }) => id)
    const isGone = ids.length > 0 && !ids.some((id) => finder.byId.has(id))
    if (kind.hasHiddenParts === true && isGone && match.found === undefined && match.candidates === undefined) {
      const message = `the service has no ${kind.label} ${ids.join(', ')}, and apply creates one from the file. Parts that the API does not return are not in the file, so alerts on it may count something else: look at it in the web app`
      diagnostics.push(diagnose(matchRules, 'recreated', one, message))
    }
    return [{ declared: one, ...match, ...(match.found === undefined && diagnostic?.severity === 'error' && { isRefused: true }) }]
  })
  const paired = new Set(pairs.map(({ found }) => found?.stored))
  return { pairs, orphans: orphans.filter(({ stored }) => !paired.has(stored)), diagnostics }
}

const isNothing = ({ found, diagnostic }: Finding = {}): boolean => found === undefined && diagnostic === undefined

function reportEqualIdentities({ kind, declared }: Pick<Finder, 'kind' | 'declared'>): readonly Diagnostic[] {
  if (kind.ownership === 'marker') return []
  const unidentified = declared.filter((one) => sourceIdOf(one) === undefined)
  return [...Map.groupBy(unidentified, ({ value }) => kind.tokenOf(value)).values()].flatMap(([, ...others]) =>
    others.map((one) => {
      const message = `another ${kind.label} in these files has the same identity, "${quote(labelOf(one), 60)}"`
      return diagnose(identityRules, 'owned-elsewhere', one, message)
    }),
  )
}

/** An error in place of a create where the object has a form that this version does not know: it is neither written nor created again. */
function demandKnownForm(declared: Declared, finding: Finding, finder: Finder): Finding {
  const { kind, unknown } = finder
  const { adopt } = declared.value
  const name = trimmedName(declared.value)
  if (finding.found !== undefined || finding.candidates !== undefined || unknown.length === 0) return finding
  const ids = [sourceIdOf(declared), ...adoptedIds(adopt).map(({ id }) => id)]
  const tokens = tokensOf(declared, finder)
  const isMeant = ({ stored, token }: StoredIndex['all'][number]): boolean =>
    ids.includes(stored.id) ||
    (token !== undefined && tokens.includes(token)) ||
    (token === undefined && finder.hasMarkers && adopt !== false && name !== '' && trimmedName(stored) === name)
  const found = unknown.find(isMeant)
  if (found === undefined) return finding
  const message = `the ${kind.label} ${describeStored(found.stored)} is not written: ${found.undeclarable}. Change it in the web app, or upgrade this tool`
  return { diagnostic: diagnose(matchRules, 'unknown-kind', declared, message) }
}
