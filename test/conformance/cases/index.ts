import type { Case } from '../case.ts'
import { alertCases } from './alerts.ts'
import { chartCases } from './charts.ts'
import { connectionCases } from './connections.ts'
import { dashboardCases } from './dashboards.ts'
import { httpCases } from './http.ts'
import { mcpCases } from './mcp.ts'
import { savedSearchCases } from './saved-searches.ts'
import { sourceCases } from './sources.ts'
import { tileCases } from './tiles.ts'
import { webAppCases } from './web-app.ts'
import { webhookCases } from './webhooks.ts'

export const cases: readonly Case[] = [
  ...httpCases,
  ...dashboardCases,
  ...tileCases,
  ...webAppCases,
  ...alertCases,
  ...savedSearchCases,
  ...webhookCases,
  ...sourceCases,
  ...connectionCases,
  ...chartCases,
  ...mcpCases,
]
