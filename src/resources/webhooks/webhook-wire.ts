import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import { nameOrEmpty, wireId } from '../../api/wire.ts'

/** The fields that are needed to find a webhook by its name. The URL is a secret and is dropped here. */
export const webhookSchema = z.object({ id: wireId, name: nameOrEmpty, service: z.string().nullish() })

export type Webhook = z.output<typeof webhookSchema>

/** The requests for webhooks. */
export const webhookCollection = defineCollection<Webhook>({ name: 'webhooks', noun: 'webhook', listing: 'paged', schema: webhookSchema })
