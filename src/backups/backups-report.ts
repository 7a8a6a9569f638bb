import { formatMoment } from '../core/dates.ts'
import { type Line, say, trusted, untrusted } from '../core/line.ts'
import { plural, quote, sparkline } from '../core/text.ts'
import type { Report } from '../operation/operation.ts'
import { alignRight, type Block, factOf } from '../report/blocks.ts'
import { formatAgo, formatBytes, formatDuration } from '../report/format.ts'
import { byWorst, type Trend } from './backup-rules.ts'
import { backupTable, orDash } from './backups.ts'
import type { BackupsResult } from './backups-schemas.ts'
import { formatHours, formatRatio, groupByError, headlineOf, labelOf, listWarnings, type Services } from './backups-verdict.ts'
import type { ServiceCheck } from './service-check.ts'

export function reportChecks(result: BackupsResult): Report {
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

/** With more limits than this, only the table shows them. */
const maxLimits = 3

function factsOf({ services, worstServiceId, backupId, backupName = backupId, ...result }: BackupsResult) {
  const { backupStatus, backupStartedAt, backupFinishedAt, backupBucketPath } = result
  const time = (iso: string | undefined): Line | undefined => (iso === undefined ? undefined : [trusted(formatMoment(iso))])
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
  columns: [{ title: 'Service' }, { title: 'Outcome' }, alignRight('Last successful backup'), alignRight('Limit'), alignRight('Backups')],
  rows: services.map((check) => {
    const { outcome, limit, count } = check
    return [
      [untrusted(labelOf(check, services))],
      [trusted(`${iconOf(check, minSizeRatio)} ${outcome}`)],
      orDash(check.lastSuccessful, (backup) => formatAgo(backup.ageMs)),
      orDash(isRead(check) ? limit.hours : undefined, formatHours),
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
  groupByError(services.map((check) => ({ ...check, failure: check.failure ?? check.configurationFailure })))
    .flatMap(([first, ...alike]) => {
      const same = alike.length === 0 ? '' : `\nThe same for ${plural(alike.length, 'more service')}.`
      return first?.failure === undefined ? [] : [{ kind: 'message' as const, text: `${first.failure.message}${same}` }]
    })
    .slice(0, maxFailures)
