// Compares the tables of a restored service with those of the original, by the counts and the hashes of their rows.
import { forEachConcurrently } from '../platform/core/concurrency.ts'
import { digestOfText } from '../platform/core/digest.ts'
import { hourMs } from '../platform/core/durations.ts'
import { namesAtMost, plural, quote, showCount } from '../platform/core/text.ts'
import { durationMsOf } from '../platform/operation/inputs.ts'
import { formatRatio } from '../platform/report/format.ts'
import type { ChecksFile } from './checks-file.ts'
import { type ComparedPart, type ComparedTable, fail, maybe, pass, passes, skipped, unknown, usualShare, warn } from './restore-rules.ts'
import {
  ageKey,
  assignedColumns,
  byHash,
  comparedValue,
  type Group,
  inHours,
  type ListedTable,
  listTables,
  type Moments,
  NotRead,
  onlyGroups,
  otherAges,
  type Queried,
  type Reading,
  readChanges,
  readDefaults,
  readGroups,
  startOfStep,
  timeColumnsOf,
} from './restored-data.ts'

interface Comparison {
  readonly original: Queried
  readonly restored: Queried
  readonly rules: ChecksFile['tables']
  readonly moments: Moments
  /** Chooses the hours of large tables whose values are compared. */
  readonly seed: string
}

type JudgedTable = Omit<ComparedTable, 'name'>

/** Compares the databases and tables of the original. */
export async function compareTables(comparison: Comparison): Promise<ComparedTable[]> {
  const lists = await Promise.all([listTables(comparison.original), listTables(comparison.restored)]).catch(orUnknown)
  if ('outcome' in lists) return [{ name: 'tables', ...lists }]
  const [all, found] = lists
  // A database is as its tables are.
  const filled = new Set(all.flatMap(({ database, name }) => (name === '' ? [] : database)))
  const listed = all.filter(({ database, name }) => name !== '' || !filled.has(database))
  const twins = new Map(found.map((table) => [table.key, table]))
  const compared: ComparedTable[] = []
  const judge = async ([i, table]: readonly [number, ListedTable]): Promise<void> => {
    const about = { name: table.key, ...(table.name === '' && { isDatabase: true as const }) }
    compared[i] = { ...about, ...(await judgeTable(comparison, table, twins.get(table.key)).catch(orUnknown)) }
  }
  // More queries at the same time would be slower, and the original has other work.
  await forEachConcurrently([...listed.entries()], () => 2, judge)
  return compared
}

function orUnknown(thrown: unknown): ComparedPart {
  if (thrown instanceof NotRead) return unknown(`not compared: ${thrown.message}`)
  throw thrown
}

async function judgeTable(comparison: Comparison, table: ListedTable, twin: ListedTable | undefined): Promise<JudgedTable> {
  const { rules, moments } = comparison
  if ([table.key, `${table.database}.*`].some((one) => rules.ignore.includes(one))) return skipped('ignored by the file')
  const structure = twin && judgeStructure(table, twin, moments.backupMs)
  if (structure?.outcome === 'fail') return structure
  const timed = table.hasRows ? await readTime(comparison, table, twin) : undefined
  if (structure === undefined) {
    // The server does not say when a table was made, but when it changed.
    if (table.name === '' || table.changed * 1000 <= moments.backupMs) return fail('is missing')
    if (timed?.isNewer) return skipped('made after the backup')
    return fail('is missing; if it was made after the backup, list it in tables.ignore')
  }
  const judged = timed ? await judgeRows(comparison, timed) : structure
  return structure.outcome === 'unknown' && judged.outcome !== 'fail' ? { ...judged, ...structure } : judged
}

/** Engines and columns. A column that the restored table has and the original has not is no loss. */
function judgeStructure(original: ListedTable, restored: ListedTable, backupMs: number): ComparedPart {
  // The service decides where the data is.
  const engineOf = ({ engine, storage }: ListedTable): string => `${engine} (${storage})`.replaceAll(/\b(?:Shared|Replicated)/g, '')
  const partsOf = (table: ListedTable): ReadonlyMap<string, string> =>
    new Map([
      ['engine', table.name === '' ? '' : engineOf(table)],
      ...table.columns.map(({ name, type }): [string, string] => [`column ${quote(name)}`, quote(type)]),
    ])
  const [theirs, ours] = [partsOf(original), partsOf(restored)]
  const lost = [...theirs.keys()].filter((part) => !ours.has(part))
  const [other] = [...theirs].filter(([part, value]) => ours.has(part) && ours.get(part) !== value)
  if (lost.length === 0 && other === undefined) return pass
  const reason = other ? `its ${other[0]} is ${ours.get(other[0])}, and ${other[1]} in the original` : `lacks the ${namesAtMost(3, lost)}`
  return original.changed * 1000 > backupMs
    ? unknown(`${reason}, and the original was changed after the backup; verify a newer backup`)
    : fail(`${reason}; if the original was changed after the backup, verify a newer backup`)
}

