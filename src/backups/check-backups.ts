// The backup gate: does each service have a fresh backup?
import * as z from 'zod'
import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { type Line, say, sentence, trusted, untrusted } from '../core/line.ts'
import { sparkline } from '../core/text.ts'
import { list, positiveNumber, uuid } from '../operation/inputs.ts'
import { defineOperation, type Given, type Report, type Verdict } from '../operation/operation.ts'
import type { Block, Column } from '../report/blocks.ts'

import { formatBytes, formatDuration, formatTime } from '../report/format.ts'
import { byWorst, type DataQualityIssue, outcomes, type Trend, type UnknownReason } from './backup-rules.ts'
import { backupOutput, backupTable, orDash } from './backups.ts'
import { checkService, readServices, type ServiceCheck, serviceCheck } from './service-check.ts'

const maxLimitHours = 87_600

const input = z.strictObject({
  maxAgeHours: positiveNumber(
    'Maximum hours since the start of the last successful backup; an age equal to it passes. Derived from the backup configuration by default, where the API has one, else 26.',
    maxLimitHours,
    `a number of hours above 0 and at most ${maxLimitHours}, such as 26 or 1.5`,
  ).optional(),
  services: list(
    'The services to check, instead of the one in service-id.',
    'uuids, one a line or with commas between them, at most 100',
    uuid('A service.'),
  ).optional(),
  minSizeRatio: positiveNumber(
    'Warns when the last successful backup is smaller than this share of the median of earlier ones of its type.',
    1,
    'a number above 0 and at most 1, such as 0.5',
  ).optional(),
})

const output = z.object({
  ...backupOutput.partial().shape,
  backupId: z
    .string()
    .optional()
    .describe(
      'Id of the backup that decided the outcome of the worst service: the last successful one, the one that failed, or the first in progress. Absent when there is none, like the other outputs.',
    ),
})

const details = z.object({
  checkedAt: z.string().describe('The time at which ages were computed, ISO 8601 in UTC.'),
  worstServiceId: z.string().describe('The service that the outputs are about.'),
  minSizeRatio: z.number().optional().describe('The input min-size-ratio, where it was given.'),
  services: z
    .array(serviceCheck)
    .describe('Every service: outcome, age, limit, trend and its newest backups; in the order in which they were given.'),
})

type CheckResult = z.output<typeof output> & z.output<typeof details>

export const checkBackups = defineOperation({
  summary: 'Checks that each service has a fresh backup, and fails when one has none or cannot be checked.',
  effect: 'read',
  scope: 'organization',
  input,
  output,
  details,
  example: { maxAgeHours: 26, minSizeRatio: 0.5 },
  check: requireService,
  async run(context, { maxAgeHours, minSizeRatio, services }) {
    const { service, profile, clock } = context
    const serviceIds = [...new Set(services ?? (service === undefined ? [] : [service.serviceId]))]
    const needsConfiguration = maxAgeHours === undefined && profile.backupConfiguration
    const read = await readServices(context, serviceIds, { needsConfiguration })
    // After the answers: a backup that finished while others were read must not be dated in the future.
    const nowMs = clock.now()
    const checks = read.map((one) => checkService(one, { maxAgeHours, minSizeRatio, nowMs }))
    const [worst] = checks.toSorted(byWorst)
    if (worst === undefined) throw new Error('no service was checked')
    return {
      ...worst.backup,
      checkedAt: new Date(nowMs).toISOString(),
      worstServiceId: worst.serviceId,
      minSizeRatio,
      services: checks,
    }
  },
  judge: judgeChecks,
  report: reportChecks,
})

function requireService({ names, hasServiceId }: Given<typeof input>): readonly Diagnostic[] {
  if (names.has('services') || hasServiceId) return []
  return [inputDiagnostic('service-id', 'is missing: give the input, or set WATCHKEEPER_SERVICE_ID, or give several as services')]
}

/** Number of services or warnings that the verdict names. */
const maxNamed = 10

