// A fleet of 1,000 services: the matrix, its legs as runners would start them, and the report over what they left.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import { type Emulator, type LoggedRequest, startEmulator } from '../../../src/emulator/index.ts'
import { renderMarkdown } from '../../../src/report/markdown.ts'
import { toResultTexts } from '../../../src/runtime/publish.ts'
import { type PublishableResult, runOperation } from '../../../src/runtime/run.ts'
import { workspaceFiles } from '../../../src/runtime/workspace.ts'
import { createVirtualClock, type VirtualClock, watchRequests } from '../../support/clocks.ts'
import { fleetFile, loadFleet, type MadeOrganization, makeFleet } from '../../support/fleet.ts'

interface Leg {
  readonly name: string
  readonly organization: string
  readonly 'organization-id': string
  readonly services: string
}

const fleet = makeFleet([400, 250, 200, 120, 30])
const rateLimit = { limit: 10, windowMs: 10_000 }

const requests = watchRequests()

let emulator: Emulator
let clock: VirtualClock
let directory: string
let legs: readonly Leg[]

const run = (operation: string, inputs: Readonly<Record<string, unknown>>, ownClock: Clock = clock): Promise<PublishableResult> => {
  const never = new AbortController().signal
  const ports = { clock: ownClock, random: () => 0.5, note: () => undefined, cancellation: { stop: never, abort: never } }
  const request = { operation, inputs, areText: false, env: {}, readConfigFile: async () => undefined }
  return runOperation(request, { ...ports, files: workspaceFiles(directory, {}) })
}

/** Legs that run, with how many of their waits are under way. */
const running = new Map<string, number>()

/** A process of its own, which knows nothing of the pace of others: the pacer is found by the clock. */
async function runLeg({ name, organization, services, ...leg }: Leg): Promise<void> {
  const count = (more: number): unknown => running.set(name, (running.get(name) ?? 0) + more)
  const own: Clock = {
    ...clock,
    sleep(ms, signal) {
      count(1)
      return clock.sleep(ms, signal).finally(() => count(-1))
    },
  }
  const { keyId, keySecret } = fleet.find((one) => one.name === organization) as MadeOrganization
  const place = { apiUrl: emulator.url, profile: 'clickhouse-cloud', organizationId: leg['organization-id'] }
  const key = { apiKeyId: keyId, apiKeySecret: keySecret }
  count(0)
  const { document } = await run('check-backups', { ...place, ...key, services: services.split('\n'), maxAgeHours: 26 }, own)
  await writeFile(join(directory, 'results', `${name}.json`), toResultTexts(document).forFile)
  running.delete(name)
}

/** Time passes only while every leg waits for it: what is real takes no virtual time. */
const everybodyWaits = (): boolean => [...running.values()].every((waits) => waits > 0)

/** As GitHub does: the next leg of the matrix starts when one of those that run is over. */
async function runMatrix(all: readonly Leg[], maxParallel: number): Promise<void> {
  const queue = [...all]
  const work = async (): Promise<void> => {
    for (let leg = queue.shift(); leg !== undefined; leg = queue.shift()) await runLeg(leg)
  }
  await Promise.all(Array.from({ length: maxParallel }, work))
}

async function report() {
  const finished = await run('fleet-report', { fleet: 'fleet.yml' })
  return { ...finished, reason: finished.document.failureReason }
}

/** GitHub takes no more. */
const [longestComment, longestSummary] = [65_536, 1024 * 1024]

const servicesOf = (organization: number) => emulator.store.organizations[organization]?.services ?? []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-fleet-'))
  clock = createVirtualClock(Date.now(), () => requests.pause(everybodyWaits))
  emulator = await startEmulator({ dialect: 'clickhouse-cloud', rateLimit, now: clock.now })
  loadFleet(emulator, fleet)
  // One failed, one has none at all, and one is gone.
  const [newest] = (servicesOf(1)[7]?.backups ?? []).toSorted((a, b) => Date.parse(b.startedAt ?? '') - Date.parse(a.startedAt ?? ''))
  if (newest !== undefined) newest.status = 'error'
  servicesOf(3)[2]?.backups.splice(0)
  servicesOf(4).splice(5, 1)
  await mkdir(join(directory, 'results'))
  await writeFile(join(directory, 'fleet.yml'), fleetFile(fleet))
  const { outputs } = await run('fleet-matrix', { fleet: 'fleet.yml' })
  legs = (JSON.parse(outputs.matrix ?? '') as { include: readonly Leg[] }).include
  await runMatrix(legs, Number(outputs['max-parallel']))
}, 120_000)

