import { expect, it } from 'vitest'
import { demo } from '../../src/emulator/index.ts'
import { toKebab } from '../../src/platform/core/names.ts'
import type { Operation } from '../../src/platform/operation/operation.ts'
import { forEachEntry, hostile } from '../support/corpus.ts'
import { basicPair, ids, inputsFor, useEmulator } from '../support/emulator.ts'
import { allOperations } from '../support/examples.ts'
import { invokeText } from '../support/invoke.ts'
import { problemsWithOutput } from '../support/output-oracle.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

const example = ({ example: given }: Operation): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [toKebab(key), String(value)]))

/** One of each kind. Every text of the corpus is in the tests of each medium. */
const texts = [
  '::error::x',
  'cpu ##[error]x',
  'EOF\nstatus=pass',
  '</td><script>1</script> | x',
  '[a](https://evil.example) @here',
  '\u001b[2J%0A::error::x\u202e',
] as const

const textFor = (turn: number): string => texts[turn % texts.length] ?? ''

it('S6: text of users stays text in all inputs of an operation at once, and in each input', () =>
  forEachEntry<readonly [string, Operation, number]>(
    allOperations.map(({ name, operation }, i) => [name, operation, i] as const),
    async (name, operation, i) => {
      const inputs = Object.keys(operation.input.shape).map(toKebab)
      const check = async (given: Readonly<Record<string, string>>): Promise<void> => {
        emulator().reset()
        const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation: name, ...given } })
        expect(problemsWithOutput(ran), JSON.stringify(given)).toEqual([])
      }
      for (const text of texts) await check(Object.fromEntries(inputs.map((input) => [input, text])))
      for (const [at, input] of inputs.entries()) await check({ ...example(operation), [input]: textFor(i + at) })
    },
  ))

it('S6: text of files stays text, in their names and in every key and value', async () => {
  const names = ['a\n::error::x.yml', 'b ##[error]x.yml', "c'; x.yml", 'd|e.yml', 'f%0A::error::g.yml', '<script>.yml', '`h`.yml']
  const keys = hostile.filter(({ value }) => value.length < 100).map(({ value }) => JSON.stringify(value.toWellFormed()))
  const body = `alerts:\n${[...new Set(keys)].map((key) => `  ${key}: { threshold: ${key}, ${key}: 1 }`).join('\n')}\n`
  const others = names.map((name) => [`observability/${name}`, 'alerts: { a: { treshold: 1 } }'])
  const files = { 'observability/a.yml': body, ...Object.fromEntries(others) }
  const ran = await invokeText({ inputs: { operation: 'validate', profile: 'clickhouse-cloud' }, files })
  expect(problemsWithOutput(ran)).toEqual([])
  expect(ran.document).toMatchObject({ status: 'fail' })
})

/** Fields that an answer without would not be one. */
const kept = new Set(['id', 'date', 'startedAt', 'finishedAt', 'requestId', 'tileId', 'dashboardId'])

/** The same value with the text in place of every text, and as a key. */
function poison(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text
  if (Array.isArray(value)) return value.slice(0, 2).map((item) => poison(item, text))
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).map(([key, item]) => [key, kept.has(key) ? item : poison(item, text)] as const)
  return Object.fromEntries([...entries, [text, text]])
}

const service = `/v1/organizations/${demo.organizationId}/services/${demo.services.checkout}`
const dayBefore = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
const usagePath = `/v1/organizations/${demo.organizationId}/usageCost?from_date=${dayBefore(28)}&to_date=${dayBefore(0)}`
const reports = 'csv=a\nfocus=b\nopenmetrics=c\nhtml=d'

it('S6: text of the API stays text, in every part of an answer and in the message of an error', () =>
  forEachEntry<[string, string, Readonly<Record<string, string>>]>(
    [
      ['list-alerts', `${service}/clickstack/alerts`, {}],
      ['get-alert', `${service}/clickstack/alerts/${ids.alert}`, { id: ids.alert }],
      ['list-dashboards', `${service}/clickstack/dashboards`, {}],
      ['get-dashboard', `${service}/clickstack/dashboards/${ids.dashboard}`, { id: ids.dashboard }],
      ['list-sources', `${service}/clickstack/sources`, {}],
      ['get-backup', `${service}/backups`, {}],
      ['list-backups', `${service}/backups`, {}],
      ['check-backups', `${service}/backups`, {}],
      ['usage-cost', usagePath, { period: 'today', 'on-missing': 'warn', reports }],
    ],
    async (operation, path, inputs) => {
      emulator().reset()
      const good: unknown = await (await fetch(`${emulator().url}${path}`, { headers: { authorization: `Basic ${basicPair}` } })).json()
      for (const text of texts)
        for (const effect of [
          { kind: 'body', text: JSON.stringify(poison(good, text)) },
          { kind: 'status', status: 400, body: JSON.stringify({ status: 400, error: text, requestId: text }) },
        ] as const) {
          emulator().clearFaults()
          emulator().addFault({ times: Number.POSITIVE_INFINITY, effect })
          const ran = await invokeText({ inputs: { ...inputsFor(emulator()), operation, ...inputs } })
          expect(problemsWithOutput(ran), text).toEqual([])
          expect(emulator().requests.length).toBeGreaterThan(0)
          if (effect.kind === 'status') expect([ran.document.status === 'pass', ran.reason.split('\n').length < 6]).toEqual([false, true])
        }
    },
  ))
