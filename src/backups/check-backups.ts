import { isUuid } from '../platform/api/path.ts'
import { findServices, isOfDrill, type ListedService, listServices } from '../platform/api/services.ts'
import { type Diagnostic, inputDiagnostic, missingInput } from '../platform/core/diagnostics.ts'
import { InputError, inputError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { didYouMean } from '../platform/core/names.ts'
import { quote } from '../platform/core/text.ts'
import { type Context, defineOperation, type Given } from '../platform/operation/operation.ts'
import { byWorst } from './backup-rules.ts'
import { judgeChecks, needsNames, reportChecks } from './backups-report.ts'
import { comparePolicies, findUnknownService, judgeAllRestores, needConfiguration, policiesOf, readAllRestores } from './policy.ts'
import { backupsDetails, backupsInput, backupsOutput, checkService, readServices } from './service-check.ts'

export const checkBackups = defineOperation({
  title: 'Backups',
  summary:
    'Checks that each service has a fresh backup, and that its backups keep the policies of a file. Fails when a service cannot be checked.',
  effect: 'read',
  scope: 'organization',
  input: backupsInput,
  output: backupsOutput,
  details: backupsDetails,
  example: { maxAgeHours: 26, checks: 'backups.yml' },
  check: (given) => requireServices(given),
  async run(context, { maxAgeHours, services, checks }) {
    const { api, organizationId, service, clock, files } = context
    // The YAML parser takes longer to load than the rest of a run without a file.
    const load = async (path: string) =>
      (await import('./checks-file.ts')).readChecksFile(await files.read(path, 'checks'), path, api.sqlFunctions)
    const policies = checks === undefined ? [] : (await load(checks)).policies
    if (checks !== undefined && policies.length === 0) throw inputError('checks', 'has no policies; check-backups needs some')
    const given = services ?? (service === undefined ? [] : [service.serviceId])
    const resolved = await resolveServices(
      context,
      given,
      policies.some(({ services: own, tag }) => own !== undefined || tag !== undefined),
    )
    const unknown = findUnknownService(policies, resolved.listed ?? [])
    if (unknown !== undefined) throw inputError('checks', `has a policy for "${quote(unknown, 80)}", and no service has this name or id`)
    const needsConfiguration = maxAgeHours === undefined || needConfiguration(policies)
    const read = await readServices(context, withoutDrills(resolved.ids, resolved.listed), { needsConfiguration })
    const dated =
      resolved.listed ??
      (read.some(({ backups }) => 'value' in backups && backups.value.length === 0)
        ? await findServices(api, organizationId, true)
        : undefined)
    // The time is read after the answers: a backup that finished while others were read must not be dated in the future.
    const nowMs = clock.now()
    const restores = await readAllRestores(files, policies, { organizationId, nowMs })
    const judged = read.map((one) => {
      const service = dated?.find(({ id }) => id === one.serviceId) ?? { id: one.serviceId, name: '' }
      const own = policiesOf(policies, service)
      const ratios = own.flatMap(({ minSizeRatio }) => minSizeRatio ?? [])
      const minSizeRatio = ratios.length === 0 ? undefined : Math.max(...ratios)
      const check = checkService(one, { maxAgeHours, minSizeRatio, nowMs, createdMs: createdMsOf(service) })
      const isNew = check.firstBackupDueAt !== undefined
      const facts = { service, organizationId, maxAgeHours, nowMs, isNew }
      const { problems: differences, correction } = comparePolicies(own, one, facts)
      const { restoredMs, problems: missing } = judgeAllRestores(own, restores, one.serviceId, nowMs)
      const isLeftOut = policies.length > 0 && own.length === 0
      const problems = [...(isLeftOut ? ['no policy of the file is about it'] : []), ...differences, ...missing]
      return {
        ...check,
        passes: check.passes && problems.length === 0,
        problems,
        correction,
        ...(minSizeRatio !== undefined && { minSizeRatio }),
        ...(missing.length > 0 && { needsRestore: true as const }),
        ...(restoredMs !== undefined && { restoredAt: new Date(restoredMs).toISOString() }),
      }
    })
    const leftOutFiles = [...new Set([...restores.values()].flatMap(({ leftOut }) => leftOut))]
    // A run without findings needs no names. The request would double the requests of a job for one service.
    const listed = dated ?? (needsNames(judged) ? await findServices(api, organizationId) : [])
    const kept = withoutDrills(resolved.ids, listed)
    const names = new Map(listed.map(({ id, name }) => [id, name || undefined]))
    const named = judged
      .filter(({ serviceId }) => kept.includes(serviceId))
      .map((check) => ({ ...check, name: names.get(check.serviceId) }))
    const [worst] = named.toSorted(byWorst)
    if (worst === undefined) throw inputError('services', 'are all services of restore drills, which have no backups of their own')
    return {
      ...worst.backup,
      checkedAt: new Date(nowMs).toISOString(),
      worstServiceId: worst.serviceId,
      services: named,
      ...(leftOutFiles.length > 0 && { leftOutFiles }),
      drills: resolved.ids.filter((id) => !kept.includes(id)).map((id) => names.get(id) ?? id),
    }
  },
  judge: judgeChecks,
  report: reportChecks,
})

/** Undefined where the API does not say when the service was created. */
function createdMsOf({ createdAt = '' }: ListedService) {
  const createdMs = Date.parse(createdAt)
  return Number.isNaN(createdMs) ? undefined : createdMs
}

/** Services of restore drills are deleted soon, so no one needs their backups. */
const withoutDrills = (ids: readonly string[], listed: readonly ListedService[] = []) =>
  ids.filter((id) => !listed.some((one) => one.id === id && isOfDrill(one)))

const requireServices = ({ names, hasServiceId }: Given<typeof backupsInput>): readonly Diagnostic[] =>
  names.has('services') || hasServiceId
    ? []
    : [
        missingInput(
          'service-id',
          `is missing: set ${spellInput('service-id')}, the variable WATCHKEEPER_SERVICE_ID, or ${spellInput('services')}`,
        ),
      ]

/**
 * Reads the list of services only when `given` has a name, or the caller needs it. Throws an InputError for every name that is unknown or
 * ambiguous, and an ApiError when the list cannot be read.
 */
async function resolveServices({ api, organizationId }: Context<'read', 'organization'>, given: readonly string[], needsList: boolean) {
  if (given.every(isUuid) && !needsList) return { ids: [...new Set(given)], listed: undefined }
  const listed = await listServices(api, organizationId)
  const found = given.map((one) => (isUuid(one) ? one : findByName(one, listed)))
  const diagnostics = found.filter((one) => typeof one !== 'string')
  if (diagnostics.length > 0) throw new InputError(diagnostics)
  const ids = found.filter((one) => typeof one === 'string')
  return { ids: [...new Set(ids)], listed }
}

function findByName(name: string, listed: readonly ListedService[]): string | Diagnostic {
  const [first, ...others] = listed.filter((one) => one.name === name).map(({ id }) => id)
  const shown = `"${quote(name, 80)}"`
  if (first === undefined) {
    const suggestion = didYouMean(
      name,
      listed.map((one) => one.name),
    )
    return inputDiagnostic('services', `no service has the id or name ${shown}${suggestion}`)
  }
  if (others.length === 0) return first
  const ids = [first, ...others].slice(0, 5).join(', ')
  return inputDiagnostic('services', `${shown} is the name of ${others.length + 1} services. Use an id instead: ${ids}`)
}
