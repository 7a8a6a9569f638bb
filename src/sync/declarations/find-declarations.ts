import { projectForm, projectGrammar } from '../../kinds/marker.ts'
import { checkReferences } from '../../kinds/references.ts'
import type { Source } from '../../kinds/source/source-wire.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type LintSettings, type Rules } from '../../platform/core/diagnostics.ts'
import { InputError, inputError } from '../../platform/core/errors.ts'
import { spellInput, spellVariable } from '../../platform/core/input-spelling.ts'
import { quote, quoteLong, shellQuote } from '../../platform/core/text.ts'
import type { Files, FoundFiles, SkippedDirectory } from '../../platform/operation/files.ts'
import type { Context, Scope } from '../../platform/operation/operation.ts'
import type { Slo } from '../../signals/slos/expand-slos.ts'
import { expandQueries } from '../query-alerts/query-alerts.ts'
import { collapseRepeats, compareLocations, createReader, type Declarations, type DeclaredObjects, nameInstances } from './declarations.ts'
import { adviseOnEnvironment, variableIn } from './environment.ts'
import { type Incident, readIncidents } from './incidents.ts'
import { lint } from './lint.ts'

export const defaultFiles = ['observability/**/*.{yml,yaml,json}']

/** For a command to a person. */
export function fileOptions({ files, env }: { readonly files: readonly string[]; readonly env?: string | undefined }): string {
  const isDefault = files.length === defaultFiles.length && files.every((glob, i) => glob === defaultFiles[i])
  const options = [...(env === undefined ? [] : [`--env ${env}`]), ...(isDefault ? [] : files.map((glob) => `--files ${shellQuote(glob)}`))]
  return options.map((option) => ` ${option}`).join('')
}

export interface FoundDeclarations extends DeclaredObjects {
  readonly paths: readonly string[]
  readonly slos: readonly Slo[]
  readonly incidents: readonly Incident[]
}

type FindContext = Pick<Context<'read', Scope>, 'files' | 'profile' | 'lintSettings' | 'environment' | 'checkpoint'>

/** `forget` removes the marker, and the object stays. */
export type Prune = boolean | 'forget'

interface FindOptions {
  readonly prune?: Prune
  readonly allowEmpty?: boolean
  /** Names the dashboard with the queries of alerts; undefined where the project is not known. */
  readonly project?: string | undefined
}

export const adviseOnEmpty = (prune: Prune): string =>
  `so ${spellInput('prune')} would ${verbOf(prune)} all objects of the project; check the globs, or set ${spellVariable('allow-empty', 'true')} to ${verbOf(prune)} them`

const verbOf = (prune: Prune): string => (prune === 'forget' ? 'forget' : 'delete')

/** Throws an InputError when a named file is missing, and when no file matches at all, unless the last objects are to be pruned. */
export async function findDeclarations(
  globs: readonly string[],
  { files, profile, lintSettings, environment, checkpoint }: FindContext,
  { prune = false, allowEmpty = false, project }: FindOptions = {},
): Promise<FoundDeclarations> {
  const { paths, skipped } = await files.find(globs, 'files')
  const isEmpty = paths.length === 0
  const found = new Set(paths.flatMap(withDirectories))
  const missing = isEmpty ? globs : globs.filter((glob) => isPlain(glob) && !found.has(plainPath(glob)))
  if (isEmpty && missing.length > 0) await files.demandCheckout('files')
  if (missing.length > 0 && !(isEmpty && prune && allowEmpty)) {
    const reasons = skipped.map(({ path, reason }) => `; wildcards skip "${quoteLong(path)}", which ${reason}`)
    const advice =
      isEmpty && prune ? `, ${adviseOnEmpty(prune)}` : isEmpty && skipped.length === 0 ? '; init, pull and import write files' : ''
    const message = `no file matches ${missing.join(', ')}${reasons.join('')}${advice}`
    throw new InputError([diagnosticOf(findingRules, 'no-files', { file: 'files' }, message)])
  }
  const elsewhere = await adviseOnEnvironment('variables', files, environment)
  const reader = createReader(variableIn(environment, files.variable), environment, elsewhere)
  const parts: ReturnType<typeof reader.readFile>[] = []
  let characters = 0
  // One after the other: some systems cannot open a thousand files at once, and a large file takes a second.
  for (const path of paths) {
    await checkpoint()
    const text = await files.read(path, 'files')
    characters += text.length
    if (characters > 20_000_000) throw inputError('files', 'the files are larger than 20 MB in total')
    parts.push(reader.readFile({ path, text }))
  }
  const expanded = expandQueries(await expandSlos(reader.combine(parts)), project)
  // An alert with errors can still be named.
  const alerts = [...expanded.objects, ...expanded.broken].filter(({ kind }) => kind === 'alert').map(({ key }) => key)
  const { incidents, diagnostics } = readIncidents(expanded.incidents, alerts)
  const read = { ...expanded, incidents, diagnostics: [...expanded.diagnostics, ...diagnostics] }
  const rules: LintSettings = {
    ...(profile.isSelfHosted && { 'may-be-refused': 'error' }),
    ...lintSettings,
    ...(profile.isSelfHosted ? { 'undocumented-field': 'off' } : { 'cloud-only': 'off' }),
  }
  const all = [
    ...skippedDirectories(skipped, prune),
    ...(await findRecordings(files)),
    ...read.diagnostics,
    ...checkReferences(read),
    ...lint(read, rules),
  ]
  return { ...read, paths, diagnostics: collapseRepeats(nameInstances(all.toSorted((a, b) => compareLocations(a.location, b.location)))) }
}

