import type * as z from 'zod'
import type { Profile } from '../api/profiles.ts'
import { ownValue, valueAt } from '../documents/schema.ts'
import { type DeclaredAlert, declaredAlert } from './alert/alert.ts'
import { createAlertKind } from './alert/alert-kind.ts'
import { createDashboardKind, type DeclaredDashboard } from './dashboard/dashboard.ts'
import { dashboardInFile, expandDashboard } from './dashboard/dashboard-file.ts'
import { shortSourceNames, withOneSource, withSourceIds } from './declaration-fields.ts'
import type { DeclaredObject, Kind } from './kind.ts'
import { createSavedSearchKind, type DeclaredSavedSearch, declaredSavedSearch } from './saved-search/saved-search.ts'
import type { Section } from './section.ts'
import { type DeclaredSource, sourceInFile, sourceKind } from './source/source.ts'
import { type DeclaredWebhook, webhookInFile, webhookKind } from './webhook/webhook.ts'

/** The schema of the objects in each section of a file. */
export const sections = {
  dashboards: dashboardInFile,
  savedSearches: withOneSource(declaredSavedSearch),
  alerts: declaredAlert,
  webhooks: webhookInFile,
  sources: sourceInFile,
} as const satisfies Record<Section, z.ZodType>

interface Values {
  readonly dashboards: DeclaredDashboard
  readonly savedSearches: DeclaredSavedSearch
  readonly alerts: DeclaredAlert
  readonly webhooks: DeclaredWebhook
  readonly sources: DeclaredSource
}

/** An object of one of these types, as a file declares it. */
export type Declared<S extends Section = Section> = DeclaredObject<Values[S], S>

export interface ParsedObject<S extends Section = Section> {
  readonly value: Values[S]
  /** The path in the file of a path in the value. */
  toWritten(path: readonly PropertyKey[]): readonly PropertyKey[]
}

type ParseResult = { readonly parsed: ParsedObject } | { readonly error: z.ZodError }

/** Parses an object of a file, and expands its short forms. */
export function parseObject(section: Section, written: unknown): ParseResult {
  if (section === 'dashboards') {
    const { data, error } = sections.dashboards.safeParse(written)
    if (error !== undefined) return { error }
    const { value, tilePaths } = expandDashboard(data)
    return {
      parsed: {
        value,
        toWritten: ([field, i, ...rest]) => {
          const tile = field === 'tiles' && typeof i === 'number' ? tilePaths[i] : undefined
          return inShortForm(tile === undefined ? [field, i, ...rest].filter((key) => key !== undefined) : [...tile, ...rest], written)
        },
      },
    }
  }
  const { data, error } = sections[section].safeParse(written)
  return error === undefined
    ? { parsed: { value: section === 'savedSearches' ? withSourceIds(data) : data, toWritten: (path) => inShortForm(path, written) } }
    : { error }
}

/** The path with `source` for a `sourceId` that the file does not have. */
const inShortForm = (path: readonly PropertyKey[], written: unknown): readonly PropertyKey[] =>
  path.map((key, i) => {
    const short = shortSourceNames.get(key)
    const around = valueAt(written, path.slice(0, i))
    return short !== undefined && ownValue(around, key) === undefined && ownValue(around, short) !== undefined ? short : key
  })

/** The previous key of a declared object, which its marker may still have. */
export const previousKeyOf = ({ value }: Declared): string | undefined =>
  ('previousKey' in value ? value.previousKey : undefined) || undefined

/** A type guard for declarations of one section. */
export const isOf =
  <S extends Section>(section: S) =>
  (declared: Declared): declared is Declared<S> =>
    declared.section === section

export interface Kinds {
  readonly dashboards: Kind<DeclaredObject<DeclaredDashboard>>
  readonly savedSearches: Kind<DeclaredObject<DeclaredSavedSearch>>
  readonly alerts: Kind<DeclaredObject<DeclaredAlert>>
  readonly webhooks: Kind<DeclaredObject<DeclaredWebhook>>
  readonly sources: Kind<DeclaredObject<DeclaredSource>>
}

/**
 * The resource types of a server, for comparisons at this time. In the order in which they are written: each refers only to itself and
 * to those before it.
 */
export const createKinds = (profile: Profile, nowMs: number): Kinds => ({
  sources: sourceKind,
  webhooks: webhookKind,
  savedSearches: createSavedSearchKind(profile),
  dashboards: createDashboardKind(profile),
  alerts: createAlertKind(profile, nowMs),
})
