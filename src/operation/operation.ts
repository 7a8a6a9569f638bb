import * as z from 'zod'
import type { ReadApi, WriteApi } from '../api/client.ts'
import type { Service, Target } from '../api/path.ts'
import type { Profile, ProfileName } from '../api/profiles.ts'
import type { Clock } from '../core/clock.ts'
import { type Diagnostic, diagnosticSchema, type Severity } from '../core/diagnostics.ts'
import { exitCodeOfKind, type WatchkeeperError } from '../core/errors.ts'
import { keysOf } from '../core/keys.ts'
import type { Line } from '../core/line.ts'
import type { ReadDocument } from '../documents/document.ts'
import { type Block, type Status, statuses } from '../report/blocks.ts'
import type { ReportFormat } from './reports.ts'

/** An operation with the effect `read` gets an API client that cannot write. */
export type Effect = 'read' | 'write'

/**
 * What the operation works on. `none` needs neither address nor key. `organization` and `service` do not exist on a self-hosted server,
 * which has one set of alerts and dashboards.
 */
export type Scope = 'none' | 'organization' | 'service' | 'organization-or-server' | 'service-or-server'

export interface FoundFiles {
  /** Sorted. */
  readonly paths: readonly string[]
  /** Directories that wildcards did not enter, and that may have more files that match. Sorted. */
  readonly skipped: readonly SkippedDirectory[]
}

export interface SkippedDirectory {
  readonly path: string
  /** The end of a sentence about the path, such as `is a link to a directory`. */
  readonly reason: string
}

/** The operation's access to the workspace. */
export interface Files {
  /** Reads a UTF-8 file. Throws an InputError that names `input` when the file cannot be read or is outside of the workspace. */
  read(path: string, input: string): Promise<string>
  /** Files inside the workspace that match any of the globs. */
  find(globs: readonly string[], input: string): Promise<FoundFiles>
  /** A variable that was passed to the files; undefined when it is not set. No other variable of the process can be read. */
  variable(name: string): string | undefined
  /** A variable of the process that begins with `WEBHOOK_`: a secret for a webhook. Undefined when it is not set. */
  secret(name: string): string | undefined
  /** `owner/repo` of the workflow, or the path of the project in GitLab CI. Undefined elsewhere. */
  readonly workflowRepository: string | undefined
  /** `host/owner/repo` of the workflow, of the job in GitLab CI, or of the clone's remote on the command line. Undefined without one. */
  repository(): Promise<string | undefined>
  /** Whether the files may be those of a pull request from a fork. Only a run on GitHub or in GitLab CI knows. */
  mayBeFromFork(): Promise<boolean>
  /** Who started the job, and its page, where a forge runs it. */
  readonly ranBy: { readonly actor?: string; readonly page?: string }
  /** `owner/repo` of the clone's remote, on the command line only. Undefined elsewhere, and without a remote. */
  remoteRepository(): Promise<string | undefined>
  /** The nearest config file above the workspace, such as `../.watchkeeper.yml`, which is not read. Undefined where the workspace has one. */
  configAbove(): Promise<string | undefined>
}

/** A deployment of the workflow's repository. */
export interface Deployment {
  readonly atMs: number
  readonly environment: string
  /** Branch, tag or commit. */
  readonly ref: string
  /** The first characters of the commit. */
  readonly commit: string
}

/** Reads the deployments that began in a period, oldest first, or why they cannot be read. */
export type ReadDeployments = (period: {
  readonly fromMs: number
  readonly toMs: number
}) => Promise<readonly Deployment[] | { readonly unread: string }>

/** For `organization` and `organization-or-server`, `service-id` is optional. */
type TargetOf<S extends Scope> = S extends 'service'
  ? Service
  : S extends 'service-or-server'
    ? Target
    : S extends 'organization-or-server'
      ? Target | undefined
      : Service | undefined

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
  /** From `rules` in the repository's config file. */
  readonly lintSettings: LintSettings
  /** The environment that the input `env` names. */
  readonly environment?: NamedEnvironment | undefined
  /** Undefined where the run has no forge that knows deployments. */
  readonly readDeployments?: ReadDeployments | undefined
  /** Aborted when no more requests may be sent. */
  readonly stop: AbortSignal
  /** Asks the person at the terminal. Throws kind `canceled` when the answer is no. Undefined where the run asks no one, or `asksFirst` is not set. */
  readonly confirm: ((review: Review) => Promise<void>) | undefined
  /** Writes a line about a decision to the debug log. Without the log, nothing happens. */
  debug(line: string): void
  /** Reports progress of a long operation. Awaited, because a killed run leaves nothing else behind. */
  progress(progress: Progress): Promise<void>
}

/** What a person confirms. */
export interface Review {
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
  /** The content of its file, with `overrides`. */
  readonly document: ReadDocument
}

/** Severities of rules by their ids. */
export type LintSettings = Readonly<Record<string, Severity | 'off'>>

export interface Progress {
  readonly done: number
  readonly total: number
  /** The last step. */
  readonly line: Line
  /** Builds the result so far. This takes time in proportion to the number of objects. */
  result(): Promise<object>
}

