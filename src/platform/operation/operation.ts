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

/** An operation that reads gets an API client that cannot write. */
export type Effect = 'read' | 'write'

/** `none` needs neither address nor key. A self-hosted server has no organizations and services. */
export type Scope = 'none' | 'organization' | 'service' | 'organization-or-server' | 'service-or-server'

export interface Deployment {
  readonly atMs: number
  readonly environment: string
  /** Branch, tag or commit. */
  readonly ref: string
  readonly commit: string
}

/** Paths and globs begin at the workspace. */
export interface ReadFiles {
  readonly globs: readonly string[]
  /** Includes those that no glob matches. */
  readonly paths: readonly string[]
}

/** The head of the branch, which has other files than those that are checked out. */
export interface NewerFiles {
  readonly branch: string
  readonly commit: string
}

/** The log says why something cannot be read. */
export interface GitHubReader {
  /** The deployments that began in a period, oldest first. */
  readDeployments(period: { readonly fromMs: number; readonly toMs: number }): Promise<readonly Deployment[] | undefined>
  /** The head of the branch, if files there have other ids in Git. */
  findNewerFiles(read: ReadFiles): Promise<NewerFiles | undefined>
}

/** `service-id` is optional for `organization` and `organization-or-server`. */
type TargetOf<S extends Scope> = S extends 'service'
  ? Service
  : S extends 'service-or-server'
    ? Target
    : S extends 'organization-or-server'
      ? Target | undefined
      : Service | undefined

/** The owner before the project was renamed or moved. `false` confirms a second set beside another project's. */
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
  /** Scheme, host and port. */
  readonly apiOrigin: S extends 'none' ? undefined : string
  readonly uiUrl?: string | undefined
  readonly clock: Clock
  readonly files: Files
  /** Asked where a comment, an issue or a message would not say otherwise which service it is about. */
  serviceName?(): Promise<string | undefined>
  /** `rules` in the repository's config file. */
  readonly lintSettings: LintSettings
  /** SQL in files may call them. */
  readonly sqlFunctions: readonly string[]
  readonly previousOwner?: PreviousOwner | undefined
  readonly environment?: NamedEnvironment | undefined
  readonly formats: readonly ReportFormat[]
  /** Undefined outside of the action. */
  readonly github?: GitHubReader | undefined
  /** Aborted when no more requests may be sent. */
  readonly stop: AbortSignal
  /** Awaited in long computations before the first write: see `createCheckpoint`. */
  checkpoint(): Promise<void>
  /** Throws kind `canceled` when the answer is no. Undefined where the run asks no one, or `asksFirst` is not set. */
  readonly confirm: ((review: Confirmation) => Promise<void>) | undefined
  /** Writes to the debug log, if there is one. */
  debug(line: string): void
  /** Awaited, because a killed run leaves nothing else behind. */
  progress(progress: Progress): Promise<void>
}

export interface Confirmation {
  readonly blocks: readonly Block[]
  readonly question: string
}

export interface NamedEnvironment {
  readonly name: string
  readonly path: string
  /** Common settings in camelCase, such as `serviceId`. */
  readonly settings: Readonly<Record<string, string>>
  /** Owner of the objects. */
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
  readonly line: Line
  /** Takes time in proportion to the number of objects. */
  result(): Promise<object>
}

/** Values that are valid by themselves, and the names of all that were given. */
export interface Given<I extends z.ZodObject> {
  readonly values: Partial<z.output<I>>
  readonly names: ReadonlySet<string>
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
  /** For an operation that sends requests only on demand. */
  scopeWith?(values: Partial<z.output<I>>): Scope
  /** Only the command line and the library have the operation. */
  readonly isOutsideOfAction?: true
  /** May change or delete existing objects. At a terminal, a person confirms that. An input with its value, where it asks only with these. */
  readonly asksFirst?: true | Readonly<Record<string, string>>
  readonly input: I
  /** The input whose values follow the command, in place of an option. Its items are lines. */
  readonly positional?: keyof z.input<I> & string
  readonly output: O
  /** Fields of the full result that are not outputs. */
  readonly details: D
  /** Works on the emulator's demo data; shown in the documentation and run by a contract test. */
  readonly example: z.input<I>
  readonly moreExamples?: readonly z.input<I>[]
  /** Rules between inputs. Called also when some are invalid, so that all diagnostics are reported at once. */
  check?(given: NoInfer<Given<I>>): readonly Diagnostic[]
  /** Throws a WatchkeeperError when the operation cannot be completed. */
  run(context: Context<E, S>, input: z.output<I>): Promise<z.output<O> & z.output<D>>
  /** Absent where every result passes. */
  judge?(result: z.output<O> & z.output<D>, input: z.output<I>): Verdict
  report(result: z.output<O> & z.output<D>): Report
  /** Shown below the first line of a notification. */
  keyLines?(result: z.output<O> & z.output<D>, input: z.output<I>): readonly Line[]
  /** Absent where the result consists of JSON values. */
  toDocument?(result: z.output<O> & z.output<D>): z.input<O> & z.input<D>
  /** Formats of its own, or common ones in its own form; `blocks` are the whole report. */
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
  files?(result: z.output<O> & z.output<D>, input: z.output<I>): readonly OutputFile[]
}

export const noFields = z.looseObject({})

/** Infers the types from the schemas. */
export const defineOperation = <E extends Effect, S extends Scope, I extends z.ZodObject, O extends z.ZodObject, D extends z.ZodObject>(
  operation: Operation<E, S, I, O, D>,
): Operation<E, S, I, O, D> => operation
