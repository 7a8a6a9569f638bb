import { composeCreate, composeUpdate } from '../../kinds/compare.ts'
import type { InvalidField, Kind } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import type { Declared, Kinds } from '../../kinds/kinds.ts'
import { hasPendingId } from '../../kinds/pending-id.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Target } from '../../platform/api/path.ts'
import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../platform/core/diagnostics.ts'
import { causeOf } from '../../platform/core/errors.ts'
import { type Change, type Create, declaredBy, isTakeover, type Plan, type Update, type Write } from '../decide/change.ts'

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

const maxConcurrentChecks = 10

export async function checkByServer(plan: Plan, objects: readonly Declared[], asking: ServerCheckContext) {
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
  await forEachConcurrently(wanted, () => (answers.size === 0 ? 1 : maxConcurrentChecks), check)
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
