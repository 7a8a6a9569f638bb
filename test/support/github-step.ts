// Runs the built action as a step of a workflow that keeps a comment or an issue on GitHub.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type GitHubServer, token } from './github-server.ts'
import { pullRequestEvent, runnerEnvironment } from './notify.ts'
import { type ActionOptions, type RanAction, runAction } from './run.ts'

export interface GitHubStepOptions extends ActionOptions {
  /** The event's payload; a pull request from the repository itself unless said otherwise. */
  readonly event?: unknown
}

export async function runGitHubStep(
  github: GitHubServer,
  { event = pullRequestEvent(12), ...options }: GitHubStepOptions,
): Promise<RanAction> {
  const directory = await mkdtemp(join(tmpdir(), 'watchkeeper-event-'))
  try {
    await writeFile(join(directory, 'event.json'), JSON.stringify(event))
    return await runAction({
      ...options,
      inputs: { 'github-token': token, ...options.inputs },
      env: {
        ...runnerEnvironment(github.url),
        GITHUB_EVENT_NAME: 'pull_request',
        GITHUB_EVENT_PATH: join(directory, 'event.json'),
        ...options.env,
      },
      secrets: [token, ...(options.secrets ?? [])],
    })
  } finally {
    await rm(directory, { recursive: true })
  }
}
