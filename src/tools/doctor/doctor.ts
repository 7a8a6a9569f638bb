import * as z from 'zod'
import { fetchBackups } from '../../backups/backups-api.ts'
import { alertFacts, factTable } from '../../changes/queries/query-review.ts'
import { readUsageCost } from '../../cost/usage/usage-api.ts'
import type { Alert } from '../../kinds/alert/alert.ts'
import { createAlertKind } from '../../kinds/alert/alert-kind.ts'
import {
  explainFailedEvaluation,
  explainOverdue,
  explainStoppedTask,
  type OnFailedEvaluation,
  onFailedEvaluation,
} from '../../kinds/alert/schedule.ts'
import { collections, readWatchedNames } from '../../kinds/collections.ts'
import { provisionerWrites } from '../../kinds/dashboard/dashboard-kind.ts'
import { describeStored } from '../../kinds/kind.ts'
import { type KindName, kindLabels } from '../../kinds/kind-names.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { isServer, path, type Target } from '../../platform/api/path.ts'
import { readList, readOne } from '../../platform/api/wire.ts'
import { once } from '../../platform/core/concurrency.ts'
import { dayOf, plainDay } from '../../platform/core/dates.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { type ErrorKind, toFailure, toWatchkeeperError } from '../../platform/core/errors.ts'
import { say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { listAtMost, plural, pluralOf } from '../../platform/core/text.ts'
import { type Context, defineOperation, noFields } from '../../platform/operation/operation.ts'
import { type Block, skippedSign, statusStyles } from '../../platform/report/blocks.ts'
import { formatDuration } from '../../platform/report/format.ts'
import { pass } from '../../platform/report/report.ts'
import { table } from '../../platform/report/table.ts'

const doctorCheck = z.object({
  name: z.string().describe('Name of the check.'),
  outcome: z.enum(['ok', 'warning', 'failed', 'skipped']),
  detail: z.string().describe('The result, or the whole error message.'),
  found: z.int().optional().describe('Number of objects, for a check that lists them.'),
  kind: z.string().optional().describe('The kind of the failure.'),
  missing: z.string().optional().describe('What does not exist: `organization` or `service`.'),
  advice: z.string().optional().describe('How to fix a failure.'),
  facts: alertFacts.optional().describe('The values of the managed alerts, as in a plan.'),
})

type DoctorCheck = z.output<typeof doctorCheck>

const rateLimitName = 'rate limit'

const serverName = 'server'

/** Any key may ask about itself, so that this check says nothing about its permissions. */
const keyExpiryName = 'key expiry'

export const doctor = defineOperation({
  summary: 'Checks the address, the key, its role, the limits and the managed alerts with read requests, and explains each failure.',
  effect: 'read',
  scope: 'organization-or-server',
  input: z.strictObject({ onFailedEvaluation: onFailedEvaluation.default('fail') }),
  output: noFields,
  details: z.object({
    healthy: z.boolean().describe('True when no check failed.'),
    requestsLeft: z.int().optional().describe('Requests left in the current window of the rate limit, if the server reports them.'),
    checks: z.array(doctorCheck).describe('The checks, in order.'),
    checkedServer: z.string().describe('Scheme, host and port of the API.'),
    checkedServiceId: z.string().optional().describe('The service that the checks used.'),
  }),
  example: {},
  async run(context, { onFailedEvaluation: policy }) {
    const { profile, service } = context
    const onService = service && {
      ...context,
      service,
      listAlerts: once(async () => (await collections.alert.list(context.api, service)).items),
    }
    const checks: DoctorCheck[] = []
    let skipReason: string | undefined
    for (const [i, probe] of listProbes(context, policy, onService).entries()) {
      const result = skipReason === undefined ? await runProbe(probe) : skip(probe.name, skipReason)
      if (i === 0 && probe.name !== serverName && result.outcome === 'failed' && isWithoutServer(result.kind)) {
        checks.push({ ...result, name: serverName })
        skipReason = `because ${serverName} failed`
        checks.push(skip(probe.name, skipReason))
        continue
      }
      checks.push(result)
      if (result.outcome === 'failed' && (isFatal(result.kind, context) || result.missing !== undefined))
        skipReason = `because ${probe.name} failed`
    }
    if (skipReason === undefined && onService?.api.hasSql) checks.push(...(await checkWithSql(onService, checks)))
    if (skipReason === undefined && !profile.isSelfHosted) checks.push(...(await checkKeyExpiry(context)))
    const limit = context.api.rateLimit()
    const detail =
      limit === undefined
        ? `the server reports no limit. Watchkeeper sends at most ${profile.rateLimit.limit} requests in ${profile.rateLimit.windowMs / 1000} s`
        : `${limit.remaining} of ${limit.limit} requests left in this window`
    checks.push(skipReason === undefined ? { name: rateLimitName, outcome: 'ok', detail } : skip(rateLimitName, skipReason))
    const healthy = checks.every(({ outcome }) => outcome !== 'failed')
    const checkedServiceId = service === undefined || isServer(service) ? undefined : service.serviceId
    return { healthy, requestsLeft: limit?.remaining, checks, checkedServer: context.apiOrigin, checkedServiceId }
  },
  judge({ checks, checkedServer }) {
    const failed = checks.filter(({ outcome }) => outcome === 'failed')
    const warnings = checks.filter(({ outcome }) => outcome === 'warning')
    if (failed.length === 0)
      return warnings.length === 0
        ? pass
        : { status: 'warn', reasons: warnings.map(({ name, advice = '' }) => say`${trusted(name)}: ${untrustedSentence(advice)}`) }
    // A key may have the minimum role for its job, so missing permissions are a warning while anything else works.
    const onlyPermissions = failed.every(({ kind }) => kind === 'permission')
    const anyWorks = checks.some(({ name, outcome }) => outcome === 'ok' && name !== rateLimitName && name !== keyExpiryName)
    const names = failed.map(({ name }) => name).join(', ')
    const skipped = countOf(checks, 'skipped')
    const server = failed[0]?.name === serverName ? say` ${checkedServer}` : []
    const rest = trusted(skipped === 0 ? '' : ` ${skipped} ${skipped === 1 ? 'was' : 'were'} skipped.`)
    const line = say`${failed.length} of ${checks.length} checks failed: ${trusted(names)}${server}.${rest}`
    if (onlyPermissions && anyWorks) return { status: 'warn', reasons: [], sentence: line }
    const isDenied = onlyPermissions || failed.some(({ kind }) => kind === 'authentication')
    return { status: 'fail', reasons: [], sentence: line, cause: [trusted(`${names} failed`)], ...(isDenied && { exit: 'denied' }) }
  },
  report: ({ checks, checkedServiceId }) => ({
    headline: doctorHeadline(checks),
    ...(checkedServiceId !== undefined && { services: say`service ${checkedServiceId}` }),
    blocks: [
      checkTable(checks),
      ...describeCauses(checks).map((text): Block => ({ kind: 'message', text })),
      factTable(
        'Values of managed alerts',
        checks.flatMap(({ facts = [] }) => facts),
      ),
    ],
  }),
})

/** What the role of the key may do, and the values of alerts. No job needs either. */
async function checkWithSql(context: ServiceContext, others: readonly DoctorCheck[]): Promise<readonly DoctorCheck[]> {
  const grants = await (await import('./sql-grants.ts')).checkSqlGrants(context, context.service)
  if (!others.some(({ name, found = 0 }) => name === 'alerts' && found > 0)) return grants
  const name = 'values'
  const values = await runProbe({
    name,
    run: async () => (await import('./alert-values.ts')).checkAlertValues(context, await context.listAlerts()),
  })
  return [...grants, values.outcome === 'failed' ? skip(name, values.detail.split('\n', 1)[0] ?? '') : values]
}

function describeCauses(checks: readonly DoctorCheck[]) {
  const parts = checks
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'warning')
    .map(({ detail }) => Object.groupBy(detail.split('\n'), (line) => (line.startsWith('Request: ') ? 'requests' : 'cause')))
  return [...Map.groupBy(parts, ({ cause = [] }) => cause.join('\n'))].map(([cause, alike]) =>
    [cause, ...alike.flatMap(({ requests = [] }) => requests)].join('\n'),
  )
}

