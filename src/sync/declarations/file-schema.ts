import * as z from 'zod'
import { declaredAlert } from '../../kinds/alert/alert.ts'
import { dashboardFields } from '../../kinds/dashboard/dashboard-file.ts'
import { type KindName, kindLabels, kindNames, type Section, sections } from '../../kinds/kind-names.ts'
import { keyForm, keyGrammar } from '../../kinds/marker.ts'
import { declaredSavedSearch } from '../../kinds/saved-search/saved-search.ts'
import { declaredSource } from '../../kinds/source/source.ts'
import { declaredWebhook } from '../../kinds/webhook/webhook.ts'
import { capitalize, pluralOf } from '../../platform/core/text.ts'
import { writtenSlo } from '../../signals/slos/slo-file.ts'
import { declaredIncident } from './incidents.ts'
import { instancesSchema, instanceValues } from './instances.ts'

const key = z.string().regex(keyGrammar).meta({ description: 'Identifies the object. Its name can change.', accepts: keyForm })

/** No field is required here, because it may come from `defaults`. */
const written = {
  dashboards: dashboardFields.partial().meta({ id: 'dashboard' }),
  savedSearches: declaredSavedSearch.partial().meta({ id: 'savedSearch' }),
  alerts: declaredAlert.partial().meta({ id: 'alert' }),
  webhooks: declaredWebhook.partial().meta({ id: 'webhook' }),
  sources: declaredSource.partial().meta({ id: 'sourceObject' }),
} as const satisfies Record<Section, z.ZodObject>

const bySection = (toSchema: (section: Section, kind: KindName) => z.ZodType): object =>
  Object.fromEntries(kindNames.map((kind) => [sections[kind], toSchema(sections[kind], kind)]))

const defaults = z
  .strictObject({
    ...(bySection((section) => written[section].optional()) as { readonly [S in Section]: z.ZodOptional<(typeof written)[S]> }), // The loop is over all sections.
    slos: writtenSlo.optional(),
    instances: instanceValues.optional().meta({ description: 'Values for all instances of this file that do not set them.' }),
  })
  .meta({ description: 'Fields for all objects of this file that do not set them.' })

const objects = bySection((section, kind) => {
  const description = `${capitalize(pluralOf(kindLabels[kind]))} by their keys.`
  return z.record(key, written[section]).optional().meta({ description })
}) as { readonly [S in Section]: z.ZodOptional<z.ZodRecord<typeof key, (typeof written)[S]>> } // The loop is over all sections.

// JSON has no comments that could name the schema.
const editing = { $schema: z.string().optional().meta({ description: 'Schema of this file, for editors.' }) } as const

/** Editors check files by it. */
export const declarationsSchema = z.strictObject({
  ...editing,
  instances: instancesSchema.optional().meta({
    description:
      'Values by the keys of the instances. The objects of the file exist once for each instance, with its values in expressions.',
  }),
  defaults: defaults.optional(),
  ...objects,
  slos: z.record(key, writtenSlo).optional().meta({ description: 'Service level objectives by their keys.' }),
  incidents: z.record(key, declaredIncident).optional().meta({ description: 'Past incidents that alerts must notice, by their keys.' }),
})

export type DeclarationsFile = z.input<typeof declarationsSchema>

/** Objects are checked one by one, with their defaults. */
export const frameSchema = z.strictObject({
  ...editing,
  defaults: defaults.optional(),
  instances: z.unknown().optional(),
  ...bySection(() => z.record(z.string(), z.unknown()).optional()),
  slos: z.record(z.string(), z.unknown()).optional(),
  incidents: z.record(z.string(), z.unknown()).optional(),
})
