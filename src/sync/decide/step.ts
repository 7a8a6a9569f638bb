import type { Kind } from '../../kinds/kind.ts'
import type { Diagnostic } from '../../platform/core/diagnostics.ts'
import type { Prune } from '../declarations/find-declarations.ts'
import type { MarkedObject } from '../plan/stored-objects.ts'
import type { Change, Held } from './change.ts'
import type { Facts } from './facts.ts'
import type { Pair } from './identify.ts'
import type { Twin } from './twins.ts'

export interface Step {
  readonly kind: Kind
  readonly change: Change
  /** Absent for an object that no file declares. */
  readonly pair?: Pair
}

/** A guard that finds it wrong assumes more: `prune` goes off at most once, and held objects only grow. */
export interface Assumed {
  readonly prune: Prune
  readonly canPatch: boolean
  /** By `slotOf` their changes. The entry for a delete or a release can be the held alert that it would delete. */
  readonly held: ReadonlyMap<string, Held>
  /** Held alerts with a query, by key. */
  readonly alertsWithoutTile: ReadonlySet<string>
}

interface KindDraft {
  readonly kind: Kind
  readonly orphans: readonly MarkedObject[]
  readonly twins: readonly Twin[]
  readonly diagnostics: readonly Diagnostic[]
}

export interface Draft {
  readonly assumed: Assumed
  /** In the order in which they are applied. */
  readonly steps: readonly Step[]
  readonly ofKinds: readonly KindDraft[]
}

export interface Verdict {
  readonly steps?: readonly Step[]
  readonly diagnostics?: readonly Diagnostic[]
  /** With one that the draft does not hold yet, the plan is drafted again. */
  readonly holds?: ReadonlyMap<string, Held> | undefined
  /** Then the plan is drafted again. */
  readonly assume?: Partial<Omit<Assumed, 'held'>> | undefined
  /** Whether nothing else of the plan would happen. */
  readonly isFinal?: boolean
}

/** Pure. */
export type Guard = (draft: Draft, facts: Facts) => Verdict

export type Check = (draft: Draft, facts: Facts) => Pick<Verdict, 'diagnostics' | 'holds' | 'isFinal'>
