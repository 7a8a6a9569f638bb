import type { EmulatorContext } from '../context.ts'
import type { Organization, Service } from '../store.ts'

/** What the handlers of the platform work with: everything beside the observability resources. */
export interface PlatformCall {
  readonly context: EmulatorContext
  readonly organization: Organization
  readonly query: URLSearchParams
  param(name: string): string
}

export interface ServiceCall extends PlatformCall {
  readonly service: Service
}
