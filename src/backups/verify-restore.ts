import * as z from 'zod'
import { listActivities } from '../platform/api/activities.ts'
import { missingSqlKey } from '../platform/api/api-error.ts'
import { fetchService, type ListedService } from '../platform/api/services.ts'
import { formatMoment } from '../platform/core/dates.ts'
import { hourMs, minuteMs } from '../platform/core/durations.ts'
import { inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { type Line, say, trusted, untrustedSentence } from '../platform/core/line.ts'
import { listAtMost, plural } from '../platform/core/text.ts'
import { noted, uuid } from '../platform/operation/inputs.ts'
import { type Context, defineOperation } from '../platform/operation/operation.ts'
import { skippedSign, statusStyles } from '../platform/report/blocks.ts'
import { formatDuration, formatRatio } from '../platform/report/format.ts'
import { pass, type Report, type Verdict } from '../platform/report/report.ts'
import { facts, shown, table } from '../platform/report/table.ts'
import { classifyBackup } from './backup-rules.ts'
import { backupId, toBackupOutput, toHours, toKnownBackup } from './backups.ts'
import { type Backup, fetchBackup } from './backups-api.ts'
import { type ChecksFile, readChecksFile, toQuery } from './checks-file.ts'
import { compareTables } from './compare-tables.ts'
import {
  type ComparedPart,
  type ComparedTable,
  judgeCheck,
  judgeRestore,
  meaningOf,
  passes,
  type RanCheck,
  type RestoreResult,
  restoreSchemas,
  usualShare,
} from './restore-rules.ts'
import { type Queried, readValue } from './restored-data.ts'
import { checksInput, maxAgeInput } from './service-check.ts'

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

async function verify(context: Context<'read', 'service'>, given: z.output<typeof restoreInput>): Promise<RestoreResult> {
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
  const known = toKnownBackup(backup)
  const { startedMs: backupMs } = known
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

async function waitForService({ api, service, clock, stop, progress }: Context<'read', 'service'>, first: ListedService, untilMs: number) {
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
async function findRunning({ api, organizationId, clock }: Context<'read', 'service'>, { id, state }: ListedService, requestedMs: number) {
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

const minuteWords = (value: number) => formatDuration(value * minuteMs)
const hours = (value: number) => formatDuration(value * hourMs)

function judgeVerification(result: RestoreResult, { maxAgeHours }: z.output<typeof restoreInput>): Verdict {
  const { restoreStatus, restoreMinutes = 0, maxRestoreMinutes = Number.POSITIVE_INFINITY, dataAgeHours, state } = result
  const waited = formatDuration(Date.parse(result.checkedAt) - Date.parse(result.requestedAt))
  const failed = sorted([...result.checks, ...result.tables]).filter(({ outcome }) => outcome === 'fail' || outcome === 'unknown')
  const isSlow = restoreMinutes > maxRestoreMinutes
  const reasons = [...nameReasons(failed)]
  if (restoreStatus === 'not-started') reasons.push(say`its state is ${state}, ${trusted(waited)} after the request`)
  const unproven = result.rows === 0 ? 'no rows from before the backup were compared' : 'too many rows are identical in their keys only'
  if (restoreStatus === 'started' && failed.length === 0) reasons.push([trusted(unproven)])
  if (isSlow) reasons.push(say`it ran after ${trusted(minuteWords(restoreMinutes))}, and maxRestoreMinutes is ${maxRestoreMinutes}`)
  if (maxAgeHours !== undefined && dataAgeHours > maxAgeHours)
    reasons.push(say`the backup was ${trusted(hours(dataAgeHours))} old at the request, and max-age-hours is ${maxAgeHours}`)
  const late = isSlow ? 'the restore took too long' : 'the backup was too old'
  const cause = restoreStatus === 'verified' ? late : `the service ${headlines[restoreStatus]}`
  if (reasons.length > 0) return { status: 'fail', reasons, cause: [trusted(cause)] }
  const warnings = result.tables.filter(({ outcome }) => outcome === 'warn')
  return warnings.length === 0 ? pass : { status: 'warn', reasons: nameReasons(warnings) }
}

const nameReasons = (all: readonly (RanCheck | ComparedTable)[]) =>
  listAtMost(
    all.map(({ name, reason }) => say`${name}: ${untrustedSentence(reason)}`),
    10,
    (rest) => say`${rest} more`,
  )

const sorted = <T extends ComparedPart>(all: readonly T[]): readonly T[] => {
  const rankOf = ({ outcome }: ComparedPart): number => Object.keys(outcomeStatus).indexOf(outcome)
  return all.toSorted((a, b) => rankOf(a) - rankOf(b))
}

const headlines: Readonly<Record<RestoreResult['restoreStatus'], string>> = {
  verified: 'was restored, and its data is verified',
  different: 'was restored, but data is missing or wrong',
  started: 'was restored and runs, but its data is not verified',
  'not-started': 'was not restored: the new service does not run',
}

/** The tables that passed, and sums of their rows. */
function sumUp(tables: readonly ComparedTable[]) {
  const compared = tables.filter((table) => passes(table) && table.rows !== undefined)
  const sum = (of: (table: ComparedTable) => number | undefined): number => compared.reduce((total, table) => total + (of(table) ?? 0), 0)
  const totals = { rows: sum(({ rows }) => rows), identicalRows: sum((one) => one.identicalRows), keyRows: sum(({ keyRows }) => keyRows) }
  return { compared, sum, totals }
}

/** `99.2% of 1.2 million rows from before the backup are identical (41 of 44 tables)`, and what restricts that. */
function scopeOf({ tables, rows, identicalRows, keyRows }: RestoreResult) {
  const all = tables.filter(({ isDatabase }) => !isDatabase)
  const { compared, sum } = sumUp(all)
  const others = all.filter((table) => table.outcome === 'pass' && table.rows === undefined).length
  const [valued, restored] = [sum((one) => one.valuedRows), sum((one) => one.restoredRows)]
  const columns = sum((one) => one.leftOutColumns?.length)
  const more = restored - identicalRows - keyRows
  const parts = [
    `${formatRatio(identicalRows / rows)} of ${plural(rows, 'row')} from before the backup are identical`,
    ` (${compared.length} of ${plural(all.length, 'table')}${others === 0 ? '' : `; ${others} without rows of their own`})`,
    keyRows > 0 && `, ${formatRatio(keyRows / rows)} in their keys only (${plural(compared.filter((one) => one.keyRows).length, 'table')})`,
    valued < rows && `, by the values of ${formatRatio(valued / rows)} of the rows and the counts of all`,
    columns > 0 && `, without ${plural(columns, 'column')} that cannot be compared`,
    more > (1 - usualShare) * restored && `; ${formatRatio(more / restored)} of the restored rows are more than the original has`,
  ]
  return parts.filter(Boolean).join('')
}

/** Worst first. */
const outcomeStatus = { fail: 'fail', unknown: 'warn', warn: 'warn', pass: 'pass', skipped: 'pass' } as const

const statusOf = ({ outcome }: ComparedPart) => outcomeStatus[outcome]

const outcomeColumn = {
  Outcome: ({ outcome, reason }: ComparedPart): Line => [
    trusted(`${outcome === 'skipped' ? skippedSign : statusStyles[outcomeStatus[outcome]].sign} ${outcome}`),
    ...(reason === '' ? [] : say`: ${untrustedSentence(reason)}`),
  ],
}

function reportVerification(result: RestoreResult): Report {
  const { originalName, restoredName, versions, ranBy } = result
  return {
    headline: say`The backup of ${originalName} ${trusted(headlines[result.restoreStatus] + (result.restoreStatus === 'verified' ? `: ${scopeOf(result)}` : ''))}`,
    services: say`service ${restoredName}, restored from ${originalName}`,
    blocks: [
      facts({
        Backup: result.backupName ?? result.backupId,
        'Data of': shown(result.backupStartedAt, formatMoment),
        'Age of the data at the request (RPO)': shown(result.dataAgeHours, hours),
        'Running after': shown(result.restoreMinutes, minuteWords),
        'Verified after (RTO)': shown(result.verifyMinutes, minuteWords),
        'Rows compared': result.rows,
        'Definitions compared':
          result.tables.length === 0 ? undefined : 'engines and columns, not queries of views, sources of dictionaries or TTLs',
        'ClickHouse, original and restored': [versions.original, versions.restored].map((version) => version ?? 'unknown').join(', '),
        'Run by': Object.values(ranBy).filter(Boolean).join(', ') || undefined,
      }),
      table(
        'Checks',
        result.checks,
        { Check: ({ name }) => name, '>Restored': ({ restored }) => restored, '>Original': ({ original }) => original, ...outcomeColumn },
        statusOf,
      ),
      table(
        'Databases and tables, with rows from before the backup',
        sorted(result.tables),
        {
          Table: ({ name }) => name,
          '>Rows': ({ rows }) => rows,
          '>Restored rows': ({ restoredRows }) => restoredRows,
          '>Identical': ({ rows, identicalRows = 0 }) => shown(rows === undefined ? undefined : identicalRows / rows, formatRatio),
          ...outcomeColumn,
        },
        statusOf,
      ),
    ],
  }
}
