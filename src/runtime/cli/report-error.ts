import { isOperationName } from '../../operations.ts'
import { systemClock } from '../../platform/core/clock.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { jsonLine } from '../../platform/core/escape.ts'
import { credentialsIn, toSafeError } from '../credentials.ts'
import { footerOf, toErrorResult, withNextCommand } from '../run-result.ts'
import { WrongUse } from './command.ts'
import { secretArguments } from './operation-command.ts'
import type { Terminal } from './terminal.ts'

/** Prints wrong use, or an exception that nothing caught. Resolves to its exit code. */
export async function reportError(thrown: unknown, args: readonly string[], { env, stdout, stderr }: Terminal): Promise<number> {
  const raised = thrown instanceof WrongUse ? new WatchkeeperError('input', thrown.message) : thrown
  const error = toSafeError(raised, () => [...secretArguments(args), ...credentialsIn({}, env)])
  stderr.write(`${error.message}\n`)
  const [operation = ''] = args.filter(isOperationName)
  const result = withNextCommand(toErrorResult(operation, error, {}, [footerOf({}, systemClock.now())]), ({ kind }) =>
    kind === 'input' ? ['watchkeeper schema', operation].join(' ').trim() : undefined,
  )
  if (args.includes('--json')) stdout.write(`${jsonLine(JSON.stringify(result.document, null, 2))}\n`)
  return result.exitCode
}
