import * as z from 'zod'
import { composeCreate, composeUpdate } from '../../kinds/compare.ts'
import type { InvalidField, Kind } from '../../kinds/kind.ts'
import { addressOf, hasPendingId } from '../../kinds/kind-names.ts'
import { createKinds, type Declared, isOf, type Kinds } from '../../kinds/kinds.ts'
import { projectForm, projectGrammar } from '../../kinds/marker.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Target } from '../../platform/api/path.ts'
import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import { type Diagnostic, diagnosticOf, errorsIn, formatLocation, type Rules } from '../../platform/core/diagnostics.ts'
import { causeOf, inputError } from '../../platform/core/errors.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { quote } from '../../platform/core/text.ts'
import type { Files } from '../../platform/operation/files.ts'
import { flag, flagOr, grouped, integer, list } from '../../platform/operation/inputs.ts'
import type { Context } from '../../platform/operation/operation.ts'
import { environmentInput } from '../declarations/environment.ts'
import { adviseOnEmpty, type Found, filesInput, findDeclarations, withSources } from '../declarations/find-declarations.ts'
import { nameInstances } from '../declarations/group-diagnostics.ts'
import { type Change, type Create, isAdopted, isWrite, notesOf, type Plan, staysAsItIs, type Update, type Write } from './change.ts'
import { isAboutHeld } from './held.ts'
import { adoptFromInput } from './ownership.ts'
import { planOn } from './plan-changes.ts'
import { readStoredObjects, type StoredObjects } from './stored-objects.ts'

// The inputs that plan, apply and drift share, and the project that they are about.

const repairs = ['duplicates', 'rewrite', 'secrets'] as const

export const planInput = z.strictObject({
  ...grouped('Files', {
    files: filesInput,
    env: environmentInput,
    project: z.string().regex(projectGrammar).optional().meta({
      description:
        'Owner of the objects. Each of them stores it in a marker. The default is `project` in .watchkeeper.yml, then the repository.',
      accepts: projectForm,
    }),
    adoptFrom: adoptFromInput.optional(),
  }),
  ...grouped('Deletes and repairs (the same for plan and apply)', {
    prune: flagOr(
      'forget',
      "Deletes the project's objects that no file declares. `forget` keeps them, and only removes their ownership marker.",
    ).default(false),
    maxDeletes: integer('Maximum number of deletes. With more, the operation fails and writes nothing.', 0, 10_000).default(5),
    allowEmpty: flag(
      'Accepts files that declare nothing, or no files. With prune, apply then deletes or forgets all objects of the project.',
    ).default(false),
    repair: list(
      'For one run: `duplicates`, `rewrite`, `secrets`. `duplicates` repairs objects that two runs created at once: it keeps one of each, deletes other alerts and saved searches that are equal to it, and only removes the marker of the rest. `rewrite` also writes the managed dashboards and saved searches that need no change, after an upgrade that asks for it. `secrets` also sends the secrets of unchanged webhooks, after one was changed by hand.',
      repairs.join(', '),
      z.enum(repairs),
    ).optional(),
  }),
})

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

// Lets the server check the dashboards of a plan before anything is written. A server may return a dashboard that it refuses to store
// again, so all objects to adopt are also checked.

export const serverRules = {
  'server-refuses': { severity: 'error', description: 'The server rejects a dashboard as not valid.' },
} as const satisfies Rules

interface ServerCheckContext {
  readonly api: ReadApi
  readonly service: Target
  readonly kinds: Kinds
}

/** Limits the number of requests. Dashboards to adopt do not count, because each is adopted only once. */
const maxCheckedDashboards = 20

const maxConcurrentChecks = 10

async function checkByServer(
  plan: Plan,
  objects: readonly Declared[],
  asking: ServerCheckContext,
): Promise<Pick<PlanningResult, 'diagnostics' | 'uncheckedCount'>> {
  if (hasErrors(plan)) return { diagnostics: [], uncheckedCount: 0 }
  // The server cannot check a reference to an object that does not exist yet.
  const written = plan.changes
    .filter(isChecked)
    .filter(({ kind }) => asking.kinds[kind].validate !== undefined)
    .filter(({ desired }) => !hasPendingId(desired))
  const changed = written.filter((change) => !isAdopted(change))
  const wanted = [...written.filter(isAdopted), ...changed.slice(0, maxCheckedDashboards)]
  const answers = new Map<Change, readonly InvalidField[]>()
  let isServed = true
  const check = async (change: Create | Update): Promise<void> => {
    if (!isServed) return
    const invalid = await checkChange(change, asking)
    isServed = invalid !== undefined
    if (invalid !== undefined) answers.set(change, invalid)
  }
  // One at first, because an older service does not support the check.
  await forEachConcurrently(wanted, () => (answers.size === 0 ? 1 : maxConcurrentChecks), check)
  const diagnostics = wanted.flatMap((change) => toDiagnostics(answers.get(change) ?? [], change, objects))
  return { diagnostics, uncheckedCount: written.length - answers.size }
}

