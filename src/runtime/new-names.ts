import { didYouMean } from '../platform/core/names.ts'

/** Words that people know from other tools, and inputs that only other operations have. */
const instead: Readonly<Record<string, string>> = {
  project: 'select: project=NAME',
  name: 'select: name=NAME',
  tag: 'select: tag=TAG',
  kind: 'select: kind=KIND',
  state: 'select: state=STATE',
  filter: 'select: tag=Key=Value',
  select: 'files: plan and apply are about all objects of the files, because references and prune need all of them',
  only: 'select',
  prune: 'only: drifted-or-deleted',
  files: 'results',
  'from-date': 'period: 2026-01-01..2026-01-31',
  'to-date': 'period: 2026-01-01..2026-01-31',
  days: 'period: last-7-days',
  environment: 'env',
  duration: 'for',
  limit: 'budget',
  report: 'reports: html=FILE',
  output: 'reports: html=FILE',
}

/** What replaces the word, where it begins with one of the known names. */
export function replacementOf(word: string, known: readonly string[]): string | undefined {
  const replacement = Object.hasOwn(instead, word) ? instead[word] : undefined
  return replacement !== undefined && known.includes(replacement.replace(/:.*/, '')) ? replacement : undefined
}

/** The end of a message about an unknown name, in kebab-case: `; use period: last-7-days`, or the nearest of the known names. */
export function adviseOnName(name: string, known: readonly string[]): string {
  const replacement = replacementOf(name, known)
  return replacement === undefined ? didYouMean(name, known) : `; use ${replacement}`
}
