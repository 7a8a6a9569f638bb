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

const dropped: Readonly<Record<string, string>> = {
  'adopt-from': 'set previous-project or previous-repository in .watchkeeper.yml',
  recordings: 'backtest tests the incidents of the files on the data of the service',
  'record-group-names': 'nothing is recorded any more',
  'max-alerts': 'select decides which alerts are silenced',
  'min-size-ratio': 'set minSizeRatio in a policy of the file in checks',
  'require-restore-days': 'set requireRestoreDays in a policy of the file in checks',
  results: 'set results in a policy of the file in checks',
  'max-restore-minutes': 'set maxRestoreMinutes below tables in the file in checks',
}

export const adviceOnDropped = (name: string): string | undefined => (Object.hasOwn(dropped, name) ? dropped[name] : undefined)

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
