import type { Variables } from '../../platform/core/variables.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { Deployment, NewerFiles } from '../../platform/operation/operation.ts'
import { type GitHubClient, openGitHub } from './client.ts'
import { describeAnswer, GitHubError, toGitHubError } from './failure.ts'
import { defaultLimits } from './requests.ts'
import { readGitHubRun } from './run.ts'

export interface GitHubAccess {
  readonly env: Variables
  readonly githubToken?: string | undefined
  readonly deps: SendDeps
  remainingMs(): number
}

/** Undefined, with a note, where GitHub does not answer. */
async function ask<T>(
  { githubToken, deps, remainingMs }: GitHubAccess,
  found: Awaited<ReturnType<typeof readGitHubRun>>,
  words: { readonly failed: string; readonly whyDenied: string },
  question: (client: GitHubClient) => Promise<T>,
): Promise<T | undefined> {
  let client: GitHubClient | undefined
  try {
    if ('problem' in found) throw new GitHubError({ detail: found.problem })
    if (githubToken === undefined) throw new GitHubError({ detail: 'github-token is not set' })
    // A GitHub that hangs leaves the run time for its own work.
    const totalMs = Math.min(defaultLimits.totalMs, remainingMs())
    client = await openGitHub(found.run, githubToken, deps, { ...defaultLimits, totalMs })
    return await question(client)
  } catch (thrown) {
    const { failure } = toGitHubError(thrown)
    const why = failure.status === 403 || failure.status === 404 ? `. ${words.whyDenied}` : ''
    deps.note(`${words.failed}: ${describeAnswer(failure)}${why}`)
    return undefined
  } finally {
    await client?.close()
  }
}

/** The deployments that began in a period, oldest first. Undefined, with a note, where they cannot be read. */
export async function listDeployments(access: GitHubAccess, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) {
  const words = { failed: 'Deployments are not read', whyDenied: 'Grant the job deployments: read' }
  return ask(access, await readGitHubRun(access.env), words, async (client): Promise<readonly Deployment[]> => {
    const found: Deployment[] = []
    for await (const one of client.deployments()) {
      // GitHub lists the newest first, and cannot limit the list to a period.
      if (one.atMs < fromMs) break
      if (one.atMs <= toMs) found.push(one)
    }
    return found.toReversed()
  })
}

/**
 * The head of the run's branch, where files that the run reads differ from those that are checked out, so that the run would undo what a
 * newer one applied. Undefined for a tag and an open pull request, and with a note where they cannot be compared. `isRead` gets paths in
 * the repository.
 */
export async function findNewerFiles(
  access: GitHubAccess,
  checkedOut: string | undefined,
  isRead: (path: string) => boolean,
): Promise<NewerFiles | undefined> {
  const found = await readGitHubRun(access.env)
  const branch = 'run' in found ? found.run.branch : 'the branch'
  if (branch === '') return undefined
  const words = {
    failed: `The files are not compared with the head of ${branch}`,
    whyDenied: 'The branch is gone, or the job needs contents: read',
  }
  return ask(access, found, words, async (client) => {
    if (checkedOut === undefined) throw new GitHubError({ detail: 'the commit that is checked out is unknown' })
    const commit = await client.headOf(branch)
    if (commit === checkedOut) return undefined
    const [ours, theirs] = [await client.filesOf(checkedOut), await client.filesOf(commit)]
    const isOther = (path: string): boolean => ours.get(path) !== theirs.get(path) && isRead(path)
    return [...ours.keys(), ...theirs.keys()].some(isOther) ? { branch, commit } : undefined
  })
}
