import { type Diagnostic, errorsIn, formatLocation, inputDiagnostic } from './diagnostics.ts'
import { listAtMost, plural } from './text.ts'

/** Exit codes of the command line; the action turns every code but 0, 4 and 130 into 1. */
export const exitCodes = { ok: 0, error: 1, input: 2, denied: 3, partlyApplied: 4, gateFailed: 10, hasChanges: 11, canceled: 130 } as const

interface KindOfError {
  readonly exit?: number
  /** The next command, where it is not `doctor`. `look`: at what was written. */
  readonly next?: 'again' | 'look' | 'schema' | 'list'
  /** What cures it without a person. `time`: the same call may succeed later, and creates nothing twice. `plan`: a new plan. */
  readonly cure?: 'time' | 'plan'
}

const ofKinds = <Kind extends string>(kinds: Readonly<Record<Kind, KindOfError>>): Readonly<Record<Kind, KindOfError>> => kinds

/** What each kind of error means. Only one with a cure advises to run it again. */
export const errorKinds = ofKinds({
  input: { exit: exitCodes.input, next: 'schema' },
  authentication: { exit: exitCodes.denied },
  permission: { exit: exitCodes.denied },
  'not-found': { next: 'list' },
  'not-served': {},
  refused: { next: 'schema' },
  'rate-limited': { next: 'again', cure: 'time' },
  server: { cure: 'time' },
  network: { cure: 'time' },
  tls: {},
  timeout: { cure: 'time' },
  deadline: { next: 'again', cure: 'time' },
  redirect: {},
  'bad-answer': {},
  'may-exist': { next: 'look' },
  conflict: { next: 'look', cure: 'plan' },
  // A run that ended with a result, although a part of its work is missing.
  incomplete: { next: 'look' },
  canceled: { exit: exitCodes.canceled, next: 'look' },
  bug: {},
})

export type ErrorKind = Exclude<keyof typeof errorKinds, 'incomplete'>

/** `kind` is stable. The message is for people and can change. */
export class WatchkeeperError extends Error {
  override readonly name: string = 'WatchkeeperError'
  readonly kind: ErrorKind

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** A failure after which a run can go on. Throws anything else, and a cancellation. */
export function toFailure(thrown: unknown): WatchkeeperError {
  if (!(thrown instanceof WatchkeeperError) || thrown.kind === 'canceled') throw thrown
  return thrown
}

/** Why it failed, without the advice and the request. */
export const causeOf = ({ message }: Error): string => message.split('\n', 1)[0] ?? ''

/** Wrong input. Lists all problems at once, before the first request. */
export class InputError extends WatchkeeperError {
  override readonly name = 'InputError'
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super('input', describeDiagnostics(diagnostics))
    this.diagnostics = diagnostics
  }
}

export const inputError = (name: string, message: string): InputError => new InputError([inputDiagnostic(name, message)])

function describeDiagnostics(diagnostics: readonly Diagnostic[]) {
  const lines = diagnostics.map(({ location, message }) => `${formatLocation(location)}: ${message}`)
  if (lines.length === 1) return lines.join('')
  // A file can be wrong in each of its lines. A longer list helps no reader.
  const listed = listAtMost(lines, 50, (count) => `and ${count} more`)
  return [`${plural(errorsIn(diagnostics).length, 'error')} in the input:`, ...listed.map((line) => `- ${line}`)].join('\n')
}

export class InternalError extends WatchkeeperError {
  override readonly name = 'InternalError'

  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(
      'bug',
      `Internal error: ${reason}. This is a bug in Watchkeeper. Report it at https://github.com/watchkeeper/watchkeeper/issues.`,
      { cause },
    )
  }
}

export const toWatchkeeperError = (thrown: unknown): WatchkeeperError =>
  thrown instanceof WatchkeeperError ? thrown : new InternalError(thrown)
