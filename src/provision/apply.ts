// Owns applying a plan: in the order of dependencies, one request after the other, each object with an outcome of its own.
import type { Change, Plan } from './change.ts'
import type { Finding } from './finding.ts'
import type { Body } from './kinds/kind.ts'
import { createLedger, type Ledger, type LedgerOptions } from './ledger.ts'
import { failed, failedAfterDelete, type Outcome } from './outcome.ts'
import { deleteAll } from './prune.ts'
import { reviewAll } from './review.ts'
import { type SettleOptions, settleUnknown } from './settle.ts'
import { recordSnapshots } from './snapshots.ts'
import type { Stop } from './stopping.ts'
import { NotRecreatedError, writeChange } from './write-change.ts'

export interface ApplyOptions extends LedgerOptions, Omit<SettleOptions, 'write'> {}

export interface Applied {
  /** One for each change, in the plan's order. */
  readonly outcomes: readonly Outcome[]
  /** What is wrong although every request was answered well. */
  readonly findings: readonly Finding[]
  /** Why the run ended before its end. */
  readonly stopped: Stop | undefined
}

export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<Applied> {
  const ledger = createLedger(options)
  const write = (change: Change, desired: Body): Promise<void> => writeOne(change, desired, ledger, options)
  const [deletes, writes] = [plan.changes.filter(isDelete), plan.changes.filter((change) => !isDelete(change))]
  for (const change of writes) if (change.actual !== undefined) ledger.learn({ change, actual: change.actual })
  const waiting = await writeAll(writes, ledger, write)
  await settleUnknown(writes, ledger, { ...options, write })
  for (const change of await writeAll(waiting, ledger, write)) await ledger.skip(change, 'what it watches may not exist')
  await settleUnknown(waiting, ledger, { ...options, write })
  const answers = new Map(ledger.all().flatMap(({ change, actual }) => (actual === undefined ? [] : [[change, actual] as const])))
  const { findings: reviewFindings, lists } = await reviewAll(plan, ledger, options)
  const findings = [...reviewFindings, ...(await recordSnapshots({ changes: writes, lists, answers, ledger }, options))]
  await deleteAll({ ...options, deletes, findings, ledger, write: (change) => write(change, {}) })
  return { outcomes: plan.changes.flatMap((change) => ledger.outcomeOf(change) ?? []), findings, stopped: ledger.stopped() }
}

const isDelete = ({ action }: Change): boolean => action === 'delete'

/** Returns what waits for objects of which nobody knows yet whether they exist. */
async function writeAll(
  changes: readonly Change[],
  ledger: Ledger,
  write: (change: Change, desired: Body) => Promise<void>,
): Promise<readonly Change[]> {
  const waiting: Change[] = []
  for (const change of changes) {
    const resolved = ledger.resolve(change.desired ?? {})
    if ('body' in resolved) {
      await write(change, resolved.body)
      continue
    }
    const { section, key } = resolved.waitsFor
    const target = ledger.all().find((one) => one.change.section === section && one.change.key === key)
    if (target?.kind === 'unknown') waiting.push(change)
    else await ledger.skip(change, ledger.stopped()?.words ?? `${section}.${key} was not written`)
  }
  return waiting
}

async function writeOne(change: Change, desired: Body, ledger: Ledger, options: ApplyOptions): Promise<void> {
  const reason = ledger.stopped()?.words
  if (reason !== undefined && change.action !== 'unchanged') return ledger.skip(change, reason)
  try {
    await ledger.record(await writeChange(change, desired, options))
  } catch (thrown) {
    await ledger.record(thrown instanceof NotRecreatedError ? failedAfterDelete(change, thrown) : failed(change, thrown))
  }
}
