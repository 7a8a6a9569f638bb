import * as z from 'zod'
import { listActivities } from '../platform/api/activities.ts'
import { missingSqlKey } from '../platform/api/api-error.ts'
import { fetchService, type ListedService } from '../platform/api/services.ts'
import { minuteMs } from '../platform/core/durations.ts'
import { inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { say } from '../platform/core/line.ts'
import { noted, uuid } from '../platform/operation/inputs.ts'
import { type Context, defineOperation } from '../platform/operation/operation.ts'
import { classifyBackup } from './backup-rules.ts'
import { backupId, toBackupOutput, toHours, toKnownBackup } from './backups.ts'
import { type Backup, fetchBackup } from './backups-api.ts'
import { checksInput, maxAgeInput } from './backups-schemas.ts'
import { type ChecksFile, readChecksFile, toQuery } from './checks-file.ts'
import { compareTables } from './compare-tables.ts'
import { judgeVerification, type RanCheck, type RestoreResult, reportVerification, restoreSchemas, sumUp } from './restore-report.ts'
import { judgeCheck, judgeRestore, meaningOf } from './restore-rules.ts'
import { type Queried, readValue } from './restored-data.ts'

const restoreInput = z.strictObject({
  original: uuid('Id of the service that was backed up. `service-id` is the restored one.'),
  id: noted(backupId, 'It is the backup that was restored.'),
  checks: noted(checksInput, 'Without it, all tables are compared by the default rules.'),
  maxAgeHours: noted(maxAgeInput, 'The age at the request to restore the backup counts.'),
})

export const verifyRestore = defineOperation({
  title: 'Restore',
  summary: 'Verifies a restored backup: the new service runs, and holds the data that the original had at that time.',
  effect: 'read',
  scope: 'service',
  input: restoreInput,
  ...restoreSchemas,
  example: { original: 'c0ffee00-0000-4000-8000-0000000000c1', id: '00000001-5eed-4000-8000-00000000c0de', checks: 'backups.yml' },
  run: verify,
  judge: judgeVerification,
  report: reportVerification,
})

type RestoreContext = Context<'read', 'service'>

async function verify(context: RestoreContext, given: z.output<typeof restoreInput>): Promise<RestoreResult> {
  const { api, service, organizationId, clock, files } = context
  if (given.checks !== undefined && (await files.mayBeFromFork()))
    throw new WatchkeeperError('refused', 'The file of checks may be that of a fork, and the services would run its SQL.')
  if (!api.hasSql) throw missingSqlKey('data is compared with SQL, by a key that the query endpoints of both services list')
  const text = given.checks === undefined ? '{}' : await files.read(given.checks, 'checks')
  const rules = await readChecksFile(text, given.checks ?? 'checks', api.sqlFunctions)
  const originalService = { organizationId, serviceId: given.original }
  const [first, original, backup] = await Promise.all([
    fetchService(api, service),
    fetchService(api, originalService),
    fetchBackup(api, originalService, given.id),
  ])
  const { backupMs, endMs, requestedMs } = requireRestore(first, original, backup)
  const { maxRestoreMinutes } = rules.tables
  const restored = await waitForService(context, first, requestedMs + (maxRestoreMinutes ?? Number.POSITIVE_INFINITY) * minuteMs)
  const runningMs = await findRunning(context, restored, requestedMs)
  const both = { original: { api, service: originalService, backupMs }, restored: { api, service, backupMs, mayWake: true } } as const
  const isRunning = runningMs !== undefined
  const moments = { backupMs, endMs, requestedMs, nowMs: clock.now() }
  const [tables, checks] = isRunning
    ? [await compareTables({ ...both, rules: rules.tables, seed: backup.id, moments }), await runFileChecks(both, rules)]
    : [[], []]
  const { totals } = sumUp(tables)
  const restoreStatus = judgeRestore(isRunning, [...tables, ...checks], totals)
  const nowMs = clock.now()
  const { backupStatus: _, backupAgeHours: __, ...ofBackup } = toBackupOutput(backup, nowMs)
  return {
    restoreStatus,
    ...ofBackup,
    originalId: original.id,
    originalName: original.name || original.id,
    restoredName: restored.name || restored.id,
    state: restored.state ?? 'unknown',
    ...(maxRestoreMinutes !== undefined && { maxRestoreMinutes }),
    requestedAt: isoOf(requestedMs),
    ...(isRunning && { runningAt: isoOf(runningMs), restoreMinutes: toMinutes(runningMs - requestedMs) }),
    ...(restoreStatus === 'verified' && { verifiedAt: isoOf(nowMs), verifyMinutes: toMinutes(nowMs - requestedMs) }),
    dataAgeHours: toHours(requestedMs - backupMs),
    versions: { original: original.clickhouseVersion, restored: restored.clickhouseVersion },
    ranBy: { ...files.ranBy, key: api.keySuffix && `key …${api.keySuffix}` },
    checkedAt: isoOf(nowMs),
    ...totals,
    tables,
    checks,
  }
}

const isoOf = (ms: number) => new Date(ms).toISOString()

const toMinutes = (ms: number) => Math.round((ms / minuteMs) * 100) / 100

/** The times of the data and of the request. Throws an error where the service cannot be a restore of this backup, or might not be one. */
function requireRestore(restored: ListedService, original: ListedService, backup: Backup) {
  const { startedMs: backupMs, ...known } = toKnownBackup(backup)
  const requestedMs = Date.parse(restored.createdAt ?? '')
  if (restored.id === original.id) throw inputError('original', 'is the service in service-id, which must be the restored one')
  if (!restored.dataWarehouseId || !original.dataWarehouseId)
    throw new WatchkeeperError('bad-answer', 'The API does not say which warehouses the services have, so they may share the same data.')
  if (restored.dataWarehouseId === original.dataWarehouseId)
    throw inputError('service-id', 'shares the warehouse of the original, so it has the data of the original and not that of a backup')
  if (classifyBackup(known) !== 'successful')
    throw inputError('id', `is a backup with the status ${known.status ?? 'unknown'}, which cannot be restored`)
  if (backupMs === undefined || Number.isNaN(requestedMs))
    throw new WatchkeeperError('bad-answer', 'The API has no start of the backup, or no creation time of the restored service.')
  if (requestedMs < backupMs) throw inputError('service-id', 'is older than the backup, so it was not restored from it')
  return { backupMs, endMs: Math.max(backupMs, known.finishedMs ?? 0), requestedMs }
}

/** How often the service is read, and the time of the run that is left for queries. */
const [pollMs, reservedMs] = [30_000, 60_000]

async function waitForService({ api, service, clock, stop, progress }: RestoreContext, first: ListedService, untilMs: number) {
  let restored = first
  while (meaningOf(restored.state) === 'waiting') {
    const waitMs = Math.min(pollMs, untilMs - clock.now(), api.remainingMs() - reservedMs)
    if (waitMs <= 0) break
    await progress({ done: 0, total: 1, line: say`restored service: ${restored.state ?? 'unknown'}`, result: async () => ({}) })
    // The next request ends a canceled run.
    await clock.sleep(waitMs, stop).catch(() => undefined)
    restored = await fetchService(api, service)
  }
  return restored
}

/** When the service ran. Without an activity about it, when this run saw it. */
async function findRunning({ api, organizationId, clock }: RestoreContext, { id, state }: ListedService, requestedMs: number) {
  if (meaningOf(state) !== 'running') return undefined
  // The clocks of this machine and the server may differ.
  const seenMs = Math.max(clock.now(), requestedMs)
  const { activities } = await listActivities(api, organizationId, requestedMs, seenMs)
  return activities.find(({ type, serviceId }) => type === 'service_running' && serviceId === id)?.atMs ?? seenMs
}

async function runFileChecks({ original, restored }: Readonly<Record<'original' | 'restored', Queried>>, { checks }: ChecksFile) {
  const ran: RanCheck[] = []
  for (const check of checks) {
    const value = await readValue(restored, toQuery(check.sql))
    const expected = check.tolerance === undefined ? undefined : await readValue(original, toQuery(check.sql))
    const values = [value, expected].map((read) => (read && 'value' in read ? read.value : undefined))
    ran.push({ ...check, ...judgeCheck(check, value, expected), restored: values[0], original: values[1] })
  }
  return ran
}
