// Owns how check-backups is shown.
import type { Block, Column } from '../../report/blocks.ts'
import { sparkline } from '../../report/chart.ts'
import { data, type Line, ours } from '../../report/line.ts'
import { outcomes } from '../../rules/freshness.ts'
import type { Report } from '../operation.ts'
import { backupTable } from './backup-table.ts'
import type { CheckResult, ServiceCheck } from './check-result.ts'
import { worstFirst } from './check-verdict.ts'
import { formatShare, limitWords, stateWords, warningsOf } from './check-words.ts'
import { formatBytes, formatHours, formatMoment, formatSpan } from './words.ts'

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
