// Owns when a run goes no further: when nothing else can succeed, when the API is failing, or when the user wants it. Pure.
import type { ErrorKind } from '../kernel/errors.ts'
import type { Outcome } from './outcome.ts'

export type OnError = 'continue' | 'stop'

/** Failures in a row after which the API itself is what fails. */
export const mostInARow = 5

/** `denied`, `unreachable`, `no-time` and `cancelled`: every other request would end the same way. */
export const stopKinds = ['denied', 'unreachable', 'no-time', 'cancelled', 'failing', 'on-error'] as const

/** Why nothing more is sent. */
export interface Stop {
  readonly kind: (typeof stopKinds)[number]
  readonly words: string
}

export const cancelled: Stop = { kind: 'cancelled', words: 'the run was cancelled' }

const hopeless: Readonly<Partial<Record<ErrorKind, Stop>>> = {
  authentication: { kind: 'denied', words: 'the service does not accept the key' },
  permission: { kind: 'denied', words: 'the key lacks a permission' },
  'not-served': { kind: 'unreachable', words: 'the url does not serve the API' },
  tls: { kind: 'unreachable', words: 'the certificate is not trusted' },
  redirect: { kind: 'unreachable', words: 'the API redirects elsewhere' },
  deadline: { kind: 'no-time', words: 'the time for the whole operation is over' },
  'rate-limited': { kind: 'no-time', words: 'the rate limit leaves no time' },
  cancelled,
}

/** Whether not even a look at the service could succeed. */
export const isHopeless = (stop: Stop | undefined): boolean => stop !== undefined && stop.kind !== 'failing' && stop.kind !== 'on-error'

/** Failures that say something of the API rather than of the object. */
const unwell: readonly ErrorKind[] = ['server', 'network', 'timeout', 'may-exist', 'bad-answer']

/** Undefined to go on. Looks at no more than the last few. */
export function reasonToStop(outcomes: readonly Outcome[], onError: OnError): Stop | undefined {
  const last = outcomes.at(-1)
  if (last === undefined) return undefined
  const stop = last.errorKind && hopeless[last.errorKind]
  if (stop !== undefined) return stop
  if (onError === 'stop' && (last.kind === 'failed' || last.kind === 'unknown'))
    return { kind: 'on-error', words: 'an object before it failed (on-error: stop)' }
  const recent = outcomes.slice(-mostInARow)
  const isFailing = recent.length === mostInARow && recent.every(({ errorKind }) => errorKind && unwell.includes(errorKind))
  return isFailing ? { kind: 'failing', words: `the API is failing: ${mostInARow} objects in a row could not be written` } : undefined
}
