import type * as z from 'zod'
import { systemClock } from '../../core/clock.ts'
import { WatchkeeperError } from '../../core/errors.ts'
import { toCamel } from '../../core/names.ts'
import type { settingsSchema } from '../../operation/inputs.ts'
import type { ResultDocument } from '../../operation/operation.ts'
import { type OperationName, type Operations, operationNames } from '../../operations.ts'
import type { Environment } from '../read-input.ts'
import { runOperation, writeEssentialFiles } from '../run.ts'
import { workspaceFiles, writeOutputFiles } from '../workspace.ts'

/** Settings of the action and the command line. */
type ProcessSetting = 'warnOnly' | 'summary' | 'resultFile' | 'config' | 'comment' | 'commentLabel' | 'prNumber' | 'issue' | 'githubToken'

export interface ClientOptions extends Omit<z.input<typeof settingsSchema>, ProcessSetting> {
  /**
   * Where variables are read from: `WATCHKEEPER_…` for settings that are not given here, `HTTPS_PROXY` and its kin. Nothing is
   * read from the environment unless you hand it over, as in `env: process.env`.
   */
  readonly env?: Environment
  /** Cancels the calls under way and all later ones, which reject with kind `cancelled`. */
  readonly signal?: AbortSignal
  /** Called with a line for each retry and each wait. */
  readonly onProgress?: (line: string) => void
  /** Called with a line for each request and each decision, without secrets: for finding out why something happened. */
  readonly onDebug?: (line: string) => void
  /** Directory that files are read from and written to; the current one by default. */
  readonly directory?: string
}

type Pascal<Text extends string> = Text extends `${infer Head}-${infer Rest}` ? `${Capitalize<Head>}${Pascal<Rest>}` : Capitalize<Text>

type MethodName<Name extends string> = Uncapitalize<Pascal<Name>>

export type InputOf<Name extends OperationName> = z.input<Operations[Name]['input']>

/** The operation's own fields, and the verdict beside them. A failed gate is a result with `status: 'fail'`, not an exception. */
export type ResultOf<Name extends OperationName> = Pick<
  ResultDocument,
  'operation' | 'failureReason' | 'requestId' | 'organizationId' | 'serviceId'
> & {
  readonly status: 'pass' | 'warn' | 'fail'
} & Readonly<z.input<Operations[Name]['output']> & z.input<Operations[Name]['details']>>

type Method<Name extends OperationName> =
  Record<string, never> extends InputOf<Name>
    ? (input?: InputOf<Name>) => Promise<ResultOf<Name>>
    : (input: InputOf<Name>) => Promise<ResultOf<Name>>

export type Client = { readonly [Name in OperationName as MethodName<Name>]: Method<Name> }

/**
 * A client for one organization and service. Nothing is sent before the first call. Every method rejects with an
 * `InputError` that lists all that is wrong with its input, or an `ApiError` that says what the API answered.
 */
export function createClient(options: ClientOptions): Client {
  const { env = {}, signal, onProgress = () => undefined, onDebug, directory = '.', ...settings } = options
  const stop = signal ?? new AbortController().signal
  const call = async (name: OperationName, input: object = {}): Promise<ResultDocument> => {
    const ran = await runOperation(
      { operation: name, inputs: { ...settings, ...input }, areText: false, env, readConfigFile: async () => undefined },
      {
        clock: systemClock,
        random: Math.random,
        note: onProgress,
        debug: onDebug,
        cancellation: { stop, abort: stop },
        files: workspaceFiles(directory, env),
      },
    )
    const result = await writeEssentialFiles(ran, directory)
    if (result.error !== undefined) throw result.error
    const failures = await writeOutputFiles(result.files, directory)
    if (failures.length > 0) throw new WatchkeeperError('input', failures.join('\n'))
    return result.document
  }
  const methods = operationNames.map((name) => [toCamel(name), (input?: object) => call(name, input)] as const)
  return Object.fromEntries(methods) as Client
}
