import { runPageOf } from '../../core/run-page.ts'
import type { Variables } from '../../core/variables.ts'
import { readConnection } from '../connection.ts'
import { commitGrammar, type Run } from '../forge.ts'

/** A job of GitLab CI. */
export interface GitLabRun extends Run {
  /** The number of the project. */
  readonly projectId: string
}

const numberGrammar = /^[1-9]\d{0,15}$/

/** Reads the variables of the job: https://docs.gitlab.com/ci/variables/predefined_variables/. */
export async function readGitLabRun(env: Variables): Promise<{ readonly run: GitLabRun } | { readonly problem: string }> {
  const { CI_PROJECT_ID: projectId = '', CI_MERGE_REQUEST_IID: number = '', CI_JOB_NAME: job = '' } = env
  if (!numberGrammar.test(projectId)) return { problem: 'CI_PROJECT_ID is not a number' }
  if (!env.CI_API_V4_URL) return { problem: 'CI_API_V4_URL is not set' }
  const connection = readConnection('CI_API_V4_URL', env.CI_API_V4_URL, env)
  if ('problem' in connection) return connection
  // The files of a fork are those of its author, and its pipeline must not write with the rights of this project.
  if (isFromFork(env)) return { problem: 'not written, because the merge request is from a fork' }
  const run: GitLabRun = {
    ...connection,
    projectId,
    url: runPageOf(env),
    job,
    labelParts: [job],
    commit: commitOf(env),
    pullRequest: numberGrammar.test(number) ? Number(number) : undefined,
    isFromFork: false,
  }
  return { run }
}

/**
 * Whether the merge request is from a fork, or may be. A pipeline of a merge request runs in the project of the fork, or in the target
 * project when a member starts it there: https://docs.gitlab.com/ci/pipelines/merge_request_pipelines/.
 */
export function isFromFork(env: Variables): boolean {
  const { CI_PROJECT_ID: project, CI_MERGE_REQUEST_PROJECT_ID: target, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: source } = env
  const isMergeRequest = env.CI_PIPELINE_SOURCE === 'merge_request_event' || Boolean(source) || Boolean(target)
  return isMergeRequest && (source === undefined || source !== target || source !== project)
}

/** The head of the merge request. In a merged results pipeline, CI_COMMIT_SHA is a merge commit. */
function commitOf({ CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head, CI_COMMIT_SHA: commit }: Variables): string {
  return [head, commit].find((one) => one !== undefined && commitGrammar.test(one)) ?? ''
}
