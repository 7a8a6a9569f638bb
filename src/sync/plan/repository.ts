// Two repositories with one project would overwrite and delete each other's objects, each on a green run. So each marker says which
// repository applied the object last, and apply stops before its first write when that was another one.
import { type Diagnostic, diagnosticOf, exceptionOf, type Rules } from '../../core/diagnostics.ts'
import { listFirst, quote } from '../../core/text.ts'
import type { Kind } from '../../kinds/kind.ts'
import { repositoryDigest, repositoryDigestGrammar } from '../../kinds/marker.ts'
import type { MarkedObject } from './stored-objects.ts'

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

/** The repositories of a run. */
export interface RunRepository {
  /** `host/owner/name`; undefined where it is not known. */
  readonly name: string | undefined
  /** The previous repository, of `adopt-from`. */
  readonly from: string | undefined
  /** Whether the run would write. */
  readonly effect: 'read' | 'write'
}

export const fromDigest = ({ from }: RunRepository): string | undefined =>
  from === undefined ? undefined : repositoryDigestGrammar.test(from) ? from : repositoryDigest(from)

/** The digest for the marker of an object whose marker has the digest `stored`. Without a repository, it is kept. */
export function digestToStore(run: RunRepository | undefined, stored: string | undefined): string | undefined {
  if (run?.name === undefined) return stored
  const own = repositoryDigest(run.name)
  return stored === undefined || stored === own || stored === fromDigest(run) ? own : stored
}

export interface OwnedObject extends MarkedObject {
  readonly kind: Pick<Kind, 'label'>
}

/** The objects that a message names. */
const maxNamed = 3

/** Finds objects of the project that another repository applied. `owned` are all objects with the marker of the project. */
export function checkRepository(run: RunRepository | undefined, owned: readonly OwnedObject[]): readonly Diagnostic[] {
  if (run === undefined) return []
  const known = new Set([fromDigest(run), run.name === undefined ? undefined : repositoryDigest(run.name)])
  const applied = owned.filter(({ marker }) => marker?.repository !== undefined)
  if (run.name === undefined) {
    if (applied.length === 0 || run.effect === 'read') return []
    const message = `${applied.length} objects of this project were applied from a repository, but this run does not know its own, so it cannot notice that it is another one; their markers stay as they are`
    return [diagnosticOf(repositoryRules, 'unknown-repository', { file: 'project' }, message)]
  }
  const others = Map.groupBy(
    applied.filter(({ marker }) => !known.has(marker?.repository)),
    ({ marker }) => marker?.repository ?? '',
  )
  return [...others].map(([digest, objects]) => {
    const names = objects.map(({ kind, stored }) => `${kind.label} "${quote(stored.name ?? '', 60)}" (${stored.id})`)
    const named = listFirst(names, maxNamed, (count) => `and ${count} more`).join(', ')
    const effect = run.effect === 'write' ? '; nothing was written' : '; apply would write nothing'
    const advice = `If two repositories use this project, set another project in one of them. If the repository was renamed or moved, set adopt-from to repository=${digest}, or to repository= and its previous name`
    const message = `another repository (${digest}) applied objects of this project: ${named}. This run is of ${run.name}${effect}. ${advice}`
    const report = run.effect === 'write' ? diagnosticOf : exceptionOf
    return report(repositoryRules, 'other-repository', { file: 'project' }, message)
  })
}
