import type { Copy } from './case.ts'

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isCopy = (value: unknown): value is Copy => isObject(value) && typeof value.$copy === 'string'

/** Answers by the names that the case gives them. */
export type Named = ReadonlyMap<string, unknown>

/** Fills in `$name` and copies. Throws for an unknown name. */
export function fillIn(value: unknown, named: Named): unknown {
  if (typeof value === 'string') return fillInText(value, named)
  if (Array.isArray(value)) return value.map((item) => fillIn(item, named))
  if (isCopy(value)) return fillInCopy(value, named)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillIn(item, named)]))
}

export const fillInText = (text: string, named: Named): string =>
  text.replace(/\$([A-Za-z]\w*)((?:\.\w+)*)/g, (_, name: string, path: string) => {
    const found = named.get(name)
    const keys = path.split('.').slice(1)
    const isUpper = keys.at(-1) === 'upper'
    const value = path === '' && isObject(found) ? found.id : valueAt(found, isUpper ? keys.slice(0, -1) : keys)
    if (typeof value !== 'string') throw new Error(`$${name}${path} is unknown`)
    return isUpper ? value.toUpperCase() : value
  })

function fillInCopy({ $copy, omit = [], set = {} }: Copy, named: Named): unknown {
  const found = named.get($copy)
  if (!isObject(found)) throw new Error(`$${$copy} is unknown`)
  const copied: Record<string, unknown> = structuredClone(found)
  for (const path of omit) remove(ownerOf(copied, path), lastOf(path))
  for (const [path, value] of Object.entries(set)) ownerOf(copied, path)[lastOf(path)] = fillIn(value, named)
  return copied
}

function remove(owner: Record<string, unknown>, key: string): void {
  if (Array.isArray(owner)) owner.splice(Number(key), 1)
  else Reflect.deleteProperty(owner, key)
}

const lastOf = (path: string): string => path.split('.').at(-1) ?? ''

function ownerOf(value: Record<string, unknown>, path: string): Record<string, unknown> {
  const owner = valueAt(value, path.split('.').slice(0, -1))
  if (typeof owner !== 'object' || owner === null) throw new Error(`there is nothing at ${path}`)
  return owner as Record<string, unknown>
}

export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((found, key) => (typeof found === 'object' && found !== null ? (found as Json)[key] : undefined), value)

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Replaces ids in answers by their names, and other ids by `$new1`, `$new2` in their order. */
export function createIdNames(named: Named): (text: string) => string {
  const names = new Map<string, string>()
  const add = (value: unknown, name: string): void => {
    if (typeof value === 'string' && /^[0-9a-f]{24}$/.test(value) && !names.has(value)) names.set(value, `$${name}`)
  }
  for (const [name, value] of named) {
    add(isObject(value) ? value.id : value, name)
    for (const field of ['tiles', 'filters'])
      for (const [index, item] of listOf(valueAt(value, [field])).entries()) add(valueAt(item, ['id']), `${name}.${field}.${index}`)
  }
  let count = 0
  return (text) =>
    text.replace(/\b[0-9a-f]{24}\b/gi, (id) => {
      const known = id.toLowerCase()
      if (!names.has(known)) names.set(known, `$new${++count}`)
      return `${names.get(known)}${id === known ? '' : '.upper'}`
    })
}
