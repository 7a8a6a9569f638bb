type Environment = Readonly<Record<string, string | undefined>>

/** Page of this run on GitHub. Undefined outside of GitHub, and when variables are missing or unusual. */
export function runPageOf({
  GITHUB_SERVER_URL: server = '',
  GITHUB_REPOSITORY: repository = '',
  GITHUB_RUN_ID: id = '',
  GITHUB_RUN_ATTEMPT: attempt = '',
}: Environment): string | undefined {
  if (!/^https?:\/\/[\w.:-]+(?:\/[\w./-]*)?$/.test(server) || !isRepositoryName(repository) || !/^\d{1,20}$/.test(id)) return undefined
  const again = /^[1-9]\d{0,5}$/.test(attempt) ? `/attempts/${attempt}` : ''
  return `${server.replace(/\/$/, '')}/${repository}/actions/runs/${id}${again}`
}

/** `owner/name` of a repository on GitHub. */
const isRepositoryName = (text: string): boolean => /^[\w-][\w.-]{0,99}\/(?!\.{1,2}$)[\w.-]{1,100}$/.test(text)
