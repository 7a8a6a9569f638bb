import * as z from 'zod'
import { ApiError } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { path } from '../../platform/api/path.ts'
import { readOne } from '../../platform/api/wire.ts'
import { type Decimal, parseAmount, sum, toDecimal } from '../../platform/core/decimal.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { amount } from './amounts.ts'

/** `other`: a type that this version does not know. */
const creditTypes = ['prepaid', 'trial', 'other'] as const

export const balanceSchema = () =>
  z.object({
    id: z.string().optional(),
    type: z.enum(creditTypes),
    state: z.enum(['active', 'not-started', 'expired'] as const),
    remaining: amount.describe('Remaining credits.'),
    granted: amount.optional().describe('Credits at the start, where the API has them.'),
    startsAt: z.string().optional().describe('ISO 8601 in UTC.'),
    expiresAt: z.string().optional().describe('ISO 8601 in UTC. Absent for credits that never expire.'),
  })

/** Credits that were granted together and expire together. */
export type CreditBalance = z.output<ReturnType<typeof balanceSchema>>

export interface CreditBalances {
  readonly balances: readonly CreditBalance[]
  /** The API's own total of all balances that can be used, of every type. */
  readonly total: Decimal | undefined
}

export const credits = z.unknown().transform((value, context): Decimal => {
  // The document has numbers. Other figures of money in the API are texts.
  const decimal = typeof value === 'string' ? parseAmount(value) : toDecimal(value)
  if (decimal !== undefined) return decimal
  context.addIssue({ code: 'custom', message: value === undefined ? 'is missing' : 'is not a finite number' })
  return z.NEVER
})

/** A day is midnight UTC. Without a zone, a time is in UTC. */
const creditInstant = z.string().transform((text, context): string => {
  const isWithoutZone = text.includes('T') && !/(?:[zZ]|[+-]\d{2}:?\d{2})$/.test(text)
  const ms = Date.parse(isWithoutZone ? `${text}Z` : text)
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  context.addIssue({ code: 'custom', message: 'is not a date and time' })
  return z.NEVER
})

// The endpoint is beta. Only what a figure depends on is required: a wrong amount or date would be a wrong figure.
export const balance = z.object({
  id: z.string().optional().catch(undefined),
  type: z
    .string()
    .transform((type) => creditTypes.find((known) => known === type.toLowerCase()) ?? 'other')
    .catch('other'),
  remainingCredits: credits,
  totalAmount: credits.optional().catch(undefined),
  startDate: creditInstant.nullish(),
  expirationDate: creditInstant.nullish(),
})

const answer = z.object({ totalRemainingCredits: credits.optional().catch(undefined), balances: z.array(balance) })

/**
 * The credit balances of the organization, in the order of the answer. Source: the vendor's API reference, "Get organization active credit
 * balances". Throws an ApiError of kind `permission` that names the missing permission.
 */
export async function readCreditBalances(api: ReadApi, organizationId: string, nowMs: number): Promise<CreditBalances> {
  try {
    const { balances, totalRemainingCredits } = await api.read({
      request: { method: 'GET', path: path`/v1/organizations/${organizationId}/creditBalances` },
      read: readOne(answer),
      about: { noun: 'credit balances', permission: 'credits' },
    })
    return {
      total: totalRemainingCredits,
      balances: balances.map(({ id, type, remainingCredits, totalAmount, startDate, expirationDate }) => ({
        id,
        type,
        state: stateAt(nowMs, startDate, expirationDate),
        remaining: remainingCredits,
        granted: totalAmount,
        startsAt: startDate ?? undefined,
        expiresAt: expirationDate ?? undefined,
      })),
    }
  } catch (thrown) {
    throw explainAbsence(thrown)
  }
}

function stateAt(nowMs: number, start: string | null | undefined, expiration: string | null | undefined): CreditBalance['state'] {
  if (start && Date.parse(start) > nowMs) return 'not-started'
  return expiration && Date.parse(expiration) <= nowMs ? 'expired' : 'active'
}

/** A server without the endpoint answers 404. The advice for other paths is to check the address, which would be wrong here. */
function explainAbsence(thrown: unknown): unknown {
  if (!(thrown instanceof ApiError) || thrown.status !== 404 || thrown.missing === 'organization') return thrown
  const request = thrown.message.split('\n').at(-1) ?? ''
  return new WatchkeeperError(
    'not-served',
    `The API has no credit balances at this address. The endpoint is beta, so it may be absent or have moved. Check api-url, and look for a newer version of Watchkeeper.\n${request}`,
  )
}

export const totalOfBalances = (balances: readonly CreditBalance[]): Decimal => sum(balances.map(({ remaining }) => remaining))

/** Credits of a type that can be used now. */
export const usableBalances = (balances: readonly CreditBalance[], type: CreditBalance['type']): readonly CreditBalance[] =>
  balances.filter((balance) => balance.type === type && balance.state === 'active' && balance.remaining.gt(0))
