// The result of verify-restore, which is the evidence of a restore: its form, its verdict and its report.
import * as z from 'zod'
import { formatMoment } from '../platform/core/dates.ts'
import { hourMs, minuteMs } from '../platform/core/durations.ts'
import { type Line, say, trusted, untrustedSentence } from '../platform/core/line.ts'
import { listFirst, plural } from '../platform/core/text.ts'
import { skippedSign, statusLooks } from '../platform/report/blocks.ts'
import { formatDuration, formatRatio } from '../platform/report/format.ts'
import { pass, type Report, type Verdict } from '../platform/report/report.ts'
import { type Cell, facts, shown, table } from '../platform/report/table.ts'
import { backupDetails } from './backups.ts'
import { type ComparedPart, comparedOutcomes, passes, restoreStatuses, usualShare } from './restore-rules.ts'

const compared = { name: z.string(), outcome: z.enum(comparedOutcomes), reason: z.string().describe('Empty for `pass`.') }
const rowCount = z.number().optional()
const comparedTable = z.object({
  ...compared,
  isDatabase: z.literal(true).optional(),
  timeColumn: z.string().optional().describe('The column with the time of a row.'),
  rows: rowCount.describe('Rows of the original from before the backup.'),
  restoredRows: rowCount.describe('Rows of the restored table from before the backup.'),
  identicalRows: rowCount.describe('Rows of the original that the restored table has with the same values. An estimate where rows differ.'),
  keyRows: rowCount.describe('More rows whose sorting key is the same.'),
  valuedRows: rowCount.describe('Rows whose values were compared.'),
  leftOutColumns: z.array(z.string()).optional().describe('Columns whose values were not compared.'),
})
const limit = z.number().optional()
const ranCheck = z.object({
  ...compared,
  sql: z.string(),
  ...{ atLeast: limit, atMost: limit, equals: limit, tolerance: z.string().optional() },
  original: z.string().optional().describe('The value on the original, for a check with `tolerance`.'),
  restored: z.string().optional().describe('The value on the restored service.'),
})

const statusWords =
  '`verified`: the service runs, and every table and check passed. `different`: data is missing or wrong. `started`: the service runs, and its data is not verified. `not-started`: it does not run.'

const output = z.object({
  restoreStatus: z.enum(restoreStatuses).describe(statusWords),
})

const details = z.object({
  ...backupDetails.shape,
  originalId: z.string().describe('Id of the service that was backed up.'),
  originalName: z.string().describe('Name of the service that was backed up.'),
  restoredName: z.string().describe('Name of the restored service.'),
  state: z.string().describe('The last seen state of the restored service.'),
  requestedAt: z.string().describe('When the restored service was created.'),
  runningAt: z.string().optional().describe('When it ran: by its activities, otherwise when this run saw it, which may be later.'),
  restoreMinutes: z.number().optional().describe('Minutes from the request until it ran.'),
  verifiedAt: z.string().optional().describe('When the data was verified. Absent for every other status.'),
  verifyMinutes: z.number().optional().describe('Minutes from the request until the data was verified: the RTO.'),
  dataAgeHours: z.number().describe('Age of the backup at the request: the RPO of a disaster at that time.'),
  versions: z.object({ original: z.string().optional(), restored: z.string().optional() }).describe('Versions of ClickHouse.'),
  ranBy: z
    .object({ actor: z.string().optional(), page: z.string().optional(), key: z.string().optional() })
    .describe('Who started the job, its page, and the end of the id of the key.'),
  maxRestoreMinutes: z.number().optional().describe('That of the file of checks.'),
  checkedAt: z.string().describe('The end of the run.'),
  rows: z.number().describe('Rows of the original from before the backup, in tables that passed.'),
  identicalRows: z.number().describe('Those that the restored service has with the same values.'),
  keyRows: z.number().describe('Those of which only the sorting keys are the same.'),
  tables: z.array(comparedTable).describe('The databases and tables of the original.'),
  checks: z.array(ranCheck).describe('The checks of the file.'),
})

export type RanCheck = z.output<typeof ranCheck>
export type ComparedTable = z.output<typeof comparedTable>
export const restoreSchemas = { output, details }

export type RestoreResult = z.output<typeof output> & z.output<typeof details>

const minutes = (value: number): string => formatDuration(value * minuteMs)
const hours = (value: number): string => formatDuration(value * hourMs)

export function judgeVerification(result: RestoreResult, { maxAgeHours }: { readonly maxAgeHours?: number | undefined }): Verdict {
  const { restoreStatus, restoreMinutes = 0, maxRestoreMinutes, dataAgeHours, state } = result
  const waited = formatDuration(Date.parse(result.checkedAt) - Date.parse(result.requestedAt))
  const failed = sorted([...result.checks, ...result.tables]).filter(({ outcome }) => outcome === 'fail' || outcome === 'unknown')
  const reasons = nameReasons(failed).slice()
  if (restoreStatus === 'not-started') reasons.push(say`its state is ${state}, ${trusted(waited)} after the request`)
  if (restoreStatus === 'started' && failed.length === 0)
    reasons.push(
      say`${trusted(result.rows === 0 ? 'no rows from before the backup were compared' : 'too many rows are identical in their keys only')}`,
    )
  if (maxRestoreMinutes !== undefined && restoreMinutes > maxRestoreMinutes)
    reasons.push(say`it ran after ${trusted(minutes(restoreMinutes))}, and maxRestoreMinutes is ${maxRestoreMinutes}`)
  if (maxAgeHours !== undefined && dataAgeHours > maxAgeHours)
    reasons.push(say`the backup was ${trusted(hours(dataAgeHours))} old at the request, and max-age-hours is ${maxAgeHours}`)
  const isSlow = maxRestoreMinutes !== undefined && restoreMinutes > maxRestoreMinutes
  const cause =
    restoreStatus === 'verified'
      ? isSlow
        ? 'the restore took too long'
        : 'the backup was too old'
      : `the service ${headlines[restoreStatus]}`
  if (reasons.length > 0) return { status: 'fail', reasons, cause: [trusted(cause)] }
  const warnings = result.tables.filter(({ outcome }) => outcome === 'warn')
  return warnings.length === 0 ? pass : { status: 'warn', reasons: nameReasons(warnings) }
}