export interface Verdict {
  /** `error`: the operation did not complete; `warn-only` does not apply to it. */
  readonly status: Status
  /** Empty for `pass`. */
  readonly reasons: readonly Line[]
  /**
   * One or more whole sentences for the first line of the report, the reason first. The reasons are then more sentences. Without it, the
   * first line consists of the headline and the reasons.
   */
  readonly sentence?: Line
  /** The exit code of the command line, where it is not that of a failed gate or an error. */
  readonly exit?: 'input' | 'partlyApplied' | 'denied' | 'canceled'
}

/** The verdict without a reason to warn or fail. */
export const pass: Verdict = { status: 'pass', reasons: [] }

/** A diagnostic beside the user's files. One about an object of the service or an input has no location. */
export type Annotation = Omit<Diagnostic, 'location'> & Partial<Pick<Diagnostic, 'location'>>

export interface Report {
  /** The result in one line that makes sense by itself. */
  readonly headline: Line
  readonly blocks: readonly Block[]
  /** The services of the report for its last line, where the names are known. Otherwise the last line has the service id. */
  readonly services?: Line
  /** Shown beside the lines of the user's files. */
  readonly annotations?: readonly Annotation[]
  /** Lines that a notification shows below the first line of the report. */
  readonly keyLines?: readonly Line[]
  /** Events that are worth a notification whatever the verdict is. */
  readonly milestones?: readonly Line[]
}

/** A file that the user asked for. */
export interface OutputFile {
  /** The input that named it, by its camelCase name. */
  readonly input: string
  readonly path: string
  /** Pieces are written one after the other, and can be read once. */
  readonly content: string | Iterable<string>
  /** The run fails if the file cannot be written. */
  readonly isEssential?: true
  /** The user did not name this path, so it must be inside the workspace and lead through no link. */
  readonly staysInWorkspace?: true
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
  readonly effect: E
  readonly scope: S
  /** The scope with these inputs, for an operation that sends requests only on demand. */
  scopeWith?(values: Partial<z.output<I>>): Scope
  /** Only for the command line and the library. */
  readonly isOutsideOfAction?: true
  /** The profiles that it needs one of; absent where it works with every API. */
  readonly profiles?: readonly ProfileName[]
  /** Why other servers cannot have it, as the end of a sentence. */
  readonly profilesReason?: string
  /** May change or delete existing objects. At a terminal, a person confirms that. */
  readonly asksFirst?: true
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

/** For operations without outputs of their own, or whose result has no other fields. */
export const noFields = z.looseObject({})

/** Infers the types of one operation from its schemas. */
export const defineOperation = <E extends Effect, S extends Scope, I extends z.ZodObject, O extends z.ZodObject, D extends z.ZodObject>(
  operation: Operation<E, S, I, O, D>,
): Operation<E, S, I, O, D> => operation

/** Kinds of errors: those of exceptions, and of a run that ended with a result although a part of its work is missing. */
const errorKinds = [...keysOf<keyof typeof exitCodeOfKind>(exitCodeOfKind), 'incomplete'] as const

/** Why a run has the status `error`, for programs. */
export const resultErrorSchema = z.object({
  kind: z
    .enum(errorKinds)
    .describe('What failed. Stable between versions. `incomplete`: a part of the work is missing, as the fields of the result show.'),
  message: z.string().describe('What failed, why, and what to do. For people: it can change.'),
  diagnostics: z
    .array(diagnosticSchema.readonly())
    .readonly()
    .describe('For wrong input: each problem, with its input or its place in a file.'),
  retryable: z.boolean().describe('Whether the same command may succeed later, and can be run again without harm.'),
  httpStatus: z.int().exactOptional().describe('HTTP status of the last answer, if there was one.'),
  nextCommand: z.string().exactOptional().describe('The next command to try. Only on the command line.'),
})

export type ResultError = Readonly<z.output<typeof resultErrorSchema>>

/** The fields that the results of all operations share. */
export const commonResultSchema = z.object({
  operation: z.string(),
  status: z.enum(statuses),
  failureReason: z.string().describe('In one line; empty for `pass`.'),
  requestId: z.string().exactOptional().describe("The API's id of the last answer."),
  organizationId: z.string().exactOptional(),
  serviceId: z.string().exactOptional(),
  serverUrl: z.string().exactOptional().describe('Base URL of the API of a self-hosted server.'),
  error: resultErrorSchema.exactOptional().describe('For the status `error`.'),
})

/**
 * The full result, for outputs, result file and `--json`: common fields, and those of the operation. Fleet reports need the ids of
 * organization and service.
 */
export interface ResultDocument extends Readonly<z.output<typeof commonResultSchema>> {
  readonly [field: string]: unknown
}

/** The result of a run, for every entry point. */
export interface RunResult {
  readonly document: ResultDocument
  /** Outputs of the action by their kebab-case names, without `result` and `result-file`. */
  readonly outputs: Readonly<Record<string, string>>
  readonly blocks: readonly Block[]
  /** Files that the user asked for. */
  readonly files: readonly OutputFile[]
  readonly annotations: readonly Annotation[]
  /** See `Report`. */
  readonly keyLines: readonly Line[]
  readonly milestones: readonly Line[]
  /** A gate failed, or the operation did not complete; also where `warn-only` makes it a warning. */
  readonly hasFailed: boolean
  /** Exit code of the command line. */
  readonly exitCode: number
  /** The library throws it again. */
  readonly error?: WatchkeeperError
}

/** The organization and service, or the self-hosted server of a run, and its last request. */
export type RunSubject = Pick<ResultDocument, 'requestId' | 'organizationId' | 'serviceId' | 'serverUrl'>
