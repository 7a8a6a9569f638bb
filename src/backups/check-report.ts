import type { Report, Verdict } from '../operation/operation.ts'
import { type Block, type Column, data, type Line, ours, say, sentence } from '../report/blocks.ts'
import { sparkline } from '../report/chart.ts'
import { backupTable, formatBytes, formatHours, formatMoment, formatSpan } from './backups.ts'
import type { CheckResult, ServiceCheck } from './check-result.ts'
import { byWorst, outcomes } from './freshness.ts'

// Owns how the outcome of a backup check is put into words.

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

// Owns what the outcomes of check-backups mean for the gate.

/** Most services that a sentence names. */
const mostNamed = 10

export function judgeCheck({ services, minSizeRatio }: CheckResult): Verdict {
  const failed = worstFirst(services.filter(({ passes }) => !passes))
  const failures = failed.map(
    (check): Line => (services.length === 1 ? reasonOf(check) : say`${lowerFirst(stateWords(check))}: ${reasonOf(check)}`),
  )
  const warnings = services.flatMap((check) =>
    warningsOf(check, minSizeRatio).map((line): Line => (services.length === 1 ? line : say`service ${data(check.serviceId)}: ${line}`)),
  )
  const reasons = [...cut(failures, 'services'), ...cut(warnings, 'warnings')]
  return { status: failed.length > 0 ? 'fail' : warnings.length > 0 ? 'warn' : 'pass', reasons }
}

export const worstFirst = (services: readonly ServiceCheck[]): readonly ServiceCheck[] =>
  services.toSorted((a, b) => byWorst({ ageMs: undefined, ...a }, { ageMs: undefined, ...b }))

const cut = (lines: readonly Line[], noun: string): readonly Line[] =>
  lines.length <= mostNamed ? lines : [...lines.slice(0, mostNamed), say`${lines.length - mostNamed} more ${{ kind: 'ours', text: noun }}`]

/** In the middle of a sentence. */
const lowerFirst = ([first, ...rest]: Line): Line =>
  first === undefined ? [] : [{ ...first, text: first.text.charAt(0).toLowerCase() + first.text.slice(1) }, ...rest]

// Owns how check-backups is shown.

export function reportCheck(result: CheckResult): Report {
  const services = worstFirst(result.services)
  return {
    headline: headlineOf(result),
    blocks: [
      ...factsOf(result),
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

function headlineOf({ services }: CheckResult): Line {
  const [only] = services
  if (services.length === 1 && only !== undefined) return stateWords(only)
  return [ours(`Backups of ${services.length} services (${countsOf(services)})`)]
}

const countsOf = (services: readonly ServiceCheck[]): string =>
  outcomes
    .map((outcome) => ({ outcome, count: services.filter((one) => one.outcome === outcome).length }))
    .filter(({ count }) => count > 0)
    .map(({ outcome, count }) => `${count} ${outcome}`)
    .join(', ')

function factsOf({ services, worstServiceId, backupId, backupName, ...result }: CheckResult): readonly Block[] {
  const { backupStatus, backupStartedAt, backupFinishedAt, backupBucketPath } = result
  const fact = (label: string, value: Line | undefined) => (value === undefined ? [] : [{ label, value }])
  const moment = (iso: string | undefined): Line | undefined => (iso === undefined ? undefined : [ours(formatMoment(iso))])
  const name = backupName ?? backupId
  const limits = [...new Set(services.filter(isRead).map(({ limit }) => `${formatHours(limit.hours)} (${limitWords(limit)})`))]
  const limitsTold = limits.length > mostLimits ? `${limits.length} different ones, see below` : limits.join('; ')
  const facts = [
    ...fact('Worst service', services.length > 1 ? [data(worstServiceId)] : undefined),
    ...fact(labels.get(backupStatus) ?? 'Newest done', name === undefined ? undefined : [data(name)]),
    ...fact('Started', moment(backupStartedAt)),
    ...fact('Finished', moment(backupFinishedAt)),
    ...fact('Stored in', backupBucketPath === undefined ? undefined : [data(backupBucketPath)]),
    ...fact(limits.length > 1 ? 'Limits' : 'Limit', limits.length === 0 ? undefined : [ours(limitsTold)]),
  ]
  return facts.length === 0 ? [] : [{ kind: 'facts', facts }]
}

/** More than these are read by service. */
const mostLimits = 3

/** What decided, by its status; it is done otherwise. */
const labels: ReadonlyMap<string | undefined, string> = new Map([
  ['error', 'Failed backup'],
  ['in_progress', 'First backup'],
])

/** A limit means nothing for backups that nobody has seen. */
const isRead = ({ failure }: ServiceCheck): boolean => failure === undefined

const right = (title: string): Column => ({ title, align: 'right' })

const dash = '–'

function signOf(check: ServiceCheck, minSizeRatio: number | undefined): string {
  if (!check.passes) return '❌'
  return warningsOf(check, minSizeRatio).length > 0 ? '⚠️' : '✅'
}

const serviceTable = (services: readonly ServiceCheck[], minSizeRatio: number | undefined): Block => ({
  kind: 'table',
  title: 'Services',
  columns: [{ title: 'Service' }, { title: 'Outcome' }, right('Age'), right('Limit'), right('Newest done'), right('Backups')],
  rows: services.map((check) => {
    const { serviceId, outcome, ageMs, limit, newestDone, count } = check
    return [
      [data(serviceId)],
      [ours(`${signOf(check, minSizeRatio)} ${outcome}`)],
      [ours(ageMs === undefined ? dash : formatSpan(ageMs))],
      [ours(isRead(check) ? formatHours(limit.hours) : dash)],
      [ours(newestDone === undefined ? dash : `${formatSpan(newestDone.ageMs)} ago`)],
      [ours(count === undefined ? dash : String(count))],
    ]
  }),
})

/** More marks than this are no picture any more. */
const mostMarks = 20

/** Against the median of the earlier ones of the same type. */
const trendTable = (services: readonly ServiceCheck[]): Block => ({
  kind: 'table',
  title: 'Newest backup that is done, against earlier ones of its type',
  columns: [
    { title: 'Service' },
    { title: 'Type' },
    right('Size'),
    right('Of usual'),
    { title: 'Sizes' },
    right('Took'),
    right('Of usual'),
    { title: 'Durations' },
  ],
  rows: services.flatMap(({ serviceId, type, size, duration }) =>
    size === undefined || duration === undefined
      ? []
      : [
          [
            [data(serviceId)],
            [type === undefined ? ours(dash) : data(type)],
            ...trendCells(size, formatBytes),
            ...trendCells(duration, formatSpan),
          ],
        ],
  ),
})

type Trend = NonNullable<ServiceCheck['size']>

const trendCells = ({ latest, ratio, values }: Trend, format: (value: number) => string): readonly Line[] => [
  [ours(latest === undefined ? dash : format(latest))],
  [ours(ratio === undefined ? dash : formatShare(ratio))],
  [ours(values.length < 2 ? dash : sparkline(values.slice(-mostMarks).map((value) => ({ label: '', value }))))],
]

/** More errors than this are not read one by one; the result has them all. */
const mostFailures = 5

const failureBlocks = (services: readonly ServiceCheck[]): readonly Block[] =>
  services
    .flatMap(({ failure, configurationFailure }) => failure ?? configurationFailure ?? [])
    .slice(0, mostFailures)
    .map(({ message }) => ({ kind: 'preformatted', text: message }))
