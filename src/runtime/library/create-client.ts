// Owns the library's client: one typed method for each operation, made from the list.
import type * as z from 'zod'
import { systemClock } from '../../core/clock.ts'
import { WatchkeeperError } from '../../core/errors.ts'
import { toCamel } from '../../core/names.ts'
import type { ResultDocument } from '../../operation/result-document.ts'
import type { settingsSchema } from '../../operation/settings.ts'
import { type OperationName, type Operations, operationNames } from '../../operations.ts'
import { cancelOnAbort } from '../cancellation.ts'
import type { Environment } from '../decode.ts'
import { writeEssentials, writeOutputFiles } from '../output-files.ts'
import { invoke } from '../run.ts'
import { workspaceFiles } from '../workspace.ts'

/** Settings that only mean something to a process of their own. */
type ProcessSetting = 'warnOnly' | 'summary' | 'resultFile' | 'config' | 'comment' | 'commentLabel' | 'prNumber' | 'issue' | 'githubToken'

export interface ClientOptions extends Omit<z.input<typeof settingsSchema>, ProcessSetting> {
  /**
   * Where variables are read from: `WATCHKEEPER_…` for settings that are not given here, `HTTPS_PROXY` and its kin. Nothing is
   * read from the environment unless you hand it over, as in `env: process.env`.
   */
  readonly env?: Environment
  /** Ends what is under way; every call then rejects with kind `cancelled`. */
  readonly signal?: AbortSignal
  /** Hears of retries and waits, one line each. */
  readonly onProgress?: (line: string) => void
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
  const { env = {}, signal, onProgress = () => undefined, directory = '.', ...settings } = options
  const call = async (name: OperationName, input: object = {}): Promise<ResultDocument> => {
    const invoked = await invoke(
      { operation: name, inputs: { ...settings, ...input }, areText: false, env, readConfigFile: async () => undefined },
      {
        clock: systemClock,
        random: Math.random,
        note: onProgress,
        cancellation: cancelOnAbort(signal),
        files: workspaceFiles(directory, env),
      },
    )
    const finished = await writeEssentials(invoked, directory)
    if (finished.error !== undefined) throw finished.error
    const failures = await writeOutputFiles(finished.files, directory)
    if (failures.length > 0) throw new WatchkeeperError('input', failures.join('\n'))
    return finished.document
  }
  const methods = operationNames.map((name) => [toCamel(name), (input?: object) => call(name, input)] as const)
  return Object.fromEntries(methods) as Client
}
