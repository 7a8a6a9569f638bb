// Owns the wire shape of webhooks: what is needed to find one by its name. Their urls are secrets, and are dropped here.

import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import { nameOrEmpty, wireId } from '../../api/wire.ts'

export const webhookSchema = z.object({ id: wireId, name: nameOrEmpty, service: z.string().nullish() })

export type Webhook = z.output<typeof webhookSchema>

export const webhookCollection = defineCollection<Webhook>({ name: 'webhooks', noun: 'webhook', listing: 'paged', schema: webhookSchema })
