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
export const remoteRepository = async (directory: string): Promise<string | undefined> =>
  repositoryIn(await git(directory, ['config', '--get', 'remote.origin.url']))

/** `host/owner/repo` of the remote `origin`, without user and port. Undefined without Git, without a remote, and for a path. */
export const remoteAddress = async (directory: string): Promise<string | undefined> =>
  addressIn(await git(directory, ['config', '--get', 'remote.origin.url']))

/** What a command of Git prints. Empty when it fails. */
async function git(directory: string, args: readonly string[]): Promise<string> {
  const { execFile } = await import('node:child_process')
  return new Promise((resolve) => {
    execFile('git', args, { cwd: directory, timeout: 5000 }, (_error, stdout) => resolve(stdout.trim()))
  })
}

/** The last two parts of `https://host/owner/repo.git`, `git@host:owner/repo` or `ssh://git@host:22/owner/repo/`. */
const repositoryIn = (url: string): string | undefined =>
  /^(?:[a-z+]+:\/\/[^/]+\/|[^/:]+@[^/:]+:)(?:[^?#]*\/)?([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url)?.[1]

/** Host and whole path of the same forms of URL: GitLab has groups in groups. */
export function addressIn(url: string): string | undefined {
  const [, host, path] =
    /^[a-z+]+:\/\/(?:[^/@]*@)?([\w.-]+)(?::\d+)?\/+([\w./-]+?)(?:\.git)?\/?$/.exec(url) ??
    /^[^/:@]+@([\w.-]+):\/?([\w./-]+?)(?:\.git)?\/?$/.exec(url) ??
    []
  return host === undefined || path?.includes('/') !== true ? undefined : `${host}/${path}`
}
