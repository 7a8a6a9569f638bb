import { type Diagnostic, errorsIn, type Location } from '../../core/diagnostics.ts'
import type { Declarations } from '../../declarations/declarations.ts'
import { withAlternatives } from '../../declarations/merge-fields.ts'
import { metaOf, type Shape } from '../../documents/schema.ts'
import type { DeclaredKey } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { fileSchemas } from '../../kinds/kinds.ts'
import { type Change, isDifference, isWrite, type Plan } from '../plan/change.ts'
import { changesInFiles } from '../plan/query-changes.ts'
import { isAboutTileWrites } from '../plan/tile-writes.ts'
import { type Draft, identityOf, type OverriddenField, type PulledObject } from './draft.ts'

/** The files of a draft, read and planned as if they were written. */
export interface ReadDraft {
  readonly declarations: Pick<Declarations, 'objects'> & { readonly broken: readonly DeclaredKey[] }
  /** About the files only. */
  readonly diagnostics: readonly Diagnostic[]
  readonly plan: Pick<Plan, 'changes' | 'diagnostics'>
}

/**
 * Verifies that `plan` would have nothing to do for the objects of a draft. Returns the other ones by `identityOf`, with the reason.
 */
export function verifyDraft({ objects }: Draft, { declarations, diagnostics, plan }: ReadDraft): ReadonlyMap<string, string> {
  const ofPlan = errorsIn(plan.diagnostics).filter((one) => !isAboutTileWrites(one))
  const messages = messagesByObject([...errorsIn(diagnostics), ...ofPlan], declarations)
  const messagesByFile = new Map(errorsIn(diagnostics).map(({ location, message }) => [location.file, message]))
  const changes = new Map([...changesInFiles(plan, declarations.objects).values()].map((change) => [addressOf(change), change]))
  const explainDifference = (object: PulledObject): string | undefined => {
    const change = changes.get(addressOf(object))
    const message = messages.get(addressOf(object))
    const { overridden = [] } = object
    if (change === undefined) return message ?? messagesByFile.get(object.path ?? '') ?? 'could not be found in the file again'
    // Errors that were there before the pull do not count.
    if (message !== undefined && (object.outcome === 'added' || object.outcome === 'updated')) return message
    if (overridden.length > 0 && change.action === 'update' && differsOnlyIn(change, overridden)) return undefined
    const isAsDeclared = change.fields.length === 0 && isWrite(change) && change.rewrites !== undefined
    return isDifference(change) && !isAsDeclared ? describeChange(change) : undefined
  }
  return new Map(
    objects.flatMap((object): (readonly [string, string])[] => {
      const { kind, id, path, outcome } = object
      if (id === undefined || path === undefined || outcome === 'left-out' || outcome === 'changed-in-files') return []
      const reason = explainDifference(object)
      return reason === undefined ? [] : [[identityOf(kind, id), reason]]
    }),
  )
}

function differsOnlyIn({ kind, fields }: Change, overridden: readonly OverriddenField[]): boolean {
  const shape: Shape = fileSchemas[kind].shape
  const wireName = (field: string): string => (shape[field] && metaOf(shape[field]).ref?.wire) ?? field
  const allowed = withAlternatives(overridden.map(({ field }) => field)).map(wireName)
  return fields.every(({ path }) => allowed.includes(/^\w+/.exec(path)?.[0] ?? ''))
}

function describeChange({ action, fields, notes }: Plan['changes'][number]): string {
  const details = fields.map(({ path }) => path).join(', ') || notes.join('; ')
  return `a file cannot declare this object exactly: plan would ${action} it${details === '' ? '' : ` (${details})`}`
}

/** The first message about each object. A message belongs to the object whose key is the last one before its location. */
function messagesByObject(diagnostics: readonly Diagnostic[], { objects, broken }: ReadDraft['declarations']): ReadonlyMap<string, string> {
  const all = [...objects, ...broken]
  return new Map(
    diagnostics.toReversed().flatMap(({ location, message }) => {
      const before = all.filter(
        (one) =>
          one.location.file === location.file &&
          one.location.instance === location.instance &&
          compareLocations(one.location, location) <= 0,
      )
      const owner = before.toSorted((a, b) => compareLocations(a.location, b.location)).at(-1)
      return owner === undefined ? [] : [[addressOf(owner), message] as const]
    }),
  )
}

const compareLocations = (a: Location, b: Location): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
