import { type KindName, kindLabels } from '../../../kinds/kind-names.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../../platform/core/diagnostics.ts'
import { spellInput } from '../../../platform/core/input-spelling.ts'
import { keysOf } from '../../../platform/core/keys.ts'
import { firstOf, plural, pluralOf } from '../../../platform/core/text.ts'
import { addressOfChange, type Change, isDelete, isWrite } from '../change.ts'
import type { Check } from '../step.ts'

export const limitRules = {
  'incomplete-list': {
    severity: 'error',
    description: 'A list from the server may be incomplete, and the plan would create or delete an object because of it.',
  },
  'too-many-deletes': { severity: 'error', description: 'The plan would delete more objects than `max-deletes` allows.' },
} as const satisfies Rules

const maxNamed = 3

export const checkLimits: Check = ({ steps }, { storedObjects: { incompleteLists }, maxDeletes }) => {
  const changes = steps.map(({ change }) => change)
  const affected = keysOf<KindName>(incompleteLists).flatMap((kind): readonly Diagnostic[] => {
    const first = changes.find((change) => requiredLists(change).includes(kind))
    if (first === undefined) return []
    const message = `the list of ${pluralOf(kindLabels[kind])} ${incompleteLists[kind]}; nothing is created or deleted based on such a list`
    return [diagnosticOf(limitRules, 'incomplete-list', first.location ?? { file: 'prune' }, message)]
  })
  // Deletes of twins do not count: a twin that is as declared can be deleted without a loss.
  const deletes = changes.filter(isDelete).filter(({ keeps }) => keeps === undefined)
  const { length: count } = deletes
  if (count <= maxDeletes) return { diagnostics: affected }
  const message = `${plural(count, 'delete')} (${firstOf(maxNamed, deletes.map(addressOfChange))}), and max-deletes allows ${maxDeletes}. Check them, then set ${spellInput('max-deletes', String(count))}`
  return { diagnostics: [...affected, diagnosticOf(limitRules, 'too-many-deletes', { file: 'prune' }, message)] }
}

/** The lists that must be complete for a change. A change that removes tiles needs every alert on them. */
function requiredLists(change: Change): readonly KindName[] {
  if (change.action === 'create') return [change.kind]
  if (change.action === 'delete') return [change.kind, 'alert']
  return isWrite(change) && change.removes !== undefined ? ['alert'] : []
}
