// Owns the five requests that every observability resource has in common.
import type * as z from 'zod'
import { WatchkeeperError } from '../kernel/errors.ts'
import { holds } from '../kernel/same.ts'
import { quote } from '../kernel/text.ts'
import { ApiError } from './api-error.ts'
import { type ApiPath, isResourceId, path, under } from './path.ts'
import type { Profile } from './profiles.ts'
import type { Requester } from './requester.ts'
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
  /** Replaces; what the body leaves out may be cleared. */
  update(service: Service, id: string, body: Body): Promise<T>
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
  /** Of one, as answered; asked for with each request. */
  readonly schema: () => Promise<z.ZodType<T>>
}

export function createCollection<T, Body>(options: CollectionOptions<T>): WriteCollection<T, Body> {
  const { requester, profile, observabilityPath, name, noun, schema } = options
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
    const read = readOne(await schema())
    return (await requester.request({ ...facts, method: 'GET', path: one(service, id), read })).value
  }

  return {
    async list(service) {
      const read = readList(await schema())
      const { value } = await requester.request({ ...facts, method: 'GET', path: all(service), read, missing: 'service' })
      return { items: value, mayBeCut: value.length >= pageLimit }
    },
    get,
    async create(service, body) {
      const read = readOne(await schema())
      return (await requester.request({ ...facts, method: 'POST', path: all(service), body, read, missing: 'service' })).value
    },
    async update(service, id, body) {
      const read = readOne(await schema())
      // What the server writes in its own way is taken for not done, and sent again.
      const lookBack = async (): Promise<T | undefined> => {
        const now = await get(service, id)
        return holds(now, body) ? now : undefined
      }
      return (await requester.request({ ...facts, method: 'PUT', path: one(service, id), body, read, lookBack })).value
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
