import * as z from 'zod'
import { hasTag, type ListedService } from '../platform/api/services.ts'
import { dayMs, hourMs } from '../platform/core/durations.ts'
import { parseJsonOrUndefined } from '../platform/core/json.ts'
import { isMapping, keysOf } from '../platform/core/keys.ts'
import { plural, quote } from '../platform/core/text.ts'
import type { Files } from '../platform/operation/files.ts'
import { formatAgo, formatDuration } from '../platform/report/format.ts'
import { clockSkewMs, computeTypicalDurationMs, defaultLimitHours, deriveLimitHours } from './backup-rules.ts'
import { type KnownBackup, toKnownBackup } from './backups.ts'
import type { Policy } from './checks-file.ts'
import { effectivePeriodHours, isSuccessful, type ServiceBackups } from './service-check.ts'

const options = {
  periodHours: '--backup-period-hours',
  retentionHours: '--backup-retention-period-hours',
  startTime: '--backup-start-time',
} as const

interface EvidenceScope {
  readonly organizationId: string
  readonly nowMs: number
}

interface PolicyFacts extends EvidenceScope {
  readonly service: ListedService
  readonly maxAgeHours: number | undefined
  readonly isNew: boolean
}

const isNameOf =
  ({ id, name }: ListedService) =>
  (given: string): boolean =>
    given === name || given.toLowerCase() === id

/** A service of a policy that does not exist: a misspelled name would leave the policy without a service. */
export const findUnknownService = (policies: readonly Policy[], listed: readonly ListedService[]): string | undefined =>
  policies.flatMap(({ services = [] }) => services).find((given) => !listed.some((one) => isNameOf(one)(given)))

export const policiesOf = (policies: readonly Policy[], service: PolicyFacts['service']): readonly Policy[] =>
  policies.filter(({ services, tag }) => (services?.some(isNameOf(service)) ?? true) && (tag === undefined || hasTag(service, tag)))

/** Whether the policies are compared with the backup configuration. */
export const needConfiguration = (policies: readonly Policy[]): boolean =>
  policies.some((policy) => keysOf<keyof typeof options>(options).some((name) => policy[name] !== undefined))

/** All policies about the service must hold. */
export function comparePolicies(own: readonly Policy[], read: ServiceBackups, facts: PolicyFacts) {
  const { service, maxAgeHours, organizationId, nowMs, isNew } = facts
  const { configuration } = read
  const value = configuration !== undefined && 'value' in configuration ? configuration.value : {}
  const configured = {
    periodHours: effectivePeriodHours(value),
    retentionHours: value.backupRetentionPeriodInHours,
    startTime: value.backupStartTime || undefined,
  }
  const changes = new Map(
    own.flatMap((policy) =>
      keysOf<keyof typeof options>(options).flatMap((name) => {
        const [is, expected] = [configured[name], policy[name]]
        if (expected === undefined || expected === is) return []
        return [[`${name} is ${is ?? 'unknown'}, and the policy has ${expected}`, `${options[name]} ${expected}`] as const]
      }),
    ),
  )
  const copies = copiesIn(read)
  const copyMs = Math.max(...copies.flatMap(({ startedMs }) => startedMs ?? []))
  // The service makes these backups every day, whatever the period of its others is.
  const typicalHours = computeTypicalDurationMs(copies) / hourMs
  const limits = own.flatMap(({ ownBucket, periodHours }) => {
    const ofPeriod = periodHours === undefined ? undefined : deriveLimitHours(periodHours, typicalHours)
    return ownBucket ? (maxAgeHours ?? ofPeriod ?? defaultLimitHours) : []
  })
  const limitHours = Math.min(...limits)
  const newest = copyMs === Number.NEGATIVE_INFINITY ? 'there is none' : `the newest started ${formatAgo(nowMs - copyMs)}`
  const missing = `the policy has a backup in a bucket of your own within ${formatDuration(limitHours * hourMs)}, and ${newest}`
  const command = `clickhousectl cloud service backup-config update ${[service.id, ...changes.values()].join(' ')} --org-id ${organizationId}`
  return {
    problems: [...changes.keys(), ...(isNew || nowMs - copyMs <= limitHours * hourMs ? [] : [missing])],
    correction: changes.size === 0 ? undefined : command,
  }
}

function copiesIn({ backups }: ServiceBackups): readonly KnownBackup[] {
  const copies = 'value' in backups ? backups.value.filter(({ bucket }) => bucket?.bucketPath || bucket?.containerName) : []
  return copies.map(toKnownBackup).filter(isSuccessful)
}

const evidence = z.looseObject({
  status: z.enum(['pass', 'warn', 'fail']),
  organizationId: z.string(),
  restoreStatus: z.string(),
  originalId: z.string(),
  checkedAt: z.iso.datetime(),
  backupStartedAt: z.iso.datetime(),
})