const nameReasons = (all: readonly (ComparedPart & { readonly name: string })[]): readonly Line[] =>
  listFirst(
    all.map(({ name, reason }): Line => say`${name}: ${untrustedSentence(reason)}`),
    10,
    (rest): Line => say`${rest} more`,
  )

const order: readonly ComparedPart['outcome'][] = ['fail', 'unknown', 'warn', 'pass', 'skipped']

const sorted = <T extends ComparedPart>(all: readonly T[]): readonly T[] =>
  all.toSorted((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome))

const headlines: Readonly<Record<RestoreResult['restoreStatus'], string>> = {
  verified: 'was restored, and its data is verified',
  different: 'was restored, but data is missing or wrong',
  started: 'was restored and runs, but its data is not verified',
  'not-started': 'was not restored: the new service does not run',
}

/** The tables that passed, and sums of their rows. */
export function sumUp(tables: readonly ComparedTable[]) {
  const compared = tables.filter((table) => passes(table) && table.rows !== undefined)
  const sum = (of: (table: ComparedTable) => number | undefined): number => compared.reduce((total, table) => total + (of(table) ?? 0), 0)
  return {
    ...{ compared, sum },
    totals: { rows: sum(({ rows }) => rows), identicalRows: sum((one) => one.identicalRows), keyRows: sum(({ keyRows }) => keyRows) },
  }
}

/** `99.2% of 1.2 million rows from before the backup are identical (41 of 44 tables)`, and what restricts that. */
function scopeOf({ tables, rows, identicalRows, keyRows }: RestoreResult): string {
  const all = tables.filter(({ isDatabase }) => !isDatabase)
  const { compared, sum } = sumUp(all)
  const others = all.filter((table) => table.outcome === 'pass' && !compared.includes(table)).length
  const [valued, restored, columns] = [
    sum((one) => one.valuedRows),
    sum((one) => one.restoredRows),
    sum((one) => one.leftOutColumns?.length),
  ]
  const more = restored - identicalRows - keyRows
  const parts = [
    `${formatRatio(identicalRows / rows)} of ${plural(rows, 'row')} from before the backup are identical`,
    ` (${compared.length} of ${plural(all.length, 'table')}${others === 0 ? '' : `; ${others} without rows of their own`})`,
    keyRows > 0 && `, ${formatRatio(keyRows / rows)} in their keys only (${plural(compared.filter((one) => one.keyRows).length, 'table')})`,
    valued < rows && `, by the values of ${formatRatio(valued / rows)} of the rows and the counts of all`,
    columns > 0 && `, without ${plural(columns, 'column')} that cannot be compared`,
    more > (1 - usualShare) * restored && `; ${formatRatio(more / restored)} of the restored rows are no longer in the original`,
  ]
  return parts.filter((part) => part !== false).join('')
}

const statuses = { fail: 'fail', unknown: 'warn', warn: 'warn', pass: 'pass', skipped: 'pass' } as const

const outcomeCell = ({ outcome, reason }: ComparedPart): Cell => [
  trusted(`${outcome === 'skipped' ? skippedSign : statusLooks[statuses[outcome]].sign} ${outcome}`),
  ...(reason === '' ? [] : say`: ${untrustedSentence(reason)}`),
]

const statusOf = ({ outcome }: ComparedPart) => statuses[outcome]

export function reportVerification(result: RestoreResult): Report {
  const { originalName, restoredName, versions, ranBy } = result
  return {
    headline: say`The backup of ${originalName} ${trusted(headlines[result.restoreStatus] + (result.restoreStatus === 'verified' ? `: ${scopeOf(result)}` : ''))}`,
    services: say`service ${restoredName}, restored from ${originalName}`,
    blocks: [
      facts({
        Backup: result.backupName ?? result.backupId,
        'Data of': shown(result.backupStartedAt, formatMoment),
        'Age of the data at the request (RPO)': shown(result.dataAgeHours, hours),
        'Running after': shown(result.restoreMinutes, minutes),
        'Verified after (RTO)': shown(result.verifyMinutes, minutes),
        'Rows compared': shown(result.rows),
        'ClickHouse, original and restored': [versions.original, versions.restored].map((version) => version ?? 'unknown').join(', '),
        'Run by': Object.values(ranBy).filter(Boolean).join(', ') || undefined,
      }),
      table(
        'Checks',
        result.checks,
        {
          Check: ({ name }) => name,
          '>Restored': ({ restored }) => restored,
          '>Original': ({ original }) => original,
          Outcome: outcomeCell,
        },
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
          Outcome: outcomeCell,
        },
        statusOf,
      ),
    ],
  }
}
