// Owns the cost gate: reads the usage of a period, judges it by every limit that was given, and says how far it can be trusted.
import type { Profile } from '../api/profiles.ts'
import { dayOf } from '../core/dates.ts'
import { defineOperation, type Files } from '../operation/operation.ts'
import type { Budget, Today } from './budgets-file.ts'
import { workOut } from './figures.ts'
import { checkUsageInput, checkWaiver, choosePeriod, usageInput } from './input.ts'
import { readUsage } from './read-usage.ts'
import { reportUsage } from './report.ts'
import { toUsageResult, type UsageResult, usageDetails, usageOutput } from './result.ts'
import { judgeUsage } from './verdict.ts'

export const usageCost = defineOperation({
  summary: "Reports the organization's usage cost over a period, and fails when it is above a budget.",
  effect: 'read',
  scope: 'organization',
  input: usageInput,
  output: usageOutput,
  details: usageDetails,
  example: { period: 'last-7-days', budget: '200' },
  check: checkUsageInput,
  async run({ api, organizationId, profile, apiOrigin, clock, files }, input) {
    const today = dayOf(clock.now())
    checkWaiver(input.waiver, today)
    const period = choosePeriod(input, today)
    const { billingCycleDay } = input
    const budgets = await readBudgetsFile(files, input.budgets, { today, billingCycleDay, period })
    const wish = { period, compares: input.compare !== undefined, budgets, filters: input.filter ?? [] }
    const readings = await readUsage(api, organizationId, wish)
    const figures = workOut({ readings, period, today, budgets, input })
    return toUsageResult({ organizationId, provider: providerOf(profile, apiOrigin), readings, period, figures, input })
  },
  judge: judgeUsage,
  report: reportUsage,
  files: async (...request) => (await import('./exports.ts')).renderFiles(...request),
})

async function readBudgetsFile(files: Files, path: string | undefined, now: Today): Promise<readonly Budget[]> {
  if (path === undefined) return []
  const text = await files.read(path, 'budgets')
  // Loaded here: a parser of YAML takes longer to start than all the rest of a run without such a file.
  const { readBudgets } = await import('./budgets-file.ts')
  return readBudgets(text, path, now)
}

/** Behind the neutral contract, the address is all that is known of who charges. */
const providerOf = ({ provider }: Profile, apiOrigin: string): UsageResult['provider'] =>
  provider ?? { name: new URL(apiOrigin).hostname, serviceName: 'observability', serviceCategory: 'Other' }
