// The backup gate: does each service have a fresh backup?

import * as z from 'zod'
import { isUuid } from '../api/path.ts'
import { findServiceNames } from '../api/services.ts'
import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { hourMs } from '../core/durations.ts'
import { joinFirst, type Line, say, sentence, trusted, untrusted } from '../core/line.ts'
import { listFirst, plural, quote, sparkline } from '../core/text.ts'
import { list, positiveNumber } from '../operation/inputs.ts'
import { defineOperation, type Given, type Report, type Verdict } from '../operation/operation.ts'
import type { Block } from '../report/blocks.ts'
import { alignRight, factOf } from '../report/blocks.ts'
import { formatAgo, formatBytes, formatDuration, formatTime } from '../report/format.ts'
import { byWorst, type DataQualityIssue, type Trend, type UnknownReason } from './backup-rules.ts'
import { backupOutput, backupTable, orDash } from './backups.ts'
import { resolveServices } from './resolve-services.ts'
import { checkService, readServices, type ServiceCheck, serviceCheck } from './service-check.ts'

const maxLimitHours = 87_600

/** The id of a service in lower case, or its name. */
const serviceReference = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\u0000-\u001f\u007f]+$/)
  .transform((text) => (isUuid(text.toLowerCase()) ? text.toLowerCase() : text))

const input = z.strictObject({
  maxAgeHours: positiveNumber(
    'Maximum age of the last successful backup in hours, counted from its start. An equal age passes. The default comes from the backup configuration where the API has one, otherwise it is 26.',
    maxLimitHours,
    `a number of hours above 0 and at most ${maxLimitHours}, such as 26 or 1.5`,
  ).optional(),
  services: list(
    'The services to check instead of service-id, by name or id. Names require a profile with a list of services.',
    'names or ids, one per line or separated by commas, at most 100',
    serviceReference,
  ).optional(),
  minSizeRatio: positiveNumber(
    'Warns when the last successful backup is smaller than this share of the median of earlier backups of its type.',
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
      'Id of the backup that decided the outcome of the worst service: the last successful one, the failed one, or the first one in progress. Without such a backup, all outputs about it are absent.',
    ),
})

const details = z.object({
  checkedAt: z.string().describe('The time of the check, ISO 8601 in UTC.'),
  worstServiceId: z.string().describe('The worst service, which the outputs are about.'),
  minSizeRatio: z.number().optional().describe('The input min-size-ratio, if it was given.'),
  services: z.array(serviceCheck).describe('Every service with its outcome, age, limit, trend and newest backups, in the given order.'),
})

type CheckResult = z.output<typeof output> & z.output<typeof details>

