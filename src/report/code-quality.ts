import { createHash } from 'node:crypto'
import { type Diagnostic, mostSevere } from '../core/diagnostics.ts'

/** The page of a merge request shows them in this order. `critical` and `blocker` are above an error in a file. */
const severities = { error: 'major', warning: 'minor', note: 'info' } as const

/** The limit is that of SARIF. GitLab names none. */
const maxEntries = 25_000

/** A code quality report of GitLab: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format. */
export function renderCodeQuality(diagnostics: readonly Diagnostic[]): string {
  const counts = new Map<string, number>()
  const entries = mostSevere(diagnostics, maxEntries).map(({ rule, severity, message, location }) => {
    const text = message.toWellFormed()
    const path = location.file.toWellFormed().replace(/^\.\//, '')
    // The identity has no line, so that GitLab does not report a diagnostic as new when lines above it change.
    const identity = JSON.stringify([rule, path, text])
    const count = (counts.get(identity) ?? 0) + 1
    counts.set(identity, count)
    return {
      description: text,
      check_name: rule,
      // GitLab shows one of several entries with the same fingerprint.
      fingerprint: createHash('sha256').update(`${identity} ${count}`).digest('hex').slice(0, 32),
      severity: severities[severity],
      // An entry without a line is not shown.
      location: { path, lines: { begin: location.line ?? 1 } },
    }
  })
  return `${JSON.stringify(entries, null, 2)}\n`
}
