// Owns what became of each object of a plan.
import { ApiError } from '../api/api-error.ts'
import { type ErrorKind, WatchkeeperError } from '../kernel/errors.ts'
import type { Action, Change, FieldChange } from './change.ts'
import type { Actual } from './kinds/kind.ts'

/** `unknown`: the request was sent, and nobody can tell whether the server acted. */
export const outcomeKinds = ['created', 'updated', 'replaced', 'deleted', 'adopted', 'unchanged', 'skipped', 'failed', 'unknown'] as const

export type OutcomeKind = (typeof outcomeKinds)[number]

export interface Outcome {
  readonly change: Change
  readonly kind: OutcomeKind
  readonly id?: string | undefined
  /** Why it was not done, or what is to be known of it. */
  readonly message?: string | undefined
  /** The object was deleted to be created again, which failed. */
  readonly wasDeleted?: boolean
  /** Of what failed. */
  readonly errorKind?: ErrorKind | undefined
  /** What the server made of what was sent, where that is something else. */
  readonly serverChanged?: readonly FieldChange[]
  /** As the server answered it. */
  readonly actual?: Actual | undefined
}

export const doneKinds: Readonly<Record<Action, OutcomeKind>> = {
  create: 'created',
  update: 'updated',
  replace: 'replaced',
  delete: 'deleted',
  adopt: 'adopted',
  unchanged: 'unchanged',
}

export const isDone = ({ kind }: Pick<Outcome, 'kind'>): boolean => !(kind === 'skipped' || kind === 'failed' || kind === 'unknown')

/** Whether anything was written, as far as that is known. */
export const isWritten = ({ kind, wasDeleted = false }: Pick<Outcome, 'kind' | 'wasDeleted'>): boolean =>
  wasDeleted || (isDone({ kind }) && kind !== 'unchanged')

export const skipped = (change: Change, message: string): Outcome => ({ change, kind: 'skipped', id: change.id, message })

export function failed(change: Change, thrown: unknown): Outcome {
  if (!(thrown instanceof WatchkeeperError)) throw thrown
  const mayHaveActed = thrown instanceof ApiError && thrown.mayHaveActed
  const message = mayHaveActed ? withAdvice(thrown) : thrown.message
  return { change, kind: mayHaveActed ? 'unknown' : 'failed', id: change.id, message, errorKind: thrown.kind }
}

/** An object that was deleted to be created again. */
export function failedAfterDelete(change: Change, { cause }: Error): Outcome {
  const outcome = failed(change, cause)
  if (outcome.kind === 'unknown') return outcome
  return {
    ...outcome,
    wasDeleted: true,
    message: `It was deleted, and could not be created again. The next apply creates it. ${outcome.message}`,
  }
}

const advice = 'The server may have acted all the same. Run apply again: it looks for the mark first, and makes nothing twice.'

/** A request by itself cannot be repeated; a run can. */
function withAdvice({ message, advice: general }: ApiError): string {
  const [what = '', ...rest] = message.split('\n')
  return [what, advice, ...rest.filter((line) => line !== general)].join('\n')
}