type DoctorContext = Context<'read', 'organization-or-server'>

interface ServiceContext extends DoctorContext {
  readonly service: Target
  /** Sends its request once: one more than ten would wait for ten seconds. */
  listAlerts(): Promise<readonly Alert[]>
}

/** A check that ran is ok unless it says otherwise. */
interface ProbeResult extends Partial<DoctorCheck> {
  readonly detail: string
}

interface DoctorProbe {
  readonly name: string
  /** Sends a request. Undefined for a check that needs a service when none was given. */
  readonly run: (() => Promise<ProbeResult>) | undefined
}

const describeCount = (found: number, note = '') => ({ detail: `${found} found${note}`, found })

/** The first probe checks the address and the key. Each of the others checks one permission. */
function listProbes(context: DoctorContext, policy: OnFailedEvaluation, onService: ServiceContext | undefined): readonly DoctorProbe[] {
  const { api, service, profile } = context
  const listing = (kind: KindName, note = ''): DoctorProbe => ({
    name: pluralOf(kindLabels[kind]),
    run: service && (async () => describeCount((await collections[kind].list(api, service)).items.length, note)),
  })
  return [
    profile.isSelfHosted ? serverProbe(context) : usageProbe(context),
    listing(
      'dashboard',
      `, profile ${profile.name}${profile.isSelfHosted ? `; with DASHBOARD_PROVISIONER_DIR, ${provisionerWrites}` : ''}`,
    ),
    { name: 'alerts', run: onService && (() => checkAlerts(onService, policy)) },
    listing('source'),
    listing('webhook'),
    listing('savedSearch'),
    ...(service !== undefined && isServer(service)
      ? []
      : [{ name: 'backups', run: service && (async () => describeCount((await fetchBackups(api, service)).length)) }]),
  ]
}

