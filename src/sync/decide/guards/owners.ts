import { describeStored } from '../../../kinds/kind.ts'
import { tagStyle } from '../../../kinds/marker.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rules } from '../../../platform/core/diagnostics.ts'
import { listFirst, plural } from '../../../platform/core/text.ts'
import { type Held, isPlanned, slotOf } from '../change.ts'
import { isOfOtherRepository } from '../compare.ts'
import { type Facts, isAsApplied, type OwnedObject } from '../facts.ts'
import { holdBecause } from '../hold.ts'
import { diagnose } from '../identify.ts'
import { describeOwned, matchRules } from '../match.ts'
import type { Check, Step } from '../step.ts'

export const ownerRules = {
  'other-repository': {
    severity: 'error',
    exception: 'warning',
    description:
      'Another repository applied all objects of this project. `apply` writes nothing. For `plan` and `drift`, this is a warning. If it applied some of them, each of these is held.',
  },
  'unknown-repository': {
    severity: 'warning',
    description: 'Objects of this project were applied from a repository, and this run does not know its own.',
  },
} as const satisfies Rules

export const keepOwners: Check = ({ steps }, facts) => {
  const renamed = refuseRenamedProject(steps, facts)
  // All else would follow from the name of the project.
  if (renamed.length > 0) return { diagnostics: renamed, isFinal: true }
  const { owned } = facts
  const others = owned.filter(({ marker }) => isOfOtherRepository(marker, facts))
  if (others.length > 0 && others.length === owned.length) return { diagnostics: [refuseRepository(others, facts)] }
  return { holds: holdOthers(steps, facts), diagnostics: warnWithoutRepository(facts) }
}

function refuseRenamedProject(steps: readonly Step[], { project, previousOwner, indexes }: Facts): readonly Diagnostic[] {
  const objects = steps.flatMap(({ kind, pair }) => {
    const found = pair?.ownedByOtherProject
    return pair === undefined || found === undefined ? [] : [{ kind, declared: pair.declared, found }]
  })
  const [first, ...others] = objects
  if (first === undefined) return []
  // A tag has only a digest of the name. Alerts have the name.
  const token = first.found.marker?.project
  const names = indexes.alert.all.flatMap(({ marker }) => marker?.projectName ?? [])
  const name = first.found.marker?.projectName ?? names.find((one) => tagStyle.projectToken(one) === token)
  const more = others.length === 0 ? '' : `, and ${plural(others.length, 'more object')} of these files`
  const previous = previousOwner?.project
  const hint = previous === undefined ? '' : `, and the previous project, ${String(previous)}, does not own it`
  const advice = `If the project was renamed, add previous-project: ${name ?? 'PREVIOUS-NAME'} to .watchkeeper.yml. To create a second set of objects, add previous-project: false`
  const message = `${describeOwned(first.found, first.kind, name)}${more}; ${project} owns nothing yet${hint}. ${advice}`
  return [diagnose(matchRules, 'other-project', first.declared, message)]
}

function refuseRepository(others: readonly OwnedObject[], { repository }: Facts): Diagnostic {
  const names = others.map(({ kind, stored }) => `${kind.label} ${describeStored(stored)}`)
  const named = listFirst(names, 3, (count) => `and ${count} more`).join(', ')
  const isWrite = repository?.effect === 'write'
  const effect = isWrite ? 'nothing was written' : 'apply would write nothing'
  const digest = others[0]?.marker?.repository ?? ''
  const message = `another repository (${digest}) applied all objects of this project: ${named}. This run is of ${repository?.name}; ${effect}. If two repositories use this project, set another project in one of them. ${adviceOnMove(digest)}`
  return (isWrite ? diagnosticOf : exceptionalDiagnostic)(ownerRules, 'other-repository', { file: 'project' }, message)
}

const adviceOnMove = (digest: string): string =>
  `If the repository was renamed or moved, add previous-repository: ${digest}, or its previous address, to .watchkeeper.yml`

function holdOthers(steps: readonly Step[], facts: Facts): ReadonlyMap<string, Held> {
  const held = steps.flatMap(({ change, pair }) => {
    const marker = pair?.found?.marker
    if (pair === undefined || marker === undefined || !isPlanned(change) || !isOfOtherRepository(marker, facts)) return []
    const why = {
      reason: `another repository (${marker.repository}) applied it`,
      remedies: ['remove its declaration in one of the two repositories', adviceOnMove(marker.repository ?? '')],
    }
    return [[slotOf(change), holdBecause(change, !isAsApplied(pair), why)] as const]
  })
  return new Map(held)
}

function warnWithoutRepository({ repository, owned }: Facts): readonly Diagnostic[] {
  const applied = owned.filter(({ marker }) => marker?.repository !== undefined)
  if (repository === undefined || repository.name !== undefined || applied.length === 0 || repository.effect === 'read') return []
  const message = `${applied.length} objects of this project were applied from a repository, but this run does not know its own, so it cannot notice that it is another one; their markers stay as they are, and none of them is deleted`
  return [diagnosticOf(ownerRules, 'unknown-repository', { file: 'project' }, message)]
}
