// Owns the whole of a file of declarations, for checking it and for editors.
import * as z from 'zod'
import { declaredAlert, declaredSavedSearch } from './kinds/declared-alert.ts'
import { declaredDashboard } from './kinds/declared-dashboard.ts'

export const keyGrammar = /^[a-z0-9][a-z0-9._-]{0,62}$/

export const key = z.string().regex(keyGrammar).meta({ description: 'The identity of the object; its name can change.' })

/** The kinds of object by the key that they stand under in a file. */
export const sections = { dashboards: declaredDashboard, savedSearches: declaredSavedSearch, alerts: declaredAlert } as const

export type Section = keyof typeof sections

export const sectionNames = Object.keys(sections) as readonly Section[]

const defaults = z
  .strictObject({
    dashboards: declaredDashboard.partial().optional(),
    savedSearches: declaredSavedSearch.partial().optional(),
    alerts: declaredAlert.partial().optional(),
  })
  .meta({ description: 'What every object of this file has unless it says otherwise.' })

/** A file as its editor knows it. What `defaults` give need not be in the objects, so nothing is required of those. */
export const declarationsSchema = z.strictObject({
  defaults: defaults.optional(),
  dashboards: z.record(key, declaredDashboard.partial()).optional(),
  savedSearches: z.record(key, declaredSavedSearch.partial()).optional(),
  alerts: z.record(key, declaredAlert.partial()).optional(),
})

/** The frame alone: the objects are checked one by one, with their defaults. */
export const frameSchema = z.strictObject({
  defaults: defaults.optional(),
  dashboards: z.record(z.string(), z.unknown()).optional(),
  savedSearches: z.record(z.string(), z.unknown()).optional(),
  alerts: z.record(z.string(), z.unknown()).optional(),
})