async function expandSlos(read: Declarations) {
  if (read.slos.length === 0) return { ...read, slos: [] }
  const { readSlos } = await import('../../signals/slos/expand-slos.ts')
  const { slos, objects, diagnostics } = readSlos(read.slos, [...read.objects, ...read.broken])
  return { ...read, slos, objects: [...read.objects, ...objects], diagnostics: [...read.diagnostics, ...diagnostics] }
}

export async function withSources(found: FoundDeclarations, sources: readonly Source[]): Promise<FoundDeclarations> {
  if (found.slos.length === 0) return found
  const { isOfSlo, resolveSlos } = await import('../../signals/slos/expand-slos.ts')
  return { ...found, objects: [...found.objects.filter((one) => !isOfSlo(one)), ...resolveSlos(found.slos, sources)] }
}

export const findingRules = {
  'no-files': { severity: 'error', description: 'No file matches `files`.' },
  'skipped-directory': {
    severity: 'warning',
    exception: 'error',
    description: 'A wildcard in `files` skips a directory, because it is a link or cannot be read. With `prune`, this is an error.',
  },
  recordings: { severity: 'error', description: 'The folder `recordings` has recordings of incidents, which nothing reads any more.' },
} as const satisfies Rules

/** Objects in files that were not read look like objects that no file declares. */
export const skippedDirectories = (skipped: readonly SkippedDirectory[], prune: Prune = false): readonly Diagnostic[] =>
  skipped.map(({ path, reason }) => {
    const message = `wildcards skip "${quoteLong(path)}", which ${reason}; its files are not read`
    if (!prune) return diagnosticOf(findingRules, 'skipped-directory', { file: path }, message)
    const advice = `and prune would ${verbOf(prune)} their objects; name the directory in files, or remove it`
    return exceptionalDiagnostic(findingRules, 'skipped-directory', { file: path }, `${message}, ${advice}`)
  })

/** Recordings look like tests that run. Another program may have a folder of this name. */
async function findRecordings(files: Files): Promise<readonly Diagnostic[]> {
  const { paths } = await files.find(['recordings/*/*.json'], 'files').catch((): FoundFiles => ({ paths: [], skipped: [] }))
  const [file] = paths
  if (file === undefined || !/^\{\s*"recording": 1,/.test(await files.read(file, 'files'))) return []
  const message =
    'nothing reads recordings of incidents any more; delete the folder recordings: backtest tests incidents on the data of the service'
  return [diagnosticOf(findingRules, 'recordings', { file }, message)]
}

/** Its file must exist, whereas a pattern may match nothing. */
const isPlain = (glob: string): boolean => !/[*?[\]{}()!+@\\]/.test(glob)

const plainPath = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

const withDirectories = (path: string): readonly string[] => [path, ...path.split('/').map((_, i, parts) => parts.slice(0, i).join('/'))]

export const projectRules = {
  'inferred-project': { severity: 'note', description: 'The project was taken from the remote of the Git repository.' },
} as const satisfies Rules

/** Only reads infer the project, from the Git remote and with a note. Throws an InputError when it is missing. */
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
    `"${quote(text)}" (from ${source}) is not a valid project; set ${spellInput('project')}; accepted: ${projectForm}`,
  )
}
