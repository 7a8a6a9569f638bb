import type * as z from 'zod'
import { type OperationName, type Operations, operationNames } from '../../operations.ts'
import { systemClock } from '../../platform/core/clock.ts'
import { inputError, WatchkeeperError } from '../../platform/core/errors.ts'
import { toCamel } from '../../platform/core/names.ts'
import type { Variables } from '../../platform/core/variables.ts'
import type { settingsSchema } from '../../platform/operation/inputs.ts'
import type { ResultDocument, RunSubject } from '../../platform/operation/result.ts'
import { toResultTexts, withReports, writeEssentialFiles, writeOutputFiles } from '../publish.ts'
import { type NotifySetting, runOperation } from '../run.ts'
import { type UsedFiles, workspaceFiles } from '../workspace.ts'
import { withOptionNames } from './option-names.ts'

/** Without the settings that only the action and the command line have. */
export interface ClientOptions extends Omit<z.input<typeof settingsSchema>, 'warnOnly' | 'summary' | 'reports' | 'config' | NotifySetting> {
  /**
   * Variables: `WATCHKEEPER_…` for settings that are not given here, `WATCHKEEPER_VAR_…` for files, and `HTTPS_PROXY`, `HTTP_PROXY` and
   * `NO_PROXY`. The default is none. To use those of the process, pass `variables: process.env`.
   */
  readonly variables?: Variables
  /** Cancels running and later calls. They reject with a WatchkeeperError of kind `canceled`. */
  readonly signal?: AbortSignal
  /** Called with one line of text for each retry and each wait, without secrets. */
  readonly onProgress?: (line: string) => void
  /** Called with one line of text for each request and each decision about it, without secrets. For debugging. */
  readonly onDebug?: (line: string) => void
  /** Directory for reading and writing files. The default is the current directory. */
  readonly directory?: string
}

type Pascal<Text extends string> = Text extends `${infer Head}-${infer Rest}` ? `${Capitalize<Head>}${Pascal<Rest>}` : Capitalize<Text>

/** The inputs of an operation, by camelCase name, and the reports that it writes. */
export type InputOf<Name extends OperationName> = z.input<Operations[Name]['input']> & {
  readonly reports?: z.input<typeof settingsSchema>['reports']
}

/** The result of an operation: its own fields and the verdict. A failed gate is a result with `status: 'fail'`, not an exception. */
export type ResultOf<Name extends OperationName> = RunSubject & {
  readonly operation: string
  readonly failureReason: string
  readonly status: 'pass' | 'warn' | 'fail'
} & Readonly<z.input<Operations[Name]['output']> & z.input<Operations[Name]['details']>>

type ClientMethod<Name extends OperationName> =
  Record<string, never> extends InputOf<Name>
    ? (input?: InputOf<Name>) => Promise<ResultOf<Name>>
    : (input: InputOf<Name>) => Promise<ResultOf<Name>>

/** A method for each operation, by its camelCase name: `usageCost` for `usage-cost`. */
export type Client = { readonly [Name in OperationName as Uncapitalize<Pascal<Name>>]: ClientMethod<Name> }

/**
 * Creates a client for one organization and service. It sends no request before the first call. A method rejects with an `InputError` that
 * lists all problems of its input, with an `ApiError` that explains the API's answer, or with another `WatchkeeperError`, such as one of
 * kind `canceled`. All times in options and results are in the unit that their name or description states.
 */
export function createClient(options: ClientOptions): Client {
  const { variables: env = {}, signal, onProgress = () => undefined, onDebug, directory = '.', ...settings } = options
  // As the input of that name, an error would quote the variables with their secrets.
  if ('env' in settings) throw inputError('env', 'is an input of methods; pass the variables of the process as variables')
  const stop = signal ?? new AbortController().signal
  const call = async (name: OperationName, input: object = {}): Promise<ResultDocument> => {
    const used: UsedFiles = new Set()
    const ran = await runOperation(
      { operation: name, inputs: { ...settings, ...input }, areText: false, env, readConfigFile: async () => undefined },
      {
        clock: systemClock,
        random: Math.random,
        note: onProgress,
        debug: onDebug,
        cancellation: { stop, abort: stop },
        files: workspaceFiles(directory, env, undefined, used),
      },
    )
    const result = await withReports(await writeEssentialFiles(ran, directory, used))
    if (result.error !== undefined) throw withOptionNames(result.error, Object.keys({ ...settings, ...input }))
    const { forFile: content } = toResultTexts(result.document)
    const documents = (result.publishSettings.reports ?? []).flatMap(({ format, path }) =>
      format === 'json' ? [{ input: 'reports', path, content }] : [],
    )
    const failures = await writeOutputFiles([...result.files, ...documents], directory, used)
    if (failures.length > 0) throw withOptionNames(new WatchkeeperError('input', failures.join('\n')), [])
    return result.document
  }
  const methods = operationNames.map((name) => [toCamel(name), (input?: object) => call(name, input)] as const)
  return Object.fromEntries(methods) as Client // One method for each operation, which checks its input itself.
}