const sumBy = <K extends string>(groups: readonly Readonly<Record<K, number>>[], of: K) => groups.reduce((sum, one) => sum + one[of], 0)

const isDated = ({ age }: { readonly age: number }) => age > otherAges.undated

/**
 * The column with the times of the rows: one in a key, otherwise the one with the most rows from before the backup, because a time that
 * changes later has fewer.
 */
async function readTime({ original, rules, moments }: Comparison, table: ListedTable, twin = table) {
  const types = new Map(table.columns.map(({ name, type }) => [name, type]))
  // The restored table is as it was at the time of the backup.
  const columns = twin.columns.filter(({ name, type, kind }) => !/^(?:ALIAS|EPHEMERAL)$/.test(kind) && types.get(name) === type)
  const [first, ...others] = timeColumnsOf(columns)
  const ages = { ...moments, cutMs: moments.backupMs, withinMs: durationMsOf(rules.newestWithin) }
  // More would take the server too long.
  const read = [first, ...(first?.isKey ? [] : others.slice(0, 3))].map(async (time) => {
    const groups = time ? await readGroups(original, { table, time, columns: [], key: ageKey(ages), where: [] }) : []
    const dated = groups.filter(isDated)
    const stepMs = dated.reduce((least, group) => Math.min(least, group.stepMs), Number.POSITIVE_INFINITY)
    // The step of the backup goes on after it.
    const cutMs = startOfStep(moments.backupMs, stepMs) - 1
    const reading: Reading = { table, time, columns, key: time ? ageKey({ ...ages, cutMs }) : '0', where: [] }
    const isNewer = time !== undefined && groups.every(({ age }) => age < otherAges.undated)
    return { reading, spanMs: Math.max(hourMs, stepMs), dated: sumBy(dated, 'rows'), isNewer }
  })
  return (await Promise.all(read)).toSorted((a, b) => b.dated - a.dated)[0]
}

const noGroup = { rows: 0, sum: '0', distinct: 0, newestMs: 0 }

/** Groups of both tables with the same key. `kept` rows can be the same. A sample of `distinct` is not too large for the restored table. */
function pairGroups(original: readonly Group[], restored: readonly Group[]) {
  const [theirs, ours] = [new Map(original.map((one) => [one.key, one])), new Map(restored.map((one) => [one.key, one]))]
  return [...new Set([...theirs.keys(), ...ours.keys()])].map((key) => {
    const [{ rows, sum, distinct, newestMs }, other] = [theirs.get(key) ?? noGroup, ours.get(key) ?? noGroup]
    const isEqual = rows === other.rows && sum === other.sum
    const about = { key, age: Number(key), rows, restoredRows: other.rows, kept: Math.min(rows, other.rows), newestMs, isEqual }
    return { ...about, distinct: Math.max(distinct, other.distinct / 25) }
  })
}

type Pairs = ReturnType<typeof pairGroups>

/**
 * Rows that the restored table lacks, by groups of their hashes. The sample says which share of the rows is lost, and which share of the
 * restored rows is not in the original; the smaller one is more exact. Counts can show that more is lost.
 */
function estimateLost(pairs: Pairs) {
  const sample = pairs.filter(({ key }) => key.startsWith('(1,'))
  const [rows, restoredRows] = [sumBy(pairs, 'rows'), sumBy(pairs, 'restoredRows')]
  const lostShare = 1 - sumBy(sample, 'kept') / Math.max(1, sumBy(sample, 'rows'))
  const newShare = 1 - sumBy(sample, 'kept') / Math.max(1, sumBy(sample, 'restoredRows'))
  return Math.max(rows - sumBy(pairs, 'kept'), newShare < lostShare ? rows - restoredRows * (1 - newShare) : rows * lostShare)
}

/** The values of all rows are read up to this size, which takes about 2 s per GiB on two cores. A query may take 30 s. */
const maxValueBytes = 2 * 1024 ** 3

