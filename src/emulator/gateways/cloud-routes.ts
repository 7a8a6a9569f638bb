import type { EmulatorContext } from '../context.ts'
import { type Incoming, pathnameOf, queryOf } from '../incoming.ts'
import type { Settings } from '../options.ts'
import { getBackup, getBackupConfiguration, listBackups } from '../platform/backups.ts'
import { getOrganization, getService, listServices } from '../platform/organizations.ts'
import type { PlatformCall, ServiceCall } from '../platform/platform-call.ts'
import { getUsageCost } from '../platform/usage.ts'
import { notFound } from '../refusal.ts'
import type { Organization, Permission, Service } from '../store.ts'

export interface PlatformRoute {
  readonly method: string
  readonly pattern: URLPattern
  readonly permission: Permission
  handle(call: PlatformCall): unknown
}

export interface Match {
  readonly pathname: string
  param(name: string): string
}

const organization = '/v1/organizations/:organizationId'
const service = `${organization}/services/:serviceId`

/** Permissions are those that the vendor's own command line asks for (clickhousectl, `src/meta/operations.rs`). */
export function createPlatformRoutes({ dialect }: Settings): readonly PlatformRoute[] {
  const contract = [
    route(`${organization}/usageCost`, 'control-plane:organization:view', getUsageCost),
    route(`${service}/backups`, 'control-plane:service:view-backups', withService(listBackups)),
    route(`${service}/backups/:id`, 'control-plane:service:view-backups', withService(getBackup)),
  ]
  if (dialect === 'neutral') return contract
  return [
    ...contract,
    route(organization, 'control-plane:organization:view', getOrganization),
    route(`${organization}/services`, 'control-plane:service:view', listServices),
    route(service, 'control-plane:service:view', withService(getService)),
    route(`${service}/backupConfiguration`, 'control-plane:service:view-backups', withService(getBackupConfiguration)),
  ]
}

const route = (pathname: string, permission: Permission, handle: PlatformRoute['handle']): PlatformRoute => ({
  method: 'GET',
  pattern: new URLPattern({ pathname }),
  permission,
  handle,
})

export const createResourcePattern = ({ segment }: Settings): URLPattern => new URLPattern({ pathname: `${service}/${segment}/:path+` })

export function matchPath(pattern: URLPattern, path: string): Match | undefined {
  const pathname = pathnameOf(path)
  if (isRewritten(pathname)) return undefined
  const match = pattern.exec({ pathname })
  return match === null ? undefined : { pathname, param: (name) => match.pathname.groups[name] ?? '' }
}

// URLPattern resolves dot segments as a browser does. The API's server does not: such a path must not reach a handler.
const isRewritten = (pathname: string): boolean => !pathname.startsWith('/') || /(^|\/)(\.|%2e){1,2}(\/|$)|\\/i.test(pathname)

export const toPlatformCall = (context: EmulatorContext, match: Match, { path }: Incoming): PlatformCall => ({
  context,
  organization: requireOrganization(context, match),
  query: queryOf(path),
  param: match.param,
})

function requireOrganization({ store }: EmulatorContext, match: Match): Organization {
  const id = match.param('organizationId')
  const found = store.organizations.find((one) => one.id === id)
  if (found === undefined) throw notFound(`organization ${id} does not exist`)
  return found
}

export function requireService(call: PlatformCall): Service {
  const id = call.param('serviceId')
  const found = call.organization.services.find((one) => one.id === id)
  if (found === undefined) throw notFound(`service ${id} does not exist`)
  return found
}

const withService =
  (handle: (call: ServiceCall) => unknown) =>
  (call: PlatformCall): unknown =>
    handle({ ...call, service: requireService(call) })
