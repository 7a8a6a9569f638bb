// S6: no text of the API, a file or the user is ever more than text. The whole corpus goes through every input and every string of
// every answer; processes of their own show that the surfaces add nothing to it.
import { describe, expect, it } from 'vitest'
import { toCamel, toKebab } from '../../../src/core/names.ts'
import { demo, startEmulator } from '../../../src/emulator/index.ts'
import type { Operation } from '../../../src/operation/operation.ts'
import { operationNames, operations } from '../../../src/operations.ts'
import { createClient } from '../../../src/runtime/library/create-client.ts'
import { forEachEntry, hostile } from '../../support/corpus.ts'
import { asOptions, basicPair, ids, inputsFor, secrets, serviceOf, useEmulator } from '../../support/emulator.ts'
import { runWithFailure } from '../../support/faults.ts'
import { invokeText } from '../../support/invoke.ts'
import { problemsWithOutput, problemsWithRun } from '../../support/output-oracle.ts'
import { runAsAction } from '../../support/run-as-action.ts'
import { commandsOf, runCli } from '../../support/run-process.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

const all = await Promise.all(operationNames.map(async (name) => ({ name, operation: (await operations[name]()) as Operation })))

const example = ({ example: given }: Operation): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [toKebab(key), String(value)]))

/** Every nth of the corpus, another part of it each time: together all of it, without saying everything everywhere. */
const share = (parts: number, turn: number) => hostile.filter((_, i) => i % parts === turn % parts)

describe.each(all)('S6: what users give stays text; $name', { timeout: 60_000 }, ({ name, operation }) => {
  const inputs = Object.keys(operation.input.shape).map(toKebab)

  it('input stays text in all inputs at once', async () => {
    for (const { id, value } of share(5, operationNames.indexOf(name))) {
      const given = Object.fromEntries(inputs.map((input) => [input, value]))
      const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation: name, ...given } })
      expect(problemsWithOutput(ran), id).toEqual([])
    }
  })

  it('input stays text in each input, when all others are valid', () =>
    forEachEntry(inputs, async (input) => {
      for (const { id, value } of share(30, inputs.indexOf(input) + 7 * operationNames.indexOf(name))) {
        emulator().reset()
        const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation: name, ...example(operation), [input]: value } })
        expect(problemsWithOutput(ran), id).toEqual([])
      }
    }))
})

/** Fields that an answer without would not be one. */
const kept = new Set(['id', 'date', 'startedAt', 'finishedAt', 'requestId', 'tileId', 'dashboardId'])

/** The same with that text wherever there was one, keys of metrics and settings included. */
function poison(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text
  if (Array.isArray(value)) return value.slice(0, 2).map((item) => poison(item, text))
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).map(([key, item]) => [key, kept.has(key) ? item : poison(item, text)] as const)
  return Object.fromEntries([...entries, [`${text}`, text]])
}

const fetchJson = async (path: string): Promise<unknown> =>
  (await fetch(`${emulator().url}${path}`, { headers: { authorization: `Basic ${basicPair}` } })).json()

const service = `/v1/organizations/${demo.organizationId}/services/${demo.services.checkout}`
const daysBefore = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

const reads: readonly (readonly [operation: string, path: string, inputs: Readonly<Record<string, string>>])[] = [
  ['list-alerts', `${service}/observability/alerts`, {}],
  ['get-alert', `${service}/observability/alerts/${ids.alert}`, { id: ids.alert }],
  ['list-dashboards', `${service}/observability/dashboards`, {}],
  ['get-dashboard', `${service}/observability/dashboards/${ids.dashboard}`, { id: ids.dashboard }],
  ['list-sources', `${service}/observability/sources`, {}],
  ['get-backup', `${service}/backups`, { id: 'latest' }],
  ['list-backups', `${service}/backups`, {}],
  ['check-backups', `${service}/backups`, {}],
  [
    'usage-cost',
    `/v1/organizations/${demo.organizationId}/usageCost?from_date=${daysBefore(28)}&to_date=${daysBefore(0)}`,
    {
      period: 'today',
      'on-missing': 'warn',
      reports: 'csv=a\nfocus=b\nopenmetrics=c\nhtml=d',
    },
  ],
]

