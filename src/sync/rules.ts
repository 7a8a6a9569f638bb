import type { Severity } from '../core/diagnostics.ts'
import type { SarifRule } from '../report/sarif.ts'
import { referenceRules } from '../resources/references.ts'
import { nameRules } from '../resources/resolve.ts'
import { snapshotRules, verifyRules } from './apply-changes.ts'
import { readingRules } from './declarations.ts'
import { lintRules } from './lint.ts'
import { projectRules, serverRules } from './make-plan.ts'
import { matchRules } from './match.ts'
import { convergenceRules, guardRules, silenceRules } from './plan-changes.ts'
import { alertProtectionRules } from './protect-alerts.ts'

const errors = { ...readingRules, ...referenceRules }

/** Rules that need the remote state. */
const onService = {
  ...nameRules,
  ...matchRules,
  ...convergenceRules,
  ...silenceRules,
  ...alertProtectionRules,
  ...guardRules,
  ...serverRules,
  ...verifyRules,
  ...snapshotRules,
  ...projectRules,
}

export const allRules: readonly SarifRule[] = [
  ...Object.entries(errors).map(([id, description]) => ({ id, description, severity: 'error' as const })),
  ...Object.entries(lintRules).map(([id, { description, severity }]) => ({ id, description, severity })),
]

/** Severities other than error. */
const milder: Readonly<Record<string, Severity>> = {
  'same-name': 'warning',
  'hidden-tile': 'warning',
  'server-default': 'note',
  'inferred-project': 'note',
  silenced: 'note',
}

export const planRules: readonly SarifRule[] = [
  ...allRules,
  ...Object.entries(onService).map(([id, description]) => ({
    id,
    description,
    severity: milder[id] ?? ('error' as const),
  })),
]
