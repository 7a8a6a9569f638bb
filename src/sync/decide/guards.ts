import type { Rules } from '../../platform/core/diagnostics.ts'
import type { Guard } from './facts.ts'
import { checkLimits, checkObjects, keepOwners, limitRules, objectRules, ownerRules } from './guards/checks.ts'
import { endOrphans, repairRules, repairTwins } from './guards/deletes.ts'
import { alertProtectionRules, keepAlerts } from './guards/lost-alerts.ts'
import { keepHiddenParts, tileWriteRules } from './guards/tile-writes.ts'
import { heldRules, holdWhatWaits } from './hold.ts'
import { identityRules } from './identify.ts'
import { matchRules } from './match.ts'
import { twinRules } from './twins.ts'

/** What else a plan does, and what it must not do. Each guard sees the steps as the one before it left them, so the order counts. */
export const guards: readonly Guard[] = [
  repairTwins, // Adds the writes and deletes of a repair.
  endOrphans, // Adds deletes, or releases.
  holdWhatWaits, // Keeps what a person may have changed, and what needs it.
  keepHiddenParts, // Writes dashboards by patches where it can.
  keepAlerts, // Alerts that the server would delete with what they watch.
]

/** In any order, which is that of their diagnostics. */
export const checks: readonly Guard[] = [keepOwners, checkObjects, checkLimits]

export const decideRules = {
  ...twinRules,
  ...identityRules,
  ...matchRules,
  ...repairRules,
  ...heldRules,
  ...tileWriteRules,
  ...alertProtectionRules,
  ...objectRules,
  ...ownerRules,
  ...limitRules,
} as const satisfies Rules
