import type * as z from 'zod'
import type { Profile } from '../api/profiles.ts'
import { declaredAlert } from './alerts/alert-declaration.ts'
import { createAlertKind } from './alerts/alert-type.ts'
import { declaredDashboard } from './dashboards/dashboard-declaration.ts'
import { dashboardKind } from './dashboards/dashboard-type.ts'
import type { DeclaredObject } from './declaration-fields.ts'
import type { Kind, Section } from './resource-type.ts'
import { declaredSavedSearch } from './saved-searches/saved-search-declaration.ts'
import { savedSearchKind } from './saved-searches/saved-search-type.ts'

/** The kinds of object by the key that they stand under in a file. */
export const sections = {
  dashboards: declaredDashboard,
  savedSearches: declaredSavedSearch,
  alerts: declaredAlert,
} as const satisfies Record<Section, z.ZodType>

/** An object of one of these kinds, as a file declares it. */
export type Declared<S extends Section = Section> = DeclaredObject<z.output<(typeof sections)[S]>, S>

export const isOf =
  <S extends Section>(section: S) =>
  (declared: Declared): declared is Declared<S> =>
    declared.section === section

export type Kinds = { readonly [S in Section]: Kind & { readonly section: S } }

/** The fields of an alert that the neutral contract documents. */
export const neutralAlertFields: readonly string[] = [
  'dashboardId',
  'tileId',
  'threshold',
  'interval',
  'source',
  'thresholdType',
  'channel',
  'name',
  'message',
]

export const createKinds = ({ extraAlertFields }: Profile): Kinds => ({
  savedSearches: savedSearchKind,
  dashboards: dashboardKind,
  alerts: createAlertKind((field) => neutralAlertFields.includes(field) || extraAlertFields.includes(field)),
})