/** The requests to write these changes and to verify them, where nothing goes wrong. An update needs no GET where it uses a list. */
export function countRequests(changes: readonly Change[], usesLists: boolean): number {
  const writes = changes.filter((change) => !staysAsItIs(change))
  const ofOne = (change: Change): number => {
    if (change.action === 'create') return 1
    if (change.action === 'replace') return 3
    if (change.action === 'delete') return 2
    if (!isWrite(change)) return 0
    if (change.patchedTileIds !== undefined) return 2 * change.patchedTileIds.length + 3
    return (usesLists ? 1 : 2) + (change.removes === undefined ? 0 : 2)
  }
  const verified = new Set(writes.filter(({ action }) => action !== 'delete').map(({ kind }) => kind))
  return writes.reduce((sum, change) => sum + ofOne(change), verified.size)
}

/** Whether the change sends the whole object. A patch of markers stores nothing that the server could refuse. */
export const isChecked = (change: Change): change is Create | Update =>
  change.action === 'create' || ((change.action === 'update' || change.action === 'adopt') && change.patchedTileIds?.length !== 0)

/** What the server has against storing it; undefined when the service does not know the question: older ones do not. */
export async function checkChange(
  { kind: name, desired, stored }: Create | Write,
  { api, service, kinds }: ServerCheckContext,
): Promise<readonly InvalidField[] | undefined> {
  const kind: Kind = kinds[name]
  try {
    // The body includes everything of the stored object that files cannot decide.
    return await kind.validate?.(api, service, stored === undefined ? composeCreate(kind, desired) : composeUpdate(kind, desired, stored))
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    if (thrown.kind === 'not-served') return undefined
    // A gateway in between refuses by itself what it does not know.
    if (thrown.kind === 'refused') return [{ path: '', message: causeOf(thrown) }]
    throw thrown
  }
}

function toDiagnostics(invalid: readonly InvalidField[], change: Change, objects: readonly Declared[]): readonly Diagnostic[] {
  const declared = declaredBy(change, objects)
  // An item of a type that the server does not have also lacks what the other types need.
  const items = invalid.flatMap(({ path }) => /^(.+)\.type$/.exec(path)?.[1] ?? [])
  const causes = invalid.filter(({ path }) => !items.some((item) => path !== `${item}.type` && `${path}.`.startsWith(`${item}.`)))
  return causes.map(({ path, message }) => {
    const at = declared?.locationOf(toPath(path)) ?? change.location ?? { file: 'files' }
    return diagnosticOf(serverRules, 'server-refuses', at, `${declared?.pathOf(toPath(path)) ?? addressOf(change)}: ${message}`)
  })
}

/** The declaration of an object in the plan. */
export const declaredBy = ({ kind, key }: Change, objects: readonly Declared[]): Declared | undefined =>
  objects.find((one) => one.kind === kind && one.key === key)

const toPath = (path: string): readonly PropertyKey[] =>
  path === '' ? [] : path.split('.').map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part))

type PlanRequest = z.output<typeof planInput> & { readonly effect: 'read' | 'write' }

export interface PlanningResult {
  readonly kinds: Kinds
  /** The name of the environment. */
  readonly environment?: string | undefined
  /** Address of the web app, where it is known. */
  readonly uiUrl?: string | undefined
  readonly found: Found
  readonly plan: Plan
  /** All that was found wrong, of files and of plan. */
  readonly diagnostics: readonly Diagnostic[]
  /** Changed dashboards that the server was not asked about. */
  readonly uncheckedCount: number
  readonly repairCommand?: string
  /** What the plan was compared with; undefined where files have errors. */
  readonly storedObjects?: StoredObjects
}

type PlanContext = Pick<
  Context<'read', 'service-or-server'>,
  'service' | 'profile' | 'files' | 'lintSettings' | 'environment' | 'debug' | 'clock' | 'uiUrl'
> & {
  readonly api: ReadApi
}

