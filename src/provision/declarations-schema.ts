// Owns the whole of a file of declarations, for checking it and for editors.
import * as z from 'zod'
import { declaredAlert, declaredSavedSearch } from './kinds/declared-alert.ts'
import { declaredDashboard } from './kinds/declared-dashboard.ts'
import { keyForm, keyGrammar } from './marker.ts'

export const key = z.string().regex(keyGrammar).meta({ description: 'The identity of the object; its name can change.', accepts: keyForm })

/** The kinds of object by the key that they stand under in a file. */
export const sections = { dashboards: declaredDashboard, savedSearches: declaredSavedSearch, alerts: declaredAlert } as const

export type Section = keyof typeof sections

export const sectionNames = Object.keys(sections) as readonly Section[]

/** What `defaults` give need not be in an object, so that nothing is required of it here. */
const written = {
  dashboards: declaredDashboard.partial().meta({ id: 'dashboard' }),
  savedSearches: declaredSavedSearch.partial().meta({ id: 'savedSearch' }),
  alerts: declaredAlert.partial().meta({ id: 'alert' }),
} as const

const defaults = z
  .strictObject({
    dashboards: written.dashboards.optional(),
    savedSearches: written.savedSearches.optional(),
    alerts: written.alerts.optional(),
  })
  .meta({ description: 'What every object of this file has unless it says otherwise.' })

// JSON has no comment that could name the schema.
const editing = { $schema: z.string().optional().meta({ description: 'The schema of this file, for editors.' }) } as const

/** A file as its editor knows it. */
export const declarationsSchema = z.strictObject({
  ...editing,
  defaults: defaults.optional(),
  dashboards: z.record(key, written.dashboards).optional().meta({ description: 'Dashboards by their keys.' }),
  savedSearches: z.record(key, written.savedSearches).optional().meta({ description: 'Saved searches by their keys.' }),
  alerts: z.record(key, written.alerts).optional().meta({ description: 'Alerts by their keys.' }),
})

/** The frame alone: the objects are checked one by one, with their defaults. */
export const frameSchema = z.strictObject({
  ...editing,
  defaults: defaults.optional(),
  dashboards: z.record(z.string(), z.unknown()).optional(),
  savedSearches: z.record(z.string(), z.unknown()).optional(),
  alerts: z.record(z.string(), z.unknown()).optional(),
})
