// The inputs that plan, apply and drift share, and the project that they are about.
import * as z from 'zod'
import type { Diagnostic } from '../core/diagnostics.ts'
import { InputError } from '../core/errors.ts'
import { quote } from '../core/text.ts'
import { filePath, flag, integer } from '../operation/fields.ts'
import type { Files } from '../operation/operation.ts'
import { projectForm, projectGrammar } from '../resources/marker.ts'
import { filesInput } from './find-declarations.ts'
import type { AdoptFrom } from './match.ts'

export const planInput = z.strictObject({
  files: filesInput,
  project: z.string().regex(projectGrammar).optional().meta({
    description:
      'Owner of the objects, kept in a marker inside each of them; by default `project` in .watchkeeper.yml, then the repository.',
    accepts: projectForm,
  }),
  adoptFrom: z
    .string()
    .regex(projectGrammar)
    .optional()
    .meta({
      description:
        'Take over the objects of this project, for one that was renamed. `none`: leave other projects alone, and create a second set.',
      accepts: `a project (${projectForm}), or none`,
    }),
  prune: flag("Delete objects that bear this project's mark and are in no file.").default(false),
  maxDeletes: integer('More deletes than this are an error, and nothing is written.', 0, 10_000).default(5),
  sarifFile: filePath('Writes the diagnostics to this file as SARIF 2.1.0, for code scanning.', 'a path').optional(),
})

export const toAdoptFrom = (text: string | undefined): AdoptFrom => (text === undefined || text === 'none' ? text : { project: text })

export interface ProjectChoice {
  readonly project: string
  /** That it was inferred, for whoever reads the plan. */
  readonly diagnostics: readonly Diagnostic[]
}

export const projectRules = {
  'inferred-project': 'The project was taken from the remote of the Git repository.',
} as const

/** Reads may infer the project from the Git remote; who writes must say it. Throws an InputError where there is none. */
export async function projectFor(given: string | undefined, files: Files, effect: 'read' | 'write'): Promise<ProjectChoice> {
  if (given !== undefined) return { project: given, diagnostics: [] }
  const repository = files.variable('GITHUB_REPOSITORY')
  if (repository) return { project: validProject(repository, 'GITHUB_REPOSITORY'), diagnostics: [] }
  const remote = await files.remoteRepository()
  if (remote === undefined) throw noProject('is missing: pass --project owner/repo, or set project in .watchkeeper.yml')
  const project = validProject(remote, 'git remote origin')
  const advice = `pass --project ${project}, or set project in .watchkeeper.yml`
  if (effect === 'write') throw noProject(`is missing: ${advice} (git remote origin is ${project})`)
  const message = `the project ${project} was taken from git remote origin; for apply, ${advice}`
  return { project, diagnostics: [{ rule: 'inferred-project', severity: 'note', location: { file: '.watchkeeper.yml' }, message }] }
}

const noProject = (message: string): InputError => new InputError([{ name: 'project', message }])

function validProject(text: string, source: string): string {
  if (projectGrammar.test(text)) return text
  throw noProject(`"${quote(text, 80)}" (from ${source}) cannot be a project: give project; accepted: ${projectForm}`)
}
