// Owns the backup gate: reads the backups of each service, judges them by their age, and says what could not be told.
import * as z from 'zod'
import type { Problem } from '../../kernel/errors.ts'
import { byWorst } from '../../rules/freshness.ts'
import { list, positiveNumber, uuid } from '../fields.ts'
import { defineOperation, type Given } from '../operation.ts'
import { readServices } from './check-reading.ts'
import { reportCheck } from './check-report.ts'
import { checkDetails, checkOutput, type ServiceCheck } from './check-result.ts'
import { checkService } from './check-service.ts'
import { judgeCheck } from './check-verdict.ts'

const mostHours = 87_600

const checkInput = z.strictObject({
  maxAgeHours: positiveNumber(
    'Most hours since the newest backup that is done was started; equal passes. By default what follows from the backup configuration, where the API has one, else 26.',
    mostHours,
    `a number of hours above 0 and at most ${mostHours}, such as 26 or 1.5`,
  ).optional(),
  services: list(
    'The services to check, instead of the one in service-id.',
    'uuids, one a line or with commas between them, at most 100',
    uuid('A service.'),
  ).optional(),
  minSizeRatio: positiveNumber(
    'Warns when the newest backup that is done is smaller than this share of the median of earlier ones of its type.',
    1,
    'a number above 0 and at most 1, such as 0.5',
  ).optional(),
})

export const checkBackups = defineOperation({
  summary: 'Checks that each service has a fresh backup, and fails when one has none or cannot be checked.',
  effect: 'read',
  scope: 'organization',
  input: checkInput,
  output: checkOutput,
  details: checkDetails,
  example: { maxAgeHours: 26, minSizeRatio: 0.5 },
  check: checkServices,
  async run(context, { maxAgeHours, minSizeRatio, services }) {
    const { service, profile, clock } = context
    const serviceIds = [...new Set(services ?? (service === undefined ? [] : [service.serviceId]))]
    const wantsConfiguration = maxAgeHours === undefined && profile.backupConfiguration
    const readings = await readServices(context, { serviceIds, wantsConfiguration })
    // After the answers: a backup that was done while others were read is not one of the future.
    const nowMs = clock.now()
    const checks = readings.map((reading) => checkService(reading, { maxAgeHours, minSizeRatio, nowMs }))
    const worst = worstOf(checks)
    return {
      ...worst.backup,
      checkedAt: new Date(nowMs).toISOString(),
      worstServiceId: worst.serviceId,
      ...(minSizeRatio !== undefined && { minSizeRatio }),
      services: checks,
    }
  },
  judge: judgeCheck,
  report: reportCheck,
})

function checkServices({ names, hasServiceId }: Given<typeof checkInput>): readonly Problem[] {
  if (names.has('services') || hasServiceId) return []
  return [{ name: 'service-id', message: 'is missing: give the input, or set WATCHKEEPER_SERVICE_ID, or give several as services' }]
}

function worstOf(checks: readonly ServiceCheck[]): ServiceCheck {
  const [worst] = checks.toSorted((a, b) => byWorst(toJudged(a), toJudged(b)))
  if (worst === undefined) throw new Error('no service was checked')
  return worst
}

const toJudged = ({ outcome, passes, ageMs }: ServiceCheck) => ({ outcome, passes, ageMs })
