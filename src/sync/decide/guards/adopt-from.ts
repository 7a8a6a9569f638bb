import { type Diagnostic, diagnosticOf, type Rules } from '../../../platform/core/diagnostics.ts'
import { isTakeover } from '../change.ts'
import { previousDigest } from '../repository.ts'
import type { Check } from '../step.ts'

export const adoptionRules = {
  'adopt-from-done': { severity: 'note', description: 'Nothing is left that `adopt-from` names, so it can be removed.' },
} as const satisfies Rules

/** Says which part of `adopt-from` has no effect any more. */
export const reviewAdoptFrom: Check = ({ steps }, { adoptFrom, repository, owned }) => {
  const done = (message: string): Diagnostic => diagnosticOf(adoptionRules, 'adopt-from-done', { file: 'adopt-from' }, message)
  const digest = repository && previousDigest(repository)
  const { project, none = false } = adoptFrom ?? {}
  const isAdopting = steps.some(({ change }) => isTakeover(change) && change.takeover === 'other-project')
  return {
    diagnostics: [
      ...(none && owned.length > 0 ? [done('this project has objects of its own; remove none')] : []),
      ...(project !== undefined && !isAdopting
        ? [done(`no declared object belongs to the project ${project} any more; remove project=${project}`)]
        : []),
      ...(digest !== undefined && owned.every(({ marker }) => marker?.repository !== digest)
        ? [done(`no object of this project was last applied by ${repository?.from}; remove repository=${repository?.from}`)]
        : []),
    ],
  }
}
