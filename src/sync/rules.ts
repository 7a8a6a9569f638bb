import { checkRules } from '../kinds/kind.ts'
import { nameRules } from '../kinds/reference-resolver.ts'
import { referenceRules } from '../kinds/references.ts'
import type { Rules } from '../platform/core/diagnostics.ts'
import type { SarifRule } from '../platform/report/sarif.ts'
import { sloRules, sloServiceRules } from '../signals/slos/slo-file.ts'
import { snapshotRules } from './apply/snapshots.ts'
import { verifyRules } from './apply/verify.ts'
import { readingRules } from './declarations/declarations.ts'
import { findingRules } from './declarations/find-declarations.ts'
import { incidentRules } from './declarations/incidents.ts'
import { lintRules } from './declarations/lint.ts'
import { projectRules } from './declarations/project.ts'
import { evaluationRules } from './plan/evaluations.ts'
import { matchRules } from './plan/match.ts'
import { adoptionRules, repositoryRules } from './plan/ownership.ts'
import { convergenceRules, guardRules, lostNameRules, useRules } from './plan/plan-diagnostics.ts'
import { alertProtectionRules } from './plan/protect-alerts.ts'
import { serverRules } from './plan/server-check.ts'
import { tileWriteRules } from './plan/tile-writes.ts'
import { repairRules } from './plan/twins.ts'
import { queryRules } from './query-alerts/query-alerts.ts'

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
