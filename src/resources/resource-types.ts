import type * as z from 'zod'
import type { Profile } from '../api/profiles.ts'
import { declaredAlert } from './alerts/alert-declaration.ts'
import { createAlertType } from './alerts/alert-type.ts'
import { declaredDashboard } from './dashboards/dashboard-declaration.ts'
import { dashboardType } from './dashboards/dashboard-type.ts'
import type { DeclaredObject } from './declaration-fields.ts'
import type { ResourceType, Section } from './resource-type.ts'
import { declaredSavedSearch } from './saved-searches/saved-search-declaration.ts'
import { savedSearchType } from './saved-searches/saved-search-type.ts'

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

export type ResourceTypes = { readonly [S in Section]: ResourceType & { readonly section: S } }

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

export const createResourceTypes = ({ extraAlertFields }: Profile): ResourceTypes => ({
  savedSearches: savedSearchType,
  dashboards: dashboardType,
  alerts: createAlertType((field) => neutralAlertFields.includes(field) || extraAlertFields.includes(field)),
})
