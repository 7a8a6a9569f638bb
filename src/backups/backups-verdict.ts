// Whether the backups pass, and the sentences about those that do not.
import { hourMs } from '../core/durations.ts'
import { joinFirst, type Line, say, sentence, toPlainText, trusted, untrusted } from '../core/line.ts'
import { listFirst, plural } from '../core/text.ts'
import type { Verdict } from '../operation/operation.ts'
import { formatAgo, formatBytes, formatDuration } from '../report/format.ts'
import { byWorst, type DataQualityIssue, type UnknownReason } from './backup-rules.ts'
import type { BackupsResult } from './backups-schemas.ts'
import type { ServiceCheck } from './service-check.ts'

/** Whether some service has a finding, and the API answered requests for services at all. */
export function needsNames(checks: readonly ServiceCheck[], minSizeRatio: number | undefined): boolean {
  const hasFinding = checks.some((check) => !check.passes || listWarnings(check, minSizeRatio).length > 0)
  return hasFinding && checks.some(({ failure }) => failure === undefined || ['permission', 'not-found'].includes(failure.kind))
}

export type Services = readonly ServiceCheck[]

/** The name of a service, with the id where two services have that name. The id where the name is unknown. */
export function labelOf({ serviceId, name }: ServiceCheck, services: Services): string {
  if (name === undefined) return serviceId
  return services.filter((other) => other.name === name).length > 1 ? `${name} (${serviceId})` : name
}

/** Number of services or warnings that the verdict names. */
const maxNamed = 10

export function judgeChecks({ services, minSizeRatio }: BackupsResult): Verdict {
  const failed = services.filter(({ passes }) => !passes).toSorted(byWorst)
  const warnings = services.flatMap((check) =>
    listWarnings(check, minSizeRatio).map((line): Line => say`Service ${labelOf(check, services)}: ${line}`),
  )
  if (failed.length > 0) {
    const isSingle = services.length === 1
    // The first line has all there is to say about a service that is stale or has no backup.
    const others = isSingle ? [] : failed.filter(({ outcome }) => outcome === 'failed' || outcome === 'unknown')
    return {
      status: 'fail',
      sentence: isSingle ? failed.flatMap((check) => explainFailure([check], services)) : nameFailures(failed, services),
      reasons: [
        ...limitLines(
          groupByError(others).map((alike) => explainFailure(alike, services)),
          'reason',
        ),
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

/** Services with the same error of the API are one group, whatever their ids and requests. */
export const groupByError = (checks: Services): readonly Services[] => [
  ...Map.groupBy(checks, (check) =>
    check.failure === undefined ? check : toPlainText(explainError(check.failure)).replaceAll(check.serviceId, ''),
  ).values(),
]

/** Why services with the same error, or a single one, do not pass, in one or more sentences. */
function explainFailure([check, ...alike]: Services, services: Services): Line {
  if (check === undefined) return []
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
      return say`The backups of ${trusted(alike.length === 0 ? 'service' : 'services')} ${joinFirst(
        [check, ...alike].map((one) => say`${labelOf(one, services)}`),
        maxNamed,
      )} could not be checked: ${
        failure === undefined ? [trusted(unknownWords[unknownReason ?? 'unknown-status'])] : explainError(failure)
      }.`
    case 'fresh':
      return []
  }
}

export const formatHours = (hours: number): string => formatDuration(hours * hourMs)

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
  return sentence([first, ...(advice === undefined ? [] : [advice])].map((text) => text.replace(/\.$/, '')).join('. '))
}

/** Whole sentences, for after the name of the service and a colon. */
export function listWarnings(check: ServiceCheck, minSizeRatio: number | undefined): readonly Line[] {
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
export function formatRatio(ratio: number): string {
  const percent = Math.floor(ratio * 1000 + 1e-9) / 10
  return percent === 0 && ratio > 0 ? 'below 0.1%' : `${percent}%`
}

/** Without a full stop. The verdict has sentences for runs with failures. */
export function headlineOf(services: Services): Line {
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
