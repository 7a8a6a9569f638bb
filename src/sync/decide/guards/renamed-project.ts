import { spellInput } from '../../../platform/core/input-spelling.ts'
import { plural } from '../../../platform/core/text.ts'
import { diagnose } from '../identify.ts'
import { describeOwned, likenessRules } from '../likeness.ts'
import type { Check } from '../step.ts'

/** One error for all objects of a project that was most likely renamed. All else would follow from its name. */
export const refuseRenamedProject: Check = ({ steps }, { project, adoptFrom, adoptCommand }) => {
  const objects = steps.flatMap(({ kind, pair }) => {
    const found = pair?.ownedByOtherProject
    return pair === undefined || found === undefined ? [] : [{ kind, declared: pair.declared, found }]
  })
  const [first, ...others] = objects
  if (first === undefined) return {}
  const name = objects.map(({ found }) => found.marker?.projectName).find((one) => one !== undefined)
  const more = others.length === 0 ? '' : `, and ${plural(others.length, 'more object')} of these files`
  const hint =
    adoptFrom?.project === undefined ? '' : `, and the project in ${spellInput('adopt-from')}, ${adoptFrom.project}, does not own it`
  const previous = name ?? 'PREVIOUS-NAME'
  const command = adoptCommand?.(previous) ?? `watchkeeper apply --project ${project} --adopt-from project=${previous}`
  const advice = `If the project was renamed, run once: ${command}. To create a second set of objects, set ${spellInput('adopt-from', 'none')}`
  const message = `${describeOwned(first.found, first.kind, name)}${more}; ${project} owns nothing yet${hint}. ${advice}`
  return { diagnostics: [diagnose(likenessRules, 'other-project', first.declared, message)], isFinal: true }
}
