import { formatMoment } from '../platform/core/dates.ts'
import { hourMs } from '../platform/core/durations.ts'
import { joinAtMost, joinSome, type Line, say, toPlainText, trusted, untrustedSentence } from '../platform/core/line.ts'
import { namesAtMost, plural, quote, sparkline } from '../platform/core/text.ts'
import { fold, type Part, statusStyles } from '../platform/report/blocks.ts'
import { formatAgo, formatBytes, formatDuration, formatRatio } from '../platform/report/format.ts'
import { type Report, type Verdict, verdictOf } from '../platform/report/report.ts'
import { facts, shown, table } from '../platform/report/table.ts'
import { type BackupDataIssue, byWorst, type Trend, type UnknownReason } from './backup-rules.ts'
import { backupTable } from './backups.ts'
import type { BackupsResult, JudgedService } from './service-check.ts'

/** Whether some service has a finding, and the API answered requests for services at all. */
export function needsNames(checks: readonly JudgedService[]): boolean {
  const hasFinding = checks.some((check) => !check.passes || listWarnings(check).length > 0)
  return hasFinding && checks.some(({ failure }) => failure === undefined || ['permission', 'not-found'].includes(failure.kind))
}

/** The name of a service, with the id where two services have that name. The id where the name is unknown. */
interface LabeledCheck extends JudgedService {
  readonly label: string
}

const labelChecks = (checks: readonly JudgedService[]): readonly LabeledCheck[] =>
  checks.map((check) => {
    const { serviceId, name = serviceId } = check
    const isUnique = checks.every((other) => other === check || other.name !== name)
    return { ...check, label: isUnique ? name : `${name} (${serviceId})` }
  })

/** The first names, as untrusted text. */
const firstLabels = (checks: readonly LabeledCheck[]) =>
  joinAtMost(
    maxServiceNames,
    checks.map(({ label }) => label),
  )

const maxServiceNames = 10

export function judgeChecks(result: BackupsResult): Verdict {
  const services = labelChecks(result.services)
  const failed = services.filter(({ passes }) => !passes).toSorted(byWorst)
  const failures = groupedLines(failed, (check) => [
    ...(isFreshEnough(check) ? [] : [describeState(check)]),
    ...check.problems.map((problem) => say`${untrustedSentence(problem)}.`),
  ])
  if (services.length > 1 && failed.length > 0) failures.unshift(countFailed(failed, services.length))
  const cause = joinSome(
    failed.map((check) => say`${check.label} ${trusted(isFreshEnough(check) ? 'fails the check' : outcomeCauses[check.outcome])}`),
    3,
  )
  return verdictOf([
    ...failures.map((line) => ({ level: 'fail' as const, line, cause })),
    ...groupedLines(services, listWarnings).map((line) => ({ level: 'warn' as const, line })),
  ])
}

/** A sentence about several services is one line with their names. */
const groupedLines = (checks: readonly LabeledCheck[], toLines: (check: LabeledCheck) => readonly Line[]) =>
  groupAlike(checks.flatMap((check) => toLines(check).map((line) => ({ ...check, line })))).map(
    (same) => say`${trusted(same.length === 1 ? 'Service' : 'Services')} ${firstLabels(same)}: ${same[0]?.line ?? []}`,
  )

/** Errors differ in ids. */
const groupAlike = <T extends { readonly line: Line; readonly serviceId: string }>(all: readonly T[]): readonly T[][] => [
  ...Map.groupBy(all, ({ line, serviceId }) => toPlainText(line).replaceAll(serviceId, '')).values(),
]

/** `2 of 3 services have no fresh backup: search, catalog.` */
function countFailed(failed: readonly LabeledCheck[], count: number) {
  const [has, fails] = failed.length === 1 ? ['has', 'fails'] : ['have', 'fail']
  const isUnknown = failed.every(({ outcome }) => outcome === 'unknown')
  const verb = isUnknown ? 'could not be checked' : failed.some(isFreshEnough) ? `${fails} the check` : `${has} no fresh backup`
  return say`${failed.length} of ${count} services ${trusted(verb)}: ${firstLabels(failed)}.`
}

const outcomeCauses: Readonly<Record<JudgedService['outcome'], string>> = {
  stale: 'is stale',
  missing: 'has no backup',
  failed: 'has a failed backup',
  'in-progress': 'has no complete backup',
  unknown: 'could not be checked',
  fresh: 'is fresh',
}

const isFreshEnough = ({ outcome, ageMs = 0, limit, firstBackupDueAt }: JudgedService) =>
  outcome === 'fresh' || firstBackupDueAt !== undefined || (outcome === 'in-progress' && ageMs <= limit.hours * hourMs)

