import * as z from 'zod'
import { ApiError } from '../api/api-error.ts'
import type { ReadApi } from '../api/client.ts'
import type { Target } from '../api/path.ts'
import { forEachConcurrently } from '../core/concurrency.ts'
import { type Diagnostic, errorsIn, formatLocation } from '../core/diagnostics.ts'
import { inputError } from '../core/errors.ts'
import { quote } from '../core/text.ts'
import { filePath, flag, integer } from '../operation/inputs.ts'
import type { Context, Files } from '../operation/operation.ts'
import { composeUpdate } from '../resources/compare.ts'
import { checkDashboard, dashboardType, type InvalidField } from '../resources/dashboards/dashboard.ts'
import { projectForm, projectGrammar } from '../resources/marker.ts'
import { type Body, listOf } from '../resources/resource-type.ts'
import type { Declared } from '../resources/resource-types.ts'
import type { Change, Plan } from './change.ts'
import { type Found, filesInput, findDeclarations } from './declarations.ts'
import { environmentInput } from './environment.ts'
import type { AdoptFrom } from './match.ts'
import { planChanges } from './plan-changes.ts'
import { type RemoteState, readRemoteState } from './remote-state.ts'

// The inputs that plan, apply and drift share, and the project that they are about.

export const planInput = z.strictObject({
  files: filesInput,
  env: environmentInput,
  project: z.string().regex(projectGrammar).optional().meta({
    description:
      'Owner of the objects, which is stored in a marker inside each of them. The default is `project` in .watchkeeper.yml, then the repository.',
    accepts: projectForm,
  }),
  adoptFrom: z
    .string()
    .regex(projectGrammar)
    .optional()
    .meta({
      description: 'Previous name of a renamed project, whose objects are adopted. `none` creates a second set of objects instead.',
      accepts: `a project (${projectForm}), or none`,
    }),
  prune: flag("Deletes objects that have this project's marker and that no file declares.").default(false),
  allowEmpty: flag('With prune, accepts files that declare no objects. All objects of the project are deleted.').default(false),
  maxDeletes: integer('Maximum number of deletes. With more, the operation fails and writes nothing.', 0, 10_000).default(5),
  sarifFile: filePath('Writes the diagnostics to this file as SARIF 2.1.0, for code scanning.', 'a path').optional(),
})

const toAdoptFrom = (text: string | undefined): AdoptFrom => (text === undefined || text === 'none' ? text : { project: text })

interface ResolvedProject {
  readonly project: string
  /** A note, where it was inferred. */
  readonly diagnostics: readonly Diagnostic[]
}

export const projectRules = {
  'inferred-project': 'The project was taken from the remote of the Git repository.',
} as const

/** Reads may infer the project from the Git remote. Writes need it explicitly. Throws an InputError when it is missing. */
export async function resolveProject(given: string | undefined, files: Files, effect: 'read' | 'write'): Promise<ResolvedProject> {
  if (given !== undefined) return { project: given, diagnostics: [] }
  const repository = files.variable('GITHUB_REPOSITORY')
  if (repository) return { project: validProject(repository, 'GITHUB_REPOSITORY'), diagnostics: [] }
  const remote = await files.remoteRepository()
  if (remote === undefined) throw inputError('project', 'is missing; set project to owner/repo, or add it to .watchkeeper.yml')
  const project = validProject(remote, 'git remote origin')
  const advice = `pass --project ${project}, or set project in .watchkeeper.yml`
  if (effect === 'write') throw inputError('project', `is missing; ${advice} (git remote origin is ${project})`)
  const message = `the project ${project} was taken from git remote origin; for apply, ${advice}`
  return { project, diagnostics: [{ rule: 'inferred-project', severity: 'note', location: { file: '.watchkeeper.yml' }, message }] }
}

function validProject(text: string, source: string): string {
  if (projectGrammar.test(text)) return text
  throw inputError('project', `"${quote(text, 80)}" (from ${source}) is not a valid project; set project; accepted: ${projectForm}`)
}

// Lets the server check the dashboards of a plan before anything is written. A server may return a dashboard that it refuses to store
// again, so all objects to adopt are also checked.

export const serverRules = { 'server-refuses': 'The server rejects a dashboard as not valid.' } as const

interface ServerCheck {
  readonly diagnostics: readonly Diagnostic[]
  /** Dashboards that the server was not asked about. */
  readonly uncheckedCount: number
}

interface ServerCheckContext {
  readonly api: ReadApi
  readonly service: Target
}

/** Limits the number of requests. Dashboards to adopt do not count, because each is adopted only once. */
const maxCheckedDashboards = 20

const maxConcurrentChecks = 10

async function checkByServer(plan: Plan, objects: readonly Declared[], asking: ServerCheckContext): Promise<ServerCheck> {
  if (errorsIn(plan.diagnostics).length > 0) return { diagnostics: [], uncheckedCount: 0 }
  const written = plan.changes.filter((change) => change.section === 'dashboards' && isWritten(change))
  const changed = written.filter(({ isAdopted }) => !isAdopted)
  const wanted = [...written.filter(({ isAdopted }) => isAdopted), ...changed.slice(0, maxCheckedDashboards)]
  const declared = new Map(objects.map((one) => [`${one.section}.${one.key}`, one]))
  const answers = new Map<Change, readonly InvalidField[]>()
  let isServed = true
  const check = async (change: Change): Promise<void> => {
    if (!isServed) return
    const invalid = await checkChange(change, asking)
    isServed = invalid !== undefined
    if (invalid !== undefined) answers.set(change, invalid)
  }
  // One at first, because an older service does not support the check.
  await forEachConcurrently(wanted, () => (answers.size === 0 ? 1 : maxConcurrentChecks), check)
  const diagnostics = wanted.flatMap((change) =>
    (answers.get(change) ?? []).map((invalid) => toDiagnostic(invalid, change, declared.get(`dashboards.${change.key}`))),
  )
  return { diagnostics, uncheckedCount: written.length - answers.size }
}

