import * as z from 'zod'
import type { ReadApi, WriteApi } from '../api/client.ts'
import type { Service, Target } from '../api/path.ts'
import type { Profile } from '../api/profiles.ts'
import type { Clock } from '../core/clock.ts'
import type { Diagnostic, LintSettings } from '../core/diagnostics.ts'
import type { Line } from '../core/line.ts'
import type { ReadDocument } from '../documents/document.ts'
import type { Block } from '../report/blocks.ts'
import type { Report, Verdict } from '../report/report.ts'
import type { Files, OutputFile } from './files.ts'
import type { ReportFormat } from './reports.ts'

/** An operation with the effect `read` gets an API client that cannot write. */
export type Effect = 'read' | 'write'

/**
 * What the operation works on. `none` needs neither address nor key. `organization` and `service` do not exist on a self-hosted server,
 * which has one set of alerts and dashboards.
 */
export type Scope = 'none' | 'organization' | 'service' | 'organization-or-server' | 'service-or-server'

/** A deployment of the workflow's repository. */
export interface Deployment {
  readonly atMs: number
  readonly environment: string
  /** Branch, tag or commit. */
  readonly ref: string
  /** The first characters of the commit. */
  readonly commit: string
}

/** Milliseconds since the epoch. */
interface Period {
  readonly fromMs: number
  readonly toMs: number
}

/** The files that a run reads. Paths and globs begin at the workspace. */
export interface ReadFiles {
  readonly globs: readonly string[]
  /** Those that were read, also if no glob matches them. */
  readonly paths: readonly string[]
}

/** A branch whose head, the commit, has other files than those that are checked out. */
export interface NewerFiles {
  readonly branch: string
  readonly commit: string
}

/** What a run asks GitHub about its repository. The log says why something cannot be read. */
export interface GitHubReader {
  /** The deployments that began in a period, oldest first. Undefined where they cannot be read. */
  readDeployments(period: Period): Promise<readonly Deployment[] | undefined>
  /** The head of the branch, if files there have other ids in Git. Undefined also where they cannot be compared. */
  findNewerFiles(read: ReadFiles): Promise<NewerFiles | undefined>
}

/** The target of a scope. `service-id` is optional for `organization` and `organization-or-server`. */
type TargetOf<S extends Scope> = S extends 'service'
  ? Service
  : S extends 'service-or-server'
    ? Target
    : S extends 'organization-or-server'
      ? Target | undefined
      : Service | undefined

/** Whom the objects of the project belonged to before it was renamed or moved. `false` confirms a second set beside another project's. */
export interface PreviousOwner {
  readonly project?: string | false | undefined
  /** Its address, or the digest of this in markers. */
  readonly repository?: string | undefined
}

export interface Context<E extends Effect, S extends Scope> {
  readonly api: S extends 'none' ? undefined : E extends 'read' ? ReadApi : WriteApi
  /** Empty for a self-hosted server. */
  readonly organizationId: string
  readonly service: TargetOf<S>
  readonly profile: Profile
  /** Scheme, host and port of the API's address. */
  readonly apiOrigin: S extends 'none' ? undefined : string
  /** Address of the web app, where it is known. */
  readonly uiUrl?: string | undefined
  readonly clock: Clock
  readonly files: Files
  /** Reads the name of the service, where a comment, an issue or a message would not say otherwise which one it is about. */
  serviceName?(): Promise<string | undefined>
  /** The settings of `rules` in the repository's config file. */
  readonly lintSettings: LintSettings
  /** Functions of the user, which SQL in files may call. */
  readonly sqlFunctions: readonly string[]
  /** What the repository's config file says about it. */
  readonly previousOwner?: PreviousOwner | undefined
  /** The environment that the input `env` names. */
  readonly environment?: NamedEnvironment | undefined
  /** The formats of the reports that the run writes. */
  readonly formats: readonly ReportFormat[]
  /** Undefined outside of the action. */
  readonly github?: GitHubReader | undefined
  /** Aborted when no more requests may be sent. */
  readonly stop: AbortSignal
  /** Awaited in long computations before the first write: see `createCheckpoint`. */
  checkpoint(): Promise<void>
  /** Asks the person at the terminal. Throws kind `canceled` when the answer is no. Undefined where the run asks no one, or `asksFirst` is not set. */
  readonly confirm: ((review: Confirmation) => Promise<void>) | undefined
  /** Writes a line about a decision to the debug log. Without the log, nothing happens. */
  debug(line: string): void
  /** Reports progress of a long operation. Awaited, because a killed run leaves nothing else behind. */
  progress(progress: Progress): Promise<void>
}

