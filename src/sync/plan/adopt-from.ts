// The input `adopt-from`: who owned the objects before a rename.
import * as z from 'zod'
import { type Diagnostic, diagnosticOf, type Rules } from '../../core/diagnostics.ts'
import { projectGrammar, repositoryDigestGrammar } from '../../kinds/marker.ts'
import type { Change } from './change.ts'
import { type AdoptFrom, adoptsFrom, type PreviousOwner } from './match.ts'
import { fromDigest, type OwnedObject, type RunRepository } from './repository.ts'

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
      'After a rename, the previous owner, whose objects are adopted: `project=OLD`, `repository=HOST/OWNER/NAME`, or both, one per line. `none` creates a second set of objects instead. The run says when it can be removed.',
    accepts: 'project=NAME, repository=github.com/shop/infra or repository= and the 10 hex digits of a message, one per line; or none',
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
  const isAdopting = changes.some(({ notes }) => project !== undefined && notes.includes(adoptsFrom(project)))
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