function usageProbe({ api, organizationId, apiOrigin, clock }: DoctorContext): DoctorProbe {
  const today = dayOf(clock.now())
  return {
    name: 'usage cost',
    run: async () => {
      const { unit } = await readUsageCost(api, organizationId, { from: today, to: today }, [])
      return { detail: `${apiOrigin} answers, accepts the key, and lets it read usage costs (unit: ${unit})` }
    },
  }
}

/** No check where the key is not allowed to read when it expires: a key needs no such permission for its job. */
async function checkKeyExpiry({ api, organizationId, clock }: DoctorContext): Promise<readonly DoctorCheck[]> {
  const expiresMs = await findKeyExpiry(api, organizationId)
  if (expiresMs === undefined) return []
  const name = keyExpiryName
  if (expiresMs === Number.POSITIVE_INFINITY) return [{ name, outcome: 'ok', detail: 'the key never expires' }]
  const leftMs = expiresMs - clock.now()
  const detail = `the key expires on ${plainDay(dayOf(expiresMs))}, in ${formatDuration(Math.max(0, leftMs))}`
  if (leftMs > warnWithinMs) return [{ name, outcome: 'ok', detail }]
  return [{ name, outcome: 'warning', detail, advice: `${detail}. Create another key, and replace api-key-id and api-key-secret` }]
}

/** An alert can be stored as declared and still never fire. The API shows the errors and the time of the last evaluation only. */
async function checkAlerts({ api, service, profile, clock, listAlerts }: ServiceContext, policy: OnFailedEvaluation): Promise<ProbeResult> {
  const alerts = await listAlerts()
  const found = describeCount(alerts.length)
  const nowMs = clock.now()
  const kind = createAlertKind(profile, nowMs)
  const owned = alerts.filter((alert) => kind.readMarker(kind.toBody(alert)) !== undefined)
  const managed = await readWatchedNames(api, service, owned)
  const explainEach = (explain: (alert: Alert) => string | undefined) =>
    managed.flatMap((alert) => {
      const reason = explain(alert)
      return reason === undefined ? [] : [`${describeStored(alert)}: ${reason}`]
    })
  const failures = explainEach(explainFailedEvaluation)
  const overdue = explainEach((alert) => explainOverdue(alert, nowMs))
  if (policy === 'ignore' || failures.length + overdue.length === 0) return found
  const stopped = overdue.length === 0 ? undefined : explainStoppedTask(alerts, nowMs)
  const ofManaged = `of ${plural(managed.length, 'managed alert')}`
  const advice = [
    ...(failures.length === 0 ? [] : [`the last evaluation of ${failures.length} ${ofManaged} failed`]),
    ...(overdue.length === 0 ? [] : [stopped ?? `the evaluation of ${overdue.length} ${ofManaged} is overdue`]),
  ].join(', and ')
  const listed = stopped === undefined ? [...failures, ...overdue] : failures
  const lines = listAtMost(listed, 10, (count) => `… and ${count} more`)
  const detail = [`${found.detail}, and ${advice}${lines.length === 0 ? '' : ':'}`, ...lines].join('\n')
  return { ...found, outcome: policy === 'fail' && failures.length > 0 ? 'failed' : 'warning', detail, advice }
}

const serverProbe = ({ api, apiOrigin }: DoctorContext): DoctorProbe => ({
  name: serverName,
  run: async () => {
    const version = await api.serverVersion()
    const { user } = await api.read({
      request: { method: 'GET', path: path`` },
      read: readOne(z.object({ user: z.object({ email: z.string().optional(), name: z.string().optional() }) })),
      about: { noun: 'user', missing: 'server', permission: 'observability' },
    })
    const server = version === undefined ? 'A server that does not state its version' : `HyperDX ${version}`
    return { detail: `${server} answers at ${apiOrigin}, and accepts the key of ${user.email ?? user.name ?? 'a user without a name'}` }
  },
})

