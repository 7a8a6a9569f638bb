import parsePrometheus from 'parse-prometheus-text-format'
import { describe, expect, it } from 'vitest'
import { printable } from '../../../../src/platform/core/text.ts'
import { type MetricFamily, renderOpenMetrics } from '../../../../src/platform/report/openmetrics.ts'
import { forEachEntry, hostile } from '../../../support/corpus.ts'
import { inputsFor, useEmulator } from '../../../support/emulator.ts'
import { invokeText } from '../../../support/invoke.ts'

const family = (name: string, labels: Readonly<Record<string, string>>, value = '1'): MetricFamily => ({
  name,
  help: 'Some help.',
  samples: [{ labels, value }],
})

/** Newlines stay, other control characters are spelled out. */
const shown = (text: string): string => text.split('\n').map(printable).join('\n')

describe('renderOpenMetrics', () => {
  it('round-trips labels through a parser', () =>
    forEachEntry(hostile, ({ value }) => {
      const read = parsePrometheus(renderOpenMetrics([family('a', { entity: value, after: 'x' }), family('b', { entity: 'y' })]))
      expect(read.map(({ name }) => name)).toEqual(['watchkeeper_a', 'watchkeeper_b'])
      expect(read[0]?.metrics).toEqual([{ labels: { entity: shown(value), after: 'x' }, value: '1' }])
    }))

  it('ends with one end marker and has no empty line', () => {
    const text = renderOpenMetrics([family('a', {})])
    expect(text).toBe('# TYPE watchkeeper_a gauge\n# HELP watchkeeper_a Some help.\nwatchkeeper_a 1\n# EOF\n')
    expect(renderOpenMetrics([])).toBe('# EOF\n')
  })

  it('leaves out families without samples', () => {
    expect(renderOpenMetrics([{ name: 'a', help: 'x', samples: [] }])).toBe('# EOF\n')
  })

  it('keeps every digit', () => {
    const value = '12345678901234567890.000000000000000001'
    expect(parsePrometheus(renderOpenMetrics([family('a', {}, value)]))[0]?.metrics).toEqual([{ value }])
  })
})

describe('the metrics of usage-cost', () => {
  const emulator = useEmulator({ rateLimit: 'off' })
  const budgets = JSON.stringify([
    { name: 'all', limit: 1, forecast: true },
    { name: 'of "checkout"\\', limit: 100_000, scope: { service: 'checkout' } },
  ])
  const run = async (more: Readonly<Record<string, string>> = {}) => {
    const inputs = {
      ...inputsFor(emulator()),
      operation: 'usage-cost',
      period: 'last-30-days',
      budget: '200',
      reports: 'openmetrics=m.txt',
      ...more,
    }
    const { files, document } = await invokeText({ inputs, files: { 'budgets.json': budgets } })
    const text = files[0]?.content ?? ''
    return { text, document, read: parsePrometheus(text) }
  }

  it('the metrics of usage-cost are gauges with the prefix of this project, declared directly before their samples', async () => {
    const { text, read } = await run({ budgets: 'budgets.json' })
    const lines = text.split('\n').slice(0, -2)
    const nameOf = (line: string): string => /^(?:# (?:TYPE|HELP) )?(\w+)/.exec(line)?.[1] ?? ''
    const names = lines.map(nameOf)
    const changes = names.filter((name, i) => name !== names[i - 1])
    expect(new Set(changes).size).toBe(changes.length)
    for (const name of changes) expect(lines[names.indexOf(name)]).toBe(`# TYPE ${name} gauge`)
    expect(read.map(({ type, help, name }) => [type, help !== '', name.startsWith('watchkeeper_usage_')])).toEqual(
      changes.map(() => ['GAUGE', true, true]),
    )
    expect(text.match(/^# EOF$/gm)).toHaveLength(1)
    expect(text.endsWith('\n# EOF\n')).toBe(true)
  })

  it('the metrics of usage-cost have no duplicate series when two entities have the same name', async () => {
    const record = (entityId: string, totalCredits: number) => ({
      date: new Date().toISOString().slice(0, 10),
      entityType: 'service',
      entityId,
      entityName: 'twin',
      totalCredits,
      locked: true,
    })
    const result = { grandTotalCredits: 0.3, costs: [record('a', 0.1), record('b', 0.2)] }
    emulator().addFault({ effect: { kind: 'body', text: JSON.stringify({ result }) } })
    const { text, read } = await run({ period: 'today' })
    const series = text
      .split('\n')
      .filter((line) => line.startsWith('w'))
      .map((line) => line.slice(0, line.lastIndexOf(' ')))
    expect(new Set(series).size).toBe(series.length)
    const entities = read.find(({ name }) => name === 'watchkeeper_usage_entity_credits')
    expect(entities?.metrics.map(({ labels, value }) => [labels?.entity, labels?.entity_id, value])).toEqual([
      ['twin', 'b', '0.2'],
      ['twin', 'a', '0.1'],
    ])
  })

  it('the metrics of usage-cost are the decimals of the result', async () => {
    const { read, document } = await run({ budgets: 'budgets.json' })
    const values = (name: string) => read.find((one) => one.name === `watchkeeper_usage_${name}`)?.metrics.map(({ value }) => value)
    const { grandTotalCredits, provisionalCredits, forecastCredits, byEntity, byMetric } = document as Record<string, unknown>
    const totals = (groups: unknown) => (groups as { total: string }[]).map(({ total }) => total)
    expect(values('credits')).toEqual([grandTotalCredits])
    expect(values('provisional_credits')).toEqual([provisionalCredits])
    expect(values('forecast_credits') ?? [undefined]).toEqual([forecastCredits])
    expect(values('budget_credits')).toEqual(['200'])
    expect(values('entity_credits')).toEqual(totals(byEntity))
    expect(values('metric_credits')).toEqual(totals(byMetric))
    expect(values('scoped_budget_credits')).toEqual(['1', '100000'])
    expect(values('scoped_budget_exceeded')).toEqual(['1', '0'])
  })

  it.each([
    ['100000', 'pass'],
    ['0', 'fail'],
  ])('the metrics of usage-cost say by a 1 how a budget of %s was judged', async (budget, expected) => {
    const { read } = await run({ budget })
    const status = read.find(({ name }) => name === 'watchkeeper_usage_status')?.metrics ?? []
    expect(status.filter(({ value }) => value === '1').map(({ labels }) => labels?.status)).toEqual([expected])
    expect(status).toHaveLength(3)
  })
})
