import type { Variables } from '../../platform/core/variables.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { Deployment, NewerFiles } from '../../platform/operation/operation.ts'
import { type GitHubClient, openGitHub } from './client.ts'
import { describeAnswer, toGitHubError } from './failure.ts'
import { defaultLimits } from './requests.ts'
import { readGitHubRun } from './run.ts'

interface Access {
  readonly env: Variables
  readonly token: string | undefined
  readonly deps: SendDeps
  /** The time until the deadline of the run. */
  readonly remainingMs: number
}

interface Unread {
  readonly unread: string
}

/** What GitHub answers, or why it cannot be read, and what may be missing. */
async function ask<T>(
  { env, token, deps, remainingMs }: Access,
  missing: string,
  question: (client: GitHubClient) => Promise<T>,
): Promise<T | Unread> {
  const read = await readGitHubRun(env)
  if ('problem' in read) return { unread: read.problem }
  if (token === undefined) return { unread: 'github-token is not set' }
  const client = await openGitHub(read.run, token, deps, { ...defaultLimits, totalMs: remainingMs })
  try {
    return await question(client)
  } catch (thrown) {
    const { failure } = toGitHubError(thrown)
    return { unread: `${describeAnswer(failure)}${failure.status === 403 || failure.status === 404 ? `. ${missing}` : ''}` }
  } finally {
    await client.close()
  }
}

/** The deployments of the workflow's repository that began in a period, oldest first, or why they could not be read. */
export const listDeployments = (access: Access, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) =>
  ask(access, 'Grant the job deployments: read', async (client): Promise<readonly Deployment[]> => {
    const found: Deployment[] = []
    for await (const one of client.deployments()) {
      // GitHub lists the newest first, and cannot limit the list to a period.
      if (one.atMs < fromMs) break
      if (one.atMs <= toMs) found.push(one)
    }
    return found.toReversed()
  })

/**
 * The head of the run's branch, where files that the run reads differ from those that are checked out, so that the run would undo what a
 * newer one applied. Undefined for a tag and a pull request, and with a note where the files cannot be compared. `isRead` gets paths in
 * the repository.
 */
export async function findNewerFiles(
  access: Access,
  checkedOut: string | undefined,
  isRead: (path: string) => boolean,
): Promise<NewerFiles | undefined> {
  const read = await readGitHubRun(access.env)
  const branch = 'run' in read ? read.run.branch : 'the branch'
  if (branch === '') return undefined
  const missing = 'The branch is gone, or the job needs contents: read'
  const found = await ask(access, missing, async (client): Promise<NewerFiles | Unread | undefined> => {
    if (checkedOut === undefined) return { unread: 'the commit that is checked out is unknown' }
    const commit = await client.headOf(branch)
    if (commit === checkedOut) return undefined
    const [ours, theirs] = [await client.filesOf(checkedOut), await client.filesOf(commit)]
    const isOther = (path: string): boolean => ours.get(path) !== theirs.get(path) && isRead(path)
    return [...ours.keys(), ...theirs.keys()].some(isOther) ? { branch, commit } : undefined
  })
  if (found === undefined || !('unread' in found)) return found
  access.deps.note(`The files are not compared with the head of ${branch}: ${found.unread}`)
  return undefined
}
