import * as z from 'zod'
import { adoption, declaredTags, sourceReference } from '../declaration-fields.ts'
import { createResolver, resolveSources } from '../resolve.ts'
import type { DeclaredObject, ResolveContext, ResolvedDeclaration } from '../resource-type.ts'

const expression = (longest: number) => z.string().max(longest).optional()

/** The product lists all three. It refuses to create any but the SQL predicates that its side bar can show; others it keeps. */
const savedSearchFilter = z.union([
  z.strictObject({ type: z.enum(['sql', 'lucene']).default('sql'), condition: z.string().max(8192) }),
  z.strictObject({
    type: z.literal('sql_ast'),
    operator: z.enum(['=', '<', '>', '!=', '<=', '>=']),
    left: z.string().max(8192),
    right: z.string().max(8192),
  }),
])

export const declaredSavedSearch = z.strictObject({
  name: z.string().trim().min(1).max(1024),
  sourceId: sourceReference,
  select: expression(4096),
  where: expression(8192),
  whereLanguage: z.enum(['lucene', 'sql']).optional().meta({ serverDefault: 'lucene' }),
  orderBy: expression(1024),
  tags: declaredTags,
  filters: z.array(savedSearchFilter).max(100).optional(),
  ...adoption,
})

export type DeclaredSavedSearch = z.output<typeof declaredSavedSearch>

export function resolveSavedSearch(
  declared: DeclaredObject<DeclaredSavedSearch>,
  { directory }: Pick<ResolveContext, 'directory'>,
): ResolvedDeclaration {
  const resolver = createResolver(declared, directory)
  const { adopt: _, id: __, previousKey: ___, ...fields } = declared.value
  return { body: resolveSources(fields, resolver), diagnostics: resolver.diagnostics }
}
