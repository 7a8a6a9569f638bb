// Owns what a file says once for many objects: what an object can leave to the defaults, what it must deny, and what becomes a
// default of a new file.
import * as z from 'zod'
import { defaultOf, type Shape } from '../../documents/schema-facts.ts'
import { isMap } from '../../resources/compare.ts'
import { canonicalText } from '../../resources/marker.ts'
import type { Body } from '../../resources/resource-type.ts'
import { type Section, sections } from '../declarations.ts'

const isSame = (a: unknown, b: unknown): boolean => canonicalText(a) === canonicalText(b)

/** What a new object says itself, in a file with these defaults. */
export function fieldsBeside(defaults: unknown, section: Section, fields: Body): Body {
  if (!isMap(defaults)) return fields
  const own = Object.entries(fields).filter(([name, value]) => !Object.hasOwn(defaults, name) || !isSame(defaults[name], value))
  const denied = Object.keys(defaults).filter((name) => !Object.hasOwn(fields, name))
  const overrides = Object.entries(overridesFor(section, denied)).filter(([name, value]) => !isSame(defaults[name], value))
  return Object.fromEntries([...own, ...overrides])
}

/** For each field, the value that says that the object does not have what the defaults give; fields without one are left out. */
export function overridesFor(section: Section, names: readonly string[]): Body {
  const shape: Shape = sections[section].shape
  const values = names.flatMap((name) => {
    const field = shape[name]
    if (field === undefined) return []
    const value = [defaultOf(field), null, []].find((one) => one !== undefined && z.safeParse(field, one).success)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(values)
}

/** Alerts that say the same are worth a default from here on. */
const fewestForDefaults = 3

const foldable = ['interval', 'channel'] as const

export interface Folded {
  readonly defaults: Body
  readonly alerts: readonly Body[]
}

export function foldDefaults(alerts: readonly Body[]): Folded {
  const [first, ...others] = alerts
  if (first === undefined || alerts.length < fewestForDefaults) return { defaults: {}, alerts }
  const shared = foldable.filter((name) => first[name] !== undefined && others.every((alert) => isSame(alert[name], first[name])))
  const rest = alerts.map((alert) => Object.fromEntries(Object.entries(alert).filter(([name]) => !shared.some((one) => one === name))))
  return { defaults: Object.fromEntries(shared.map((name) => [name, first[name]])), alerts: rest }
}
