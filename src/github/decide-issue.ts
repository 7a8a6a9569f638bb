// Owns the decision about the one issue of a label. Pure.
import { digestOfReason, type Memory } from './marker.ts'
import { isFailure, isOutdated, type News } from './news.ts'

/** An open issue that is certainly ours. */
export interface OwnIssue {
  readonly number: number
  readonly memory: Memory | undefined
}

export type IssueStep =
  | { readonly kind: 'open' }
  /** `isOther`: it fails for another reason than the issue says, which is worth a word of its own. */
  | { readonly kind: 'update'; readonly number: number; readonly isOther: boolean }
  | { readonly kind: 'close'; readonly number: number }
  | { readonly kind: 'leave-newer'; readonly number: number }
  | { readonly kind: 'leave' }

/** The oldest is the one; two runs at once may have opened others. */
export function decideIssue(news: News, own: readonly OwnIssue[], nowMs: number): IssueStep {
  const [oldest] = own.toSorted((a, b) => a.number - b.number)
  if (oldest === undefined) return isFailure(news) ? { kind: 'open' } : { kind: 'leave' }
  const { number, memory } = oldest
  if (isOutdated(news, memory?.atMs, nowMs)) return { kind: 'leave-newer', number }
  // A failure that is only a warning today is no recovery either.
  if (!news.hasFailed) return { kind: 'close', number }
  return { kind: 'update', number, isOther: memory !== undefined && memory.reason !== digestOfReason(news.reason) }
}

/** All but the oldest. */
export const spareIssues = (own: readonly OwnIssue[]): readonly number[] =>
  own
    .map(({ number }) => number)
    .sort((a, b) => a - b)
    .slice(1)
