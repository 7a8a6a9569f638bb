import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Location } from '../../platform/core/diagnostics.ts'
import { uriPath } from '../../platform/core/escape.ts'
import { repositoryPageOf } from '../../platform/core/run-page.ts'
import type { Variables } from '../../platform/core/variables.ts'

interface Checkout {
  readonly root: string
  readonly commit: string | undefined
  readonly page: string | undefined
}

/** `path` of actions/checkout puts a repository below the workspace. */
export function createRepositoryFiles(workspace: string, env: Variables) {
  const known = new Map<string, Checkout>()
  const find = (file: string) => {
    const absolute = resolve(workspace, file)
    const directory = dirname(absolute)
    const checkout = known.get(directory) ?? readCheckout(directory, workspace, env)
    known.set(directory, checkout)
    return { ...checkout, path: relative(checkout.root, absolute).split(sep).join('/') }
  }
  return {
    find,
    /** The path from the root of the run's repository, or from the workspace for a file of another one. */
    pathOf: (file: string): string => find(file).path,
    /** Undefined for a file without lines, such as the name of an input. */
    linkTo({ file, line }: Location): string | undefined {
      if (line === undefined) return undefined
      const { page, path } = find(file)
      return page && `${page}/${uriPath(path)}#L${line}`
    },
  }
}

export type RepositoryFiles = ReturnType<typeof createRepositoryFiles>

function readCheckout(directory: string, workspace: string, env: Variables): Checkout {
  const parent = dirname(directory)
  const isRoot = existsSync(join(directory, '.git'))
  if (!isRoot && parent !== directory) return readCheckout(parent, workspace, env)
  // An annotation without the folder of another repository would be on a file of this one.
  if (!isRoot || !isOfRun(directory, env)) return { root: workspace, commit: undefined, page: undefined }
  const [repository, commit] = [repositoryPageOf(env), readCommit(directory)]
  return { root: directory, commit, page: repository && commit && `${repository}/blob/${commit}` }
}

/** Other remotes and submodules have addresses, too. */
function isOfRun(directory: string, { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: repository = '' }: Variables) {
  const [, origin = ''] = /^\[remote "origin"\]([^[]*)/m.exec(readGitText(directory, 'config')) ?? []
  const [, url = ''] = /^[ \t]*url[ \t]*=[ \t]*(\S+)[ \t]*$/m.exec(origin) ?? []
  // https://host/owner/name.git, ssh://git@host:22/owner/name and git@host:owner/name
  const [, host = '', path = ''] = /^(?:\w+:\/\/)?(?:[^@/]*@)?([^/:]+)(?::\d+)?[/:](.+?)(?:\.git)?\/?$/.exec(url) ?? []
  return `${host}/${path}`.toLowerCase() === `${URL.parse(server)?.hostname}/${repository}`.toLowerCase()
}

/**
 * The commit that is checked out, because the lines that a run reports are those of its files. In a pull request, this is usually the merge
 * commit: lines of the head may have other numbers, and GitHub shows the merge commit as long as it keeps it. The runner's variable has
 * another commit where a workflow checks out a `ref`.
 */
function readCommit(directory: string) {
  const head = readGitText(directory, 'HEAD').trim()
  const [, branch] = /^ref: (refs\/heads\/.+)$/.exec(head) ?? []
  const commit =
    branch === undefined
      ? head
      : readGitText(directory, branch).trim() ||
        (readGitText(directory, 'packed-refs')
          .split(/\r?\n/)
          .find((line) => line.endsWith(` ${branch}`))
          ?.split(' ')[0] ??
          '')
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

function readGitText(directory: string, file: string) {
  try {
    return readFileSync(join(directory, '.git', file), 'utf8')
  } catch {
    return ''
  }
}
