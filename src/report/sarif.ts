// Owns findings as SARIF 2.1.0, which code scanning and editors read.
import { version } from '../core/version.ts'
import { worstOf } from './blocks.ts'

export interface SarifRule {
  readonly id: string
  readonly description: string
  readonly severity: 'error' | 'warning' | 'note'
}

export interface SarifFinding {
  readonly rule: string
  readonly severity: 'error' | 'warning' | 'note'
  readonly message: string
  readonly place: { readonly file: string; readonly line?: number | undefined; readonly column?: number | undefined }
}

/** Code scanning refuses a run with more results. */
const mostResults = 25_000

export function renderSarif(rules: readonly SarifRule[], findings: readonly SarifFinding[]): string {
  const driver = {
    name: 'watchkeeper',
    version,
    informationUri: 'https://github.com/watchkeeper/watchkeeper',
    rules: rules.map(({ id, description, severity }) => ({
      id,
      shortDescription: { text: description },
      fullDescription: { text: description },
      help: { text: `${description} See docs/files.md of Watchkeeper, under Rules.` },
      defaultConfiguration: { level: severity },
    })),
  }
  const results = worstOf(findings, mostResults).map(({ rule, severity, message, place }) => ({
    ruleId: rule,
    ruleIndex: rules.findIndex(({ id }) => id === rule),
    level: severity,
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri: toUri(place.file), uriBaseId: '%SRCROOT%' }, region: regionOf(place) } }],
  }))
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  }
  return `${JSON.stringify(log, null, 2)}\n`
}

// Code scanning shows nothing that has no line: what is about a whole file stands at its first.
const regionOf = ({ line = 1, column }: SarifFinding['place']) => ({
  startLine: line,
  ...(column !== undefined && { startColumn: column }),
})

const toUri = (path: string): string => path.toWellFormed().split('/').map(encodeURIComponent).join('/')
