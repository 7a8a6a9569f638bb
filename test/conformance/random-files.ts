import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { startEmulator } from '../../src/emulator/index.ts'
import { dashboardCollection } from '../../src/kinds/dashboard/dashboard-wire.ts'
import { sourceCollection } from '../../src/kinds/source/source-wire.ts'
import { webhookCollection } from '../../src/kinds/webhook/webhook-wire.ts'
import { type Clock, systemClock } from '../../src/platform/core/clock.ts'
import { type RandomFile, randomFile } from '../support/random-declarations.ts'
import { convergenceProblems, type Site, type SiteServer, withSite } from '../support/site.ts'

const help = `Usage: node test/conformance/random-files.ts --target emulator|URL [options]

Writes random files with every optional field, and applies them one after the other: each must converge. The plan after an
apply is empty, a second apply changes nothing, drift passes. Exits with 1 when a file does not converge.

  --target TARGET     emulator, or the address of a server. Its objects without a marker are left alone.
  --dialect DIALECT   of the emulator: clickhouse-cloud (default) or hyperdx
  --files COUNT       how many files; default: 100
  --seed SEED         to repeat a run; default: RANDOM_SEED, or the time

A self-hosted server is given without /api/v2, and its key is the first one in CONFORMANCE_KEYS or KEYS. A server with the cloud's paths is
one for which WATCHKEEPER_ORGANIZATION_ID is set: its key and its service are read from WATCHKEEPER_API_KEY_ID,
WATCHKEEPER_API_KEY_SECRET and WATCHKEEPER_SERVICE_ID.

The server needs sources for logs, traces, metrics and sessions, and two webhooks.
`

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    dialect: { type: 'string', default: 'clickhouse-cloud' },
    files: { type: 'string', default: '100' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const print = (text: string): void => void process.stdout.write(`${text}\n`)

function required(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`Set ${name}.`)
  return value
}

type TestedDialect = 'clickhouse-cloud' | 'hyperdx'

interface TestedServer extends SiteServer {
  readonly dialect: TestedDialect
  readonly clock?: Clock
  close(): Promise<void>
}

async function open(target: string): Promise<TestedServer> {
  if (target === 'emulator') return openEmulator()
  const server = { project: 'watchkeeper/conformance', clock: systemClock, close: async () => undefined }
  if (process.env.WATCHKEEPER_ORGANIZATION_ID === undefined) {
    const [accessKey] = (process.env.CONFORMANCE_KEYS ?? process.env.KEYS ?? '').split(',').filter(Boolean)
    if (accessKey === undefined) throw new Error('Set CONFORMANCE_KEYS, or WATCHKEEPER_ORGANIZATION_ID for a server with organizations.')
    return { ...server, dialect: 'hyperdx', url: target, connection: { credentials: { accessKey } } }
  }
  return {
    ...server,
    dialect: 'clickhouse-cloud',
    url: target,
    connection: { credentials: { keyId: required('WATCHKEEPER_API_KEY_ID'), keySecret: required('WATCHKEEPER_API_KEY_SECRET') } },
    service: { organizationId: required('WATCHKEEPER_ORGANIZATION_ID'), serviceId: required('WATCHKEEPER_SERVICE_ID') },
  }
}

async function openEmulator(): Promise<TestedServer> {
  const dialect = values.dialect === 'hyperdx' ? 'hyperdx' : 'clickhouse-cloud'
  const { url, close } = await startEmulator({ dialect, rateLimit: 'off' })
  return { dialect, url, close }
}

async function filesFor({ session, target }: Site, count: number, seed: number): Promise<readonly RandomFile[]> {
  const sources = (await sourceCollection.list(session.api, target)).items as never[]
  const webhooks = (await webhookCollection.list(session.api, target)).items as never[]
  const connections = sources.map(({ connection }) => ({ id: connection })) as never[]
  return fc.sample(randomFile({ sources, webhooks, connections }), { numRuns: count, seed })
}

/** `prune` rejects a file without objects, because it would delete everything. */
const kept = (file: RandomFile): RandomFile => ({ ...file, dashboards: { ...file.dashboards, keep: { name: 'Keep', tiles: [] } } })

async function main(): Promise<number> {
  if (values.help || values.target === undefined) {
    print(help)
    return values.help ? 0 : 2
  }
  const seed = Number(values.seed ?? process.env.RANDOM_SEED ?? Date.now() % 1e9)
  const server = await open(values.target)
  const failures: string[] = []
  try {
    await withSite(
      server,
      server.dialect,
      async (site) => {
        const files = await filesFor(site, Number(values.files), seed)
        for (const [i, file] of files.entries()) {
          const problems = await convergenceProblems(site, kept(file))
          if (problems.length > 0) failures.push(`file ${i}: ${JSON.stringify(problems)}\n${JSON.stringify(file)}`)
        }
        const { objects } = await site.apply({ 'a.json': kept({ dashboards: {}, savedSearches: {}, alerts: {} }) }, { prune: true })
        for (const { id } of objects) if (id !== undefined) await dashboardCollection.remove(site.session.api, site.target, id)
      },
      server.clock,
    )
  } finally {
    await server.close()
  }
  const objects = `${values.files} files, seed ${seed}`
  print(failures.length === 0 ? `${objects}: all converge.` : `${objects}: ${failures.length} do not converge.\n\n${failures.join('\n\n')}`)
  return failures.length === 0 ? 0 : 1
}

process.exitCode = await main()
