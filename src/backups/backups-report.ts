// The verdict and the report of check-backups.
import { formatMoment } from '../platform/core/dates.ts'
import { hourMs } from '../platform/core/durations.ts'
import { join, joinFirst, joinSome, type Line, say, toPlainText, trusted, untrusted, untrustedSentence } from '../platform/core/line.ts'
import { firstOf, listFirst, plural, quote, sparkline } from '../platform/core/text.ts'
import { type Block, paragraph, statusLooks } from '../platform/report/blocks.ts'
import { formatAgo, formatBytes, formatDuration } from '../platform/report/format.ts'
import type { Report, Verdict } from '../platform/report/report.ts'
import { type Cell, facts, shown, table } from '../platform/report/table.ts'
import { type BackupDataIssue, byWorst, type Trend, type UnknownReason } from './backup-rules.ts'
import { backupTable } from './backups.ts'
import type { BackupsResult, JudgedService } from './backups-schemas.ts'

/** Whether some service has a finding, and the API answered requests for services at all. */
export function needsNames(checks: readonly JudgedService[]): boolean {
  const hasFinding = checks.some((check) => !check.passes || listWarnings(check).length > 0)
  return hasFinding && checks.some(({ failure }) => failure === undefined || ['permission', 'not-found'].includes(failure.kind))
}

type Services = readonly JudgedService[]

/** The name of a service, with the id where two services have that name. The id where the name is unknown. */
function labelOf({ serviceId, name }: JudgedService, services: Services): string {
  if (name === undefined) return serviceId
  return services.filter((other) => other.name === name).length > 1 ? `${name} (${serviceId})` : name
}

/** Number of services or warnings that the verdict names. */
const maxNamed = 10

