import type * as z from 'zod'
import type { Profile } from '../api/profiles.ts'
import { createAlertType, type DeclaredAlert, declaredAlert } from './alerts/alert.ts'
import { type DeclaredDashboard, dashboardType, declaredDashboard } from './dashboards/dashboard.ts'
import type { DeclaredObject, ResourceType, Section } from './resource-type.ts'
import { type DeclaredSavedSearch, declaredSavedSearch, savedSearchType } from './saved-searches/saved-search.ts'

/** The schema of the objects in each section of a file. */
export const sections = {
  dashboards: declaredDashboard,
  savedSearches: declaredSavedSearch,
  alerts: declaredAlert,
} as const satisfies Record<Section, z.ZodType>

/** An object of one of these types, as a file declares it. */
export type Declared<S extends Section = Section> = DeclaredObject<z.output<(typeof sections)[S]>, S>

/** A type guard for declarations of one section. */
export const isOf =
  <S extends Section>(section: S) =>
  (declared: Declared): declared is Declared<S> =>
    declared.section === section

export interface ResourceTypes {
  readonly dashboards: ResourceType<DeclaredObject<DeclaredDashboard>>
  readonly savedSearches: ResourceType<DeclaredObject<DeclaredSavedSearch>>
  readonly alerts: ResourceType<DeclaredObject<DeclaredAlert>>
}

/** The resource types of a product. */
export const createResourceTypes = (profile: Profile): ResourceTypes => ({
  savedSearches: savedSearchType,
  dashboards: dashboardType,
  alerts: createAlertType(profile),
})
