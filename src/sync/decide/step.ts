// The values that a decision is made of: the draft of a plan, its steps, and what a guard says about them.

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
  /** The declaration, and what was found for it. Absent for an object that no file declares. */
  readonly pair?: Pair
}

/** What a draft takes for granted. A guard that finds it wrong assumes more: `prune` goes off at most once, and held objects only grow. */
export interface Assumed {
  readonly prune: Prune
  readonly canPatch: boolean
  /** Objects that stay as they are, by `slotOf` their changes. The entry for a delete or a release can be the held alert that it would delete. */
  readonly held: ReadonlyMap<string, Held>
  /** The keys of held alerts with a query, for which no tile is added. */
  readonly alertsWithoutTile: ReadonlySet<string>
}

interface KindDraft {
  readonly kind: Kind
  /** Objects with this project's marker that no file declares. */
  readonly orphans: readonly MarkedObject[]
  /** The twins that a repair does not keep. */
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
  /** The steps in place of those of the draft, in any order of kinds. */
  readonly steps?: readonly Step[]
  readonly diagnostics?: readonly Diagnostic[]
  /** Objects to hold, by `slotOf` their changes. With one that the draft does not hold yet, the plan is drafted again. */
  readonly holds?: ReadonlyMap<string, Held> | undefined
  /** What else the plan has to assume instead. It is drafted again. */
  readonly assume?: Partial<Omit<Assumed, 'held'>> | undefined
  /** Whether nothing else of the plan would happen. */
  readonly isFinal?: boolean
}

/** Looks at a draft, says what is wrong with it, and which steps the plan has instead. Pure. */
export type Guard = (draft: Draft, facts: Facts) => Verdict

export type Check = (draft: Draft, facts: Facts) => Pick<Verdict, 'diagnostics' | 'holds' | 'isFinal'>
