import { composeCreate, composeUpdate } from '../../kinds/compare.ts'
import type { InvalidField, Kind } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { createKinds, type Declared, isOf, type Kinds } from '../../kinds/kinds.ts'
import { hasPendingId } from '../../kinds/name-index.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { isServer, type Target } from '../../platform/api/path.ts'
import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import { type Diagnostic, diagnosticOf, errorsIn, formatLocation, type Rules } from '../../platform/core/diagnostics.ts'
import { causeOf, inputError } from '../../platform/core/errors.ts'
import { shellQuote } from '../../platform/core/text.ts'
import type { Files } from '../../platform/operation/files.ts'
import type { Context } from '../../platform/operation/operation.ts'
import {
  type Change,
  type Create,
  declaredBy,
  isHeld,
  isTakeover,
  type Plan,
  spellOrigin,
  type Update,
  type Write,
} from '../decide/change.ts'
import { type PlanOptions, planForServer } from '../decide/decide.ts'
import { isAboutHeld } from '../decide/hold.ts'
import { nameInstances } from '../declarations/declarations.ts'
import {
  adviseOnEmpty,
  type FoundDeclarations,
  fileOptions,
  findDeclarations,
  type Prune,
  resolveProject,
  withSources,
} from '../declarations/find-declarations.ts'
import { readStoredObjects, type StoredObjects } from './stored-objects.ts'

type PlanContext = Context<'read' | 'write', 'service-or-server'>

interface PlanRequest {
  readonly files: readonly string[]
  readonly env?: string | undefined
  readonly project?: string | undefined
  readonly prune: Prune
  readonly maxDeletes: number
  readonly allowEmpty: boolean
  readonly repair?: readonly ('duplicates' | 'rewrite' | 'secrets')[] | undefined
  readonly effect: 'read' | 'write'
}

interface LoadedFiles {
  readonly request: PlanRequest
  readonly project: string
  readonly environment?: string | undefined
  readonly found: FoundDeclarations
  readonly diagnostics: readonly Diagnostic[]
}

