import * as z from 'zod'
import { dayOf } from '../core/dates.ts'
import { dayMs } from '../core/durations.ts'
import { readInHalves } from './api-error.ts'
import type { ReadApi } from './client.ts'
import { isUuid, path } from './path.ts'
import { readList } from './wire.ts'

/**
 * What happened in the organization. Who did it is read only as a type: names, addresses and user agents of people are not kept. Source:
 * the vendor's OpenAPI document of 2026-07-31, where every field is optional.
 */
const activity = z.object({
  type: z
    .string()
    .transform((type) => type.toLowerCase())
    .catch(''),
  /** Milliseconds since the epoch. */
  createdAt: z
    .string()
    .transform((text) => Date.parse(text))
    .refine((ms) => !Number.isNaN(ms))
    .optional()
    .catch(undefined),
  serviceId: z
    .string()
    .transform((id) => id.toLowerCase())
    .refine(isUuid)
    .optional()
    .catch(undefined),
  /** `user`, `support`, `system` or `api`. */
  actorType: z.string().optional().catch(undefined),
})

export interface Activity {
  readonly type: string
  readonly atMs: number
  /** Undefined for activities of the whole organization. */
  readonly serviceId: string | undefined
  readonly actorType: string | undefined
}

export interface Activities {
  /** The oldest first. Those of the same time are in the order of the answer, or in the reverse order if that has the newest first. */
  readonly activities: readonly Activity[]
  /** Activities without a time. They may hide a change of any service. */
  readonly withoutTime: number
}

/** Reads the activities between two times. How long the API keeps them is not documented. */
export async function listActivities(api: ReadApi, organizationId: string, fromMs: number, toMs: number): Promise<Activities> {
  const parts = await readInHalves(dayOf(fromMs), dayOf(toMs), (first, last) => {
    const [from, to] = [Math.max(fromMs, Date.parse(first)), Math.min(toMs, Date.parse(last) + dayMs - 1)]
    return api.read({
      request: {
        method: 'GET',
        path: path`/v1/organizations/${organizationId}/activities`,
        query: new URLSearchParams({ from_date: new Date(from).toISOString(), to_date: new Date(to).toISOString() }),
      },
      read: readList(activity),
      about: { noun: 'organization', permission: 'activities' },
    })
  })
  const sorted = parts.map(({ items }) => sortActivities(items))
  return {
    activities: sorted.flatMap(({ activities }) => activities),
    withoutTime: sorted.reduce((sum, part) => sum + part.withoutTime, 0),
  }
}

function sortActivities(items: readonly z.output<typeof activity>[]): Activities {
  const timed = items.flatMap(({ createdAt, ...rest }): readonly Activity[] =>
    createdAt === undefined ? [] : [{ type: rest.type, atMs: createdAt, serviceId: rest.serviceId, actorType: rest.actorType }],
  )
  const isNewestFirst = (timed[0]?.atMs ?? 0) > (timed.at(-1)?.atMs ?? 0)
  const ordered = isNewestFirst ? timed.toReversed() : timed
  return { activities: ordered.toSorted((a, b) => a.atMs - b.atMs), withoutTime: items.length - timed.length }
}
