// The workflow of a restore drill: its own steps, with stand-ins of the vendor's command line and of GitHub's, against the emulator.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { parse } from 'yaml'
import { demo } from '../../../src/emulator/index.ts'
import { type CloudService, type CommandLineFault, useCommandLine } from '../../support/clickhousectl.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { type RunnableJob, runJobs } from '../../support/run-workflow.ts'
import { sample } from '../../support/seeds.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const root = new URL('../../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')
const { jobs, env } = parse(read('examples/workflows/restore-drill.yml')) as {
  readonly jobs: Readonly<Record<string, RunnableJob>>
  readonly env: Readonly<Record<string, string>>
}

/** A service of another drill, and one of no drill. */
const others: readonly CloudService[] = [
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

const retag = (own: CloudService): CloudService => Object.assign(own, { tags: [{ key: 'restore-drill', value: '1-1' }] })

let directory: string
const commandLine = useCommandLine(() => emulator().url)

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watchkeeper-drill-'))
  const write = (name: string, script: string): void => writeFileSync(join(directory, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 })
  write('clickhousectl', `printf '%s\\n' "$@" | curl --silent --fail-with-body --data-binary @- ${commandLine.url()}`)
  // No open issue exists; what is opened is kept.
  write('gh', `[ "$2" = list ] || { shift 2; printf '%s\\n' "$@" > ${directory}/issue; }`)
  write('sleep', 'exit 0')
  // Loops that wait end soon.
  write('seq', 'echo 1 2 3 4')
  // The command line is installed: this makes what the step would install.
  write('python3', `mkdir -p "$3/bin" && printf '#!/bin/bash\\n' > "$3/bin/pip" && chmod +x "$3/bin/pip"`)
})

afterEach(() => rmSync(directory, { recursive: true }))

