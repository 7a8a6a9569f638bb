import type * as z from 'zod'
import { addressOf } from '../../kinds/kind-names.ts'
import { createKinds, type Declared, isOf, type Kinds } from '../../kinds/kinds.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { isServer, type Target } from '../../platform/api/path.ts'
import { type Diagnostic, errorsIn, formatLocation } from '../../platform/core/diagnostics.ts'
import { inputError } from '../../platform/core/errors.ts'
import { shellQuote } from '../../platform/core/text.ts'
import type { Context } from '../../platform/operation/operation.ts'
import { adviseOnEmpty, type FoundDeclarations, fileOptions, findDeclarations, withSources } from '../declarations/find-declarations.ts'
import { nameInstances } from '../declarations/group-diagnostics.ts'
import { resolveProject } from '../declarations/project.ts'
import { type Change, notesOf, type Plan } from './change.ts'
import { isAboutHeld } from './held.ts'
import type { AdoptFrom } from './match.ts'
import { planWithPatches } from './plan-changes.ts'
import { defaultMaxDeletes, type planInput } from './plan-input.ts'
import { checkByServer } from './server-check.ts'
import { readStoredObjects, type StoredObjects } from './stored-objects.ts'

// The first three steps of a plan: load the files, read the service, decide.

type PlanContext = Pick<
  Context<'read', 'service-or-server'>,
  'service' | 'profile' | 'files' | 'lintSettings' | 'environment' | 'debug' | 'clock' | 'uiUrl' | 'serviceName' | 'checkpoint'
> & {
  readonly api: ReadApi
}

type PlanRequest = z.output<typeof planInput> & { readonly effect: 'read' | 'write' }

export interface LoadedFiles {
  readonly request: PlanRequest
  readonly project: string
  /** The name of the environment. */
  readonly environment?: string | undefined
  readonly found: FoundDeclarations
  /** All that was found wrong so far. */
  readonly diagnostics: readonly Diagnostic[]
}

export interface ReadService extends LoadedFiles {
  readonly kinds: Kinds
  /** Address of the web app, where it is known. */
  readonly uiUrl?: string | undefined
  /** The name of the service, where the report says it. */
  readonly serviceName?: string | undefined
  /** What the files are compared with; undefined where they have errors. */
  readonly storedObjects?: StoredObjects
}

export interface PlanningResult extends ReadService {
  readonly plan: Plan
  /** Changed dashboards that the server was not asked about. */
  readonly uncheckedCount: number
  readonly repairCommand?: string
}

/** The plan of a run that does more with it than show it. */
export async function makePlan(context: PlanContext, request: PlanRequest): Promise<PlanningResult> {
  const loaded = await loadFiles(context, request)
  const read = await readService(context, loaded)
  return decide(context, read)
}

export async function loadFiles(context: PlanContext, request: PlanRequest): Promise<LoadedFiles> {
  const { project, diagnostics } = await resolveProject(request.project, context.files, request.effect)
  const found = await findDeclarations(request.files, context, { ...request, project })
  if (errorsIn(found.diagnostics).length === 0 && found.objects.length === 0 && request.prune && !request.allowEmpty)
    throw inputError('files', `declare no objects, ${adviseOnEmpty(request.prune)}`)
  const environment = context.environment?.name
  return { request, project, environment, found, diagnostics: [...diagnostics, ...withoutNotes(found.diagnostics)] }
}

/** Reads no objects for files with errors, because their meaning is unknown. */
export async function readService(context: PlanContext, loaded: LoadedFiles): Promise<ReadService> {
  const { api, service, profile, clock, uiUrl } = context
  const { objects, diagnostics } = loaded.found
  const read = async (): Promise<StoredObjects> => {
    const wanted = new Set(objects.map(({ kind }) => kind))
    return readStoredObjects({ api, service, profile, wanted, wantsConnections: objects.some(usesConnections) })
  }
  const storedObjects = errorsIn(diagnostics).length > 0 ? {} : { storedObjects: await read() }
  return { ...loaded, ...storedObjects, kinds: createKinds(profile, clock.now()), uiUrl, serviceName: await context.serviceName?.() }
}

