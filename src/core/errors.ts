// Owns the kinds of failure and the exit code of each. Knows nothing of HTTP, files or GitHub.

/** Exit codes of the command line; the action turns every code but 0 and 130 into 1. */
export const exitCodes = { ok: 0, error: 1, input: 2, denied: 3, partlyApplied: 4, gateFailed: 10, cancelled: 130 } as const

const exitCodeOfKind = {
  input: exitCodes.input,
  authentication: exitCodes.denied,
  permission: exitCodes.denied,
  'not-found': exitCodes.error,
  'not-served': exitCodes.error,
  refused: exitCodes.error,
  'rate-limited': exitCodes.error,
  server: exitCodes.error,
  network: exitCodes.error,
  tls: exitCodes.error,
  timeout: exitCodes.error,
  deadline: exitCodes.error,
  redirect: exitCodes.error,
  'bad-answer': exitCodes.error,
  'may-exist': exitCodes.error,
  conflict: exitCodes.error,
  cancelled: exitCodes.cancelled,
  bug: exitCodes.error,
} as const

export type ErrorKind = keyof typeof exitCodeOfKind

/** Every failure that this project raises on purpose. `kind` is stable; the message is for people. */
export class WatchkeeperError extends Error {
  override readonly name: string = 'WatchkeeperError'
  readonly kind: ErrorKind

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }

  get exitCode(): number {
    return exitCodeOfKind[this.kind]
  }
}

/** One thing that is wrong with what the user wrote. */
export interface Problem {
  /** The input's name in kebab-case, or where in a file the problem stands. */
  readonly name: string
  /** What is wrong, what was given and what is accepted; never holds a secret. */
  readonly message: string
}

/** Everything that is wrong with the input, reported at once and before the first request. */
export class InputError extends WatchkeeperError {
  override readonly name = 'InputError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super('input', describeProblems(problems))
    this.problems = problems
  }
}

/** More than anybody reads; a file can be wrong in every one of its lines. */
const mostDescribed = 50

function describeProblems(problems: readonly Problem[]): string {
  const lines = problems.slice(0, mostDescribed).map(({ name, message }) => `${name}: ${message}`)
  if (problems.length === 1) return lines.join('')
  const rest = problems.length > lines.length ? [`and ${problems.length - lines.length} more`] : []
  return [`${problems.length} inputs are wrong:`, ...[...lines, ...rest].map((line) => `- ${line}`)].join('\n')
}

/** Turns whatever was thrown into an error of ours; what we did not foresee is named a bug. */
export function toWatchkeeperError(thrown: unknown): WatchkeeperError {
  if (thrown instanceof WatchkeeperError) return thrown
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return new WatchkeeperError('bug', `This is a bug in Watchkeeper, please report it: ${reason}`, { cause: thrown })
}
