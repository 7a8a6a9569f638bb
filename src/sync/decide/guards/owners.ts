import { describeStored } from '../../../kinds/kind.ts'
import { repositoryDigest } from '../../../kinds/marker.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rules } from '../../../platform/core/diagnostics.ts'
import { spellInput } from '../../../platform/core/input-spelling.ts'
import { listFirst, plural } from '../../../platform/core/text.ts'
import { isTakeover } from '../change.ts'
import { previousDigest } from '../compare.ts'
import type { Facts } from '../facts.ts'
import { diagnose } from '../identify.ts'
import { describeOwned, matchRules } from '../match.ts'
import type { Check, Step } from '../step.ts'

export const ownerRules = {
  'other-repository': {
    severity: 'error',
    exception: 'warning',
    description: 'Another repository applied objects of this project. `apply` writes nothing. For `plan` and `drift`, this is a warning.',
  },
  'unknown-repository': {
    severity: 'warning',
    description: 'Objects of this project were applied from a repository, and this run does not know its own.',
  },
  'adopt-from-done': { severity: 'note', description: 'Nothing is left that `adopt-from` names, so it can be removed.' },
} as const satisfies Rules

/** Whose the objects are: those of a renamed project, of another repository, and what is left of a previous owner. */
export const checkOwners: Check = ({ steps }, facts) => {
  const renamed = refuseRenamedProject(steps, facts)
  // All else would follow from the name of the project.
  if (renamed.length > 0) return { diagnostics: renamed, isFinal: true }
  return { diagnostics: [...checkRepository(facts), ...reviewAdoptFrom(steps, facts)] }
}

/** One error for all objects of a project that was most likely renamed. */
function refuseRenamedProject(steps: readonly Step[], { project, adoptFrom, adoptCommand }: Facts): readonly Diagnostic[] {
  const objects = steps.flatMap(({ kind, pair }) => {
    const found = pair?.ownedByOtherProject
    return pair === undefined || found === undefined ? [] : [{ kind, declared: pair.declared, found }]
  })
  const [first, ...others] = objects
  if (first === undefined) return []
  const name = objects.map(({ found }) => found.marker?.projectName).find((one) => one !== undefined)
  const more = others.length === 0 ? '' : `, and ${plural(others.length, 'more object')} of these files`
  const hint =
    adoptFrom?.project === undefined ? '' : `, and the project in ${spellInput('adopt-from')}, ${adoptFrom.project}, does not own it`
  const previous = name ?? 'PREVIOUS-NAME'
  const command = adoptCommand?.(previous) ?? `watchkeeper apply --project ${project} --adopt-from project=${previous}`
  const advice = `If the project was renamed, run once: ${command}. To create a second set of objects, set ${spellInput('adopt-from', 'none')}`
  const message = `${describeOwned(first.found, first.kind, name)}${more}; ${project} owns nothing yet${hint}. ${advice}`
  return [diagnose(matchRules, 'other-project', first.declared, message)]
}

function checkRepository({ repository: run, owned }: Facts): readonly Diagnostic[] {
  if (run === undefined) return []
  const known = new Set([previousDigest(run), run.name === undefined ? undefined : repositoryDigest(run.name)])
  const applied = owned.filter(({ marker }) => marker?.repository !== undefined)
  if (run.name === undefined) {
    if (applied.length === 0 || run.effect === 'read') return []
    const message = `${applied.length} objects of this project were applied from a repository, but this run does not know its own, so it cannot notice that it is another one; their markers stay as they are`
    return [diagnosticOf(ownerRules, 'unknown-repository', { file: 'project' }, message)]
  }
  const others = Map.groupBy(
    applied.filter(({ marker }) => !known.has(marker?.repository)),
    ({ marker }) => marker?.repository ?? '',
  )
  return [...others].map(([digest, objects]) => {
    const names = objects.map(({ kind, stored }) => `${kind.label} ${describeStored(stored)}`)
    const named = listFirst(names, 3, (count) => `and ${count} more`).join(', ')
    const effect = run.effect === 'write' ? '; nothing was written' : '; apply would write nothing'
    const advice =
      others.size > 1
        ? `The objects are of ${others.size} other repositories, and ${spellInput('adopt-from')} can name only one. Set another project in each repository but one, and in the web app, delete what the others applied, or remove its markers`
        : `If two repositories use this project, set another project in one of them. If the repository was renamed or moved, set ${spellInput('adopt-from', `repository=${digest}`)}, or repository= and its previous name`
    const message = `another repository (${digest}) applied objects of this project: ${named}. This run is of ${run.name}${effect}. ${advice}`
    const report = run.effect === 'write' ? diagnosticOf : exceptionalDiagnostic
    return report(ownerRules, 'other-repository', { file: 'project' }, message)
  })
}

function reviewAdoptFrom(steps: readonly Step[], { adoptFrom, repository, owned }: Facts): readonly Diagnostic[] {
  const done = (message: string): Diagnostic => diagnosticOf(ownerRules, 'adopt-from-done', { file: 'adopt-from' }, message)
  const digest = repository && previousDigest(repository)
  const { project, none = false } = adoptFrom ?? {}
  const isAdopting = steps.some(({ change }) => isTakeover(change) && change.takeover === 'other-project')
  return [
    ...(none && owned.length > 0 ? [done('this project has objects of its own; remove none')] : []),
    ...(project !== undefined && !isAdopting
      ? [done(`no declared object belongs to the project ${project} any more; remove project=${project}`)]
      : []),
    ...(digest !== undefined && owned.every(({ marker }) => marker?.repository !== digest)
      ? [done(`no object of this project was last applied by ${repository?.from}; remove repository=${repository?.from}`)]
      : []),
  ]
}