/** The changes, and what is wrong with them. Files with errors give a plan without changes. */
export async function decide(context: PlanContext, read: ReadService): Promise<PlanningResult> {
  const { request, project, found, storedObjects, kinds } = read
  if (storedObjects === undefined)
    return { ...read, plan: { project, changes: [], orphans: [], diagnostics: [], seen: {} }, uncheckedCount: 0 }
  const { api, service, files } = context
  const { repair = [], adoptFrom } = request
  const aim = { ...request, project, service }
  const repairCommand = `${commandFor('apply', aim)}${adoptOptions(adoptFrom)} --repair duplicates`
  const sourced = await withSources(found, storedObjects.source)
  await context.checkpoint()
  const planned = await planWithPatches(api, sourced.found, storedObjects, {
    project,
    kinds,
    prune: request.prune,
    maxDeletes: request.maxDeletes,
    repairDuplicates: repair.includes('duplicates'),
    rewrite: repair.includes('rewrite'),
    resendSecrets: repair.includes('secrets'),
    adoptFrom: request.adoptFrom,
    repository: { name: await files.repository(), from: request.adoptFrom?.repository, effect: request.effect },
    isWrite: request.effect === 'write',
    secret: (name) => files.secret(name),
    repairCommand,
    pullCommand: commandFor('pull', aim),
    adoptCommand: (previous) => adoptCommand(aim, previous, adoptFrom?.repository),
    targetOptions: targetOptions(service),
  })
  await context.checkpoint()
  const plan = { ...planned, diagnostics: [...sourced.diagnostics, ...planned.diagnostics] }
  for (const change of plan.changes) context.debug(describeDecision(change))
  const asking = { api, service, kinds }
  const checked = hasErrors(plan) ? { diagnostics: [], uncheckedCount: 0 } : await checkByServer(plan, sourced.found.objects, asking)
  return {
    ...read,
    found: sourced.found,
    plan,
    diagnostics: [
      ...read.diagnostics.filter((one) => !isConfirmed(one, plan.diagnostics)),
      ...nameInstances([...plan.diagnostics, ...checked.diagnostics]),
    ],
    uncheckedCount: checked.uncheckedCount,
    repairCommand,
  }
}

/** Whether an object names a connection, or takes the default. */
const usesConnections = (one: Declared): boolean =>
  isOf('source')(one) ||
  (isOf('dashboard')(one) &&
    one.value.tiles.some(({ config }) => config !== undefined && 'configType' in config && config.connectionId === undefined))

interface CommandAim {
  readonly files: readonly string[]
  readonly env?: string | undefined
  readonly project: string
  readonly service: Target
}

/** The command for the same files and target, quoted for a shell. A workflow sets the same inputs for one run. */
export const commandFor = (operation: 'apply' | 'pull', aim: CommandAim): string =>
  `watchkeeper ${operation} --project ${aim.project}${targetOptions(aim.service)}${fileOptions(aim)}`

/** The options for the target of the run: the variables of the shell into which a person pastes the command can be those of another one. */
export const targetOptions = (target: Target): string =>
  isServer(target)
    ? ` --profile hyperdx --api-url ${shellQuote(target.serverUrl)}`
    : ` --organization-id ${target.organizationId} --service-id ${target.serviceId}`

/** The command that adopts the objects of a previous project. */
export const adoptCommand = (aim: CommandAim, project: string, repository?: string): string =>
  `${commandFor('apply', aim)}${adoptOptions({ project, repository })}`

function adoptOptions({ project, repository, none }: NonNullable<AdoptFrom> = {}): string {
  const owners = { project, repository }
  const lines = Object.entries(owners).flatMap(([name, owner]) => (owner === undefined ? [] : [`${name}=${owner}`]))
  return [...lines, ...(none ? ['none'] : [])].map((line) => ` --adopt-from ${shellQuote(line)}`).join('')
}

/** The apply with the inputs of this run that decide what it writes. */
export function applyCommand(request: PlanRequest, aim: CommandAim): string {
  const { adoptFrom, prune, maxDeletes, allowEmpty, repair = [] } = request
  return [
    `${commandFor('apply', aim)}${adoptOptions(adoptFrom)}`,
    ...(prune === false ? [] : [prune === true ? '--prune' : `--prune ${prune}`]),
    ...(maxDeletes === defaultMaxDeletes ? [] : [`--max-deletes ${maxDeletes}`]),
    ...(allowEmpty ? ['--allow-empty'] : []),
    ...repair.map((what) => `--repair ${what}`),
  ].join(' ')
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
