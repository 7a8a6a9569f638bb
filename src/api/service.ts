// Owns where things stand: the organization and service that a request is about.
import { type ApiPath, path } from './path.ts'

export interface Service {
  readonly organizationId: string
  readonly serviceId: string
}

export const servicePath = ({ organizationId, serviceId }: Service): ApiPath =>
  path`/v1/organizations/${organizationId}/services/${serviceId}`
