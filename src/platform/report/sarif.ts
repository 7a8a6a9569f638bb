import { type Diagnostic, mostSevere, type Severity } from '../core/diagnostics.ts'
import { sarifText, uriPath } from '../core/escape.ts'
import { version } from '../core/version.ts'

export interface SarifRule {
  readonly id: string
  readonly description: string
  readonly severity: Severity
}

export function renderSarif(rules: readonly SarifRule[], diagnostics: readonly Diagnostic[]): string {
  const driver = {
    name: 'watchkeeper',
    version,
    informationUri: 'https://github.com/watchkeeper/watchkeeper',
    rules: rules.map(({ id, description, severity }) => ({
      id,
      shortDescription: { text: sarifText(description) },
      fullDescription: { text: sarifText(description) },
      help: { text: sarifText(`${description} See docs/files.md of Watchkeeper, under Rules.`) },
      defaultConfiguration: { level: severity },
    })),
  }
  // Code scanning rejects a run with more results.
  const results = mostSevere(diagnostics, 25_000).map(({ rule, severity, message, location }) => ({
    ruleId: rule,
    ruleIndex: rules.findIndex(({ id }) => id === rule),
    level: severity,
    message: { text: sarifText(message) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriPath(location.file), uriBaseId: '%SRCROOT%' },
          // Code scanning shows no results without a line, so the whole file gets the first one.
          region: { startLine: location.line ?? 1, ...(location.column !== undefined && { startColumn: location.column }) },
        },
      },
    ],
  }))
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

export const diagnosticReports = (rules: readonly SarifRule[]) => ({
  sarif: ({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }): string => renderSarif(rules, diagnostics),
})
