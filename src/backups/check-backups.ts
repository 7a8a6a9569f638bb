// The backup gate: does each service have a fresh backup?

import { findServiceNames } from '../api/services.ts'
import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { defineOperation, type Given } from '../operation/operation.ts'
import { byWorst } from './backup-rules.ts'
import { judgeChecks, needsNames, reportChecks } from './backups-report.ts'
import { backupsDetails, backupsInput, backupsOutput } from './backups-schemas.ts'
import { resolveServices } from './resolve-services.ts'
import { checkService, readServices } from './service-check.ts'

export const checkBackups = defineOperation({
  summary: 'Checks that each service has a fresh backup. Fails when a service has none or cannot be checked.',
  effect: 'read',
  scope: 'organization',
  input: backupsInput,
  output: backupsOutput,
  details: backupsDetails,
  example: { maxAgeHours: 26, minSizeRatio: 0.5 },
  check: requireService,
  async run(context, { maxAgeHours, minSizeRatio, services }) {
    const { api, organizationId, service, profile, clock } = context
    const resolved = await resolveServices(context, services ?? (service === undefined ? [] : [service.serviceId]))
    const needsConfiguration = maxAgeHours === undefined && profile.backupConfiguration
    const read = await readServices(context, resolved.ids, { needsConfiguration })
    // After the answers: a backup that finished while others were read must not be dated in the future.
    const nowMs = clock.now()
    const checks = read.map((one) => checkService(one, { maxAgeHours, minSizeRatio, nowMs }))
    // A run without findings needs no names. The request would double the requests of a fleet with one service per job.
    const names = resolved.names ?? (needsNames(checks, minSizeRatio) ? await findServiceNames(api, organizationId) : new Map())
    const named = checks.map((check) => ({ ...check, name: names.get(check.serviceId) }))
    const [worst] = named.toSorted(byWorst)
    if (worst === undefined) throw new Error('no service was checked')
    return {
      ...worst.backup,
      checkedAt: new Date(nowMs).toISOString(),
      worstServiceId: worst.serviceId,
      minSizeRatio,
      services: named,
    }
  },
  judge: judgeChecks,
  report: reportChecks,
})

function requireService({ names, hasServiceId }: Given<typeof backupsInput>): readonly Diagnostic[] {
  if (names.has('services') || hasServiceId) return []
  return [inputDiagnostic('service-id', 'is missing: set service-id, the variable WATCHKEEPER_SERVICE_ID, or services')]
}
