// A fleet of 1,000 services: the matrix, its legs as runners would start them, and the report over what they left.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Emulator, type LoggedRequest, startEmulator } from '../../src/emulator/index.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { renderMarkdown } from '../../src/report/markdown.ts'
import { type Invoked, invoke } from '../../src/surfaces/invoke.ts'
import { toResultTexts } from '../../src/surfaces/result-file.ts'
import { workspaceFiles } from '../../src/surfaces/workspace.ts'
import { fleetFile, type MadeOrganization, makeFleet, settleFleet } from '../support/fleet.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'

interface Leg {
  readonly name: string
  readonly organization: string
  readonly 'organization-id': string
  readonly services: string
}

const fleet = makeFleet([400, 250, 200, 120, 30])
const rateLimit = { limit: 10, windowMs: 10_000 }

let emulator: Emulator
let clock: VirtualClock
let directory: string
let legs: readonly Leg[]

const run = (operation: string, inputs: Readonly<Record<string, unknown>>, ownClock: Clock = clock): Promise<Invoked> => {
  const never = new AbortController().signal
  const ports = { clock: ownClock, random: () => 0.5, note: () => undefined, cancellation: { stop: never, abort: never } }
  const request = { operation, inputs, areText: false, env: {}, readConfigFile: async () => undefined }
  return invoke(request, { ...ports, files: workspaceFiles(directory, {}) })
}

/** A process of its own, which knows nothing of the pace of others: the pacer is found by the clock. */
async function runLeg({ name, organization, services, ...leg }: Leg): Promise<void> {
  const own: Clock = { ...clock, sleep: (ms, signal) => asleep(() => clock.sleep(ms, signal)) }
  const { keyId, keySecret } = fleet.find((one) => one.name === organization) as MadeOrganization
  for (const [i, serviceId] of services.split('\n').entries()) {
    const place = { apiUrl: emulator.url, profile: 'clickhouse-cloud', organizationId: leg['organization-id'], serviceId }
    const { document } = await run('get-backup', { ...place, apiKeyId: keyId, apiKeySecret: keySecret, backupId: 'latest' }, own)
    const file = join(directory, 'results', name, `${i}.json`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, toResultTexts(document).forFile)
  }
}

let running = 0
let sleeping = 0

async function asleep(sleepFor: () => Promise<void>): Promise<void> {
  sleeping += 1
  try {
    await sleepFor()
  } finally {
    sleeping -= 1
  }
}

/** Time passes only while every leg waits for it: what is real takes no virtual time. */
async function everybodySleeps(): Promise<void> {
  do await sleep(1)
  while (sleeping < running)
}

/** As GitHub does: the next leg of the matrix starts when one of those that run is over. */
async function runMatrix(all: readonly Leg[], maxParallel: number): Promise<void> {
  const queue = [...all]
  const work = async (): Promise<void> => {
    for (let leg = queue.shift(); leg !== undefined; leg = queue.shift()) await runLeg(leg)
    running -= 1
  }
  running = maxParallel
  await Promise.all(Array.from({ length: maxParallel }, work))
}

async function report() {
  const finished = await run('report', { fleet: 'fleet.yml' })
  return { ...finished, reason: finished.document.failureReason }
}

/** GitHub takes no longer comment. */
const longestComment = 65_536

const servicesOf = (organization: number) => emulator.store.organizations[organization]?.services ?? []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchkeeper-fleet-'))
  clock = createVirtualClock(Date.now(), everybodySleeps)
  emulator = await startEmulator({ dialect: 'clickhouse-cloud', rateLimit, now: clock.now })
  settleFleet(emulator, fleet)
  // One failed, which is a warning; one has none at all, which cannot be read.
  const [newest] = (servicesOf(1)[7]?.backups ?? []).toSorted((a, b) => Date.parse(b.startedAt ?? '') - Date.parse(a.startedAt ?? ''))
  if (newest !== undefined) newest.status = 'error'
  servicesOf(3)[2]?.backups.splice(0)
  await writeFile(join(directory, 'fleet.yml'), fleetFile(fleet))
  const { outputs } = await run('matrix', { fleet: 'fleet.yml' })
  legs = (JSON.parse(outputs.matrix ?? '') as { include: readonly Leg[] }).include
  await runMatrix(legs, Number(outputs['max-parallel']))
}, 120_000)