afterAll(async () => {
  requests.end()
  await emulator.close()
  await rm(directory, { recursive: true })
})

it('packs 1,000 services into at most 256 legs', () => {
  expect(legs.length).toBeGreaterThan(240)
  expect(legs.length).toBeLessThanOrEqual(256)
  expect(legs.reduce((sum, { services }) => sum + services.split('\n').length, 0)).toBe(1000)
})

const requestsOf = ({ id }: MadeOrganization): readonly LoggedRequest[] => emulator.requests.filter(({ path }) => path.includes(id))

it.each(fleet.map((one) => [one.name, one] as const))('keeps all legs of %s together to the rate limit of their key', (_, organization) => {
  const accepted = requestsOf(organization).filter(({ status }) => status !== 429)
  // A leg with a finding reads the names of services.
  expect(accepted.filter(({ path }) => path.endsWith('/backups'))).toHaveLength(organization.services.length)
  expect(accepted.length - organization.services.length).toBeLessThanOrEqual(1)
  // Two windows can meet, three cannot.
  for (const [i, { arrivedAtMs }] of accepted.entries())
    expect((accepted[i + 20]?.arrivedAtMs ?? Number.POSITIVE_INFINITY) - arrivedAtMs).toBeGreaterThanOrEqual(rateLimit.windowMs)
})

it('a fleet is as fast as its busiest key allows, with fewer rejected requests than services', () => {
  expect(clock.elapsedMs()).toBeGreaterThan(390_000)
  expect(clock.elapsedMs()).toBeLessThan(480_000)
  expect(emulator.requests.filter(({ status }) => status === 429).length).toBeLessThan(1000)
})

it('merges the results of 1,000 services into one verdict, and names those that fail', async () => {
  const { document, reason, exitCode, blocks } = await report()
  expect(document).toMatchObject({ status: 'fail', resultCount: legs.length, passCount: 997, failCount: 3, missingCount: 0 })
  expect(reason).toBe(
    `3 results failed: org-2.service-0008, org-4.service-0003, org-5.service-0006. Read ${legs.length} result files for 1000 services.`,
  )
  expect(exitCode).toBe(10)
  const reasons = (document.results as readonly { reason: string }[]).slice(0, 3).map((one) => one.reason)
  expect(reasons).toEqual([expect.stringMatching(/^failed/), expect.stringMatching(/^missing/), expect.stringMatching(/^unknown: /)])
  const summary = renderMarkdown(blocks, longestSummary)
  for (const { services } of fleet) for (const { name } of services) expect(summary).toContain(name)
  expect(renderMarkdown(blocks, longestComment)).toContain('| missing, 0 found |')
})

it('fails for every service of a leg whose result got lost', async () => {
  const [lost] = legs
  await rm(join(directory, 'results', `${lost?.name}.json`))
  const { document, reason } = await report()
  expect(document).toMatchObject({ status: 'fail', missingCount: lost?.services.split('\n').length })
  expect(reason).toContain(`${lost?.services.split('\n').length} results are missing: ${lost?.organization}.service-0001, `)
})

it('stays below the limits of a comment and a summary when everything fails at length', async () => {
  for (const { name, services, ...leg } of legs) {
    const failure = { message: 'x😀|`'.repeat(200) }
    const outcomes = services.split('\n').map((serviceId) => ({ serviceId, passes: false, outcome: 'unknown', failure }))
    const about = { organizationId: leg['organization-id'], services: outcomes }
    const document = { operation: 'check-backups', status: 'fail', failureReason: 'all of them', ...about }
    await writeFile(join(directory, 'results', `${name}.json`), JSON.stringify(document))
  }
  const { document, blocks } = await report()
  expect(document.failCount).toBe(1000)
  const comment = renderMarkdown(blocks, longestComment, 'the summary of the run')
  expect(comment.length).toBeLessThan(longestComment)
  expect(comment).toMatch(/^### ❌ /)
  expect(comment).toMatch(/\n\*\d+ more rows did not fit\. See the summary of the run\.\*\n/)
  expect(Buffer.byteLength(renderMarkdown(blocks, longestSummary))).toBeLessThan(longestSummary)
})
