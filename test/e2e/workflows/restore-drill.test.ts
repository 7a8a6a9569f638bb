// The workflow of a restore drill: its own steps, with a stand-in of the vendor's command line and of GitHub's, against the emulator.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readChecksFile } from '../../../src/backups/checks-file.ts'
import { demo } from '../../../src/emulator/index.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { type RunnableJob, runJobs } from '../../support/run-workflow.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const root = new URL('../../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')
const { jobs, env } = parse(read('examples/workflows/restore-drill.yml')) as {
  readonly jobs: Readonly<Record<string, RunnableJob>>
  readonly env: Readonly<Record<string, string>>
}

/** A service of another drill, and one of no drill. */
const others = [
  { id: 'c0ffee00-0000-4000-8000-0000000000e1', name: 'orders', state: 'running', tags: [{ key: 'team', value: 'restore-drill' }] },
  {
    id: demo.services.checkout,
    name: 'checkout',
    state: 'running',
    provider: 'aws',
    region: 'eu-central-1',
    releaseChannel: 'fast',
    tags: [],
  },
]

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watchkeeper-drill-'))
  writeFileSync(join(directory, 'services.json'), JSON.stringify(others))
  const write = (name: string, script: string): void => {
    writeFileSync(join(directory, name), `#!/bin/bash\n${script}\n`)
    chmodSync(join(directory, name), 0o755)
  }
  write('clickhousectl', `exec ${process.execPath} ${root}/test/support/stand-in-clickhousectl.mjs "$@"`)
  // No open issue exists; what is opened is kept.
  write('gh', `[ "$2" = list ] || { shift 2; printf '%s\\n' "$@" > ${directory}/issue; }`)
  write('sleep', 'exit 0')
  // Loops that wait end soon.
  write('seq', 'echo 1 2 3 4')
  // The command line is installed: this makes what the step would install.
  write('python3', `mkdir -p "$3/bin" && printf '#!/bin/bash\\n' > "$3/bin/pip" && chmod +x "$3/bin/pip"`)
})

afterEach(() => rmSync(directory, { recursive: true }))

interface Drill {
  readonly fault?: string
  readonly vars?: Readonly<Record<string, string>>
}

async function drill({ fault = '', vars = {} }: Drill = {}) {
  const ran = await runJobs(jobs, {
    values: {
      github: { run_id: '77', run_attempt: '2', repository: 'shop/infra', token: 'x' },
      vars: {
        WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
        WATCHKEEPER_SERVICE_ID: demo.services.checkout,
        RESTORE_DRILL_SQL_KEY_UUID: 'c0ffee00-0000-4000-8000-00000000a111',
        ...vars,
      },
      secrets: {
        WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
        WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
        WATCHKEEPER_SQL_KEY_ID: demo.apiKeyId,
        WATCHKEEPER_SQL_KEY_SECRET: demo.apiKeySecret,
        RESTORE_DRILL_API_KEY_ID: 'drill-key',
        RESTORE_DRILL_API_KEY_SECRET: 'drill-secret',
      },
    },
    env: {
      ...env,
      PATH: `${directory}:${process.env.PATH}`,
      RUNNER_TEMP: join(directory, 'temp'),
      WATCHKEEPER_API_URL: emulator().url,
      WATCHKEEPER_SQL_URL: emulator().url,
      STAND_IN: directory,
      STAND_IN_FAULT: fault,
      STAND_IN_EMULATOR: emulator().url,
    },
    files: { 'backups.yml': read('examples/backups.yml') },
  })
  const callsFile = join(directory, 'calls')
  const calls = existsSync(callsFile)
    ? readFileSync(callsFile, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as readonly string[])
    : []
  const services = JSON.parse(readFileSync(join(directory, 'services.json'), 'utf8')) as readonly { readonly id: string }[]
  const left = services.filter(({ id }) => others.every((other) => other.id !== id))
  const issue = join(directory, 'issue')
  return {
    drill: ran.drill,
    leftovers: ran.leftovers,
    calls,
    left,
    services,
    issue: existsSync(issue) ? readFileSync(issue, 'utf8') : undefined,
  }
}

const verbsOf = (calls: readonly (readonly string[])[]): readonly string[] => calls.map(([, , verb = '']) => verb)

/** The services that a call stopped or deleted. */
const changed = (calls: readonly (readonly string[])[]): readonly (string | undefined)[] =>
  calls.filter(([, , verb]) => verb === 'stop' || verb === 'delete').map(([, , , id]) => id)

