// The options that every plan of some files has, and the commands that its messages name, quoted for a shell.

import type { Kinds } from '../../kinds/kinds.ts'
import { isServer, type Target } from '../../platform/api/path.ts'
import { shellQuote } from '../../platform/core/text.ts'
import type { Files } from '../../platform/operation/files.ts'
import type { PlanOptions } from '../decide/facts.ts'
import type { AdoptFrom } from '../decide/identify.ts'
import { fileOptions } from '../declarations/find-declarations.ts'

/** The files and the target of a run. */
interface CommandAim {
  readonly files: readonly string[]
  readonly env?: string | undefined
  readonly project: string
  readonly service: Target
  readonly adoptFrom?: AdoptFrom
}

/** The options of a plan that changes nothing else than what the files declare. */
export const optionsFor = (files: Pick<Files, 'secret'>, kinds: Kinds, aim: CommandAim) =>
  ({
    project: aim.project,
    kinds,
    prune: false,
    maxDeletes: 0,
    adoptFrom: aim.adoptFrom,
    secret: (name: string) => files.secret(name),
    repairCommand: `${commandFor('apply', aim)}${adoptOptions(aim.adoptFrom)} --repair duplicates`,
    pullCommand: commandFor('pull', aim),
    adoptCommand: (previous: string) =>
      `${commandFor('apply', aim)}${adoptOptions({ project: previous, repository: aim.adoptFrom?.repository })}`,
    targetOptions: targetOptions(aim.service),
  }) satisfies PlanOptions

/** The command for the same files and target. A workflow sets the same inputs for one run. */
export const commandFor = (operation: 'apply' | 'pull', aim: CommandAim): string =>
  `watchkeeper ${operation} --project ${aim.project}${targetOptions(aim.service)}${fileOptions(aim)}`

/** The options for the target of the run: the variables of the shell into which a person pastes the command can be those of another one. */
const targetOptions = (target: Target): string =>
  isServer(target)
    ? ` --profile hyperdx --api-url ${shellQuote(target.serverUrl)}`
    : ` --organization-id ${target.organizationId} --service-id ${target.serviceId}`

export function adoptOptions({ project, repository, none }: NonNullable<AdoptFrom> = {}): string {
  const owners = { project, repository }
  const lines = Object.entries(owners).flatMap(([name, owner]) => (owner === undefined ? [] : [`${name}=${owner}`]))
  return [...lines, ...(none ? ['none'] : [])].map((line) => ` --adopt-from ${shellQuote(line)}`).join('')
}
