import type { JsonObject, Service } from '../store.ts'
import type { PlatformCall, ServiceCall } from './platform-call.ts'

export const getOrganization = ({ organization: { id, name, createdAt } }: PlatformCall): unknown => ({
  id,
  name,
  createdAt,
  privateEndpoints: [],
  byocConfig: [],
  enableCoreDumps: true,
})

export const listServices = ({ organization }: PlatformCall): unknown => organization.services.map(toServiceView)

export const getService = ({ service }: ServiceCall): unknown => toServiceView(service)

const memoryGb = { min: 16, max: 120 }
const replicas = 3
const idleTimeoutMinutes = 15

/** With tags and warehouse, which join a record of the usage cost with its tags. Fields: the vendor's OpenAPI document of 2026-07-31. */
function toServiceView({ id, name, provider, region, state, dataWarehouseId, isPrimary, tags, createdAt }: Service): JsonObject {
  const host = `${name}.${region}.${provider}.clickhouse.example`
  return {
    id,
    name,
    provider,
    region,
    state,
    clickhouseVersion: '26.6',
    endpoints: [
      { protocol: 'nativesecure', host, port: 9440, username: 'default' },
      { protocol: 'https', host, port: 8443, username: 'default' },
    ],
    minReplicaMemoryGb: memoryGb.min,
    maxReplicaMemoryGb: memoryGb.max,
    numReplicas: replicas,
    autoscalingMode: 'vertical',
    currentScaling: {
      effectiveAutoscalingMode: 'vertical',
      effectiveMinReplicaMemoryGb: memoryGb.min,
      effectiveMaxReplicaMemoryGb: memoryGb.max,
      effectiveMinReplicas: replicas,
      effectiveMaxReplicas: replicas,
      effectiveIdleScaling: isPrimary === false,
      effectiveIdleTimeoutMinutes: idleTimeoutMinutes,
    },
    idleScaling: isPrimary === false,
    idleTimeoutMinutes,
    ipAccessList: [{ source: '0.0.0.0/0' }],
    createdAt,
    privateEndpointIds: [],
    availablePrivateEndpointIds: [],
    dataWarehouseId,
    isPrimary,
    isReadonly: false,
    releaseChannel: 'default',
    hasTransparentDataEncryption: false,
    profile: 'v1-default',
    tags,
    enableCoreDumps: true,
  }
}
