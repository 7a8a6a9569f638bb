// Owns the answers about sources. They are read only: the platform provisions them (terraform-provider-clickhouse, 2026-08).
import { demandById, objectIdOf, type ServiceCall } from '../route.ts'

export const listSources = ({ service }: ServiceCall): unknown => service.sources

export const getSource = (call: ServiceCall): unknown => demandById(call.service.sources, objectIdOf(call), 'source')
