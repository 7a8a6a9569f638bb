// The requests that every observability resource has in common.
import type * as z from 'zod'
import { holds, isSame } from '../core/equality.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { quote } from '../core/text.ts'
import { ApiError } from './api-error.ts'
import { type ApiPath, isResourceId, path, type Service, servicePath, under } from './path.ts'
import type { Profile } from './profiles.ts'
import type { Found, Requester } from './requester.ts'
import { type Page, readList, readNothing, readOne } from './wire.ts'

/** The longest page that the product answers. */
export const pageLimit = 1000

export interface List<T> {
  readonly items: readonly T[]
  /** The list is as long as a page, and the server neither counts the objects nor answers another page: there may be more. */
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
  /** `paged`: by `limit` and `offset`. `whole`: in one answer, however long. `unknown`: a server may cut it at the page limit. */
  readonly listing: 'paged' | 'whole' | 'unknown'
}

export interface Wire<T> {
  /** Of one, as answered. */
  readonly schema: z.ZodType<T>
  /** The part that is not the server's own; for what can be written. */
  readonly toBody?: (one: T) => unknown
}

export function createCollection<T extends { readonly id: string }, Body>(options: CollectionOptions<T>): WriteCollection<T, Body> {
  const { requester, profile, observabilityPath, name, noun, wire, listing } = options
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
      const page: ReadPage<T> = async (offset) => {
        // A gateway may not know the parameters: they are given only where they are needed.
        const query = offset === 0 ? {} : { query: new URLSearchParams({ limit: String(pageLimit), offset: String(offset) }) }
        return (await requester.request({ ...facts, method: 'GET', path: all(service), ...query, read, missing: 'service' })).value
      }
      if (listing === 'paged') return listPages(page, noun)
      const { items } = await page(0)
      return { items, mayBeCut: listing === 'unknown' && items.length === pageLimit }
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

type ReadPage<T> = (offset: number) => Promise<Page<T>>

/** Throws where the list is not whole, twice in a row: nothing may be created or deleted by such a list. */
async function listPages<T extends { readonly id: string }>(page: ReadPage<T>, noun: string): Promise<List<T>> {
  const first = await readPages(page, noun)
  if (first.problem === undefined) return first
  const second = await readPages(page, noun)
  if (second.problem === undefined) return second
  throw new WatchkeeperError(
    'bad-answer',
    `${second.problem}: nothing is done by an incomplete list. Try again; if it stays so, ask the service's support.`,
  )
}

type PagedList<T> = List<T> & { readonly problem?: string }

async function readPages<T extends { readonly id: string }>(page: ReadPage<T>, noun: string): Promise<PagedList<T>> {
  const { items: first, total } = await page(0)
  const items = [...first]
  const ids = new Set(items.map(({ id }) => id))
  const isShort = (count: number): boolean => count === 0 || (total === undefined && count < pageLimit)
  let isLastPage = isShort(items.length)
  const result = (problem?: string): PagedList<T> => ({ items, mayBeCut: false, ...(problem !== undefined && { problem }) })
  // A full page may be one of several, whatever the server counts.
  while (!isLastPage && (total === undefined || ids.size < total || items.length === pageLimit)) {
    // Each page begins with the last object of the one before: where it does not, objects came or went in between.
    const [overlap, ...next] = (await page(items.length - 1)).items
    const isRepeated = next.length > 0 && [overlap, ...next].every((item) => item !== undefined && ids.has(item.id))
    // The server does not know offsets. A list longer than a page is complete.
    if (isRepeated) return { ...result(shortfall(total, ids.size, noun)), mayBeCut: items.length <= pageLimit }
    if (overlap?.id !== items.at(-1)?.id) return result(`The list of ${noun}s changed while it was read`)
    items.push(...next)
    for (const { id } of next) ids.add(id)
    isLastPage = next.length === 0 || isShort(next.length + 1)
  }
  return result(shortfall(total, ids.size, noun))
}

const shortfall = (total: number | undefined, count: number, noun: string): string | undefined =>
  total !== undefined && count < total ? `The API counts ${total} ${noun}s and lists ${count}` : undefined
