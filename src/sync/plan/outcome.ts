import type { FieldChange } from '../../kinds/compare.ts'
import type { StoredObject } from '../../kinds/kind.ts'
import type { ErrorKind } from '../../platform/core/errors.ts'
import type { Action, Change } from '../decide/change.ts'

export const successes = ['created', 'updated', 'replaced', 'deleted', 'adopted', 'marked', 'released', 'held', 'unchanged'] as const

/** The most serious first. `unknown`: the request was sent. */
export const undone = ['unknown', 'failed', 'skipped'] as const

export const outcomeKinds = [...successes, ...undone] as const

export type OutcomeKind = (typeof outcomeKinds)[number]

export interface Outcome {
  readonly change: Change
  readonly became: OutcomeKind
  readonly id?: string | undefined
  readonly message?: string | undefined
  readonly wasDeleted?: boolean
  readonly isUnmarked?: true
  readonly isOfOtherRun?: true
  readonly errorKind?: ErrorKind | undefined
  readonly serverChanged?: readonly FieldChange[]
  readonly stored?: StoredObject | undefined
}

export const successKinds: Readonly<Record<Action, OutcomeKind>> = {
  create: 'created',
  update: 'updated',
  replace: 'replaced',
  delete: 'deleted',
  adopt: 'adopted',
  mark: 'marked',
  release: 'released',
  held: 'held',
  unchanged: 'unchanged',
}

export const isSuccess = ({ became }: Pick<Outcome, 'became'>): boolean => !undone.some((one) => one === became)

/** Whether anything was written, as far as known. */
export const isWritten = ({ became, wasDeleted = false }: Pick<Outcome, 'became' | 'wasDeleted'>): boolean =>
  wasDeleted || (isSuccess({ became }) && became !== 'unchanged' && became !== 'held')
