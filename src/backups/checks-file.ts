// The file of the input `checks`: what a restored service must hold (verify-restore), and how services must be backed up (check-backups).

import * as z from 'zod'
import { type Diagnostic, inputDiagnosticAt } from '../platform/core/diagnostics.ts'
import { InputError } from '../platform/core/errors.ts'
import { refuseForm, refuseSql, toTokens } from '../platform/core/sql.ts'
import { quote } from '../platform/core/text.ts'
import { parseWithLocations } from '../platform/documents/parse.ts'
import { duration, flag, glob, integer, lines, positiveNumber } from '../platform/operation/inputs.ts'

const wordField = (description: string, accepts: string) => z.string().min(1).max(256).meta({ description, accepts })
const wordsField = (description: string, accepts: string) =>
  z
    .array(wordField(description, accepts))
    .max(1000)
    .meta({ description, accepts: `a list of ${accepts}` })
const numberField = (description: string) => z.number().meta({ description, accepts: 'a number' })
const text = (form: RegExp, description: string, accepts: string) => z.string().regex(form).meta({ description, accepts }).optional()

const tables = z.strictObject({
  ignore: wordsField('Tables that are not compared.', 'database.table, or database.* for all tables of a database').default([]),
  newestWithin: duration('How much older than in the original the newest row from before the backup may be.', '0m').default('15m'),
  minRowRatio: positiveNumber(
    'Share of the rows from before the backup that a table must have. Less than 98% is a warning.',
    1,
    'a number above 0 and at most 1',
  ).default(0.9),
  maxRestoreMinutes: positiveNumber(
    'Fails when the service ran later than this many minutes after the request to restore. The run waits no longer than that.',
    100_000,
    'a number of minutes above 0, such as 60',
  ).optional(),
})

const checkSchema = z
  .strictObject({
    name: wordField('Name of the check in reports.', 'a text of at most 256 characters'),
    sql: z.string().max(20_000).meta({
      description: 'One SELECT with one row and one column, a number. `{backup_time}` is the time of the data in the backup.',
      accepts: 'a SELECT of at most 20,000 characters',
    }),
    atLeast: numberField('The lowest value that passes.').optional(),
    atMost: numberField('The highest value that passes.').optional(),
    equals: numberField('The only value that passes.').optional(),
    tolerance: text(
      /^\d{1,2}(?:\.\d{1,6})?%$/,
      'How far the value may be from that of the same query on the original. Late events, merges, TTL and deletes after the backup are reasons for more than 0%.',
      'a percentage below 100%, such as 0% or 2.5%',
    ),
  })
  .refine(({ atLeast, atMost, equals, tolerance }) => [atLeast, atMost, equals, tolerance].some((one) => one !== undefined), {
    message: 'has no expectation: set atLeast, atMost, equals or tolerance',
    params: { isComplete: true },
  })

export type Check = z.output<typeof checkSchema>

const policy = z
  .strictObject({
    services: wordsField('Only these services.', 'names or ids').optional(),
    tag: wordField('Only services with this tag.', 'Key=Value, or Key').optional(),
    periodHours: integer('Hours between two backups.', 1, 8784).optional(),
    retentionHours: integer('How long backups are kept.', 24, 1080).optional(),
    startTime: text(/^(?:[01]\d|2[0-3]):00$/, 'When backups start, in UTC.', 'HH:00 in quotes, such as "02:00"'),
    ownBucket: flag('Whether a successful backup of the last 26 hours, or of the period, must be in a bucket of your own.').optional(),
    minSizeRatio: positiveNumber(
      'Warns when the last successful backup is smaller than this share of the median of earlier backups of its type.',
      1,
      'a number above 0 and at most 1, such as 0.5',
    ).optional(),
    requireRestoreDays: integer(
      'Fails without a verified restore of a backup from the last N days. The files of `results` prove it.',
      1,
      3650,
    ).optional(),
    results: lines('Files with results of verify-restore, for `requireRestoreDays`.', 'globs inside the workspace', glob).min(1).optional(),
  })
  .refine(({ requireRestoreDays, results }) => (requireRestoreDays === undefined) === (results === undefined), {
    message: 'has only one of requireRestoreDays and results; set both',
    params: { isComplete: true },
  })

export type Policy = z.output<typeof policy>

export const checksFileSchema = z.strictObject({
  $schema: z.string().optional(),
  tables: tables.default(tables.parse({})).meta({ description: 'Rules for the comparison of all tables.' }),
  checks: z
    .array(checkSchema)
    .max(200)
    .default([])
    .meta({ description: 'Queries on the restored service, and with `tolerance` on the original, too.' }),
  policies: z
    .array(policy)
    .max(200)
    .default([])
    .meta({ description: 'How services must be backed up. All policies about a service must hold.' }),
})

export type ChecksFile = z.output<typeof checksFileSchema>

/** Throws an InputError with the location of every mistake. `sqlFunctions`: functions of the user. */
export async function readChecksFile(text: string, path: string, sqlFunctions: readonly string[] = []): Promise<ChecksFile> {
  const { value, document } = parseWithLocations(text, path, checksFileSchema)
  const diagnostics: Diagnostic[] = []
  for (const [i, { name, sql }] of value.checks.entries()) {
    const problem = await whyNoSelect(sql, sqlFunctions)
    if (problem !== undefined)
      diagnostics.push(inputDiagnosticAt(document.locationOf(['checks', i, 'sql']), `checks["${quote(name)}"].sql: ${problem}`))
  }
  if (diagnostics.length > 0) throw new InputError(diagnostics)
  return value
}

const placeholder = '{backup_time}'

async function whyNoSelect(sql: string, sqlFunctions: readonly string[]) {
  if (toTokens(sql).some((token) => /^['"`]/.test(token) && token.includes(placeholder)))
    return `has ${placeholder} in quotes; write it without quotes`
  // In the brackets of a subquery, it must stay a part.
  const query = `${withTime(sql)}\n`
  return refuseForm(query) ?? refuseSql(query, false, sqlFunctions)
}

/** The time of the data in the backup, which is the end of the period of a query. */
export const backupTime = 'fromUnixTimestamp64Milli({endDateMilliseconds:Int64})'

/** Puts a query into a subquery, where the grammar of ClickHouse accepts only a SELECT. */
export const toQuery = (sql: string): string => `SELECT * FROM (\n${withTime(sql)}\n)\nLIMIT 2`

const withTime = (sql: string) => sql.replaceAll(placeholder, backupTime)
