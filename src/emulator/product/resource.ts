import type { Service } from '../store.ts'
import {
  deleted,
  type Handler,
  type Identified,
  listAll,
  listPage,
  ok,
  type ProductError,
  type ProductRequest,
  removeById,
  requireById,
  validate,
} from './request.ts'

interface Resource<T extends Identified> {
  readonly name: string
  itemsOf(service: Service): T[]
  /** Throws for an object that the product cannot read. */
  toView(item: T): unknown
  /** All objects as they are shown, for a list that is not paged. */
  list?(items: readonly T[]): readonly unknown[]
  /** Default: true. */
  readonly hasGet?: boolean
  missing(): ProductError
  create(request: ProductRequest): T
  /** Returns what is stored instead. The product looks the object up between its checks: `find` throws where there is none. */
  update(request: ProductRequest, find: () => T): T
  checkDelete?(request: ProductRequest): void
  afterDelete?(service: Service, removed: T): void
  /** Whether a DELETE of an unknown id succeeds. */
  readonly isMissingDeleted?: boolean
}

/** The handlers of a resource, by method and path. */
export function routesOf<T extends Identified>(resource: Resource<T>): Readonly<Record<string, Handler>> {
  const { name, itemsOf, toView, list, hasGet = true, missing } = resource
  const find = ({ service, id }: ProductRequest): T => requireById(itemsOf(service), id, missing)
  return {
    [`GET ${name}`]: (request) => {
      const items = itemsOf(request.service)
      return list === undefined ? listPage(request, items, toView) : listAll(request, list(items))
    },
    ...(hasGet && {
      [`GET ${name}/:id`]: (request) => {
        validate(request, { hasId: true })
        return ok(toView(find(request)))
      },
    }),
    [`POST ${name}`]: (request) => {
      const item = resource.create(request)
      itemsOf(request.service).push(item)
      return ok(toView(item))
    },
    [`PUT ${name}/:id`]: (request) => {
      const item = resource.update(request, () => find(request))
      const items = itemsOf(request.service)
      items[items.findIndex(({ id }) => id === item.id)] = item
      return ok(toView(item))
    },
    [`DELETE ${name}/:id`]: (request) => {
      validate(request, { hasId: true })
      resource.checkDelete?.(request)
      const removed = removeById(itemsOf(request.service), request.id)
      if (removed !== undefined) resource.afterDelete?.(request.service, removed)
      else if (!resource.isMissingDeleted) throw missing()
      return deleted
    },
  }
}
