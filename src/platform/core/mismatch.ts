import type * as z from 'zod'
import { quote } from './text.ts'

/** `result[1].id is missing (and 2 more)`. `whole` names the value that was checked. */
export function describeMismatch({ issues: [first, ...others] }: z.ZodError, whole: string): string {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `${formatPlace(first?.path ?? [], whole)} ${issueWords(first)}${more}`
}

export const formatPlace = (path: readonly PropertyKey[], whole: string): string =>
  path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${quote(String(key))}`), whole)

function issueWords(issue: z.core.$ZodIssue | undefined) {
  if (issue?.code === 'custom') return issue.message
  if (issue?.code !== 'invalid_type') return 'is not valid'
  return issue.message.endsWith('received undefined') ? 'is missing' : `is not of type ${issue.expected}`
}