/** Files with errors give diagnostics and a plan without changes, because their meaning is unknown. */
export async function makePlan(context: PlanContext, request: PlanRequest): Promise<PlanningResult> {
  const { api, service, profile, files, environment, clock } = context
  const { repair = [] } = request
  const kinds = createKinds(profile, clock.now())
  const common = { kinds, environment: environment?.name, uiUrl: context.uiUrl }
  const { project, diagnostics } = await resolveProject(request.project, files, request.effect)
  const found = await findDeclarations(request.files, context, { ...request, project })
  if (errorsIn(found.diagnostics).length > 0) {
    const plan: Plan = { project, changes: [], orphans: [], diagnostics: [], seen: {} }
    return { ...common, found, plan, diagnostics: [...diagnostics, ...withoutNotes(found.diagnostics)], uncheckedCount: 0 }
  }
  if (found.objects.length === 0 && request.prune && !request.allowEmpty)
    throw inputError('files', `declare no objects, ${adviseOnEmpty(request.prune)}`)
  const wanted = new Set(found.objects.map(({ kind }) => kind))
  const storedObjects = await readStoredObjects({ api, service, profile, wanted, wantsConnections: found.objects.some(usesConnections) })
  const repairCommand = `${commandFor('apply', request, project)} --repair duplicates`
  const sourced = await withSources(found, storedObjects.source)
  const planned = await planOn(api, sourced.found, storedObjects, {
    project,
    profile,
    prune: request.prune,
    maxDeletes: request.maxDeletes,
    repairDuplicates: repair.includes('duplicates'),
    rewrite: repair.includes('rewrite'),
    resendSecrets: repair.includes('secrets'),
    adoptFrom: request.adoptFrom,
    repository: { name: await files.repository(), from: request.adoptFrom?.repository, effect: request.effect },
    nowMs: clock.now(),
    isWrite: request.effect === 'write',
    secret: (name) => files.secret(name),
    repairCommand,
    pullCommand: commandFor('pull', request, project),
    adoptCommand: (previous) => `${commandFor('apply', request, project)} --adopt-from project=${previous}`,
  })
  const plan = { ...planned, diagnostics: [...sourced.diagnostics, ...planned.diagnostics] }
  for (const change of plan.changes) context.debug(describeDecision(change))
  const checked = await checkByServer(plan, sourced.found.objects, { api, service, kinds })
  return {
    ...common,
    found: sourced.found,
    plan,
    diagnostics: [
      ...diagnostics,
      ...withoutNotes(found.diagnostics).filter((one) => !isConfirmed(one, plan.diagnostics)),
      ...nameInstances([...plan.diagnostics, ...checked.diagnostics]),
    ],
    uncheckedCount: checked.uncheckedCount,
    storedObjects,
    repairCommand,
  }
}

/** Whether an object names a connection, or takes the default. */
const usesConnections = (one: Declared): boolean =>
  isOf('source')(one) ||
  (isOf('dashboard')(one) &&
    one.value.tiles.some(({ config }) => config !== undefined && 'configType' in config && config.connectionId === undefined))

/** The command for the files of the plan, quoted for a shell. A workflow sets the same inputs for one run. */
function commandFor(operation: 'apply' | 'pull', { files, env }: PlanRequest, project: string): string {
  const quoted = files.map((glob) => ` --files '${glob.replaceAll("'", "'\\''")}'`).join('')
  const environment = env === undefined ? '' : ` --env ${env}`
  return `watchkeeper ${operation} --project ${project}${environment}${quoted}`
}

/** `alerts.slow: update of 65f…, changed in the files: threshold, note`. */
function describeDecision(change: Change): string {
  const { kind, key, action, id, fields } = change
  const origin = 'origin' in change ? change.origin : undefined
  const paths = fields.map(({ path }) => path).join(', ')
  const where = origin === undefined ? '' : `, changed in the ${origin}`
  return [
    `${addressOf({ kind, key })}: ${action}${id === undefined ? '' : ` of ${id}`}${where}${paths === '' ? '' : `: ${paths}`}`,
    ...notesOf(change),
  ].join('; ')
}

/** Whether the service confirms what the files only suggest: a name in place of an id. */
const isConfirmed = ({ rule, location }: Diagnostic, errors: readonly Diagnostic[]): boolean =>
  rule === 'name-as-id' && errors.some((one) => one.rule === 'unknown-name' && formatLocation(one.location) === formatLocation(location))

/** Notes on files are for validate; a plan shows what a reviewer decides. */
const withoutNotes = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity !== 'note')

/** Whether errors keep apply from writing anything. */
export const hasErrors = ({ diagnostics }: Pick<PlanningResult, 'diagnostics'>): boolean =>
  errorsIn(diagnostics).some((one) => !isAboutHeld(one))
