export interface FoundFiles {
  readonly paths: readonly string[]
  /** Those that are links to files. Absent without any. */
  readonly links?: readonly string[]
  /** Directories that wildcards did not enter, and that may have files that match. Sorted. */
  readonly skipped: readonly SkippedDirectory[]
}

export interface SkippedDirectory {
  readonly path: string
  /** The end of a sentence, such as `is a link to a directory`. */
  readonly reason: string
}

export interface Files {
  /**
   * Throws an InputError that names `input`, also for a path outside of the workspace without `mayBeOutside`, which is for a path that a
   * person typed.
   */
  read(path: string, input: string, mayBeOutside?: boolean): Promise<string>
  find(globs: readonly string[], input: string): Promise<FoundFiles>
  /** Throws an InputError where a workflow has an empty workspace. */
  demandCheckout(input: string): Promise<void>
  /** A variable that was passed to the files. No other variable of the process can be read. */
  variable(name: string): string | undefined
  /** A variable of the process that begins with `WEBHOOK_`. */
  secret(name: string): string | undefined
  /** `owner/repo`, in a workflow only. */
  readonly workflowRepository: string | undefined
  /** `host/owner/repo` of the workflow, or of the clone's remote on the command line. */
  repository(): Promise<string | undefined>
  /** Only a run on GitHub knows whether a fork may have the files. */
  mayBeFromFork(): Promise<boolean>
  readonly ranBy: { readonly actor?: string; readonly page?: string }
  /** `owner/repo` of the clone's remote, on the command line only. */
  remoteRepository(): Promise<string | undefined>
  /** `../.watchkeeper.yml`, which is not read. Undefined where the workspace has one. */
  configAbove(): Promise<string | undefined>
}

export interface OutputFile {
  readonly input: string
  readonly path: string
  /** Pieces are written one after the other, and can be read once. */
  readonly content: string | Iterable<string>
  readonly isEssential?: true
  /** The user did not name this path, so it must be inside the workspace and lead through no link. */
  readonly staysInWorkspace?: true
}
