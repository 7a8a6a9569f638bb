import * as z from 'zod'
import { defineCollection } from '../../platform/api/collection.ts'
import { nameOrEmpty, wireId } from '../../platform/api/wire.ts'
import type { Body, StoredObject } from '../kind.ts'
import { kindLabels } from '../kind-names.ts'
import { revealSecrets, StoredSecret, secretTextsIn, storedUrlsOf } from '../secret.ts'

const text = z.string().nullish()

/** The fields that are needed to find a webhook by its name, and that reports may show. */
export const webhookSchema = z.object({ id: wireId, name: nameOrEmpty, service: text })

/**
 * A webhook as the API returns it. Its URL is a secret, which can only be compared and sent back. Other fields that this version does not
 * know are dropped, because a server may answer secrets in them; an update leaves them as they are.
 */
export const storedWebhookSchema = webhookSchema.extend({
  description: text,
  body: text,
  url: text.transform((url) => (url ? new StoredSecret(url) : undefined)).optional(),
})

export type Webhook = z.output<typeof storedWebhookSchema>

export function toWebhookBody({ id: _, ...fields }: StoredObject): Body {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
}

/** The API has no GET by id. */
export const webhookCollection = defineCollection<Webhook, Body>({
  name: 'webhooks',
  noun: kindLabels.webhook,
  listing: 'paged',
  schema: storedWebhookSchema,
  toBody: toWebhookBody,
  toRequest: revealSecrets,
  secretsIn: secretTextsIn,
  urlsOf: storedUrlsOf,
  // The answer shows neither of them, and the marker in the description has their digest.
  writeOnly: ['url', 'headers', 'queryParams', 'body'],
  reads: 'list',
})
