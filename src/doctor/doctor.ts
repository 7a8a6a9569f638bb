// Owns the operation that finds out why nothing works: address, key, role, limits. Every check is a real request.

import * as z from 'zod'
import { ApiError } from '../api/api-error.ts'
import type { Service } from '../api/path.ts'
import { fetchBackups } from '../backups/backups-api.ts'
import { dayOf } from '../core/dates.ts'
import { type ErrorKind, toWatchkeeperError } from '../core/errors.ts'
import { type Context, defineOperation, pass } from '../operation/operation.ts'
import { type Block, data, type Line, ours } from '../report/blocks.ts'
import { alertCollection } from '../resources/alerts/alert-wire.ts'
import { dashboardCollection } from '../resources/dashboards/dashboard-wire.ts'
import { savedSearchCollection } from '../resources/saved-searches/saved-search-wire.ts'
import { sourceCollection } from '../resources/sources/source-wire.ts'
import { webhookCollection } from '../resources/webhooks/webhook-wire.ts'
import { readUsageCost } from '../usage/usage-api.ts'

const check = z.object({
  name: z.string().describe('What was tried.'),
  outcome: z.enum(['ok', 'failed', 'skipped']),
  detail: z.string().describe('What came of it, in full.'),
  kind: z.string().optional().describe('The kind of the failure.'),
  advice: z.string().optional().describe('What to do about a failure.'),
})

type Check = z.output<typeof check>

const rateLimitCheck = 'rate limit'

export const doctor = defineOperation({
  summary: 'Checks address, key, role and limits with harmless requests, and says what is wrong.',
  effect: 'read',
  scope: 'organization',
  input: z.strictObject({}),
  output: z.object({
    healthy: z.boolean().describe('Whether no check failed.'),
    requestsLeft: z.int().optional().describe("Requests left in the rate limit's window, where the service tells."),
  }),
  details: z.object({ checks: z.array(check).describe('The checks, in order.') }),
  example: {},
  async run(context) {
    const checks: Check[] = []
    let hopeless: string | undefined
    for (const { name, run } of probes(context)) {
      const { check: done, dooms } = hopeless === undefined ? await observe(name, run, context) : skip(name, hopeless)
      checks.push(done)
      if (dooms) hopeless = `not tried, because ${name} failed`
    }
    const limit = context.api.rateLimit()
    const left =
      limit === undefined
        ? 'the service does not tell; kept to 10 requests per 10 s'
        : `${limit.remaining} of ${limit.limit} requests left in this window`
    const rateLimit: Check = { name: rateLimitCheck, outcome: hopeless === undefined ? 'ok' : 'skipped', detail: hopeless ?? left }
    return {
      healthy: checks.every(({ outcome }) => outcome !== 'failed'),
      ...(limit && { requestsLeft: limit.remaining }),
      checks: [...checks, rateLimit],
    }
  },
  judge({ checks }) {
    const failed = checks.filter(({ outcome }) => outcome === 'failed')
    if (failed.length === 0) return pass
    // A key with the least role for its job is a good key: what it may not do is told, and fails nothing.
    const isNarrow =
      failed.every(({ kind }) => kind === 'permission') && checks.some(({ name, outcome }) => outcome === 'ok' && name !== rateLimitCheck)
    return { status: isNarrow ? 'warn' : 'fail', reasons: [[ours(failed.map(({ name }) => name).join(', '))]] }
  },
  report: ({ checks }) => ({
    headline: headlineOf(checks),
    blocks: [
      checkTable(checks),
      ...checks.filter(({ outcome }) => outcome === 'failed').map(({ detail }): Block => ({ kind: 'preformatted', text: detail })),
    ],
  }),
})

type Run = () => Promise<string>

type Probe = { readonly name: string; readonly run: Run | 'no-service' }

// In order of what each needs: the first answer proves the address and the key, the others one permission each.
function probes({ api, organizationId, service, apiOrigin, profile, clock }: Context<'read', 'organization'>): readonly Probe[] {
  const today = dayOf(clock.now())
  const listing = (name: string, count: (service: Service) => Promise<number>): Probe => ({
    name,
    run: service === undefined ? 'no-service' : async () => `${await count(service)} ${name}`,
  })
  return [
    {
      name: 'usage cost',
      run: async () => {
        const { unit } = await readUsageCost(api, organizationId, { from: today, to: today }, [])
        return `${apiOrigin} answers, the key is accepted and may read costs (in ${unit})`
      },
    },
    {
      name: 'dashboards',
      run:
        service === undefined
          ? 'no-service'
          : async () => `${(await dashboardCollection.list(api, service)).items.length} dashboards, profile ${profile.name}`,
    },
    listing('alerts', async (at) => (await alertCollection.list(api, at)).items.length),
    listing('sources', async (at) => (await sourceCollection.list(api, at)).items.length),
    ...(profile.savedSearches
      ? [
          listing('webhooks', async (at) => (await webhookCollection.list(api, at)).items.length),
          listing('saved searches', async (at) => (await savedSearchCollection.list(api, at)).items.length),
        ]
      : []),
    listing('backups', async (at) => (await fetchBackups(api, at)).length),
  ]
}

/** Failures after which no other request can fare better. */
const doomKinds: ReadonlySet<ErrorKind> = new Set(['authentication', 'network', 'tls', 'timeout', 'deadline', 'redirect'])

interface Observation {
  readonly check: Check
  readonly dooms: boolean
}

const skip = (name: string, detail: string): Observation => ({ check: { name, outcome: 'skipped', detail }, dooms: false })

async function observe(name: string, run: Probe['run'], { profile }: Context<'read', 'organization'>): Promise<Observation> {
  if (run === 'no-service') return skip(name, 'no service-id was given')
  try {
    return { check: { name, outcome: 'ok', detail: await run() }, dooms: false }
  } catch (thrown) {
    const error = toWatchkeeperError(thrown)
    const { kind, message } = error
    if (kind === 'cancelled' || kind === 'bug') throw thrown
    // The list of backups is no part of the neutral contract.
    if (name === 'backups' && profile.name === 'neutral' && kind === 'not-served') return skip(name, 'this service does not list backups')
    const advice = error instanceof ApiError && error.advice !== '' ? { advice: error.advice } : {}
    return { check: { name, outcome: 'failed', detail: message, kind, ...advice }, dooms: doomKinds.has(kind) }
  }
}

function headlineOf(checks: readonly Check[]): Line {
  const count = (wanted: Check['outcome']): number => checks.filter(({ outcome }) => outcome === wanted).length
  const [ok, failed, skipped] = [count('ok'), count('failed'), count('skipped')]
  const rest = skipped === 0 ? '' : `, ${skipped} not tried`
  return failed === 0 ? [ours(`All ${ok} checks ok${rest}`)] : [ours(`${failed} of ${checks.length} checks failed${rest}`)]
}

const words = { ok: '✅ ok', failed: '❌ failed', skipped: '– skipped' } as const

const checkTable = (checks: readonly Check[]): Block => ({
  kind: 'table',
  columns: [{ title: 'Check' }, { title: 'Outcome' }, { title: 'Detail' }],
  rows: checks.map(({ name, outcome, detail, advice }) => [[ours(name)], [ours(words[outcome])], [data(advice ?? detail)]]),
})
