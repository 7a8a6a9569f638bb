import type { Variables } from './variables.ts'

export function runPageOf(env: Variables): string | undefined {
  const { GITHUB_RUN_ID: id = '', GITHUB_RUN_ATTEMPT: attempt = '' } = env
  const repository = repositoryPageOf(env)
  if (repository === undefined || !/^\d{1,20}$/.test(id)) return undefined
  const again = /^[1-9]\d{0,5}$/.test(attempt) ? `/attempts/${attempt}` : ''
  return `${repository}/actions/runs/${id}${again}`
}

export function issuePageOf(env: Variables, number: number): string | undefined {
  const repository = repositoryPageOf(env)
  return repository && `${repository}/issues/${number}`
}

/** Undefined outside of GitHub, and when variables are missing or unusual. */
export function repositoryPageOf({ GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: repository = '' }: Variables): string | undefined {
  return /^https?:\/\/[\w.:-]+(?:\/[\w./-]*)?$/.test(server) && isRepositoryName(repository)
    ? `${server.replace(/\/$/, '')}/${repository}`
    : undefined
}

/** `owner/name` */
export const isRepositoryName = (text: string): boolean => /^[\w-][\w.-]{0,99}\/(?!\.{1,2}$)[\w.-]{1,100}$/.test(text)
