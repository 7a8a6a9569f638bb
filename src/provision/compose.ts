// The body of an update: what is declared, laid over what exists, with what must be cleared. And the two sides of a comparison.
import * as z from 'zod'
import type { Actual, Body, Kind } from './kinds/kind.ts'
import { normalForm } from './normal-form.ts'
import { managedPart, overlay } from './overlay.ts'

/** The whole body that an update sends. */
export function composeUpdate(kind: Kind, desired: Body, actual: Actual): Body {
  const before = kind.bodyOf(actual)
  const wanted = kind.withIds(desired, before)
  const cleared = Object.keys(before).filter((key) => isManaged(kind, key) && !Object.hasOwn(wanted, key) && isClearable(kind, key))
  const clearing = cleared.filter((key) => kind.clearWith[key] !== undefined).map((key) => [key, kind.clearWith[key]] as const)
  return { ...(overlay(wanted, before, kind.schema) as Body), ...Object.fromEntries(clearing) }
}

/** What is stored and what is declared, as far as files have a say in it, with the same ids in both. */
export interface Sides {
  readonly stored: Body
  readonly declared: Body
  /** What is declared, with its empty fields. */
  readonly given: Body
}

export function sidesOf(kind: Kind, desired: Body, actual: Actual): Sides {
  const body = kind.bodyOf(actual)
  const declared = kind.withIds(desired, body)
  return { stored: kind.plain(managedPart(body, declared, kind.schema) as Body), declared: kind.plain(declared), given: declared }
}

/** Both sides without what the server assumes anyway. */
export function compareBodies(kind: Kind, desired: Body, actual: Actual): { readonly before: Body; readonly after: Body } {
  const { stored, declared } = sidesOf(kind, desired, actual)
  return { before: normalForm(stored, kind.schema) as Body, after: normalForm(declared, kind.schema) as Body }
}

/** What two bodies are compared by: without markers, and without what the server assumes anyway. */
export const comparable = (kind: Kind, body: Body): Body => normalForm(kind.plain(body), kind.schema) as Body

/** Fields that should be gone, and that no update can clear. */
export const unclearable = (kind: Kind, before: Body, desired: Body): readonly string[] => {
  const wanted = kind.withIds(desired, before)
  return Object.keys(before).filter((key) => !Object.hasOwn(wanted, key) && !isClearable(kind, key))
}

const isManaged = ({ schema }: Kind, key: string): boolean => schema instanceof z.ZodObject && Object.hasOwn(schema.shape, key)

const isClearable = ({ clearWith }: Kind, key: string): boolean => Object.hasOwn(clearWith, key)
