// Owns what the runner says of the run in its variables. A fault in them is a problem to tell, not one to fail with.
import { parseApiUrl } from '../api/address.ts'
import { type ProxySettings, readProxySettings } from '../api/proxy.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface Run {
  readonly owner: string
  readonly repository: string
  /** Base url of GitHub's API, on github.com or on a server of one's own. */
  readonly apiUrl: URL
  readonly proxy: ProxySettings
  /** Page of this run; undefined when the variables do not make one up. */
  readonly url: string | undefined
  readonly workflow: string
  readonly job: string
  readonly step: string
  readonly eventFile: string | undefined
  readonly commit: string
}

const repositoryGrammar = /^([\w-][\w.-]{0,99})\/([\w.-]{1,100})$/
const commitGrammar = /^[0-9a-f]{40,64}$/

export function readRun(env: Environment): { readonly run: Run } | { readonly problem: string } {
  const [, owner, repository] = repositoryGrammar.exec(env.GITHUB_REPOSITORY ?? '') ?? []
  if (owner === undefined || repository === undefined || /^\.\.?$/.test(repository))
    return { problem: 'GITHUB_REPOSITORY is no owner/name' }
  const address = parseApiUrl(env.GITHUB_API_URL || 'https://api.github.com')
  if ('problem' in address) return { problem: `GITHUB_API_URL ${address.problem}` }
  const proxy = readProxySettings(env)
  const [fault] = proxy.problems
  if (fault !== undefined) return { problem: `${fault.name} ${fault.message}` }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    return { problem: 'NODE_TLS_REJECT_UNAUTHORIZED is 0, which would send the token to anybody' }
  return { run: { owner, repository, apiUrl: address.url, proxy: proxy.settings, ...factsOf(env) } }
}

function factsOf(env: Environment): Omit<Run, 'owner' | 'repository' | 'apiUrl' | 'proxy'> {
  const { GITHUB_WORKFLOW: workflow = '', GITHUB_JOB: job = '', GITHUB_ACTION: step = '', GITHUB_SHA: commit = '' } = env
  return {
    url: pageOf(env),
    workflow,
    job,
    step,
    eventFile: env.GITHUB_EVENT_PATH || undefined,
    commit: commitGrammar.test(commit) ? commit : '',
  }
}

function pageOf({
  GITHUB_SERVER_URL: server = '',
  GITHUB_REPOSITORY,
  GITHUB_RUN_ID: id = '',
  GITHUB_RUN_ATTEMPT: attempt = '',
}: Environment) {
  if (!/^https?:\/\/[\w.:-]+(?:\/[\w./-]*)?$/.test(server) || !/^\d{1,20}$/.test(id)) return undefined
  const again = /^[1-9]\d{0,5}$/.test(attempt) ? `/attempts/${attempt}` : ''
  return `${server.replace(/\/$/, '')}/${GITHUB_REPOSITORY}/actions/runs/${id}${again}`
}
