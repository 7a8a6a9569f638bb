// The input `adopt-from`: who owned the objects before a rename.
import * as z from 'zod'
import { type Diagnostic, diagnosticOf, type Rules } from '../../core/diagnostics.ts'
import { projectGrammar, repositoryDigestGrammar } from '../../kinds/marker.ts'
import type { Change } from './change.ts'
import { type AdoptFrom, adoptsFrom } from './match.ts'
import { fromDigest, type OwnedObject, type RunRepository } from './repository.ts'

export const adoptionRules = {
  'adopt-from-done': { severity: 'note', description: 'Nothing is left that `adopt-from` names, so it can be removed.' },
} as const satisfies Rules

const addressGrammar = /^[A-Za-z0-9.-]+(?:\/[\w.-]+){2,}$/

const grammars: Readonly<Record<string, (value: string) => boolean>> = {
  project: (value) => projectGrammar.test(value),
  repository: (value) => repositoryDigestGrammar.test(value) || addressGrammar.test(value),
}

/** The previous owner, by `project` and `repository`; `none` is empty. */
export const adoptFromInput = z
  .array(z.string())
  .min(1)
  .max(2)
  .transform((lines, context): PreviousOwner => {
    const entries = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
    const isValid = entries.every(([field, value]) => Object.hasOwn(grammars, field) && grammars[field]?.(value) === true)
    if (lines.length === 1 && lines[0] === 'none') return 'none'
    const owner = Object.fromEntries(entries)
    if (isValid && Object.keys(owner).length === lines.length) return owner
    context.addIssue({ code: 'custom', message: 'is not a previous owner' })
    return z.NEVER
  })
  .meta({
    description:
      'After a rename, the previous owner, whose objects are adopted: `project=OLD`, `repository=HOST/OWNER/NAME`, or both, one per line. `none` creates a second set of objects instead. The run says when it can be removed.',
    accepts: 'project=NAME, repository=github.com/shop/infra or repository= and the 10 hex digits of a message, one per line; or none',
  })

export type PreviousOwner = 'none' | { readonly project?: string; readonly repository?: string }

export const previousProject = (owner: PreviousOwner | undefined): AdoptFrom =>
  owner === undefined || owner === 'none' ? owner : owner.project === undefined ? undefined : { project: owner.project }

export const previousRepository = (owner: PreviousOwner | undefined): string | undefined =>
  owner === undefined || owner === 'none' ? undefined : owner.repository

interface Planned {
  readonly changes: readonly Change[]
  /** All objects with the marker of the project. */
  readonly owned: readonly OwnedObject[]
}

/** Says which part of `adopt-from` has no effect any more. */
export function reviewAdoption(
  { adoptFrom, repository }: { readonly adoptFrom?: AdoptFrom; readonly repository?: RunRepository },
  { changes, owned }: Planned,
): readonly Diagnostic[] {
  const done = (message: string): Diagnostic => diagnosticOf(adoptionRules, 'adopt-from-done', { file: 'adopt-from' }, message)
  const digest = repository && fromDigest(repository)
  const isAdopting = (project: string): boolean => changes.some(({ notes }) => notes.includes(adoptsFrom(project)))
  return [
    ...(adoptFrom === 'none' && owned.length > 0 ? [done('this project has objects of its own; remove none')] : []),
    ...(adoptFrom !== undefined && adoptFrom !== 'none' && !isAdopting(adoptFrom.project)
      ? [done(`no declared object belongs to the project ${adoptFrom.project} any more; remove project=${adoptFrom.project}`)]
      : []),
    ...(digest !== undefined && owned.every(({ marker }) => marker?.repository !== digest)
      ? [done(`no object of this project was last applied by ${repository?.from}; remove repository=${repository?.from}`)]
      : []),
  ]
}
