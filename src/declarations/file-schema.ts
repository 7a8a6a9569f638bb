import * as z from 'zod'
import { declaredAlert } from '../kinds/alert/alert.ts'
import { dashboardFields } from '../kinds/dashboard/dashboard-file.ts'
import { keyForm, keyGrammar } from '../kinds/marker.ts'
import { declaredSavedSearch } from '../kinds/saved-search/saved-search.ts'
import { declaredSource } from '../kinds/source/source.ts'
import { declaredWebhook } from '../kinds/webhook/webhook.ts'
import { writtenSlo } from '../slos/slo-file.ts'
import { instanceValues } from './environment.ts'
import { declaredIncident } from './incidents.ts'
import { instancesSchema } from './instances.ts'

const key = z.string().regex(keyGrammar).meta({ description: 'Identifies the object. Its name can change.', accepts: keyForm })

/** No field is required here, because it may come from `defaults`. */
const written = {
  dashboards: dashboardFields.partial().meta({ id: 'dashboard' }),
  savedSearches: declaredSavedSearch.partial().meta({ id: 'savedSearch' }),
  alerts: declaredAlert.partial().meta({ id: 'alert' }),
  webhooks: declaredWebhook.partial().meta({ id: 'webhook' }),
  sources: declaredSource.partial().meta({ id: 'sourceObject' }),
} as const

const defaults = z
  .strictObject({
    dashboards: written.dashboards.optional(),
    savedSearches: written.savedSearches.optional(),
    alerts: written.alerts.optional(),
    webhooks: written.webhooks.optional(),
    sources: written.sources.optional(),
    slos: writtenSlo.optional(),
    instances: instanceValues.optional().meta({ description: 'Values for all instances of this file that do not set them.' }),
  })
  .meta({ description: 'Fields for all objects of this file that do not set them.' })

// JSON has no comments that could name the schema.
const editing = { $schema: z.string().optional().meta({ description: 'Schema of this file, for editors.' }) } as const

/** A whole file. Editors check files by this schema. */
export const declarationsSchema = z.strictObject({
  ...editing,
  instances: instancesSchema.optional().meta({
    description:
      'Values by the keys of the instances. The objects of the file exist once for each instance, with its values in expressions.',
  }),
  defaults: defaults.optional(),
  dashboards: z.record(key, written.dashboards).optional().meta({ description: 'Dashboards by their keys.' }),
  savedSearches: z.record(key, written.savedSearches).optional().meta({ description: 'Saved searches by their keys.' }),
  alerts: z.record(key, written.alerts).optional().meta({ description: 'Alerts by their keys.' }),
  webhooks: z.record(key, written.webhooks).optional().meta({ description: 'Webhooks by their keys.' }),
  sources: z.record(key, written.sources).optional().meta({ description: 'Sources by their keys.' }),
  slos: z.record(key, writtenSlo).optional().meta({ description: 'Service level objectives by their keys.' }),
  incidents: z.record(key, declaredIncident).optional().meta({ description: 'Past incidents that alerts must notice, by their keys.' }),
})

/** The content of a file, for programs that write files. */
export type DeclarationsFile = z.input<typeof declarationsSchema>

/** The sections of a file. Objects are checked one by one, with their defaults. */
export const frameSchema = z.strictObject({
  ...editing,
  defaults: defaults.optional(),
  dashboards: z.record(z.string(), z.unknown()).optional(),
  savedSearches: z.record(z.string(), z.unknown()).optional(),
  alerts: z.record(z.string(), z.unknown()).optional(),
  webhooks: z.record(z.string(), z.unknown()).optional(),
  sources: z.record(z.string(), z.unknown()).optional(),
  slos: z.record(z.string(), z.unknown()).optional(),
  incidents: z.record(z.string(), z.unknown()).optional(),
})
