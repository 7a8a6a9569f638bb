import * as z from 'zod'
import { isUuid } from '../platform/api/path.ts'
import { findServices, hasTag, isOfDrill, type ListedService, listServices, tagsOf } from '../platform/api/services.ts'
import { type Diagnostic, inputDiagnostic, missingInput } from '../platform/core/diagnostics.ts'
import { dayMs, hourMs } from '../platform/core/durations.ts'
import { InputError, inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { parseJsonOrUndefined } from '../platform/core/json.ts'
import { isMapping, keysOf } from '../platform/core/keys.ts'
import { didYouMean } from '../platform/core/names.ts'
import { plural, quote, quoteLong } from '../platform/core/text.ts'
import type { Files } from '../platform/operation/files.ts'
import { type Context, defineOperation } from '../platform/operation/operation.ts'
import { formatAgo, formatDuration } from '../platform/report/format.ts'
import { byWorst, clockSkewMs, computeTypicalDurationMs, defaultLimitHours, deriveLimitHours } from './backup-rules.ts'
import { toKnownBackup } from './backups.ts'
import { judgeChecks, needsNames, reportChecks } from './backups-report.ts'
import type { Policy } from './checks-file.ts'
import {
  backupsDetails,
  backupsInput,
  backupsOutput,
  checkService,
  configuredOf,
  effectivePeriodHours,
  isSuccessful,
  readServices,
  type ServiceBackups,
} from './service-check.ts'

export const checkBackups = defineOperation({
  title: 'Backups',
  summary:
    'Checks that each service has a fresh backup, and that its backups keep the policies of a file. Fails when a service cannot be checked.',
  effect: 'read',
  scope: 'organization',
  input: backupsInput,
  output: backupsOutput,
  details: backupsDetails,
  example: { maxAgeHours: 26, checks: 'backups.yml' },
  check: ({ names, hasServiceId }) => {
    const hint = `is missing: set ${spellInput('service-id')}, the variable WATCHKEEPER_SERVICE_ID, or ${spellInput('services')}`
    return names.has('services') || hasServiceId ? [] : [missingInput('service-id', hint)]
  },
  async run(context, { maxAgeHours, services, checks }) {
    const { api, organizationId, service, clock, files } = context
    // The YAML parser takes longer to load than the rest of a run without a file.
    const load = async (path: string) =>
      (await import('./checks-file.ts')).readChecksFile(await files.read(path, 'checks'), path, api.sqlFunctions)
    const policies = checks === undefined ? [] : (await load(checks)).policies
    if (checks !== undefined && policies.length === 0) throw inputError('checks', 'has no policies; check-backups needs some')
    const given = services ?? (service === undefined ? [] : [service.serviceId])
    const resolved = await resolveServices(
      context,
      given,
      policies.some(({ services: own, tag }) => own !== undefined || tag !== undefined),
    )
    demandKnown(policies, resolved.listed)
    const needsConfiguration =
      maxAgeHours === undefined ||
      policies.some((policy) => keysOf<keyof typeof options>(options).some((name) => policy[name] !== undefined))
    const read = await readServices(context, withoutDrills(resolved.ids, resolved.listed), needsConfiguration)
    const dated =
      resolved.listed ??
      (read.some(({ backups }) => Array.isArray(backups) && backups.length === 0)
        ? await findServices(api, organizationId, true)
        : undefined)
    // The time is read after the answers: a backup that finished while others were read must not be dated in the future.
    const nowMs = clock.now()
    const scope = { organizationId, nowMs, maxAgeHours }
    const proven = await readRestores(files, policies, scope)
    const judged = read.map((one) => {
      const service = dated?.find(({ id }) => id === one.serviceId) ?? { id: one.serviceId, name: '' }
      const own = policiesOf(proven, service)
      const ratios = own.flatMap(({ minSizeRatio }) => minSizeRatio ?? [])
      const minSizeRatio = ratios.length === 0 ? undefined : Math.max(...ratios)
      const check = checkService(one, { maxAgeHours, minSizeRatio, nowMs, createdMs: Date.parse(service.createdAt ?? '') })
      const { problems: differences, correction } = comparePolicies(own, one, scope, check.firstBackupDueAt !== undefined)
      const { restoredMs, problems: missing } = judgeRestores(own, one.serviceId, nowMs)
      const isLeftOut = policies.length > 0 && own.length === 0
      const problems = [...(isLeftOut ? ['no policy of the file is about it'] : []), ...differences, ...missing]
      return {
        ...check,
        passes: check.passes && problems.length === 0,
        problems,
        correction,
        ...(minSizeRatio !== undefined && { minSizeRatio }),
        ...(missing.length > 0 && { needsRestore: true as const }),
        ...(restoredMs > 0 && { restoredAt: new Date(restoredMs).toISOString() }),
      }
    })
    const leftOutFiles = [...new Set(proven.flatMap(({ restores }) => restores?.leftOut ?? []))]
    // A run without findings needs no names. The request would double the requests of a job for one service.
    const listed = dated ?? (needsNames(judged) ? await findServices(api, organizationId) : [])
    const kept = withoutDrills(resolved.ids, listed)
    const names = new Map(listed.map(({ id, name }) => [id, name || undefined]))
    const checked = judged
      .filter(({ serviceId }) => kept.includes(serviceId))
      .map((check) => ({ ...check, name: names.get(check.serviceId) }))
    const [worst] = checked.toSorted(byWorst)
    if (worst === undefined) throw inputError('services', 'are all services of restore drills, which have no backups of their own')
    return {
      ...worst.backup,
      organizationId,
      checkedAt: new Date(nowMs).toISOString(),
      worstServiceId: worst.serviceId,
      services: checked,
      ...(leftOutFiles.length > 0 && { leftOutFiles }),
      drills: resolved.ids.filter((id) => !kept.includes(id)).map((id) => names.get(id) ?? id),
    }
  },
  judge: judgeChecks,
  report: reportChecks,
})

/** Services of restore drills are deleted soon, so no one needs their backups. */
const withoutDrills = (ids: readonly string[], listed: readonly ListedService[] = []) =>
  ids.filter((id) => !listed.some((one) => one.id === id && isOfDrill(one)))

/**
 * Reads the list of services only when `given` has a name, or the caller needs it. Throws an InputError for every name that is unknown or
 * ambiguous, and an ApiError when the list cannot be read.
 */
async function resolveServices({ api, organizationId }: Context<'read', 'organization'>, given: readonly string[], needsList: boolean) {
  if (given.every(isUuid) && !needsList) return { ids: [...new Set(given)], listed: undefined }
  const listed = await listServices(api, organizationId)
  const found = given.map((one) => (isUuid(one) ? one : findByName(one, listed)))
  const diagnostics = found.filter((one) => typeof one !== 'string')
  if (diagnostics.length > 0) throw new InputError(diagnostics)
  const ids = found.filter((one) => typeof one === 'string')
  return { ids: [...new Set(ids)], listed }
}

/** A misspelled name or tag would leave a policy without a service. */
function demandKnown(policies: readonly Policy[], listed: readonly ListedService[] = []) {
  for (const { services: names = [], tag } of policies) {
    const isTagged = tag === undefined || listed.some((one) => hasTag(one, tag))
    const unknown = names.find((name) => !listed.some((one) => isNameOf(one)(name))) ?? (isTagged ? undefined : tag)
    if (unknown === undefined) continue
    const known = listed.flatMap((one) => [one.name, ...tagsOf(one)])
    const problem = `has a policy for "${quote(unknown)}", and no service has this name, id or tag`
    throw inputError('checks', problem + didYouMean(unknown, known))
  }
}

function findByName(name: string, listed: readonly ListedService[]): string | Diagnostic {
  const [first, ...others] = listed.filter((one) => one.name === name).map(({ id }) => id)
  const shown = `"${quote(name)}"`
  if (first === undefined) {
    const suggestion = didYouMean(
      name,
      listed.map((one) => one.name),
    )
    return inputDiagnostic('services', `no service has the id or name ${shown}${suggestion}`)
  }
  if (others.length === 0) return first
  const ids = [first, ...others].slice(0, 5).join(', ')
  return inputDiagnostic('services', `${shown} is the name of ${others.length + 1} services. Use an id instead: ${ids}`)
}

// Policies.

const options = {
  periodHours: '--backup-period-hours',
  retentionHours: '--backup-retention-period-hours',
  startTime: '--backup-start-time',
} as const

interface EvidenceScope {
  readonly organizationId: string
  readonly nowMs: number
  readonly maxAgeHours: number | undefined
}

const isNameOf =
  ({ id, name }: ListedService) =>
  (given: string): boolean =>
    given === name || given.toLowerCase() === id

const policiesOf = (policies: readonly ProvenPolicy[], service: ListedService) =>
  policies.filter(({ services, tag }) => (services?.some(isNameOf(service)) ?? true) && (tag === undefined || hasTag(service, tag)))

/** All policies about the service must hold. */
function comparePolicies(
  own: readonly Policy[],
  { serviceId, configuration, backups }: ServiceBackups,
  scope: EvidenceScope,
  isNew: boolean,
) {
  const { maxAgeHours, organizationId, nowMs } = scope
  const value = configuration === undefined || configuration instanceof WatchkeeperError ? {} : configuration
  const configured = { ...configuredOf(value), periodHours: effectivePeriodHours(value) }
  const changes = new Map(
    own.flatMap((policy) =>
      keysOf<keyof typeof options>(options).flatMap((name) => {
        const [is, expected] = [configured[name], policy[name]]
        if (expected === undefined || expected === is) return []
        return [[`${name} is ${is ?? 'unknown'}, and the policy has ${expected}`, `${options[name]} ${expected}`] as const]
      }),
    ),
  )
  const listed = backups instanceof WatchkeeperError ? [] : backups
  const ownBuckets = listed.filter(({ bucket }) => bucket?.bucketPath || bucket?.containerName)
  const copies = ownBuckets.map(toKnownBackup).filter(isSuccessful)
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
  const command = `clickhousectl cloud service backup-config update ${[serviceId, ...changes.values()].join(' ')} --org-id ${organizationId}`
  return {
    problems: [...changes.keys(), ...(isNew || nowMs - copyMs <= limitHours * hourMs ? [] : [missing])],
    correction: changes.size === 0 ? undefined : command,
  }
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

/** A policy with what its files say about restores. */
type ProvenPolicy = Policy & { readonly restores?: Restores }

/** Throws an InputError when a file is not a text. */
async function readRestores(files: Files, policies: readonly Policy[], scope: EvidenceScope): Promise<readonly ProvenPolicy[]> {
  const proven: ProvenPolicy[] = []
  for (const policy of policies) {
    const [results, unusable, leftOut]: [Evidence[], string[], string[]] = [[], [], []]
    for (const path of policy.results === undefined ? [] : (await files.find(policy.results, 'checks')).paths) {
      const read = readEvidence(await files.read(path, 'checks'), scope)
      if (read === undefined) continue
      if ('result' in read) results.push({ ...read.result, path, atMs: Date.parse(read.result.checkedAt) })
      else if ('unusable' in read) unusable.push(`${quoteLong(path)} ${read.unusable}`)
      else leftOut.push(`${quoteLong(path)} (${read.leftOut})`)
    }
    const newestFirst = results.toSorted((a, b) => b.atMs - a.atMs || Number(isVerified(a)) - Number(isVerified(b)))
    proven.push(policy.results === undefined ? policy : { ...policy, restores: { results: newestFirst, unusable, leftOut } })
  }
  return proven
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
function judgeRestores(own: readonly ProvenPolicy[], serviceId: string, nowMs: number) {
  const judged = own.flatMap(({ restores, requireRestoreDays: days }) => {
    if (restores === undefined || days === undefined) return []
    const ofService = restores.results.filter(({ originalId }) => originalId === serviceId)
    const restoredMs = Math.max(...ofService.filter(isVerified).map(({ backupStartedAt }) => Date.parse(backupStartedAt)))
    const others = new Set(restores.results.map(({ originalId }) => originalId)).size
    const only = others === 0 ? '' : `, only of ${plural(others, 'other service')}`
    const problem = explainRestores(ofService[0], restoredMs, days, nowMs) ?? `results have no verified restore of it${only}`
    return [{ restoredMs, problems: [problem, ...restores.unusable] }]
  })
  return {
    restoredMs: Math.max(...judged.map(({ restoredMs }) => restoredMs)),
    problems: [...new Set(judged.flatMap(({ problems }) => problems))].filter((problem) => problem !== ''),
  }
}

/** Empty for restores that are enough, and undefined without one. */
function explainRestores(newest: Evidence | undefined, restoredMs: number, days: number, nowMs: number) {
  if (newest === undefined) return undefined
  const when = `its newest restore, ${formatAgo(nowMs - newest.atMs)},`
  if (newest.restoreStatus !== 'verified') return `${when} is ${quote(newest.restoreStatus)} (${quoteLong(newest.path)})`
  if (!isVerified(newest)) return `${when} is verified, but the run failed (${quoteLong(newest.path)})`
  // A restore proves the backup, however late it is checked.
  if (nowMs - restoredMs <= days * dayMs) return ''
  return `the newest backup with a verified restore started ${formatAgo(nowMs - restoredMs)}, and requireRestoreDays is ${days}`
}