function judgeChecks({ services, minSizeRatio }: CheckResult): Verdict {
  const isSingle = services.length === 1
  const failed = services.filter(({ passes }) => !passes).toSorted(byWorst)
  const failures = failed.map(
    (check): Line => (isSingle ? explainFailure(check) : say`${lowerFirst(summarize(check))}: ${explainFailure(check)}`),
  )
  const warnings = services.flatMap((check) =>
    listWarnings(check, minSizeRatio).map((line): Line => (isSingle ? line : say`service ${untrusted(check.serviceId)}: ${line}`)),
  )
  return {
    status: failed.length > 0 ? 'fail' : warnings.length > 0 ? 'warn' : 'pass',
    reasons: [...limitLines(failures, 'services'), ...limitLines(warnings, 'warnings')],
  }
}

const limitLines = (lines: readonly Line[], noun: string): readonly Line[] =>
  lines.length <= maxNamed ? lines : [...lines.slice(0, maxNamed), say`${lines.length - maxNamed} more ${trusted(noun)}`]

/** For the middle of a sentence. */
const lowerFirst = ([first, ...rest]: Line): Line =>
  first === undefined ? [] : [{ ...first, text: first.text.charAt(0).toLowerCase() + first.text.slice(1) }, ...rest]

/** The outcome as a sentence, which `explainFailure` continues after a colon. */
function summarize({ serviceId, outcome, passes, ageMs = 0, limit }: ServiceCheck): Line {
  const service = untrusted(serviceId)
  const age = trusted(`started ${formatDuration(ageMs)} ago, limit ${formatHours(limit.hours)}`)
  switch (outcome) {
    case 'fresh':
      return say`Service ${service} has a fresh backup (${age})`
    case 'stale':
      return say`Service ${service} has no fresh backup`
    case 'missing':
      return say`Service ${service} has no backup`
    case 'failed':
      return say`The last backup of service ${service} failed`
    case 'in-progress':
      return passes
        ? say`The first backup of service ${service} is in progress (${age})`
        : say`The first backup of service ${service} is still in progress`
    case 'unknown':
      return say`The backups of service ${service} could not be checked`
  }
}

/** Why a service does not pass. */
function explainFailure(check: ServiceCheck): Line {
  const { outcome, ageMs, unknownReason, failure } = check
  switch (outcome) {
    case 'stale':
      return say`the last successful backup was ${trusted(formatExcess(check))}${noteInProgress(check)}`
    case 'missing':
      return say`its list of backups is empty`
    case 'failed':
      return say`${trusted(ageMs === undefined ? 'start time unknown' : `started ${formatDuration(ageMs)} ago`)}${noteLastSuccessful(check)}${noteInProgress(check)}`
    case 'in-progress':
      return say`it was ${trusted(formatExcess(check))}, and there is no earlier backup`
    case 'unknown':
      return failure === undefined ? [trusted(unknownWords[unknownReason ?? 'unknown-status'])] : explainError(failure)
    case 'fresh':
      return []
  }
}

const hourMs = 3_600_000

const formatHours = (hours: number): string => formatDuration(hours * hourMs)

/** Shows the excess too, because a rounded age can look equal to the limit. */
function formatExcess({ ageMs = 0, limit }: ServiceCheck): string {
  const excessMs = ageMs - limit.hours * hourMs
  return `started ${formatDuration(ageMs)} ago, ${formatDuration(excessMs)} over the limit of ${formatHours(limit.hours)}`
}

const noteLastSuccessful = ({ lastSuccessful }: ServiceCheck): Line =>
  lastSuccessful === undefined
    ? say`, and there is no successful backup`
    : say`; the last successful backup was started ${trusted(formatDuration(lastSuccessful.ageMs))} ago`

const noteInProgress = ({ inProgress }: ServiceCheck): Line =>
  inProgress === undefined ? [] : say`; another is in progress, started ${trusted(formatDuration(inProgress.ageMs))} ago`

const unknownWords: Readonly<Record<UnknownReason, string>> = {
  'future-date': 'a backup is dated in the future, so no age is reliable: check the clock of this machine',
  'missing-date': 'the listed backups have no date, so their age is unknown',
  'unknown-status': 'no backup has a known status',
}

