import { checkRules } from '../kinds/kind.ts'
import { nameRules } from '../kinds/reference-resolver.ts'
import { referenceRules } from '../kinds/references.ts'
import type { Rules } from '../platform/core/diagnostics.ts'
import type { SarifRule } from '../platform/report/sarif.ts'
import { sloRules, sloServiceRules } from '../signals/slos/slo-file.ts'
import { snapshotRules } from '../sync/apply/snapshots.ts'
import { verifyRules } from '../sync/apply/verify.ts'
import { readingRules } from '../sync/declarations/declarations.ts'
import { findingRules } from '../sync/declarations/find-declarations.ts'
import { incidentRules } from '../sync/declarations/incidents.ts'
import { lintRules } from '../sync/declarations/lint.ts'
import { projectRules } from '../sync/declarations/project.ts'
import { matchRules } from '../sync/plan/match.ts'
import { adoptionRules, repositoryRules } from '../sync/plan/ownership.ts'
import { convergenceRules, guardRules, lostNameRules, useRules } from '../sync/plan/plan-diagnostics.ts'
import { alertProtectionRules } from '../sync/plan/protect-alerts.ts'
import { serverRules } from '../sync/plan/server-check.ts'
import { tileWriteRules } from '../sync/plan/tile-writes.ts'
import { repairRules } from '../sync/plan/twins.ts'
import { queryRules } from '../sync/query-alerts/query-alerts.ts'
import { evaluationRules } from './plan/evaluations.ts'

const onFiles = { ...readingRules, ...findingRules, ...referenceRules, ...queryRules, ...sloRules, ...incidentRules }

/** Rules that need the stored objects. */
const onService = {
  ...nameRules,
  ...lostNameRules,
  ...matchRules,
  ...repositoryRules,
  ...adoptionRules,
  ...convergenceRules,
  ...alertProtectionRules,
  ...tileWriteRules,
  ...repairRules,
  ...guardRules,
  ...serverRules,
  ...verifyRules,
  ...snapshotRules,
  ...evaluationRules,
  ...projectRules,
  ...checkRules,
  ...useRules,
  ...sloServiceRules,
}

export const toSarifRules = (rules: Rules): readonly SarifRule[] =>
  Object.entries(rules).map(([id, { description, severity }]) => ({ id, description, severity }))

export const allRules: readonly SarifRule[] = toSarifRules({ ...onFiles, ...lintRules })

export const planRules: readonly SarifRule[] = [...allRules, ...toSarifRules(onService)]