afterAll(async () => {
  await emulator.close()
  await rm(directory, { recursive: true })
})

it('packs 1,000 services into 256 legs at most, each of one organization', () => {
  expect(legs.length).toBeGreaterThan(240)
  expect(legs.length).toBeLessThanOrEqual(256)
  expect(legs.reduce((sum, { services }) => sum + services.split('\n').length, 0)).toBe(1000)
})

const requestsOf = ({ id }: MadeOrganization): readonly LoggedRequest[] => emulator.requests.filter(({ path }) => path.includes(id))

it.each(fleet.map((one) => [one.name, one] as const))('keeps all legs of %s together to the rate limit of their key', (_, organization) => {
  const accepted = requestsOf(organization).filter(({ status }) => status === 200)
  expect(accepted).toHaveLength(organization.services.length)
  // Two windows can meet, three cannot.
  for (const [i, { arrivedAtMs }] of accepted.entries())
    expect((accepted[i + 20]?.arrivedAtMs ?? Number.POSITIVE_INFINITY) - arrivedAtMs).toBeGreaterThanOrEqual(rateLimit.windowMs)
})

it('is as fast as the busiest key allows, and is refused less than once a leg', () => {
  expect(clock.elapsedMs()).toBeGreaterThan(390_000)
  expect(clock.elapsedMs()).toBeLessThan(430_000)
  const refused = emulator.requests.filter(({ status }) => status !== 200)
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]))
  expect(refused.length).toBeLessThan(legs.length)
})

it('merges 1,000 results into one verdict, and names the service that could not be checked', async () => {
  const { document, reason, exitCode, blocks } = await report()
  expect(document).toMatchObject({ status: 'fail', resultCount: 1000, passCount: 998, warnCount: 1, errorCount: 1, missingCount: 0 })
  expect([reason, exitCode]).toEqual(['1000 services, 1000 result files: 1 could not be done (org-4.service-0003)', 10])
  expect((document.results as readonly object[]).slice(0, 2)).toEqual([
    expect.objectContaining({ status: 'error', service: 'service-0003', reason: expect.stringContaining('has no backup yet') }),
    expect.objectContaining({ status: 'warn', organization: 'org-2', service: 'service-0008' }),
  ])
  const summary = renderMarkdown(blocks, 1024 * 1024)
  for (const { services } of fleet) for (const { name } of services) expect(summary).toContain(name)
  expect(renderMarkdown(blocks, longestComment)).toContain('has no backup yet')
})

it('fails for every service of a leg whose results got lost', async () => {
  const [lost] = legs
  await rm(join(directory, 'results', lost?.name ?? ''), { recursive: true })
  const { document } = await report()
  expect(document).toMatchObject({ status: 'fail', missingCount: lost?.services.split('\n').length })
})

it('stays below the limits of a comment and a summary when everything fails at length', async () => {
  const failed = { operation: 'list-alerts', status: 'fail', failureReason: 'x😀|`'.repeat(200) }
  for (const { name, services, ...leg } of legs) {
    const file = join(directory, 'results', name, '0.json')
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, JSON.stringify({ ...failed, organizationId: leg['organization-id'], serviceId: services.split('\n')[0] }))
  }
  const { document, blocks } = await report()
  expect(document.failCount).toBe(legs.length)
  const comment = renderMarkdown(blocks, longestComment)
  expect(comment.length).toBeLessThan(longestComment)
  expect(comment).toMatch(/^### ❌ /)
  expect(comment).toMatch(/\n\*\d+ more rows did not fit here: see the result file\.\*\n/)
  expect(Buffer.byteLength(renderMarkdown(blocks, 1024 * 1024))).toBeLessThan(1024 * 1024)
})
