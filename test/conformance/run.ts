import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Dialect } from './case.ts'
import { cases } from './cases/index.ts'
import { describeDifferences, findDifferences, type Recording, recordedPath } from './recording.ts'
import { runCases, UnsafeTargetError } from './run-cases.ts'
import { createServerTarget, startEmulatorTarget, type Target } from './targets.ts'

const help = `Usage: npm run conformance -- --target emulator|URL [options]

Sends the same requests to the emulator or to a server and compares the answers with those of HyperDX 2.36.0.
Exits with 1 when answers differ, with 2 when the run was refused.

  --target TARGET      emulator, or the address of a server without the path of its API
  --dialect DIALECT    hyperdx (default for a server: /api/v2) or clickhouse-cloud; for the emulator both by default
  --keys KEYS          access keys, or id:secret for clickhouse-cloud, separated by commas; default: CONFORMANCE_KEYS or KEYS
  --organization ID    for clickhouse-cloud; default: WATCHKEEPER_ORGANIZATION_ID
  --service ID         for clickhouse-cloud; default: WATCHKEEPER_SERVICE_ID
  --strict-gateway     the server validates bodies as the vendor's document has them
  --web-app URL        address of the web app's own API, for cases that save in it; needs the cookie of a session in COOKIE
  --only TEXT          only cases whose name contains this
  --record             writes the answers of the server to recorded/ instead of comparing them
`

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    dialect: { type: 'string' },
    keys: { type: 'string' },
    organization: { type: 'string' },
    service: { type: 'string' },
    'strict-gateway': { type: 'boolean', default: false },
    'web-app': { type: 'string' },
    only: { type: 'string', default: '' },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const print = (text: string): void => void process.stdout.write(`${text}\n`)

async function main(): Promise<number> {
  if (values.help || values.target === undefined) {
    print(help)
    return values.help ? 0 : 2
  }
  const dialects = toDialects()
  if (values.target !== 'emulator') return run(createServer(values.target, dialects[0] ?? 'hyperdx'))
  let exitCode = 0
  for (const dialect of dialects) {
    const target = await startEmulatorTarget(dialect)
    try {
      exitCode = Math.max(exitCode, await run(target))
    } finally {
      await target.close()
    }
  }
  return exitCode
}

function toDialects(): readonly Dialect[] {
  const { dialect, target } = values
  if (dialect === undefined) return target === 'emulator' ? ['hyperdx', 'clickhouse-cloud'] : ['hyperdx']
  if (dialect !== 'hyperdx' && dialect !== 'clickhouse-cloud')
    throw new Error(`Unknown dialect ${dialect}. Use hyperdx or clickhouse-cloud.`)
  return [dialect]
}

function createServer(url: string, dialect: Dialect): Target {
  const keys = (values.keys ?? process.env.CONFORMANCE_KEYS ?? process.env.KEYS ?? '').split(',').filter(Boolean)
  if (keys.length === 0) throw new Error('No keys: pass --keys, or set CONFORMANCE_KEYS.')
  const organization = values.organization ?? process.env.WATCHKEEPER_ORGANIZATION_ID ?? ''
  const service = values.service ?? process.env.WATCHKEEPER_SERVICE_ID ?? ''
  if (dialect === 'clickhouse-cloud' && (organization === '' || service === ''))
    throw new Error('No organization or service: pass --organization and --service.')
  const cookie = process.env.COOKIE
  const webApp = values['web-app'] ?? (dialect === 'hyperdx' ? url : undefined)
  return createServerTarget({
    url,
    dialect,
    keys,
    organization,
    service,
    isStrictGateway: values['strict-gateway'],
    ...(cookie !== undefined && webApp !== undefined && { webApp: { url: webApp, cookie } }),
  })
}

async function run(target: Target): Promise<number> {
  const chosen = cases.filter(({ name }) => name.includes(values.only))
  const startedAtMs = performance.now()
  const answers = await runCases(target, chosen)
  const count = Object.keys(answers).length
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  const skipped = chosen.length - count
  const summary = `${target.dialect}: ${count} cases in ${seconds} s${skipped > 0 ? `, ${skipped} do not apply` : ''}`
  if (values.record) {
    writeFileSync(recordedPath, `${JSON.stringify(answers, undefined, 1)}\n`)
    print(`${summary}; recorded.`)
    return 0
  }
  const recorded = JSON.parse(readFileSync(recordedPath, 'utf8')) as Recording
  const differences = findDifferences(chosen, recorded, answers, target)
  const differing = new Set(differences.map(({ name }) => name)).size
  print(
    `${summary}; ${differing === 0 ? 'no differences.' : `${differing} differ (path: expected / got):\n\n${describeDifferences(differences)}`}`,
  )
  return differing === 0 ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (cause) {
  if (!(cause instanceof UnsafeTargetError)) throw cause
  print(cause.message)
  process.exitCode = 2
}
