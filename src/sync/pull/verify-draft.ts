import { referenceOf } from '../../kinds/derive.ts'
import type { DeclaredKey } from '../../kinds/kind.ts'
import { addressOf, kindLabels, kindNames } from '../../kinds/kind-names.ts'
import { type Declared, fileSchemas } from '../../kinds/kinds.ts'
import { type Diagnostic, errorsIn, type Location } from '../../platform/core/diagnostics.ts'
import { ownValue, type Schema } from '../../platform/documents/schema.ts'
import { type Change, isDifference, isHeld, isWrite, type Plan } from '../decide/change.ts'
import { isAboutHeld } from '../decide/guards/held.ts'
import type { Declarations } from '../declarations/declarations.ts'
import { changesInFiles } from '../query-alerts/query-changes.ts'
import { type Draft, excludedAs, type PulledObject } from './draft.ts'

export interface ReadDraft {
  readonly declarations: Pick<Declarations, 'objects'> & { readonly broken: readonly Placed[] }
  /** About the files only. */
  readonly diagnostics: readonly Diagnostic[]
  readonly plan: Pick<Plan, 'changes' | 'diagnostics'>
}

type Placed = DeclaredKey & Partial<Pick<Declared, 'spelled'>>

/** The objects to leave out by `excludedAs`, with the reason. An edit that breaks another declaration is left out. */
export function verifyDraft({ objects }: Draft, { declarations, diagnostics, plan }: ReadDraft): ReadonlyMap<string, string> {
  const edited = new Map(objects.filter(({ isEdited }) => isEdited).map((object) => [addressOf(object), object]))
  const placed = [...declarations.objects, ...declarations.broken]
  const ofFiles = errorsIn(diagnostics)
  const ofPlan = errorsIn(plan.diagnostics).filter((one) => !isAboutHeld(one))
  const placedBy = new Map(placed.toReversed().map((one) => [addressOf(one), one]))
  const ownerOf = createOwnerOf(placed)
  const messages = new Map(
    [...ofFiles, ...ofPlan].toReversed().flatMap(({ location, message }) => {
      const owner = ownerOf(location)
      return owner === undefined ? [] : [[addressOf(owner), message] as const]
    }),
  )
  const changes = new Map([...changesInFiles(plan, declarations.objects).values()].map((change) => [addressOf(change), change]))
  const drafted = new Map(objects.map((object) => [addressOf(object), object]))

  const explainDifference = (object: PulledObject): string | undefined => {
    if (object.id === undefined || object.path === undefined || (!object.isEdited && object.outcome !== 'unchanged')) return undefined
    const change = changes.get(addressOf(object))
    const message = messages.get(addressOf(object))
    if (change === undefined) return message ?? 'could not be found in the file again'
    if (object.mayDiffer) return undefined
    // Errors that were there before the pull do not count.
    return (object.isEdited ? message : undefined) ?? describeDifference(change)
  }
  const missingTiles = plan.changes.flatMap((change) => {
    const address = addressOf(change)
    if (!isHeld(change) || change.at === undefined || !change.reason.startsWith('tile: ')) return []
    const isMissing = drafted.get(address)?.outcome === 'missing'
    if (!isMissing || !referencesOf(placedBy.get(address)).some((one) => edited.has(one))) return []
    return [{ message: `${address}.${change.reason}`, location: change.at }]
  })
  /** Of what the object refers to, of its file, or all. */
  const editedByFile = Map.groupBy(edited.values(), ({ path }) => path)
  const leaveOutFor = (one: Placed | undefined, file: string, reason: string): readonly (readonly [string, string])[] => {
    const references = referencesOf(one).flatMap((address) => edited.get(address) ?? [])
    const causes = references.length > 0 ? references : (editedByFile.get(file) ?? [...edited.values()])
    return causes.map((cause) => [excludedAs(cause), reason])
  }
  const explainError = ({ message, location }: Pick<Diagnostic, 'message' | 'location'>): readonly (readonly [string, string])[] => {
    const owner = ownerOf(location)
    const object = owner && drafted.get(addressOf(owner))
    if (object?.isEdited) return [[excludedAs(object), message]]
    const missing =
      object?.outcome === 'missing' ? `; the service does not have this ${kindLabels[object.kind]}, so remove its declaration` : ''
    const reason = object?.reason === undefined ? '' : `; its declaration stays, because ${object.reason}`
    return leaveOutFor(owner, location.file, `the files would have an error: ${message}${missing}${reason}`)
  }
  return new Map([
    ...objects.flatMap((object): readonly (readonly [string, string])[] => {
      const reason = explainDifference(object)
      if (reason === undefined) return []
      if (object.isEdited || object.differed) return [[excludedAs(object), reason]]
      const address = addressOf(object)
      return leaveOutFor(placedBy.get(address), object.path ?? '', `with its new values, ${address} would differ: ${reason}`)
    }),
    // These errors explain more than a difference.
    ...[...missingTiles, ...ofFiles.toReversed()].flatMap(explainError),
  ])
}

function describeDifference(change: Change): string | undefined {
  if (isHeld(change) && change.at !== undefined) return change.reason
  const isAsDeclared = change.fields.length === 0 && isWrite(change) && change.rewrites !== undefined
  return isDifference(change) && !isAsDeclared ? describeChange(change) : undefined
}

function referencesOf(one: Placed | undefined): readonly string[] {
  if (one === undefined) return []
  return Object.entries<Schema>(fileSchemas[one.kind].shape).flatMap(([field, schema]) => {
    const ref = referenceOf(schema)
    const key = ownValue(one.spelled, field)
    const kind = kindNames.find((name) => name === ref?.to)
    return ref?.by === 'key' && kind !== undefined && typeof key === 'string' ? [addressOf({ kind, key })] : []
  })
}

function describeChange({ action, fields, notes }: Plan['changes'][number]): string {
  const details = fields.map(({ path }) => path).join(', ') || notes.join('; ')
  return `a file cannot declare this object exactly: plan would ${action === 'held' ? 'hold' : action} it${details === '' ? '' : ` (${details})`}`
}

/** A location belongs to the object whose key is the last one before it. */
function createOwnerOf(placed: readonly Placed[]): (location: Location) => Placed | undefined {
  const fileOf = ({ file, instance }: Location): string => JSON.stringify([file, instance])
  const sorted = placed.toSorted((a, b) => compareLocations(a.location, b.location))
  const byFile = Map.groupBy(sorted, ({ location }) => fileOf(location))
  return (location) => byFile.get(fileOf(location))?.findLast((one) => compareLocations(one.location, location) <= 0)
}

const compareLocations = (a: Location, b: Location): number => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
