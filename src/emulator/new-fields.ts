import { isJsonObject } from './json.ts'
import type { ProductRequest, ProductResponse } from './product/request.ts'
import type { JsonObject, Service } from './store.ts'

/** Plays a newer server: the product of today neither sees nor drops fields whose names begin with the prefix. */
export function withNewFields(
  prefix: string,
  request: ProductRequest,
  { isWrite }: { readonly isWrite: boolean },
  answer: (request: ProductRequest) => ProductResponse,
): ProductResponse {
  const isNew = (name: string): boolean => name.startsWith(prefix)
  const response = answer({ ...request, body: withoutFields(request.body, isNew) })
  const data = isJsonObject(response.body) ? response.body.data : undefined
  if (response.status !== 200 || data === undefined) return response
  if (isWrite) keepFields(request.body, findStored(request.service, data), isNew)
  const shown = Array.isArray(data)
    ? data.map((item) => showFields(findStored(request.service, item), item, isNew))
    : showFields(findStored(request.service, data), data, isNew)
  return { ...response, body: { ...(response.body as JsonObject), data: shown } }
}

type IsNew = (name: string) => boolean

function withoutFields(value: unknown, isNew: IsNew): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutFields(item, isNew))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, item]) => (isNew(name) ? [] : [[name, withoutFields(item, isNew)]])))
}

function findStored({ dashboards, alerts, savedSearches }: Service, view: unknown): unknown {
  const id = isJsonObject(view) ? view.id : undefined
  return [...dashboards, ...alerts, ...savedSearches].find((one) => one.id === id)
}

/** A replacement, as every update is: what was not sent again is gone. */
function keepFields(sent: unknown, stored: unknown, isNew: IsNew): void {
  if (Array.isArray(sent) && Array.isArray(stored)) {
    for (const [index, item] of stored.entries()) keepFields(sent[index], item, isNew)
    return
  }
  if (!isJsonObject(sent) || !isJsonObject(stored)) return
  for (const name of Object.keys(stored)) if (isNew(name)) Reflect.deleteProperty(stored, name)
  for (const [name, item] of Object.entries(sent)) {
    if (isNew(name)) stored[name] = item
    else keepFields(item, stored[name], isNew)
  }
}

function showFields(stored: unknown, view: unknown, isNew: IsNew): unknown {
  if (Array.isArray(stored) && Array.isArray(view)) {
    return view.map((item, index) => showFields(findSame(stored, item) ?? stored[index], item, isNew))
  }
  if (!isJsonObject(stored) || !isJsonObject(view)) return view
  const known = Object.entries(view).map(([name, item]) => [name, showFields(stored[name], item, isNew)])
  const shown = Object.fromEntries([...known, ...Object.entries(stored).filter(([name]) => isNew(name))])
  // The first channel of an alert is answered twice, and stored once.
  return Array.isArray(shown.channels) ? { ...shown, channel: shown.channels[0] } : shown
}

/** Hidden tiles make the places of the others differ. */
const findSame = (stored: readonly unknown[], view: unknown): unknown =>
  isJsonObject(view) && view.id !== undefined ? stored.find((one) => isJsonObject(one) && one.id === view.id) : undefined