const isWritten = ({ action }: Change): boolean => action === 'create' || action === 'update' || action === 'adopt'

/** What the server has against storing it; undefined when the service does not know the question: older ones do not. */
export async function checkChange(change: Change, { api, service }: ServerCheckContext): Promise<readonly InvalidField[] | undefined> {
  try {
    return await checkDashboard(api, service, withoutIds(bodyOf(change)))
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    if (thrown.kind === 'not-served') return undefined
    // A gateway in between refuses by itself what it does not know.
    if (thrown.kind === 'refused') return [{ path: '', message: thrown.message.split('\n', 1)[0] ?? '' }]
    throw thrown
  }
}

/** What would be sent: with everything of the stored object that files have no say in. */
const bodyOf = ({ desired = {}, actual }: Change): Body => (actual === undefined ? desired : composeUpdate(dashboardType, desired, actual))

const toDiagnostic = ({ path, message }: InvalidField, { key, location }: Change, declared: Declared | undefined): Diagnostic => ({
  rule: 'server-refuses',
  severity: 'error',
  location: declared?.locationOf(toPath(path)) ?? location ?? { file: 'files' },
  message: `${declared?.pathOf(toPath(path)) ?? `dashboards.${key}`}: ${message}`,
})

const toPath = (path: string): readonly PropertyKey[] =>
  path === '' ? [] : path.split('.').map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part))

/** A body is checked as that of a create, which has no ids. */
const withoutIds = (body: Body): Body => ({
  ...body,
  tiles: listOf(body.tiles).map(withoutId),
  ...(Array.isArray(body.filters) && { filters: listOf(body.filters).map(withoutId) }),
})

const withoutId = ({ id: _, ...rest }: Body): Body => rest

interface PlanRequest {
  readonly files: readonly string[]
  readonly project?: string | undefined
  readonly adoptFrom?: string | undefined
  readonly effect: 'read' | 'write'
  readonly prune: boolean
  readonly allowEmpty: boolean
  readonly maxDeletes: number
}

export interface PlanningResult {
  /** The name of the environment. */
  readonly environment?: string | undefined
  readonly found: Found
  readonly plan: Plan
  /** All that was found wrong, of files and of plan. */
  readonly diagnostics: readonly Diagnostic[]
  /** Changed dashboards that the server was not asked about. */
  readonly uncheckedCount: number
  /** What the plan was compared with; undefined where files have errors. */
  readonly remote?: RemoteState
}

type PlanContext = Pick<
  Context<'read', 'service-or-server'>,
  'service' | 'profile' | 'files' | 'lintSettings' | 'environment' | 'debug' | 'clock'
> & {
  readonly api: ReadApi
}

/** Files with errors give diagnostics and a plan without changes, because their meaning is unknown. */
export async function makePlan(context: PlanContext, request: PlanRequest): Promise<PlanningResult> {
  const { api, service, profile, files, environment, clock } = context
  const { project, diagnostics } = await resolveProject(request.project, files, request.effect)
  const found = await findDeclarations(request.files, context)
  if (errorsIn(found.diagnostics).length > 0) {
    const plan: Plan = { project, changes: [], orphans: [], diagnostics: [], seen: {} }
    return {
      environment: environment?.name,
      found,
      plan,
      diagnostics: [...diagnostics, ...withoutNotes(found.diagnostics)],
      uncheckedCount: 0,
    }
  }
  if (found.objects.length === 0 && request.prune && !request.allowEmpty)
    throw inputError(
      'files',
      'declare no objects, so prune would delete all objects of the project; check the globs, or set allow-empty to delete them',
    )
  const wanted = new Set(found.objects.map(({ section }) => section))
  const remote = await readRemoteState({ api, service, profile, wanted })
  const plan = planChanges(found, remote, { ...request, project, profile, adoptFrom: toAdoptFrom(request.adoptFrom), nowMs: clock.now() })
  for (const change of plan.changes) context.debug(describeDecision(change))
  const checked = profile.dashboardCheck ? await checkByServer(plan, found.objects, context) : { diagnostics: [], uncheckedCount: 0 }
  return {
    environment: environment?.name,
    found,
    plan,
    diagnostics: [
      ...diagnostics,
      ...withoutNotes(found.diagnostics).filter((one) => !isConfirmed(one, plan.diagnostics)),
      ...plan.diagnostics,
      ...checked.diagnostics,
    ],
    uncheckedCount: checked.uncheckedCount,
    remote,
  }
}

/** `alerts.slow: update of 65f…, changed in the files: threshold, note`. */
function describeDecision({ section, key, action, id, origin, fields, notes }: Change): string {
  const paths = fields.map(({ path }) => path).join(', ')
  const where = origin === undefined ? '' : `, changed in the ${origin}`
  return [`${section}.${key}: ${action}${id === undefined ? '' : ` of ${id}`}${where}${paths === '' ? '' : `: ${paths}`}`, ...notes].join(
    '; ',
  )
}

/** Whether the service confirms what the files only suggest: a name in place of an id. */
const isConfirmed = ({ rule, location }: Diagnostic, errors: readonly Diagnostic[]): boolean =>
  rule === 'name-as-id' && errors.some((one) => one.rule === 'unknown-name' && formatLocation(one.location) === formatLocation(location))

/** Notes on files are for validate; a plan shows what a reviewer decides. */
const withoutNotes = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity !== 'note')

export const hasErrors = ({ diagnostics }: PlanningResult): boolean => errorsIn(diagnostics).length > 0
