// What a file expects of the backups of a service, and the evidence that they can be restored.
import * as z from 'zod'
import { hasTag, type ListedService } from '../api/services.ts'
import { dayMs, hourMs } from '../core/durations.ts'
import { parseJsonOrUndefined } from '../core/json.ts'
import { keysOf } from '../core/keys.ts'
import { plural } from '../core/text.ts'
import type { Files } from '../operation/files.ts'
import { formatAgo, formatDuration } from '../report/format.ts'
import { clockSkewMs } from './backup-rules.ts'
import { toKnownBackup } from './backups.ts'
import type { Policy } from './checks-file.ts'
import { effectivePeriodHours, isSuccessful, type ServiceBackups } from './service-check.ts'

/** The options of clickhousectl by their names in a policy. */
const options = {
  periodHours: '--backup-period-hours',
  retentionHours: '--backup-retention-period-hours',
  startTime: '--backup-start-time',
} as const

interface Facts {
  readonly organizationId: string
  readonly service: Pick<ListedService, 'id' | 'name' | 'tags'>
  readonly limitHours: number
  readonly nowMs: number
}

const isNameOf =
  ({ id, name }: Pick<ListedService, 'id' | 'name'>) =>
  (given: string): boolean =>
    given === name || given.toLowerCase() === id

/** A service of a policy that does not exist: a misspelled name would leave the policy without a service. */
export const findUnknownService = (policies: readonly Policy[], listed: readonly ListedService[]): string | undefined =>
  policies.flatMap(({ services = [] }) => services).find((given) => !listed.some((one) => isNameOf(one)(given)))

/** All policies about the service must hold, and a service without a policy is a problem. */
export function comparePolicies(policies: readonly Policy[], read: ServiceBackups, facts: Facts) {
  const { service, limitHours, organizationId, nowMs } = facts
  const own = policies.filter(
    ({ services, tag }) => (services?.some(isNameOf(service)) ?? true) && (tag === undefined || hasTag(service, tag)),
  )
  if (own.length === 0) return { problems: policies.length === 0 ? [] : ['no policy of the file is about it'], correction: undefined }
  const configured = configuredIn(read)
  const changes = new Map(
    own.flatMap((policy) =>
      keysOf<keyof typeof options>(options).flatMap((name) => {
        const [is, expected] = [configured[name], policy[name]]
        if (expected === undefined || expected === is) return []
        return [[`${name} is ${is ?? 'unknown'}, and the policy has ${expected}`, `${options[name]} ${expected}`] as const]
      }),
    ),
  )
  const copyMs = own.some(({ ownBucket }) => ownBucket) ? newestCopyMs(read) : nowMs
  const newest = copyMs === undefined ? 'there is none' : `the newest started ${formatAgo(nowMs - copyMs)}`
  const missing = `the policy has a backup in a bucket of your own within ${formatDuration(limitHours * hourMs)}, and ${newest}`
  const command = `clickhousectl cloud service backup-config update ${[service.id, ...changes.values()].join(' ')} --org-id ${organizationId}`
  return {
    problems: [...changes.keys(), ...(copyMs !== undefined && nowMs - copyMs <= limitHours * hourMs ? [] : [missing])],
    correction: changes.size === 0 ? undefined : command,
  }
}

/** A value is undefined where it is not configured, or could not be read. */
function configuredIn({ configuration }: ServiceBackups) {
  const value = configuration !== undefined && 'value' in configuration ? configuration.value : {}
  return {
    periodHours: effectivePeriodHours(value),
    retentionHours: value.backupRetentionPeriodInHours,
    startTime: value.backupStartTime || undefined,
  }
}

/** The start of the newest successful backup in a bucket of one's own. */
function newestCopyMs({ backups }: ServiceBackups): number | undefined {
  const copies = 'value' in backups ? backups.value.filter(({ bucket }) => bucket?.bucketPath || bucket?.containerName) : []
  const starts = copies
    .map(toKnownBackup)
    .filter(isSuccessful)
    .flatMap(({ startedMs }) => startedMs ?? [])
  return starts.length === 0 ? undefined : Math.max(...starts)
}

const evidence = z.looseObject({
  operation: z.literal('verify-restore'),
  status: z.enum(['pass', 'warn']),
  restoreStatus: z.literal('verified'),
  originalId: z.string(),
  verifiedAt: z.iso.datetime(),
})

/** The times of the newest verified restores, by the id of the original. Other files are ignored. */
export async function readRestores(files: Files, globs: readonly string[], nowMs: number): Promise<ReadonlyMap<string, number>> {
  const newest = new Map<string, number>()
  for (const path of (await files.find(globs, 'files')).paths) {
    const { data } = evidence.safeParse(parseJsonOrUndefined(await files.read(path, 'files')))
    const atMs = Date.parse(data?.verifiedAt ?? '')
    if (data !== undefined && atMs <= nowMs + clockSkewMs) newest.set(data.originalId, Math.max(atMs, newest.get(data.originalId) ?? 0))
  }
  return newest
}

/** Why the restores are not enough, without a full stop. */
export function judgeRestores(restores: ReadonlyMap<string, number>, serviceId: string, days: number, nowMs: number): string | undefined {
  const atMs = restores.get(serviceId)
  const others = restores.size === 0 ? '' : `, only of ${plural(restores.size, 'other service')}`
  if (atMs === undefined) return `files have no verified restore of it${others}`
  if (nowMs - atMs <= days * dayMs) return undefined
  return `its last verified restore was ${formatAgo(nowMs - atMs)}, and require-restore-days is ${days}`
}
