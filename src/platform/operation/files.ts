/** Files inside the workspace that match globs. */
export interface FoundFiles {
  /** Sorted. */
  readonly paths: readonly string[]
  /** Those that are links to files. Absent without any. */
  readonly links?: readonly string[]
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
  /**
   * Reads a UTF-8 file. Throws an InputError that names `input` when the file cannot be read, or is outside of the workspace without
   * `mayBeOutside`, which is for a path that a person typed.
   */
  read(path: string, input: string, mayBeOutside?: boolean): Promise<string>
  /** Files inside the workspace that match any of the globs. */
  find(globs: readonly string[], input: string): Promise<FoundFiles>
  /** A variable that was passed to the files; undefined when it is not set. No other variable of the process can be read. */
  variable(name: string): string | undefined
  /** A variable of the process that begins with `WEBHOOK_`: a secret for a webhook. Undefined when it is not set. */
  secret(name: string): string | undefined
  /** `owner/repo` of the workflow. Undefined elsewhere. */
  readonly workflowRepository: string | undefined
  /** `host/owner/repo` of the workflow, or of the clone's remote on the command line. Undefined without one. */
  repository(): Promise<string | undefined>
  /** Whether the files may be those of a pull request from a fork. Only a run on GitHub knows. */
  mayBeFromFork(): Promise<boolean>
  /** Who started the job, and its page, on GitHub. */
  readonly ranBy: { readonly actor?: string; readonly page?: string }
  /** `owner/repo` of the clone's remote, on the command line only. Undefined elsewhere, and without a remote. */
  remoteRepository(): Promise<string | undefined>
  /** The nearest config file above the workspace, such as `../.watchkeeper.yml`, which is not read. Undefined where the workspace has one. */
  configAbove(): Promise<string | undefined>
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
