import type { Diagnostic } from '../core/diagnostics.ts'
import { outputPath } from '../operation/inputs.ts'
import { renderSarif, type SarifRule } from '../report/sarif.ts'

interface Paths {
  readonly sarifFile?: string | undefined
  readonly codeQualityFile?: string | undefined
}

export const diagnosticFileInputs = {
  sarifFile: outputPath('Writes the diagnostics to this file as SARIF 2.1.0, for code scanning.').optional(),
  codeQualityFile: outputPath('Writes the diagnostics to this file as a code quality report of GitLab.').optional(),
}

/** The diagnostics in the formats that were asked for. */
export async function diagnosticFiles(
  { sarifFile, codeQualityFile }: Paths,
  diagnostics: readonly Diagnostic[],
  rules: readonly SarifRule[],
) {
  return [
    ...(sarifFile === undefined ? [] : [{ input: 'sarifFile', path: sarifFile, content: renderSarif(rules, diagnostics) }]),
    ...(codeQualityFile === undefined
      ? []
      : [{ input: 'codeQualityFile', path: codeQualityFile, content: await codeQualityOf(diagnostics) }]),
  ]
}

// Few runs need it.
const codeQualityOf = async (diagnostics: readonly Diagnostic[]): Promise<string> =>
  (await import('../report/code-quality.ts')).renderCodeQuality(diagnostics)
