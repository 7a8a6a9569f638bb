// Owns what stops a plan although each of its changes is right: lists that may not be whole, and more deletes than allowed.
import type { Change } from './change.ts'
import type { Section } from './declarations-schema.ts'
import type { Finding } from './finding.ts'

export const guardRules = {
  'incomplete-list': 'A list that may not be whole, from which something would be created or deleted.',
  'too-many-deletes': 'More objects would be deleted than `max-deletes` allows.',
} as const

export interface GuardSettings {
  readonly maxDeletes: number
}

const words: Readonly<Record<Section, string>> = { dashboards: 'dashboards', savedSearches: 'saved searches', alerts: 'alerts' }

export function guardFindings(
  changes: readonly Change[],
  doubts: Readonly<Partial<Record<Section, string>>>,
  { maxDeletes }: GuardSettings,
): readonly Finding[] {
  const doubtful = Object.entries(doubts).flatMap(([section, doubt]): Finding[] => {
    const first = changes.find((change) => listsBehind(change).includes(section as Section))
    if (first === undefined) return []
    const message = `the list of ${words[section as Section]} ${doubt}: nothing is created or deleted by such a list`
    return [{ rule: 'incomplete-list', severity: 'error', place: first.place ?? { file: 'prune' }, message }]
  })
  const deletes = changes.filter(({ action }) => action === 'delete').length
  if (deletes <= maxDeletes) return doubtful
  const message = `${deletes} objects would be deleted, and max-deletes allows ${maxDeletes}`
  return [...doubtful, { rule: 'too-many-deletes', severity: 'error', place: { file: 'prune' }, message }]
}

/** The lists that must be whole for this. What takes something away must see every alert that may hang on it. */
function listsBehind({ section, action, takes }: Change): readonly Section[] {
  if (action === 'create') return [section]
  if (action === 'delete') return [section, 'alerts']
  return takes === undefined ? [] : ['alerts']
}