/** `2 d 2 h old, limit 1 d 2 h`, or by how much the age exceeds a limit that looks equal to it. */
function ageWords({ ageMs = 0, limit }: JudgedService) {
  const excessMs = ageMs - limit.hours * hourMs
  const isEqual = formatDuration(ageMs) === formatHours(limit.hours) && excessMs > 0
  return `${formatDuration(ageMs)} old, ${isEqual ? `${formatDuration(excessMs)} over the limit` : `limit ${formatHours(limit.hours)}`}`
}

function describeState(check: JudgedService) {
  const { outcome, ageMs, unknownReason = 'unknown-status', failure, lastSuccessful, inProgress, firstBackupDueAt } = check
  const another = inProgress === undefined ? '' : ` Another backup has been in progress for ${formatDuration(inProgress.ageMs)}.`
  switch (outcome) {
    case 'fresh':
    case 'stale':
      return [trusted(`the last successful backup is ${ageWords(check)}.${outcome === 'stale' ? another : ''}`)]
    case 'missing':
      return [trusted(firstBackupDueAt === undefined ? 'no backup.' : `the first backup is due by ${formatMoment(firstBackupDueAt)}.`)]
    case 'failed': {
      const last = lastSuccessful && `The last successful backup is ${formatDuration(lastSuccessful.ageMs)} old.`
      const when = ageMs === undefined ? '' : `. It started ${formatAgo(ageMs)}`
      return [trusted(`the last backup failed${when}. ${last ?? 'There is no successful backup.'}${another}`)]
    }
    case 'in-progress':
      return [trusted(`the first backup is in progress, ${ageWords(check)}.`)]
    case 'unknown':
      return failure === undefined ? [trusted(unknownWords[unknownReason])] : say`not checked. ${explainError(failure)}.`
  }
}

const formatHours = (hours: number) => formatDuration(hours * hourMs)

const unknownWords: Readonly<Record<UnknownReason, string>> = {
  'future-date': 'a backup is dated in the future, so ages are not reliable. Check the clock of this machine.',
  'missing-date': 'the listed backups have no date, so their age is unknown.',
  'unknown-status': 'no backup has a known status.',
}

/** The first line of the message, and the advice, without the last full stop. The report has the whole message. */
function explainError({ message, advice }: NonNullable<JudgedService['failure']>) {
  const [first = ''] = message.split('\n')
  return untrustedSentence([first, ...(advice === undefined ? [] : [advice])].map((text) => text.replace(/\.$/, '')).join('. '))
}

