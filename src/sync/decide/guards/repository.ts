import { describeStored } from '../../../kinds/kind.ts'
import { repositoryDigest } from '../../../kinds/marker.ts'
import { diagnosticOf, exceptionalDiagnostic, type Rules } from '../../../platform/core/diagnostics.ts'
import { spellInput } from '../../../platform/core/input-spelling.ts'
import { listFirst } from '../../../platform/core/text.ts'
import { previousDigest } from '../repository.ts'
import type { Check } from '../step.ts'

export const repositoryRules = {
  'other-repository': {
    severity: 'error',
    exception: 'warning',
    description: 'Another repository applied objects of this project. `apply` writes nothing. For `plan` and `drift`, this is a warning.',
  },
  'unknown-repository': {
    severity: 'warning',
    description: 'Objects of this project were applied from a repository, and this run does not know its own.',
  },
} as const satisfies Rules

/** Finds objects of the project that another repository applied. */
export const checkRepository: Check = (_, { repository: run, owned }) => {
  if (run === undefined) return {}
  const known = new Set([previousDigest(run), run.name === undefined ? undefined : repositoryDigest(run.name)])
  const applied = owned.filter(({ marker }) => marker?.repository !== undefined)
  if (run.name === undefined) {
    if (applied.length === 0 || run.effect === 'read') return {}
    const message = `${applied.length} objects of this project were applied from a repository, but this run does not know its own, so it cannot notice that it is another one; their markers stay as they are`
    return { diagnostics: [diagnosticOf(repositoryRules, 'unknown-repository', { file: 'project' }, message)] }
  }
  const others = Map.groupBy(
    applied.filter(({ marker }) => !known.has(marker?.repository)),
    ({ marker }) => marker?.repository ?? '',
  )
  const diagnostics = [...others].map(([digest, objects]) => {
    const names = objects.map(({ kind, stored }) => `${kind.label} ${describeStored(stored)}`)
    const named = listFirst(names, 3, (count) => `and ${count} more`).join(', ')
    const effect = run.effect === 'write' ? '; nothing was written' : '; apply would write nothing'
    const advice =
      others.size > 1
        ? `The objects are of ${others.size} other repositories, and ${spellInput('adopt-from')} can name only one. Set another project in each repository but one, and in the web app, delete what the others applied, or remove its markers`
        : `If two repositories use this project, set another project in one of them. If the repository was renamed or moved, set ${spellInput('adopt-from', `repository=${digest}`)}, or repository= and its previous name`
    const message = `another repository (${digest}) applied objects of this project: ${named}. This run is of ${run.name}${effect}. ${advice}`
    const report = run.effect === 'write' ? diagnosticOf : exceptionalDiagnostic
    return report(repositoryRules, 'other-repository', { file: 'project' }, message)
  })
  return { diagnostics }
}
