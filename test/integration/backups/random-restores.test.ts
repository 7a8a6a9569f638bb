// Restored tables of random rows. The share that verify-restore proves must be that of the rows themselves, counted here without hashes,
// groups or samples.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { newestBackup, restore, verifyRestore } from '../../support/restores.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

type Row = readonly [timeMs: number, value: number]

interface Compared {
  readonly name: string
  readonly outcome: string
  readonly reason: string
  readonly rows?: number
  readonly identicalRows?: number
}

/** Runs verify-restore on tables with these rows. Those whose name begins with `timeless` have no time. */
async function verifyAll(all: Readonly<Record<string, readonly [original: readonly Row[], restored: readonly Row[]]>>) {
  emulator().reset()
  const { id } = restore(emulator())
  const tablesOf = (side: 0 | 1) =>
    Object.entries(all).map(([name, sides]) => ({
      ...{ database: 'shop', name, engine: 'MergeTree', fromMs: 0, everyMs: 1, rows: sides[side] },
      ...(!name.startsWith('timeless') && { timeColumn: 't' }),
    }))
  serviceOf(emulator()).tables = tablesOf(0)
  const copy = emulator().store.organizations[0]?.services.find((one) => one.id === id)
  if (copy) copy.tables = tablesOf(1)
  const { document } = await verifyRestore(emulator(), id)
  return { status: document.restoreStatus, tables: document.tables as readonly Compared[] }
}

async function verify(original: readonly Row[], restored: readonly Row[]) {
  const { status, tables } = await verifyAll({ events: [original, restored] })
  return { status, ...tables.find(({ name }) => name === 'shop.events') }
}

/** How many of the rows from before a time the others have, each as often. */
function countKept(rows: readonly Row[], others: readonly Row[], beforeMs: number) {
  const left = new Map<string, number>()
  for (const row of others) left.set(row.join(), (left.get(row.join()) ?? 0) + 1)
  const [old, kept] = [rows.filter(([timeMs]) => timeMs < beforeMs), [] as Row[]]
  for (const row of old) {
    const n = left.get(row.join()) ?? 0
    left.set(row.join(), n - 1)
    if (n > 0) kept.push(row)
  }
  return { rows: old.length, kept: kept.length }
}

const dayMs = 86_400_000

/** Uneven, so that times are not whole seconds. */
const row = (maxAgeMs: number, values: number) =>
  fc
    .tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(values))
    .map(([age, value]): Row => [-1 - 2 * Math.floor((age ** 4 * maxAgeMs) / 2), value])

const states = fc
  .record({ maxAgeMs: fc.constantFrom(3_600_000, 2 * dayMs, 400 * dayMs), values: fc.constantFrom(0, 3, 1_000_000) })
  .chain(({ maxAgeMs, values }) =>
    fc.record({
      rows: fc.array(row(maxAgeMs, values), { minLength: 1, maxLength: 300, size: 'max' }),
      /** What becomes of each row: it is there, lost, there twice, or has another value or time. */
      fates: fc.array(fc.constantFrom('kept', 'kept', 'kept', 'lost', 'twice', 'changed', 'moved'), {
        minLength: 1,
        maxLength: 300,
        size: 'max',
      }),
      damage: fc.constantFrom(0, 0.02, 0.3, 1),
      surplus: fc.array(row(maxAgeMs, values), { maxLength: 50 }),
      /** Rows that each service gets later. */
      later: fc.tuple(fc.nat(600), fc.nat(600)),
    }),
  )

it('V13: the proven share of random rows is exact, and a restore with less than nine of ten is never verified, whatever else it has', {
  tags: 'slow',
}, async () => {
  await fc.assert(
    fc.asyncProperty(states, async ({ rows, fates, damage, surplus, later }) => {
      const { startMs } = newestBackup(emulator())
      const at = ([age, value]: Row): Row => [startMs + age, value]
      const damaged = Math.ceil(rows.length * damage)
      const copies = rows.flatMap(([age, value], i): readonly Row[] => {
        const fate = i < damaged ? fates[i % fates.length] : 'kept'
        if (fate === 'lost') return []
        if (fate === 'changed') return [[age, value + 7]]
        if (fate === 'moved') return [[age - 2, value]]
        return fate === 'twice'
          ? [
              [age, value],
              [age, value],
            ]
          : [[age, value]]
      })
      const nowMs = Date.now()
      const live = (count: number): readonly Row[] => Array.from({ length: count }, (_, i) => [nowMs + 5000 + i, i])
      const original = [...rows.map(at), ...live(later[0])]
      const restored = [...copies.map(at), ...(damage === 0 ? [] : surplus.map(at)), ...live(later[1])]
      const expected = countKept(original, restored, startMs)
      const proven = await verify(original, restored)
      const share = expected.kept / expected.rows
      if (share < 0.9) expect(proven.status).not.toBe('verified')
      if (share === 1) expect(proven).toMatchObject({ status: 'verified' })
      if (proven.rows !== undefined) expect([proven.rows, proven.identicalRows]).toEqual([expected.rows, expected.kept])
      else expect(proven.reason).toMatch(/^is empty/)
    }),
    { numRuns: 40 },
  )
})

