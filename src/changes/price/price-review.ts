import { isServer } from '../../platform/api/path.ts'
import { inputError } from '../../platform/core/errors.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { flag, grouped, integer } from '../../platform/operation/inputs.ts'
import type { Review } from '../review.ts'
import { judgePrice, type PlanPrice, type PriceGate, planPrice, priceBlocks, priceWords } from './price-report.ts'

export interface PriceAnswer {
  readonly price?: PlanPrice | undefined
}

export interface PriceInput extends PriceGate {
  readonly price: boolean
}

export const priceReview = {
  inputs: grouped('Output', {
    price: flag(
      'Estimates what changed alerts add to the bill. Evaluations keep a service awake. The estimate needs permissions to read services, activities and usage. Anyone who can read the report sees the costs. Only with `profile: clickhouse-cloud`.',
    ).default(false),
    maxMonthlyIncrease: integer(
      'With `price`, fails above this monthly increase. The upper end of the estimate counts, in credits. A service without an estimate fails, too, unless `on-missing` accepts it.',
      0,
      1_000_000_000,
    ).optional(),
  }),
  details: { price: planPrice.optional().describe('With `price`: what the changed alerts add to the bill.') },
  demand({ profile, service }, { price }) {
    if (!price || (!profile.isSelfHosted && !isServer(service))) return
    const needed = spellInput('profile', 'clickhouse-cloud')
    throw inputError('price', `requires ${needed}, because a self-hosted server has no activities and no usage`)
  },
  async run({ api, service, clock }, planned, { price }) {
    if (!price || isServer(service)) return {}
    const { pricePlan } = await import('./price-plan.ts')
    return { result: { price: await pricePlan(planned, { api, service, nowMs: clock.now() }) } }
  },
  headline: ({ price }) => priceWords(price),
  blocks: ({ price }) => priceBlocks(price),
  judge: ({ price }, gate) => judgePrice(price, gate),
} satisfies Review<PriceInput, PriceAnswer>