/** The id of the service that the run created, whether or not it learned it. */
const createdIn = (): string | undefined =>
  emulator().store.organizations[0]?.services.find(({ name }) => name.startsWith('restore-drill'))?.id

describe('a restore drill', () => {
  it('creates a small, closed service with tags from the newest backup, verifies it, and deletes it', async () => {
    const { drill: job, leftovers, calls, left, issue } = await drill()
    expect([job?.result, leftovers?.result, job?.reasons]).toEqual(['success', 'success', []])
    expect(job?.operations).toEqual(['get-backup', 'verify-restore'])
    expect([left, issue]).toEqual([[], undefined])
    const created = calls.find(([, , verb]) => verb === 'create') ?? []
    const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    const id = serviceOf(emulator()).backups[0]?.id
    expect(created.join(' ')).toBe(
      `cloud service create --org-id ${demo.organizationId} --name restore-drill 77-2 --backup-id ${id} --min-replica-memory-gb 8 --max-replica-memory-gb 8 --num-replicas 2 --idle-scaling true --idle-timeout-minutes 5 --ip-allow 127.0.0.1/32 --tag restore-drill=77-2 --tag restore-drill-expires=${day} --provider aws --region eu-central-1 --release-channel fast --json`,
    )
    const own = createdIn()
    expect(changed(calls)).toEqual([own, own])
    expect(verbsOf(calls).at(-1)).toBe('list')
    expect(JSON.stringify([job, leftovers])).not.toContain('never-shown-password')
  })

  it('creates nothing unless the newest backup is good', async () => {
    for (const status of ['error', 'in_progress'] as const) {
      Object.assign(serviceOf(emulator()).backups[0] ?? {}, { status })
      const { drill: job, calls } = await drill()
      expect(job?.result).toBe('failure')
      expect(verbsOf(calls)).toEqual(['list'])
      rmSync(join(directory, 'calls'))
    }
  })

  it('deletes the service also when its data is wrong, and fails', async () => {
    const original = serviceOf(emulator())
    // The original has rows that no backup has.
    original.tables = original.tables.map((table) => (table.name === 'products' ? { ...table, createdMs: Date.now() } : table))
    const { drill: job, left, calls } = await drill()
    expect(job?.result).toBe('failure')
    expect(job?.reasons).toEqual([expect.stringContaining('checkout.products: is missing')])
    expect(left).toEqual([])
    expect(changed(calls)).toEqual([createdIn(), createdIn()])
  })
})

// Where the command line fails, and whether the service then still exists.
describe.each<[fault: string, isLeft: boolean]>([
  ['get-original', false],
  ['create', false],
  ['create-lost', true],
  ['create-without-id', true],
  ['query-endpoint', false],
  ['stop', true],
  ['delete', true],
  ['get', false],
  ['get-created', true],
  ['no-tag', true],
  ['other-tag', true],
  ['other-id', true],
])('when %s fails', (fault, isLeft) => {
  it('W19: stops and deletes nothing but the service of this run, and reports what is left', async () => {
    const { drill: job, leftovers, left, services, calls, issue } = await drill({ fault })
    expect(job?.result).toBe('failure')
    const own = createdIn()
    expect(changed(calls).filter((id) => id !== own)).toEqual([])
    expect(services).toEqual(expect.arrayContaining(others.map(({ id }) => expect.objectContaining({ id }))))
    expect(left.map(({ id }) => id)).toEqual(isLeft ? [own] : [])
    expect([leftovers?.result, issue?.includes(String(own))]).toEqual(isLeft ? ['failure', true] : ['success', undefined])
  })
})

it('a list of services that fails is reported, because services may be left', async () => {
  const { leftovers, issue } = await drill({ fault: 'list' })
  expect(leftovers?.result).toBe('failure')
  expect(issue).toContain('The services could not be listed, so some may be left.')
})

it('both jobs of the drill install the same command line, by its digest', () => {
  const installs = Object.values(jobs).flatMap(({ steps }) => steps.filter(({ run = '' }) => run.includes('pip')))
  expect(installs).toHaveLength(2)
  expect(installs[0]).toEqual(installs[1])
  expect(installs[0]?.run).toMatch(/clickhousectl==\d+\.\d+\.\d+ --hash=sha256:[0-9a-f]{64}'/)
})

it('the file of checks of the drill is examples/backups.yml, which has checks and policies', () => {
  const { checks, policies } = readChecksFile(read('examples/backups.yml'), 'examples/backups.yml')
  expect([checks.length > 0, policies.length > 0]).toEqual([true, true])
})
