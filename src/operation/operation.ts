// Owns what an operation is. The action, the command line, the library, the documentation and the contract tests read this.
import * as z from 'zod'
import type { ReadApi, WriteApi } from '../api/client.ts'
import type { Service } from '../api/path.ts'
import type { Profile } from '../api/profiles.ts'
import type { Clock } from '../core/clock.ts'
import type { Diagnostic, Severity } from '../core/diagnostics.ts'
import type { Block, Line } from '../report/blocks.ts'

/** `read` gets an api without a single method that writes. */
export type Effect = 'read' | 'write'

/** What the operation is about; decides which ids are required. `none` needs neither address nor key. */
export type Scope = 'none' | 'organization' | 'service'

/** The workspace, as far as an operation may see it. */
export interface Files {
  /** Reads a text file. Throws an InputError that names `input` when it may or can not. */
  read(path: string, input: string): Promise<string>
  /** Paths that match any of the globs, sorted; never one outside the workspace. */
  find(globs: readonly string[], input: string): Promise<readonly string[]>
  /** A variable of the environment; undefined when it is not set. */
  variable(name: string): string | undefined
  /** `owner/repo` of the clone's remote, for people at a terminal; undefined elsewhere, and where there is none. */
  remoteRepository(): Promise<string | undefined>
}

export interface Context<E extends Effect, S extends Scope> {
  readonly api: S extends 'none' ? undefined : E extends 'read' ? ReadApi : WriteApi
  readonly organizationId: string
  readonly service: S extends 'service' ? Service : Service | undefined
  readonly profile: Profile
  /** Where requests go, as people know it: scheme, host, port. */
  readonly apiOrigin: S extends 'none' ? undefined : string
  readonly clock: Clock
  readonly files: Files
  /** From `rules` in the repository's config file. */
  readonly lintSettings: LintSettings
  /** Aborted when nothing new may be sent. */
  readonly stop: AbortSignal
  /** Told by operations that take their time, and awaited: a run that is killed leaves this much behind. */
  progress(progress: Progress): Promise<void>
}

/** Severities of rules by their ids. */
export type LintSettings = Readonly<Record<string, Severity | 'off'>>

/** How far an operation is. */
export interface Progress {
  readonly done: number
  readonly total: number
  /** What was done last. */
  readonly line: Line
  /** Makes the result as far as it is known, which takes as long as there are objects: for whoever keeps it. */
  result(): Promise<object>
}

export interface Verdict {
  /** `error`: it could not be done, which nothing softens. */
  readonly status: 'pass' | 'warn' | 'fail' | 'error'
  /** Why it is no `pass`; empty for one. */
  readonly reasons: readonly Line[]
  /** How the command line exits when it is no pass, where that is not as for a failed gate or an error. */
  readonly exit?: 'input' | 'partlyApplied' | 'denied' | 'cancelled'
}

export const pass: Verdict = { status: 'pass', reasons: [] }

export interface Report {
  /** What happened, in one line that can stand alone. */
  readonly headline: Line
  readonly blocks: readonly Block[]
  /** What belongs beside lines of the user's files. */
  readonly annotations?: readonly Diagnostic[]
}

/** A file that the user asked for. */
export interface OutputFile {
  /** The input that named it, by its camelCase name. */
  readonly input: string
  readonly path: string
  readonly content: string
  /**
   * What the operation is there for, rather than a copy of its report: it stays inside the workspace, and the run fails when
   * it cannot be written.
   */
  readonly isEssential?: true
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
  /** Inputs by their camelCase names, each described. */
  readonly input: I
  /** The outputs of the action, by their camelCase names, each described. */
  readonly output: O
  /** What the full result holds beyond the outputs. */
  readonly details: D
  /** A call that works on the emulator's demo data; shown in the documentation and run by a contract test. */
  readonly example: z.input<I>
  /** Rules between inputs. Sees partly invalid input too, so that everything wrong is told at once. */
  check?(given: NoInfer<Given<I>>): readonly Diagnostic[]
  /** Throws a WatchkeeperError when it cannot be done. */
  run(context: Context<E, S>, input: z.output<I>): Promise<z.output<O> & z.output<D>>
  /** Absent where nothing can be failed. */
  judge?(result: z.output<O> & z.output<D>, input: z.output<I>): Verdict
  report(result: z.output<O> & z.output<D>): Report
  /** Turns the result into JSON values. Absent where it holds nothing else. */
  toDocument?(result: z.output<O> & z.output<D>): z.input<O> & z.input<D>
  /** The files that the input asks for; `blocks` are the whole report, verdict and all. */
  files?(result: z.output<O> & z.output<D>, input: z.output<I>, blocks: readonly Block[]): Promise<readonly OutputFile[]>
}

/** For operations whose outputs say it all. */
export const noDetails = z.looseObject({})

/** Infers the types of one operation from its schemas. */
export const defineOperation = <E extends Effect, S extends Scope, I extends z.ZodObject, O extends z.ZodObject, D extends z.ZodObject>(
  operation: Operation<E, S, I, O, D>,
): Operation<E, S, I, O, D> => operation
