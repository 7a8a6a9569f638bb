// Owns the kinds of field that inputs are made of: each checks strictly, says what it accepts, and has one spelling everywhere.
import * as z from 'zod'
import { isResourceId, isUuid } from '../api/path.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** Of a list: as text, its items may also stand side by side, with commas between them. */
    commas?: boolean
    /** What action.yml alone sets when nothing is given: an expression of the runner's. */
    actionDefault?: string
  }
}

const oneLine = z.string().regex(/^[^\r\n]*$/)

export const text = (description: string, longest = 1024) =>
  oneLine
    .min(1)
    .max(longest)
    .meta({ description, accepts: `one line of at most ${longest} characters` })

/** Matches files inside the workspace. */
export const glob = z
  .string()
  .max(256)
  .refine((text) => text !== '' && !/^[/\\~]|^[A-Za-z]:|(?:^|\/)\.\.(?:\/|$)|[\0\r\n]/.test(text))

/** May run over several lines. */
export const longText = (description: string, longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .meta({ description, accepts: `text of at most ${longest} characters` })

export const filePath = (description: string, accepts = 'a path inside the workspace') =>
  oneLine.min(1).max(4096).meta({ description, accepts })

export const uuid = (description: string) =>
  z
    .string()
    .transform((id) => id.toLowerCase())
    .refine(isUuid)
    .meta({ description, accepts: 'a uuid such as 11111111-2222-4333-8444-555555555555' })

/** Id of a dashboard or an alert. */
export const resourceId = (description: string) =>
  z.string().refine(isResourceId).meta({ description, accepts: 'an id: letters, digits and ._~-, at most 128' })

/** An id that is only ever sent inside a body. */
export const opaqueId = (description: string) =>
  z
    .string()
    .regex(/^[\w.:~-]{1,128}$/)
    .meta({ description, accepts: 'an id: letters, digits and ._~:-, at most 128' })

export const choice = <const T extends readonly [string, ...string[]]>(options: T, description: string) =>
  z.enum(options).meta({ description, accepts: options.join(', ') })

export const flag = (description: string) => z.boolean().meta({ description, accepts: 'true or false' })

export const integer = (description: string, least: number, most: number) =>
  z
    .int()
    .min(least)
    .max(most)
    .meta({ description, accepts: `a whole number from ${least} to ${most}` })

export const decimalNumber = (description: string) => z.number().meta({ description, accepts: 'a number such as 5 or 0.25' })

export const lines = (description: string, accepts: string, item: z.ZodType<string, string>) =>
  z.array(item).max(100).meta({ description, accepts })

/** Like lines, and also with commas between the items: for items that hold none. */
export const list = (description: string, accepts: string, item: z.ZodType<string, string>) =>
  z.array(item).min(1).max(100).meta({ description, accepts, commas: true })

/** More than zero. */
export const positiveNumber = (description: string, most: number, accepts: string) =>
  z.number().positive().max(most).meta({ description, accepts })

/** An object as the API takes it, given inline. */
export const documentText = (noun: string) => longText(`The ${noun} as YAML or JSON, in the API's field names.`, 1_000_000).optional()

export const documentFile = (noun: string) => filePath(`File with the ${noun} as YAML or JSON, in the API's field names.`).optional()