/** The first line of the message, and the advice. The report has the whole message. */
function explainError({ message, advice }: NonNullable<ServiceCheck['failure']>): Line {
  const [first = ''] = message.split('\n')
  return [sentence([first, ...(advice === undefined ? [] : [advice])].map((text) => text.replace(/\.$/, '')).join('. '))]
}

function listWarnings(check: ServiceCheck, minSizeRatio: number | undefined): readonly Line[] {
  const { limit, failure, configurationFailure, dataQualityIssues } = check
  // The other facts are unknown for a service whose backups could not be read.
  if (failure !== undefined) return []
  const unreadable =
    configurationFailure === undefined
      ? []
      : [
          say`its backup configuration could not be read, so the limit is ${trusted(formatHours(limit.hours))}: ${explainError(configurationFailure)}`,
        ]
  return [...unreadable, ...sizeWarnings(check, minSizeRatio), ...dataQualityIssues.map((issue): Line => [trusted(issueWords[issue])])]
}

const issueWords: Readonly<Record<DataQualityIssue, string>> = {
  'missing-status': 'the API reports no status of the last successful backup; it has an end and counts as successful',
  'unknown-status': 'a newer backup has no known status',
  'missing-date': 'backups without a date are left out',
}

function sizeWarnings({ sizeOutcome, size }: ServiceCheck, minSizeRatio = 0): readonly Line[] {
  switch (sizeOutcome) {
    case 'too-small': {
      const { latest = 0, median = 0 } = size ?? {}
      const share = `${formatShare(latest / median)} of the median of ${formatBytes(median)}`
      return [[trusted(`the last successful backup has ${formatBytes(latest)}, ${share}: less than ${formatShare(minSizeRatio)}`)]]
    }
    case 'unknown-size':
      return [say`the size of the last successful backup is unknown and was not compared`]
    case 'unknown-earlier-sizes':
      return [say`the sizes of earlier backups are unknown, so the size was not compared`]
    default:
      return []
  }
}

/** `98.3%`, rounded down so that a value below the limit does not look equal to it. */
function formatShare(ratio: number): string {
  const percent = Math.floor(ratio * 1000 + 1e-9) / 10
  return percent === 0 && ratio > 0 ? 'below 0.1%' : `${percent}%`
}

function reportChecks(result: CheckResult): Report {
  const services = result.services.toSorted(byWorst)
  return {
    headline: headlineOf(result.services),
    blocks: [
      { kind: 'facts', facts: factsOf(result) },
      serviceTable(services, result.minSizeRatio),
      trendTable(services),
      ...failureBlocks(services),
      ...services.map(
        ({ serviceId, backups, count = 0 }): Block => ({
          kind: 'details',
          title: `${count > backups.length ? `The newest ${backups.length} of ${count} backups` : 'The backups'} of service ${serviceId}`,
          blocks: [backupTable(backups)],
        }),
      ),
    ],
  }
}

function headlineOf(services: readonly ServiceCheck[]): Line {
  const [only, ...others] = services
  if (only !== undefined && others.length === 0) return summarize(only)
  const counts = outcomes
    .map((outcome) => ({ outcome, count: services.filter((check) => check.outcome === outcome).length }))
    .filter(({ count }) => count > 0)
    .map(({ outcome, count }) => `${count} ${outcome}`)
  return [trusted(`Backups of ${services.length} services (${counts.join(', ')})`)]
}

/** More limits than this are shown in the table only. */
const maxLimits = 3

function factsOf({ services, worstServiceId, backupId, backupName = backupId, ...result }: CheckResult) {
  const { backupStatus, backupStartedAt, backupFinishedAt, backupBucketPath } = result
  const fact = (label: string, value: Line | undefined) => (value === undefined ? [] : [{ label, value }])
  const time = (iso: string | undefined): Line | undefined => (iso === undefined ? undefined : [trusted(formatTime(iso))])
  const text = (value: string | undefined): Line | undefined => (value === undefined ? undefined : [untrusted(value)])
  const limits = [...new Set(services.filter(isRead).map(({ limit }) => `${formatHours(limit.hours)} (${explainLimit(limit)})`))]
  const limitText = limits.length > maxLimits ? `${limits.length} different limits, see below` : limits.join('; ')
  return [
    ...fact('Worst service', services.length > 1 ? [untrusted(worstServiceId)] : undefined),
    ...fact(decisiveLabels.get(backupStatus) ?? 'Last successful backup', text(backupName)),
    ...fact('Started', time(backupStartedAt)),
    ...fact('Finished', time(backupFinishedAt)),
    ...fact('Stored in', text(backupBucketPath)),
    ...fact(limits.length > 1 ? 'Limits' : 'Limit', limits.length === 0 ? undefined : [trusted(limitText)]),
  ]
}