function listWarnings(check: JudgedService) {
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

function sizeWarnings({ sizeOutcome, size, minSizeRatio = 0 }: JudgedService) {
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

function backupHeadline(services: readonly LabeledCheck[]) {
  const [only] = services
  if (services.length === 1 && only?.outcome === 'fresh') return say`Service ${only.label} has a fresh backup, ${trusted(ageWords(only))}.`
  const [line] = groupedLines(services, (check) => [describeState(check)])
  if (services.length === 1 && line !== undefined) return line
  const fresh = services.filter(({ outcome }) => outcome === 'fresh').length
  const first = services.filter((check) => check.outcome !== 'fresh' && isFreshEnough(check)).length
  const firstWords = first === 0 ? '' : `, ${first} ${first === 1 ? 'has its' : 'have their'} first backup in progress or due`
  return say`${fresh} of ${services.length} services ${trusted(`${fresh === 1 ? 'has' : 'have'} a fresh backup${firstWords}.`)}`
}

export function reportChecks(result: BackupsResult): Report {
  const services = labelChecks(result.services).toSorted(byWorst)
  const [only] = services
  const commands = services.flatMap(({ correction }) => correction ?? [])
  const worst = services.find((check) => check.outcome !== 'unknown' && !isFreshEnough(check))
  const first = services.find(({ needsRestore }) => needsRestore)
  const organization = ` --organization-id ${result.organizationId}`
  const command = `watchkeeper verify-restore${organization} --service-id NEW --original ${first?.serviceId} --id BACKUP --reports json=restore.json`
  return {
    headline: backupHeadline(services),
    services: only !== undefined && services.length === 1 ? say`service ${only.label}` : say`${services.length} services`,
    blocks: [
      worst &&
        say`Look at Backups of the service in the ClickHouse Cloud console, and ask its support if no backup is made. To list them here: ${`watchkeeper list-backups${organization} --service-id ${worst.serviceId}`}`,
      commands.length > 0 && [
        say`To make the backup configurations those of the policies:`,
        { kind: 'preformatted', text: commands.join('\n') },
      ],
      first &&
        say`To verify a restore of ${first.label}: restore a backup to a new service, run ${command}, and add the file to results of the policy. See ${trusted('https://github.com/watchkeeper/watchkeeper/blob/main/docs/backups.md#restores')}`,
      backupFacts(result, services),
      serviceTable(services),
      trendTable(services),
      failureBlocks(services),
      result.drills.length > 0 && say`Left out, because they belong to restore drills: ${namesAtMost(maxServiceNames, result.drills)}.`,
      result.leftOutFiles && say`Files without a result about these services: ${namesAtMost(maxServiceNames, result.leftOutFiles)}.`,
      services.map(
        ({ backups, count = 0, label }): Part => ({
          ...fold(
            `${count > backups.length ? `Newest ${backups.length} of ${count} backups` : 'Backups'} of service ${quote(label)}`,
            backupTable(backups),
          ),
          isQuiet: true,
        }),
      ),
    ],
  }
}

/** Facts name at most this many limits. The table has all of them. */
const maxLimits = 3

function backupFacts(
  { worstServiceId, backupId, backupName = backupId, ...result }: BackupsResult,
  services: readonly LabeledCheck[],
): Part {
  const limits = [...new Set(services.filter(isRead).map(({ limit }) => `${formatHours(limit.hours)} (${explainLimit(limit)})`))]
  const limitText = limits.length > maxLimits ? `${limits.length} different limits, see the table` : limits.join('; ')
  const worst = services.find(({ serviceId }) => serviceId === worstServiceId)
  return facts({
    'Worst service': services.length > 1 ? worst?.label : undefined,
    [decisiveLabels.get(result.backupStatus) ?? 'Last successful backup']: backupName,
    Started: shown(result.backupStartedAt, formatMoment),
    Finished: shown(result.backupFinishedAt, formatMoment),
    Location: result.backupBucketPath,
    [limits.length > 1 ? 'Limits' : 'Limit']: shown(limitText || undefined),
  })
}

const decisiveLabels: ReadonlyMap<string | undefined, string> = new Map([
  ['error', 'Failed backup'],
  ['in_progress', 'First backup'],
])

/** The report shows limits only for services whose backups were read. */
const isRead = ({ failure }: JudgedService) => failure === undefined

function explainLimit({ hours, source, defaultReason = 'no-configuration', periodHours }: JudgedService['limit']) {
  if (source === 'input') return 'from max-age-hours'
  if (source === 'default' || periodHours === undefined) return `default for daily backups, because ${defaultWords[defaultReason]}`
  return `from the backup configuration: a period of ${formatHours(periodHours)}, and ${formatHours(hours - periodHours)} to make the backup`
}

const defaultWords = {
  'no-configuration': 'the API has no backup configuration',
  'no-period': 'the backup configuration has no period',
  unreadable: 'the backup configuration could not be read',
} as const

const serviceTable = (services: readonly LabeledCheck[]) =>
  table('Services', services, {
    Service: ({ label }) => label,
    Outcome: ({ firstBackupDueAt: due, ...check }) => {
      const count = check.outcome === 'fresh' ? check.problems.length : 0
      const more = due === undefined ? (count === 0 ? '' : `, with ${plural(count, 'problem')}`) : `, due by ${formatMoment(due)}`
      return trusted(`${iconOf(check)} ${check.outcome}${more}`)
    },
    '>Last successful backup': ({ lastSuccessful }) => shown(lastSuccessful?.ageMs, formatAgo),
    '>Limit': (check) => shown(isRead(check) ? check.limit.hours : undefined, formatHours),
    '>Backups': ({ count }) => count,
    Problems: services.some(({ problems }) => problems.length > 0) && (({ problems }) => problems.join('; ')),
  })

function iconOf(check: JudgedService) {
  if (!check.passes) return statusStyles.fail.sign
  return statusStyles[listWarnings(check).length > 0 ? 'warn' : 'pass'].sign
}

const trendTable = (services: readonly LabeledCheck[]) =>
  table(
    'Last successful backup compared with earlier backups of its type',
    services.filter(({ size, duration }) => size !== undefined && duration !== undefined),
    {
      Service: ({ label }) => label,
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

const maxSparklinePoints = 20

const sparklineOf = (trend: Trend | undefined) =>
  shown(trend && trend.values.length > 1 ? trend.values.slice(-maxSparklinePoints) : undefined, (values) => sparkline(values))

const maxFailures = 5

const failureBlocks = (services: readonly LabeledCheck[]): Part => {
  const failed = services.flatMap(({ failure, configurationFailure = failure, ...check }) =>
    configurationFailure === undefined
      ? []
      : [{ ...check, failure: failure ?? configurationFailure, line: explainError(failure ?? configurationFailure) }],
  )
  return groupAlike(failed)
    .slice(0, maxFailures)
    .map(([first, ...others]) => {
      const same = others.length === 0 ? '' : `\nThe same for ${plural(others.length, 'more service')}.`
      return first && { kind: 'message', text: `${first.failure.message}${same}` }
    })
}
