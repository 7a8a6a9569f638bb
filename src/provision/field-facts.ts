// Owns reading a field's schema: what it is inside its wrapping, what was said of it, whether it is needed.
import * as z from 'zod'

export type Shape = Readonly<Record<string, z.core.$ZodType>>

/** The schema inside optional, default and transform. */
export function coreOf(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return coreOf(schema.def.innerType)
  return schema instanceof z.ZodPipe ? coreOf(schema.def.in) : schema
}

/** What was said of a field, wherever in its wrapping it was said. */
export function metaOf(schema: z.core.$ZodType): z.GlobalMeta {
  const meta = z.globalRegistry.get(schema)
  if (meta !== undefined) return meta
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return metaOf(schema.def.innerType)
  return schema instanceof z.ZodPipe ? metaOf(schema.def.in) : {}
}

/** The value that stands in when none is given. */
export function defaultOf(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodDefault) return schema.def.defaultValue
  return schema instanceof z.ZodOptional ? defaultOf(schema.def.innerType) : undefined
}

export const isRequired = (schema: z.core.$ZodType): boolean => !z.safeParse(schema, undefined).success