/** What the decisive backup is, by its status. */
const decisiveLabels: ReadonlyMap<string | undefined, string> = new Map([
  ['error', 'Failed backup'],
  ['in_progress', 'First backup'],
])

/** Limits are shown only for services whose backups were read. */
const isRead = ({ failure }: ServiceCheck): boolean => failure === undefined

function explainLimit({ hours, source, defaultReason = 'no-configuration', periodHours }: ServiceCheck['limit']): string {
  if (source === 'input') return 'from max-age-hours'
  if (source === 'default' || periodHours === undefined) return `the default for daily backups: ${defaultWords[defaultReason]}`
  return `from the backup configuration: a backup every ${formatHours(periodHours)}, and ${formatHours(hours - periodHours)} to make it`
}

const defaultWords = {
  'no-configuration': 'the API has no backup configuration',
  'no-period': 'the backup configuration has no period',
  unreadable: 'the backup configuration could not be read',
} as const

const right = (title: string): Column => ({ title, align: 'right' })

const serviceTable = (services: readonly ServiceCheck[], minSizeRatio: number | undefined): Block => ({
  kind: 'table',
  title: 'Services',
  columns: [{ title: 'Service' }, { title: 'Outcome' }, right('Age'), right('Limit'), right('Last successful'), right('Backups')],
  rows: services.map((check) => {
    const { serviceId, outcome, ageMs, limit, lastSuccessful, count } = check
    return [
      [untrusted(serviceId)],
      [trusted(`${iconOf(check, minSizeRatio)} ${outcome}`)],
      orDash(ageMs, formatDuration),
      orDash(isRead(check) ? limit.hours : undefined, formatHours),
      orDash(lastSuccessful, (backup) => `${formatDuration(backup.ageMs)} ago`),
      orDash(count),
    ]
  }),
})

function iconOf(check: ServiceCheck, minSizeRatio: number | undefined): string {
  if (!check.passes) return '❌'
  return listWarnings(check, minSizeRatio).length > 0 ? '⚠️' : '✅'
}

const trendTable = (services: readonly ServiceCheck[]): Block => ({
  kind: 'table',
  title: 'Last successful backup compared with earlier ones of its type',
  columns: [
    { title: 'Service' },
    { title: 'Type' },
    right('Size'),
    right('Of median'),
    { title: 'Sizes' },
    right('Duration'),
    right('Of median'),
    { title: 'Durations' },
  ],
  rows: services.flatMap(({ serviceId, type, size, duration }) =>
    size === undefined || duration === undefined
      ? []
      : [
          [
            [untrusted(serviceId)],
            type === undefined ? orDash(type) : [untrusted(type)],
            ...trendCells(size, formatBytes),
            ...trendCells(duration, formatDuration),
          ],
        ],
  ),
})

/** A longer sparkline is hard to read. */
const maxSparklinePoints = 20

const trendCells = ({ latest, ratio, values }: Trend, format: (value: number) => string): readonly Line[] => [
  orDash(latest, format),
  orDash(ratio, formatShare),
  orDash(values.length < 2 ? undefined : values.slice(-maxSparklinePoints), (some) => sparkline(some)),
]

/** Errors that the report shows in full; the result document has all of them. */
const maxFailures = 5

const failureBlocks = (services: readonly ServiceCheck[]): readonly Block[] =>
  services
    .flatMap(({ failure, configurationFailure }) => failure ?? configurationFailure ?? [])
    .slice(0, maxFailures)
    .map(({ message }) => ({ kind: 'preformatted', text: message }))
