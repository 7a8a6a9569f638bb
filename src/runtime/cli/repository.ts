import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

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

/** `host/owner/repo`, without user and port. Undefined without Git, without a remote, and for a path. */
export async function remoteAddress(directory: string): Promise<string | undefined> {
  const { execFile } = await import('node:child_process')
  return new Promise((resolve) => {
    const args = ['config', '--get', 'remote.origin.url']
    execFile('git', args, { cwd: directory, timeout: 5000 }, (_error, stdout) => resolve(addressIn(stdout.trim())))
  })
}

/** `owner/repo`: the last two parts of the address. */
export const remoteRepository = async (directory: string): Promise<string | undefined> =>
  (await remoteAddress(directory))?.split('/').slice(-2).join('/')

/** Reads `https://host/owner/repo.git`, `git@host:owner/repo` or `ssh://git@host:22/group/owner/repo/`. */
export function addressIn(url: string): string | undefined {
  const [, host, path] =
    /^[a-z+]+:\/\/(?:[^/@]*@)?([\w.-]+)(?::\d+)?\/+([\w./-]+?)(?:\.git)?\/?$/.exec(url) ??
    /^[^/:@]+@([\w.-]+):\/?([\w./-]+?)(?:\.git)?\/?$/.exec(url) ??
    []
  return host === undefined || path?.includes('/') !== true ? undefined : `${host}/${path}`
}
