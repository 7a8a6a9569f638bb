// Owns when a run goes no further: when nothing else can succeed, when the API is failing, or when the user wants it. Pure.
import type { ErrorKind } from '../kernel/errors.ts'
import type { Outcome } from './outcome.ts'

export type OnError = 'continue' | 'stop'

/** Failures in a row after which the API itself is what fails. */
export const mostInARow = 5

/** After these, every other request would end the same way. */
const hopeless: Readonly<Partial<Record<ErrorKind, string>>> = {
  authentication: 'the service does not accept the key',
  permission: 'the key lacks a permission',
  'not-served': 'the url does not serve the API',
  tls: 'the certificate is not trusted',
  redirect: 'the API redirects elsewhere',
  deadline: 'the time for the whole operation is over',
  'rate-limited': 'the rate limit leaves no time',
  cancelled: 'the run was cancelled',
}

/** Failures that say something of the API rather than of the object. */
const unwell: readonly ErrorKind[] = ['server', 'network', 'timeout', 'may-exist', 'bad-answer']

/** Why nothing more is sent; undefined to go on. Looks at no more than the last few. */
export function reasonToStop(outcomes: readonly Outcome[], onError: OnError): string | undefined {
  const last = outcomes.at(-1)
  if (last === undefined) return undefined
  const reason = last.errorKind && hopeless[last.errorKind]
  if (reason !== undefined) return reason
  if (onError === 'stop' && (last.kind === 'failed' || last.kind === 'unknown')) return 'an object before it failed (on-error: stop)'
  const recent = outcomes.slice(-mostInARow)
  const isFailing = recent.length === mostInARow && recent.every(({ errorKind }) => errorKind && unwell.includes(errorKind))
  return isFailing ? `the API is failing: ${mostInARow} objects in a row could not be written` : undefined
}
