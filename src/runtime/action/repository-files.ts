import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Location } from '../../platform/core/diagnostics.ts'
import { uriPath } from '../../platform/core/escape.ts'
import { repositoryPageOf } from '../../platform/core/run-page.ts'
import type { Variables } from '../../platform/core/variables.ts'

interface Checkout {
  readonly root: string
  /** Page of the files on GitHub. Undefined for another repository than that of the run. */
  readonly page: string | undefined
}

/** Where the files of the workspace are in their repository. `path` of actions/checkout puts it below the workspace. */
export function createRepositoryFiles(workspace: string, env: Variables) {
  const known = new Map<string, Checkout>()
  const find = (file: string) => {
    const absolute = resolve(workspace, file)
    const directory = dirname(absolute)
    const checkout = known.get(directory) ?? readCheckout(directory, workspace, env)
    known.set(directory, checkout)
    return { page: checkout.page, path: relative(checkout.root, absolute).split(sep).join('/') }
  }
  return {
    /** The path from the root of the repository. */
    pathOf: (file: string): string => find(file).path,
    /** Page of the line on GitHub. Undefined for a file without lines, such as the name of an input. */
    linkTo({ file, line }: Location): string | undefined {
      if (line === undefined) return undefined
      const { page, path } = find(file)
      return page && `${page}/${uriPath(path)}#L${line}`
    },
  }
}

function readCheckout(directory: string, workspace: string, env: Variables): Checkout {
  if (existsSync(join(directory, '.git'))) {
    const [repository, commit] = [repositoryPageOf(env), readCommit(directory)]
    const isOfRun = new RegExp(`^\\s*url = .*[/:]${RegExp.escape(env.GITHUB_REPOSITORY ?? '')}(?:\\.git)?$`, 'im')
    const isKnown = commit !== undefined && isOfRun.test(readText(directory, 'config'))
    return { root: directory, page: repository && isKnown ? `${repository}/blob/${commit}` : undefined }
  }
  const parent = dirname(directory)
  return parent === directory ? { root: workspace, page: undefined } : readCheckout(parent, workspace, env)
}

/**
 * The commit that is checked out, because the lines that a run reports are those of its files. In a pull request, this is usually the merge
 * commit: lines of the head may have other numbers, and GitHub shows the merge commit as long as it keeps it. The runner's variable has
 * another commit where a workflow checks out a `ref`.
 */
function readCommit(directory: string): string | undefined {
  const head = readText(directory, 'HEAD')
  const [, branch] = /^ref: (refs\/heads\/.+)\n$/.exec(head) ?? []
  const commit = (branch === undefined ? head : readText(directory, branch)).trim()
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

function readText(directory: string, file: string): string {
  try {
    return readFileSync(join(directory, '.git', file), 'utf8')
  } catch {
    return ''
  }
}
