import type * as z from 'zod'
import { holds, isSame } from '../core/equality.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { pluralOf, quote } from '../core/text.ts'
import { ApiError } from './api-error.ts'
import type { ReadApi, WriteApi } from './client.ts'
import { type ApiPath, isResourceId, isServer, path, servicePath, type Target, under } from './path.ts'
import type { Profile } from './profiles.ts'
import type { Call, Reconciled } from './requester.ts'
import { type Page, readList, readNothing, readOne } from './wire.ts'

/** The longest page that the product answers. */
export const pageLimit = 1000

export interface List<T> {
  readonly items: readonly T[]
  /** The list is as long as a page, and the server neither counts the objects nor answers another page: there may be more. */
  readonly mayBeCut: boolean
}

/** The requests that every observability resource has in common. */
export interface Collection<T extends { readonly id: string }, Body> {
  list(api: ReadApi, service: Target, options?: SendOptions): Promise<List<T>>
  /** Throws an ApiError of kind `not-found` when there is none. */
  get(api: ReadApi, service: Target, id: string, options?: SendOptions): Promise<T>
  /** One POST, never repeated unless the server certainly did not act. Throws kind `may-exist` when the outcome is unknown. */
  create(api: WriteApi, service: Target, body: Body, options?: SendOptions): Promise<T>
  /**
   * Replaces what was read before; what the body leaves out may be cleared. After a lost answer it is sent again only if the
   * object still is as it was before.
   */
  update(api: WriteApi, service: Target, update: Update<T, Body>, options?: SendOptions): Promise<T>
  /** Returns false when it was gone already. */
  remove(api: WriteApi, service: Target, id: string, options?: SendOptions): Promise<boolean>
}

interface Update<T, Body> {
  /** The object as it was read. */
  readonly before: T
  readonly body: Body
}

/** For runs with many requests: once the signal is aborted, those that were not sent yet are not sent. */
export type SendOptions = Pick<Call<unknown>, 'notAfter' | 'isOptional'>

interface CollectionOptions<T> {
  /** Path segment of the collection: `alerts`. */
  readonly name: string
  /** One of them, for messages: `alert`. */
  readonly noun: string
  /** Whether the product pages this list; a profile may know less about its server. */
  readonly listing: keyof Profile['lists']
  /** One object, as answered. */
  readonly schema: z.ZodType<T>
  /** The part of an answered object that may be sent again; for what can be written. */
  readonly toBody?: (object: T) => unknown
}

/** The path of a collection: `/v1/organizations/…/services/…/observability/alerts`, or `/alerts` on a self-hosted server. */
export const collectionPath = ({ observabilityPath }: ReadApi, target: Target, name: string): ApiPath =>
  under(isServer(target) ? ('' as ApiPath) : under(servicePath(target), observabilityPath), name)

/** The requests for one type of resource, with paging and with reconciliation of lost answers. */
export function defineCollection<T extends { readonly id: string }, Body = never>(options: CollectionOptions<T>): Collection<T, Body> {
  const { name, noun, listing, schema, toBody = (object) => object } = options
  const read = readOne(schema)
  const readPage = readList(schema)
  const factsFor = ({ profile }: ReadApi) => ({ noun, permission: profile.permissions.observability })
  const all = (api: ReadApi, service: Target): ApiPath => collectionPath(api, service, name)
  const one = (api: ReadApi, service: Target, id: string): ApiPath => {
    // Ids from users were checked when they were read. This one came from the API.
    if (!isResourceId(id)) {
      const message = `The API returned "${quote(id, 80)}" as the id of this ${noun}. It is not safe in a URL path, so no request was sent.`
      throw new WatchkeeperError('bad-answer', message)
    }
    return `${all(api, service)}${path`/${id}`}` as ApiPath
  }
  const get = (api: ReadApi, service: Target, id: string, options?: SendOptions): Promise<T> =>
    api.read({ ...factsFor(api), ...options, method: 'GET', path: one(api, service, id), read })

  return {
    async list(api, service, options) {
      const page: ReadPage<T> = (offset) => {
        // A gateway may not know the parameters: they are given only where they are needed.
        const query = offset === 0 ? {} : { query: new URLSearchParams({ limit: String(pageLimit), offset: String(offset) }) }
        return api.read({
          ...factsFor(api),
          ...options,
          method: 'GET',
          path: all(api, service),
          ...query,
          read: readPage,
          missing: 'service',
        })
      }
      const known = api.profile.lists[listing]
      if (known === 'paged') return listPages(page, noun)
      const { items } = await page(0)
      return { items, mayBeCut: known === 'unknown' && items.length === pageLimit }
    },
    get,
    create: (api, service, body, options) =>
      api.write({ ...factsFor(api), ...options, method: 'POST', path: all(api, service), body, read, missing: 'service' }),
    update(api, service, { before, body }, options) {
      const reconcile = async (): Promise<Reconciled<T>> => {
        const now = await get(api, service, before.id)
        if (isSame(toBody(now), toBody(before))) return 'not-applied'
        // A value that the server stored in another form looks like another user's edit.
        return holds(now, body) ? { applied: now } : 'changed-by-others'
      }
      return api.write({ ...factsFor(api), ...options, method: 'PUT', path: one(api, service, before.id), body, read, reconcile })
    },
    async remove(api, service, id, options) {
      try {
        await api.write({ ...factsFor(api), ...options, method: 'DELETE', path: one(api, service, id), read: readNothing })
        return true
      } catch (thrown) {
        // An earlier attempt, whose answer was lost, may have deleted it.
        if (thrown instanceof ApiError && thrown.kind === 'not-found') return thrown.outcomeUnknown
        throw thrown
      }
    },
  }
}

type ReadPage<T> = (offset: number) => Promise<Page<T>>

/** Throws when the list is incomplete twice in a row: nothing may be created or deleted by such a list. */
async function listPages<T extends { readonly id: string }>(page: ReadPage<T>, noun: string): Promise<List<T>> {
  const first = await readPages(page, noun)
  if (first.problem === undefined) return first
  const second = await readPages(page, noun)
  if (second.problem === undefined) return second
  throw new WatchkeeperError(
    'bad-answer',
    `${second.problem}. Nothing is changed based on an incomplete list. Try again. If the problem remains, contact the service's support.`,
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
    // Each page begins with the last object of the previous one. If it does not, objects were created or deleted in between.
    const [overlap, ...next] = (await page(items.length - 1)).items
    const isRepeated = next.length > 0 && [overlap, ...next].every((item) => item !== undefined && ids.has(item.id))
    // The server does not know offsets. A list longer than a page is complete.
    if (isRepeated) return { ...result(shortfall(total, ids.size, noun)), mayBeCut: items.length <= pageLimit }
    if (overlap?.id !== items.at(-1)?.id) return result(`The list of ${pluralOf(noun)} changed while it was read`)
    items.push(...next)
    for (const { id } of next) ids.add(id)
    isLastPage = next.length === 0 || isShort(next.length + 1)
  }
  return result(shortfall(total, ids.size, noun))
}

const shortfall = (total: number | undefined, count: number, noun: string): string | undefined =>
  total !== undefined && count < total ? `The API counts ${total} ${pluralOf(noun)} and lists ${count}` : undefined