interface Evidence extends z.output<typeof evidence> {
  readonly path: string
  readonly atMs: number
}

interface Restores {
  /** Newest first. At the same time, a failure counts as the later one. */
  readonly results: readonly Evidence[]
  /** Files that may have a newer result, and why they could not be used. */
  readonly unusable: string[]
  /** Files that say nothing about these services, with the reason. */
  readonly leftOut: string[]
}

/** What the files of each policy say about restores. Throws an InputError when a file is not a text. */
export async function readAllRestores(files: Files, policies: readonly Policy[], organization: EvidenceScope) {
  const read = new Map<Policy, Restores>()
  for (const policy of policies) if (policy.results !== undefined) read.set(policy, await readRestores(files, policy.results, organization))
  return read
}

async function readRestores(files: Files, globs: readonly string[], organization: EvidenceScope): Promise<Restores> {
  const results: Evidence[] = []
  const unusable: string[] = []
  const leftOut: string[] = []
  for (const path of (await files.find(globs, 'checks')).paths) {
    const read = readEvidence(await files.read(path, 'checks'), organization)
    if (read === undefined) continue
    if ('result' in read) results.push({ ...read.result, path, atMs: Date.parse(read.result.checkedAt) })
    else if ('unusable' in read) unusable.push(`${quote(path)} ${read.unusable}`)
    else leftOut.push(`${quote(path)} (${read.leftOut})`)
  }
  return { results: results.toSorted((a, b) => b.atMs - a.atMs || Number(isVerified(a)) - Number(isVerified(b))), unusable, leftOut }
}

/** Undefined for the result of another operation. */
function readEvidence(text: string, { organizationId, nowMs }: EvidenceScope) {
  const json = parseJsonOrUndefined(text)
  const [operation, status] = isMapping(json) ? [json.operation, json.status] : []
  if (operation !== 'verify-restore') return typeof operation === 'string' ? undefined : { unusable: 'is not a result of verify-restore' }
  if (status === 'error') return { leftOut: 'the run did not complete' }
  const { data: result } = evidence.safeParse(json)
  if (result === undefined) return { unusable: 'is not a result of verify-restore' }
  if (result.organizationId !== organizationId) return { leftOut: 'another organization' }
  return Date.parse(result.checkedAt) > nowMs + clockSkewMs ? { unusable: 'is dated in the future' } : { result }
}

/** A run can fail although the data is there, such as one that took too long. */
const isVerified = ({ status, restoreStatus }: Evidence) => status !== 'fail' && restoreStatus === 'verified'

/** Why the restores are not enough for the policies, without full stops, and when the last one was verified. */
export function judgeAllRestores(own: readonly Policy[], read: ReadonlyMap<Policy, Restores>, serviceId: string, nowMs: number) {
  const judged = own.flatMap((policy) => {
    const [restores, days] = [read.get(policy), policy.requireRestoreDays]
    return restores === undefined || days === undefined ? [] : [judgeRestores(restores, serviceId, days, nowMs)]
  })
  const times = judged.flatMap(({ restoredMs }) => restoredMs ?? [])
  return {
    restoredMs: times.length === 0 ? undefined : Math.max(...times),
    problems: [...new Set(judged.flatMap(({ problems }) => problems))],
  }
}

function judgeRestores({ results, unusable }: Restores, serviceId: string, days: number, nowMs: number) {
  const own = results.filter(({ originalId }) => originalId === serviceId)
  const verified = own.filter(isVerified).map(({ backupStartedAt }) => Date.parse(backupStartedAt))
  const restoredMs = verified.length === 0 ? undefined : Math.max(...verified)
  const [newest] = own
  const others = new Set(results.map(({ originalId }) => originalId)).size
  const explain = (): readonly string[] => {
    if (newest === undefined)
      return [`results have no verified restore of it${others === 0 ? '' : `, only of ${plural(others, 'other service')}`}`]
    const { restoreStatus, path, atMs } = newest
    const when = `its newest restore, ${formatAgo(nowMs - atMs)},`
    if (restoreStatus !== 'verified') return [`${when} is ${quote(restoreStatus, 40)} (${quote(path)})`]
    if (restoredMs === undefined || !isVerified(newest)) return [`${when} is verified, but the run failed (${quote(path)})`]
    // A restore proves the backup, however late it is checked.
    return nowMs - restoredMs <= days * dayMs
      ? []
      : [`the newest backup with a verified restore started ${formatAgo(nowMs - restoredMs)}, and requireRestoreDays is ${days}`]
  }
  return { restoredMs, problems: [...explain(), ...unusable] }
}
