// The repository that a directory is in, as Git knows it.
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The nearest directory with a `.git`, from `directory` upwards. Undefined without one. */
export async function repositoryRoot(directory: string): Promise<string | undefined> {
  // A directory, or the file that a worktree or a submodule has.
  const isThere = await lstat(join(directory, '.git')).then(
    () => true,
    () => false,
  )
  if (isThere) return directory
  const above = dirname(directory)
  return above === directory ? undefined : repositoryRoot(above)
}

/** `owner/repo` of the remote `origin`. Undefined without Git, without a remote, and for a URL without these parts. */
export async function remoteRepository(directory: string): Promise<string | undefined> {
  const { execFile } = await import('node:child_process')
  const url = await new Promise<string>((resolve) => {
    execFile('git', ['config', '--get', 'remote.origin.url'], { cwd: directory, timeout: 5000 }, (_error, stdout) => resolve(stdout.trim()))
  })
  return repositoryIn(url)
}

/** The last two parts of `https://host/owner/repo.git`, `git@host:owner/repo` or `ssh://git@host:22/owner/repo/`. */
const repositoryIn = (url: string): string | undefined =>
  /^(?:[a-z+]+:\/\/[^/]+\/|[^/:]+@[^/:]+:)(?:[^?#]*\/)?([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url)?.[1]