/** What a person confirms. */
export interface Confirmation {
  readonly blocks: readonly Block[]
  readonly question: string
}

/** One of several targets of the same declarations. */
export interface NamedEnvironment {
  readonly name: string
  readonly path: string
  /** Common settings by camelCase name, such as `serviceId`. */
  readonly settings: Readonly<Record<string, string>>
  /** Owner of the objects. Undefined where the file does not set it. */
  readonly project: string | undefined
  /** Values of `${{ env.X }}`, before those that were passed. */
  readonly variables: ReadonlyMap<string, string>
  /** The text of its file, and its content, with `adopt`. */
  readonly text: string
  readonly document: ReadDocument
}

export interface Progress {
  readonly done: number
  readonly total: number
  /** The last step. */
  readonly line: Line
  /** Builds the result so far. This takes time in proportion to the number of objects. */
  result(): Promise<object>
}

/** The values that were given and are valid by themselves, and the names of all that were given. */
export interface Given<I extends z.ZodObject> {
  readonly values: Partial<z.output<I>>
  readonly names: ReadonlySet<string>
  /** Whether the common input service-id was given, valid or not. */
  readonly hasServiceId: boolean
}

export interface Operation<
  E extends Effect = Effect,
  S extends Scope = Scope,
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodObject = z.ZodObject,
  D extends z.ZodObject = z.ZodObject,
> {
  /** One sentence: for help, documentation and action.yml. */
  readonly summary: string
  /** What a notification calls the check, where the name of the operation in words does not say it. */
  readonly title?: string
  readonly effect: E
  readonly scope: S
  /** The scope with these inputs, for an operation that sends requests only on demand. */
  scopeWith?(values: Partial<z.output<I>>): Scope
  /** Whether only the command line and the library have the operation. */
  readonly isOutsideOfAction?: true
  /** May change or delete existing objects. At a terminal, a person confirms that. An input with its value, where it asks only with these. */
  readonly asksFirst?: true | Readonly<Record<string, string>>
  /** Inputs by their camelCase names, each described. */
  readonly input: I
  /** The input whose values follow the command at a terminal, in place of an option. Its items are lines. */
  readonly positional?: keyof z.input<I> & string
  /** The outputs of the action, by their camelCase names, each described. */
  readonly output: O
  /** Fields of the full result that are not outputs. */
  readonly details: D
  /** A call that works on the emulator's demo data; shown in the documentation and run by a contract test. */
  readonly example: z.input<I>
  /** More calls for help. */
  readonly moreExamples?: readonly z.input<I>[]
  /** Rules between inputs. Also called when some inputs are invalid, so that all diagnostics are reported at once. */
  check?(given: NoInfer<Given<I>>): readonly Diagnostic[]
  /** Throws a WatchkeeperError when the operation cannot be completed. */
  run(context: Context<E, S>, input: z.output<I>): Promise<z.output<O> & z.output<D>>
  /** The verdict on a result; absent where every result passes. */
  judge?(result: z.output<O> & z.output<D>, input: z.output<I>): Verdict
  report(result: z.output<O> & z.output<D>): Report
  /** Lines that a notification shows below the first line of the report. */
  keyLines?(result: z.output<O> & z.output<D>, input: z.output<I>): readonly Line[]
  /** Turns the result into JSON values; absent where it already consists of JSON values. */
  toDocument?(result: z.output<O> & z.output<D>): z.input<O> & z.input<D>
  /** Reports in formats of its own, or in its own form; `blocks` are the whole report with its verdict. */
  readonly reports?: Readonly<
    Partial<
      Record<
        ReportFormat,
        (
          result: z.output<O> & z.output<D>,
          input: NoInfer<z.output<I>>,
          blocks: readonly Block[],
        ) => OutputFile['content'] | Promise<OutputFile['content']>
      >
    >
  >
  /** Files that the input asks for, besides reports. */
  files?(result: z.output<O> & z.output<D>, input: z.output<I>): readonly OutputFile[]
}

/** The fields of operations without outputs of their own, or without details in their result. */
export const noFields = z.looseObject({})

/** Infers the types of one operation from its schemas. */
export const defineOperation = <E extends Effect, S extends Scope, I extends z.ZodObject, O extends z.ZodObject, D extends z.ZodObject>(
  operation: Operation<E, S, I, O, D>,
): Operation<E, S, I, O, D> => operation