const fatalKinds: ReadonlySet<string | undefined> = new Set<ErrorKind>([
  'authentication',
  'network',
  'tls',
  'timeout',
  'deadline',
  'redirect',
])

/** Whether the first request of ClickHouse Cloud did not reach the API: the address is wrong, and not what the check is about. */
const isWithoutServer = (kind: string | undefined) => kind === 'not-served' || (fatalKinds.has(kind) && kind !== 'authentication')

/** A self-hosted server has a single address for everything. */
const isFatal = (kind: string | undefined, { profile }: DoctorContext) =>
  fatalKinds.has(kind) || (profile.isSelfHosted && (kind === 'not-served' || kind === 'bad-answer'))

const skip = (name: string, detail: string): DoctorCheck => ({ name, outcome: 'skipped', detail })

async function runProbe({ name, run }: DoctorProbe): Promise<DoctorCheck> {
  if (run === undefined) return skip(name, 'requires service-id')
  try {
    return { name, outcome: 'ok', ...(await run()) }
  } catch (thrown) {
    const error = toWatchkeeperError(thrown)
    const { kind, message } = error
    if (kind === 'canceled' || kind === 'bug') throw thrown
    const advice = error instanceof ApiError && error.advice !== '' ? error.advice : undefined
    const missing = error instanceof ApiError && ['organization', 'service'].includes(error.missing ?? '') ? error.missing : undefined
    return { name, outcome: 'failed', detail: message, kind, missing, advice }
  }
}

const countOf = (checks: readonly DoctorCheck[], outcome: DoctorCheck['outcome']) => checks.filter((one) => one.outcome === outcome).length

function doctorHeadline(checks: readonly DoctorCheck[]) {
  const skipped = countOf(checks, 'skipped')
  return [trusted(`${countOf(checks, 'ok')} checks passed${skipped === 0 ? '' : `, ${skipped} skipped`}`)]
}

const checkTable = (checks: readonly DoctorCheck[]) =>
  table(undefined, checks, {
    Check: ({ name }) => trusted(name),
    Outcome: ({ outcome }) =>
      trusted(
        `${({ ok: statusStyles.pass.sign, warning: statusStyles.warn.sign, failed: statusStyles.fail.sign, skipped: skippedSign } as const)[outcome]} ${outcome}`,
      ),
    Detail: ({ detail, advice }) => untrustedSentence(advice ?? detail),
  })

const warnWithinMs = 30 * dayMs

// The document: "If not present, `null` or is empty the key never expires."
const expiry = z
  .string()
  .nullish()
  .transform((text, context) => {
    if (!text) return Number.POSITIVE_INFINITY
    const expiresMs = Date.parse(text)
    if (!Number.isNaN(expiresMs)) return expiresMs
    context.addIssue({ code: 'custom', message: 'is not a date and time' })
    return z.NEVER
  })

/**
 * When the key of the run expires, infinite for one that never does: by `whoami` where the API has it, otherwise by the only key of the
 * organization with the same last four characters of the id. Undefined where the key is not allowed to read that, or where it is not clear
 * which key it is. Sends one request, or two.
 */
async function findKeyExpiry(api: ReadApi, organizationId: string): Promise<number | undefined> {
  const own = await readOrNothing(() =>
    api.read({
      request: { method: 'GET', path: path`/v1/whoami` },
      read: readOne(z.looseObject({ expireAt: expiry.optional() })),
      about: { noun: 'key' },
      rules: { isOptional: true },
    }),
  )
  if (own !== undefined && 'expireAt' in own && own.expireAt !== undefined) return own.expireAt
  const { keySuffix } = api
  if (keySuffix === undefined) return undefined
  const keys = await readOrNothing(() =>
    api.read({
      request: { method: 'GET', path: path`/v1/organizations/${organizationId}/keys` },
      read: readList(z.looseObject({ keySuffix: z.string().nullish(), expireAt: expiry })),
      about: { noun: 'organization', permission: 'keys' },
      rules: { isOptional: true },
    }),
  )
  const [key, ...others] = keys?.items.filter((one) => one.keySuffix === keySuffix) ?? []
  return key === undefined || others.length > 0 ? undefined : key.expireAt
}

/** The check is an extra: that it is not possible is not a failure of the connection. */
async function readOrNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (thrown) {
    toFailure(thrown)
    return undefined
  }
}
