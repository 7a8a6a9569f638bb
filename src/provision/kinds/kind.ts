// Owns what the engine must know of a kind of object. The engine itself knows no kind by name.
import type * as z from 'zod'
import type { Section } from '../declarations-schema.ts'
import type { FoundMark, Mark, MarkStyle } from '../marker.ts'

/** An object in the API's own names, as far as it may be sent. */
export type Body = Readonly<Record<string, unknown>>

/** An object as the API answers it. */
export interface Actual {
  readonly id: string
  readonly name?: string | null | undefined
  readonly [field: string]: unknown
}

export interface Kind {
  readonly section: Section
  readonly noun: string
  /** The fields that files have a say in, in the API's names. */
  readonly schema: z.ZodType
  /** For each field that an update can clear, the value that clears it. */
  readonly clearWith: Body
  /** The part of an answered object that may be sent again. */
  bodyOf(actual: Actual): Body
  readonly markStyle: MarkStyle
  markIn(body: Body): FoundMark | undefined
  withMark(body: Body, mark: Mark): Body
  /** What two bodies are compared by: without mark, without what the server owns or assumes, in an order of its own. */
  comparable(body: Body): Body
  /** Gives parts of the desired body the ids that they have in the actual one. */
  withIds(desired: Body, actual: Body): Body
}
