import * as z from 'zod'
import { diagnosticSchema } from '../../platform/core/diagnostics.ts'
import { selectInput } from '../../platform/operation/select.ts'
import { burnRateWindows } from '../../signals/slos/error-budget.ts'
import { environmentInput } from '../../sync/declarations/environment.ts'
import { filesInput } from '../inputs.ts'

const percent = (what: string) => z.number().describe(what)

export const sloInput = z.strictObject({
  files: filesInput,
  env: environmentInput,
  select: selectInput(['name', 'key']).optional(),
  minBudgetLeft: z.number().min(-1000).max(100).optional().meta({
    description: 'Fails unless every SLO has at least this percentage of its error budget left. Without it, a spent budget only warns.',
    accepts: 'a percentage of at most 100, such as 10',
  }),
  maxBurnRate: z.number().positive().max(100_000).optional().meta({
    description:
      'Fails if the error budget of an SLO was burning faster than this in the last hour. At 1, the budget lasts exactly for the window.',
    accepts: 'a number above 0, such as 1 or 14.4',
  }),
})

export const sloOutput = z.object({
  budgetLeft: percent('The lowest percentage of error budget that is left. Absent if no SLO has enough events.').optional(),
})

const rates = z.partialRecord(z.enum(burnRateWindows), z.number())

const checkedSlo = z.object({
  key: z.string().describe('The key in the files.'),
  name: z.string(),
  file: z.string(),
  line: z.int().optional(),
  group: z.string().optional().describe('The value of `groupBy`.'),
  objective: percent('Percentage of good events that is wanted.'),
  window: z.string(),
  status: z.enum(['within-budget', 'spent', 'not-enough-data']),
  total: z.number().describe('Events in the window. With a sample rate, estimated.'),
  good: z.number().describe('Good events among them.'),
  indicator: percent('Percentage of good events.').optional(),
  budgetLeft: percent('Percentage of the error budget that is left; negative when more than all of it is spent.').optional(),
  burnRates: rates.describe('Burn rates by window. A window with too few events is absent.'),
  burning: z.array(z.string()).describe('Conditions of alerts that are true now: `page-1h`, `page-6h`, `ticket-3d`.'),
  runsOut: z
    .string()
    .describe('When the budget runs out at the burn rate of the last hour: a time, `spent`, `never` (not within ten years) or `unknown`.'),
  days: z.array(z.object({ day: z.string(), spent: percent('Percentage of the error budget.') })).describe('What each UTC day spent.'),
})

export type CheckedSlo = z.output<typeof checkedSlo>

export const sloDetails = z.object({
  sloCount: z.int().describe('Number of checked SLOs. With `groupBy`, each group counts.'),
  withinBudget: z.int().describe('SLOs with error budget left.'),
  spent: z.int().describe('SLOs whose error budget is spent.'),
  notEnoughData: z.int().describe('SLOs with fewer events in their window than `minEvents`.'),
  burnRate: z.number().optional().describe('The highest burn rate of the last hour. Absent if no SLO has enough events.'),
  worstSlo: z.string().describe('Key of the SLO with the least error budget left. Empty without SLOs.'),
  environment: z.string().optional().describe('The environment, if `env` is set.'),
  minBudgetLeft: z.number().optional().describe('The input min-budget-left, if it was given.'),
  until: z.string().describe('End of all windows: now, rounded down to five minutes.'),
  slos: z.array(checkedSlo).describe('The SLOs, in the order of the files.'),
  requestCount: z.int().describe('Number of requests for values.'),
  asleep: z.boolean().describe('Whether the service slept, so that nothing was checked. Only in ClickHouse Cloud.'),
  diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes on the files.'),
})

export type SloResult = z.output<typeof sloOutput> & z.output<typeof sloDetails>
