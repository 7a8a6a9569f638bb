// Computes every figure of a report again from the result file, with integers and without code of this project.
import { describe, expect, it } from 'vitest'
import { type Day, formatDay } from '../../../../src/platform/core/dates.ts'
import { inputsFor, useEmulator } from '../../../support/emulator.ts'
import { nodesOf, parseMarkdown } from '../../../support/output-oracle.ts'
import { runAsAction } from '../../../support/run-as-action.ts'

const emulator = useEmulator({ rateLimit: { limit: 1000, windowMs: 1000 } })

interface ResultRecord {
  readonly date: string
  readonly entityName: string
  readonly entityType: string
  readonly total: string
  readonly metrics: Readonly<Record<string, string>>
  readonly locked: boolean
}

const micro = (text: string): bigint => {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const value = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6))
  return sign === '-' ? -value : value
}

const divide = (a: bigint, b: bigint): bigint => {
  const doubled = (2n * (a < 0n ? -a : a) + b) / (2n * b)
  return a < 0n ? -doubled : doubled
}

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',')

/** Rounded half up. */
function rounded(value: bigint, places: number): string {
  const unit = divide(value, 10n ** BigInt(6 - places))
  const digits = String(unit < 0n ? -unit : unit).padStart(places + 1, '0')
  const text = places === 0 ? grouped(digits) : `${grouped(digits.slice(0, -places))}.${digits.slice(-places)}`
  return unit < 0n ? `-${text}` : text
}

const percent = (part: bigint, whole: bigint, places: number): string => rounded(divide(part * 100_000_000n, whole), places)

const sumOf = (records: readonly ResultRecord[]): bigint => records.reduce((sum, { total }) => sum + micro(total), 0n)

function tally<Key extends string>(
  records: readonly ResultRecord[],
  cellsOf: (record: ResultRecord) => readonly (readonly [Key, bigint])[],
) {
  const sums = new Map<Key, bigint>()
  for (const [key, amount] of records.flatMap(cellsOf)) sums.set(key, (sums.get(key) ?? 0n) + amount)
  return sums
}

const byEntity = (records: readonly ResultRecord[]) => tally(records, ({ entityName, total }) => [[entityName, micro(total)]])
const byMetric = (records: readonly ResultRecord[]) =>
  tally(records, ({ metrics }) => Object.entries(metrics).map(([name, amount]) => [name, micro(amount)] as const))
const byCell = (records: readonly ResultRecord[]) =>
  tally(records, ({ entityName, metrics }) =>
    Object.entries(metrics).map(([name, amount]) => [`${entityName} ${name}`, micro(amount)] as const),
  )

const absolute = (value: bigint): bigint => (value < 0n ? -value : value)

const signed = (value: bigint): string => `${value > 0n ? '+' : ''}${rounded(value, 2)}`

/** Cells that changed, with their change. */
function changesOf(before: ReadonlyMap<string, bigint>, after: ReadonlyMap<string, bigint>): ReadonlyMap<string, bigint> {
  const cells = [...new Set([...before.keys(), ...after.keys()])]
  return new Map(
    cells.map((cell) => [cell, (after.get(cell) ?? 0n) - (before.get(cell) ?? 0n)] as const).filter(([, change]) => change !== 0n),
  )
}

/** Tables of the summary by the words above them; each row as its cells. */
function tablesOf(markdown: string): ReadonlyMap<string, readonly (readonly string[])[]> {
  const tables = new Map<string, readonly (readonly string[])[]>()
  let title = ''
  const text = (node: Parameters<typeof nodesOf>[0]): string => [...nodesOf(node)].map(({ value = '' }) => value).join('')
  for (const node of parseMarkdown(markdown).children ?? []) {
    if (node.type === 'paragraph') title = text(node)
    if (node.type === 'html') title = 'records'
    if (node.type === 'table')
      tables.set(
        title,
        (node.children ?? []).slice(1).map((row) => (row.children ?? []).map(text)),
      )
  }
  return tables
}

