import type * as z from 'zod'
import { holds, isSame } from '../core/equality.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { pluralOf, quote } from '../core/text.ts'
import { ApiError } from './api-error.ts'
import type { ApiRequest, Reconciled, RequestRules, SendOptions, Subject } from './call.ts'
import type { ReadApi, WriteApi } from './client.ts'
import { type ApiPath, isResourceId, isServer, path, root, servicePath, type Target, under } from './path.ts'
import { type Page, type Reader, readList, readOne } from './wire.ts'

/** The longest page that the server answers. */
export const pageLimit = 1000

export interface List<T> {
  readonly items: readonly T[]
  /** There may be more: the list is as long as a page, and the server neither counts the objects nor answers another page. */
  readonly mayBeCut: boolean
}

export interface DatedList<T> extends List<T> {
  /** Time of the answer on the clock of the requests; with several pages, of the first. */
  readonly readAtMs: number
}

export interface Collection<T extends { readonly id: string }, Body> {
  list(api: ReadApi, service: Target, options?: SendOptions): Promise<DatedList<T>>
  /** Throws kind `not-found` when there is none. */
  get(api: ReadApi, service: Target, id: string, options?: SendOptions): Promise<T>
  find(api: ReadApi, service: Target, id: string): Promise<T | undefined>
  /** Never repeated unless the server certainly did not act. Throws kind `may-exist` when the outcome is unknown. */
  create(api: WriteApi, service: Target, body: Body, options?: SendOptions): Promise<T>
  /**
   * What the body leaves out may be cleared. The write starts at most `maxBasisAgeMs` after the object was read. After a lost answer it is
   * sent again only if the object still is as it was before.
   */
  update(api: WriteApi, service: Target, update: ObjectUpdate<T, Body>, options?: SendOptions): Promise<Updated<T>>
  /**
   * False when it was gone already. Sent at most `maxBasisAgeMs` after the read that was checked: `check` is called for every reading, and
   * throws to keep the object.
   */
  remove(api: WriteApi, service: Target, id: string, options?: SendOptions & { check?(current: T): void | Promise<void> }): Promise<boolean>
}

export interface Reading<T> {
  readonly object: T
  /** Time of the answer on the clock of the requests. */
  readonly readAtMs: number
}

export interface ObjectUpdate<T, Body> {
  readonly id: string
  /** Used instead of a GET as long as it is recent. */
  readonly reading?: Reading<T> | undefined
  /** Undefined to leave the object as it is. Throws to refuse. Called for every reading. */
  compose(current: T): Body | undefined | Promise<Body | undefined>
  readonly via?: { readonly request: () => ApiRequest; readonly read: Reader<T> }
}

export interface Updated<T> {
  readonly object: T
  readonly isWritten: boolean
}

/**
 * Each object may have to be read before it is written, within the window of the rate limit. One at a time where no limit is stated, and
 * at most ten, which is enough for latency not to matter.
 */
export const countConcurrentWrites = (api: ReadApi): number => Math.min(10, Math.max(1, Math.floor((api.rateLimit()?.remaining ?? 0) / 2)))

interface CollectionOptions<T> {
  readonly name: string
  readonly noun: string
  readonly listing: 'paged' | 'whole'
  readonly schema: z.ZodType<T>
  readonly toBody?: (object: T) => unknown
  readonly toRequest?: (body: unknown) => unknown
  /** A server may repeat them in an error. */
  readonly secretsIn?: (body: unknown) => readonly string[]
  /** URLs that a person can have copied into another object, and that a run does not show. */
  readonly urlsOf?: (items: readonly T[]) => readonly string[]
  /** Fields that an answer does not show. */
  readonly writeOnly?: readonly string[]
  /** `list` where the API has no GET of one object. */
  readonly reads?: 'one' | 'list'
}

/** `/v1/organizations/…/services/…/observability/alerts`, or `/alerts` on a self-hosted server. */
export const collectionPath = ({ observabilityPath }: ReadApi, target: Target, name: string): ApiPath =>
  under(isServer(target) ? root : under(servicePath(target), observabilityPath), name)

function defineReads<T extends { readonly id: string }>({ name, noun, listing, schema, urlsOf, reads = 'one' }: CollectionOptions<T>) {
  const read = readOne(schema)
  const readPage = readList(schema)
  const about: Subject = { noun, permission: 'observability' }
  const all = (api: ReadApi, service: Target): ApiPath => collectionPath(api, service, name)
  const one = (api: ReadApi, service: Target, id: string): ApiPath => {
    demandResourceId(id, noun)
    return `${all(api, service)}${path`/${id}`}` as ApiPath // Two paths, one after the other, are a path.
  }
  async function get(api: ReadApi, service: Target, id: string, rules?: RequestRules<T>): Promise<T> {
    if (reads === 'one') return api.read({ request: { method: 'GET', path: one(api, service, id) }, read, about, rules })
    const { items, readAtMs } = await list(api, service, rules)
    const found = items.find((item) => item.id === id)
    if (found === undefined) throw new WatchkeeperError('not-found', `The ${noun} ${quote(id)} does not exist.`)
    rules?.onAnswer?.(readAtMs)
    return found
  }
  async function list(api: ReadApi, service: Target, rules?: SendOptions): Promise<DatedList<T>> {
    let readAtMs = Number.POSITIVE_INFINITY
    const page: ReadPage<T> = (offset) => {
      // A gateway might not know the parameters: they are given only where they are needed.
      const query = offset === 0 ? {} : { query: new URLSearchParams({ limit: String(pageLimit), offset: String(offset) }) }
      const onAnswer = (atMs: number): void => {
        readAtMs = Math.min(readAtMs, atMs)
      }
      return api.read({
        request: { method: 'GET', path: all(api, service), ...query },
        read: readPage,
        about: { ...about, missing: 'service' },
        rules: { ...rules, onAnswer },
      })
    }
    const found = listing === 'paged' ? await listPages(page, noun) : { items: (await page(0)).items, mayBeCut: false }
    if (urlsOf !== undefined) api.hideUrls(urlsOf(found.items))
    return { ...found, readAtMs }
  }
  return { read, about, all, one, get, list }
}

