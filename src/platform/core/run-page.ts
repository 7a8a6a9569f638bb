import type { Variables } from './variables.ts'

/** Page of this run on GitHub. Undefined elsewhere, and when variables are missing or unusual. */
export function runPageOf(env: Variables): string | undefined {
  const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: attempt = '' } = env
  const repository = repositoryPageOf(env)
  if (repository === undefined || !/^\d{1,20}$/.test(id)) return undefined
  const again = /^[1-9]\d{0,5}$/.test(attempt) ? `/attempts/${attempt}` : ''
  return `${repository}/actions/runs/${id}${again}`
}

/** Page of an issue of this run's repository. Undefined where the page of the repository is unknown. */
export function issuePageOf(env: Variables, number: number): string | undefined {
  const repository = repositoryPageOf(env)
  return repository && `${repository}/issues/${number}`
}

/** Page of this run's repository on GitHub. Undefined elsewhere, and when variables are missing or unusual. */
export function repositoryPageOf({ GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: repository = '' }: Variables): string | undefined {
  return /^https?:\/\/[\w.:-]+(?:\/[\w./-]*)?$/.test(server) && isRepositoryName(repository)
    ? `${server.replace(/\/$/, '')}/${repository}`
    : undefined
}

/** `owner/name` of a repository on GitHub. */
export const isRepositoryName = (text: string): boolean => /^[\w-][\w.-]{0,99}\/(?!\.{1,2}$)[\w.-]{1,100}$/.test(text)