export function judgeChecks({ services }: BackupsResult): Verdict {
  const failed = services.filter(({ passes }) => !passes).toSorted(byWorst)
  const warnings = services.flatMap((check) => listWarnings(check).map((line): Line => say`Service ${labelOf(check, services)}: ${line}`))
  if (failed.length > 0) {
    const isSingle = services.length === 1
    // The first line has all there is to say about a service that is stale or has no backup.
    const others = isSingle ? [] : failed.filter((check) => check.outcome === 'failed' || check.outcome === 'unknown')
    const problems = failed.filter((check) => !isSingle || !isFreshEnough(check)).flatMap((check) => problemLines(check, services))
    return {
      status: 'fail',
      cause: causeOf(failed, services),
      sentence: isSingle ? failed.flatMap((check) => explainFailure([check], services)) : nameFailures(failed, services),
      reasons: [
        ...limitLines(
          groupByError(others).map((alike) => explainFailure(alike, services)),
          'reason',
        ),
        ...limitLines(problems, 'problem'),
        ...limitLines(warnings, 'warning'),
      ],
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
  const [has, fails] = failed.length === 1 ? ['has', 'fails'] : ['have', 'fail']
  const verb = isUnknown ? 'could not be checked' : failed.some(isFreshEnough) ? `${fails} the check` : `${has} no fresh backup`
  const named = failed.map((check) => say`${labelOf(check, services)} (${shortReason(check)})`)
  return say`${failed.length} of ${services.length} services ${trusted(verb)}: ${joinFirst(maxNamed, named)}.`
}

/** `search is stale, catalog has no backup`. */
const causeOf = (failed: Services, services: Services): Line =>
  joinSome(
    failed.map((check) => say`${labelOf(check, services)} ${trusted(isFreshEnough(check) ? 'fails the check' : causes[check.outcome])}`),
    maxInCause,
  )

const causes: Readonly<Record<JudgedService['outcome'], string>> = {
  stale: 'is stale',
  missing: 'has no backup',
  failed: 'has a failed backup',
  'in-progress': 'has no complete backup',
  unknown: 'could not be checked',
  fresh: 'is fresh',
}

/** Number of services that a title names. */
const maxInCause = 3

/** The backup is fresh enough, so that only problems fail the service. */
const isFreshEnough = ({ outcome, ageMs = 0, limit, firstBackupDueAt }: JudgedService): boolean =>
  outcome === 'fresh' || firstBackupDueAt !== undefined || (outcome === 'in-progress' && ageMs <= limit.hours * hourMs)

const problemLines = (check: JudgedService, services: Services): readonly Line[] =>
  check.problems.map((problem): Line => say`Service ${labelOf(check, services)}: ${untrustedSentence(problem)}.`)

function shortReason(check: JudgedService): Line {
  const { outcome, ageMs = 0, failure, unknownReason, problems } = check
  if (isFreshEnough(check)) return untrustedSentence(problems[0] ?? '')
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
function limitWords({ ageMs = 0, limit }: JudgedService): string {
  const isEqual = formatDuration(ageMs) === formatHours(limit.hours)
  return isEqual && ageMs > limit.hours * hourMs
    ? `${formatDuration(ageMs - limit.hours * hourMs)} over the limit`
    : `limit ${formatHours(limit.hours)}`
}

/** Services with the same error of the API are one group, whatever their ids and requests. */
const groupByError = (checks: Services): readonly Services[] => [
  ...Map.groupBy(checks, (check) =>
    check.failure === undefined ? check : toPlainText(explainError(check.failure)).replaceAll(check.serviceId, ''),
  ).values(),
]

/** Why services with the same error, or a single one, do not pass, in one or more sentences. */
function explainFailure([check, ...alike]: Services, services: Services): Line {
  if (check === undefined) return []
  const { outcome, ageMs, unknownReason, failure } = check
  const service = untrusted(labelOf(check, services))
  if (isFreshEnough(check)) return join(problemLines(check, services), ' ')
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
      return say`The backups of ${trusted(alike.length === 0 ? 'service' : 'services')} ${joinFirst(
        maxNamed,
        [check, ...alike].map((one) => say`${labelOf(one, services)}`),
      )} could not be checked: ${
        failure === undefined ? [trusted(unknownWords[unknownReason ?? 'unknown-status'])] : explainError(failure)
      }.`
    case 'fresh':
      return []
  }
}

const formatHours = (hours: number): string => formatDuration(hours * hourMs)

const noteLastSuccessful = ({ lastSuccessful }: JudgedService): Line =>
  lastSuccessful === undefined
    ? say`There is no successful backup.`
    : say`The last successful backup is ${trusted(formatDuration(lastSuccessful.ageMs))} old.`

const noteInProgress = ({ inProgress }: JudgedService): Line =>
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
function explainError({ message, advice }: NonNullable<JudgedService['failure']>): Line {
  const [first = ''] = message.split('\n')
  return untrustedSentence([first, ...(advice === undefined ? [] : [advice])].map((text) => text.replace(/\.$/, '')).join('. '))
}

/** Whole sentences, for after the name of the service and a colon. */
function listWarnings(check: JudgedService): readonly Line[] {
  const { limit, failure, configurationFailure, dataQualityIssues } = check
  // Nothing else is known of a service whose backups could not be read.
  if (failure !== undefined) return []
  const unreadable =
    configurationFailure === undefined
      ? []
      : [
          say`the backup configuration could not be read${trusted(limit.source === 'input' ? '' : `, so the limit is the default of ${formatHours(limit.hours)}`)}: ${explainError(configurationFailure)}.`,
        ]
  return [...unreadable, ...sizeWarnings(check), ...dataQualityIssues.map((issue): Line => [trusted(issueWords[issue])])]
}

const issueWords: Readonly<Record<BackupDataIssue, string>> = {
  'missing-status': 'the last successful backup has no status. It has an end, so it counts as successful.',
  'unknown-status': 'a newer backup has no known status.',
  'missing-date': 'backups without a date are left out.',
}

function sizeWarnings({ sizeOutcome, size, minSizeRatio = 0 }: JudgedService): readonly Line[] {
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

/** First line of the summary, without a full stop. The verdict has sentences for runs with failures. */
function headlineOf(services: Services): Line {
  const [only, ...others] = services
  if (only !== undefined && others.length === 0) return headlineOfOne(only)
  const fresh = services.filter(({ outcome }) => outcome === 'fresh').length
  if (fresh === services.length) return say`All ${services.length} services have a fresh backup`
  const first = services.filter(({ outcome, passes }) => outcome === 'in-progress' && passes).length
  const due = services.flatMap(({ firstBackupDueAt }) => firstBackupDueAt ?? []).sort()
  const more = [
    ...(first === 0 ? [] : [`${first} ${first === 1 ? 'has its' : 'have their'} first backup in progress`]),
    ...due
      .slice(-1)
      .map((last) => `${due.length} ${due.length === 1 ? 'has its' : 'have their'} first backup due by ${formatMoment(last)}`),
  ]
  return say`${fresh} of ${services.length} services ${trusted(fresh === 1 ? 'has' : 'have')} a fresh backup${trusted(more.map((part) => `, ${part}`).join(''))}`
}

function headlineOfOne(check: JudgedService): Line {
  const service = untrusted(labelOf(check, [check]))
  const age = trusted(`${formatDuration(check.ageMs ?? 0)} old, limit ${formatHours(check.limit.hours)}`)
  if (check.outcome === 'fresh') return say`Service ${service} has a fresh backup: ${age}`
  if (check.outcome === 'in-progress') return say`The first backup of service ${service} is in progress: ${age}`
  return check.firstBackupDueAt === undefined
    ? say`Service ${service} has no fresh backup`
    : say`The first backup of service ${service} is due by ${trusted(formatMoment(check.firstBackupDueAt))}`
}

export function reportChecks(result: BackupsResult): Report {
  const services = result.services.toSorted(byWorst)
  const [only, ...others] = services
  const isSingle = only !== undefined && others.length === 0
  return {
    headline: headlineOf(result.services),
    services: isSingle ? say`service ${labelOf(only, services)}` : say`${services.length} services`,
    blocks: [
      ...nextSteps(services),
      factsOf(result),
      serviceTable(services),
      trendTable(services),
      ...failureBlocks(services),
      ...[
        result.drills.length > 0 && say`Left out, because they belong to restore drills: ${firstOf(maxNamed, result.drills)}.`,
        result.leftOutFiles && say`Files without a result about these services: ${firstOf(maxNamed, result.leftOutFiles)}.`,
      ].flatMap((line): readonly Block[] => (line ? [{ kind: 'paragraph', line }] : [])),
      ...services.map(
        (check): Block => ({ kind: 'details', title: backupsTitle(check, services), blocks: [backupTable(check.backups)], isQuiet: true }),
      ),
    ],
  }
}

/** What to do about each kind of failure. Requests that failed have their own advice. */
const nextSteps = (services: Services): readonly Block[] => [
  ...missingBackupStep(services),
  ...correctionBlocks(services),
  ...restoreStep(services),
]

/** What to do about the worst service without a backup that is fresh enough. */
function missingBackupStep(services: Services): readonly Block[] {
  const worst = services.find((check) => ['stale', 'missing', 'failed', 'in-progress'].includes(check.outcome) && !isFreshEnough(check))
  if (worst === undefined) return []
  return [
    paragraph(
      say`Look at Backups of the service in the ClickHouse Cloud console, and ask its support if no backup is made. To list them here: ${`watchkeeper list-backups --service-id ${worst.serviceId}`}`,
    ),
  ]
}

/** What to do about the first service without the restore that its policies require. */
function restoreStep(services: Services): readonly Block[] {
  const first = services.find(({ needsRestore }) => needsRestore)
  if (first === undefined) return []
  const command = `watchkeeper verify-restore --service-id NEW --original ${first.serviceId} --id BACKUP --reports json=restore.json`
  return [
    paragraph(
      say`To verify a restore of ${labelOf(first, services)}: restore a backup to a new service, run ${command}, and add the file to results of the policy. See ${trusted(restoresPage)}`,
    ),
  ]
}

const restoresPage = 'https://github.com/watchkeeper/watchkeeper/blob/main/docs/backups.md#restores'

/** Services that do not pass, with the age of their last successful backup. The worst comes first. */
export function serviceLines({ services }: BackupsResult): readonly Line[] {
  // The first line has everything about a single service.
  if (services.length === 1) return []
  const lines = services
    .toSorted(byWorst)
    .filter(({ passes }) => !passes)
    .map((check) => {
      const age =
        check.lastSuccessful === undefined ? 'no successful backup' : `last successful backup ${formatAgo(check.lastSuccessful.ageMs)}`
      return say`Service ${labelOf(check, services)}: ${trusted(isRead(check) ? `${check.outcome}, ${age}, limit ${formatHours(check.limit.hours)}` : 'could not be checked')}`
    })
  return listFirst(lines, maxKeyLines, (count) => say`… and ${trusted(plural(count, 'more service'))}`)
}

/** Services that a message names with their ages. */
const maxKeyLines = 5

function correctionBlocks(services: Services): readonly Block[] {
  const commands = services.flatMap(({ correction }) => correction ?? [])
  if (commands.length === 0) return []
  return [
    { kind: 'paragraph', line: say`To make the backup configurations those of the policies:` },
    { kind: 'preformatted', text: commands.join('\n') },
  ]
}

function backupsTitle(check: JudgedService, services: Services): string {
  const { backups, count = 0 } = check
  return `${count > backups.length ? `Newest ${backups.length} of ${count} backups` : 'Backups'} of service ${quote(labelOf(check, services), 80)}`
}

/** Facts name at most this many limits. The table has all of them. */
const maxLimits = 3

function factsOf({ services, worstServiceId, backupId, backupName = backupId, ...result }: BackupsResult): Block {
  const limits = [...new Set(services.filter(isRead).map(({ limit }) => `${formatHours(limit.hours)} (${explainLimit(limit)})`))]
  const limitText = limits.length > maxLimits ? `${limits.length} different limits, see the table` : limits.join('; ')
  const worst = services.find(({ serviceId }) => serviceId === worstServiceId)
  return facts({
    'Worst service': services.length > 1 && worst !== undefined ? labelOf(worst, services) : undefined,
    [decisiveLabels.get(result.backupStatus) ?? 'Last successful backup']: backupName,
    Started: shown(result.backupStartedAt, formatMoment),
    Finished: shown(result.backupFinishedAt, formatMoment),
    Location: result.backupBucketPath,
    [limits.length > 1 ? 'Limits' : 'Limit']: shown(limitText || undefined),
  })
}

/** Label of the backup that decided the outcome, by its status. */
const decisiveLabels: ReadonlyMap<string | undefined, string> = new Map([
  ['error', 'Failed backup'],
  ['in_progress', 'First backup'],
])

/** The report shows limits only for services whose backups were read. */
const isRead = ({ failure }: JudgedService): boolean => failure === undefined

function explainLimit({ hours, source, defaultReason = 'no-configuration', periodHours }: JudgedService['limit']): string {
  if (source === 'input') return 'from max-age-hours'
  if (source === 'default' || periodHours === undefined) return `default for daily backups, because ${defaultWords[defaultReason]}`
  return `from the backup configuration: a period of ${formatHours(periodHours)}, and ${formatHours(hours - periodHours)} to make the backup`
}

const defaultWords = {
  'no-configuration': 'the API has no backup configuration',
  'no-period': 'the backup configuration has no period',
  unreadable: 'the backup configuration could not be read',
} as const

const serviceTable = (services: readonly JudgedService[]): Block =>
  table('Services', services, {
    Service: (check) => labelOf(check, services),
    Outcome: ({ firstBackupDueAt: due, ...check }) => {
      const count = check.outcome === 'fresh' ? check.problems.length : 0
      const more = due === undefined ? (count === 0 ? '' : `, with ${plural(count, 'problem')}`) : `, due by ${formatMoment(due)}`
      return trusted(`${iconOf(check)} ${check.outcome}${more}`)
    },
    '>Last successful backup': ({ lastSuccessful }) => shown(lastSuccessful?.ageMs, formatAgo),
    '>Limit': (check) => shown(isRead(check) ? check.limit.hours : undefined, formatHours),
    '>Backups': ({ count }) => count,
    ...(services.some(({ problems }) => problems.length > 0) && { Problems: ({ problems }: JudgedService) => problems.join('; ') }),
  })

function iconOf(check: JudgedService): string {
  if (!check.passes) return statusLooks.fail.sign
  return statusLooks[listWarnings(check).length > 0 ? 'warn' : 'pass'].sign
}

const trendTable = (services: readonly JudgedService[]): Block =>
  table(
    'Last successful backup compared with earlier backups of its type',
    services.filter(({ size, duration }) => size !== undefined && duration !== undefined),
    {
      Service: (check) => labelOf(check, services),
      Type: ({ type }) => type,
      '>Size': ({ size }) => shown(size?.latest, formatBytes),
      '>Share of median': ({ size }) => shown(size?.ratio, formatRatio),
      Sizes: ({ size }) => sparklineOf(size),
      '>Duration': ({ duration }) => shown(duration?.latest, formatDuration),
      // Two titles of a table are never the same.
      '> Share of median': ({ duration }) => shown(duration?.ratio, formatRatio),
      Durations: ({ duration }) => sparklineOf(duration),
    },
  )

/** A longer sparkline would be hard to read. */
const maxSparklinePoints = 20

const sparklineOf = (trend: Trend | undefined): Cell =>
  shown(trend && trend.values.length > 1 ? trend.values.slice(-maxSparklinePoints) : undefined, (values) => sparkline(values))

/** Errors that the report shows in full. The result document has all of them. */
const maxFailures = 5

const failureBlocks = (services: readonly JudgedService[]): readonly Block[] =>
  groupByError(services.map((check) => ({ ...check, failure: check.failure ?? check.configurationFailure })))
    .flatMap(([first, ...alike]) => {
      const same = alike.length === 0 ? '' : `\nThe same for ${plural(alike.length, 'more service')}.`
      return first?.failure === undefined ? [] : [{ kind: 'message' as const, text: `${first.failure.message}${same}` }]
    })
    .slice(0, maxFailures)
