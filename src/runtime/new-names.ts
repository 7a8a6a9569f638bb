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
  'remove-declarations': 'only: drifted-or-deleted',
  replay: 'backtest',
  'from-date': 'period: 2026-01-01..2026-01-31',
  'to-date': 'period: 2026-01-01..2026-01-31',
  days: 'period: last-7-days',
  environment: 'env',
  duration: 'for',
  limit: 'budget',
  report: 'reports: html=FILE',
  output: 'reports: html=FILE',
}

/** `accepts` says whether `select` of the operation has conditions on a field. */
export function replacementOf(word: string, known: readonly string[], accepts = (_field: string) => true): string | undefined {
  const replacement = Object.hasOwn(instead, word) ? instead[word] : undefined
  const [input = '', value = ''] = replacement?.split(': ') ?? []
  return known.includes(input) && (input !== 'select' || value === '' || accepts(value.replace(/=.*/, ''))) ? replacement : undefined
}

/** `; use period: last-7-days`, or the nearest of the known names, which are in kebab-case. */
export function adviseOnName(name: string, known: readonly string[], accepts?: (field: string) => boolean): string {
  const replacement = replacementOf(name, known, accepts)
  return replacement === undefined ? didYouMean(name, known) : `; use ${replacement}`
}
