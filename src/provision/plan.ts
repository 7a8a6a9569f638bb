// Owns the plan: what is declared and what there is, made into what is to be done. Pure: it sends nothing and reads no clock.
import type { Profile } from '../api/profiles.ts'
import type { Change, Plan } from './change.ts'
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
import { type Matching, matchObjects, type Pair } from './match.ts'
import { planChange, planDelete } from './plan-change.ts'
import type { World } from './world.ts'

export interface PlanOptions extends GuardSettings {
  readonly project: string
  readonly profile: Profile
  /** Whether objects that bear the project's mark and are in no file are deleted. */
  readonly prune: boolean
}

export function planChanges(declarations: Pick<Declarations, 'objects'>, world: World, options: PlanOptions): Plan {
  const kinds = createKinds(options.profile)
  const directory = createDirectory(world)
  const planner = createPlanner({ declarations, world, directory, project: options.project })
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
  const deletes = options.prune
    ? parts.toReversed().flatMap(({ section, leftovers }) => leftovers.map((one) => planDelete(section, one)))
    : []
  const written = [...parts.flatMap(({ changes }) => changes), ...deletes]
  const losses = accountForLosses(written, world.alerts, Object.values(kinds))
  const found = [...parts.flatMap(({ findings }) => findings), ...losses.findings]
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

interface Surroundings {
  readonly declarations: Pick<Declarations, 'objects'>
  readonly world: World
  readonly directory: Directory
  readonly project: string
}

const createPlanner =
  ({ declarations, world, directory, project }: Surroundings) =>
  <S extends Section>(kind: Kind & { readonly section: S }, desire: (declared: Declared<S>) => Desired): Part => {
    const declared = declarations.objects.filter(isOf(kind.section))
    const { pairs, leftovers, findings } = matchObjects({ kind, project, declared, actual: world[kind.section] })
    const planned = pairs.map((pair) => {
      const { body, findings: complaints } = desire(pair.declared as Declared<S>)
      return { change: planChange(pair as Pair, body, { kind, project, directory }), complaints }
    })
    return {
      section: kind.section,
      leftovers,
      changes: planned.map(({ change }) => change),
      findings: [...findings, ...planned.flatMap(({ complaints }) => complaints)],
    }
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
