// A team, its repository on GitHub, and the services that its workflows apply to: what jobs do, one after the other.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, isDeepStrictEqual } from 'node:util'
import { demo, type Emulator } from '../../src/emulator/index.ts'
import { inputsFor } from './emulator.ts'
import type { GitHubServer } from './github-server.ts'
import { bot } from './github-server.ts'
import { type GitHubStepOptions, runGitHubStep } from './notify.ts'
import { type Pull, Repository } from './repository.ts'
import type { RanAction } from './run-process.ts'

/** The text of a file that declares a saved search. */
export const search = (key: string, where = key): string => `savedSearches: { ${key}: { name: ${key}, source: Logs, where: ${where} } }\n`

/** Throws for another value. */
export function demandEqual(what: string, actual: unknown, right: unknown): void {
  if (!isDeepStrictEqual(actual, right)) throw new Error(`${what}: ${inspect(actual)} is not ${inspect(right)}`)
}

export interface JobOptions {
  readonly operation?: 'plan' | 'apply'
  /** The commit of the event, and the one that is checked out if it is another one. */
  readonly commit: string
  readonly checkedOut?: string
  readonly ref?: string
  readonly event?: string
  readonly payload?: object
  readonly files?: string
  readonly project?: string
  readonly environment?: string
  readonly service?: string
  readonly run?: number
  readonly workflow?: string
  readonly job?: string
  readonly inputs?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Every write fails, or every write but the first one. */
  readonly fails?: 'at once' | 'in part'
  /** A plan saves its plan file, and an apply gets the last one that was saved. */
  readonly planFile?: boolean
  /** The folder of the workspace with the checkout. */
  readonly folder?: string
}

/** How many writes a job makes at most. */
const manyWrites = 1000

export class Story {
  readonly repository: Repository
  readonly github: GitHubServer
  readonly #emulator: Emulator
  readonly #isBuilt: boolean
  readonly #own: ReadonlySet<string>
  #plan = ''

  /** `isBuilt`: jobs run the bundle, in a checkout that Git made. */
  constructor(github: GitHubServer, emulator: Emulator, isBuilt = false) {
    this.github = github
    this.#emulator = emulator
    this.#isBuilt = isBuilt
    this.repository = new Repository(github)
    this.#own = new Set(this.#searches().map(({ id }) => id))
  }

  end(): void {
    this.repository.remove()
  }

  /** The saved searches that jobs made in a service: their queries by name. */
  stored(service: string = demo.services.checkout): Readonly<Record<string, string>> {
    const made = this.#searches(service).filter(({ id }) => !this.#own.has(id))
    return Object.fromEntries(made.map(({ name, where }) => [String(name), String(where)]).sort())
  }

  #searches(service?: string) {
    const services = this.#emulator.store.organizations.flatMap((one) => one.services)
    return services.filter(({ id }) => service === undefined || id === service).flatMap(({ savedSearches }) => savedSearches)
  }

  /** The saved searches that files of a commit declare, read by other means than those of the tool. */
  declared(commit: string, folder = 'observability'): Readonly<Record<string, string>> {
    const texts = Object.entries(this.repository.filesOf(commit)).filter(([path]) => path.startsWith(`${folder}/`))
    const pairs = texts.flatMap(([, text]) =>
      [...text.matchAll(/name: (\S+), source: Logs, where: (\S+) \}/g)].map(([, key, where]) => [key, where]),
    )
    return Object.fromEntries(pairs.sort())
  }

  /** The first lines of the action's comments on a pull request. */
  headings(number: number): readonly string[] {
    return this.comments(number).map((body) => /^### .*$/m.exec(body)?.[0].replace(/^### \S+ /, '') ?? '')
  }

  comments(number: number): readonly string[] {
    return this.github.store.comments.filter(({ on, user }) => on === number && user.id === bot.id).map(({ body }) => body)
  }

  /** Plans a pull request, as its own workflow does. */
  plan({ number, head }: Pull, options: Omit<JobOptions, 'commit'> = {}): Promise<RanAction> {
    const payload = { pull_request: { number, merged: false, head: { sha: head, repo: { full_name: 'acme/shop' } } } }
    return this.job({ operation: 'plan', commit: head, event: 'pull_request', ref: `refs/pull/${number}/merge`, payload, ...options })
  }

  async job(options: JobOptions): Promise<RanAction> {
    const { operation = 'apply', commit, checkedOut = commit, fails, planFile, folder = '.' } = options
    const emulator = this.#emulator
    if (fails !== undefined)
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        emulator.addFault({
          match: { method, path: '/saved' },
          nth: fails === 'in part' ? 2 : 1,
          times: manyWrites,
          effect: { kind: 'status', status: 400 },
        })
    const saved = planFile && operation === 'apply' ? { 'plan.json': this.#plan } : {}
    const step = stepOf(options, emulator)
    const workspace = this.#isBuilt ? this.#clone(checkedOut, saved) : undefined
    try {
      const ran = await runGitHubStep(this.github, {
        ...step,
        ...(workspace === undefined
          ? { files: { ...placed(folder, this.#checkout(checkedOut)), ...saved } }
          : { preload: {}, env: { ...step.env, GITHUB_WORKSPACE: workspace } }),
      })
      const written = workspace === undefined ? ran.written['plan.json'] : readIfThere(join(workspace, 'plan.json'))
      if (planFile && operation === 'plan') this.#plan = written ?? ''
      return ran
    } finally {
      emulator.clearFaults()
      if (workspace !== undefined) rmSync(workspace, { recursive: true })
    }
  }

  /** What actions/checkout leaves behind. */
  #checkout(commit: string): Readonly<Record<string, string>> {
    return {
      ...this.repository.filesOf(commit),
      '.git/HEAD': `${commit}\n`,
      '.git/config': '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://github.example/acme/shop\n',
    }
  }

  #clone(commit: string, files: Readonly<Record<string, string>>): string {
    const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-clone-'))
    const git = (...args: readonly string[]): unknown => execFileSync('git', ['-C', directory, ...args], { stdio: 'ignore' })
    git('init', '-q', '.')
    git('fetch', '-q', this.repository.directory, commit)
    git('checkout', '-q', '--detach', 'FETCH_HEAD')
    git('remote', 'add', 'origin', 'https://github.example/acme/shop')
    for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text)
    return directory
  }
}

const readIfThere = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)

const placed = (folder: string, files: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [join(folder, path), text]))

function stepOf(options: JobOptions, emulator: Emulator): GitHubStepOptions {
  const { operation = 'apply', commit, ref = 'refs/heads/main', event = 'push', payload = {}, run = 501, planFile } = options
  const { files = 'observability/**/*.yml', project = 'acme/shop', environment, service = demo.services.checkout } = options
  const { workflow = 'observability', job = operation } = options
  return {
    inputs: {
      ...inputsFor(emulator),
      ...{ operation, files, project, 'service-id': service, prune: 'true', 'max-deletes': '1000' },
      ...(environment !== undefined && { env: environment }),
      ...{ comment: operation === 'apply' ? 'always' : 'changes', issue: 'on-failure' },
      ...(planFile && { 'plan-file': 'plan.json' }),
      ...options.inputs,
    },
    env: {
      ...{ GITHUB_SHA: commit, GITHUB_REF: ref, GITHUB_REF_NAME: ref.replace(/^refs\/\w+\//, '') },
      ...{ GITHUB_EVENT_NAME: event, GITHUB_RUN_ID: String(run), GITHUB_WORKFLOW: workflow, GITHUB_JOB: job },
      ...options.env,
    },
    event: payload,
  }
}