export const checkBackups = defineOperation({
  summary: 'Checks that each service has a fresh backup. Fails when a service has none or cannot be checked.',
  effect: 'read',
  scope: 'organization',
  input,
  output,
  details,
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

function requireService({ names, hasServiceId }: Given<typeof input>): readonly Diagnostic[] {
  if (names.has('services') || hasServiceId) return []
  return [inputDiagnostic('service-id', 'is missing: set service-id, the variable WATCHKEEPER_SERVICE_ID, or services')]
}

/** Whether some service has a finding, and the API answered requests for services at all. */
function needsNames(checks: readonly ServiceCheck[], minSizeRatio: number | undefined): boolean {
  const hasFinding = checks.some((check) => !check.passes || listWarnings(check, minSizeRatio).length > 0)
  return hasFinding && checks.some(({ failure }) => failure === undefined || ['permission', 'not-found'].includes(failure.kind))
}

type Services = readonly ServiceCheck[]

/** The name of a service, with the id where two services have that name. The id where the name is unknown. */
function labelOf({ serviceId, name }: ServiceCheck, services: Services): string {
  if (name === undefined) return serviceId
  return services.filter((other) => other.name === name).length > 1 ? `${name} (${serviceId})` : name
}

/** Number of services or warnings that the verdict names. */
const maxNamed = 10

function judgeChecks({ services, minSizeRatio }: CheckResult): Verdict {
  const failed = services.filter(({ passes }) => !passes).toSorted(byWorst)
  const warnings = services.flatMap((check) =>
    listWarnings(check, minSizeRatio).map((line): Line => say`Service ${labelOf(check, services)}: ${line}`),
  )
  if (failed.length > 0) {
    const isSingle = services.length === 1
    const explained = failed.map((check) => explainFailure(check, services))
    const [only = []] = explained
    // The first line has all there is to say about a service that is stale or has no backup.
    const others = isSingle ? [] : explained.filter((_, i) => failed[i]?.outcome === 'failed' || failed[i]?.outcome === 'unknown')
    return {
      status: 'fail',
      sentence: isSingle ? only : nameFailures(failed, services),
      reasons: [...limitLines(others, 'service'), ...limitLines(warnings, 'warning')],
    }
  }
  const [first, ...others] = warnings
  if (first === undefined) return { status: 'pass', reasons: [] }
  return { status: 'warn', sentence: say`${first} ${headlineOf(services)}.`, reasons: limitLines(others, 'warning') }
}

const limitLines = (lines: readonly Line[], noun: string): readonly Line[] =>
  listFirst(lines, maxNamed, (count) => say`${trusted(plural(count, `more ${noun}`))}.`)

/** `2 of 3 services have no fresh backup: search (last backup failed), catalog (2 d 2 h old, limit 1 d 2 h).` */
function nameFailures(failed: Services, services: Services): Line {
  const isUnknown = failed.every(({ outcome }) => outcome === 'unknown')
  const verb = isUnknown ? 'could not be checked' : `${failed.length === 1 ? 'has' : 'have'} no fresh backup`
  const named = failed.map((check) => say`${labelOf(check, services)} (${shortReason(check)})`)
  return say`${failed.length} of ${services.length} services ${trusted(verb)}: ${joinFirst(named, maxNamed)}.`
}

function shortReason(check: ServiceCheck): Line {
  const { outcome, ageMs = 0, failure, unknownReason } = check
  switch (outcome) {
    case 'stale':
      return say`${trusted(formatDuration(ageMs))} old, ${trusted(limitWords(check))}`
    case 'missing':
      return say`no backup`
    case 'failed':
      return say`last backup failed`
    case 'in-progress':
      return say`first backup in progress for ${trusted(formatDuration(ageMs))}, ${trusted(limitWords(check))}`
    case 'unknown':
      return [trusted(failure === undefined ? shortUnknownWords[unknownReason ?? 'unknown-status'] : 'request failed')]
    case 'fresh':
      return []
  }
}

/** `limit 1 d 2 h`, or by how much the age exceeds a limit that looks equal to it. */
function limitWords({ ageMs = 0, limit }: ServiceCheck): string {
  const isEqual = formatDuration(ageMs) === formatHours(limit.hours)
  return isEqual && ageMs > limit.hours * hourMs
    ? `${formatDuration(ageMs - limit.hours * hourMs)} over the limit`
    : `limit ${formatHours(limit.hours)}`
}

/** Why a service does not pass, in one or more sentences. */
function explainFailure(check: ServiceCheck, services: Services): Line {
  const { outcome, ageMs, unknownReason, failure } = check
  const service = untrusted(labelOf(check, services))
  switch (outcome) {
    case 'stale':
      return say`Service ${service} has no fresh backup: the last successful backup is ${shortReason(check)}.${noteInProgress(check)}`
    case 'missing':
      return say`Service ${service} has no backup.`
    case 'failed':
      return say`The last backup of service ${service} failed${trusted(ageMs === undefined ? '' : `. It started ${formatAgo(ageMs)}`)}. ${noteLastSuccessful(check)}${noteInProgress(check)}`
    case 'in-progress':
      return say`The first backup of service ${service} is still in progress after ${trusted(`${formatDuration(ageMs ?? 0)}, ${limitWords(check)}.`)}`
    case 'unknown':
      return say`The backups of service ${service} could not be checked: ${
        failure === undefined ? [trusted(unknownWords[unknownReason ?? 'unknown-status'])] : explainError(failure)
      }.`
    case 'fresh':
      return []
  }
}

const formatHours = (hours: number): string => formatDuration(hours * hourMs)

const noteLastSuccessful = ({ lastSuccessful }: ServiceCheck): Line =>
  lastSuccessful === undefined
    ? say`There is no successful backup.`
    : say`The last successful backup is ${trusted(formatDuration(lastSuccessful.ageMs))} old.`

const noteInProgress = ({ inProgress }: ServiceCheck): Line =>
  inProgress === undefined ? [] : say` Another backup has been in progress for ${trusted(formatDuration(inProgress.ageMs))}.`

const unknownWords: Readonly<Record<UnknownReason, string>> = {
  'future-date': 'a backup is dated in the future, so ages are not reliable. Check the clock of this machine',
  'missing-date': 'the listed backups have no date, so their age is unknown',
  'unknown-status': 'no backup has a known status',
}

const shortUnknownWords: Readonly<Record<UnknownReason, string>> = {
  'future-date': 'backup dated in the future',
  'missing-date': 'backups without a date',
  'unknown-status': 'no backup with a known status',
}

/** The first line of the message, and the advice, without the last full stop. The report has the whole message. */
function explainError({ message, advice }: NonNullable<ServiceCheck['failure']>): Line {
  const [first = ''] = message.split('\n')
  return [sentence([first, ...(advice === undefined ? [] : [advice])].map((text) => text.replace(/\.$/, '')).join('. '))]
}

/** Whole sentences, for after the name of the service and a colon. */
function listWarnings(check: ServiceCheck, minSizeRatio: number | undefined): readonly Line[] {
  const { limit, failure, configurationFailure, dataQualityIssues } = check
  // Nothing else is known of a service whose backups could not be read.
  if (failure !== undefined) return []
  const unreadable =
    configurationFailure === undefined
      ? []
      : [
          say`the backup configuration could not be read, so the limit is the default of ${trusted(formatHours(limit.hours))}: ${explainError(configurationFailure)}.`,
        ]
  return [...unreadable, ...sizeWarnings(check, minSizeRatio), ...dataQualityIssues.map((issue): Line => [trusted(issueWords[issue])])]
}

const issueWords: Readonly<Record<DataQualityIssue, string>> = {
  'missing-status': 'the last successful backup has no status. It has an end, so it counts as successful.',
  'unknown-status': 'a newer backup has no known status.',
  'missing-date': 'backups without a date are left out.',
}

function sizeWarnings({ sizeOutcome, size }: ServiceCheck, minSizeRatio = 0): readonly Line[] {
  switch (sizeOutcome) {
    case 'too-small': {
      const { latest = 0, median = 0 } = size ?? {}
      const share = `${formatRatio(latest / median)} of the median of ${formatBytes(median)}`
      return [[trusted(`the last successful backup has ${formatBytes(latest)}, ${share}. The minimum is ${formatRatio(minSizeRatio)}.`)]]
    }
    case 'unknown-size':
      return [say`the size of the last successful backup is unknown and was not compared.`]
    case 'unknown-earlier-sizes':
      return [say`the sizes of earlier backups are unknown, so the size was not compared.`]
    default:
      return []
  }
}

/** `98.3%`, rounded down so that a value below the limit does not look equal to it. */
function formatRatio(ratio: number): string {
  const percent = Math.floor(ratio * 1000 + 1e-9) / 10
  return percent === 0 && ratio > 0 ? 'below 0.1%' : `${percent}%`
}

function reportChecks(result: CheckResult): Report {
  const services = result.services.toSorted(byWorst)
  const [only, ...others] = services
  const isSingle = only !== undefined && others.length === 0
  return {
    headline: headlineOf(result.services),
    services: isSingle ? say`service ${labelOf(only, services)}` : say`${services.length} services`,
    blocks: [
      { kind: 'facts', facts: factsOf(result) },
      serviceTable(services, result.minSizeRatio),
      trendTable(services),
      ...failureBlocks(services),
      ...services.map((check): Block => ({ kind: 'details', title: backupsTitle(check, services), blocks: [backupTable(check.backups)] })),
    ],
  }
}

function backupsTitle(check: ServiceCheck, services: Services): string {
  const { backups, count = 0 } = check
  return `${count > backups.length ? `Newest ${backups.length} of ${count} backups` : 'Backups'} of service ${quote(labelOf(check, services), 80)}`
}

/** Without a full stop. The verdict has sentences for runs with failures. */
function headlineOf(services: Services): Line {
  const [only, ...others] = services
  if (only !== undefined && others.length === 0) {
    const service = untrusted(labelOf(only, services))
    const age = trusted(`${formatDuration(only.ageMs ?? 0)} old, limit ${formatHours(only.limit.hours)}`)
    if (only.outcome === 'fresh') return say`Service ${service} has a fresh backup: ${age}`
    if (only.outcome === 'in-progress') return say`The first backup of service ${service} is in progress: ${age}`
    return say`Service ${service} has no fresh backup`
  }
  const fresh = services.filter(({ outcome }) => outcome === 'fresh').length
  const first = services.filter(({ outcome, passes }) => outcome === 'in-progress' && passes).length
  if (fresh === services.length) return say`All ${services.length} services have a fresh backup`
  const progress = first === 0 ? '' : `, ${first} ${first === 1 ? 'has its' : 'have their'} first backup in progress`
  return say`${fresh} of ${services.length} services ${trusted(fresh === 1 ? 'has' : 'have')} a fresh backup${trusted(progress)}`
}

/** With more limits than this, only the table shows them. */
const maxLimits = 3

function factsOf({ services, worstServiceId, backupId, backupName = backupId, ...result }: CheckResult) {
  const { backupStatus, backupStartedAt, backupFinishedAt, backupBucketPath } = result
  const time = (iso: string | undefined): Line | undefined => (iso === undefined ? undefined : [trusted(formatTime(iso))])
  const text = (value: string | undefined): Line | undefined => (value === undefined ? undefined : [untrusted(value)])
  const limits = [...new Set(services.filter(isRead).map(({ limit }) => `${formatHours(limit.hours)} (${explainLimit(limit)})`))]
  const limitText = limits.length > maxLimits ? `${limits.length} different limits, see the table` : limits.join('; ')
  const worst = services.find(({ serviceId }) => serviceId === worstServiceId)
  return [
    ...factOf('Worst service', services.length > 1 && worst !== undefined ? [untrusted(labelOf(worst, services))] : undefined),
    ...factOf(decisiveLabels.get(backupStatus) ?? 'Last successful backup', text(backupName)),
    ...factOf('Started', time(backupStartedAt)),
    ...factOf('Finished', time(backupFinishedAt)),
    ...factOf('Location', text(backupBucketPath)),
    ...factOf(limits.length > 1 ? 'Limits' : 'Limit', limits.length === 0 ? undefined : [trusted(limitText)]),
  ]
}

/** Label of the backup that decided the outcome, by its status. */
const decisiveLabels: ReadonlyMap<string | undefined, string> = new Map([
  ['error', 'Failed backup'],
  ['in_progress', 'First backup'],
])

/** The report shows limits only for services whose backups were read. */
const isRead = ({ failure }: ServiceCheck): boolean => failure === undefined

function explainLimit({ hours, source, defaultReason = 'no-configuration', periodHours }: ServiceCheck['limit']): string {
  if (source === 'input') return 'from max-age-hours'
  if (source === 'default' || periodHours === undefined) return `default for daily backups, because ${defaultWords[defaultReason]}`
  return `from the backup configuration: a period of ${formatHours(periodHours)}, and ${formatHours(hours - periodHours)} to make the backup`
}

const defaultWords = {
  'no-configuration': 'the API has no backup configuration',
  'no-period': 'the backup configuration has no period',
  unreadable: 'the backup configuration could not be read',
} as const

const serviceTable = (services: readonly ServiceCheck[], minSizeRatio: number | undefined): Block => ({
  kind: 'table',
  title: 'Services',
  columns: [
    { title: 'Service' },
    { title: 'Outcome' },
    alignRight('Age'),
    alignRight('Limit'),
    alignRight('Last successful backup'),
    alignRight('Backups'),
  ],
  rows: services.map((check) => {
    const { outcome, ageMs, limit, lastSuccessful, count } = check
    return [
      [untrusted(labelOf(check, services))],
      [trusted(`${iconOf(check, minSizeRatio)} ${outcome}`)],
      orDash(ageMs, formatDuration),
      orDash(isRead(check) ? limit.hours : undefined, formatHours),
      orDash(lastSuccessful, (backup) => formatAgo(backup.ageMs)),
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
  title: 'Last successful backup compared with earlier backups of its type',
  columns: [
    { title: 'Service' },
    { title: 'Type' },
    alignRight('Size'),
    alignRight('Share of median'),
    { title: 'Sizes' },
    alignRight('Duration'),
    alignRight('Share of median'),
    { title: 'Durations' },
  ],
  rows: services.flatMap((check) => {
    const { type, size, duration } = check
    return size === undefined || duration === undefined
      ? []
      : [
          [
            [untrusted(labelOf(check, services))],
            type === undefined ? orDash(type) : [untrusted(type)],
            ...trendCells(size, formatBytes),
            ...trendCells(duration, formatDuration),
          ],
        ]
  }),
})

/** A longer sparkline would be hard to read. */
const maxSparklinePoints = 20

const trendCells = ({ latest, ratio, values }: Trend, format: (value: number) => string): readonly Line[] => [
  orDash(latest, format),
  orDash(ratio, formatRatio),
  orDash(values.length < 2 ? undefined : values.slice(-maxSparklinePoints), (some) => sparkline(some)),
]

/** Errors that the report shows in full. The result document has all of them. */
const maxFailures = 5

const failureBlocks = (services: readonly ServiceCheck[]): readonly Block[] =>
  services
    .flatMap(({ failure, configurationFailure }) => failure ?? configurationFailure ?? [])
    .slice(0, maxFailures)
    .map(({ message }) => ({ kind: 'preformatted', text: message }))
