import { projectForm, projectGrammar } from '../../kinds/marker.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../platform/core/diagnostics.ts'
import { inputError } from '../../platform/core/errors.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { quote } from '../../platform/core/text.ts'
import type { Files } from '../../platform/operation/files.ts'

export const projectRules = {
  'inferred-project': { severity: 'note', description: 'The project was taken from the remote of the Git repository.' },
} as const satisfies Rules

/**
 * Reads may infer the project from the Git remote, with a note. Writes need it explicitly. Throws an InputError when it is missing.
 */
export async function resolveProject(
  given: string | undefined,
  files: Files,
  effect: 'read' | 'write',
): Promise<{ readonly project: string; readonly diagnostics: readonly Diagnostic[] }> {
  if (given !== undefined) return { project: given, diagnostics: [] }
  const repository = files.workflowRepository
  if (repository !== undefined) return { project: validProject(repository, 'the repository of the run'), diagnostics: [] }
  const remote = await files.remoteRepository()
  const above = await files.configAbove()
  const unread = above === undefined ? '' : `; ${above} is not read; run the command in its directory`
  if (remote === undefined)
    throw inputError('project', `is missing; set ${spellInput('project', 'owner/repo')}, or add it to .watchkeeper.yml${unread}`)
  const project = validProject(remote, 'git remote origin')
  const advice = `set ${spellInput('project', project)}, or project in .watchkeeper.yml`
  if (effect === 'write') throw inputError('project', `is missing; ${advice} (git remote origin is ${project})${unread}`)
  const message = `the project ${project} was taken from git remote origin; for apply, ${advice}${unread}`
  return { project, diagnostics: [diagnosticOf(projectRules, 'inferred-project', { file: '.watchkeeper.yml' }, message)] }
}

function validProject(text: string, source: string): string {
  if (projectGrammar.test(text)) return text
  throw inputError(
    'project',
    `"${quote(text, 80)}" (from ${source}) is not a valid project; set ${spellInput('project')}; accepted: ${projectForm}`,
  )
}
