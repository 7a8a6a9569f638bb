// What a file expects of the backups of a service, and the evidence that they can be restored.
import * as z from 'zod'
import { hasTag, type ListedService } from '../api/services.ts'
import { dayMs, hourMs } from '../core/durations.ts'
import { parseJsonOrUndefined } from '../core/json.ts'
import { keysOf } from '../core/keys.ts'
import { plural } from '../core/text.ts'
import type { Files } from '../operation/operation.ts'
import { formatAgo, formatDuration } from '../report/format.ts'
import { clockSkewMs } from './backup-rules.ts'
import type { Policy } from './checks-file.ts'

/** The options of clickhousectl by their names in a policy. */
const options = {
  periodHours: '--backup-period-hours',
  retentionHours: '--backup-retention-period-hours',
  startTime: '--backup-start-time',
} as const

export interface ConfiguredService {
  readonly service: Pick<ListedService, 'id' | 'name' | 'tags'>
  readonly organizationId: string
  /** A value is undefined where it is not configured, or could not be read. */
  readonly configured: Readonly<Record<keyof typeof options, number | string | undefined>>
  /** Age of the newest successful backup in a bucket of one's own. */
  readonly ownBucketAgeMs: number | undefined
  readonly limitHours: number
}

interface Differences {
  /** Without full stops. */
  readonly problems: readonly string[]
  /** The command that corrects the configuration. */
  readonly correction: string | undefined
}

/** All policies about the service must hold, and a service without a policy is a problem. */
export function comparePolicies(policies: readonly Policy[], { service, configured, ...rest }: ConfiguredService): Differences {
  const { organizationId, ownBucketAgeMs, limitHours } = rest
  const isNamed = (one: string): boolean => one === service.name || one.toLowerCase() === service.id
  const own = policies.filter(({ services, tag }) => (services?.some(isNamed) ?? true) && (tag === undefined || hasTag(service, tag)))
  if (own.length === 0) return { problems: policies.length === 0 ? [] : ['no policy of the file is about it'], correction: undefined }
  const changes = own.flatMap((policy) =>
    keysOf<keyof typeof options>(options).flatMap((name) => {
      const [is, expected] = [configured[name], policy[name]]
      return expected === undefined || expected === is
        ? []
        : [{ problem: `${name} is ${is ?? 'unknown'}, and the policy has ${expected}`, option: `${options[name]} ${expected}` }]
    }),
  )
  const isCopied = ownBucketAgeMs !== undefined && ownBucketAgeMs <= limitHours * hourMs
  const newest = ownBucketAgeMs === undefined ? 'there is none' : `the newest started ${formatAgo(ownBucketAgeMs)}`
  const missing = `the policy has a backup in a bucket of your own within ${formatDuration(limitHours * hourMs)}, and ${newest}`
  const command = [
    'clickhousectl cloud service backup-config update',
    service.id,
    ...changes.map(({ option }) => option),
    `--org-id ${organizationId}`,
  ]
  return {
    problems: [...changes.map(({ problem }) => problem), ...(own.some(({ ownBucket }) => ownBucket) && !isCopied ? [missing] : [])],
    correction: changes.length === 0 ? undefined : command.join(' '),
  }
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
  if (atMs === undefined)
    return `files have no verified restore of it${restores.size === 0 ? '' : `, only of ${plural(restores.size, 'other service')}`}`
  return nowMs - atMs > days * dayMs
    ? `its last verified restore was ${formatAgo(nowMs - atMs)}, and require-restore-days is ${days}`
    : undefined
}
