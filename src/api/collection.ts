// Owns the five requests that every observability resource has in common.
import type * as z from 'zod'
import { WatchkeeperError } from '../kernel/errors.ts'
import { holds, isSame } from '../kernel/same.ts'
import { quote } from '../kernel/text.ts'
import { ApiError } from './api-error.ts'
import { type ApiPath, isResourceId, path, under } from './path.ts'
import type { Profile } from './profiles.ts'
import type { Found, Requester } from './requester.ts'
import { type Service, servicePath } from './service.ts'
import { readList, readNothing, readOne } from './wire.ts'

/** Lists are not paged; a server cuts them at this length without a word (its upstream's default page). */
export const pageLimit = 1000

export interface List<T> {
  readonly items: readonly T[]
  /** The list is as long as a page: there may be more that nobody sees. */
  readonly mayBeCut: boolean
}

export interface ReadCollection<T> {
  list(service: Service): Promise<List<T>>
  /** Throws an ApiError of kind `not-found` when there is none. */
  get(service: Service, id: string): Promise<T>
}

export interface WriteCollection<T, Body> extends ReadCollection<T> {
  /** One POST, never repeated unless the server certainly did not act. Throws kind `may-exist` when nobody can tell. */
  create(service: Service, body: Body): Promise<T>
  /**
   * Replaces what was read `before`; what the body leaves out may be cleared. Sent again after an answer was lost only over
   * what it was meant to replace.
   */
  update(service: Service, before: T, body: Body): Promise<T>
  /** Returns false when it was gone already. */
  remove(service: Service, id: string): Promise<boolean>
}

export interface CollectionOptions<T> {
  readonly requester: Requester
  readonly profile: Profile
  /** Segment between the service and the collection. */
  readonly observabilityPath: string
  /** Segment of the collection: `alerts`. */
  readonly name: string
  readonly noun: string
  /** Asked for with each request. */
  readonly wire: () => Promise<Wire<T>>
}

export interface Wire<T> {
  /** Of one, as answered. */
  readonly schema: z.ZodType<T>
  /** The part that is not the server's own; for what can be written. */
  readonly toBody?: (one: T) => unknown
}

export function createCollection<T extends { readonly id: string }, Body>(options: CollectionOptions<T>): WriteCollection<T, Body> {
  const { requester, profile, observabilityPath, name, noun, wire } = options
  const facts = { noun, permission: profile.permissions.observability }
  const all = (service: Service): ApiPath => under(under(servicePath(service), observabilityPath), name)
  const one = (service: Service, id: string): ApiPath => {
    // What users give was checked when it was read: this one came from the API.
    if (!isResourceId(id)) {
      const message = `The API calls this ${noun} "${quote(id, 80)}", which is no id that can stand in a path: nothing was sent.`
      throw new WatchkeeperError('bad-answer', message)
    }
    return `${all(service)}${path`/${id}`}` as ApiPath
  }

  async function get(service: Service, id: string): Promise<T> {
    const read = readOne((await wire()).schema)
    return (await requester.request({ ...facts, method: 'GET', path: one(service, id), read })).value
  }

  return {
    async list(service) {
      const read = readList((await wire()).schema)
      const { value } = await requester.request({ ...facts, method: 'GET', path: all(service), read, missing: 'service' })
      return { items: value, mayBeCut: value.length >= pageLimit }
    },
    get,
    async create(service, body) {
      const read = readOne((await wire()).schema)
      return (await requester.request({ ...facts, method: 'POST', path: all(service), body, read, missing: 'service' })).value
    },
    async update(service, before, body) {
      const { schema, toBody = (whole) => whole } = await wire()
      const lookBack = async (): Promise<Found<T>> => {
        const now = await get(service, before.id)
        if (isSame(toBody(now), toBody(before))) return 'nothing'
        // What the server wrote in its own way cannot be told from what somebody else wrote.
        return holds(now, body) ? { done: now } : 'something else'
      }
      return (await requester.request({ ...facts, method: 'PUT', path: one(service, before.id), body, read: readOne(schema), lookBack }))
        .value
    },
    async remove(service, id) {
      try {
        await requester.request({ ...facts, method: 'DELETE', path: one(service, id), read: readNothing })
        return true
      } catch (thrown) {
        // An earlier try whose answer was lost may be why there is none any more.
        if (thrown instanceof ApiError && thrown.kind === 'not-found') return thrown.mayHaveActed
        throw thrown
      }
    },
  }
}
