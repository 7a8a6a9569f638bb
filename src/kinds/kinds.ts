import type * as z from 'zod'
import type { Profile } from '../platform/api/profiles.ts'
import { ownValue, valueAt } from '../platform/documents/schema.ts'
import { type DeclaredAlert, declaredAlert } from './alert/alert.ts'
import { createAlertKind } from './alert/alert-kind.ts'
import type { DeclaredDashboard } from './dashboard/dashboard.ts'
import { dashboardInFile, expandDashboard } from './dashboard/dashboard-file.ts'
import { createDashboardKind } from './dashboard/dashboard-kind.ts'
import { shortSourceNames, withOneSource, withSourceIds } from './fields.ts'
import type { DeclaredObject, Kind } from './kind.ts'
import type { KindName } from './kind-names.ts'
import { createSavedSearchKind, type DeclaredSavedSearch, declaredSavedSearch } from './saved-search/saved-search.ts'
import { type DeclaredSource, sourceInFile, sourceKind } from './source/source.ts'
import { type DeclaredWebhook, webhookInFile, webhookKind } from './webhook/webhook.ts'

export const fileSchemas = {
  dashboard: dashboardInFile,
  savedSearch: withOneSource(declaredSavedSearch),
  alert: declaredAlert,
  webhook: webhookInFile,
  source: sourceInFile,
} as const satisfies Record<KindName, z.ZodType>

interface DeclaredValues {
  readonly dashboard: DeclaredDashboard
  readonly savedSearch: DeclaredSavedSearch
  readonly alert: DeclaredAlert
  readonly webhook: DeclaredWebhook
  readonly source: DeclaredSource
}

/** An object of one of these kinds, as a file declares it. */
export type Declared<S extends KindName = KindName> = DeclaredObject<DeclaredValues[S], S>

interface ParsedObject<S extends KindName = KindName> {
  readonly value: DeclaredValues[S]
  /** The path in the file of a path in the value. */
  toSpelled(path: readonly PropertyKey[]): readonly PropertyKey[]
}

export function parseObject(kind: KindName, spelled: unknown): { readonly parsed: ParsedObject } | { readonly error: z.ZodError } {
  if (kind === 'dashboard') {
    const { data, error } = fileSchemas.dashboard.safeParse(spelled)
    if (error !== undefined) return { error }
    const { value, tilePaths } = expandDashboard(data)
    const toSpelled: ParsedObject['toSpelled'] = ([field, i, ...rest]) => {
      const tile = field === 'tiles' && typeof i === 'number' ? tilePaths[i] : undefined
      return inShortForm(tile === undefined ? [field, i, ...rest].filter((key) => key !== undefined) : [...tile, ...rest], spelled)
    }
    return { parsed: { value, toSpelled } }
  }
  const { data, error } = fileSchemas[kind].safeParse(spelled)
  return error === undefined
    ? { parsed: { value: kind === 'savedSearch' ? withSourceIds(data) : data, toSpelled: (path) => inShortForm(path, spelled) } }
    : { error }
}

/** The path with `source` for a `sourceId` that the file does not have. */
const inShortForm = (path: readonly PropertyKey[], spelled: unknown): readonly PropertyKey[] =>
  path.map((key, i) => {
    const short = shortSourceNames.get(key)
    const around = valueAt(spelled, path.slice(0, i))
    return short !== undefined && ownValue(around, key) === undefined && ownValue(around, short) !== undefined ? short : key
  })

export const previousKeyOf = ({ value }: Declared): string | undefined =>
  ('previousKey' in value ? value.previousKey : undefined) || undefined

/** For an alert without a name, its display name or what it watches, as its file spells it. */
export function labelOf({ key, value }: Declared): string {
  if (value.name !== undefined) return value.name
  if ('displayName' in value && value.displayName !== undefined) return value.displayName
  const watched = 'threshold' in value ? (value.tile ?? value.savedSearch) : undefined
  const name = typeof watched === 'string' ? watched : ownValue(watched, 'name')
  return typeof name === 'string' ? name : key
}

export const isOf =
  <S extends KindName>(kind: S) =>
  (declared: Declared): declared is Declared<S> =>
    declared.kind === kind

export type Kinds = { readonly [S in KindName]: Kind<DeclaredObject<DeclaredValues[S]>> }

/**
 * The kinds of a server, for comparisons at this time. In the order in which they are written: each refers only to itself and
 * to those before it.
 */
export const createKinds = (profile: Profile, nowMs: number): Kinds => ({
  source: sourceKind,
  webhook: webhookKind,
  savedSearch: createSavedSearchKind(),
  dashboard: createDashboardKind(),
  alert: createAlertKind(profile, nowMs),
})
