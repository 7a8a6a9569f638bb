// Owns the inputs that plan, apply and drift share.
import * as z from 'zod'
import { InputError } from '../../kernel/errors.ts'
import { quote } from '../../kernel/text.ts'
import { projectGrammar } from '../../provision/marker.ts'
import { filesInput } from '../declaration-files.ts'
import { filePath, flag, integer } from '../fields.ts'
import type { Files } from '../operation.ts'

export const planInput = z.strictObject({
  files: filesInput,
  project: z.string().regex(projectGrammar).optional().meta({
    description: 'Whose the objects are, in the mark that each of them bears; by default the repository.',
    accepts: 'letters, digits, dots, dashes, underscores and slashes, at most 100',
  }),
  prune: flag("Delete objects that bear this project's mark and are in no file.").default(false),
  maxDeletes: integer('More deletes than this are an error, and nothing is written.', 0, 10_000).default(5),
  sarifFile: filePath('Writes the findings to this file as SARIF 2.1.0, for code scanning.', 'a path').optional(),
})

/** Throws an InputError outside of a repository. */
export function projectFor(given: string | undefined, files: Files): string {
  const project = given ?? files.variable('GITHUB_REPOSITORY')
  if (project === undefined || project === '')
    throw new InputError([{ name: 'project', message: 'is missing: outside of a workflow nobody can tell the repository' }])
  if (projectGrammar.test(project)) return project
  throw new InputError([{ name: 'project', message: `"${quote(project, 80)}" (from GITHUB_REPOSITORY) is no project: give project` }])
}
