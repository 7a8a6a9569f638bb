// Owns how the outcome of a backup check is put into words.
import { data, type Line, ours, say, sentence } from '../../report/line.ts'
import type { ServiceCheck } from './check-result.ts'
import { formatBytes, formatHours, formatSpan } from './words.ts'

const hourMs = 3_600_000

/** What is so about the service, as half a sentence that ends where its reason begins. */
export function stateWords({ serviceId, outcome, passes, ageMs = 0, limit }: ServiceCheck): Line {
  const service = data(serviceId)
  const age = ours(`started ${formatSpan(ageMs)} ago, limit ${formatHours(limit.hours)}`)
  switch (outcome) {
    case 'fresh':
      return say`Service ${service} has a fresh backup (${age})`
    case 'stale':
      return say`Service ${service} has no fresh backup`
    case 'never':
      return say`Service ${service} has no backup at all`
    case 'failing':
      return say`The last backup of service ${service} failed`
    case 'running':
      return passes
        ? say`The first backup of service ${service} is in progress (${age})`
        : say`The first backup of service ${service} is not done yet`
    case 'unknown':
      return say`The backups of service ${service} could not be checked`
  }
}

/** Why a service does not pass. */
export function reasonOf(check: ServiceCheck): Line {
  const { outcome, ageMs } = check
  switch (outcome) {
    case 'stale':
      return say`the newest one that is done was ${ours(agedWords(check))}${progressWords(check)}`
    case 'never':
      return say`its list of backups is empty`
    case 'failing':
      return say`${ours(ageMs === undefined ? 'nobody knows when' : `started ${formatSpan(ageMs)} ago`)}${lastDoneWords(check)}${progressWords(check)}`
    case 'running':
      return say`it was ${ours(agedWords(check))}, and there is none before it`
    case 'unknown':
      return unknownWords(check)
    case 'fresh':
      return []
  }
}

/** The excess by itself, because 26.004 hours look like 26. */
function agedWords({ ageMs = 0, limit }: ServiceCheck): string {
  return `started ${formatSpan(ageMs)} ago, ${formatSpan(ageMs - limit.hours * hourMs)} over the limit of ${formatHours(limit.hours)}`
}

function lastDoneWords({ newestDone }: ServiceCheck): Line {
  if (newestDone === undefined) return say`, and there is none that is done`
  return say`; the newest one that is done was started ${ours(formatSpan(newestDone.ageMs))} ago`
}

const progressWords = ({ inProgress }: ServiceCheck): Line =>
  inProgress === undefined ? [] : say`; another is in progress, started ${ours(formatSpan(inProgress.ageMs))} ago`

const riddles = {
  ahead: 'a backup is dated in the future, so no age can be trusted: is the clock of this machine right?',
  undated: 'backups are listed without a date, so nobody knows how old they are',
  unclear: 'no backup has a status that says whether it is done',
} as const

function unknownWords({ riddle, failure }: ServiceCheck): Line {
  if (failure !== undefined) return failureWords(failure)
  return [ours(riddles[riddle ?? 'unclear'])]
}

/** What happened and what to do about it; which request it was stands further down. */
function failureWords({ message, advice }: NonNullable<ServiceCheck['failure']>): Line {
  const [first = ''] = message.split('\n')
  return [sentence([first.replace(/\.$/, ''), ...(advice === undefined ? [] : [advice.replace(/\.$/, '')])].join('. '))]
}

/** What does not fail a service, and should be known all the same. */
export function warningsOf(check: ServiceCheck, minSizeRatio: number | undefined): readonly Line[] {
  const { limit, failure, configurationFailure, doubts } = check
  // Nothing else is known of a service whose backups could not be read.
  if (failure !== undefined) return []
  const hours = ours(formatHours(limit.hours))
  const unreadable =
    configurationFailure === undefined
      ? []
      : [say`its backup configuration could not be read, so the limit is ${hours}: ${failureWords(configurationFailure)}`]
  return [...unreadable, ...sizeWarnings(check, minSizeRatio), ...doubts.map((doubt): Line => [ours(doubtWords[doubt])])]
}

const doubtWords = {
  unproven: 'the API does not say that the newest backup is done; it has an end, and counts as done',
  unclear: 'there is a newer backup without a status that means anything',
  undated: 'backups without a date are left out',
} as const

function sizeWarnings({ sizeVerdict, size }: ServiceCheck, minSizeRatio = 0): readonly Line[] {
  switch (sizeVerdict) {
    case 'small': {
      const { latest = 0, usual = 0 } = size ?? {}
      const share = `${formatShare(latest / usual)} of the usual ${formatBytes(usual)}`
      return [[ours(`the newest backup that is done has ${formatBytes(latest)}, ${share}: less than ${formatShare(minSizeRatio)}`)]]
    }
    case 'size-unknown':
      return [say`the size of the newest backup that is done is not told, so that it was not compared`]
    case 'earlier-unknown':
      return [say`no earlier backup tells its size, so that it was not compared`]
    default:
      return []
  }
}

/** `98.3 %`, rounded down: what is not enough must not look like it. What is less than the last digit keeps a sign of being there. */
export function formatShare(ratio: number): string {
  const percent = Math.floor(ratio * 1000 + 1e-9) / 10
  return percent === 0 && ratio > 0 ? 'below 0.1 %' : `${percent} %`
}

/** Where the limit comes from. */
export function limitWords({ hours, source, whyStandard, periodHours }: ServiceCheck['limit']): string {
  if (source === 'given') return 'as max-age-hours says'
  if (source === 'configuration' && periodHours !== undefined)
    return `a backup every ${formatHours(periodHours)} by the backup configuration, and ${formatHours(hours - periodHours)} to make it`
  return standardReasons[whyStandard ?? 'no-configuration']
}

const standardReasons = {
  'no-configuration': 'the usual one for a backup a day: there is no backup configuration to derive it from',
  'no-period': 'the usual one for a backup a day: the backup configuration names no period',
  unreadable: 'the usual one for a backup a day: the backup configuration could not be read',
} as const