describe('every figure of the summary', () => {
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  const budgets =
    '- { name: Checkout, limit: 200, scope: { entity: checkout } }\n- { name: Compute, limit: 300, scope: { metric: compute } }\n'

  it('every figure of the summary can be computed from the records in the result file', async () => {
    const dates = { period: `${day(24)}..${day(5)}` }
    const ran = await runAsAction({
      inputs: { ...inputsFor(emulator()), operation: 'usage-cost', ...dates, budget: '300', compare: 'previous-period', budgets: 'b.yml' },
      files: { 'b.yml': budgets },
    })
    const { records, otherRecords } = ran.result as unknown as { records: ResultRecord[]; otherRecords: ResultRecord[] }
    const tables = tablesOf(ran.summary)
    const [total, before] = [sumOf(records), sumOf(otherRecords)]
    const open = (some: readonly ResultRecord[]) => some.filter(({ locked }) => !locked)

    expect(ran.summary).toMatch(
      new RegExp(`^### ✅ Used ${rounded(total, 2)} of 300\\.00 CHC \\(${percent(total, 300_000_000n, 0)}%\\) from `),
    )
    const change = total - before
    expect([...tables.values()].flat()).toContainEqual(['Used', `${rounded(total, 2)} of 300.00 CHC (${percent(total, 300_000_000n, 0)}%)`])
    expect([...tables.values()].flat()).toContainEqual([
      'Change from the previous period',
      `${change > 0n ? '+' : ''}${rounded(change, 2)} CHC (${change > 0n ? '+' : ''}${percent(change, before, 1)}%), from ${rounded(before, 2)} to ${rounded(total, 2)} CHC`,
    ])
    expect(open(records)).toEqual([])
    const largestFirst = (sums: ReadonlyMap<string, bigint>) => [...sums].sort(([, a], [, b]) => Number(b - a))
    expect(tables.get('By entity')).toEqual(
      largestFirst(byEntity(records)).map(([name, amount]) => [
        name,
        records.find(({ entityName }) => entityName === name)?.entityType,
        rounded(amount, 2),
        `${percent(amount, total, 1)}%`,
      ]),
    )
    expect(tables.get('By metric')).toEqual(
      largestFirst(byMetric(records)).map(([name, amount]) => [name, rounded(amount, 2), `${percent(amount, total, 1)}%`]),
    )
    const used = { Checkout: byEntity(records).get('checkout') ?? 0n, Compute: byMetric(records).get('compute') ?? 0n }
    expect(tables.get('Budgets')?.map((cells) => [cells[1], cells[2], cells[3]?.split('\u00a0')[1]])).toEqual([
      [rounded(used.Checkout, 2), '200.00', `${percent(used.Checkout, 200_000_000n, 1)}%`],
      [rounded(used.Compute, 2), '300.00', `${percent(used.Compute, 300_000_000n, 1)}%`],
    ])
    const [now, then] = [byCell(records), byCell(otherRecords)]
    const rows = [...tables].find(([title]) => title.startsWith('Largest changes'))?.[1] ?? []
    const movers = rows.filter(([entity = '']) => !entity.endsWith(' smaller changes'))
    const changes = changesOf(then, now)
    const moved = [...changes].flatMap(([cell, change]) => (absolute(change) * 200n >= total ? [cell] : []))
    const rest = [...changes].reduce((sum, [cell, change]) => (moved.includes(cell) ? sum : sum + change), 0n)
    expect(rows.slice(movers.length).map(([entity, , , , change]) => [entity, change])).toEqual([
      [`${changes.size - moved.length} smaller changes`, signed(rest)],
    ])
    expect(movers.length).toBeGreaterThan(0)
    expect(movers.map(([entity, metric]) => `${entity} ${metric}`).toSorted()).toEqual(moved.toSorted())
    for (const [entity, metric, was, is, change] of movers) {
      const [a, b] = [then.get(`${entity} ${metric}`) ?? 0n, now.get(`${entity} ${metric}`) ?? 0n]
      expect([was, is, change]).toEqual([rounded(a, 2), rounded(b, 2), signed(b - a)])
    }
    const spikes = tables.get('Spikes') ?? []
    expect(spikes.map(([date, of, amount]) => [date, of, amount])).toEqual([
      [formatDay(day(12) as Day), 'all', rounded(sumOf(records.filter(({ date }) => date === day(12))), 2)],
    ])
  })
})
