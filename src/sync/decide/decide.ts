// Decides what a run writes: drafts a plan, shows it to each guard, and drafts again where one of them finds an assumption to be wrong.

import { storedLabelOf } from '../../kinds/kind.ts'
import { type KindName, kindNames, mapKinds } from '../../kinds/kind-names.ts'
import type { Declared } from '../../kinds/kinds.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Diagnostic, Rules } from '../../platform/core/diagnostics.ts'
import type { StoredObjects } from '../plan/stored-objects.ts'
import type { Plan } from './change.ts'
import { draftPlan } from './draft.ts'
import { type Assumed, type Draft, type Facts, type Guard, gatherFacts, type PlanOptions } from './facts.ts'
import { checkLimits, checkObjects, keepOwners, limitRules, objectRules, ownerRules } from './guards/checks.ts'
import { endOrphans, repairRules, repairTwins } from './guards/deletes.ts'
import { alertProtectionRules, keepAlerts } from './guards/lost-alerts.ts'
import { dependsOnPatches, keepHiddenParts, tileWriteRules } from './guards/tile-writes.ts'
import { heldRules, holdWhatWaits } from './hold.ts'
import { identityRules } from './identify.ts'
import { matchRules } from './match.ts'
import { twinRules } from './twins.ts'

export type { PlanOptions } from './facts.ts'

/** Pure: it sends nothing, and the time is that of the kinds. */
export const planChanges = (objects: readonly Declared[], storedObjects: StoredObjects, options: PlanOptions, canPatch = false): Plan =>
  settle(gatherFacts(objects, storedObjects, options), canPatch)

/** The server is asked whether it can patch dashboards, where the plan depends on that. */
export async function planForServer(
  api: ReadApi,
  objects: readonly Declared[],
  storedObjects: StoredObjects,
  options: PlanOptions,
): Promise<Plan> {
  const facts = gatherFacts(objects, storedObjects, options)
  const plan = settle(facts, false)
  return dependsOnPatches(plan) && (await api.hasPatchTool()) ? settle(facts, true) : plan
}

/** This ends: `prune` goes off once, and otherwise each draft holds more of the objects. */
function settle(facts: Facts, canPatch: boolean): Plan {
  let assumed: Assumed = { prune: facts.prune, canPatch, held: new Map(), heldQueries: new Set() }
  for (;;) {
    const judged = judge(draftPlan(facts, assumed), facts)
    if (!('assume' in judged)) return judged
    assumed = judged.assume
  }
}

function judge(drafted: Draft, facts: Facts): Plan | { readonly assume: Assumed } {
  let draft = drafted
  const diagnostics: Diagnostic[] = []
  for (const guard of [...guards, ...checks]) {
    const verdict = guard(draft, facts)
    const more = (verdict.holds ?? []).filter(([slot]) => !draft.assumed.held.has(slot))
    if (more.length > 0 || verdict.assume !== undefined)
      return { assume: { ...draft.assumed, ...verdict.assume, held: new Map([...draft.assumed.held, ...more]) } }
    if (verdict.isFinal) return { project: facts.project, changes: [], orphans: [], diagnostics: verdict.diagnostics ?? [], seen: {} }
    if (verdict.steps !== undefined) draft = { ...draft, steps: inOrder(verdict.steps, facts) }
    diagnostics.push(...(verdict.diagnostics ?? []))
  }
  return toPlan(draft, diagnostics, facts)
}

function inOrder(steps: Draft['steps'], { kindList }: Facts): Draft['steps'] {
  const rankOf = ({ kind, change }: Draft['steps'][number]): number => {
    const index = kindList.indexOf(kind)
    return change.action === 'delete' ? 2 * kindList.length - index : index
  }
  return steps.toSorted((a, b) => rankOf(a) - rankOf(b))
}

function toPlan({ steps, ofKinds, assumed: { prune } }: Draft, diagnostics: readonly Diagnostic[], facts: Facts): Plan {
  const { project, indexes, kinds } = facts
  const ended = new Set(steps.flatMap(({ change: { action, id } }) => (action === 'delete' || action === 'release' ? [id] : [])))
  const declared = new Set(steps.flatMap(({ change: { kind, key, id } }) => (key === '' ? [] : [`${kind} ${id}`])))
  const countUnmanaged = (name: KindName): number =>
    indexes[name].all.filter(({ token, stored }) => token === undefined && !declared.has(`${name} ${stored.id}`)).length
  const marked = kindNames.filter((name) => kinds[name].ownership === 'marker')
  return {
    project,
    changes: steps.map(({ change }) => change),
    orphans: ofKinds.flatMap(({ kind: { name }, orphans }) =>
      orphans
        .filter(({ stored }) => !prune || !ended.has(stored.id))
        .map(({ stored, marker }) => ({ kind: name, id: stored.id, name: storedLabelOf(stored), key: marker?.key ?? '' })),
    ),
    diagnostics,
    unmanaged: Object.fromEntries(marked.map((name) => [name, countUnmanaged(name)])),
    seen: mapKinds((name) => indexes[name].all.length),
  }
}

/** What else a plan does, and what it must not do. Each guard sees the steps as the one before it left them, so the order counts. */
export const guards: readonly Guard[] = [
  repairTwins, // Adds the writes and deletes of a repair.
  endOrphans, // Adds deletes, or releases.
  holdWhatWaits, // Keeps what a person may have changed, and what needs it.
  keepHiddenParts, // Writes dashboards by patches where it can.
  keepAlerts, // Alerts that the server would delete with what they watch.
]

/** In any order, which is that of their diagnostics. */
export const checks: readonly Guard[] = [keepOwners, checkObjects, checkLimits]

export const decideRules = {
  ...twinRules,
  ...identityRules,
  ...matchRules,
  ...repairRules,
  ...heldRules,
  ...tileWriteRules,
  ...alertProtectionRules,
  ...objectRules,
  ...ownerRules,
  ...limitRules,
} as const satisfies Rules