/** `gh`: whether the command line of GitHub works. */
async function drill(fault?: CommandLineFault, { gh = true, services: listed = others, ran: due = jobs } = {}) {
  emulator().reset()
  commandLine.reset(listed, fault)
  if (!gh) writeFileSync(join(directory, 'gh'), '#!/bin/bash\nexit 1\n', { mode: 0o755 })
  fault?.prepare?.()
  rmSync(join(directory, 'issue'), { force: true })
  const ran = await runJobs(due, {
    values: {
      github: { run_id: '77', run_attempt: '2', repository: 'shop/infra', token: 'x', server_url: 'https://github.com' },
      vars: {
        WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
        WATCHKEEPER_SERVICE_ID: demo.services.checkout,
        RESTORE_DRILL_SQL_KEY_UUID: 'c0ffee00-0000-4000-8000-00000000a111',
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
    },
    files: { 'backups.yml': read('examples/backups.yml') },
  })
  const { calls, services } = commandLine
  const left = services().filter(({ id }) => others.every((other) => other.id !== id))
  const issue = join(directory, 'issue')
  return {
    drill: ran.drill,
    leftovers: ran.leftovers,
    calls: calls(),
    left,
    services: services(),
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

it('a restore drill creates a small, closed service with tags from the newest backup, verifies it, and deletes it', async () => {
  const { drill: job, leftovers, calls, left, issue } = await drill()
  expect([job?.result, leftovers?.result, job?.reasons]).toEqual(['success', 'success', []])
  expect(leftovers?.log).toBe('No service is left.\n')
  expect(Object.keys(job?.uploaded ?? {})).toEqual(['restore-drill/restore.html', 'restore-drill/drill.txt'])
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

it('a restore drill creates nothing unless the newest backup is good, and deletes the service when its data is wrong', async () => {
  const broken = await drill({ prepare: () => Object.assign(serviceOf(emulator()).backups[0] ?? {}, { status: 'error' }) })
  expect([broken.drill?.result, verbsOf(broken.calls)]).toEqual(['failure', ['list']])
  expect(broken.issue).toContain('Its steps: get-backup success, create skipped, wait skipped, verify-restore skipped.')
  // The original has rows that no backup has.
  const addRows = (): void => {
    const original = serviceOf(emulator())
    original.tables = original.tables.map((table) => (table.name === 'products' ? { ...table, createdMs: Date.now() } : table))
  }
  const wrong = await drill({ prepare: addRows })
  // verify-restore opens the issue.
  expect([wrong.drill?.result, wrong.left, wrong.issue]).toEqual(['failure', [], undefined])
  expect(wrong.drill?.reasons).toEqual([expect.stringContaining('checkout.products: is missing')])
  expect(changed(wrong.calls)).toEqual([createdIn(), createdIn()])
})

it('W19: a restore drill stops and deletes nothing but the service of its run, wherever the command line fails, and reports what is left', () =>
  forEachEntry<[string, CommandLineFault, boolean]>(
    sample<[string, CommandLineFault, boolean]>(
      [
        ['the create answers with an error, and is done', { at: 'create', isDone: true }, true],
        ['the query endpoint fails', { at: 'query-endpoint' }, false],
        ['the delete fails', { at: 'delete' }, true],
        ['the service has no tag', { at: 'get', of: 'created', answer: (own) => Object.assign(own, { tags: [] }) }, true],
        // It has the tag when it is stopped, and not when it is deleted.
        ['the service has the tag of another drill', { at: 'get', of: 'created', answer: retag }, true],
        [
          'the service is deleted with the tag of another drill',
          { at: 'get', of: 'created', answer: (own) => (own.state === 'stopped' ? retag(own) : own) },
          true,
        ],
        ['the answer about the service is empty', { at: 'get', of: 'created', prints: '' }, true],
        ['the answer is about the original', { at: 'get', of: 'created', answer: (own) => ({ ...own, id: demo.services.checkout }) }, true],
      ],
      3,
    ),
    async (_, fault, isLeft) => {
      const { drill: job, leftovers, left, services, calls, issue } = await drill(fault)
      expect(job?.result).toBe('failure')
      const own = createdIn()
      expect(changed(calls).filter((id) => id !== own)).toEqual([])
      if (fault.answer === retag) expect(changed(calls)).toEqual([])
      expect(services).toEqual(expect.arrayContaining(others.map(({ id }) => expect.objectContaining({ id }))))
      expect(left.map(({ id }) => id)).toEqual(isLeft ? [own] : [])
      if (fault.prints === '') expect(changed(calls)).toEqual([])
      const needsPerson = isLeft || fault.at === 'query-endpoint'
      expect([leftovers?.result, issue?.includes(String(own)) ?? false]).toEqual([needsPerson ? 'failure' : 'success', isLeft])
    },
  ))

const only = Object.fromEntries(Object.entries(jobs).filter(([id]) => id === 'leftovers'))

it('W19: a list of services that fails, is empty, or is without the original is reported, because services may be left', () =>
  forEachEntry<[string, CommandLineFault]>(
    [
      ['fails', { at: 'list' }],
      ['nothing', { at: 'list', prints: '' }],
      ['an empty list', { at: 'list', prints: '[]' }],
      ['null', { at: 'list', prints: 'null' }],
      ['another form', { at: 'list', prints: '{"services":[]}' }],
      ['a part', { at: 'list', prints: JSON.stringify(others.slice(0, 1)) }],
    ],
    async (_, fault) => {
      const { leftovers, issue } = await drill(fault, { ran: only })
      expect(leftovers?.result).toBe('failure')
      expect(issue).toContain('The services could not be listed, so some may be left.')
      expect(leftovers?.log).not.toContain('No service is left')
    },
  ))

it('W19: the ids of services that are left are in the log and the summary, also when no issue can be opened', async () => {
  const { leftovers, issue } = await drill({ at: 'delete' }, { gh: false })
  expect([leftovers?.result, issue]).toEqual(['failure', undefined])
  for (const text of [leftovers?.log, leftovers?.summary]) expect(text).toContain(`- \`${createdIn()}\`: restore-drill 77-2, `)
})

it('a drill that ends before it verifies anything leaves an account and an issue', () =>
  forEachEntry<[string, CommandLineFault, string]>(
    [
      [
        'the backup cannot be read',
        { prepare: () => emulator().addFault({ match: { path: '/backups' }, times: 99, effect: { kind: 'status', status: 404 } }) },
        'get-backup failure, create skipped, wait skipped, verify-restore skipped',
      ],
      ['the service cannot be created', { at: 'create' }, 'get-backup success, create failure, wait skipped, verify-restore skipped'],
      [
        'the create answers nothing',
        { at: 'create', prints: '' },
        'get-backup success, create failure, wait skipped, verify-restore skipped',
      ],
      [
        'the query endpoint cannot be made',
        { at: 'query-endpoint' },
        'get-backup success, create success, wait failure, verify-restore skipped',
      ],
    ],
    async (_, fault, steps) => {
      const { drill: job, leftovers, issue } = await drill(fault)
      expect([job?.result, leftovers?.result]).toEqual(['failure', 'failure'])
      expect(job?.uploaded['restore-drill/drill.txt']).toContain(`Steps: ${steps}\n`)
      expect(issue).toContain(`The drill verified no backup. Its steps: ${steps}. See https://github.com/shop/infra/actions/runs/77.`)
    },
  ))

it('a drill creates nothing where the vendor does not say in which region the original is', () =>
  forEachEntry<[string, object]>(
    [
      ['provider', { provider: null }],
      ['region', { region: undefined }],
    ],
    async (_, missing) => {
      const { drill: job, calls } = await drill(undefined, { services: others.map((one) => ({ ...one, ...missing })) })
      expect([job?.result, verbsOf(calls)]).toEqual(['failure', ['get', 'list']])
      expect(job?.warnings).toEqual(['::error::The answer about the original has no provider or no region. Nothing was created.'])
    },
  ))
