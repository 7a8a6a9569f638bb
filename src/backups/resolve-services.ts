import { isUuid } from '../platform/api/path.ts'
import { type ListedService, listServices } from '../platform/api/services.ts'
import { type Diagnostic, inputDiagnostic } from '../platform/core/diagnostics.ts'
import { InputError } from '../platform/core/errors.ts'
import { didYouMean } from '../platform/core/names.ts'
import { quote } from '../platform/core/text.ts'
import type { Context } from '../platform/operation/operation.ts'

/**
 * Reads the list of services only when `given` has a name, or the caller needs it. Throws an InputError for every name that is unknown or
 * ambiguous, and an ApiError when the list cannot be read.
 */
export async function resolveServices(
  { api, organizationId }: Context<'read', 'organization'>,
  given: readonly string[],
  needsList: boolean,
) {
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
