// Owns the list of every rule that files of declarations are held to, for SARIF and for the documentation.
import { readingRules } from '../provision/declarations.ts'
import { nameRules } from '../provision/desire.ts'
import type { Severity } from '../provision/finding.ts'
import { guardRules } from '../provision/guards.ts'
import { lintRules } from '../provision/lint.ts'
import { lossRules } from '../provision/losses.ts'
import { matchRules } from '../provision/match.ts'
import { convergenceRules } from '../provision/plan.ts'
import { referenceRules } from '../provision/references.ts'
import { reviewRules } from '../provision/review.ts'
import { snapshotRules } from '../provision/snapshots.ts'
import type { SarifRule } from '../report/sarif.ts'
import { projectRules } from './provisioning/inputs.ts'
import { serverRules } from './provisioning/server-check.ts'

const errors = { ...readingRules, ...referenceRules }

/** What is found only when the files meet the service. */
const onService = {
  ...nameRules,
  ...matchRules,
  ...convergenceRules,
  ...lossRules,
  ...guardRules,
  ...serverRules,
  ...reviewRules,
  ...snapshotRules,
  ...projectRules,
}

export const allRules: readonly SarifRule[] = [
  ...Object.entries(errors).map(([id, description]) => ({ id, description, severity: 'error' as const })),
  ...Object.entries(lintRules).map(([id, { description, severity }]) => ({ id, description, severity })),
]

/** Where it is not an error. */
const milder: Readonly<Record<string, Severity>> = {
  'same-name': 'warning',
  'hidden-tile': 'warning',
  'server-default': 'note',
  'inferred-project': 'note',
}

export const planRules: readonly SarifRule[] = [
  ...allRules,
  ...Object.entries(onService).map(([id, description]) => ({
    id,
    description,
    severity: milder[id] ?? ('error' as const),
  })),
]
