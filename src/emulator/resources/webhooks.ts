// Owns the list of webhooks. There is no way to get one by its id.
import type { ServiceCall } from '../route.ts'

export const listWebhooks = ({ service }: ServiceCall): unknown => service.webhooks