async function prove({ original, restored, seed }: Comparison, reading: Reading, spanMs: number) {
  const { table, time } = reading
  const readPairs = async (one: Reading): Promise<Pairs> =>
    pairGroups(...(await Promise.all([readGroups(original, one), readGroups(restored, one)])))
  const orSample = (thrown: unknown): undefined => {
    if (time === undefined || !(thrown instanceof NotRead)) throw thrown
  }
  const whole = time && table.bytes > maxValueBytes ? undefined : await readPairs(reading).catch(orSample)
  // The values of all rows would take too long.
  const ages = whole ?? (await readPairs({ ...reading, columns: [] }))
  const counted = ages.filter(({ age }) => age >= otherAges.undated)
  const values = whole ? reading : sampleHours(reading, spanMs, counted.filter(isDated), seed)
  const valued = whole ? counted : await readPairs(values)
  const others = valued.filter(({ isEqual }) => !isEqual)
  // Hashes up to this limit are a random sample of 2000 different rows, with a standard error of 1%, and all of them where these are fewer.
  const limit = (2n ** 64n * 2000n) / BigInt(Math.max(2000, Math.round(sumBy(others, 'distinct')))) - 1n
  const sample = byHash(onlyGroups(values, others), limit)
  const lost = others.length === 0 ? 0 : estimateLost(await readPairs(sample))
  const [rows, restoredRows, valuedRows] = [sumBy(counted, 'rows'), sumBy(counted, 'restoredRows'), sumBy(valued, 'rows')]
  const [impossible = [], newer = []] = [otherAges.impossible, otherAges.newer].map((age) => ages.filter((one) => one.age === age))
  const undated = counted.filter(({ age, isEqual }) => age === otherAges.undated && !(whole && isEqual))
  const newest = counted.filter(({ age, rows: n }) => age >= 0 && n > 0).toSorted((a, b) => a.age - b.age)
  return {
    ...{ reading, spanMs, isTimed: time !== undefined, rows, restoredRows, valuedRows },
    ...{ isEqual: others.length === 0, values: onlyGroups(values, valued) },
    /** Rows that are lost by counts alone. Other groups replace none. */
    lost: rows - sumBy(counted, 'kept'),
    /** Rows that the restored table has with the same values, as often. */
    kept: Math.min(sumBy(counted, 'kept'), Math.round(rows - (rows * lost) / Math.max(1, valuedRows))),
    /** Rows without a time may be newer. */
    undated: sumBy(undated, 'rows'),
    newer: sumBy(newer, 'rows'),
    /** The backup has newer rows, so the times are not those of the rows. No hour of a sample has rows without a time. */
    isOtherTime:
      sumBy([...impossible, ...(whole ? [] : undated)], 'restoredRows') >
      (1 - usualShare) * (sumBy(ages, 'restoredRows') - sumBy(newer, 'restoredRows')),
    /** The newest groups with 20 rows, without those within newestWithin. */
    newest: newest.slice(0, 20).filter((_, i) => sumBy(newest.slice(0, i), 'rows') < 20),
  }
}

type Proof = Awaited<ReturnType<typeof prove>>

/** About 24 random hours, and the newest. Another backup has others. */
function sampleHours(reading: Reading, spanMs: number, dated: Pairs, seed: string): Reading {
  const newestMs = dated.reduce((latest, one) => Math.max(latest, one.newestMs), Number.NEGATIVE_INFINITY)
  const ageMs = dated.reduce((sum, one) => sum + one.rows * (newestMs - one.newestMs), 0) / sumBy(dated, 'rows')
  // All hours are about twice as many as those of the mean age.
  const oneOf = Math.max(1, Math.round((2 * ageMs) / spanMs / 24))
  return inHours(reading, spanMs, newestMs - spanMs, { oneOf, seed: Number.parseInt(digestOfText(`${seed} ${reading.table.key}`, 8), 16) })
}

const rowWords = ({ rows, isTimed }: Proof) => `${plural(rows, 'row')}${isTimed ? ' from before the backup' : ''}`

const identical = (proof: Proof): string => `${formatRatio(proof.kept / proof.rows)} of ${rowWords(proof)} are identical`

function judgeProof(proof: Proof, { newestWithin, minRowRatio }: ChecksFile['tables']): ComparedPart {
  const { rows, restoredRows, lost, kept, undated, isTimed, newest } = proof
  if (rows === 0) return isTimed ? unknown('the original has no rows from before the backup') : skipped('the original has no rows')
  if (restoredRows === 0) return fail(`is empty, and the original has ${rowWords(proof)}`)
  const least = minRowRatio * rows
  const words = rows - lost < least ? `lacks ${showCount(lost)} of ${rowWords(proof)}` : identical(proof)
  if (isTimed && kept + undated < least) return fail(`${words}, and minRowRatio is ${minRowRatio}${maybe}`)
  const [newestRows, newestKept] = [sumBy(newest, 'rows'), sumBy(newest, 'kept')]
  if (isTimed && newestRows >= 20 && newestKept < newestRows / 2)
    return fail(
      `has ${showCount(newestKept)} of the newest ${plural(newestRows, 'row')} that are older than newestWithin, ${newestWithin}${maybe}`,
    )
  if (kept < least)
    return unknown(`${words}, and no time shows which rows are newer than the backup; compare it by a check, or list it in tables.ignore`)
  const more = restoredRows - kept
  const hasMore = more > (1 - usualShare) * restoredRows
  const reason = `${identical(proof)}${hasMore ? `; ${plural(more, 'restored row')} more than the original has` : ''}`
  if (kept < usualShare * rows || hasMore) return warn(reason)
  return kept < rows ? { outcome: 'pass', reason } : pass
}