describe.each(reads.map((read, turn) => [...read, turn] as const))(
  'S6: what the API says stays text; %s',
  (operation, path, inputs, turn) => {
    it('answers stay text in every string', async () => {
      const good = await fetchJson(path)
      const some = share('reports' in inputs ? 2 : 4, turn)
      for (const { id, value } of some.filter(({ value: text }) => text.length < 5000)) {
        emulator().clearFaults()
        const text = JSON.stringify(poison(good, value.toWellFormed()))
        emulator().addFault({ times: Number.POSITIVE_INFINITY, effect: { kind: 'body', text } })
        const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation, ...inputs } })
        expect(problemsWithOutput(ran), id).toEqual([])
      }
    })

    it('answers stay text in the message of an error', async () => {
      for (const { id, value } of share(reads.length, turn)) {
        emulator().clearFaults()
        emulator().addFault({
          times: Number.POSITIVE_INFINITY,
          effect: { kind: 'status', status: 400, body: JSON.stringify({ status: 400, error: value, requestId: value }) },
        })
        const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation, ...inputs } })
        expect([ran.document.status === 'pass', ...problemsWithOutput(ran)], id).toEqual([false])
        expect(ran.reason.split('\n').length).toBeLessThanOrEqual(5)
      }
    })
  },
)

