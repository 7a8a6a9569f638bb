// Owns what is found wrong in files: by which rule, how bad, and where.
import type { Place } from './place.ts'

export const severities = ['error', 'warning', 'note'] as const

export type Severity = (typeof severities)[number]

export interface Finding {
  /** Id of the rule, for configuration and for SARIF. */
  readonly rule: string
  readonly severity: Severity
  readonly message: string
  readonly place: Place
}

export const failing = (findings: readonly Finding[]): readonly Finding[] => findings.filter(({ severity }) => severity === 'error')