/** Judges rows by their times. Where a column does not have these, all rows must be there, too. */
async function judgeRows(comparison: Comparison, timed: NonNullable<Awaited<ReturnType<typeof readTime>>>): Promise<JudgedTable> {
  const proof = timed.dated === 0 ? undefined : await prove(comparison, timed.reading, timed.spanMs)
  const judged = proof?.rows ? await judgeProven(comparison, proof) : undefined
  if (proof && judged && (!proof.isOtherTime || judged.outcome === 'fail')) {
    // A time that is not that of the write, such as one of an appointment, leaves out rows that the backup should have.
    if (!passes(judged) || proof.newer <= proof.rows) return judged
    const newer = `${showCount(proof.newer)} of ${plural(proof.newer + proof.rows, 'row')} are newer than the backup by the column ${quote(judged.timeColumn ?? '')}`
    return { ...judged, ...warn([judged.reason, `${newer}, and were not compared`].filter(Boolean).join('; ')) }
  }
  const all = await judgeProven(comparison, await prove(comparison, { ...timed.reading, time: undefined, key: '0' }, timed.spanMs))
  if (timed.reading.time === undefined || all.outcome === 'skipped') return all
  const why = `by the column ${quote(timed.reading.time.name)}, ${judged ? 'rows of the backup are not from before it' : 'no row is from before the backup'}`
  const outcome = all.outcome === 'fail' && !judged ? 'unknown' : all.outcome
  return { ...all, outcome, reason: [all.reason, why].filter(Boolean).join('; ') }
}

/** Defaults that are computed when a row is read that is older than the column. */
const changingDefault = /\b(?:now|now64|today|yesterday|rand\w*|generateUUID\w*|hostName|currentUser|dictGet\w*)\(/i

async function judgeProven(comparison: Comparison, proof: Proof): Promise<JudgedTable> {
  const { original, restored, rules } = comparison
  const { rows, restoredRows, kept, valuedRows, reading, values } = proof
  const { table, time, columns } = reading
  const leftOut = columns.filter((column) => comparedValue(column) === undefined).map(({ name }) => name)
  if (leftOut.length === columns.length) return unknown('not compared: none of its columns has values that can be compared')
  const facts = { timeColumn: time?.name, rows, restoredRows, identicalRows: kept, valuedRows, leftOutColumns: leftOut }
  const judged = { ...facts, ...judgeProof(proof, rules) }
  if (proof.isEqual || kept >= usualShare * rows) return judged
  const own = (await readChanges(original)).filter((one) => one.database === table.database && one.table === table.name)
  const updated = new Set(own.flatMap(({ command }) => assignedColumns(command)))
  const [theirs, ours] = await Promise.all([readDefaults(original, values), readDefaults(restored, values)])
  const empty = columns.find((_, i) => (ours[i] ?? 0) >= 0.99 && (theirs[i] ?? 1) < 0.5)
  if (empty !== undefined) {
    const reason = `its column ${quote(empty.name)} has no values`
    const later = unknown(`${reason}, and was updated in the original after the backup; verify a newer backup`)
    return { ...facts, ...(updated.has(empty.name) ? later : fail(reason)) }
  }
  // An explanation needs a second proof, by the columns that it leaves.
  const changed = columns.filter((column) => changingDefault.test(column.byDefault) || updated.has(column.name)).map(({ name }) => name)
  const keys = columns.filter(({ isSortingKey }) => table.isMerging && isSortingKey)
  for (const left of passes(judged) ? [] : [columns.filter(({ name }) => !changed.includes(name)), keys]) {
    if (left.length === 0 || left.length === columns.length) continue
    const second = await prove(comparison, { ...reading, columns: left }, proof.spanMs)
    if (!passes(judgeProof(second, rules))) continue
    const words = left === keys ? 'in its sorting key' : `without ${namesAtMost(3, changed)}`
    const warning = { ...facts, ...warn(`${identical(proof)}; ${words}, ${formatRatio(second.kept / second.rows)} are`) }
    if (left === keys) return { ...warning, keyRows: Math.max(0, second.kept - kept) }
    return { ...warning, identicalRows: second.kept, leftOutColumns: [...leftOut, ...changed] }
  }
  return judged
}