interface ReadService extends LoadedFiles {
  readonly kinds: Kinds
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

export async function makePlan(context: PlanContext, request: PlanRequest): Promise<PlanningResult> {
  const loaded = await loadFiles(context, request)
  const read = await readService(context, loaded)
  return compareWithService(context, read)
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

/** Files with errors give a plan without changes. */
export async function compareWithService(context: PlanContext, read: ReadService): Promise<PlanningResult> {
  const { request, project, found, storedObjects, kinds } = read
  if (storedObjects === undefined)
    return { ...read, plan: { project, changes: [], orphans: [], diagnostics: [], seen: {} }, uncheckedCount: 0 }
  const { api, service, files } = context
  const { prune, maxDeletes, repair = [], effect } = request
  const options = {
    ...optionsFor(files, kinds, { ...request, project, service }),
    prune,
    maxDeletes,
    repairDuplicates: repair.includes('duplicates'),
    rewrite: repair.includes('rewrite'),
    resendSecrets: repair.includes('secrets'),
    previousOwner: context.previousOwner,
    environmentPath: context.environment?.path,
    repository: { name: await files.repository(), effect },
    isWrite: effect === 'write',
  }
  const sourced = await withSources(found, storedObjects.source)
  await context.checkpoint()
  const plan = await planForServer(api, sourced.objects, storedObjects, options)
  await context.checkpoint()
  for (const change of plan.changes) context.debug(describeDecision(change))
  const asking = { api, service, kinds }
  const checked = hasErrors(plan.diagnostics) ? { diagnostics: [], uncheckedCount: 0 } : await checkByServer(plan, sourced.objects, asking)
  return {
    ...read,
    found: sourced,
    plan,
    diagnostics: [
      ...read.diagnostics.filter((one) => !isConfirmed(one, plan.diagnostics)),
      ...nameInstances([...plan.diagnostics, ...checked.diagnostics]),
    ],
    uncheckedCount: checked.uncheckedCount,
    repairCommand: options.repairCommand,
  }
}

interface CommandAim {
  readonly files: readonly string[]
  readonly env?: string | undefined
  readonly project: string
  readonly service: Target
}

export const optionsFor = (files: Files, kinds: Kinds, aim: CommandAim) =>
  ({
    project: aim.project,
    kinds,
    prune: false,
    maxDeletes: 0,
    secret: (name: string) => files.secret(name),
    repairCommand: `${commandFor('apply', aim)} --repair duplicates`,
    pullCommand: commandFor('pull', aim),
    targetOptions: targetOptions(aim.service),
  }) satisfies PlanOptions

export const commandFor = (operation: 'apply' | 'pull', aim: CommandAim): string =>
  `watchkeeper ${operation} --project ${aim.project}${targetOptions(aim.service)}${fileOptions(aim)}`

/** The variables of the shell into which a person pastes the command can be those of another target. */
const targetOptions = (target: Target): string =>
  isServer(target)
    ? ` --profile hyperdx --api-url ${shellQuote(target.serverUrl)}`
    : ` --organization-id ${target.organizationId} --service-id ${target.serviceId}`

const usesConnections = (one: Declared): boolean =>
  isOf('source')(one) ||
  (isOf('dashboard')(one) &&
    one.value.tiles.some(({ config }) => config !== undefined && 'configType' in config && config.connectionId === undefined))

/** `alerts.slow: update of 65f…, changed in the files since the last apply: threshold, note`. */
function describeDecision(change: Change): string {
  const { kind, key, action, id, fields } = change
  const origin = 'origin' in change ? change.origin : undefined
  const paths = fields.map(({ path }) => path).join(', ')
  const where = origin === undefined ? '' : `, ${spellOrigin(origin, 'the last apply')}`
  return [
    `${addressOf({ kind, key })}: ${action}${id === undefined ? '' : ` of ${id}`}${where}${paths === '' ? '' : `: ${paths}`}`,
    ...(isHeld(change) ? [change.reason, ...change.remedies] : []),
    ...change.notes,
  ].join('; ')
}

/** A name in place of an id. */
const isConfirmed = ({ rule, location }: Diagnostic, errors: readonly Diagnostic[]): boolean =>
  rule === 'name-as-id' && errors.some((one) => isAboutHeld(one) && formatLocation(one.location) === formatLocation(location))

/** Notes on files are for validate; a plan shows what a reviewer decides. */
const withoutNotes = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity !== 'note')

export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean => errorsIn(diagnostics).some((one) => !isAboutHeld(one))

// Lets the server check the dashboards of a plan before anything is written. A server may return a dashboard that it refuses to store
// again, so all objects to adopt are also checked.

export const serverRules = {
  'server-refuses': { severity: 'error', description: 'The server rejects a dashboard as not valid.' },
} as const satisfies Rules

export interface ServerCheckContext {
  readonly api: ReadApi
  readonly service: Target
  readonly kinds: Kinds
}

/** Limits the number of requests. Dashboards to adopt do not count, because each is adopted only once. */
const maxCheckedDashboards = 20

async function checkByServer(plan: Plan, objects: readonly Declared[], asking: ServerCheckContext) {
  // The server cannot check a reference to an object that does not exist yet.
  const written = plan.changes
    .filter(isChecked)
    .filter(({ kind }) => asking.kinds[kind].validate !== undefined)
    .filter(({ desired }) => !hasPendingId(desired))
  const changed = written.filter((change) => !isTakeover(change))
  const wanted = [...written.filter(isTakeover), ...changed.slice(0, maxCheckedDashboards)]
  const answers = new Map<Change, readonly InvalidField[]>()
  let isServed = true
  const check = async (change: Create | Update): Promise<void> => {
    if (!isServed) return
    const invalid = await checkChange(change, asking)
    isServed = invalid !== undefined
    if (invalid !== undefined) answers.set(change, invalid)
  }
  // One at first, because an older service does not support the check.
  await forEachConcurrently(wanted, () => (answers.size === 0 ? 1 : 10), check)
  const diagnostics = wanted.flatMap((change) => toDiagnostics(answers.get(change) ?? [], change, objects))
  return { diagnostics, uncheckedCount: written.length - answers.size }
}

/** Whether the change sends the whole object. A patch of markers stores nothing that the server could refuse. */
export const isChecked = (change: Change): change is Create | Update =>
  change.action === 'create' || ((change.action === 'update' || change.action === 'adopt') && change.patchedTileIds?.length !== 0)

/** Undefined when the service does not know the question: older ones do not. */
export async function checkChange(
  { kind: name, desired, stored }: Create | Write,
  { api, service, kinds }: ServerCheckContext,
): Promise<readonly InvalidField[] | undefined> {
  const kind: Kind = kinds[name]
  try {
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

const toPath = (path: string): readonly PropertyKey[] =>
  path === '' ? [] : path.split('.').map((part) => (/^\d{1,9}$/.test(part) ? Number(part) : part))