it('V13: the share of more rows than a sample has is exact to a few percent, and exact where rows are only lost', {
  tags: 'slow',
}, async () => {
  const { startMs } = newestBackup(emulator())
  const rows = Array.from({ length: 12_000 }, (_, i): Row => [startMs - 1 - 30_001 * i, i])
  for (const share of [0.05, 0.5]) {
    // A value that depends on the number in another way than the hash of the emulator does.
    const copies = rows.map(([timeMs, i]): Row => [timeMs, (i * 7919) % 12_000 < share * 12_000 ? i + 1_000_000 : i])
    const { kept } = countKept(rows, copies, startMs)
    const { identicalRows = Number.NaN } = await verify(rows, copies)
    expect(Math.abs(identicalRows - kept) / rows.length, String(share)).toBeLessThan(0.04)
    const limits = emulator().requests.flatMap(({ body }) => /__h <= (\d+)/.exec(JSON.stringify(body))?.[1] ?? [])
    expect(limits.length > 0 && limits.every((limit) => Number(limit) < 2 ** 64 / 4), 'a sample of the rows is read').toBe(true)
  }
  for (const every of [3, 5, 7, 9, 11, 13]) {
    const left = rows.filter((_, i) => i % every > 1)
    expect((await verify(rows, left)).identicalRows, String(every)).toBe(left.length)
  }
})

it('V13: needs all rows where the backup has rows from after it, because their time is not that of the row', { tags: 'slow' }, async () => {
  const { startMs } = newestBackup(emulator())
  const rows = Array.from({ length: 300 }, (_, i): Row => [startMs + (i % 3 === 0 ? 3_600_000 + i : -1 - 2 * i), i])
  expect((await verify(rows, rows)).status).toBe('verified')
  const lost = await verify(
    rows,
    rows.filter(([timeMs], i) => timeMs < startMs || i % 2 === 0),
  )
  expect(lost).toMatchObject({ status: 'started', outcome: 'unknown' })
})

it('V13: warns where most rows are newer than the backup by their times, which can be others than those of the writes', async () => {
  const { startMs } = newestBackup(emulator())
  const nowMs = Date.now()
  const old = Array.from({ length: 30 }, (_, i): Row => [startMs - 1 - 2 * i, i])
  const later = Array.from({ length: 31 }, (_, i): Row => [nowMs + 5000 + i, i])
  expect(await verify([...old, ...later.slice(1)], old)).toMatchObject({ outcome: 'pass', rows: 30 })
  expect(await verify([...old, ...later], old)).toMatchObject({
    outcome: 'warn',
    rows: 30,
    reason: '31 of 61 rows are newer than the backup by the column t, and were not compared',
  })
})

it('V13: judges the rows of a table at the limits of each rule', async () => {
  const { startMs } = newestBackup(emulator())
  const rowsAt = (ms: number) => (length: number) => Array.from({ length }, (_, i): Row => [ms - 2 * i, i])
  const old = rowsAt(startMs - 10 * dayMs - 1)
  /** Just older than newestWithin. */
  const recent = rowsAt(startMs - 16 * 60_000 - 1)
  const ahead = rowsAt(Date.now() + 7 * dayMs)
  const impossible = rowsAt(startMs + 3_600_001)
  const later = rowsAt(Date.now() + 5001)
  const during = rowsAt(startMs + 1001)
  const { tables } = await verifyAll({
    '89 of 100': [old(100), old(89)],
    '90 of 100': [old(100), old(90)],
    '98 of 100': [old(100), old(98)],
    'one row': [old(1), old(1)],
    'one row with another value': [old(1), [[startMs - 10 * dayMs - 1, 7]]],
    '9 of the newest 20': [
      [...old(400), ...recent(20)],
      [...old(400), ...recent(9)],
    ],
    '10 of the newest 20': [
      [...old(400), ...recent(20)],
      [...old(400), ...recent(10)],
    ],
    'none of the newest 19': [[...old(400), ...recent(19)], old(400)],
    '15 without a time': [[...old(100), ...ahead(15)], old(100)],
    'timeless, 40 of 100': [old(100), old(40)],
    'rows from during the backup': [
      [...old(100), ...during(10)],
      [...old(100), ...during(10)],
    ],
    'impossible rows, and newer ones': [
      [...old(100), ...impossible(3)],
      [...old(100), ...impossible(3), ...later(100)],
    ],
  })
  expect(Object.fromEntries(tables.map(({ name, outcome, reason }) => [name, `${outcome} ${reason}`.replace(/; .*/, '')]))).toMatchObject({
    'shop.89 of 100': 'fail lacks 11 of 100 rows from before the backup, and minRowRatio is 0.9',
    'shop.90 of 100': 'warn 90% of 100 rows from before the backup are identical',
    'shop.98 of 100': 'pass 98% of 100 rows from before the backup are identical',
    'shop.one row': 'pass ',
    'shop.one row with another value': 'fail 0% of 1 row from before the backup are identical, and minRowRatio is 0.9',
    'shop.9 of the newest 20': 'fail has 9 of the newest 20 rows that are older than newestWithin, 15m',
    'shop.10 of the newest 20': 'warn 97.6% of 420 rows from before the backup are identical',
    'shop.none of the newest 19': 'warn 95.4% of 419 rows from before the backup are identical',
    'shop.15 without a time': expect.stringMatching(/^unknown lacks 15 of 115 rows from before the backup, and no time shows/),
    'shop.timeless, 40 of 100': expect.stringMatching(/^unknown lacks 60 of 100 rows, and no time shows/),
    'shop.rows from during the backup': 'pass ',
    'shop.impossible rows, and newer ones': 'warn 100% of 103 rows are identical',
  })
})
