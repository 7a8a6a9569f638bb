// The plan: what is declared and what is stored, made into what is to be done. Pure: it sends nothing and reads no clock.
import type { Profile } from '../api/profiles.ts'
import { once } from '../kernel/once.ts'
import type { Change, Plan } from './change.ts'
import { type Sides, sidesOf } from './compose.ts'
import { commonValues } from './convergence.ts'
import { type Declarations, type Declared, isOf } from './declarations.ts'
import type { Section } from './declarations-schema.ts'
import { type Desired, desireDashboard, desireSavedSearch } from './desire.ts'
import { type AlertSurroundings, desireAlert, type Target } from './desire-alert.ts'
import { createDirectory, type Directory } from './directory.ts'
import type { Finding } from './finding.ts'
import { type GuardSettings, guardFindings } from './guards.ts'
import { dashboardKind, listOf } from './kinds/dashboard-kind.ts'
import type { Kind } from './kinds/kind.ts'
import { createKinds } from './kinds/kinds.ts'
import { accountForLosses } from './losses.ts'
import { type AdoptFrom, copiesAmong, type Matching, markedObjects, matchObjects, type Pair } from './match.ts'
import { declarationDigest, planChange, planDelete } from './plan-change.ts'
import type { World } from './world.ts'

export interface PlanOptions extends GuardSettings {
  readonly project: string
  readonly adoptFrom?: AdoptFrom
  readonly profile: Profile
  /** Whether objects that bear the project's mark and are in no file are deleted. */
  readonly prune: boolean
}

export function planChanges(declarations: Pick<Declarations, 'objects'>, world: World, options: PlanOptions): Plan {
  const kinds = createKinds(options.profile)
  const directory = createDirectory(world)
  const ownsAnything = Object.values(kinds).some((kind: Kind) =>
    markedObjects(kind, world[kind.section]).some(({ mark }) => mark?.project === kind.markStyle.projectToken(options.project)),
  )
  const planner = createPlanner({ ...options, declarations, world, directory, ownsAnything })
  const savedSearches = planner(kinds.savedSearches, (declared) => desireSavedSearch(declared, directory))
  const dashboards = planner(kinds.dashboards, (declared) => desireDashboard(declared, directory))
  const tiles = new Map(world.dashboards.map((one) => [one.id, listOf(one.tiles)]))
  const around: AlertSurroundings = {
    directory,
    savedSearches: targetsOf(savedSearches.changes),
    dashboards: targetsOf(dashboards.changes),
    tilesOf: (id) => tiles.get(id) ?? [],
  }
  const alerts = planner(kinds.alerts, (declared) => desireAlert(declared, around))
  const parts = [savedSearches, dashboards, alerts]
  const copies = options.prune ? parts.flatMap(({ section, leftovers }) => copiesAmong(leftovers, kinds[section])) : []
  const deletes = options.prune
    ? parts.toReversed().flatMap(({ section, leftovers }) => leftovers.map((one) => planDelete(section, one)))
    : []
  const written = [...parts.flatMap(({ changes }) => changes), ...deletes]
  const losses = accountForLosses(written, world.alerts, Object.values(kinds))
  const found = [...parts.flatMap(({ findings }) => findings), ...copies, ...losses.findings]
  return {
    project: options.project,
    changes: losses.changes,
    leftovers: options.prune ? [] : parts.flatMap(toLeftovers),
    findings: [...found, ...guardFindings(losses.changes, world.doubts, options)],
    seen: { dashboards: world.dashboards.length, savedSearches: world.savedSearches.length, alerts: world.alerts.length },
  }
}

interface Part extends Pick<Matching, 'leftovers'> {
  readonly section: Section
  readonly changes: readonly Change[]
  readonly findings: readonly Finding[]
}

interface Surroundings extends Pick<PlanOptions, 'project' | 'adoptFrom'> {
  readonly declarations: Pick<Declarations, 'objects'>
  readonly world: World
  readonly directory: Directory
  readonly ownsAnything: boolean
}

interface Compared {
  readonly pair: Pair
  readonly desired: Desired
  readonly sides: Sides | undefined
}

const createPlanner =
  ({ declarations, world, directory, ...owner }: Surroundings) =>
  <S extends Section>(kind: Kind & { readonly section: S }, desire: (declared: Declared<S>) => Desired): Part => {
    const declared = declarations.objects.filter(isOf(kind.section))
    const { pairs, leftovers, findings } = matchObjects({ ...owner, kind, declared, actual: world[kind.section] })
    const compared = pairs.map((pair): Compared => {
      const desired = desire(pair.declared as Declared<S>)
      return { pair, desired, sides: pair.found && sidesOf(kind, desired.body, pair.found.actual) }
    })
    const common = once(() => commonValues(kind, compared.flatMap(asApplied)))
    const changes = compared.map(({ pair, desired, sides }) => planChange(pair, desired.body, sides, { ...owner, kind, directory, common }))
    return {
      section: kind.section,
      leftovers,
      changes,
      findings: [
        ...findings,
        ...compared.flatMap(({ desired }) => desired.findings),
        ...changes.flatMap(cannotClear),
        ...serverDefaults(kind, changes),
      ],
    }
  }

/** Objects whose declarations have not changed since they were applied. */
const asApplied = ({ pair: { declared, found }, sides }: Compared): readonly Sides[] =>
  sides !== undefined && found?.mark?.digest === declarationDigest(declared) ? [sides] : []

export const convergenceRules = {
  'server-default': 'The server fills in a field that no file declares, since the last apply and in all objects alike.',
  'cannot-clear': 'A field was removed from a file, and the server does not allow an object without it.',
} as const

function cannotClear({ section, key, place, unclearable = [] }: Change): readonly Finding[] {
  if (unclearable.length === 0 || place === undefined) return []
  const message = `${section}.${key}: no update can clear ${unclearable.join(', ')}: declare it, or delete the object`
  return [{ rule: 'cannot-clear', severity: 'error', place, message }]
}

function serverDefaults({ noun }: Kind, changes: readonly Change[]): readonly Finding[] {
  const [first, ...others] = changes.filter(({ newDefaults }) => newDefaults !== undefined)
  if (first?.place === undefined) return []
  const [field] = first.newDefaults ?? []
  const more = others.length === 0 ? '' : `, and ${others.length} more ${noun}s`
  const message = `${first.section}.${first.key}${more}: since the last apply the server stores fields that no file declares, with one value everywhere, for example ${field?.path}. They are taken for its defaults`
  return [{ rule: 'server-default', severity: 'note', place: first.place, message }]
}

/** What alerts can watch, with the ids that it has and will keep. */
const targetsOf = (changes: readonly Change[]): ReadonlyMap<string, Target> =>
  new Map(
    changes.map(({ key, section, id, desired = {}, actual }) => {
      const isDashboard = section === 'dashboards'
      const body = isDashboard && actual !== undefined ? dashboardKind.withIds(desired, dashboardKind.bodyOf(actual)) : desired
      return [key, { id, tiles: listOf(body.tiles) }] as const
    }),
  )

const toLeftovers = ({ section, leftovers }: Part): Plan['leftovers'] =>
  leftovers.map(({ actual, mark }) => ({ section, id: actual.id, name: actual.name ?? '', key: mark?.key ?? '' }))
