import { addressOf, type KindName, kindLabels, kindNames, sections } from '../../kinds/kind-names.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../platform/core/diagnostics.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { pluralOf, quote } from '../../platform/core/text.ts'
import type { Plan } from '../decide/change.ts'
import type { StoredObjects } from '../plan/stored-objects.ts'
import { type Draft, type DraftInput, excludedAs } from './draft.ts'

export const pullRules = {
  'incomplete-pull': {
    severity: 'warning',
    description:
      'A list from the server may be incomplete, or lacks all declared objects with `only: drifted`. So pull might not see every object.',
  },
  'instance-differs': { severity: 'warning', description: 'The service has another value for an object of a file with instances.' },
  'edit-replaced': {
    severity: 'warning',
    description: 'pull replaced a declaration that was changed since the last apply or pull, and that was never applied.',
  },
  'expression-replaced': { severity: 'warning', description: 'pull replaced an expression by the value in the service.' },
} as const satisfies Rules

type IncompleteLists = StoredObjects['incompleteLists']

/** An empty list may be a mistake of the server, which would end every change and remove every declaration of the kind. */
export function withEmptiedLists({ changes }: Plan, { incompleteLists }: StoredObjects): IncompleteLists {
  const emptied = kindNames.filter((name) => {
    const declared = changes.filter(({ kind }) => kind === name)
    return declared.length > 0 && declared.every(({ stored }) => stored === undefined)
  })
  const reason =
    'has none of the declared objects; if they were deleted on purpose, remove their declarations, or run apply to create them again'
  return { ...Object.fromEntries(emptied.map((name) => [name, reason])), ...incompleteLists }
}

export const reportIncompleteLists = (incompleteLists: IncompleteLists): readonly Diagnostic[] =>
  keysOf<KindName>(incompleteLists).map((kind) =>
    diagnosticOf(
      pullRules,
      'incomplete-pull',
      { file: sections[kind] },
      `the list of ${pluralOf(kindLabels[kind])} ${incompleteLists[kind]}`,
    ),
  )

/** The file of all environments keeps its expression. A file that is changed without a person keeps every expression. */
export const findReplacedVariables = (
  { objects }: Draft,
  { environment, only }: Pick<DraftInput, 'environment' | 'only'>,
): ReadonlyMap<string, string> =>
  new Map(
    objects.flatMap((object) => {
      const [first] = object.replacedExpressions ?? []
      if ((environment === undefined && only !== 'drifted') || first === undefined) return []
      const where = environment === undefined ? 'where the workflow sets it' : `in ${environment.path}`
      return [[excludedAs(object), `the service has another value than ${first}; change the variable ${where}`] as const]
    }),
  )

export const instantiatedDifferences = ({ objects }: Draft): readonly Diagnostic[] =>
  objects.flatMap(({ kind, key, instantiated }) => {
    if (instantiated === undefined) return []
    const { location, differing } = instantiated
    const fields = differing.map(({ field, value }) => `${field} ${value === undefined ? '(none)' : quote(JSON.stringify(value), 80)}`)
    const message = `${addressOf({ kind, key })}: the service has ${fields.join(', ')}; pull does not edit a file with instances: change the file, or instances.${location.instance}`
    return [diagnosticOf(pullRules, 'instance-differs', location, message)]
  })

/** `plan` is that of the files before the pull. */
export function replacedEdits({ objects }: Draft, { changes }: Plan): readonly Diagnostic[] {
  const updated = new Set(objects.flatMap((one) => (one.outcome === 'updated' && one.mayDiffer === undefined ? [addressOf(one)] : [])))
  return changes.flatMap((change) => {
    const isEdited = 'origin' in change && (change.origin === 'files' || change.origin === 'both')
    if (!isEdited || !updated.has(addressOf(change)) || change.location === undefined) return []
    const paths = change.fields.map(({ path }) => path).join(', ')
    const message = `${addressOf(change)}: the file was changed and never applied, and pull replaced its values (${paths}). To keep them, undo this change of the file`
    return [diagnosticOf(pullRules, 'edit-replaced', change.location, message)]
  })
}

export const replacedExpressions = ({ objects }: Draft): readonly Diagnostic[] =>
  objects.flatMap((object) =>
    (object.replacedExpressions ?? []).map((expression) => {
      const message = `${addressOf(object)}: the value in the service replaced ${expression}`
      return diagnosticOf(pullRules, 'expression-replaced', { file: object.path ?? '' }, message)
    }),
  )
