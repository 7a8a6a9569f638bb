// Owns the decision about the one comment of a label. Pure.
import { isFailure, isNoteworthy, isOutdated, type News } from './news.ts'

export type When = 'always' | 'changes' | 'on-failure'

export type CommentStep = 'create' | 'update' | 'leave' | 'leave-newer'

/** `told` is the comment that is there, with the moment that it tells of, if it remembers one. */
export function decideComment(when: When, news: News, told: { readonly atMs: number | undefined } | undefined, nowMs: number): CommentStep {
  if (told !== undefined) return isOutdated(news, told.atMs, nowMs) ? 'leave-newer' : 'update'
  return isWanted(when, news) ? 'create' : 'leave'
}

function isWanted(when: When, news: News): boolean {
  if (when === 'on-failure') return isFailure(news)
  return when === 'always' || isNoteworthy(news)
}
