import { didYouMean } from '../core/names.ts'

/** What replaces operations, inputs and settings that had other names before the first release. Errors about unknown names quote it. */
export const newNames: Readonly<Record<string, string>> = {
  'check-slo': 'check-slos',
  matrix: 'fleet-matrix',
  report: 'fleet-report',
  'unsilence-alerts': 'silence-alerts with for: 0m',
  'html-file': 'reports: html=FILE',
  'csv-file': 'reports: csv=FILE',
  'focus-file': 'reports: focus=FILE',
  'metrics-file': 'reports: openmetrics=FILE',
  'sarif-file': 'reports: sarif=FILE',
  'code-quality-file': 'reports: code-quality=FILE',
  'body-file': 'reports: markdown=FILE',
  'result-file': 'reports: json=FILE',
  'from-date': 'period: 2026-01-01..2026-01-31',
  'to-date': 'period: 2026-01-01..2026-01-31',
  days: 'period: last-7-days',
  until: 'period: 2026-01-01..2026-01-31',
  'name-contains': 'select: name~TEXT',
  tag: 'select: tag=TAG',
  kind: 'select: kind=KIND',
  key: 'select: key=KEY',
  state: 'select: state=STATE',
  managed: 'select: managed',
  unmanaged: 'select: unmanaged',
  labels: 'select: label=LABEL',
  slos: 'select: key=KEY',
  filter: 'select: tag=Key=Value',
  'from-repository': 'adopt-from: repository=HOST/OWNER/NAME',
  'repair-duplicates': 'repair: duplicates',
  rewrite: 'repair: rewrite',
  'resend-secrets': 'repair: secrets',
  'declared-only': 'only: declared',
  'drifted-only': 'only: drifted',
  'remove-deleted': 'prune: true',
  'alert-id': 'id: ID',
  'dashboard-id': 'id: ID',
  'backup-id': 'id: ID',
  'alert-file': 'alert: FILE.yml',
  'dashboard-file': 'dashboard: FILE.yml',
  ...Object.fromEntries(
    ['tile-id', 'webhook-id', 'threshold', 'threshold-type', 'interval', 'source', 'channel-type', 'message'].map((name) => [
      name,
      'alert: a map with the field names of files',
    ]),
  ),
  'must-fire': 'files with an incident',
  'must-be-quiet': 'max-notifications: 0 with select',
  record: 'recordings: DIRECTORY',
  suggest: 'max-notifications',
  'result-files': 'files',
  per: 'operations: usage-cost',
  'min-credits': 'min-days-left',
  'warn-credits': 'warn-days-left',
  'warn-expiring': 'max-expiring',
  'require-credits': 'min-days-left',
  waiver: 'budgets: FILE, in which a budget has a waiver',
  'include-long-intervals': 'for: a silence as long as the interval of an alert includes it',
}

/** Words that people try, and inputs that only other operations have. */
const instead: Readonly<Record<string, string>> = {
  project: 'select: project=NAME',
  select: 'files: plan and apply are about all objects of the files, because references and prune need all of them',
  name: 'select: name=NAME',
  environment: 'env',
  duration: 'for',
  limit: 'budget',
  report: 'reports: html=FILE',
  output: 'reports: html=FILE',
}

/** The new name if it is one of the known inputs or operations, or for any of them. */
export const newNameOf = (name: string, known?: readonly string[]): string | undefined =>
  (known === undefined ? [newNames] : [newNames, instead])
    .flatMap((names) => (Object.hasOwn(names, name) ? (names[name] ?? []) : []))
    .find((newName) => known?.includes(newName.replace(/[: ].*/, '')) ?? true)

/** The end of a message about an unknown name, in kebab-case: `; use check-slos`, or the nearest of the known names. */
export function adviseOnName(name: string, known: readonly string[]): string {
  const newName = newNameOf(name, known)
  return newName === undefined ? didYouMean(name, known) : `; use ${newName}`
}
