import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { demo } from '../../../src/emulator/index.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { token, useGitHub } from '../../support/github-server.ts'
import { runnerEnvironment } from '../../support/notify.ts'
import { runCli } from '../../support/run-process.ts'
import { type RunnableJob, repository, runJobs } from '../../support/run-workflow.ts'

let directory: string
beforeEach(() => {
  const created = mkdtempSync(join(tmpdir(), 'watchkeeper-init-'))
  directory = join(created, 'repository')
  mkdirSync(join(directory, '.git'), { recursive: true })
  onTestFinished(() => rmSync(created, { recursive: true }))
})

const filesThere = (): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
    .sort()

describe('from init to alerts that are as declared', () => {
  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
  const selfHosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })
  const gitHub = useGitHub()
  const variables = { SERVICE_NAME: 'checkout', WEBHOOK_NAME: 'oncall', ERRORS_PER_FIVE_MINUTES: '20' }

  /** Runs the workflows of the kits with the settings, all of which the next steps have to ask for. */
  async function initWith(words: readonly string[], apiUrl: string, settings: Readonly<Record<string, string>>) {
    const { stdout } = await runCli(['init', ...words], {}, { directory })
    const set: Readonly<Record<string, string>> = { ...settings, ...variables }
    const unasked = Object.keys(set).filter((name) => !new RegExp(`gh (?:secret|variable) set ${name}\\b`).test(stdout))
    if (unasked.length > 0) throw new Error(`init does not ask for ${unasked.join(', ')}`)
    const files = Object.fromEntries(filesThere().map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
    const run = async (name: string, github: object) => {
      const { jobs } = parse(files[`.github/workflows/watchkeeper-${name}.yml`] ?? '') as { jobs: Readonly<Record<string, RunnableJob>> }
      const values = { github: { repository, token, ...github }, secrets: set, vars: set }
      // In the place of the cloud's address.
      const env = { ...runnerEnvironment(gitHub().url), GITHUB_REF_NAME: 'main', WATCHKEEPER_API_URL: apiUrl }
      const [ran] = Object.values(await runJobs(jobs, { values, env, files }))
      return ran
    }
    return { stdout, files, run, resultOf: async (name: string, github: object) => (await run(name, github))?.result }
  }

  const from = (fullName: string) => ({ event_name: 'pull_request', event: { pull_request: { head: { repo: { full_name: fullName } } } } })

  it('plans, applies, and opens a pull request for drift, once what it asks for is set', async () => {
    const { stdout, files, run, resultOf } = await initWith(['plan-and-apply', 'drift', 'drift-pull-request'], cloud().url, {
      WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
      WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
      WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
      WATCHKEEPER_SERVICE_ID: demo.services.checkout,
    })
    expect(stdout).toContain('Allow GitHub Actions to create and approve pull requests')
    expect(await resultOf('plan', from('eve/infra'))).toBe('skipped')
    expect(await resultOf('plan', from(repository))).toBe('success')
    expect(await resultOf('drift', {})).toBe('failure')
    expect(await resultOf('apply', { ref: 'refs/heads/next' })).toBe('skipped')
    expect(await resultOf('apply', { ref: 'refs/heads/main' })).toBe('success')
    expect(await resultOf('drift', {})).toBe('success')
    for (const alert of serviceOf(cloud()).alerts) if (alert.threshold === 0.02) alert.threshold = 0.05
    const drift = await run('drift-pull-request', {})
    expect(drift?.result).toBe('success')
    const pulled = drift?.pullRequests[0]?.files['observability/service.yml']
    expect(pulled?.replace(/^ +adopt: .*\n/m, '')).toBe(files['observability/service.yml']?.replace('threshold: 0.02', 'threshold: 0.05'))
  })

  it('plans and applies with a self-hosted server, once what it asks for is set', async () => {
    const settings = { WATCHKEEPER_API_KEY: demo.apiKeySecret, WATCHKEEPER_API_URL: selfHosted().url }
    const { run, resultOf } = await initWith(['self-hosted', 'drift', 'drift-pull-request'], selfHosted().url, settings)
    const before = serviceOf(selfHosted()).alerts.length
    expect(await resultOf('self-hosted', from('eve/infra'))).toBe('skipped')
    expect(await resultOf('self-hosted', from(repository))).toBe('success')
    expect(serviceOf(selfHosted()).alerts).toHaveLength(before)
    expect(await resultOf('self-hosted', { event_name: 'push', ref: 'refs/heads/main' })).toBe('success')
    expect(serviceOf(selfHosted()).alerts).toHaveLength(before + 5)
    expect(await resultOf('self-hosted-drift', {})).toBe('success')
    for (const alert of serviceOf(selfHosted()).alerts) if (alert.threshold === 0.02) alert.threshold = 0.05
    expect(await resultOf('self-hosted-drift', {})).toBe('failure')
    const drift = await run('self-hosted-drift-pull-request', {})
    expect(drift?.pullRequests[0]?.files['observability/service.yml']).toContain('threshold: 0.05')
  })
})
