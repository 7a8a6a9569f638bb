// Owns the body of an update: what is declared, laid over what exists, with what must be cleared said out loud.
import * as z from 'zod'
import type { Actual, Body, Kind } from './kinds/kind.ts'
import { managedPart, overlay } from './overlay.ts'

/** The whole body that an update sends. */
export function composeUpdate(kind: Kind, desired: Body, actual: Actual): Body {
  const before = kind.bodyOf(actual)
  const wanted = kind.withIds(desired, before)
  const cleared = Object.keys(before).filter((key) => isManaged(kind, key) && !Object.hasOwn(wanted, key) && isClearable(kind, key))
  const clearing = cleared.filter((key) => kind.clearWith[key] !== undefined).map((key) => [key, kind.clearWith[key]] as const)
  return { ...(overlay(wanted, before, kind.schema) as Body), ...Object.fromEntries(clearing) }
}

/** The two sides of a comparison: what exists, as far as files have a say in it, and what they say. */
export function compareBodies(kind: Kind, desired: Body, actual: Actual): { readonly before: Body; readonly after: Body } {
  const body = kind.bodyOf(actual)
  const wanted = kind.withIds(desired, body)
  return { before: kind.comparable(managedPart(body, wanted, kind.schema) as Body), after: kind.comparable(wanted) }
}

/** Fields that should be gone, and that no update can take away. */
export const unclearable = (kind: Kind, before: Body, after: Body): readonly string[] =>
  Object.keys(before).filter((key) => !Object.hasOwn(after, key) && !isClearable(kind, key))

const isManaged = ({ schema }: Kind, key: string): boolean => schema instanceof z.ZodObject && Object.hasOwn(schema.shape, key)

const isClearable = ({ clearWith }: Kind, key: string): boolean => Object.hasOwn(clearWith, key)