describe('S6: names from the API stay data in log, summary and outputs', () => {
  const names = hostile.filter(({ id }) => id !== 'size-lines').map(({ value }) => value.toWellFormed())

  it.each([
    ['list-dashboards', (): object => ({ dashboards: named(serviceOf(emulator()).dashboards) })],
    ['list-alerts', (): object => ({ alerts: named(serviceOf(emulator()).alerts) })],
  ])('shows all names of the corpus in %s', async (operation, poisoned) => {
    Object.assign(serviceOf(emulator()), poisoned())
    const ran = await runAsAction({ inputs: { ...inputsFor(emulator()), operation }, secrets })
    expect(ran.exitCode).toBe(0)
    expect(problemsWithRun(ran)).toEqual([])
    expect(ran.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
    expect(Buffer.byteLength(ran.summary)).toBeLessThan(1024 * 1024)
    // Too long for an output, so that the file alone has the names; unchanged.
    expect(JSON.parse(ran.outputs.get('result') ?? '')).toMatchObject({ truncated: true, operation, status: 'pass', count: names.length })
    const [things] = Object.values(ran.result ?? {}).filter((value) => Array.isArray(value) && typeof value[0] === 'object')
    expect((things as { name: string }[]).map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  })

  const named = <T extends object>([first]: readonly T[]): readonly T[] => {
    if (first === undefined) throw new Error('the shop has changed')
    const ids = (i: number): string => i.toString(16).padStart(24, '0')
    return names.map((name, i) => ({ ...first, id: ids(i), name, ...('tags' in first ? { tags: [name, 'shop'] } : { message: name }) }))
  }

  it('shows all names of the corpus on the command line, which may run inside a workflow', async () => {
    Object.assign(serviceOf(emulator()), { alerts: named(serviceOf(emulator()).alerts) })
    const { flags, variables } = asOptions(inputsFor(emulator()))
    for (const json of [[], ['--json']]) {
      const ran = await runCli(['list-alerts', ...flags, ...json], variables)
      expect(commandsOf(ran)).toEqual([])
      if (json.length > 0) expect(JSON.parse(ran.stdout).count).toBe(names.length)
    }
  })
})

describe.concurrent('S6: the surfaces add nothing', () => {
  /** One of each kind, where a process is needed for each. */
  const worst = ['::error::x', 'cpu ##[error]x', 'EOF\nstatus=pass', '</td><script>1</script>', '\u001b[2J%0A::error::x']

  it.each(worst)('the action adds no markup for %j in entities, exports and errors', async (text) => {
    const prepare = ({ emulator: api }: Parameters<NonNullable<Parameters<typeof runWithFailure>[2]>['prepare'] & object>[0]): void => {
      const [organization] = api.store.organizations
      for (const record of organization?.usage ?? []) Object.assign(record, { entityName: text, entityType: text })
    }
    const files = { reports: 'csv=a.csv\nhtml=b.html\nfocus=c.csv\nopenmetrics=d.txt' }
    const { outcome, ran } = await runWithFailure('read a cost', undefined, { prepare, inputs: files })
    expect(outcome.problems.filter((complaint) => !complaint.startsWith('its commands'))).toEqual([])
    expect(commandsOf(ran).filter((command) => command !== 'warning' && command !== 'error')).toEqual([])
    expect([...ran.outputs.keys()].every((name) => /^[a-z-]+$/.test(name))).toBe(true)
    expect(JSON.parse(ran.outputs.get('result') ?? '').records[0].entityName).toBe(text)
  })

  it('the action adds no markup for files with names and content of the corpus', async () => {
    const names = ['a\n::error::x.yml', 'b ##[error]x.yml', "c'; x.yml", 'd|e.yml', 'f%0A::error::g.yml', '<script>.yml', '`h`.yml']
    const keys = hostile.filter(({ value }) => value.length < 100).map(({ value }) => JSON.stringify(value.toWellFormed()))
    const body = `alerts:\n${[...new Set(keys)].map((key) => `  ${key}: { threshold: ${key}, ${key}: 1 }`).join('\n')}\n`
    const files = Object.fromEntries(names.map((name) => [`observability/${name}`, body]))
    const { ran } = await runWithFailure('read', undefined, { files, inputs: { operation: 'validate' } })
    expect(ran.exitCode).toBe(1)
    expect(commandsOf(ran).every((command) => ['error', 'warning', 'notice'].includes(command))).toBe(true)
    // Nine beside lines of files, and the step's own.
    expect(commandsOf(ran).filter((command) => command === 'error')).toHaveLength(10)
    expect(ran.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  })

  it.each(['list-alerts', 'list-dashboards'])('the command line adds no markup for all texts at once in %s', async (operation) => {
    const { flags, variables } = asOptions(inputsFor(emulator()))
    const ran = await runCli([operation, ...flags, '--select', `name~${'::error::x\n##[error]y'.replace('\n', ' ')}`], variables)
    expect(commandsOf(ran)).toEqual([])
    const wrong = await runCli([
      operation,
      ...hostile.filter(({ value }) => !value.includes('\0') && value.length < 2000).map(({ value }) => value.toWellFormed()),
    ])
    expect(commandsOf(wrong)).toEqual([])
    expect(wrong.exitCode).toBe(2)
    expect(wrong.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  })

  it('the library returns names unchanged', async () => {
    // One of its own: beside this test, others ask the common one.
    const own = await startEmulator()
    const [alert] = own.store.organizations[0]?.services[0]?.alerts ?? []
    const given = hostile.filter(({ value }) => value.length < 5000)
    const all = given.map(({ value }, i) => ({
      ...alert,
      id: i.toString(16).padStart(24, '0'),
      name: value.toWellFormed(),
      message: value.toWellFormed(),
    }))
    own.addFault({ effect: { kind: 'body', text: JSON.stringify(all) } })
    const connection = Object.fromEntries(Object.entries(inputsFor(own)).map(([name, value]) => [toCamel(name), value]))
    const { items } = await createClient(connection)
      .listAlerts()
      .finally(() => own.close())
    expect(items.map(({ name }) => name)).toEqual(given.map(({ value }) => value.toWellFormed()))
  })
})
