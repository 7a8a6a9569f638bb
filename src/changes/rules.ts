import { nameRules } from '../kinds/derive.ts'
import { checkRules } from '../kinds/kind.ts'
import { referenceRules } from '../kinds/references.ts'
import type { Rules } from '../platform/core/diagnostics.ts'
import type { SarifRule } from '../platform/report/sarif.ts'
import { sloRules, sloServiceRules } from '../signals/slos/slo-file.ts'
import { baseRules, verifyRules } from '../sync/apply/verify.ts'
import { decideRules } from '../sync/decide/decide.ts'
import { readingRules } from '../sync/declarations/declarations.ts'
import { findingRules, projectRules } from '../sync/declarations/find-declarations.ts'
import { incidentRules } from '../sync/declarations/incidents.ts'
import { lintRules } from '../sync/declarations/lint.ts'
import { serverRules } from '../sync/plan/make-plan.ts'
import { queryRules } from '../sync/query-alerts/query-alerts.ts'
import { evaluationRules } from './plan/evaluations.ts'

export const toSarifRules = (rules: Rules): readonly SarifRule[] =>
  Object.entries(rules).map(([id, { description, severity }]) => ({ id, description, severity }))

/** On files. */
export const allRules: readonly SarifRule[] = toSarifRules({
  ...readingRules,
  ...findingRules,
  ...referenceRules,
  ...queryRules,
  ...sloRules,
  ...incidentRules,
  ...lintRules,
})

export const planRules: readonly SarifRule[] = [
  ...allRules,
  ...toSarifRules({
    ...nameRules,
    ...decideRules,
    ...serverRules,
    ...verifyRules,
    ...baseRules,
    ...evaluationRules,
    ...projectRules,
    ...checkRules,
    ...sloServiceRules,
  }),
]
