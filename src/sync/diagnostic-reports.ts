import type { Diagnostic } from '../core/diagnostics.ts'
import { renderSarif, type SarifRule } from '../report/sarif.ts'

export interface Diagnosed {
  readonly diagnostics: readonly Diagnostic[]
}

/** The reports of operations that find diagnostics, for code scanning. */
export const diagnosticReports = (rules: readonly SarifRule[]) => ({
  sarif: ({ diagnostics }: Diagnosed): string => renderSarif(rules, diagnostics),
  // Few runs need it.
  'code-quality': async ({ diagnostics }: Diagnosed): Promise<string> =>
    (await import('../report/code-quality.ts')).renderCodeQuality(diagnostics),
})
