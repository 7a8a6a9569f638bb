// Who owned the objects: another repository, whose objects this run must not overwrite, or a previous owner, of the input `adopt-from`.

import * as z from 'zod'
import { describeStored, type Kind } from '../../../kinds/kind.ts'
import { projectGrammar, repositoryDigest, repositoryDigestGrammar } from '../../../kinds/marker.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rules } from '../../../platform/core/diagnostics.ts'
import { spellInput } from '../../../platform/core/input-spelling.ts'
import { listFirst } from '../../../platform/core/text.ts'
import type { MarkedObject } from '../../plan/stored-objects.ts'
import { type Change, isTakeover } from '../change.ts'
import type { AdoptFrom, PreviousOwner } from '../identify.ts'

// Two repositories with one project would overwrite and delete each other's objects, each on a green run. So each marker says which
// repository applied the object last, and apply stops before its first write when that was another one.

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

const fromDigest = ({ from }: RunRepository): string | undefined =>
  from === undefined ? undefined : repositoryDigestGrammar.test(from) ? from : repositoryDigest(from)

/** The digest for the marker of an object whose marker has the digest `stored`. Without a repository, it is kept. */
export function digestToStore(run: RunRepository | undefined, stored: string | undefined): string | undefined {
  if (run?.name === undefined) return stored
  const own = repositoryDigest(run.name)
  return stored === undefined || stored === own || stored === fromDigest(run) ? own : stored
}

interface OwnedObject extends MarkedObject {
  readonly kind: Pick<Kind, 'label'>
}

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
}

export const adoptionRules = {
  'adopt-from-done': { severity: 'note', description: 'Nothing is left that `adopt-from` names, so it can be removed.' },
} as const satisfies Rules

const addressGrammar = /^[A-Za-z0-9.-]+(?:\/[\w.-]+){2,}$/

const previousOwner = z.strictObject({
  project: z.string().regex(projectGrammar).optional(),
  /** Its digest, or its address. */
  repository: z.union([z.string().regex(repositoryDigestGrammar), z.string().regex(addressGrammar)]).optional(),
})

/** By `project` and `repository`; `none` is a line of its own. */
export const adoptFromInput = z
  .array(z.string())
  .min(1)
  .max(2)
  .transform((lines, context): PreviousOwner => {
    if (lines.length === 1 && lines[0] === 'none') return { none: true }
    const entries = new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
    const { data } = previousOwner.safeParse(Object.fromEntries(entries))
    if (data !== undefined && entries.size === lines.length) return data
    context.addIssue({ code: 'custom', message: 'is not a previous owner' })
    return z.NEVER
  })
  .meta({
    description:
      'Adopts objects of the owner before a rename: `project=OLD`, `repository=HOST/OWNER/NAME`, or both. Where a message shows 10 hex digits in place of a repository, give these after `repository=`. `none` creates a second set of objects instead. The run says when this input can be removed.',
    accepts: 'project=NAME, repository=github.com/shop/infra or repository=0123456789, one per line; or none',
  })

/** Says which part of `adopt-from` has no effect any more. `owned` are all objects with the marker of the project. */
export function reviewAdoption(
  { adoptFrom, repository }: { readonly adoptFrom?: AdoptFrom; readonly repository?: RunRepository },
  changes: readonly Change[],
  owned: readonly OwnedObject[],
): readonly Diagnostic[] {
  const done = (message: string): Diagnostic => diagnosticOf(adoptionRules, 'adopt-from-done', { file: 'adopt-from' }, message)
  const digest = repository && fromDigest(repository)
  const { project, none = false } = adoptFrom ?? {}
  const isAdopting = changes.some((change) => isTakeover(change) && change.takeover === 'other-project')
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
