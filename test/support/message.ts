import type { Message } from '../../src/delivery/notifications/message.ts'
import { say, trusted } from '../../src/platform/core/line.ts'

/** The message about a failed gate. */
export const messageWith = (more: Partial<Message> = {}): Message => ({
  operation: 'usage-cost',
  title: trusted('Cost gate'),
  status: 'fail',
  change: 'unknown',
  sentence: say`Budget exceeded: ${trusted('283.33 of 250.00 CHC (113%).')}`,
  milestones: [],
  details: [],
  footer: say`22 Nov 2026 06:17 UTC`,
  organizationId: undefined,
  serviceId: undefined,
  serverUrl: undefined,
  repository: 'acme/shop',
  workflow: 'cost gate',
  runUrl: 'https://github.com/acme/shop/actions/runs/4711',
  issueUrl: undefined,
  ...more,
})