export function defineCollection<T extends { readonly id: string }, Body = never>(options: CollectionOptions<T>): Collection<T, Body> {
  const { toBody = (object) => object, toRequest = (body) => body, writeOnly = [], secretsIn = () => [] } = options
  const { read, about, all, one, get, list } = defineReads(options)
  return {
    list,
    get,
    find: (api, service, id) => get(api, service, id).catch(unlessNotFound),
    create: (api, service, body, rules) =>
      api.write({
        request: { method: 'POST', path: all(api, service), body: toRequest(body), secrets: () => secretsIn(body) },
        read,
        about: { ...about, missing: 'service' },
        rules,
      }),
    async update(api, service, { id, reading, compose, via }, options) {
      let readAtMs = reading?.readAtMs ?? 0
      const onAnswer = (atMs: number): void => {
        readAtMs = atMs
      }
      const getNow = (more?: SendOptions): Promise<T> => get(api, service, id, { ...more, onAnswer })
      let before = reading?.object ?? (await getNow(options))
      let body = await compose(before)
      if (body === undefined) return { object: before, isWritten: false }
      const toSend = (): ApiRequest =>
        via?.request() ?? { method: 'PUT', path: one(api, service, id), body: toRequest(body), secrets: () => secretsIn(body) }
      const readAgain = async () => {
        before = await getNow(options)
        body = await compose(before)
        return body === undefined ? { applied: before } : { body: toSend().body }
      }
      const reconcile = async (): Promise<Reconciled<T>> => {
        const now = await getNow()
        if (isSame(toBody(now), toBody(before))) return 'not-applied'
        // A value that the server stored in another form looks like another user's edit.
        return holds(now, withoutWriteOnly(body, writeOnly)) ? { applied: now } : 'changed-by-others'
      }
      const object = await api.write({
        request: toSend(),
        read: via?.read ?? read,
        about,
        rules: { ...options, reconcile, basis: { readAtMs: () => readAtMs, readAgain } },
      })
      return { object, isWritten: body !== undefined }
    },
    async remove(api, service, id, { check, ...options } = {}) {
      let readAtMs = 0
      const readAgain = async () => {
        await check?.(await get(api, service, id, { ...options, onAnswer: (atMs) => (readAtMs = atMs) }))
        return { body: undefined }
      }
      try {
        if (check !== undefined) await readAgain()
        const basis = check && { basis: { readAtMs: () => readAtMs, readAgain } }
        await api.write({
          request: { method: 'DELETE', path: one(api, service, id) },
          read: () => ({ value: undefined }),
          about,
          rules: { ...options, ...basis },
        })
        return true
      } catch (thrown) {
        // An earlier attempt, whose answer was lost, may have deleted it.
        unlessNotFound(thrown)
        return thrown instanceof ApiError && thrown.outcomeUnknown
      }
    },
  }
}

function unlessNotFound(thrown: unknown): undefined {
  if (!(thrown instanceof WatchkeeperError) || thrown.kind !== 'not-found') throw thrown
}

/** Ids from users were checked when they were read. This one came from the API. */
function demandResourceId(id: string, noun: string) {
  if (isResourceId(id)) return
  const message = `The API returned "${quote(id)}" as the id of this ${noun}. It is not safe in a URL path, so no request was sent.`
  throw new WatchkeeperError('bad-answer', message)
}

const withoutWriteOnly = (body: unknown, fields: readonly string[]) =>
  typeof body === 'object' && body !== null ? Object.fromEntries(Object.entries(body).filter(([field]) => !fields.includes(field))) : body

type ReadPage<T> = (offset: number) => Promise<Page<T>>

/** Throws when the list is incomplete twice in a row: it must not decide about creates and deletes. */
async function listPages<T extends { readonly id: string }>(page: ReadPage<T>, noun: string): Promise<List<T>> {
  const first = await readPages(page, noun)
  if (first.problem === undefined) return first
  const second = await readPages(page, noun)
  if (second.problem === undefined) return second
  throw new WatchkeeperError(
    'bad-answer',
    `${second.problem}. Nothing is changed based on an incomplete list. Run this again. If it continues, contact the server's support.`,
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
    // Each page begins with the last object of the previous one, unless objects were created or deleted in between.
    const [overlap, ...next] = (await page(items.length - 1)).items
    const isRepeated = next.length > 0 && [overlap, ...next].every((item) => item !== undefined && ids.has(item.id))
    // The server does not know offsets. A list longer than a page is complete.
    if (isRepeated) return { ...result(shortfall(total, ids.size, noun)), mayBeCut: items.length <= pageLimit }
    if (overlap?.id !== items.at(-1)?.id) return result(`The list of ${pluralOf(noun)} changed while it was read`)
    for (const item of next) {
      items.push(item)
      ids.add(item.id)
    }
    isLastPage = next.length === 0 || isShort(next.length + 1)
  }
  return result(shortfall(total, ids.size, noun))
}

const shortfall = (total: number | undefined, count: number, noun: string) =>
  total !== undefined && count < total ? `The API counts ${total} ${pluralOf(noun)} and lists ${count}` : undefined
